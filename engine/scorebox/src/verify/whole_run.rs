//! Checks a run as a whole: that no score is missing, that its scorers are those of its plan, and that the scorers'
//! summaries are right, by computing them again from the stored rows. It scores no case: whether the rows are right is
//! another finding.

use crate::{
    row::Answer,
    sandbox::{LoadedScorer, Sandbox, WASMTIME_VERSION},
    store::{
        RunRecord, RunState, ScoreFilter, ScorerCounts, ScorerRecord, Store, StoreError,
        SummaryRecord,
    },
};

use super::{
    Difference, Finding, Verdict,
    answer::{self, JsonAs},
    belonging, plan,
    rescore::unproved_of,
    scorers::Scorers,
    whole_root,
};

/// The findings on a run that are not about a single score; each has the id `RUN:SCORER`. There is none for a scorer
/// whose scores are complete and that makes no summary.
pub(super) async fn findings(
    store: &Store,
    run_id: &str,
    only: Option<&str>,
    scorers: &mut Scorers,
    sandbox: &Sandbox,
) -> Result<Vec<Finding>, StoreError> {
    let run = store.run(run_id)?;
    let mut findings = Vec::new();
    if only.is_none() {
        findings.extend(whole_root::not_the_stored_one(store, &run)?);
        let of_the_run = [belonging::differences(store, &run)?, plan::differences(store, &run)?];
        for differences in of_the_run.into_iter().filter(|it| !it.is_empty()) {
            findings.push(Finding::new(run_id, Verdict::Different { differences }));
        }
    }
    let wasmtime = store.newest_wasmtime(run.key)?;
    let unproved = unproved_of(wasmtime.as_deref().unwrap_or_default());
    let mut found = |id: &str, verdict| {
        let finding = Finding::new(format!("{run_id}:{id}"), verdict);
        findings.push(finding.leaving(unproved.iter().copied()));
    };
    for (id, verdict) in missing(store, &run, only)? {
        found(&id, verdict);
    }
    let stored = store.summaries(run.key)?;
    for scorer in store.scorers(run.key)? {
        let id = scorer.spec.scorer_id.as_str();
        if only.is_some_and(|only| only != id) {
            continue;
        }
        let stored = stored.iter().find(|summary| summary.scorer_id == id);
        let loaded = scorers.named(store, run_id, id, sandbox).await?;
        match (loaded.scorer(), stored) {
            // It does not load, or makes no summary, and none is stored.
            (Err(_), None) => {}
            (Ok(loaded), None) if !loaded.summarizes() => {}
            (_, None) if run.state != RunState::Finished => {}
            (Err(verdict), Some(_)) => found(id, verdict.clone()),
            (Ok(loaded), stored) => {
                found(id, summary(store, &run, &scorer, loaded, stored).await?);
            }
        }
    }
    Ok(findings)
}

/// The scorers that do not have one row for each case of a run that is marked as finished.
fn missing(
    store: &Store,
    run: &RunRecord,
    only: Option<&str>,
) -> Result<Vec<(String, Verdict)>, StoreError> {
    if run.state != RunState::Finished {
        return Ok(Vec::new());
    }
    let filter = ScoreFilter {
        run: Some(run.spec.id.to_string()),
        scorer: only.map(str::to_owned),
        ..ScoreFilter::default()
    };
    let cases = store.case_count(run.key)?;
    let counts = store.counts(&filter)?.into_iter();
    let of = |counts: &ScorerCounts| {
        counts.scored + counts.not_applicable + counts.skipped + counts.errors
    };
    let short = counts.filter(|counts| of(counts) != cases);
    let verdict = |counts: ScorerCounts| {
        let verdict = Verdict::different("scores", of(&counts).to_string(), cases.to_string());
        (counts.scorer_id, verdict)
    };
    Ok(short.map(verdict).collect())
}

async fn summary(
    store: &Store,
    run: &RunRecord,
    scorer: &ScorerRecord,
    loaded: &LoadedScorer,
    stored: Option<&SummaryRecord>,
) -> Result<Verdict, StoreError> {
    let continued =
        || Verdict::not_verifiable("the run continued after its summary, and has not finished");
    // In an interrupted run, the summary covers all rows, unless an earlier session made it.
    let may_be_stale = run.state == RunState::Interrupted;
    if run.state != RunState::Finished && !may_be_stale {
        return Ok(continued());
    }
    let mut rows = loaded.summary_rows();
    store.for_each_scored_row(run.key, scorer.key, |row| rows.add(row))?;
    let computed = loaded.summarize(&rows).await.map(answer::computed_summary);
    let stored = match stored.map(answer::stored_summary).transpose() {
        Ok(stored) => stored,
        Err(reason) => return Ok(Verdict::not_verifiable(reason)),
    };
    if [&stored, &computed].into_iter().flatten().any(answer::is_a_time_out) {
        let reason = "it timed out, which depends on the machine";
        return Ok(Verdict::not_verifiable(reason));
    }
    let (Some(stored), Some(computed)) = (&stored, &computed) else {
        let said = |answer: &Option<Answer>| {
            let json = answer.as_ref().and_then(|answer| answer.meta.as_ref());
            json.map(|json| json.get().to_owned())
        };
        if may_be_stale {
            return Ok(continued());
        }
        let difference = Difference::of("summary", said(&stored), said(&computed));
        return Ok(Verdict::Different { differences: vec![difference] });
    };
    let same_wasmtime = store.newest_wasmtime(run.key)?.as_deref() == Some(WASMTIME_VERSION);
    let mut differences = answer::differences(stored, computed, JsonAs::Text, same_wasmtime);
    if may_be_stale && !differences.is_empty() {
        return Ok(continued());
    }
    for difference in &mut differences {
        if difference.what == "meta" {
            difference.what = "summary".to_owned();
        }
    }
    Ok(Verdict::of(differences))
}
