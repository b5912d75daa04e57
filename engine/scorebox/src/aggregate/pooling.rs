//! Whether scores of several runs that are taken together are of one scorer: how a scorer differs between the runs. It
//! reads no score.

use std::collections::HashMap;

use super::ScorerChange;
use crate::store::{ScorerCounts, ScorerKey, ScorerSpec, Store, StoreError};

/// For each of `counts`, which are of all scorers or of the one with `scorer_id`, how its scorer differs between runs.
pub(super) fn changes(
    store: &Store,
    scorer_id: Option<&str>,
    counts: &[ScorerCounts],
) -> Result<Vec<Vec<ScorerChange>>, StoreError> {
    let mut changes = vec![Vec::new(); counts.len()];
    let pooled = counts.iter().enumerate().filter(|(_, counts)| counts.scorers.len() > 1);
    let indices: HashMap<ScorerKey, usize> =
        pooled.flat_map(|(index, of)| of.scorers.iter().map(move |key| (*key, index))).collect();
    if indices.is_empty() {
        return Ok(changes);
    }
    let mut newest: HashMap<usize, ScorerSpec> = HashMap::new();
    store.for_each_scorer(scorer_id, |scorer| {
        let Some(index) = indices.get(&scorer.key) else { return };
        if let Some(before) = newest.get(index) {
            for change in ScorerChange::between(before, &scorer.spec) {
                if !changes[*index].contains(&change) {
                    changes[*index].push(change);
                }
            }
        }
        newest.insert(*index, scorer.spec);
    })?;
    changes.iter_mut().for_each(|of_one| of_one.sort_unstable());
    Ok(changes)
}
