//! Reports cases and rows that belong to a run by one criterion but not by the other. It looks at no score.

use crate::store::{RunRecord, Store, StoreError, Stray};

use super::Difference;

/// How many differences of each kind are listed.
const LISTED: usize = 10;

/// The cases and rows of a run that some readers do not find in it, and those of other runs that some readers do.
pub(super) fn differences(store: &Store, run: &RunRecord) -> Result<Vec<Difference>, StoreError> {
    Ok(store.strays(run.key, LISTED)?.into_iter().map(difference).collect())
}

fn difference(stray: Stray) -> Difference {
    let row = |case: &str, scorer: &str| format!("score of {case} by {scorer}");
    let (what, stored, belongs) = match stray {
        Stray::Case { case_id, says_so: true } => {
            (format!("case {case_id}"), "under a key of another run", "under a key of this run")
        }
        Stray::Case { case_id, says_so: false } => {
            (format!("case {case_id}"), "of another run", "of this run")
        }
        Stray::Row { case, scorer, of_its_case: true } => {
            (row(&case, &scorer), "by a scorer of another run", "by a scorer of this run")
        }
        Stray::Row { case, scorer, of_its_case: false } => {
            (row(&case, &scorer), "of a case of another run", "of a case of this run")
        }
        Stray::RowOfNoCase { case, scorer } => (
            row(&format!("the case with key {case}"), &scorer),
            "of a case that is not stored",
            "of a stored case",
        ),
    };
    Difference::new(what, stored, belongs)
}
