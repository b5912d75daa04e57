//! At the end of a run: each scorer that has an answer for the run as a whole is asked for it. Scores no
//! case.

use std::sync::Arc;

use crate::{
    sandbox::Summary,
    scoring::now_ms,
    store::{NewSummary, RunWriter, ScorerKey, Store, StoreError},
};

use super::{RunError, joined, message::RunScorers};

/// Asks the scorers that summarize, and stores what they say.
pub(super) async fn write_summaries(
    mut writer: RunWriter,
    scorers: &RunScorers,
) -> Result<RunWriter, RunError> {
    let summarizing: Vec<usize> =
        (0..scorers.len()).filter(|index| scorers[*index].1.scorer.summarizes()).collect();
    for index in summarizing {
        let key = scorers[index].0;
        let of = Arc::clone(scorers);
        let reading = tokio::task::spawn_blocking(move || {
            let mut rows = of[index].1.scorer.summary_rows();
            let store: &Store = writer.store();
            let read = store.for_each_scored_row(writer.run().key, key, |row| rows.add(row));
            (writer, read.map(|()| rows))
        });
        let (returned, rows) = joined(reading.await)?;
        writer = returned;
        if let Some(summary) = scorers[index].1.scorer.summarize(&rows?).await {
            put(&mut writer, key, &summary)?;
            // The next scorer may take its time, and others want to write.
            writer.commit()?;
        }
    }
    Ok(writer)
}

fn put(writer: &mut RunWriter, scorer: ScorerKey, summary: &Summary) -> Result<(), StoreError> {
    writer.put_summary(
        scorer,
        &NewSummary {
            result: match &summary.result {
                Ok(json) => Ok(json),
                Err(error) => Err((error.kind.as_str(), &error.message)),
            },
            fuel: summary.fuel,
            duration_ms: summary.duration.as_secs_f64() * 1e3,
            computed_at_ms: now_ms(),
            log: &summary.log,
        },
    )
}
