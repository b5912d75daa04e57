//! The warnings of scorers that were for no case of a run, with the keys that left the cases out, and of scorers that applied to none.
//! Counts nothing itself.

use std::collections::BTreeSet;

use scorebox::{
    aggregate::Aggregate,
    store::{RunRecord, RunState, ScoreFilter, ScorerRecord, Store},
    suite::{Sampling, Skip},
};

use crate::{failure::Failure, report, words};

/// What to do about a task that is scored once a run, and never sampled.
const SAMPLED_EVERY_TIME: &str = "`ratio` samples cases, by a hash of the seed and the case: this run leaves out the same ones each \
                                  time. For a share of the runs, give each run its own seed: --seed \"$RUN_ID\"";

/// Skipped scores of which it is looked at why.
const LOOKED_AT: usize = 1000;

/// Warns of each scorer of the run that is for no case, and of those that apply to none.
pub(super) fn say(store: &Store, run: &RunRecord, aggregates: &[Aggregate]) -> Result<(), Failure> {
    let scorers = store.scorers(run.key)?;
    // The cases that one is for may be among those that were not read, and one that summarizes has not been asked yet.
    if run.state != RunState::Finished {
        return Ok(());
    }
    aggregates.iter().try_for_each(|it| say_if_idle(store, run, it, &scorers))?;
    say_if_never_applicable(store, run, aggregates)
}

/// A scorer whose scores are all n/a has measured nothing, and may be one that forgot to return its score. Of one that
/// summarizes, the summary is the result.
fn say_if_never_applicable(
    store: &Store,
    run: &RunRecord,
    aggregates: &[Aggregate],
) -> Result<(), Failure> {
    let summaries = store.summaries(run.key)?;
    let has_summary = |id: &str| summaries.iter().any(|it| it.scorer_id == id);
    let never: Vec<&Aggregate> = aggregates
        .iter()
        .filter(|it| it.count + it.errors + it.skipped == 0 && it.not_applicable > 0)
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
    let reasons = why_skipped(store, run, scorer_id)?;
    let is_why = |skip: Skip| reasons.contains(&*skip.reason(None));
    let keys =
        [("`nodes`", Skip::Node), ("`when`", Skip::Condition), ("`sampling`", Skip::Sampling)];
    let keys: Vec<&str> =
        keys.into_iter().filter_map(|(key, skip)| is_why(skip).then_some(key)).collect();
    // Cases can say themselves that they are skipped.
    if keys.is_empty() {
        return Ok(());
    }
    let cases = report::counted(*skipped, "case", "cases");
    let keys = keys.join(" and ");
    words::warn(&format!("`{scorer_id}` is for none of {cases}: look at its {keys}"));
    if is_why(Skip::Sampling) && is_by_ratio(spec.sampling_json.as_deref()) {
        words::hint(SAMPLED_EVERY_TIME);
    }
    Ok(())
}

/// Whether sampling leaves a case out by chance, and not each of them.
fn is_by_ratio(sampling_json: Option<&str>) -> bool {
    let sampling = sampling_json.and_then(|json| serde_json::from_str(json).ok());
    matches!(sampling, Some(Sampling::Ratio { .. }))
}

/// Why a scorer's first cases were skipped.
fn why_skipped(
    store: &Store,
    run: &RunRecord,
    scorer_id: &str,
) -> Result<BTreeSet<String>, Failure> {
    let of_scorer =
        ScoreFilter::of_run(run.spec.id.as_str()).with_scorer(Some(scorer_id.to_owned()));
    let rows = store.scores(&of_scorer, None, LOOKED_AT)?;
    Ok(rows.into_iter().filter_map(|it| it.row.answer.reason).collect())
}
