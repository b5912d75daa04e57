//! The keeper of the cases and rows of a run, which decides which of them are part of the run: a database, if one is
//! named. It sends no events.

use crate::{
    case::{Case, Location},
    contract::ScoredRow,
    digest::Digest,
    now::now_ms,
    row::{Row, milliseconds},
    sandbox::{self, Summary, SummaryRows},
    store::{
        self, CaseAdded, CaseKey, NewScore, NewSummary, Outcome, Reusable, RunState, RunWriter,
        ScoreCursor, StoreError,
    },
};

use super::{
    ReadyScorer,
    gathering::Gathered,
    message::{ReadCase, RunScorers, RunUnit},
};

/// The first sink of a run: only what it accepts is part of the run.
pub(super) enum Keeper {
    /// A database. An id names one case of a run, and a row is written once.
    Database(Box<RunWriter>),
    /// No database: only the rows that scorers summarize are kept, in memory.
    Memory(Unstored),
    /// No database: a program gets all rows at the end.
    Program(Gathered),
}

/// The outcome of keeping a case.
pub(super) enum Kept {
    /// It is part of the run.
    Yes(KeptCase),
    /// Its name belongs to the case at `first`.
    Duplicate { first: String },
    /// Another case of this run is stored at its ordinal.
    Changed { stored_id: String },
    /// It is stored without its error: by a version that did not read it, with a mapping that did not find it, or
    /// because the task failed later.
    ErrorIsNew,
}

/// A case that is part of the run.
#[derive(Clone, Copy)]
pub(super) struct KeptCase {
    /// `None` if nothing is stored.
    key: Option<CaseKey>,
}

/// A computed row.
pub(super) struct ComputedRow {
    pub(super) unit: RunUnit,
    pub(super) outcome: sandbox::Outcome,
    /// The digest of the scorer's input; `None` if the scorer was not run.
    pub(super) input_digest: Option<Digest>,
    /// When, in milliseconds since 1970 UTC.
    pub(super) scored_at_ms: i64,
}

/// A case in the form in which it is stored, with this ordinal in its run; `digest` is the digest of what scorers can
/// read of it.
pub fn case_to_store(case: &Case, ordinal: u64, digest: Digest) -> store::NewCase<'_> {
    store::NewCase {
        ordinal,
        case_id: case.id(),
        node_id: Some(case.node_id()),
        iteration: case.iteration(),
        attempt: case.attempt(),
        source_name: case.source(),
        source_line: case.line(),
        output: case.output(),
        parts: case.parts(),
        workspace: case.workspace(),
        latency_ms: case.latency_ms(),
        other: case.other_json(),
        skip: case.skip(),
        error: case.error(),
        digest,
    }
}

/// A scorer's summary in the form in which it is stored, as computed now.
pub fn summary_to_store(summary: &Summary) -> NewSummary<'_> {
    NewSummary {
        result: match &summary.result {
            Ok(json) => Ok(json),
            Err(error) => Err((error.kind.as_str(), &error.message)),
        },
        fuel: summary.fuel,
        duration_ms: milliseconds(summary.duration),
        computed_at_ms: now_ms(),
        log: &summary.log,
    }
}

impl Keeper {
    /// Accepts or refuses a case.
    pub(super) fn case(&mut self, read: &ReadCase) -> Result<Kept, StoreError> {
        let writer = match self {
            Keeper::Database(writer) => writer,
            Keeper::Memory(_) | Keeper::Program(_) => {
                return Ok(Kept::Yes(KeptCase { key: None }));
            }
        };
        let case = read.in_flight.case();
        let added = writer.add_case(&case_to_store(case, case.ordinal(), read.digest))?;
        Ok(match added {
            CaseAdded::New(key) | CaseAdded::Known(key) => Kept::Yes(KeptCase { key: Some(key) }),
            CaseAdded::Duplicate { first } => {
                let first = Location::new(first.source_name, first.source_line).to_string();
                Kept::Duplicate { first }
            }
            CaseAdded::Changed { stored } => {
                let is_same = stored.case_id == case.id() && stored.ordinal == case.ordinal();
                let has_error = case.error().is_some();
                match is_same && has_error && stored.digest == case.digest_without_error() {
                    true => Kept::ErrorIsNew,
                    false => Kept::Changed { stored_id: stored.case_id },
                }
            }
        })
    }

