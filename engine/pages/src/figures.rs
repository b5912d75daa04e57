//! The figures of a run that pages show: those of `aggregate`, with finer distributions, in one value that can be kept.

use std::num::NonZeroUsize;

use scorebox::{
    aggregate::{Aggregate, DecidedRun, aggregate_with_intervals},
    contract::{Direction, Severity},
    stats::{Histogram, Interval, Rate},
    store::{RunRecord, ScoreFilter, ScorerRecord, SortedScores, Store, StoreError},
};
use serde::{Deserialize, Serialize};

use crate::plot::Bars;

/// Parts of a distribution: an even number, so that one half ends a part.
const PARTS: NonZeroUsize = NonZeroUsize::new(20).unwrap();

/// What the scores of a run say together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// Whether any scorer decides whether a case passes.
    pub(crate) decides: bool,
    pub(crate) passed: u64,
    pub(crate) regressed: u64,
    pub(crate) failed: u64,
    pub(crate) errored: u64,
    pub(crate) skipped: u64,
    pub(crate) undecided: u64,
    /// Failed and errored cases that a scorer has no row for yet; they do not count in the rate.
    pub(crate) uncounted: u64,
    /// Passed among those that count.
    pub(crate) pass_rate: Option<Rate>,
    pub(crate) mean_score: Option<f64>,
    pub(crate) mean_latency_ms: Option<f64>,
    pub(crate) mean_cost_usd: Option<f64>,
    /// In the suite's order.
    pub(crate) scorers: Vec<ScorerFigures>,
}

/// What the scores of one scorer say together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScorerFigures {
    pub(crate) id: String,
    pub(crate) severity: Severity,
    pub(crate) threshold: Option<f64>,
    pub(crate) direction: Direction,
    /// Scores; the figures below are over these.
    pub(crate) count: u64,
    pub(crate) mean: Option<f64>,
    /// The 95 % interval of the mean.
    pub(crate) interval: Option<Interval>,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
    pub(crate) p50: Option<f64>,
    pub(crate) stddev: Option<f64>,
    pub(crate) not_applicable: u64,
    pub(crate) skipped: u64,
    pub(crate) errors: u64,
    pub(crate) mean_fuel: Option<f64>,
    pub(crate) mean_duration_ms: Option<f64>,
    /// Cases of which a gate of it does not hold.
    pub(crate) failed: u64,
    /// Cases of which a soft requirement of it does not hold.
    pub(crate) regressed: u64,
    /// How many scores fall into each part of 0 to `high`.
    pub(crate) distribution: Vec<u64>,
    pub(crate) high: f64,
}

impl Figures {
    /// Cases of the run.
    pub(crate) fn cases(&self) -> u64 {
        self.passed + self.failed + self.errored + self.skipped + self.undecided
    }

    /// Cases that count in the rate.
    pub(crate) fn judged(&self) -> u64 {
        self.passed + self.failed + self.errored - self.uncounted
    }

    /// The figures of a run, whose cases were decided as `decided` says. Takes two passes over its scores.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; troubles of reading.
    pub(crate) fn of(
        store: &Store,
        run: &RunRecord,
        scorers: &[ScorerRecord],
        decided: &DecidedRun,
    ) -> Result<Figures, StoreError> {
        let id = run.spec.id.as_str();
        let filter = ScoreFilter::of_run(id);
        let aggregates = aggregate_with_intervals(store, id, None, None)?;
        let wanted = aggregates.iter().map(|it| (it.scorer_id.clone(), it.count));
        let mut sorted = SortedScores::of(store, &filter, wanted);
        let mut figures = Vec::with_capacity(aggregates.len());
        for (place, aggregate) in aggregates.iter().enumerate() {
            let high = aggregate.max.unwrap_or(0.0).max(1.0);
            let mut distribution = Histogram::new(0.0..=high, PARTS);
            sorted.for_each(place, |score| distribution.add(score))?;
            let distribution = distribution.counts().to_vec();
            figures.push(of_scorer(aggregate, (distribution, high), scorers, decided));
        }
        let verdict = &decided.verdict;
        Ok(Figures {
            decides: decided.decides(),
            passed: verdict.passed,
            regressed: verdict.regressed,
            failed: verdict.failed,
            errored: verdict.errored,
            skipped: verdict.skipped,
            undecided: verdict.undecided,
            uncounted: verdict.failed_incomplete + verdict.errored_incomplete,
            pass_rate: verdict.pass_rate,
            mean_score: verdict.mean_score,
            mean_latency_ms: verdict.mean_latency_ms,
            mean_cost_usd: verdict.mean_cost_usd,
            scorers: figures,
        })
    }
}

impl ScorerFigures {
    /// Its distribution, to be drawn.
    pub(crate) fn bars(&self) -> Bars<'_> {
        Bars {
            counts: &self.distribution,
            high: self.high,
            threshold: self.threshold,
            direction: self.direction,
        }
    }
}

fn of_scorer(
    aggregate: &Aggregate,
    (distribution, high): (Vec<u64>, f64),
    scorers: &[ScorerRecord],
    decided: &DecidedRun,
) -> ScorerFigures {
    let stored = scorers.iter().find(|it| it.spec.scorer_id == aggregate.scorer_id);
    let policy = decided.scorers.iter().find(|it| it.scorer_id == aggregate.scorer_id);
    ScorerFigures {
        id: aggregate.scorer_id.clone(),
        severity: stored.map_or(Severity::Soft, |it| it.spec.severity),
        threshold: stored.and_then(|it| it.spec.threshold),
        direction: stored.map_or(Direction::HigherIsBetter, |it| it.spec.direction),
        count: aggregate.count,
        mean: aggregate.mean,
        interval: aggregate.interval,
        min: aggregate.min,
        max: aggregate.max,
        p50: aggregate.p50,
        stddev: aggregate.stddev,
        not_applicable: aggregate.not_applicable,
        skipped: aggregate.skipped,
        errors: aggregate.errors,
        mean_fuel: aggregate.mean_fuel,
        mean_duration_ms: aggregate.mean_duration_ms,
        failed: policy.map_or(0, |it| it.failed),
        regressed: policy.map_or(0, |it| it.regressed),
        distribution,
        high,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_that_are_not_decided_are_cases_and_do_not_count_in_the_rate() {
        let figures = Figures {
            decides: true,
            passed: 5,
            regressed: 1,
            failed: 4,
            errored: 1,
            skipped: 2,
            undecided: 3,
            uncounted: 2,
            pass_rate: None,
            mean_score: None,
            mean_latency_ms: None,
            mean_cost_usd: None,
            scorers: Vec::new(),
        };
        assert_eq!((figures.cases(), figures.judged()), (15, 8));
    }
}
