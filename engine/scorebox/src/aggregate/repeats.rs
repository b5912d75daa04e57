//! The attempts at each case of a run taken together: by the verdicts of the attempts, and by the scores of each
//! scorer. It keeps the scores of one case at a time.

use serde::Serialize;

use super::{
    deciding::{Decider, decides},
    verdicts::VerdictOptions,
};
use crate::{
    advice::{Advice, Advised},
    contract::Severity,
    row::Status,
    stats::{Attempts, Mean, Reduced, ReducedMeans, Tries, TriesOfCases, usual_draws},
    store::{CaseToDecide, Store, StoreError},
    verdict::{Policy, PolicyError, PolicyOverrides, Verdict},
};

/// How many attempts at one case can be reduced. Their scores are in memory together, 8 bytes each.
const MAX_ATTEMPTS: u64 = 100_000;

/// Which attempts are taken together, and how.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RepeatOptions<'a> {
    /// Only the cases of this task.
    pub node: Option<&'a str>,
    /// Whether a soft regression fails an attempt too.
    pub strict: bool,
    /// The values of k for pass@k and similar figures.
    pub ks: &'a [u64],
    /// Which scorers' scores are taken together too.
    pub scorers: OfScorers<'a>,
}

impl<'a> RepeatOptions<'a> {
    /// The same with this [`node`](RepeatOptions::node).
    #[must_use]
    pub fn with_node(mut self, node: impl Into<Option<&'a str>>) -> RepeatOptions<'a> {
        self.node = node.into();
        self
    }

    /// The same with this [`strict`](RepeatOptions::strict).
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> RepeatOptions<'a> {
        self.strict = strict;
        self
    }

    /// The same with this [`ks`](RepeatOptions::ks).
    #[must_use]
    pub fn with_ks(mut self, ks: &'a [u64]) -> RepeatOptions<'a> {
        self.ks = ks;
        self
    }

    /// The same with this [`scorers`](RepeatOptions::scorers).
    #[must_use]
    pub fn with_scorers(mut self, scorers: OfScorers<'a>) -> RepeatOptions<'a> {
        self.scorers = scorers;
        self
    }
}

/// Which scorers' scores are taken together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum OfScorers<'a> {
    /// None, only verdicts.
    #[default]
    None,
    /// Those of each scorer.
    Each,
    /// Those of this scorer.
    One {
        /// The suite's key for it.
        scorer_id: &'a str,
        /// The worst score that passes, instead of the scorer's own threshold.
        threshold: Option<f64>,
    },
}

/// The figures over the attempts at all cases of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Repeats {
    /// Cases; attempts at the same one count once.
    pub cases: u64,
    /// All attempts.
    pub attempts: u64,
    /// The number of attempts at the case with the most attempts.
    pub most_attempts: u64,
    /// The mean latency of the attempts that count and have one, in milliseconds.
    pub mean_latency_ms: Option<f64>,
    /// By verdict: an attempt passed if its verdict is `passed`, and counts unless it is `skipped` or a scorer has no
    /// row for it yet. `None` if no scorer can fail an attempt, so that all pass.
    pub verdict: Option<Tries>,
    /// By the scores of each requested scorer, in the suite's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scorers: Vec<RepeatedScorer>,
}

/// The figures over the attempts at one case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RepeatedCase {
    /// Its id.
    pub case_id: String,
    /// All attempts.
    pub attempts: u64,
    /// The mean latency of the attempts that count and have one, in milliseconds.
    pub mean_latency_ms: Option<f64>,
    /// By verdict, like in [`Repeats`].
    pub verdict: Option<Tries>,
    /// By the scores of each requested scorer, in the suite's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scorers: Vec<RepeatedScorer>,
}

/// The figures over the scores of one scorer. Only scored attempts count.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RepeatedScorer {
    /// The suite's key for it.
    pub scorer_id: String,
    /// The worst score that passes: the requested one, the scorer's, or the best one of the scale from 0 to 1. `None`
    /// for points without a threshold.
    pub threshold: Option<f64>,
    /// By whether a score passes; `None` without a threshold.
    pub tries: Option<Tries>,
    /// The scores of a case reduced to one; over many cases, the means of these.
    pub reduced: Reduced,
}

/// Why attempts cannot be taken together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepeatsError {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No score of the scorer can have this threshold.
    #[error("scorer `{scorer_id}`: {error}")]
    Threshold {
        /// The scorer.
        scorer_id: String,
        /// What is wrong.
        error: PolicyError,
    },
    /// There are more scores of attempts than fit in memory.
    #[error(
        "case `{case_id}` has more than {MAX_ATTEMPTS} attempts, too many to reduce their scores"
    )]
    TooManyAttempts {
        /// The case.
        case_id: String,
    },
}

impl Advised for RepeatsError {
    fn advice(&self) -> Option<Advice> {
        match self {
            RepeatsError::Store(error) => error.advice(),
            RepeatsError::Threshold { .. } | RepeatsError::TooManyAttempts { .. } => None,
        }
    }
}

