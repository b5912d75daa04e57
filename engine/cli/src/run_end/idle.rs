//! Warns of scorers that scored no case of a run, with the keys that left the cases out, and of scorers that applied to
//! no case. It counts nothing itself. If the scorer had to decide a case, the broken requirement is reported instead.

use std::collections::BTreeSet;

use scorebox::{
    aggregate::Aggregate,
    store::{RunRecord, RunState, ScoreFilter, ScorerRecord, Store, StoreError},
    suite::{Sampling, Skip},
    verdict::Broken,
};
use serde_json::Value;

use crate::report;

/// What to do about a task that is scored once a run, and that the sample never includes.
const SAMPLED_EVERY_TIME: &str = "`ratio` samples cases, by a hash of the seed and the case: this run leaves out the same ones each \
                                  time. For a share of the runs, give each run its own seed: --seed \"$RUN_ID\"";

/// The key that leaves cases out at random.
const SAMPLING: &str = "sampling";

/// The most skipped scores whose reason is examined.
const LOOKED_AT: usize = 1000;

/// A warning, with a hint if one is needed.
pub(crate) struct Warning {
    pub(crate) message: String,
    pub(crate) hint: Option<&'static str>,
}

/// The warnings of each scorer of the run that scored no case, and of those that applied to none.
pub(super) fn warnings(
    store: &Store,
    run: &RunRecord,
    aggregates: &[Aggregate],
    broken: &[Broken],
) -> Result<Vec<Warning>, StoreError> {
    let scorers = store.scorers(run.key)?;
    // Unread cases may be for such a scorer, and a scorer that summarizes has not been asked yet.
    if run.state != RunState::Finished {
        return Ok(Vec::new());
    }
    let is_broken = |id: &str| {
        broken
            .iter()
            .any(|it| matches!(it, Broken::NothingDecided { scorer_id, .. } if scorer_id == id))
    };
    let unsaid: Vec<&Aggregate> =
        aggregates.iter().filter(|it| !is_broken(&it.scorer_id)).collect();
    let mut warnings = Vec::new();
    for aggregate in &unsaid {
        warnings.extend(if_idle(store, run, aggregate, &scorers)?);
    }
    warnings.extend(if_never_applicable(store, run, &scorers, &unsaid)?);
    Ok(warnings)
}

/// A scorer whose scores are all n/a measured nothing, and may have forgotten to return its score. For a scorer that
/// summarizes, the summary is the result, if there was anything to summarize.
fn if_never_applicable(
    store: &Store,
    run: &RunRecord,
    scorers: &[ScorerRecord],
    aggregates: &[&Aggregate],
) -> Result<Vec<Warning>, StoreError> {
    let summaries = store.summaries(run.key)?;
    let has_summary = |it: &&Aggregate| summaries.iter().any(|one| one.scorer_id == it.scorer_id);
    let never =
        aggregates.iter().copied().filter(|it| it.count + it.errors == 0 && it.not_applicable > 0);
    let (summarized, never): (Vec<&Aggregate>, Vec<&Aggregate>) = never.partition(has_summary);
    let mut warnings = Vec::new();
    for aggregate in summarized {
        let scorer = scorers.iter().find(|it| it.spec.scorer_id == aggregate.scorer_id);
        if let Some(scorer) = scorer
            && says_nothing(store, run, scorer)?
        {
            warnings.push(of_empty_summary(store, run, aggregate)?);
        }
    }
    warnings.extend(of_never_applicable(&never));
    Ok(warnings)
}

/// Whether the scorer has neither a label nor a non-null value in `meta` in any row.
fn says_nothing(store: &Store, run: &RunRecord, scorer: &ScorerRecord) -> Result<bool, StoreError> {
    let is_null = |meta: String| match serde_json::from_str(&meta) {
        Ok(Value::Object(members)) => members.values().all(Value::is_null),
        Ok(other) => other.is_null(),
        Err(_) => false,
    };
    let mut nothing = true;
    store.for_each_scored_row(run.key, scorer.key, |row| {
        nothing = row.label.is_none() && row.meta.is_none_or(is_null);
        nothing
    })?;
    Ok(nothing)
}

/// The warning that a summary covers nothing, with the scorer's reason for the first case.
fn of_empty_summary(
    store: &Store,
    run: &RunRecord,
    aggregate: &Aggregate,
) -> Result<Warning, StoreError> {
    let of_scorer =
        ScoreFilter::of_run(run.spec.id.as_str()).with_scorer(Some(aggregate.scorer_id.clone()));
    let first = store.scores(&of_scorer, None, 1)?.into_iter().next();
    let why = first.and_then(|it| it.row.answer.reason).unwrap_or_default();
    let cases = report::counted(aggregate.not_applicable, "case", "cases");
    let why = if why.is_empty() { why } else { format!(": {}", report::one_line(&why, 160)) };
    let message = format!("`{}` summarizes nothing of {cases}{why}", aggregate.scorer_id);
    Ok(Warning { message, hint: None })
}

/// The warning that scorers apply to no case.
fn of_never_applicable(never: &[&Aggregate]) -> Option<Warning> {
    let message = match never {
        [] => return None,
        [one] => format!("`{}` applies to no case", one.scorer_id),
        several => {
            let ids: Vec<String> = several.iter().map(|it| format!("`{}`", it.scorer_id)).collect();
            format!("{} scorers apply to no case: {}", ids.len(), ids.join(", "))
        }
    };
    Some(Warning { message, hint: None })
}

/// Warns of a scorer that scored no case at all, which is seldom intended.
fn if_idle(
    store: &Store,
    run: &RunRecord,
    aggregate: &Aggregate,
    scorers: &[ScorerRecord],
) -> Result<Option<Warning>, StoreError> {
    let Aggregate { scorer_id, count, not_applicable, errors, skipped, .. } = aggregate;
    let scorer = scorers.iter().find(|it| it.spec.scorer_id == *scorer_id);
    let Some(scorer) = scorer.filter(|_| count + not_applicable + errors == 0 && *skipped > 0)
    else {
        return Ok(None);
    };
    let spec = &scorer.spec;
    let (has_nodes, has_when) = (spec.nodes_json.is_some(), spec.condition.is_some());
    let sampling: Option<Sampling> =
        spec.sampling_json.as_deref().and_then(|json| serde_json::from_str(json).ok());
    if (!has_nodes && !has_when) || sampling.is_some_and(Sampling::is_off) {
        return Ok(None);
    }
    let keys = keys_that_spare(store, run.spec.id.as_str(), scorer_id)?;
    // Cases themselves can also ask to be skipped.
    if keys.is_empty() {
        return Ok(None);
    }
    let named = named(&keys);
    let message = format!("`{scorer_id}` applies to no case: look at its {named}");
    let is_sampled = keys.contains(&SAMPLING) && matches!(sampling, Some(Sampling::Ratio { .. }));
    Ok(Some(Warning { message, hint: is_sampled.then_some(SAMPLED_EVERY_TIME) }))
}

/// The keys of a suite that left out the first of the cases that a scorer skipped.
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
