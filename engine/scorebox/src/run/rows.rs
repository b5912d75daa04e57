//! Scores cases without a database, for programs that keep rows themselves: all rows of a few cases, in order,
//! including those of scorers that skip a case. It does the same as a run, but without what needs all rows of a run.

use std::sync::{Arc, PoisonError};

use crate::{
    case::Case,
    row::Row,
    store::{RunId, RunSource, RunSpec, ScorerSpec},
    suite::Suite,
};

use super::{
    Control, OnBadCase, ReadyScorer, RunError, RunRequest,
    gathering::Gathered,
    opening::{run_spec, scorer_spec},
    queue::CaseQueue,
    run,
};

/// Scores these cases with all scorers of a suite, with this many jobs, and waits for all; returns the rows of each
/// case, in the order of the cases, and of each scorer, in the suite's order. A case without an id is named after its
/// index.
///
/// Cases are not remembered: two with the same id are two cases. No scorer is asked for a summary.
///
/// # Errors
/// [`RunError::OutOfResources`]; [`RunError::Broken`] if the scoring ended early for another reason.
pub async fn score_rows(
    suite: &Suite,
    scorers: &Arc<[ReadyScorer]>,
    jobs: usize,
    cases: Vec<Case>,
) -> Result<Vec<Vec<Row>>, RunError> {
    if cases.is_empty() {
        return Ok(Vec::new());
    }
    let gathered = Gathered::new(cases.len(), scorers);
    let rows = gathered.rows();
    let request =
        RunRequest::queued(suite.clone(), Arc::clone(scorers), CaseQueue::of(cases).into())
            .jobs(jobs)
            .on_bad_case(OnBadCase::Skip)
            .gather(gathered);
    let report = run(request, Arc::new(Control::default())).await?;
    if let Some(stop) = report.stopped {
        return Err(RunError::of_stop(stop));
    }
    let rows = std::mem::take(&mut *rows.lock().unwrap_or_else(PoisonError::into_inner));
    let all = rows.into_iter().map(|of_case| of_case.into_iter().collect::<Option<Vec<Row>>>());
    let all = all.collect::<Option<Vec<_>>>();
    all.ok_or_else(|| RunError::Broken("a row is missing at the end, which is a bug".to_owned()))
}

/// The plan that is stored for a run of this suite with these scorers before its first case.
pub fn stored_plan(
    id: &RunId,
    suite: &Suite,
    scorers: &[ReadyScorer],
) -> (RunSpec, Vec<ScorerSpec>) {
    let run = run_spec(id, suite, RunSource::Batch);
    (run, scorers.iter().map(scorer_spec).collect())
}
