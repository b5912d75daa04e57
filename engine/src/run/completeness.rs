//! Whether a run whose cases were all read has a score of every scorer for every case. Writes nothing.

use crate::store::{RunWriter, StoreError};

use super::{Control, Stop};

/// Why the run is not finished, although everything that was given was read; none where it is.
pub(super) fn what_is_missing(
    writer: &RunWriter,
    control: &Control,
) -> Result<Option<Stop>, StoreError> {
    let (store, run) = (writer.store(), writer.run());
    let (stored, read) = (store.case_count(run.key)?, control.cases_of_the_run());
    let (rows, expected) = (store.row_count(run.key)?, stored * run.scorers.len() as u64);
    let incomplete = |message: String, hint: &str| {
        Ok(Some(Stop::Incomplete { message, hint: Some(hint.to_owned()) }))
    };
    let missing = match expected.saturating_sub(rows) {
        0 => String::new(),
        1 => "; 1 score is missing".to_owned(),
        missing => format!("; {missing} scores are missing"),
    };
    if read < stored {
        return incomplete(
            format!("the run has {stored} cases, and only {read} of them were read now{missing}"),
            "resume it with all the files that it began with, in the same order",
        );
    }
    if read > stored || rows != expected {
        return incomplete(
            format!(
                "the run has {stored} cases of {read} that were stored, and {rows} score rows of \
                 {expected}{missing}"
            ),
            "another program changes the database: keep a copy, and store the run in a new file",
        );
    }
    Ok(None)
}
