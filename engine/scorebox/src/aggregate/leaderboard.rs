//! Leaderboards: options, entrants, errors. It ranks nothing: see `ranking`.

use serde::Serialize;

use crate::{
    advice::{Advice, Advised, Thing},
    store::StoreError,
    suggest::closest,
};

/// How many entrants can be ranked: their names and figures are in memory, a kilobyte or two each.
pub(super) const MAX_ENTRANTS: usize = 50_000;

/// What decides who is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Strategy {
    /// The earliest success.
    First,
    /// The shortest time.
    Fastest,
    /// The fewest tokens.
    FewestTokens,
    /// The highest rating.
    HighestRating,
    /// The best score of a scorer. dify calls it `custom`.
    Weighted,
}

/// How several attempts of an entrant are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OfAttempts {
    /// The best one.
    #[default]
    Best,
    /// The mean of the attempts that succeeded and have the figure.
    Mean,
}

/// Which attempts are ranked, and how.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LeaderboardOptions<'a> {
    /// Only the attempts at this challenge.
    pub challenge: Option<&'a str>,
    /// The scorer whose scores are shown; if none is named, the only one of the run, or the only one on the scale of
    /// points.
    pub scorer: Option<&'a str>,
    /// The figure that decides.
    pub strategy: Strategy,
    /// How several attempts are combined.
    pub of_attempts: OfAttempts,
}

impl<'a> LeaderboardOptions<'a> {
    /// The options for this strategy: all challenges, the best of several attempts.
    pub fn new(strategy: Strategy) -> LeaderboardOptions<'a> {
        LeaderboardOptions {
            challenge: None,
            scorer: None,
            strategy,
            of_attempts: OfAttempts::Best,
        }
    }

    /// The same with this [`challenge`](LeaderboardOptions::challenge).
    #[must_use]
    pub fn with_challenge(
        mut self,
        challenge: impl Into<Option<&'a str>>,
    ) -> LeaderboardOptions<'a> {
        self.challenge = challenge.into();
        self
    }

    /// The same with this [`scorer`](LeaderboardOptions::scorer).
    #[must_use]
    pub fn with_scorer(mut self, scorer: impl Into<Option<&'a str>>) -> LeaderboardOptions<'a> {
        self.scorer = scorer.into();
        self
    }

    /// The same with this [`of_attempts`](LeaderboardOptions::of_attempts).
    #[must_use]
    pub fn with_of_attempts(mut self, of_attempts: OfAttempts) -> LeaderboardOptions<'a> {
        self.of_attempts = of_attempts;
        self
    }
}

/// The entrants of a run, ranked within each challenge.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Leaderboard {
    /// The scorer whose scores are shown, if there is one.
    pub scorer_id: Option<String>,
    /// By app and challenge, then by rank; entrants without a rank come last.
    pub entrants: Vec<Entrant>,
    /// Attempts that do not name their entrant.
    pub without_entrant: u64,
    /// Attempts that are left out because it is not known whether they succeeded: not all scorers have scored them, as
    /// in a run that was interrupted.
    pub incomplete: u64,
    /// Listed attempts that the scorer whose scores are shown has not scored yet.
    pub unscored: u64,
    /// Attempts that are not ranked because it is not known whether they succeeded: they do not state it, and no scorer
    /// of the run can fail a case.
    pub success_unknown: u64,
    /// Attempts that are not ranked because their facts cannot be read.
    pub unreadable: u64,
    /// The keys of these facts, in the order of their names.
    pub unreadable_keys: Vec<&'static str>,
    /// Some challenges of the run, whichever one was requested.
    pub challenges: Vec<String>,
}

/// How an entrant did at a challenge.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Entrant {
    /// The app that the challenge belongs to, if attempts state it.
    pub app: Option<String>,
    /// The challenge, if attempts name one.
    pub challenge: Option<String>,
    /// From 1; `None` if no attempt succeeded with the figure that decides.
    pub rank: Option<u64>,
    /// Whether others have the same rank.
    pub tied: bool,
    /// The tenant of the entrant, if attempts state it.
    pub tenant: Option<String>,
    /// The entrant's name.
    pub entrant: String,
    /// The score of the best attempt, or the mean over the attempts that succeeded, like the next three figures. `None`
    /// if there is no score.
    pub score: Option<f64>,
    /// The rating.
    pub rating: Option<f64>,
    /// All tokens.
    pub tokens_total: Option<f64>,
    /// The time, in milliseconds.
    pub elapsed_ms: Option<f64>,
    /// When the best attempt was made, or the first one that succeeded; in milliseconds since 1970.
    pub created_at: Option<f64>,
    /// All attempts.
    pub attempts: u64,
    /// Attempts that succeeded.
    pub succeeded: u64,
    /// Attempts that are not ranked because they do not state whether they succeeded, and no scorer of the run can fail
    /// a case.
    pub success_unknown: u64,
    /// Attempts that are not ranked because their facts cannot be read: a key occurs twice, or a value has the wrong
    /// type.
    pub unreadable: u64,
    /// Attempts that the scorer has not scored yet, as in a run that was interrupted.
    pub unscored: u64,
    /// Attempts whose score is an error.
    pub failed_scores: u64,
    /// The best attempt; `None` for a mean, or if no attempt succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<BestAttempt>,
}

/// The name of an entrant's best attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BestAttempt {
    /// The case's id.
    pub case_id: String,
    /// The task's iteration.
    pub iteration: u32,
    /// The task's attempt.
    pub attempt: u32,
}

/// Why a leaderboard cannot be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeaderboardError {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Scores decide, but several scorers could be meant.
    #[error("several scorers have scores that could decide")]
    WhichScorer {
        /// The scorers of the run.
        scorer_ids: Vec<String>,
    },
    /// The run has no such scorer.
    #[error("the run has no scorer `{scorer_id}`")]
    NoSuchScorer {
        /// The requested scorer.
        scorer_id: String,
        /// The scorers of the run.
        scorer_ids: Vec<String>,
    },
    /// A mean of points in time is meaningless.
    #[error("the mean of several attempts has no time at which it was first")]
    NoMean,
    /// There are more entrants than fit in memory.
    #[error("the run has more than {MAX_ENTRANTS} entrants")]
    TooManyEntrants,
}

impl Advised for LeaderboardError {
    fn advice(&self) -> Option<Advice> {
        match self {
            LeaderboardError::Store(error) => error.advice(),
            LeaderboardError::WhichScorer { scorer_ids } => Some(choose(scorer_ids)),
            LeaderboardError::NoSuchScorer { scorer_id, scorer_ids } => {
                let closest = closest(scorer_id, scorer_ids.iter().map(String::as_str));
                Some(Advice::did_you_mean(&closest).unwrap_or_else(|| choose(scorer_ids)))
            }
            LeaderboardError::NoMean | LeaderboardError::TooManyEntrants => None,
        }
    }
}

fn choose(scorer_ids: &[String]) -> Advice {
    Advice::Choose { what: Thing::ScorerOfSuite, names: scorer_ids.to_vec() }
}
