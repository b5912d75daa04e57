//! Defines the figures of a run that pages show: those of `aggregate`, with finer distributions, in one value that can
//! be stored.

use std::num::NonZeroUsize;

use scorebox::{
    aggregate::{
        Aggregate, DecidedRun, DecidedScorer, Repeats, VerdictOptions, aggregate_with_intervals,
        repeated_verdicts,
    },
    contract::{Direction, Severity},
    stats::{Histogram, Interval, Rate},
    store::{RunRecord, ScoreFilter, ScorerRecord, SortedScores, Store, StoreError},
    verdict::Standing,
};
use serde::{Deserialize, Serialize};

use crate::plot::Bars;

/// The number of parts of a distribution: even, so that a part ends at one half.
const PARTS: NonZeroUsize = NonZeroUsize::new(20).unwrap();

/// The figures of the scores of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// Whether a scorer can prevent a case from passing.
    pub(crate) decides: bool,
    pub(crate) passed: u64,
    pub(crate) regressed: u64,
    /// The number of failed and errored cases that have a row from every scorer.
    pub(crate) failed: u64,
    pub(crate) errored: u64,
    pub(crate) skipped: u64,
    /// The number of cases that still lack the row of a scorer; these do not count in the rate.
    pub(crate) incomplete: u64,
    /// How many of these have already failed, and how many are already errored.
    pub(crate) failed_already: u64,
    pub(crate) errored_already: u64,
    /// The rate of passed cases among those that count.
    pub(crate) pass_rate: Option<Rate>,
    pub(crate) mean_score: Option<f64>,
    pub(crate) mean_latency_ms: Option<f64>,
    pub(crate) mean_cost_usd: Option<f64>,
    /// The figures of attempts at the same cases, if a case was tried more than once.
    pub(crate) repeated: Option<Repeated>,
    /// The figures of the scorers, in the suite's order.
    pub(crate) scorers: Vec<ScorerFigures>,
}

/// The figures of attempts at the same cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Repeated {
    /// The number of cases; attempts at the same case count once.
    pub(crate) cases: u64,
    pub(crate) attempts: u64,
    /// For some numbers of attempts: the probability that at least one of them passes, and that all do.
    pub(crate) draws: Vec<(u64, Option<f64>, Option<f64>)>,
}

/// The figures of the scores of one scorer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScorerFigures {
    pub(crate) id: String,
    pub(crate) severity: Severity,
    pub(crate) threshold: Option<f64>,
    pub(crate) direction: Direction,
    /// The number of scores that the figures below cover.
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
    /// The number of cases for which one of its gates does not hold.
    pub(crate) failed: u64,
    /// The number of cases for which one of its soft requirements does not hold.
    pub(crate) regressed: u64,
    /// A note for a scorer that can fail a case but decided none.
    #[serde(default)]
    pub(crate) idle: Option<String>,
    /// How many scores fall into each part of 0 to `high`.
    pub(crate) distribution: Vec<u64>,
    /// How many of these scores do not hold.
    pub(crate) wrong: Vec<u64>,
    pub(crate) high: f64,
}

impl Figures {
    /// The number of cases of the run.
    pub(crate) fn cases(&self) -> u64 {
        self.judged() + self.skipped + self.incomplete
    }

    /// The number of cases that count in the rate.
    pub(crate) fn judged(&self) -> u64 {
        self.passed + self.failed + self.errored
    }

    /// The figures of a run, whose cases were decided with `options`, with the result `decided`. Takes three passes
    /// over its scores.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; the database cannot be read.
    pub(crate) fn of(
        store: &Store,
        run: &RunRecord,
        scorers: &[ScorerRecord],
        decided: &DecidedRun,
        options: VerdictOptions<'_>,
    ) -> Result<Figures, StoreError> {
        let id = run.spec.id.as_str();
        let filter = ScoreFilter::of_run(id);
        let aggregates = aggregate_with_intervals(store, id, None, None)?;
        let wanted = aggregates.iter().map(|it| (it.scorer_id.clone(), it.count));
        let mut sorted = SortedScores::of(store, &filter, wanted);
        let mut figures = Vec::with_capacity(aggregates.len());
        for (index, aggregate) in aggregates.iter().enumerate() {
            let high = aggregate.max.unwrap_or(0.0).max(1.0);
            let stored = scorers.iter().find(|it| it.spec.scorer_id == aggregate.scorer_id);
            let policy = stored.map(|it| it.spec.policy());
            let mut distribution = Histogram::new(0.0..=high, PARTS);
            let mut wrong = distribution.clone();
            sorted.for_each(index, |score| {
                distribution.add(score);
                if policy.is_some_and(|it| it.score_standing(score) != Standing::Holds) {
                    wrong.add(score);
                }
            })?;
            let [distribution, wrong] = [distribution, wrong].map(|it| it.counts().to_vec());
            figures.push(ScorerFigures {
                wrong,
                ..of_scorer(aggregate, (distribution, high), stored, decided)
            });
        }
        let verdict = &decided.verdict;
        Ok(Figures {
            decides: decided.decides,
            passed: verdict.passed,
            regressed: verdict.regressed,
            failed: verdict.failed - verdict.failed_incomplete,
            errored: verdict.errored - verdict.errored_incomplete,
            skipped: verdict.skipped,
            incomplete: verdict.incomplete(),
            failed_already: verdict.failed_incomplete,
            errored_already: verdict.errored_incomplete,
            pass_rate: verdict.pass_rate,
            mean_score: verdict.mean_score,
            mean_latency_ms: verdict.mean_latency_ms,
            mean_cost_usd: verdict.mean_cost_usd,
            repeated: repeated_verdicts(store, id, options)?.map(Repeated::of),
            scorers: figures,
        })
    }
}

impl Repeated {
    fn of(repeats: Repeats) -> Repeated {
        let draws = repeats.verdict.into_iter().flat_map(|tries| tries.draws);
        let draws = draws.map(|it| (it.k, it.pass_at_k, it.pass_hat_k)).collect();
        Repeated { cases: repeats.cases, attempts: repeats.attempts, draws }
    }
}

impl ScorerFigures {
    /// The distribution, to be drawn.
    pub(crate) fn bars(&self) -> Bars<'_> {
        Bars {
            counts: &self.distribution,
            wrong: &self.wrong,
            high: self.high,
            threshold: self.threshold,
        }
    }
}

fn of_scorer(
    aggregate: &Aggregate,
    (distribution, high): (Vec<u64>, f64),
    stored: Option<&ScorerRecord>,
    decided: &DecidedRun,
) -> ScorerFigures {
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
        idle: policy.and_then(DecidedScorer::idle_in_words),
        distribution,
        wrong: Vec::new(),
        high,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_that_not_all_scorers_scored_are_cases_and_do_not_count_in_the_rate() {
        let figures = Figures {
            decides: true,
            passed: 5,
            regressed: 1,
            failed: 2,
            errored: 1,
            skipped: 2,
            incomplete: 5,
            failed_already: 2,
            errored_already: 0,
            pass_rate: None,
            mean_score: None,
            mean_latency_ms: None,
            mean_cost_usd: None,
            repeated: None,
            scorers: Vec::new(),
        };
        assert_eq!((figures.cases(), figures.judged()), (15, 8));
    }
}
