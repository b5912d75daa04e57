//! The warnings of scorers that were for no case of a run, with the keys that left the cases out, and of scorers that applied to none.
//! Counts nothing itself, and leaves it to a broken requirement to say that of a scorer that must decide a case.

use std::collections::BTreeSet;

use scorebox::{
    aggregate::Aggregate,
    store::{RunRecord, RunState, ScoreFilter, ScorerRecord, Store, StoreError},
    suite::{Sampling, Skip},
    verdict::Broken,
};

use crate::{failure::Failure, report, words};

/// What to do about a task that is scored once a run, and never sampled.
const SAMPLED_EVERY_TIME: &str = "`ratio` samples cases, by a hash of the seed and the case: this run leaves out the same ones each \
                                  time. For a share of the runs, give each run its own seed: --seed \"$RUN_ID\"";

/// The key that leaves cases out by chance.
const SAMPLING: &str = "sampling";

/// Skipped scores of which it is looked at why.
const LOOKED_AT: usize = 1000;

/// Warns of each scorer of the run that is for no case, and of those that apply to none.
pub(super) fn say(
    store: &Store,
    run: &RunRecord,
    aggregates: &[Aggregate],
    broken: &[Broken],
) -> Result<(), Failure> {
    let scorers = store.scorers(run.key)?;
    // The cases that one is for may be among those that were not read, and one that summarizes has not been asked yet.
    if run.state != RunState::Finished {
        return Ok(());
    }
    let is_broken = |id: &str| {
        broken
            .iter()
            .any(|it| matches!(it, Broken::NothingDecided { scorer_id, .. } if scorer_id == id))
    };
    let unsaid: Vec<&Aggregate> =
        aggregates.iter().filter(|it| !is_broken(&it.scorer_id)).collect();
    unsaid.iter().try_for_each(|it| say_if_idle(store, run, it, &scorers))?;
    say_if_never_applicable(store, run, &unsaid)
}

/// A scorer whose scores are all n/a has measured nothing, and may be one that forgot to return its score. Of one that
/// summarizes, the summary is the result.
fn say_if_never_applicable(
    store: &Store,
    run: &RunRecord,
    aggregates: &[&Aggregate],
) -> Result<(), Failure> {
    let summaries = store.summaries(run.key)?;
    let has_summary = |id: &str| summaries.iter().any(|it| it.scorer_id == id);
    let never: Vec<&Aggregate> = aggregates
        .iter()
        .copied()
        .filter(|it| it.count + it.errors == 0 && it.not_applicable > 0)
        .filter(|it| !has_summary(&it.scorer_id))
        .collect();
    match never.as_slice() {
        [] => {}
        [one] => {
            let cases = report::counted(one.not_applicable, "case", "cases");
            words::warn(&format!("`{}` applies to none of {cases}", one.scorer_id));
        }
        several => {
            let ids: Vec<String> = several.iter().map(|it| format!("`{}`", it.scorer_id)).collect();
            words::warn(&format!("{} scorers apply to no case: {}", ids.len(), ids.join(", ")));
        }
    }
    Ok(())
}

/// A scorer that is for no case at all is seldom meant so.
fn say_if_idle(
    store: &Store,
    run: &RunRecord,
    aggregate: &Aggregate,
    scorers: &[ScorerRecord],
) -> Result<(), Failure> {
    let Aggregate { scorer_id, count, not_applicable, errors, skipped, .. } = aggregate;
    let scorer = scorers.iter().find(|it| it.spec.scorer_id == *scorer_id);
    let Some(scorer) = scorer.filter(|_| count + not_applicable + errors == 0 && *skipped > 0)
    else {
        return Ok(());
    };
    let spec = &scorer.spec;
    let (has_nodes, has_when) = (spec.nodes_json.is_some(), spec.condition.is_some());
    if !has_nodes && !has_when {
        return Ok(());
    }
    let keys = keys_that_spare(store, run.spec.id.as_str(), scorer_id)?;
    // Cases can say themselves that they are skipped.
    if keys.is_empty() {
        return Ok(());
    }
    let cases = report::counted(*skipped, "case", "cases");
    let named = named(&keys);
    words::warn(&format!("`{scorer_id}` is for none of {cases}: look at its {named}"));
    if keys.contains(&SAMPLING) && is_by_ratio(spec.sampling_json.as_deref()) {
        words::hint(SAMPLED_EVERY_TIME);
    }
    Ok(())
}

/// Whether sampling leaves a case out by chance, and not each of them.
fn is_by_ratio(sampling_json: Option<&str>) -> bool {
    let sampling = sampling_json.and_then(|json| serde_json::from_str(json).ok());
    matches!(sampling, Some(Sampling::Ratio { .. }))
}

/// The keys of a suite that left out the first cases that a scorer skipped.
pub(crate) fn keys_that_spare(
    store: &Store,
    run: &str,
    scorer_id: &str,
) -> Result<Vec<&'static str>, StoreError> {
    let of_scorer = ScoreFilter::of_run(run).with_scorer(Some(scorer_id.to_owned()));
    let rows = store.scores(&of_scorer, None, LOOKED_AT)?;
    let reasons: BTreeSet<String> =
        rows.into_iter().filter_map(|it| it.row.answer.reason).collect();
    let keys = [("nodes", Skip::Node), ("when", Skip::Condition), (SAMPLING, Skip::Sampling)];
    let is_why = |skip: Skip| reasons.contains(&*skip.reason(None));
    Ok(keys.into_iter().filter_map(|(key, skip)| is_why(skip).then_some(key)).collect())
}

/// `` `nodes` and `sampling` ``.
pub(crate) fn named(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" and ")
}
