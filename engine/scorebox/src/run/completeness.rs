//! Whether a run whose cases were all read has a score of every scorer for every case. It writes nothing.

use crate::{
    advice::{Advice, Database},
    store::{RunSource, StoreError, Stored},
};

use super::{Control, Stop, keeping::Keeper};

/// Why the run is not finished, although all of its input was read; `None` if it is finished.
pub(super) fn what_is_missing(
    keeper: &mut Keeper,
    control: &Control,
    source: RunSource,
) -> Result<Option<Stop>, StoreError> {
    // If nothing is stored, no other process can remove or add a row.
    let Keeper::Database(writer) = keeper else { return Ok(None) };
    let Stored { cases: stored, rows } = writer.stored()?;
    let read = control.cases_of_the_run();
    let expected = stored * writer.run().scorers.len() as u64;
    let incomplete = |message: String, advice: Advice| {
        Ok(Some(Stop::Incomplete { message, advice: Some(advice) }))
    };
    // The cases of earlier sessions do not come again.
    let may_be_fewer = source == RunSource::Live && rows == expected;
    if read < stored && !may_be_fewer {
        let missing = match expected.saturating_sub(rows) {
            0 => String::new(),
            missing => format!("; {missing} of its {expected} scores are missing"),
        };
        let message = format!("{read} of the run's {stored} cases were read{missing}");
        return incomplete(message, Advice::SameCases);
    }
    if read > stored || rows != expected {
        return incomplete(
            format!(
                "{read} cases were read and {stored} are stored; {rows} of {expected} score rows are \
                 stored"
            ),
            Advice::Database(Database::Distrust),
        );
    }
    Ok(None)
}
