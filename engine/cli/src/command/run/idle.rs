//! The warnings of scorers that were for no case of a run, with the keys that left the cases out, and of scorers that applied to none.
//! Counts nothing itself.

use scorebox::{
    aggregate::Aggregate,
    store::{RunRecord, RunState, ScoreFilter, ScoreRecord, ScorerRecord, Store},
    suite::Skip,
};

use crate::{failure::Failure, report, words};

/// Skipped scores of which it is looked at why.
const LOOKED_AT: usize = 1000;

/// Warns of each scorer of the run that is for no case, and of those that apply to none.
pub(super) fn say(store: &Store, run: &RunRecord, aggregates: &[Aggregate]) -> Result<(), Failure> {
    let scorers = store.scorers(run.key)?;
    // The cases that one is for may be among those that were not read.
    if run.state == RunState::Finished {
        aggregates.iter().try_for_each(|it| say_if_idle(store, run, it, &scorers))?;
    }
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
    let (by_sampling, by_others) = match &spec.sampling_json {
        Some(_) => skipped_by(store, run, scorer_id)?,
        None => (false, true),
    };
    let keys = [
        ("`nodes`", by_others && has_nodes),
        ("`when`", by_others && has_when),
        ("`sampling`", by_sampling),
    ];
    let keys: Vec<&str> =
        keys.into_iter().filter_map(|(key, is_why)| is_why.then_some(key)).collect();
    let cases = report::counted(*skipped, "case", "cases");
    let keys = keys.join(" and ");
    words::warn(&format!("`{scorer_id}` is for none of {cases}: look at its {keys}"));
    Ok(())
}

/// Whether sampling left out some of a scorer's first cases, and whether something else did.
fn skipped_by(store: &Store, run: &RunRecord, scorer_id: &str) -> Result<(bool, bool), Failure> {
    let of_scorer =
        ScoreFilter::of_run(run.spec.id.as_str()).with_scorer(Some(scorer_id.to_owned()));
    let rows = store.scores(&of_scorer, None, LOOKED_AT)?;
    let sampling = Skip::Sampling.reason(None);
    let is_sampling = |it: &ScoreRecord| it.row.answer.reason.as_deref() == Some(&*sampling);
    Ok((rows.iter().any(is_sampling), !rows.iter().all(is_sampling)))
}