    /// Adds a row of a case; returns whether it is new.
    pub(super) fn row(&mut self, case: KeptCase, row: &ComputedRow) -> Result<bool, StoreError> {
        match (self, case.key) {
            (Keeper::Database(writer), Some(key)) => {
                let scorer = writer.run().scorers[row.unit.scorer_index];
                writer.add_score(key, scorer, &new_score(row))
            }
            (Keeper::Database(_), None) => Ok(false),
            (Keeper::Memory(unstored), _) => {
                unstored.add(row);
                Ok(true)
            }
            (Keeper::Program(rows), _) => {
                rows.add(
                    row.unit.read.in_flight.case(),
                    row.unit.scorer_index,
                    row.outcome.clone(),
                    row.input_digest,
                    row.scored_at_ms,
                );
                Ok(true)
            }
        }
    }

    /// Copies the row of an earlier run; returns whether it is new.
    pub(super) fn copy(
        &mut self,
        case: KeptCase,
        scorer_index: usize,
        from: Reusable,
    ) -> Result<bool, StoreError> {
        match (self, case.key) {
            (Keeper::Database(writer), Some(key)) => {
                let scorer = writer.run().scorers[scorer_index];
                writer.reuse_score(key, scorer, from)
            }
            _ => Ok(false),
        }
    }

    /// Stores that a scorer skips a case, for this reason; returns whether that is new.
    pub(super) fn skip(
        &mut self,
        kept: KeptCase,
        case: &Case,
        scorer_index: usize,
        reason: &str,
    ) -> Result<bool, StoreError> {
        match (self, kept.key) {
            (Keeper::Database(writer), Some(key)) => {
                let scorer = writer.run().scorers[scorer_index];
                writer.add_score(
                    key,
                    scorer,
                    &NewScore {
                        outcome: Outcome::Skipped { reason: Some(reason) },
                        fuel: None,
                        memory_bytes: None,
                        duration_ms: 0.0,
                        scored_at_ms: now_ms(),
                        log: &[],
                        input_digest: None,
                        calls: &[],
                    },
                )
            }
            (Keeper::Database(_), None) => Ok(false),
            (Keeper::Memory(_), _) => Ok(true),
            (Keeper::Program(rows), _) => {
                rows.skip(case, scorer_index, reason);
                Ok(true)
            }
        }
    }

    /// A copied row, as it is in the database.
    pub(super) fn copied(
        &self,
        case: KeptCase,
        scorer_index: usize,
    ) -> Result<Option<Row>, StoreError> {
        let (Keeper::Database(writer), Some(key)) = (self, case.key) else { return Ok(None) };
        let cursor = ScoreCursor::new(key, writer.run().scorers[scorer_index]);
        Ok(writer.store().score_at(cursor)?.map(|record| record.row))
    }

    /// Whether there is nothing to commit.
    pub(super) fn stores_nothing(&self) -> bool {
        !matches!(self, Keeper::Database(_))
    }

    /// Whether it has the rows that scorers summarize. A program has the rows of some cases, but not of a whole run.
    pub(super) fn has_all_rows(&self) -> bool {
        !matches!(self, Keeper::Program(_))
    }

