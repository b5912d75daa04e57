//! The means of scorers over the runs of a database, in the order in which the runs began. It keeps a line for each run
//! and scorer.

use serde::Serialize;

use super::{Aggregate, aggregate_with_intervals};
use crate::{
    contract::{Direction, Scale},
    stats::Interval,
    store::{RunRecord, RunState, ScorerRecord, ScorerSpec, Store, StoreError},
};

/// How many runs are read: the newest ones.
const MAX_RUNS: usize = 1000;

/// Which runs and scorers are shown.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TrendOptions<'a> {
    /// Only this scorer.
    pub scorer: Option<&'a str>,
    /// Only the cases of this task.
    pub node: Option<&'a str>,
    /// Only the runs of the suite with this name.
    pub suite: Option<&'a str>,
    /// At most this number of runs, the newest ones that have the scorer; the newest 1000 runs are searched.
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
    /// The name of its suite.
    pub suite_name: Option<String>,
    /// The state of the run.
    pub state: RunState,
    /// When it began, in milliseconds since 1970 UTC.
    pub created_at_ms: i64,
    /// Scores.
    pub count: u64,
    /// Cases without a score because of an error.
    pub errors: u64,
    /// The mean; `None` if there are no scores.
    pub mean: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// The mean less that of the previous run that has one; `None` if that is on another scale or in another direction.
    pub change: Option<f64>,
    /// How the scorer differs from the one in the previous run: a change may be due to it.
    pub scorer_changes: Vec<ScorerChange>,
}

/// What can differ between scorers with the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ScorerChange {
    /// The component.
    Component,
    /// The configuration.
    Configuration,
    /// The judge or jury that it asks.
    Judge,
    /// The range of its scores.
    Scale,
    /// Which end of the scale is good.
    Direction,
}

impl ScorerChange {
    /// The word that is shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            ScorerChange::Component => "component",
            ScorerChange::Configuration => "configuration",
            ScorerChange::Judge => "judge",
            ScorerChange::Scale => "scale",
            ScorerChange::Direction => "direction",
        }
    }

    /// How `now` differs from `before`, which has the same name.
    pub fn between(before: &ScorerSpec, now: &ScorerSpec) -> Vec<ScorerChange> {
        let same = [
            (ScorerChange::Component, before.component_digest == now.component_digest),
            (
                ScorerChange::Configuration,
                (before.config_digest, &before.output_from)
                    == (now.config_digest, &now.output_from),
            ),
            (ScorerChange::Judge, before.asks_judge_like(now.judge_json.as_deref())),
            (ScorerChange::Scale, before.scale == now.scale),
            (ScorerChange::Direction, before.direction == now.direction),
        ];
        same.into_iter().filter(|(_, is_same)| !is_same).map(|(change, _)| change).collect()
    }
}

/// The figures of scorers over the runs of a database, in the order in which scorers first occurred.
///
/// # Errors
/// The database cannot be read.
pub fn trend(store: &Store, options: TrendOptions<'_>) -> Result<Vec<Trend>, StoreError> {
    store.snapshot(|store| {
        let mut trends: Vec<Growing> = Vec::new();
        for run in runs(store, options)? {
            let scorers = store.scorers(run.key)?;
            let id = run.spec.id.as_str();
            let aggregates = aggregate_with_intervals(store, id, options.node, options.scorer)?;
            for aggregate in aggregates {
                let is_it = |it: &&ScorerRecord| it.spec.scorer_id == aggregate.scorer_id;
                let Some(scorer) = scorers.iter().find(is_it) else { continue };
                let is_of_it = |it: &Growing| it.trend.scorer_id == aggregate.scorer_id;
                match trends.iter_mut().find(|it| is_of_it(it)) {
                    Some(trend) => trend.add(&run, &aggregate, &scorer.spec),
                    None => trends.push(Growing::new(&run, &aggregate, &scorer.spec)),
                }
            }
        }
        Ok(trends.into_iter().map(|growing| growing.trend).collect())
    })
}

/// The runs that are shown, the oldest first.
fn runs(store: &Store, options: TrendOptions<'_>) -> Result<Vec<RunRecord>, StoreError> {
    let mut shown = Vec::new();
    for run in store.runs(MAX_RUNS)? {
        if shown.len() == options.limit {
            break;
        }
        if options.suite.is_some_and(|suite| run.spec.suite_name.as_deref() != Some(suite)) {
            continue;
        }
        let is_shown = match options.scorer {
            Some(asked) => {
                store.scorer_ids(Some(run.spec.id.as_str()))?.iter().any(|id| id == asked)
            }
            None => true,
        };
        if is_shown {
            shown.push(run);
        }
    }
    shown.reverse();
    Ok(shown)
}

/// A trend that is being built.
struct Growing {
    trend: Trend,
    /// The scorer in the newest run.
    newest: ScorerSpec,
    /// The newest mean, with its scale and direction.
    mean: Option<(f64, Scale, Direction)>,
}

impl Growing {
    fn new(run: &RunRecord, aggregate: &Aggregate, scorer: &ScorerSpec) -> Growing {
        let scorer_id = aggregate.scorer_id.clone();
        let trend = Trend { scorer_id, direction: scorer.direction, points: Vec::new() };
        let mut growing = Growing { trend, newest: scorer.clone(), mean: None };
        growing.add(run, aggregate, scorer);
        growing
    }

    fn add(&mut self, run: &RunRecord, aggregate: &Aggregate, scorer: &ScorerSpec) {
        let (scale, direction) = (scorer.scale, scorer.direction);
        let before = self.mean.filter(|(_, of, towards)| (*of, *towards) == (scale, direction));
        self.trend.points.push(TrendPoint {
            run_id: run.spec.id.to_string(),
            suite_name: run.spec.suite_name.clone(),
            state: run.state,
            created_at_ms: run.spec.created_at_ms,
            count: aggregate.count,
            errors: aggregate.errors,
            mean: aggregate.mean,
            interval: aggregate.interval,
            change: aggregate.mean.zip(before).map(|(mean, (before, ..))| mean - before),
            scorer_changes: ScorerChange::between(&self.newest, scorer),
        });
        self.trend.direction = direction;
        self.newest = scorer.clone();
        self.mean = aggregate.mean.map(|mean| (mean, scale, direction)).or(self.mean);
    }
}
