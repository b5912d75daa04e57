//! Whether a run whose cases were all read has a score of every scorer for every case. Writes nothing.

use crate::store::{RunWriter, StoreError};

use super::{Control, Stop};

/// What to do about cases that are not those of the run.
pub(super) const OTHER_FILES: &str =
    "resume it with all the files that it began with, in the same order";

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
    if read < stored {
        let missing = match expected.saturating_sub(rows) {
            0 => String::new(),
            missing => format!("; {missing} of its {expected} scores are missing"),
        };
        let message = format!("{read} of the run's {stored} cases were read{missing}");
        return incomplete(message, OTHER_FILES);
    }
    if read > stored || rows != expected {
        return incomplete(
            format!(
                "{read} cases were read and {stored} are stored; {rows} of {expected} score rows are \
                 stored"
            ),
            "another program changes the database: keep a copy, and store the run in a new file",
        );
    }
    Ok(None)
}