/// Takes the attempts at each case of a run together, and calls `take` with the cases, ordered by id, until it returns
/// false; returns the figures over all cases so far.
///
/// # Errors
/// [`StoreError::NoSuchRun`], or the database cannot be read; a threshold that is off the scorer's scale; more than
/// 100,000 attempts at one case, if scores are reduced.
pub fn repeats(
    store: &Store,
    run: &str,
    options: RepeatOptions<'_>,
    mut take: impl FnMut(&RepeatedCase) -> bool,
) -> Result<Repeats, RepeatsError> {
    store.snapshot(|store| {
        let asked = VerdictOptions { node: options.node, strict: options.strict };
        let decides = decides(store, run, asked)?;
        let run = store.run(run)?.key;
        let decider = Decider::new(store, run)?;
        let scorers = scorers(&decider, options)?;
        let mut repeating = Repeating::new(decider, scorers, options);
        repeating.decides = decides;
        let (mut failure, mut is_wanted) = (None, true);
        store.for_each_attempt(run, options.node, |attempt| {
            if !repeating.is_of_the_same_case(attempt) {
                is_wanted = repeating.finished().is_none_or(|case| take(&case));
            }
            if is_wanted {
                failure = match repeating.has_room() {
                    true => repeating.add(attempt, store).err().map(RepeatsError::Store),
                    false => {
                        Some(RepeatsError::TooManyAttempts { case_id: attempt.case_id.clone() })
                    }
                };
            }
            is_wanted && failure.is_none()
        })?;
        match failure {
            Some(error) => Err(error),
            None => {
                if is_wanted && let Some(case) = repeating.finished() {
                    take(&case);
                }
                Ok(repeating.total())
            }
        }
    })
}

/// The figures over the verdicts of the attempts, for the usual numbers of attempts; `None` if no case of the run, or
/// of the task, was tried more than once.
///
/// # Errors
/// [`StoreError::NoSuchRun`], or the database cannot be read.
pub fn repeated_verdicts(
    store: &Store,
    run: &str,
    options: VerdictOptions<'_>,
) -> Result<Option<Repeats>, StoreError> {
    let VerdictOptions { node, strict } = options;
    store.snapshot(|store| {
        let run = store.run(run)?.key;
        let most = store.most_attempts(run, node)?;
        if most < 2 {
            return Ok(None);
        }
        let ks = usual_draws(most);
        let options = RepeatOptions { node, strict, ks: &ks, scorers: OfScorers::None };
        let decider = Decider::new(store, run)?;
        let mut repeating = Repeating::new(decider, Vec::new(), options);
        let mut failure = None;
        store.for_each_attempt(run, node, |attempt| {
            if !repeating.is_of_the_same_case(attempt) {
                repeating.finished();
            }
            failure = repeating.add(attempt, store).err();
            failure.is_none()
        })?;
        repeating.finished();
        failure.map_or_else(|| Ok(Some(repeating.total())), Err)
    })
}

/// The attempts at one case, and the figures over the cases before it.
struct Repeating<'a> {
    options: RepeatOptions<'a>,
    decider: Decider,
    /// Whether verdicts are known to be meaningful.
    decides: bool,
    scorers: Vec<Scorer>,
    /// The case whose attempts are being read.
    case: Option<OneCase>,
    cases: u64,
    attempts: u64,
    most_attempts: u64,
    latency_ms: Mean,
    verdict: TriesOfCases,
}

/// The attempts at one case so far.
struct OneCase {
    case_id: String,
    attempts: u64,
    latency_ms: Mean,
    verdict: Attempts,
}

/// A scorer, its scores of the attempts at one case, and the figures over the cases before it.
struct Scorer {
    /// Its index among the scorers of the run.
    scorer_index: usize,
    scorer_id: String,
    /// Decides whether a score passes; `None` if nothing does.
    policy: Option<Policy>,
    scores: Vec<f64>,
    tries: TriesOfCases,
    reduced: ReducedMeans,
}

