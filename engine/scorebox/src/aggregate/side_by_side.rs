//! Reads two runs side by side: which cases both have, and the answers of the scorers of each. It keeps a page of each
//! run, and compares nothing.

use std::{cmp::Ordering, collections::VecDeque};

use super::deciding::{Decider, is_because};
use crate::{
    row::Status,
    stats::Reducer,
    store::{Attempts, CaseKey, CaseToDecide, RunRecord, Store, StoreError},
    suite::Skip,
    verdict::Verdict,
};

/// How many attempts at one case can be read. Their scores are in memory together.
const MAX_ATTEMPTS: u64 = 100_000;

/// Why two runs cannot be read side by side.
#[derive(Debug)]
pub(super) enum ReadError {
    Store(StoreError),
    TooManyAttempts { case_id: String },
}

impl From<StoreError> for ReadError {
    fn from(error: StoreError) -> ReadError {
        ReadError::Store(error)
    }
}

/// How the attempts at a case are reduced to one.
#[derive(Clone, Copy, Debug)]
pub(super) struct AsOne {
    pub(super) reducer: Reducer,
    pub(super) strict: bool,
}

/// A case, with all its attempts reduced to one.
#[derive(Debug)]
pub(super) struct OneCase {
    /// The first attempt's key.
    pub(super) key: CaseKey,
    pub(super) case_id: String,
    pub(super) attempts: u64,
    /// For each scorer, its reduced score.
    pub(super) scores: Vec<Option<f64>>,
    /// For each scorer, the number of attempts with a score.
    pub(super) scored: Vec<u64>,
    /// For each scorer, the number of attempts that its sampling left out.
    pub(super) left_out: Vec<u64>,
    /// For each scorer, the number of attempts at which it failed.
    pub(super) errors: Vec<u64>,
    /// For each scorer, how many of the attempts it did not apply to or skipped, those that sampling left out not
    /// counted.
    pub(super) spared: Vec<u64>,
    /// Attempts that failed.
    pub(super) failed: u64,
    /// Attempts that are errored.
    pub(super) errored: u64,
    /// Attempts that nothing decided that can fail one, and not because of sampling.
    pub(super) undecided: u64,
    /// How many of the attempts count in a rate of those that passed.
    pub(super) judged: u64,
    /// The part of these that passed; `None` if none counts.
    pub(super) passed: Option<f64>,
}

/// A case that one or both of the runs have.
#[derive(Debug)]
pub(super) enum Beside {
    OnlyFirst(OneCase),
    OnlySecond(OneCase),
    Both(Box<(OneCase, OneCase)>),
}

/// A run, read case by case in the order of the ids.
pub(super) struct Side<'s> {
    store: &'s Store,
    pub(super) record: RunRecord,
    pub(super) decider: Decider,
    attempts: Attempts<'s>,
    page: VecDeque<CaseToDecide>,
    as_one: AsOne,
    next: Option<OneCase>,
}

