//! Comparison of two runs on the same cases: options, figures, errors. It computes nothing.

use serde::Serialize;

use super::side_by_side::ReadError;
use crate::{
    advice::{Advice, Advised, Thing},
    amount::{count, counted},
    contract::Direction,
    stats::{
        Interval, Reducer,
        paired::{PairedTest, Passes, WinsAndLosses},
    },
    store::{RunState, Store, StoreError},
    suggest::closest,
};

/// The accepted chance of a false alarm, over all tests of a comparison.
pub const ACCEPTED_ERROR: f64 = 0.05;

/// A run in a database.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RunIn<'s> {
    /// The database.
    pub store: &'s Store,
    /// The id of the run.
    pub run: &'s str,
}

impl<'s> RunIn<'s> {
    /// This run of this database.
    pub fn new(store: &'s Store, run: &'s str) -> RunIn<'s> {
        RunIn { store, run }
    }
}

/// Which scores are compared, and how.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ComparisonOptions<'a> {
    /// Only this scorer; without it, all scorers that both runs have, and verdicts.
    pub scorer: Option<&'a str>,
    /// Only the cases of this task.
    pub node: Option<&'a str>,
    /// Whether a soft regression fails a case too.
    pub strict: bool,
    /// How the scores of several attempts at a case are reduced to one.
    pub reducer: Reducer,
    /// How many of the cases that changed most are listed, for each scorer.
    pub changes: usize,
    /// The difference for which [`ComparedScores::cases_needed`] is computed; without it, the observed one.
    pub difference: Option<f64>,
}

impl Default for ComparisonOptions<'_> {
    fn default() -> Self {
        ComparisonOptions {
            scorer: None,
            node: None,
            strict: false,
            reducer: Reducer::Mean,
            changes: 10,
            difference: None,
        }
    }
}

impl<'a> ComparisonOptions<'a> {
    /// The same with this [`scorer`](ComparisonOptions::scorer).
    #[must_use]
    pub fn with_scorer(mut self, scorer: impl Into<Option<&'a str>>) -> ComparisonOptions<'a> {
        self.scorer = scorer.into();
        self
    }

    /// The same with this [`node`](ComparisonOptions::node).
    #[must_use]
    pub fn with_node(mut self, node: impl Into<Option<&'a str>>) -> ComparisonOptions<'a> {
        self.node = node.into();
        self
    }

    /// The same with this [`strict`](ComparisonOptions::strict).
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> ComparisonOptions<'a> {
        self.strict = strict;
        self
    }

    /// The same with this [`reducer`](ComparisonOptions::reducer).
    #[must_use]
    pub fn with_reducer(mut self, reducer: Reducer) -> ComparisonOptions<'a> {
        self.reducer = reducer;
        self
    }

    /// The same with this number of [`changes`](ComparisonOptions::changes).
    #[must_use]
    pub fn with_changes(mut self, changes: usize) -> ComparisonOptions<'a> {
        self.changes = changes;
        self
    }

    /// The same with this [`difference`](ComparisonOptions::difference).
    #[must_use]
    pub fn with_difference(mut self, difference: impl Into<Option<f64>>) -> ComparisonOptions<'a> {
        self.difference = difference.into();
        self
    }
}

/// A comparison of two runs on the same cases. `a` is the reference, `b` is the run that is judged: a difference is b
/// less a.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Comparison {
    /// The run to compare with.
    pub a: ComparedRun,
    /// The run that may be better or worse.
    pub b: ComparedRun,
    /// Cases that both runs have.
    pub cases: u64,
    /// How many of them have fewer attempts in b; 0 if b has the same number at each of them, because then it was a
    /// choice.
    pub fewer_attempts: u64,
    /// Whether the ids name the same cases in both runs.
    pub questions: ComparedQuestions,
    /// Whether cases pass, if a scorer of each run can fail one. For a case with several attempts, the part that
    /// passed.
    pub verdict: Option<ComparedScores>,
    /// The scorers that both runs have, in the order of the first run.
    pub scorers: Vec<ComparedScorer>,
    /// Scorers that both runs have but whose scores cannot be compared: the scale or the direction differs.
    pub incomparable: Vec<String>,
    /// Scorers that decide in a, but for which nothing is compared: b does not have them, or they are
    /// [incomparable](Self::incomparable). Empty if one scorer was requested.
    pub not_compared: Vec<String>,
    /// How many tests the p values are corrected for: those in which a score changed, for no other can find anything. If
    /// verdicts are the scores of the only scorer that decides, their
    /// test is its own.
    pub tests: u64,
}