    /// Makes everything that was accepted durable.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        match self {
            Keeper::Database(writer) => writer.commit(),
            Keeper::Memory(_) | Keeper::Program(_) => Ok(()),
        }
    }

    /// The scored rows of one scorer, in the order of the cases.
    pub(super) fn summary_rows(
        &mut self,
        scorers: &RunScorers,
        scorer_index: usize,
    ) -> Result<SummaryRows, StoreError> {
        match self {
            Keeper::Database(writer) => {
                let mut rows = scorers[scorer_index].scorer.summary_rows();
                let (run, scorer) = (writer.run().key, writer.run().scorers[scorer_index]);
                writer.store().for_each_scored_row(run, scorer, |row| rows.add(row))?;
                Ok(rows)
            }
            Keeper::Memory(unstored) => Ok(unstored.take(scorers, scorer_index)),
            Keeper::Program(_) => Ok(scorers[scorer_index].scorer.summary_rows()),
        }
    }

    /// Stores a scorer's summary of the run.
    pub(super) fn put_summary(
        &mut self,
        scorer_index: usize,
        summary: &Summary,
    ) -> Result<(), StoreError> {
        let Keeper::Database(writer) = self else { return Ok(()) };
        let scorer = writer.run().scorers[scorer_index];
        writer.put_summary(scorer, &summary_to_store(summary))
    }

    /// Whether anything of this session was kept.
    pub(super) fn has_written(&self) -> bool {
        match self {
            Keeper::Database(writer) => writer.has_written(),
            Keeper::Memory(_) | Keeper::Program(_) => true,
        }
    }

    /// The root that the run had before this session, and still has.
    pub(super) fn unchanged_root(&self) -> Result<Option<Digest>, StoreError> {
        match self {
            Keeper::Database(writer) => writer.unchanged_root(),
            Keeper::Memory(_) | Keeper::Program(_) => Ok(None),
        }
    }

    /// Stores how many lines are not valid cases and were skipped: `count` computes it from the number that earlier
    /// sessions left.
    pub(super) fn count_bad_cases(
        &mut self,
        count: impl FnOnce(u64) -> u64,
    ) -> Result<(), StoreError> {
        match self {
            Keeper::Database(writer) => writer.count_bad_cases(count),
            Keeper::Memory(_) | Keeper::Program(_) => Ok(()),
        }
    }

    /// Stores how the run ended, with its root, and returns the root.
    pub(super) fn finish(
        &mut self,
        state: RunState,
        reason: Option<&str>,
    ) -> Result<Option<Digest>, StoreError> {
        match self {
            Keeper::Database(writer) => writer.finish(state, reason, now_ms()).map(Some),
            Keeper::Memory(_) | Keeper::Program(_) => Ok(None),
        }
    }
}

/// The rows of a run that is not stored, by the scorer's index, as far as scorers summarize them: no more than such a
/// scorer would get.
pub(super) struct Unstored(Vec<Option<Summarized>>);

/// The rows of one scorer, in the order in which they were finished, and the ordinals of their cases.
struct Summarized {
    rows: SummaryRows,
    ordinals: Vec<u64>,
}

impl Unstored {
    /// Starts without rows.
    pub(super) fn new(scorers: &RunScorers) -> Unstored {
        let of = |ready: &ReadyScorer| {
            let rows = || Summarized { rows: ready.scorer.summary_rows(), ordinals: Vec::new() };
            ready.scorer.summarizes().then(rows)
        };
        Unstored(scorers.iter().map(of).collect())
    }

    fn add(&mut self, row: &ComputedRow) {
        let Some(Some(summarized)) = self.0.get_mut(row.unit.scorer_index) else { return };
        let Ok(result) = &row.outcome.result else { return };
        let case = row.unit.read.in_flight.case();
        let scored = ScoredRow {
            case_id: case.id().to_owned(),
            score: result.score,
            label: result.label.clone(),
            meta: result.meta.clone(),
        };
        if summarized.rows.add(scored) {
            summarized.ordinals.push(case.ordinal());
        }
    }

    fn take(&mut self, scorers: &RunScorers, scorer_index: usize) -> SummaryRows {
        match self.0.get_mut(scorer_index).and_then(Option::take) {
            Some(Summarized { rows, ordinals }) => rows.in_order_of(ordinals),
            None => scorers[scorer_index].scorer.summary_rows(),
        }
    }
}

fn new_score(row: &ComputedRow) -> NewScore<'_> {
    let outcome = match &row.outcome.result {
        Err(error) => {
            Outcome::Error { kind: error.kind.as_str(), message: &error.message, reason: None }
        }
        Ok(result) => match result.score {
            None => Outcome::NotApplicable {
                label: result.label.as_deref(),
                reason: result.reason.as_deref(),
                meta: result.meta.as_deref(),
            },
            Some(score) => Outcome::Scored {
                score,
                label: result.label.as_deref(),
                reason: result.reason.as_deref(),
                meta: result.meta.as_deref(),
                assertions: &result.assertions,
            },
        },
    };
    NewScore {
        outcome,
        fuel: row.outcome.fuel,
        memory_bytes: Some(row.outcome.memory_bytes),
        duration_ms: milliseconds(row.outcome.duration),
        scored_at_ms: row.scored_at_ms,
        log: &row.outcome.log,
        input_digest: row.input_digest,
        calls: &row.outcome.calls,
    }
}
