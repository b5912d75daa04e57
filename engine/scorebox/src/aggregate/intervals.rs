//! The intervals of the means of a run's scorers: the attempts at a case are one unit. It keeps a few numbers for each
//! scorer.

use super::{Aggregate, aggregate};
use crate::{
    contract::Scale,
    row::Status,
    stats::ClusteredMean,
    store::{ScoreFilter, Store, StoreError},
};

/// The aggregates of a run's scorers, or of one of them, on all cases or those of one task, each with the interval of
/// its mean: [`aggregate`] and [`add_intervals`] in one call.
///
/// # Errors
/// Like [`aggregate`].
pub fn aggregate_with_intervals(
    store: &Store,
    run: &str,
    node: Option<&str>,
    scorer: Option<&str>,
) -> Result<Vec<Aggregate>, StoreError> {
    let filter = ScoreFilter::of_run(run)
        .with_node(node.map(str::to_owned))
        .with_scorer(scorer.map(str::to_owned));
    store.snapshot(|store| {
        let mut aggregates = aggregate(store, &filter)?;
        add_intervals(store, run, node, &mut aggregates)?;
        Ok(aggregates)
    })
}

/// Adds the intervals of the means to these aggregates, of a run's cases or those of one task. It reads the whole run
/// once, in the order of the cases' ids.
///
/// # Errors
/// [`StoreError::NoSuchRun`]; the database cannot be read.
pub fn add_intervals(
    store: &Store,
    run: &str,
    node: Option<&str>,
    aggregates: &mut [Aggregate],
) -> Result<(), StoreError> {
    store.snapshot(|store| {
        let key = store.run(run)?.key;
        let scorers = store.scorers(key)?;
        // The index among the aggregates, and the mean so far.
        let mut means: Vec<_> = scorers
            .iter()
            .filter_map(|scorer| {
                let index =
                    aggregates.iter().position(|it| it.scorer_id == scorer.spec.scorer_id)?;
                let mean = ClusteredMean::around(aggregates[index].mean?);
                Some((scorer.key, scorer.spec.scale, index, mean))
            })
            .collect();
        let mut case_id = String::new();
        store.for_each_attempt(key, node, |attempt| {
            if attempt.case_id != case_id {
                means.iter_mut().for_each(|(.., mean)| mean.end_case());
                case_id.clone_from(&attempt.case_id);
            }
            for row in &attempt.rows {
                let score = row.score.filter(|it| row.status == Status::Scored && it.is_finite());
                let mean = means.iter_mut().find(|(key, ..)| *key == row.scorer);
                if let (Some(score), Some((.., mean))) = (score, mean) {
                    mean.add(score);
                }
            }
            true
        })?;
        for (_, scale, index, mut mean) in means {
            mean.end_case();
            aggregates[index].interval = mean.interval(match scale {
                Scale::Unit => 0.0..=1.0,
                Scale::Points => 0.0..=f64::MAX,
            });
        }
        Ok(())
    })
}