impl Comparison {
    /// The verdicts, if they are compared, and all scorers.
    pub fn figures(&self) -> impl Iterator<Item = &ComparedScores> {
        self.verdict.iter().chain(self.scorers.iter().map(|scorer| &scorer.scores))
    }

    /// The run without verdicts, if only the other one has verdicts.
    pub fn without_verdicts(&self) -> Option<&ComparedRun> {
        match (self.a.has_verdicts, self.b.has_verdicts) {
            (true, false) => Some(&self.b),
            (false, true) => Some(&self.a),
            _ => None,
        }
    }

    /// Whether verdicts or a scorer are worse.
    pub fn is_worse(&self) -> bool {
        self.figures().any(|scores| scores.finding == Finding::Worse)
    }
}

/// Whether the first cases of both runs, at most 1000, are the same: cases are paired by id, and cases without an id
/// are named after their position in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ComparedQuestions {
    /// Cases whose input and ground truth were compared.
    pub compared: u64,
    /// How many of them have another input or another ground truth in b.
    pub others: u64,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ComparedRun {
    /// The run.
    pub run_id: String,
    /// The state of the run. Of a run that is still running, the stored part is compared.
    pub state: RunState,
    /// Whether it has verdicts to compare: a scorer can keep a case from passing, and no single scorer was requested.
    pub has_verdicts: bool,
    /// Its cases; attempts at the same one count once.
    pub cases: u64,
    /// Attempts at the cases that both runs have.
    pub attempts: u64,
    /// Cases that the other run does not have.
    pub only_here: u64,
    /// The ids of the first of them, at most 10.
    pub examples: Vec<String>,
    /// Scorers that the other run does not have.
    pub scorers_only_here: Vec<String>,
}

/// One scorer in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ComparedScorer {
    /// The suite's key for it.
    pub scorer_id: String,
    /// Which end of the scale is good.
    pub direction: Direction,
    /// Whether it is the same component with the same configuration in both runs. If not, a difference may be due to
    /// the scorer.
    pub same_scorer: bool,
    /// Whether it asks the same judge or jury in both runs, or asks none. If not, a difference may be due to the judge.
    pub same_judge: bool,
    /// Whether its scores count the same in both runs: severity, threshold, weight, and whether a score is required. If
    /// not, verdicts and what passes may differ although scores do not.
    pub same_policy: bool,
    /// Its scores.
    #[serde(flatten)]
    pub scores: ComparedScores,
}

