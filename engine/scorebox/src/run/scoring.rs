//! Each case through each scorer, each in a sandbox of its own. Writes nothing.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::mpsc;

use crate::{contract::ScorerInput, store::ScorerKey};

use super::{
    Control, ReadyScorer,
    input::InputDigests,
    now_ms,
    queue::Queue,
    reading::Task,
    room::Room,
    writing::{Message, Scored, ScoredCase},
};

/// The most cases that a worker takes at once.
const MOST_AT_ONCE: usize = 32;
/// Bytes of results after which they are sent.
const MOST_BYTES_AT_ONCE: usize = 1 << 20;
/// How long the cases that a worker takes at once should keep it busy: long enough that handing them
/// over costs little, short enough that workers end together.
const BUSY: Duration = Duration::from_millis(2);

/// Takes cases until there are no more. When the run is stopped, what is queued is left for another
/// session.
pub(super) async fn work(
    scorers: Arc<[(ScorerKey, ReadyScorer)]>,
    tasks: Arc<Queue<Task>>,
    to_writer: mpsc::Sender<Message>,
    room: Room,
    control: Arc<Control>,
) {
    let _abandon = AbandonAtEnd(Arc::clone(&tasks));
    let mut at_once = 1;
    loop {
        let taken = tasks.take(at_once).await;
        if taken.is_empty() {
            return;
        }
        let (started, count) = (Instant::now(), taken.len());
        let mut scored = Batch::default();
        for task in taken {
            if control.is_stopping() {
                break;
            }
            let scores = score(&scorers, &task, &control).await;
            let ordinal = task.read.case.ordinal();
            scored.add(ScoredCase { ordinal, scores, reused: task.reused });
            if scored.bytes >= MOST_BYTES_AT_ONCE && !scored.send(&to_writer, &room).await {
                return;
            }
        }
        if !scored.send(&to_writer, &room).await {
            return;
        }
        at_once = match started.elapsed() < BUSY {
            true => (count * 2).min(MOST_AT_ONCE),
            false => (count / 2).max(1),
        };
    }
}

/// Scored cases that go to the writer together.
#[derive(Default)]
struct Batch {
    cases: Vec<ScoredCase>,
    bytes: usize,
}

impl Batch {
    fn add(&mut self, case: ScoredCase) {
        self.bytes += case.scores.iter().map(Scored::bytes).sum::<usize>();
        self.cases.push(case);
    }

    /// Whether there is still somebody to send to.
    async fn send(&mut self, to_writer: &mpsc::Sender<Message>, room: &Room) -> bool {
        let Batch { cases, bytes } = std::mem::take(self);
        if cases.is_empty() {
            return true;
        }
        let share = room.share(bytes).await;
        to_writer.send(Message::Scored { cases, _share: share }).await.is_ok()
    }
}

/// A worker that ends, in whatever way, lets the reader know. What is queued then (nothing, where the run
/// came to its end) holds room that the reader may be waiting for.
struct AbandonAtEnd(Arc<Queue<Task>>);

impl Drop for AbandonAtEnd {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

async fn score(
    scorers: &[(ScorerKey, ReadyScorer)],
    task: &Task,
    control: &Control,
) -> Vec<Scored> {
    let mut scores = Vec::with_capacity(scorers.len());
    let case = &task.read.case;
    // One for all scorers, which thus see the same files.
    let folder = case.task_folder();
    let mut digests = InputDigests::new(case);
    for (scorer, ready) in scorers {
        if !task.wants(*scorer) || control.is_stopping() {
            continue;
        }
        let reads = ready.scorer.info().reads;
        let input = ScorerInput { workspace: folder.as_ref(), ..case.scorer_input(reads) };
        let outcome = ready.scorer.score(input).await;
        let input_digest = digests.of(reads, outcome.files);
        scores.push(Scored { scorer: *scorer, outcome, input_digest, scored_at_ms: now_ms() });
    }
    scores
}
