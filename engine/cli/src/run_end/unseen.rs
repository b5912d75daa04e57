//! Warns of data in cases that no scorer sees: cache tokens in a case's own `usage`. It reads no cases.

use scorebox::{
    aggregate::DecidedRun,
    contract::{Field, ScorerInfo},
    store::{RunRecord, ScorerRecord, Store, StoreError},
};

use super::idle::Warning;
use crate::report;

/// What to do about such tokens.
const STATE_IT: &str = "state the whole cost as `usage.costUsd`, or give the usage as a `trace`, whose tokens of a cache are read";

/// The warning, if a scorer of the run reads the usage of cases but does not see its cache tokens.
pub(super) fn warning(
    store: &Store,
    run: &RunRecord,
    decided: &DecidedRun,
) -> Result<Option<Warning>, StoreError> {
    if decided.unseen_cache == 0 {
        return Ok(None);
    }
    let scorers = store.scorers(run.key)?;
    let readers: Vec<String> = scorers
        .iter()
        .filter(|it| reads_usage(it))
        .map(|it| format!("`{}`", report::one_line(&it.spec.scorer_id, 64)))
        .collect();
    let does_not_see = match readers.as_slice() {
        [] => return Ok(None),
        [one] => format!("{one} does not see them"),
        several => format!("{} do not see them", several.join(", ")),
    };
    let cases = report::counted(decided.unseen_cache, "case counts", "cases count");
    let message =
        format!("{cases} tokens of a cache in `usage`, without `costUsd`: {does_not_see}");
    Ok(Some(Warning { message, hint: Some(STATE_IT) }))
}

/// Whether the scorer reads the usage of a case.
fn reads_usage(scorer: &ScorerRecord) -> bool {
    let info = serde_json::from_str::<ScorerInfo>(&scorer.spec.info_json);
    info.is_ok_and(|info| info.reads.contains(Field::Usage))
}