impl<'a> Repeating<'a> {
    fn new(decider: Decider, scorers: Vec<Scorer>, options: RepeatOptions<'a>) -> Repeating<'a> {
        Repeating {
            options,
            decider,
            decides: false,
            scorers,
            case: None,
            cases: 0,
            attempts: 0,
            most_attempts: 0,
            latency_ms: Mean::default(),
            verdict: TriesOfCases::new(options.ks),
        }
    }

    /// Whether the scores of one more attempt at the case fit in memory.
    fn has_room(&self) -> bool {
        let is_full = |case: &OneCase| case.attempts >= MAX_ATTEMPTS && !self.scorers.is_empty();
        !self.case.as_ref().is_some_and(is_full)
    }

    fn is_of_the_same_case(&self, attempt: &CaseToDecide) -> bool {
        self.case.as_ref().is_some_and(|case| case.case_id == attempt.case_id)
    }

    /// Adds the next attempt at the case.
    fn add(&mut self, attempt: &CaseToDecide, store: &Store) -> Result<(), StoreError> {
        let case = self.case.get_or_insert_with(|| OneCase {
            case_id: attempt.case_id.clone(),
            attempts: 0,
            latency_ms: Mean::default(),
            verdict: Attempts { trials: 0, successes: 0 },
        });
        case.attempts += 1;
        let decided = self.decider.case(attempt);
        let (verdict, _) =
            decided.map_err(|what| StoreError::Corrupt { path: store.path().to_owned(), what })?;
        let verdict = if self.options.strict { verdict.strict() } else { verdict };
        let latency_ms = attempt.latency_ms.filter(|it| it.is_finite() && verdict.is_judged());
        if let Some(latency_ms) = latency_ms {
            case.latency_ms.add(latency_ms);
            self.latency_ms.add(latency_ms);
        }
        case.verdict.trials += u64::from(verdict.is_judged());
        case.verdict.successes += u64::from(verdict.verdict == Verdict::Passed);
        for row in &attempt.rows {
            let Some(index) = self.decider.index(row.scorer) else { continue };
            let scorer = self.scorers.iter_mut().find(|scorer| scorer.scorer_index == index);
            let score = row.score.filter(|score| row.status == Status::Scored && score.is_finite());
            if let (Some(scorer), Some(score)) = (scorer, score) {
                scorer.scores.push(score);
            }
        }
        Ok(())
    }

    /// The figures over the attempts at the case that is now complete; `None` if there is no case.
    fn finished(&mut self) -> Option<RepeatedCase> {
        let case = self.case.take()?;
        self.cases += 1;
        self.attempts += case.attempts;
        self.most_attempts = self.most_attempts.max(case.attempts);
        self.verdict.add(case.verdict);
        let ks = self.options.ks;
        let scorers = self.scorers.iter_mut().map(|scorer| scorer.finished(ks));
        Some(RepeatedCase {
            scorers: scorers.collect(),
            case_id: case.case_id,
            attempts: case.attempts,
            mean_latency_ms: case.latency_ms.get(),
            verdict: self.decides.then(|| of_one(case.verdict, ks)),
        })
    }

    fn total(&self) -> Repeats {
        let scorers = self.scorers.iter().map(|scorer| RepeatedScorer {
            scorer_id: scorer.scorer_id.clone(),
            threshold: scorer.policy.and_then(|policy| policy.threshold()),
            tries: scorer.policy.map(|_| scorer.tries.get()),
            reduced: scorer.reduced.get(),
        });
        Repeats {
            cases: self.cases,
            attempts: self.attempts,
            most_attempts: self.most_attempts,
            mean_latency_ms: self.latency_ms.get(),
            verdict: self.decider.can_fail(self.options.strict).then(|| self.verdict.get()),
            scorers: scorers.collect(),
        }
    }
}

impl Scorer {
    /// The figures over its scores of the case, which it then forgets.
    fn finished(&mut self, ks: &[u64]) -> RepeatedScorer {
        let reduced = Reduced::of(&self.scores);
        self.reduced.add(&reduced);
        let tries = self.policy.map(|policy| {
            let passed = self.scores.iter().filter(|score| policy.passes(**score) == Some(true));
            let attempts =
                Attempts { trials: self.scores.len() as u64, successes: passed.count() as u64 };
            self.tries.add(attempts);
            of_one(attempts, ks)
        });
        self.scores.clear();
        RepeatedScorer {
            scorer_id: self.scorer_id.clone(),
            threshold: self.policy.and_then(|policy| policy.threshold()),
            tries,
            reduced,
        }
    }
}

/// The scorers whose scores were requested.
fn scorers(decider: &Decider, options: RepeatOptions<'_>) -> Result<Vec<Scorer>, RepeatsError> {
    let mut scorers = Vec::new();
    for (scorer_index, decided) in decider.scorers.iter().enumerate() {
        let threshold = match options.scorers {
            OfScorers::Each => None,
            OfScorers::One { scorer_id, threshold } if scorer_id == decided.scorer_id => threshold,
            OfScorers::None | OfScorers::One { .. } => continue,
        };
        let scorer_id = decided.scorer_id.clone();
        let policy = match passing(decided.policy, threshold) {
            Ok(policy) => policy,
            Err(error) => return Err(RepeatsError::Threshold { scorer_id, error }),
        };
        scorers.push(Scorer {
            scorer_index,
            scorer_id,
            policy,
            scores: Vec::new(),
            tries: TriesOfCases::new(options.ks),
            reduced: ReducedMeans::default(),
        });
    }
    Ok(scorers)
}

fn of_one(attempts: Attempts, ks: &[u64]) -> Tries {
    let mut tries = TriesOfCases::new(ks);
    tries.add(attempts);
    tries.get()
}

/// The policy with the threshold that decides whether a score passes: the requested one, its own, or that of a gate,
/// which is the best score; `None` if there is no best score.
fn passing(policy: Policy, threshold: Option<f64>) -> Result<Option<Policy>, PolicyError> {
    if threshold.is_some() {
        let asked = PolicyOverrides { threshold, ..PolicyOverrides::default() };
        return policy.overridden(&asked).map(Some);
    }
    if policy.threshold().is_some() {
        return Ok(Some(policy));
    }
    let gate = PolicyOverrides { severity: Some(Severity::Gate), ..PolicyOverrides::default() };
    Ok(policy.overridden(&gate).ok())
}
