//! Computes scores again in parallel, and makes a finding for each in the order of the rows. It reads and writes
//! nothing.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::mpsc;

use crate::{
    case::CasePointer,
    judge::{Asking, Recording},
    row::{Answer, Status},
    sandbox::LoadedScorer,
    scoring::{Batch, Capacity, CaseInFlight, Computed, DEFAULT_WAITING, Finished, Scoring, Unit},
    store::{ScoreRecord, Unrecorded},
};

use super::{
    Finding, Verdict,
    answer::{self, JsonAs},
    recorded_calls,
    rescore::{Rescorer, StoredScore, skipped, unproved_of},
    rows::StoredCase,
};

/// How many rows may be in flight for each job: enough that a slow one does not delay the others.
const ROWS_FOR_EACH_JOB: usize = 16;
/// How many bytes of rows and cases may be in flight, beyond the first row.
const MAX_BYTES: usize = 16 << 20;

/// A stored row whose score is computed again.
struct StoredUnit {
    /// Its number among all rows that were added, from 0.
    number: u64,
    case: Option<Arc<CaseInFlight>>,
    /// Why there is no output to score, if the task failed.
    failure: Option<String>,
    scorer: Arc<LoadedScorer>,
    condition: Option<Arc<LoadedScorer>>,
    output_from: Option<Arc<CasePointer>>,
    record: ScoreRecord,
    stored: Answer,
    /// The judge's answers that the stored score is based on.
    answers: Vec<Arc<Recording>>,
}

impl Unit for StoredUnit {
    fn case(&self) -> Option<&CaseInFlight> {
        self.case.as_deref()
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn scorer(&self) -> &LoadedScorer {
        &self.scorer
    }

    fn condition(&self) -> Option<&LoadedScorer> {
        self.condition.as_deref()
    }

    fn output_from(&self) -> Option<&CasePointer> {
        self.output_from.as_deref()
    }

    fn answers(&self) -> Vec<Arc<Recording>> {
        self.answers.clone()
    }

    /// Scores of results are separate rows, with the stored result.
    fn of_result(&self, _: &Computed) -> Vec<StoredUnit> {
        Vec::new()
    }
}

/// A row in flight.
struct InFlight {
    score_id: String,
    wasmtime_version: String,
    bytes: usize,
    verdict: Option<Verdict>,
}

/// The rows in flight, in the order in which they were added.
pub(super) struct Comparing {
    jobs: usize,
    scoring: Scoring<StoredUnit>,
    rows: mpsc::Receiver<Batch<StoredUnit>>,
    in_flight: VecDeque<InFlight>,
    /// The number of the first of them.
    first: u64,
    bytes: usize,
    last_case: Option<Arc<StoredCase>>,
}

impl Comparing {
    /// Starts to compute `jobs` scores at the same time.
    pub(super) fn begin(jobs: usize) -> Comparing {
        let (scoring, rows) = begin_scoring(jobs);
        Comparing {
            jobs,
            scoring,
            rows,
            in_flight: VecDeque::new(),
            first: 0,
            bytes: 0,
            last_case: None,
        }
    }

    /// Whether another row can be added.
    pub(super) fn has_room(&self) -> bool {
        self.in_flight.len() < most_in_flight(self.jobs) && self.bytes <= MAX_BYTES
    }

    /// Adds a row, whose score is computed again if that is possible.
    pub(super) fn add(
        &mut self,
        record: ScoreRecord,
        case: &Arc<StoredCase>,
        rescorer: &Rescorer,
        answers: Result<Vec<Arc<Recording>>, Unrecorded>,
    ) {
        let is_of_last_case = self.last_case.as_ref().is_some_and(|last| Arc::ptr_eq(last, case));
        let bytes = record.bytes() + if is_of_last_case { 0 } else { case.bytes };
        self.last_case = Some(Arc::clone(case));
        self.bytes += bytes;
        let number = self.first + self.in_flight.len() as u64;
        self.in_flight.push_back(InFlight {
            score_id: record.id.to_string(),
            wasmtime_version: record.wasmtime_version.clone(),
            bytes,
            verdict: None,
        });
        let begun = begun(number, record, case, rescorer, answers);
        let settled = match begun {
            Err(verdict) => Some(verdict),
            // The queue always has room, so this does not block a thread.
            Ok(unit) => self.scoring.units().push([unit]).err().map(|_closed| broken()),
        };
        if let Some(verdict) = settled {
            self.settle(number, verdict);
        }
    }