/// The scores of both runs, case by case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ComparedScores {
    /// The conclusion from the cases.
    pub finding: Finding,
    /// Cases with a score in both runs; all figures below are over these.
    pub pairs: u64,
    /// Cases of both runs with a score in a only.
    pub only_a: u64,
    /// Cases of both runs with a score in b only.
    pub only_b: u64,
    /// Cases of both runs with a score in a, at which the scorer failed for a larger part of the attempts in b than in
    /// a.
    pub errors_b: u64,
    /// Cases of both runs with a score in a, which have a score for a smaller part of the attempts in b than in a,
    /// although the scorer did not fail for a larger part: it was not applicable, or did not run. For verdicts, cases
    /// with fewer attempts in b.
    pub absent_b: u64,
    /// Cases that fail in b, and that nothing decided in a: no scorer that can fail them applied. If one scorer was asked
    /// for, those that fail by it, and that it did not apply to. Counted for verdicts, and for such a scorer.
    pub failed_spared: u64,
    /// Cases that fail in b and are errored in a, which says of neither whether it is worse. Counted for verdicts.
    pub failed_errored: u64,
    /// The mean of a; `None` here and below if there are no pairs.
    pub mean_a: Option<f64>,
    /// The mean of b.
    pub mean_b: Option<f64>,
    /// The mean difference, b less a.
    pub difference: Option<f64>,
    /// Its 95 % interval; `None` if all differences are equal.
    pub interval: Option<Interval>,
    /// The permutation test of the difference.
    pub test: Option<PairedTest>,
    /// Its p value, corrected for the number of tests (Holm).
    pub p_corrected: Option<f64>,
    /// The p value of the sign test.
    pub sign_test: Option<f64>,
    /// The mean difference in standard deviations of the differences (Cohen's d_z); `None` if all are equal.
    pub effect: Option<f64>,
    /// How many cases are better, worse, or the same in b.
    #[serde(flatten)]
    pub wins: WinsAndLosses,
    /// Which cases pass, in a and in b: by the thresholds; or, on the scale from 0 to 1, if all scores are the best or
    /// the worst. `None` if nothing defines what passes, or if cases have several attempts.
    pub passes: Option<Passes>,
    /// The p value of McNemar's test of these counts.
    pub mcnemar: Option<f64>,
    /// The smallest difference that so many cases show 80 times of 100, if differences vary as these do. `None` if they
    /// do not vary, and if it is larger than any on the scale.
    pub smallest_difference: Option<f64>,
    /// The cases that it takes to show the difference that was asked for, or else the observed one, 80 times of 100.
    /// `None` if they do not vary, and of a difference that is not on the scale.
    pub cases_needed: Option<u64>,
    /// The fewest cases with which a loss in each of them would be shown: with fewer pairs, nothing can be found.
    pub fewest_cases: u64,
    /// The cases that changed most, the largest change first.
    pub changes: Vec<Change>,
}

impl ComparedScores {
    /// Whether the pairs are so few that they would show nothing even if b were worse in each of them.
    pub fn are_too_few(&self) -> bool {
        self.pairs > 0 && self.pairs < self.fewest_cases
    }

    /// Why the interval leaves out 0 where no difference is shown; `None` if it does not.
    pub fn beside_zero(&self) -> Option<BesideZero> {
        let interval = self.interval.filter(|_| self.finding == Finding::NotShown)?;
        let p = self.test?.p;
        (interval.low > 0.0 || interval.high < 0.0).then_some(match p < ACCEPTED_ERROR {
            true => BesideZero::Uncorrected,
            false => BesideZero::Approximate,
        })
    }

    /// Whether the score of a case changed.
    pub(super) fn have_changed(&self) -> bool {
        self.wins.wins + self.wins.losses > 0
    }
}

/// Why an interval leaves out 0 where p shows no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BesideZero {
    /// It is that of one scorer alone, and p is corrected for several tests.
    Uncorrected,
    /// It takes the mean of so few cases for one that it only resembles, and the permutation test does not.
    Approximate,
}

/// The conclusion from the cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Finding {
    /// b is better: the corrected p value is below 5 %.
    Better,
    /// b is worse.
    Worse,
    /// These cases show no difference, but there may be one.
    NotShown,
    /// Every case has the same score in both runs.
    Same,
    /// No case has a score in both runs.
    NoPairs,
}

/// A case whose score changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Change {
    /// The case's id.
    pub case_id: String,
    /// Its score in a.
    pub a: f64,
    /// Its score in b.
    pub b: f64,
    /// b less a.
    pub difference: f64,
}

