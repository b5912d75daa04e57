//! Collects the rows of a run for a program that gets them all at its end. It stores nothing.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    case::Case,
    digest::Digest,
    now::now_ms,
    row::{Answer, Row, Status},
    sandbox::Outcome,
};

use super::message::RunScorers;

/// The rows of a run, by the ordinals of the cases and the indices of the scorers.
pub(super) type Rows = Vec<Vec<Option<Row>>>;

/// The collection of the rows of a run.
#[derive(Debug)]
pub(super) struct Gathered {
    scorers: RunScorers,
    rows: Arc<Mutex<Rows>>,
}

impl Gathered {
    pub(super) fn new(cases: usize, scorers: &RunScorers) -> Gathered {
        let rows = vec![vec![None; scorers.len()]; cases];
        Gathered { scorers: Arc::clone(scorers), rows: Arc::new(Mutex::new(rows)) }
    }

    /// The rows, which are complete when the run has ended.
    pub(super) fn rows(&self) -> Arc<Mutex<Rows>> {
        Arc::clone(&self.rows)
    }

    /// Adds a computed row; `input_digest` is the digest of the scorer's input.
    pub(super) fn add(
        &mut self,
        case: &Case,
        scorer_index: usize,
        outcome: Outcome,
        input_digest: Option<Digest>,
        scored_at_ms: i64,
    ) {
        let row = self.scorers[scorer_index].row(case, Answer::from(outcome), scored_at_ms);
        self.put(case, scorer_index, Row { input_digest, ..row });
    }

    /// Adds that a scorer skips a case, for this reason.
    pub(super) fn skip(&mut self, case: &Case, scorer_index: usize, reason: &str) {
        let answer = Answer { reason: Some(reason.to_owned()), ..Answer::new(Status::Skipped) };
        let row = self.scorers[scorer_index].row(case, answer, now_ms());
        self.put(case, scorer_index, row);
    }

    fn put(&self, case: &Case, scorer_index: usize, row: Row) {
        let ordinal = usize::try_from(case.ordinal()).unwrap_or(usize::MAX);
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_case) = rows.get_mut(ordinal) {
            of_case[scorer_index] = Some(row);
        }
    }
}
