//! Figures over many stored scores: what `stats` and `verdict` compute, over what `store` streams. Memory use stays
//! constant.
//!
//! - `verdicts`, `deciding`: the verdicts of a run's cases, and of the run: options and results, and the computation.
//! - `consumed`: what a case's task consumed.
//! - `leaderboard`, `ranking`: who did best at a challenge: options and results, and the computation.
//! - `entry`: the facts in a case about an attempt at a challenge; `stated`: where they are.
//! - `repeats`: the attempts at each case taken together.
//! - `side_by_side`: the cases that two runs have.
//! - `comparison`, `comparing`: whether one run is better than another: what is asked and said, and how it is computed.
//! - `pairs`: the scores of both in pairs; `attempts_compared`: parts of the attempts at a case in both.
//! - `agreement`, `agreeing`: how well scores agree with labels, likewise.
//! - `labelled`: the cases that have a score and a label.
//! - `binary`: which scores pass, compared with which labels are positive; `categorized`: scores and labels in
//!   categories.
//! - `bootstrap_intervals`: the intervals of figures of agreement.
//! - `labels`: what a label is, and which labels are positive.
//! - `raters`: how well several people's labels agree with each other.
//! - `bias`: whether the error of scores depends on something else.
//! - `intervals`: the intervals of the means.
//! - `trend`: means over the runs of a database.
//! - `pooling`: whether the scores of several runs that are taken together are of one scorer.
//! - here: the figures of each scorer.

mod agreeing;
mod agreement;
mod attempts_compared;
mod bias;
mod binary;
mod bootstrap_intervals;
mod categorized;
mod comparing;
mod comparison;
mod consumed;
mod deciding;
mod entry;
mod intervals;
mod labelled;
mod labels;
mod leaderboard;
mod pairs;
mod pooling;
mod ranking;
mod raters;
mod repeats;
mod side_by_side;
mod stated;
mod trend;
mod verdicts;

use std::num::NonZeroUsize;

use serde::Serialize;

use crate::{
    stats::{Ascending, Histogram, Interval, Summary},
    store::{ScoreFilter, ScorerCounts, SortedScores, Store, StoreError},
};

pub use agreeing::agreement;
pub use agreement::{
    Agreement, AgreementError, AgreementOptions, BinaryAgreement, CategoryAgreement, Figure,
};
pub use bias::{Bias, BiasGroup, BiasUnit, By};
pub use comparing::comparison;
pub use comparison::{
    ACCEPTED_ERROR, BesideZero, Change, ComparedQuestions, ComparedRun, ComparedScorer,
    ComparedScores, Comparison, ComparisonError, ComparisonOptions, Finding, RunIn,
};
pub use deciding::{decides, verdicts, verdicts_from};
pub use entry::Entered;
pub use intervals::{add_intervals, aggregate_with_intervals};
pub use labels::{LabelPlace, Positive, PositiveRule, With};
pub use leaderboard::{
    Entrant, Leaderboard, LeaderboardError, LeaderboardOptions, OfAttempts, Strategy,
};
pub use ranking::{entered, leaderboard};
pub use raters::RaterAgreement;
pub use repeats::{
    OfScorers, RepeatOptions, RepeatedCase, RepeatedScorer, Repeats, RepeatsError,
    repeated_verdicts, repeats,
};
pub use trend::{ScorerChange, Trend, TrendOptions, TrendPoint, trend};
pub use verdicts::{
    Against, DecidedCase, DecidedRun, DecidedScorer, Decisive, ShownCase, VerdictOptions,
};

/// The number of buckets of a distribution.
const BUCKETS: NonZeroUsize = NonZeroUsize::new(8).unwrap();

/// The figures over one scorer's scores. They have Smithers' names.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Aggregate {
    /// The scorer's name in the suite.
    pub scorer_id: String,
    /// Its name for people; from the newest run, if runs differ.
    pub scorer_name: String,
    /// How the scorer differs between runs that are taken together: if it does, the figures are over scores of several
    /// scorers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scorer_changes: Vec<ScorerChange>,
    /// The number of scores; the figures below are over these.
    pub count: u64,
    /// `None` if there are no scores.
    pub mean: Option<f64>,
    /// The interval of the mean, if it was requested: see [`add_intervals`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The lowest score.
    pub min: Option<f64>,
    /// The highest score.
    pub max: Option<f64>,
    /// The median: the score in the middle, or the mean of the two in the middle.
    pub p50: Option<f64>,
    /// Standard deviation of the population.
    pub stddev: Option<f64>,
    /// Cases that the scorer does not apply to.
    pub not_applicable: u64,
    /// Cases that the scorer skips.
    pub skipped: u64,
    /// Cases without a score because of an error.
    pub errors: u64,
    /// Rows among all of these that were copied from an earlier run.
    pub reused: u64,
    /// Mean fuel of a score.
    pub mean_fuel: Option<f64>,
    /// Mean time of a score, in milliseconds.
    pub mean_duration_ms: Option<f64>,
    /// How many scores fall into each eighth of the range 0 to 1, or 0 to the highest score if that
    /// is more than 1.
    pub distribution: Vec<u64>,
}

/// The aggregates of the rows that `filter` selects, in the suite's order.
///
/// # Errors
/// If the run does not exist, or the database cannot be read.
pub fn aggregate(store: &Store, filter: &ScoreFilter) -> Result<Vec<Aggregate>, StoreError> {
    store.snapshot(|store| {
        let (counts, mut scores) = SortedScores::counted(store, filter)?;
        let of_scorer =
            |(index, counts)| aggregate_scorer(counts, |take| scores.for_each(index, take));
        let mut aggregates: Vec<Aggregate> =
            counts.iter().enumerate().map(of_scorer).collect::<Result<_, _>>()?;
        let changes = pooling::changes(store, filter.scorer.as_deref(), &counts)?;
        for (aggregate, changes) in aggregates.iter_mut().zip(changes) {
            aggregate.scorer_changes = changes;
        }
        Ok(aggregates)
    })
}

/// The figures of one scorer; `each` passes on its scores in ascending order, every time it is called.
fn aggregate_scorer(
    counts: &ScorerCounts,
    mut each: impl FnMut(&mut dyn FnMut(f64)) -> Result<(), StoreError>,
) -> Result<Aggregate, StoreError> {
    let mut ascending = Ascending::new(counts.scored);
    let mut unit = Histogram::new(0.0..=1.0, BUCKETS);
    each(&mut |score| {
        ascending.add(score);
        unit.add(score);
    })?;
    let summary: Option<Summary> = ascending.finish();
    let highest = summary.map_or(0.0, |summary| summary.max);
    let distribution = if highest > 1.0 {
        let mut points = Histogram::new(0.0..=highest, BUCKETS);
        each(&mut |score| points.add(score))?;
        points
    } else {
        unit
    };
    Ok(Aggregate {
        scorer_id: counts.scorer_id.clone(),
        scorer_name: counts.scorer_name.clone(),
        scorer_changes: Vec::new(),
        count: counts.scored,
        mean: summary.map(|summary| summary.mean),
        interval: None,
        min: summary.map(|summary| summary.min),
        max: summary.map(|summary| summary.max),
        p50: summary.map(|summary| summary.p50),
        stddev: summary.map(|summary| summary.stddev),
        not_applicable: counts.not_applicable,
        skipped: counts.skipped,
        errors: counts.errors,
        reused: counts.reused,
        mean_fuel: counts.mean_fuel,
        mean_duration_ms: counts.mean_duration_ms,
        distribution: distribution.counts().to_vec(),
    })
}