/// Why runs cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ComparisonError {
    /// A database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Both runs are the same.
    #[error("run `{run_id}` is compared with itself")]
    SameRun {
        /// The run.
        run_id: String,
    },
    /// The runs have no case in common.
    #[error("the runs share no id of a case: {a} has {}; {b} has {}", named(.cases_a), named(.cases_b))]
    NoSharedCase {
        /// The first run.
        a: String,
        /// The second run.
        b: String,
        /// The ids of the first cases of the first run.
        cases_a: Vec<String>,
        /// The ids of the first cases of the second run.
        cases_b: Vec<String>,
    },
    /// The runs have no scorer in common.
    #[error("the runs share no scorer: {a} has {}; {b} has {}", named(.scorers_a), named(.scorers_b))]
    NoSharedScorer {
        /// The first run.
        a: String,
        /// The second run.
        b: String,
        /// The scorers of the first run.
        scorers_a: Vec<String>,
        /// The scorers of the second run.
        scorers_b: Vec<String>,
    },
    /// A run does not have the scorer.
    #[error("the run `{run_id}` has no scorer `{scorer_id}`")]
    NoSuchScorer {
        /// The run.
        run_id: String,
        /// The requested scorer.
        scorer_id: String,
        /// The scorers of the run.
        scorer_ids: Vec<String>,
    },
    /// The scorer has another scale or direction in the other run.
    #[error("scorer `{scorer_id}` has another scale or direction in the other run")]
    Incomparable {
        /// The scorer.
        scorer_id: String,
    },
    /// What a reducer gives on average depends on how many scores there are.
    #[error(
        "case `{case_id}` has {} of `{scorer_id}` in A and {} in B, and the {} of more scores is another one on average",
        counted(*.a, "score", "scores"), count(*.b), .reducer.as_str()
    )]
    UnevenAttempts {
        /// The first such case.
        case_id: String,
        /// The scorer.
        scorer_id: String,
        /// How scores become one.
        reducer: Reducer,
        /// How many scores a has.
        a: u64,
        /// How many b has.
        b: u64,
    },
    /// No scores can differ by so much.
    #[error("a difference of {difference} is off the scale: the scores of {} are from 0 to 1", named(.scorer_ids))]
    OffTheScale {
        /// The difference that was asked for.
        difference: f64,
        /// The scorers that are compared.
        scorer_ids: Vec<String>,
    },
    /// The scores of so many attempts are not held in memory.
    #[error("case `{case_id}` has more than 100,000 attempts, too many to reduce their scores")]
    TooManyAttempts {
        /// The case.
        case_id: String,
    },
}

/// Some names, for a message: names of cases and scorers are foreign text and may be long.
fn named(names: &[String]) -> String {
    const SHOWN: usize = 3;
    const BYTES: usize = 48;
    if names.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<_> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{}`", crate::cut::cut(name, BYTES)))
        .collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

impl From<ReadError> for ComparisonError {
    fn from(error: ReadError) -> ComparisonError {
        match error {
            ReadError::Store(error) => ComparisonError::Store(error),
            ReadError::TooManyAttempts { case_id } => ComparisonError::TooManyAttempts { case_id },
        }
    }
}

impl Advised for ComparisonError {
    fn advice(&self) -> Option<Advice> {
        match self {
            ComparisonError::Store(error) => error.advice(),
            ComparisonError::NoSuchScorer { scorer_id, scorer_ids, .. } => {
                let closest = closest(scorer_id, scorer_ids.iter().map(String::as_str));
                let names = scorer_ids.clone();
                let choose = || Advice::Choose { what: Thing::ScorerOfSuite, names };
                Some(Advice::did_you_mean(&closest).unwrap_or_else(choose))
            }
            ComparisonError::SameRun { .. } | ComparisonError::NoSharedCase { .. } => {
                Some(Advice::List(Thing::Run))
            }
            ComparisonError::UnevenAttempts { .. } => Some(Advice::ReduceByMean),
            ComparisonError::NoSharedScorer { .. }
            | ComparisonError::OffTheScale { .. }
            | ComparisonError::Incomparable { .. }
            | ComparisonError::TooManyAttempts { .. } => None,
        }
    }
}
