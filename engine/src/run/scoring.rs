//! Each case through each scorer, each in a sandbox of its own. Writes nothing.

use std::sync::Arc;

use async_channel::Receiver;
use tokio::sync::mpsc;

use crate::store::ScorerKey;

use super::{
    Control, ReadyScorer, now_ms,
    reading::Task,
    writing::{Message, Scored},
};

/// Takes cases until there are no more, or the run is stopped.
pub(super) async fn work(
    scorers: Arc<[(ScorerKey, ReadyScorer)]>,
    tasks: Receiver<Task>,
    to_writer: mpsc::Sender<Message>,
    control: Arc<Control>,
) {
    while let Ok(task) = tasks.recv().await {
        if control.is_stopping() {
            // What is queued is left for another session.
            continue;
        }
        let scores = score(&scorers, &task, &control).await;
        let message = Message::Scored { ordinal: task.case.ordinal(), scores };
        if to_writer.send(message).await.is_err() {
            return;
        }
    }
}

async fn score(
    scorers: &[(ScorerKey, ReadyScorer)],
    task: &Task,
    control: &Control,
) -> Vec<Scored> {
    let mut scores = Vec::with_capacity(scorers.len());
    for (scorer, ready) in scorers {
        let wanted = task.missing.as_ref().is_none_or(|missing| missing.contains(scorer));
        if !wanted || control.is_stopping() {
            continue;
        }
        let input = task.case.scorer_input(ready.scorer.info().reads);
        let outcome = ready.scorer.score(input).await;
        scores.push(Scored { scorer: *scorer, outcome, scored_at_ms: now_ms() });
    }
    scores
}
