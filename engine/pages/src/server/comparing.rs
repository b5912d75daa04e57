//! Compares two runs. Each comparison is computed once, on a thread that may block, and kept as long as it is valid: a
//! page of large runs does not wait for it, but is reloaded when it is ready.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use scorebox::{
    aggregate::{Comparison, ComparisonError, ComparisonOptions, RunIn, comparison},
    store::{RunRecord, RunState, StoreError},
};
use tokio::sync::{Semaphore, watch};

use super::{reading::Readers, trouble::Trouble};
use crate::comparison::MAX_CHANGES;

/// How long a page waits for a comparison: long enough for some hundred cases.
const PATIENCE: Duration = Duration::from_millis(30);
/// How many comparisons are computed at once; others wait.
const MAX_AT_ONCE: usize = 2;
/// How many comparisons are kept.
const MAX_KEPT: usize = 32;
/// The inverse of the largest share of time that goes to a run in progress, which is never compared more often than
/// every two seconds.
const SHARE: u32 = 10;
const PAUSE: Duration = Duration::from_secs(2);

/// What is known about two runs.
#[derive(Clone, Debug)]
pub(super) enum Known {
    Found(Arc<Comparison>),
    /// Why there is no comparison.
    None(Arc<str>),
    /// The comparison is being computed.
    NotYet,
}

/// The comparisons that were requested.
#[derive(Debug)]
pub(super) struct Comparisons {
    readers: Arc<Readers>,
    kept: Mutex<Vec<Kept>>,
    places: Semaphore,
    changed: watch::Sender<u64>,
}

/// A comparison, and the runs that it is for.
#[derive(Debug)]
struct Kept {
    of: Of,
    known: Known,
    /// When it must be computed again: `None` if nothing changes any more.
    due: Option<Instant>,
    /// Set while it is being computed: its sender is dropped at the end.
    computing: Option<watch::Receiver<()>>,
}

/// Two runs in their current state.
#[derive(Clone, Debug, PartialEq)]
struct Of {
    runs: [String; 2],
    /// A later run may have taken the name of one.
    began_at_ms: [i64; 2],
    states: [(RunState, Option<i64>); 2],
    /// Whether someone else may have changed them since.
    doubts: Option<u64>,
}

impl Of {
    fn new(runs: [&RunRecord; 2], doubts: Option<u64>) -> Of {
        Of {
            doubts,
            runs: runs.map(|run| run.spec.id.to_string()),
            began_at_ms: runs.map(|run| run.spec.created_at_ms),
            states: runs.map(|run| (run.state, run.finished_at_ms)),
        }
    }

    fn is_over(&self) -> bool {
        self.states.iter().all(|(state, _)| *state != RunState::Running)
    }
}

impl Comparisons {
    /// `changed` gets a new number when a comparison is ready, for pages that did not wait for it.
    pub(super) fn new(readers: Arc<Readers>, changed: watch::Sender<u64>) -> Comparisons {
        let places = Semaphore::new(MAX_AT_ONCE);
        Comparisons { readers, kept: Mutex::default(), places, changed }
    }

    /// What is known about these two runs now, or shortly after.
    ///
    /// # Errors
    /// A run does not exist; the database cannot be read.
    pub(super) async fn of(self: &Arc<Self>, runs: [String; 2]) -> Result<Known, Trouble> {
        let read = Arc::clone(&self.readers).read(move |reader| {
            let [one, other] = [reader.store.run(&runs[0])?, reader.store.run(&runs[1])?];
            Ok::<_, Trouble>(Of::new([&one, &other], reader.doubts()))
        });
        let of = read.await?;
        let done = self.begin(&of);
        if let Some(mut done) = done {
            // A comparison that is not ready by then comes later.
            let _ = tokio::time::timeout(PATIENCE, done.changed()).await;
        }
        let kept = self.lock();
        // A comparison that began before a run ended covers only part of that run.
        let known = kept.iter().find(|it| it.of == of);
        Ok(known.map_or(Known::NotYet, |it| it.known.clone()))
    }

    /// Begins to compute what is missing or due. Returns a receiver that reports the end, if it is being computed.
    fn begin(self: &Arc<Self>, of: &Of) -> Option<watch::Receiver<()>> {
        let mut kept = self.lock();
        let index = kept.iter().position(|it| it.of.runs == of.runs);
        let mut it = match index {
            Some(index) => kept.remove(index),
            None => Kept {
                of: of.clone(),
                known: Known::NotYet,
                due: Some(Instant::now()),
                computing: None,
            },
        };
        if it.of.began_at_ms != of.began_at_ms || it.of.doubts != of.doubts {
            it.known = Known::NotYet;
        }
        let is_due = it.of != *of || it.due.is_some_and(|due| due <= Instant::now());
        if is_due && it.computing.is_none() {
            let (ends, done) = watch::channel(());
            it.computing = Some(done);
            it.of = of.clone();
            let (all, of) = (Arc::clone(self), of.clone());
            tokio::spawn(async move {
                all.compute(of).await;
                drop(ends);
            });
        }
        let done = it.computing.clone();
        // The most recently requested comparison is removed last.
        kept.push(it);
        if kept.len() > MAX_KEPT
            && let Some(oldest) = kept.iter().position(|it| it.computing.is_none())
        {
            kept.remove(oldest);
        }
        done
    }

    async fn compute(self: Arc<Self>, of: Of) {
        // The semaphore is never closed.
        let _place = self.places.acquire().await;
        let began = Instant::now();
        let runs = of.runs.clone();
        let found = Arc::clone(&self.readers).read(move |reader| {
            let [one, other] = [&runs[0], &runs[1]].map(|run| RunIn::new(&reader.store, run));
            let options = ComparisonOptions::default().with_changes(MAX_CHANGES);
            match comparison(one, other, options) {
                Ok(found) => Ok(Known::Found(Arc::new(found))),
                Err(ComparisonError::Store(error)) => Err(error),
                Err(error) => Ok(Known::None(error.to_string().into())),
            }
        });
        let found: Result<Known, StoreError> = found.await;
        // What cannot be read now may be readable later.
        let is_final = found.is_ok() && of.is_over();
        let known = found.unwrap_or_else(|error| Known::None(error.to_string().into()));
        let took = began.elapsed();
        let mut kept = self.lock();
        if let Some(it) = kept.iter_mut().find(|it| it.of.runs == of.runs) {
            it.known = known;
            it.computing = None;
            it.due = (!is_final).then(|| Instant::now() + PAUSE.max(took * SHARE));
        }
        drop(kept);
        self.changed.send_modify(|number| *number = number.wrapping_add(1));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