impl<'s> Side<'s> {
    pub(super) fn new(
        store: &'s Store,
        run: &str,
        node: Option<&'s str>,
        as_one: AsOne,
    ) -> Result<Side<'s>, StoreError> {
        let record = store.run(run)?;
        Ok(Side {
            store,
            decider: Decider::new(store, record.key)?,
            attempts: store.attempts(record.key, node),
            record,
            page: VecDeque::new(),
            as_one,
            next: None,
        })
    }

    /// The first of the attempts that were not consumed yet.
    fn peek(&mut self) -> Result<Option<&CaseToDecide>, StoreError> {
        if self.page.is_empty() {
            self.page.extend(self.attempts.next_page()?);
        }
        Ok(self.page.front())
    }

    /// Reads all attempts at the next case.
    fn read(&mut self) -> Result<Option<OneCase>, ReadError> {
        let Some(first) = self.peek()? else { return Ok(None) };
        let (key, case_id) = (first.key, first.case_id.clone());
        let mut errors = vec![0; self.decider.scorers.len()];
        let (mut left_out, mut spared) = (errors.clone(), errors.clone());
        let (mut failed, mut errored, mut undecided) = (0, 0, 0);
        let mut scores = vec![Vec::new(); self.decider.scorers.len()];
        let (mut attempts, mut judged, mut passed) = (0, 0_u64, 0_u64);
        while self.peek()?.is_some_and(|attempt| attempt.case_id == case_id) {
            let Some(attempt) = self.page.pop_front() else { break };
            attempts += 1;
            if attempts > MAX_ATTEMPTS {
                return Err(ReadError::TooManyAttempts { case_id });
            }
            let damaged = |what| StoreError::Corrupt { path: self.store.path().to_owned(), what };
            let (verdict, _) = self.decider.case(&attempt).map_err(damaged)?;
            let verdict = if self.as_one.strict { verdict.strict() } else { verdict };
            judged += u64::from(verdict.is_judged());
            passed += u64::from(verdict.verdict == Verdict::Passed);
            failed += u64::from(verdict.verdict == Verdict::Failed);
            errored += u64::from(verdict.verdict == Verdict::Errored);
            let mut is_sampled_out = false;
            for row in &attempt.rows {
                let index = self.decider.index(row.scorer);
                let can_fail = index.and_then(|index| self.decider.scorers.get(index));
                let can_fail = can_fail.is_some_and(|scorer| scorer.can_fail(self.as_one.strict));
                let by_sampling = is_because(row, Skip::Sampling);
                is_sampled_out |= can_fail && by_sampling;
                let is_spared = matches!(row.status, Status::NotApplicable | Status::Skipped);
                if let Some(spared) = index.and_then(|index| spared.get_mut(index)) {
                    *spared += u64::from(is_spared && !by_sampling);
                }
                if let Some(errors) = index.and_then(|index| errors.get_mut(index)) {
                    *errors += u64::from(row.status == Status::Error);
                }
                if let Some(left_out) = index.and_then(|index| left_out.get_mut(index)) {
                    *left_out += u64::from(by_sampling);
                }
                let of_scorer = index.and_then(|index| scores.get_mut(index));
                let score = row.score.filter(|it| row.status == Status::Scored && it.is_finite());
                if let (Some(of_scorer), Some(score)) = (of_scorer, score) {
                    of_scorer.push(score);
                }
            }
            undecided += u64::from(verdict.verdict == Verdict::Skipped && !is_sampled_out);
        }
        let reduce = |scores: &Vec<f64>| self.as_one.reducer.reduce(scores);
        Ok(Some(OneCase {
            key,
            case_id,
            attempts,
            scores: scores.iter().map(reduce).collect(),
            scored: scores.iter().map(|of_scorer| of_scorer.len() as u64).collect(),
            left_out,
            errors,
            spared,
            failed,
            errored,
            undecided,
            judged,
            passed: (judged > 0).then(|| passed as f64 / judged as f64),
        }))
    }

    fn fill(&mut self) -> Result<(), ReadError> {
        if self.next.is_none() {
            self.next = self.read()?;
        }
        Ok(())
    }
}

/// The next case of two runs, in the order of their ids.
pub(super) fn next(
    first: &mut Side<'_>,
    second: &mut Side<'_>,
) -> Result<Option<Beside>, ReadError> {
    first.fill()?;
    second.fill()?;
    let order = match (&first.next, &second.next) {
        (None, None) => return Ok(None),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (Some(one), Some(other)) => one.case_id.cmp(&other.case_id),
    };
    Ok(match order {
        Ordering::Less => first.next.take().map(Beside::OnlyFirst),
        Ordering::Greater => second.next.take().map(Beside::OnlySecond),
        Ordering::Equal => {
            first.next.take().zip(second.next.take()).map(|both| Beside::Both(Box::new(both)))
        }
    })
}
