//! The cases of a run, each with its verdict and all its rows, one at a time: two passes over the database in parallel.
//! It decides nothing.

use std::collections::VecDeque;

use crate::{
    aggregate::{Against, DecidedCase, DecidedRun, VerdictOptions, verdicts},
    store::{CaseKey, CaseToDecide, ScoreCursor, ScoreFilter, ScoreRecord, Store, StoreError},
};

use super::{ReportError, ReportOptions};

/// How many rows are read at a time, if they are not large.
const PAGE_ROWS: usize = 1000;

/// A case of a report.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReportedCase<'a> {
    /// The case and its verdict.
    pub decided: DecidedCase<'a>,
    /// Its rows, in the order of the scorers.
    pub rows: Vec<ScoreRecord>,
}

impl ReportedCase<'_> {
    /// `(iteration 0, attempt 2)`, unless both are the first.
    pub(super) fn which_attempt(&self) -> Option<String> {
        let CaseToDecide { iteration, attempt, .. } = *self.decided.case;
        let is_first = iteration == 0 && attempt == 0;
        (!is_first).then(|| format!("(iteration {iteration}, attempt {attempt})"))
    }

    /// The rows that decided against it, with how they count.
    pub(super) fn decisive(&self) -> impl Iterator<Item = (&Against<'_>, Option<&ScoreRecord>)> {
        self.decided.against.iter().map(|against| {
            let row = self.rows.iter().find(|record| record.row.scorer_id == against.scorer_id);
            (against, row)
        })
    }
}

/// Calls `take` with all cases of the run, in their order, until it fails; returns the run's verdict. Memory use is
/// limited to a page of rows (16 MiB). Call it within [`Store::snapshot`], so that all cases come from one state of the
/// database.
///
/// # Errors
/// [`StoreError::NoSuchRun`]; the database cannot be read; the errors of `take`.
pub fn for_each_case(
    store: &Store,
    options: ReportOptions<'_>,
    mut take: impl FnMut(&ReportedCase<'_>) -> Result<(), ReportError>,
) -> Result<DecidedRun, ReportError> {
    let filter = ScoreFilter { run: Some(options.run.to_owned()), ..ScoreFilter::default() };
    let mut rows = Rows { store, filter, read: VecDeque::new(), last: None, is_at_the_end: false };
    let how = VerdictOptions { node: None, strict: options.strict };
    let mut failed = None;
    let run = verdicts(store, options.run, how, |decided| {
        let taken = rows
            .of(decided.case.key)
            .map_err(ReportError::from)
            .and_then(|rows| take(&ReportedCase { decided, rows }));
        failed = taken.err();
        failed.is_none()
    })?;
    match failed {
        Some(error) => Err(error),
        None => Ok(run),
    }
}

/// The rows of a run in the order of its cases, page by page.
struct Rows<'s> {
    store: &'s Store,
    filter: ScoreFilter,
    read: VecDeque<ScoreRecord>,
    last: Option<ScoreCursor>,
    is_at_the_end: bool,
}

impl Rows<'_> {
    /// Returns the rows of the next case.
    fn of(&mut self, case: CaseKey) -> Result<Vec<ScoreRecord>, StoreError> {
        let mut rows = Vec::new();
        loop {
            while let Some(row) = self.read.pop_front_if(|row| row.cursor.case() <= case) {
                rows.push(row);
            }
            if !self.read.is_empty() || self.is_at_the_end {
                return Ok(rows);
            }
            let page = self.store.scores(&self.filter, self.last, PAGE_ROWS)?;
            self.last = page.last().map(|row| row.cursor);
            self.is_at_the_end = page.is_empty();
            self.read.extend(page);
        }
    }
}
