//! Proves scores: computes them again from the stored rows, or from a receipt, and reports differences. It changes
//! nothing that is stored.
//!
//! - `finding`: the outcomes of verification, and what they leave unproved.
//! - `answer`: the answer and the cost of a score, as stored and as computed; and the comparison.
//! - `rows`: the requested rows, each with its case.
//! - `scorers`: the scorers of the rows, each loaded once.
//! - `rescore`: one of these scorers, with checks of everything that decides its scores, and the verdict on a score.
//! - `comparing`: scores that are computed again, and a finding for each in the order of the rows.
//! - `receipt`: what is needed to compute one score again elsewhere.
//! - `receipt_calls`: the calls of a judge in a receipt, and the recorded answers to them.
//! - `recorded_calls`: findings about answers that are missing, or were not requested.
//! - `receipt_answer`: the answer in a receipt, which is a stored format.
//! - `repeating`: the parts of scores that repeat, as digests.
//! - `sample`: which rows are verified if not all are.
//! - `trial`: what another component answers for the same cases.
//! - `plan`: that the scorers of a run are those of its plan.
//! - `belonging`: that all readers find the same cases and rows of a run.
//! - `whole_run`: that no score is missing, that the plan is right, and the scorers' summaries of the run.
//! - `whole_root`: that a run matches its root, to the last column.
//! - here: all scores of a run.

mod answer;
mod belonging;
mod comparing;
mod finding;
mod plan;
mod receipt;
mod receipt_answer;
mod receipt_calls;
mod recorded_calls;
mod repeating;
mod rescore;
mod rows;
mod sample;
mod scorers;
mod trial;
mod whole_root;
mod whole_run;

use std::{sync::Arc, thread};

use crate::{
    sandbox::Sandbox,
    store::{RunRecord, ScoreFilter, Store, StoreError},
};

pub use answer::Difference;
pub use finding::{Finding, Unproved, Verdict};
pub use plan::plan_differences;
pub use receipt::{Receipt, ReceiptComponent, ReceiptError};
pub use receipt_answer::ReceiptAnswer;
pub use receipt_calls::ReceiptCall;
pub use repeating::{score_digest, scores_digest};
pub use trial::{Tried, try_component};
pub use whole_root::verify_root;

use comparing::Comparing;
use rows::StoredRows;
use scorers::Scorers;

/// Which rows are verified, and how. By default all rows that the filter selects, with a job for each core.
#[derive(Clone, Debug)]
#[must_use]
pub struct VerifyRequest {
    filter: ScoreFilter,
    /// `None`: all.
    sample: Option<u64>,
    seed: u64,
    jobs: usize,
}

/// Computes the scores of a run again and calls `take` with a finding for each, in the order of the rows, until it
/// returns false. If all scores of a run or of one of its scorers are requested, the findings on the run as a whole
/// follow.
///
/// # Errors
/// If the run does not exist, or the database cannot be read; [`StoreError::Removed`]. Anything wrong with a score is a
/// finding, not an error.
pub async fn verify(
    store: &Store,
    request: &VerifyRequest,
    sandbox: &Sandbox,
    take: impl FnMut(Finding) -> bool,
) -> Result<(), StoreError> {
    let before = request.filter.run.as_deref().map(|id| store.run(id)).transpose()?;
    let verified = verify_rows(store, request, sandbox, take).await;
    match before {
        Some(before) if was_removed(store, &before, verified.is_err())? => {
            let (path, id) = (store.path().to_owned(), before.spec.id.to_string());
            Err(StoreError::Removed { path, id })
        }
        _ => verified,
    }
}

/// Whether a run was removed, at least partly, meanwhile. No snapshot is held while scores are computed, which may take
/// hours: everything that others write meanwhile would stay in the log.
fn was_removed(store: &Store, before: &RunRecord, broke: bool) -> Result<bool, StoreError> {
    match store.run(before.spec.id.as_str()) {
        Err(StoreError::NoSuchRun { .. }) => Ok(true),
        // The rest after an earlier removal can be verified.
        Ok(now) => Ok(now.key != before.key
            || now.is_being_removed() && (broke || !before.is_being_removed())),
        Err(error) => Err(error),
    }
}

async fn verify_rows(
    store: &Store,
    request: &VerifyRequest,
    sandbox: &Sandbox,
    mut take: impl FnMut(Finding) -> bool,
) -> Result<(), StoreError> {
    let mut rows = StoredRows::new(store, request)?;
    let mut scorers = Scorers::default();
    let mut comparing = Comparing::begin(request.jobs);
    let mut is_last = false;
    loop {
        while !is_last && comparing.has_room() {
            match rows.next()? {
                None => is_last = true,
                Some((record, case)) => {
                    let rescorer = scorers.of(store, &record, sandbox).await?;
                    let case = match rescorer.subject() {
                        Some(subject) => Arc::new(case.with_result(store, subject)?),
                        None => case,
                    };
                    // Most scorers ask no judge.
                    let answers = match rescorer.asks_judge() {
                        true => store.recordings_of(record.cursor)?,
                        false => Ok(Vec::new()),
                    };
                    let answers = answers.map(|all| all.into_iter().map(Arc::new).collect());
                    comparing.add(record, &case, &rescorer, answers);
                }
            }
        }
        let Some(findings) = comparing.next().await else { break };
        for finding in findings {
            if !take(finding) {
                return Ok(());
            }
        }
    }
    if let Some(run) = request.whole_run() {
        let only = request.filter.scorer.as_deref();
        let findings = whole_run::findings(store, run, only, &mut scorers, sandbox).await?;
        // The caller may want no more findings.
        let _ = findings.into_iter().all(take);
    }
    Ok(())
}

impl VerifyRequest {
    /// Requests the rows that this filter selects.
    pub fn new(filter: ScoreFilter) -> VerifyRequest {
        let jobs = thread::available_parallelism().map_or(1, Into::into);
        VerifyRequest { filter, sample: None, seed: 0, jobs }
    }

    /// Verifies a random sample of this many rows instead of all; all if there are fewer.
    pub fn sample(self, rows: u64) -> VerifyRequest {
        VerifyRequest { sample: Some(rows), ..self }
    }

    /// The random seed of the sample: the same seed picks the same rows. 0 by default.
    pub fn seed(self, seed: u64) -> VerifyRequest {
        VerifyRequest { seed, ..self }
    }

    /// How many scores are computed at the same time, at least 1.
    pub fn jobs(self, jobs: usize) -> VerifyRequest {
        VerifyRequest { jobs: jobs.max(1), ..self }
    }

    /// Selects the rows of which a sample is drawn, or which are all verified.
    pub fn filter(&self) -> &ScoreFilter {
        &self.filter
    }

    /// Whether all of the run is requested, so that the checks of the run as a whole follow its scores.
    pub fn is_of_the_whole_run(&self) -> bool {
        self.whole_run().is_some() && self.filter.scorer.is_none()
    }

    /// The run, if all of it is requested, or all of one scorer.
    fn whole_run(&self) -> Option<&str> {
        let run = self.filter.run.as_deref()?;
        let whole = ScoreFilter {
            run: self.filter.run.clone(),
            scorer: self.filter.scorer.clone(),
            ..ScoreFilter::default()
        };
        (self.sample.is_none() && self.filter == whole).then_some(run)
    }
}
