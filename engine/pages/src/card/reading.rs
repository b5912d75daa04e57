//! Reads the scores of a run for a page: figures, some of the scores, and one digest of the reproducible parts of all
//! of them. Keeps a bounded part of the run in memory, however many scores it has.

use scorebox::{
    aggregate::{Agreement, AgreementError, VerdictOptions, agreement, verdicts},
    digest::Digest,
    row::Status,
    store::{RunRecord, ScoreRecord, ScorerRecord, Store},
    verify::scores_digest,
};

use super::{CardError, CardScored};
use crate::{
    case,
    figures::{Figures, ScorerFigures},
};

/// How many of the lowest and of the highest scores are shown.
const MAX_SHOWN: usize = 3;
/// The most kinds of errors that are shown.
const MAX_KINDS: usize = 30;
/// The most bytes of an id, a reason or a message: more than a page shows.
const MAX_TEXT: usize = 500;

/// What was read of the scores.
pub(super) struct Scores {
    pub(super) run: RunRecord,
    pub(super) scorer: ScorerRecord,
    pub(super) figures: ScorerFigures,
    pub(super) cases: u64,
    pub(super) digest: Digest,
    pub(super) costs: Costs,
    pub(super) errors: Vec<Errors>,
    pub(super) lowest: Vec<Shown>,
    /// The highest scores that are not among the lowest.
    pub(super) highest: Vec<Shown>,
    pub(super) agreement: Option<Agreement>,
}

/// What all scores used together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Costs {
    /// The number of rows with a fuel figure.
    pub(super) fuelled: u64,
    pub(super) fuel: u64,
    pub(super) most_fuel: u64,
    pub(super) most_memory: u64,
    pub(super) most_ms: f64,
    pub(super) calls: u64,
}

/// The errors of one kind.
#[derive(Clone, Debug)]
pub(super) struct Errors {
    pub(super) kind: String,
    pub(super) count: u64,
    /// The case of the first error, and its message.
    pub(super) case: String,
    pub(super) message: String,
}

/// A score that is shown.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    ordinal: u64,
    pub(super) case: String,
    pub(super) score: f64,
    pub(super) says: String,
    pub(super) fuel: Option<u64>,
    pub(super) digest: Digest,
}

impl Scores {
    /// Reads everything from one state of the database.
    pub(super) fn read(scored: &CardScored<'_>) -> Result<Scores, CardError> {
        scored.store.snapshot(|store| Scores::of(store, scored))
    }

    fn of(store: &Store, scored: &CardScored<'_>) -> Result<Scores, CardError> {
        let run = store.run(scored.run)?;
        let scorers = store.scorers(run.key)?;
        let decided = verdicts(store, scored.run, VerdictOptions::default(), |_| true)?;
        let figures = Figures::of(store, &run, &scorers, &decided, VerdictOptions::default())?;
        let of_one = scorers.into_iter().next().zip(figures.scorers.into_iter().next());
        let (scorer, figures) = of_one.ok_or_else(|| CardError::NoScorer(scored.run.to_owned()))?;
        let mut seen = Seen::default();
        let digest = scores_digest(store, scored.run, |record, digest| seen.take(record, digest))?;
        let agreement = match scored.labels {
            Some((_, labels)) => {
                match agreement(store, scored.run, &scorer.spec.scorer_id, labels) {
                    Ok(found) => Some(found),
                    Err(AgreementError::Store(error)) => return Err(error.into()),
                    Err(error) => return Err(CardError::Agreement(error)),
                }
            }
            None => None,
        };
        let Seen { costs, errors, lowest, mut highest, cases } = seen;
        highest.retain(|shown| lowest.iter().all(|other| other.ordinal != shown.ordinal));
        Ok(Scores {
            run,
            scorer,
            figures,
            cases,
            digest,
            costs,
            errors,
            lowest,
            highest,
            agreement,
        })
    }
}

/// What was read of the scores so far.
#[derive(Default)]
struct Seen {
    cases: u64,
    costs: Costs,
    errors: Vec<Errors>,
    lowest: Vec<Shown>,
    highest: Vec<Shown>,
}

impl Seen {
    fn take(&mut self, record: &ScoreRecord, digest: Digest) {
        let answer = &record.row.answer;
        let costs = &mut self.costs;
        if let Some(fuel) = answer.fuel {
            costs.fuelled += 1;
            costs.fuel = costs.fuel.saturating_add(fuel);
            costs.most_fuel = costs.most_fuel.max(fuel);
        }
        costs.most_memory = costs.most_memory.max(answer.memory_bytes.unwrap_or(0));
        costs.most_ms = costs.most_ms.max(answer.duration_ms.unwrap_or(0.0));
        costs.calls += answer.calls.len() as u64;
        if let Some(error) = &answer.error {
            self.note_error(record, &error.kind, &error.message);
        }
        if let (Status::Scored, Some(score)) = (answer.status, answer.score) {
            let ordinal = self.cases;
            let shown = || Shown {
                ordinal,
                case: name(record),
                score,
                says: cut(answer.reason.as_deref().or(answer.label.as_deref()).unwrap_or_default()),
                fuel: answer.fuel,
                digest,
            };
            insert(&mut self.lowest, |other| score < other.score, shown);
            insert(&mut self.highest, |other| score > other.score, shown);
        }
        self.cases += 1;
    }

    fn note_error(&mut self, record: &ScoreRecord, kind: &str, message: &str) {
        if let Some(errors) = self.errors.iter_mut().find(|errors| errors.kind == kind) {
            errors.count += 1;
        } else if self.errors.len() < MAX_KINDS {
            self.errors.push(Errors {
                kind: kind.to_owned(),
                count: 1,
                case: name(record),
                message: cut(message),
            });
        }
    }
}

/// The beginning of a text.
fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_TEXT)].to_owned()
}

fn name(record: &ScoreRecord) -> String {
    let row = &record.row;
    case::name(&cut(&row.case_id), row.iteration, row.attempt)
}

/// Keeps the few that come before all others; of equal ones, the first ones.
fn insert(
    kept: &mut Vec<Shown>,
    is_before: impl Fn(&Shown) -> bool,
    shown: impl FnOnce() -> Shown,
) {
    let index = kept.iter().position(is_before).unwrap_or(kept.len());
    if index < MAX_SHOWN {
        kept.insert(index, shown());
        kept.truncate(MAX_SHOWN);
    }
}
