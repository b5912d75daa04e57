//! The means of scorers over the runs of a database, in the order in which the runs began. Holds a line for each run and scorer.

use serde::Serialize;

use super::{Aggregate, aggregate_with_intervals};
use crate::{
    contract::Direction,
    stats::Interval,
    store::{RunRecord, RunState, ScorerRecord, Store, StoreError},
};

/// Runs that are looked at: the newest ones.
const MOST_RUNS: usize = 1000;

/// Which runs and scorers are shown.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TrendOptions<'a> {
    /// Only this scorer.
    pub scorer: Option<&'a str>,
    /// Only the cases of this task.
    pub node: Option<&'a str>,
    /// Only the runs of the suite that calls itself so.
    pub suite: Option<&'a str>,
    /// At most so many runs, the newest ones; of all runs at most 1000.
    pub limit: usize,
}

impl Default for TrendOptions<'_> {
    fn default() -> Self {
        TrendOptions { scorer: None, node: None, suite: None, limit: 20 }
    }
}

impl<'a> TrendOptions<'a> {
    /// The same with this [`scorer`](TrendOptions::scorer).
    #[must_use]
    pub fn with_scorer(mut self, scorer: impl Into<Option<&'a str>>) -> TrendOptions<'a> {
        self.scorer = scorer.into();
        self
    }

    /// The same with this [`node`](TrendOptions::node).
    #[must_use]
    pub fn with_node(mut self, node: impl Into<Option<&'a str>>) -> TrendOptions<'a> {
        self.node = node.into();
        self
    }

    /// The same with this [`suite`](TrendOptions::suite).
    #[must_use]
    pub fn with_suite(mut self, suite: impl Into<Option<&'a str>>) -> TrendOptions<'a> {
        self.suite = suite.into();
        self
    }

    /// The same with this [`limit`](TrendOptions::limit).
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> TrendOptions<'a> {
        self.limit = limit;
        self
    }
}

/// A scorer over runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Trend {
    /// The suite's key for it.
    pub scorer_id: String,
    /// Which end of the scale is good, in the newest run.
    pub direction: Direction,
    /// Its figures, the oldest run first.
    pub points: Vec<TrendPoint>,
}

/// A scorer's figures of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TrendPoint {
    /// The run.
    pub run_id: String,
    /// What its suite calls itself.
    pub suite_name: Option<String>,
    /// How far it has come.
    pub state: RunState,
    /// When it began, in milliseconds since 1970 UTC.
    pub created_at_ms: i64,
    /// Scores.
    pub count: u64,
    /// Cases without a score because something went wrong.
    pub errors: u64,
    /// The mean; `None` if there are no scores.
    pub mean: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// The mean less that of the run before that has one.
    pub change: Option<f64>,
}

/// The figures of scorers over the runs of a database, in the order in which scorers first came.
///
/// # Errors
/// Troubles of reading.
pub fn trend(store: &Store, options: TrendOptions<'_>) -> Result<Vec<Trend>, StoreError> {
    store.snapshot(|store| {
        let is_of_suite = |run: &RunRecord| {
            options.suite.is_none_or(|suite| run.spec.suite_name.as_deref() == Some(suite))
        };
        let mut runs: Vec<RunRecord> =
            store.runs(MOST_RUNS)?.into_iter().filter(is_of_suite).take(options.limit).collect();
        runs.reverse();
        let mut trends: Vec<Trend> = Vec::new();
        for run in runs {
            let scorers = store.scorers(run.key)?;
            let id = run.spec.id.as_str();
            let aggregates = aggregate_with_intervals(store, id, options.node, options.scorer)?;
            for aggregate in aggregates {
                let is_it = |it: &&ScorerRecord| it.spec.scorer_id == aggregate.scorer_id;
                let Some(scorer) = scorers.iter().find(is_it) else { continue };
                let place = trends.iter().position(|it| it.scorer_id == aggregate.scorer_id);
                let place = place.unwrap_or_else(|| {
                    let (scorer_id, direction) =
                        (aggregate.scorer_id.clone(), scorer.spec.direction);
                    trends.push(Trend { scorer_id, direction, points: Vec::new() });
                    trends.len() - 1
                });
                trends[place].direction = scorer.spec.direction;
                trends[place].add(&run, &aggregate);
            }
        }
        Ok(trends)
    })
}

impl Trend {
    fn add(&mut self, run: &RunRecord, aggregate: &Aggregate) {
        let before = self.points.iter().rev().find_map(|point| point.mean);
        self.points.push(TrendPoint {
            run_id: run.spec.id.to_string(),
            suite_name: run.spec.suite_name.clone(),
            state: run.state,
            created_at_ms: run.spec.created_at_ms,
            count: aggregate.count,
            errors: aggregate.errors,
            mean: aggregate.mean,
            interval: aggregate.interval,
            change: aggregate.mean.zip(before).map(|(mean, before)| mean - before),
        });
    }
}