    /// Returns the next findings, at least one; `None` if no row is in flight.
    pub(super) async fn next(&mut self) -> Option<Vec<Finding>> {
        while !self.in_flight.is_empty() {
            let settled = self.in_flight.iter().take_while(|row| row.verdict.is_some()).count();
            if settled > 0 {
                let findings: Vec<Finding> =
                    self.in_flight.drain(..settled).filter_map(InFlight::finding).collect();
                self.first += settled as u64;
                self.bytes = self.in_flight.iter().map(|row| row.bytes).sum();
                return Some(findings);
            }
            match self.rows.recv().await {
                Some(batch) => {
                    for row in batch.rows {
                        self.settle(row.unit.number, compared(row));
                    }
                }
                // A worker panicked, and the others have ended.
                None => {
                    self.in_flight.iter_mut().for_each(|row| {
                        row.verdict.get_or_insert_with(broken);
                    });
                    (self.scoring, self.rows) = begin_scoring(self.jobs);
                }
            }
        }
        None
    }

    fn settle(&mut self, number: u64, verdict: Verdict) {
        let index = number.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        if let Some(row) = index.and_then(|index| self.in_flight.get_mut(index)) {
            row.verdict = Some(verdict);
        }
    }
}

impl InFlight {
    fn finding(self) -> Option<Finding> {
        let unproved = unproved_of(&self.wasmtime_version).iter().copied();
        Some(Finding::new(self.score_id, self.verdict?).leaving(unproved))
    }
}

fn most_in_flight(jobs: usize) -> usize {
    jobs.max(1).saturating_mul(ROWS_FOR_EACH_JOB)
}

fn begin_scoring(jobs: usize) -> (Scoring<StoredUnit>, mpsc::Receiver<Batch<StoredUnit>>) {
    let (to_comparing, rows) = mpsc::channel(most_in_flight(jobs));
    let capacity = Capacity {
        jobs,
        waiting: DEFAULT_WAITING.min(jobs.max(1)),
        queued: most_in_flight(jobs) + 1,
    };
    (Scoring::begin(capacity, &to_comparing, Asking::default(), || false), rows)
}

/// The row as work for a job; or a finding that needs no computing.
fn begun(
    number: u64,
    record: ScoreRecord,
    of_row: &StoredCase,
    rescorer: &Rescorer,
    answers: Result<Vec<Arc<Recording>>, Unrecorded>,
) -> Result<StoredUnit, Verdict> {
    let answers = answers.map_err(|unrecorded| recorded_calls::verdict(&unrecorded))?;
    let case = of_row.case.as_ref().map_err(Verdict::clone)?;
    let stored = answer::stored(&record).map_err(Verdict::not_verifiable)?;
    let (skip, failure) = (of_row.skip.as_deref(), of_row.failure.clone());
    if let Some(verdict) = rescorer.of_unscored(&record.row, skip, failure.as_deref()) {
        return Err(verdict);
    }
    // For a case that the scorer skips or whose task failed, only the condition is computed, which sees no files.
    let names_files = record.row.answer.status != Status::Skipped
        && failure.is_none()
        && case.as_ref().is_some_and(|case| case.case().workspace().is_some());
    let scorer = Arc::clone(rescorer.for_score(names_files, &stored)?);
    let (case, condition) = (case.clone(), rescorer.condition().cloned());
    let output_from = rescorer.output_from().cloned();
    Ok(StoredUnit {
        number,
        case,
        failure,
        scorer,
        condition,
        output_from,
        record,
        stored,
        answers,
    })
}

fn compared(row: Finished<StoredUnit>) -> Verdict {
    let StoredUnit { record, stored, .. } = &row.unit;
    let stored = StoredScore {
        answer: stored,
        json_as: JsonAs::Text,
        input_digest: record.row.input_digest,
        wasmtime_version: &record.wasmtime_version,
    };
    if let Computed::Outcome(outcome, _) = &row.computed
        && let Some(verdict) = recorded_calls::asked_otherwise(row.unit.answers.len(), outcome)
    {
        return verdict;
    }
    match row.computed {
        Computed::Outcome(outcome, digest) => stored.compared_with(&outcome.into(), digest),
        Computed::NotRun(outcome) => stored.compared_without_input(&outcome.into()),
        Computed::Skipped(skip) => stored.compared_without_input(&skipped(skip, None)),
    }
}

fn broken() -> Verdict {
    Verdict::not_verifiable("computing it broke")
}
