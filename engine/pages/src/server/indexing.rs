//! Runs the thread that keeps the index and the figures of all runs up to date: the newest run first, and a run in
//! progress repeatedly from the first case that lacks a score. What was indexed from a file that someone else may have
//! changed since then is read again before it is used. Shows nothing; reports its progress, and when something changed.

use std::{
    any::Any,
    collections::{HashMap, HashSet},
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use scorebox::{
    aggregate::{VerdictOptions, verdicts},
    store::{CaseIndex, RunKey, RunRecord, RunState, Store, StoreError},
};
use tokio::sync::watch;

use super::{
    ServeError,
    belief::{Belief, Change, Doubts},
    case_reading::Reading,
    files::{Files, Seen},
};
use crate::figures::Figures;

/// The time between two checks of the database.
const PAUSE: Duration = Duration::from_millis(500);
/// The most cases of one reading. A longer reading would keep what a run writes at the same time in SQLite's log.
const READING_CASES: usize = 20_000;
/// The inverse of the largest share of time that goes to the figures of a run in progress.
const FIGURES_SHARE: u32 = 10;
/// How many runs are indexed: the newest.
const MAX_RUNS: usize = 10_000;

/// The progress of the index.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Runs that are being read, each with the number of cases so far.
    progress: Mutex<HashMap<RunKey, u64>>,
    /// Runs that cannot be read completely, each with the reason.
    damaged: Mutex<HashMap<RunKey, String>>,
    /// Why nothing is being indexed.
    trouble: Mutex<Option<String>>,
}

impl State {
    /// How many cases of a run were read in the current reading; `None` if the run is not being read.
    pub(super) fn progress(&self, run: RunKey) -> Option<u64> {
        lock(&self.progress).get(&run).copied()
    }

    /// Why a run cannot be read completely, if that is so.
    pub(super) fn damage(&self, run: RunKey) -> Option<String> {
        lock(&self.damaged).get(&run).cloned()
    }

    /// Why nothing is being indexed, if that is so.
    pub(super) fn trouble(&self) -> Option<String> {
        lock(&self.trouble).clone()
    }

    /// Records that this panic ended the thread: nothing is indexed any more.
    fn ended_by(&self, panicked: &(dyn Any + Send)) {
        let text = panicked.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panicked.downcast_ref::<&str>().copied());
        let why = text.unwrap_or("without words");
        let trouble = format!(
            "the index stopped because of a bug in scorebox; start the server again: {why}"
        );
        lock(&self.progress).clear();
        *lock(&self.trouble) = Some(trouble);
    }
}

/// The thread, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct Indexing {
    state: Arc<State>,
    end: Arc<End>,
    changed: watch::Sender<u64>,
    working: Option<thread::JoinHandle<()>>,
}

/// Whether the thread must end.
#[derive(Debug, Default)]
struct End {
    is_here: Mutex<bool>,
    waiting: Condvar,
}

impl End {
    /// Waits for the end, at most this long; returns whether it has come.
    fn within(&self, time: Duration) -> bool {
        let is_here = self.is_here.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.waiting.wait_timeout_while(is_here, time, |is_here| !*is_here);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Indexing {
    pub(super) fn start(files: Arc<Files>, belief: Arc<Belief>) -> Result<Indexing, ServeError> {
        let (state, end) = (Arc::<State>::default(), Arc::<End>::default());
        let changed = watch::Sender::new(0);
        let worker = Worker {
            files,
            belief,
            doubts: Doubts::default(),
            state: Arc::clone(&state),
            end: Arc::clone(&end),
            changed: changed.clone(),
            of: None,
            due: HashMap::new(),
            stale: HashSet::new(),
        };
        let (failed, say) = (Arc::clone(&state), changed.clone());
        let work = move || {
            // A panic ends the thread, so nothing that it leaves unfinished is used again.
            if let Err(panicked) = catch_unwind(AssertUnwindSafe(|| worker.work())) {
                failed.ended_by(&*panicked);
                say.send_modify(next);
            }
        };
        let working = thread::Builder::new().name("scorebox-index".into()).spawn(work)?;
        Ok(Indexing { state, end, changed, working: Some(working) })
    }

    pub(super) fn state(&self) -> Arc<State> {
        Arc::clone(&self.state)
    }

    /// A number that grows when something changes.
    pub(super) fn changed(&self) -> watch::Sender<u64> {
        self.changed.clone()
    }
}

impl Drop for Indexing {
    fn drop(&mut self) {
        *lock(&self.end.is_here) = true;
        self.end.waiting.notify_all();
        if let Some(working) = self.working.take() {
            // The thread does not panic: see `start`.
            let _ = working.join();
        }
    }
}

struct Worker {
    files: Arc<Files>,
    belief: Arc<Belief>,
    doubts: Doubts,
    state: Arc<State>,
    end: Arc<End>,
    changed: watch::Sender<u64>,
    /// The state of the files when they were opened: the index belongs to this database.
    of: Option<Seen>,
    /// For runs in progress, when their figures may be computed again.
    due: HashMap<RunKey, Instant>,
    /// Runs whose figures are older than their scores.
    stale: HashSet<RunKey>,
}

impl Worker {
    fn work(mut self) {
        let mut open = None;
        let mut seen = None;
        loop {
            let worked = self.pass(&mut open, &mut seen);
            if worked.is_err() {
                // Both files are opened again, because one may have been replaced.
                (open, seen) = (None, None);
            }
            let trouble = worked.err().map(|error| error.to_string());
            let before = mem::replace(&mut *lock(&self.state.trouble), trouble.clone());
            if before != trouble {
                self.say();
            }
            if self.end.within(PAUSE) {
                return;
            }
        }
    }

    /// Checks all runs, if anything was written since the last time, or something is left to do.
    fn pass(
        &mut self,
        open: &mut Option<(Store, CaseIndex)>,
        seen: &mut Option<i64>,
    ) -> Result<(), StoreError> {
        // This is before the version is read, so that the next pass notices changes in between.
        let file = self.files.state();
        if self.of != Some(self.files.seen()?) {
            (*open, *seen) = (None, None);
        }
        if open.is_none() {
            let (store, index, now) = self.files.open()?;
            if self.of.is_some_and(|before| !before.has_same_files(&now)) {
                self.belief.withdraw();
                self.doubts.clear();
                // A new index contains no figures of any run.
                self.due.clear();
                self.stale.clear();
                self.say();
            }
            self.of = Some(now);
            *open = Some((store, index));
        }
        let Some((store, index)) = open else { return Ok(()) };
        let version = store.data_version()?;
        let is_new = *seen != Some(version);
        if !is_new && self.stale.is_empty() && self.doubts.next().is_none() {
            let is_known = self.doubts.is_empty() && lock(&self.state.damaged).is_empty();
            return if is_known { note(index, file) } else { Ok(()) };
        }
        let runs = store.runs(MAX_RUNS)?;
        if is_new {
            self.has_changed(index, &runs)?;
        }
        for run in &runs {
            if self.end.within(Duration::ZERO) || !self.run_or_damage(store, index, run, is_new)? {
                return Ok(());
            }
        }
        *seen = Some(version);
        Ok(())
    }

    /// Finds out which runs of a changed file are still believed, and removes those that no longer exist.
    fn has_changed(&mut self, index: &mut CaseIndex, runs: &[RunRecord]) -> Result<(), StoreError> {
        let of_keys: HashMap<RunKey, &RunRecord> = runs.iter().map(|run| (run.key, run)).collect();
        for known in index.runs()? {
            let run = of_keys.get(&known).copied();
            if run.is_none_or(|run| index.indexed(run).is_ok_and(|it| it.next_case.is_none())) {
                index.forget(known)?;
                self.stale.remove(&known);
                self.say();
            }
        }
        let change = self.doubts.change(runs);
        lock(&self.state.damaged).retain(|known, _| of_keys.contains_key(known));
        match change {
            Change::First => lock(&self.state.damaged).clear(),
            Change::OfRuns => self.doubts.add(runs),
            Change::Unexplained => {
                self.belief.withdraw();
                self.due.clear();
                // Someone may have repaired them.
                lock(&self.state.damaged).clear();
                self.say();
            }
        }
        // This is after the version was read: either nothing has changed since, or the next pass notices it.
        let state = self.files.state();
        let is_as_noted = change == Change::First && state.is_some() && state == index.file()?;
        for run in runs {
            // The index contains nothing about a new run but what is read from now on.
            if is_as_noted || index.indexed(run)?.next_case.is_none() {
                self.belief.add(run.key);
            }
        }
        if let Some(files) = self.of {
            self.belief.is_about(files, runs);
        }
        Ok(())
    }

    /// The same as [`run`](Worker::run). A damaged run delays no other, and is read again only when it may have been
    /// changed.
    fn run_or_damage(
        &mut self,
        store: &Store,
        index: &mut CaseIndex,
        run: &RunRecord,
        is_new: bool,
    ) -> Result<bool, StoreError> {
        let goes_on = is_new && run.state == RunState::Running;
        let is_due = goes_on || self.doubts.next() == Some(run.key);
        if self.state.damage(run.key).is_some() && !is_due {
            return Ok(true);
        }
        let began = Instant::now();
        let damage = match self.run(store, index, run, is_new) {
            Ok(is_end) => {
                if lock(&self.state.damaged).remove(&run.key).is_some() {
                    self.say();
                }
                return Ok(is_end);
            }
            Err(StoreError::Corrupt { path, what }) if path != index.path() => {
                StoreError::Corrupt { path, what }.to_string()
            }
            Err(error) => return Err(error),
        };
        self.stale.remove(&run.key);
        if self.doubts.next() == Some(run.key) {
            self.doubts.remove(run.key);
            self.doubts.took(began.elapsed());
        }
        if index.indexed(run)?.is_complete {
            // The run was once read completely, and has changed since.
            self.belief.remove(run.key);
        }
        let before = lock(&self.state.damaged).insert(run.key, damage.clone());
        if before.as_ref() != Some(&damage) {
            self.say();
        }
        Ok(true)
    }

    /// Indexes what is not yet indexed of a run, and computes its figures; returns whether it reached the end.
    fn run(
        &mut self,
        store: &Store,
        index: &mut CaseIndex,
        run: &RunRecord,
        is_new: bool,
    ) -> Result<bool, StoreError> {
        let indexed = index.indexed(run)?;
        let is_believed = self.belief.has(run.key);
        let is_again = !is_believed || self.doubts.next() == Some(run.key);
        let is_done = indexed.is_complete && indexed.figures.is_some();
        if is_done && !is_again {
            self.stale.remove(&run.key);
            return Ok(true);
        }
        let began = Instant::now();
        let mut is_different = false;
        if is_again || is_new {
            let shown = (!is_believed || !is_done).then_some(run.key);
            let from = indexed.next_case.filter(|_| !is_again);
            let mut reading = Reading::new(store, index, run, from)?;
            let read = match is_again {
                true => self.again(&mut reading, shown),
                false => self.cases(&mut reading, shown),
            };
            lock(&self.state.progress).remove(&run.key);
            if !read? {
                return Ok(false);
            }
            is_different = reading.is_different();
            self.stale.insert(run.key);
        }
        if self.stale.contains(&run.key) {
            self.figures_of(store, index, run)?;
        }
        if is_again {
            self.doubts.remove(run.key);
            is_different |= index.indexed(run)?.figures != indexed.figures;
            self.read_again(run.key, is_different, began.elapsed());
        }
        Ok(true)
    }

    /// Records that a run was read again, whether the index had been different, and how long it took.
    fn read_again(&mut self, run: RunKey, is_different: bool, took: Duration) {
        match self.belief.has(run) {
            false => self.belief.add(run),
            true => {
                self.doubts.took(took);
                if is_different {
                    self.belief.was_wrong();
                }
            }
        }
        self.say();
    }

    /// Reads a run again that is already indexed, and indexes what has changed; otherwise like
    /// [`cases`](Worker::cases).
    fn again(&self, reading: &mut Reading, shown: Option<RunKey>) -> Result<bool, StoreError> {
        let is_end = self.cases(reading, shown)?;
        match is_end && reading.has_fewer_than_the_index()? {
            true => {
                reading.begin_anew()?;
                self.cases(reading, shown)
            }
            false => Ok(is_end),
        }
    }

    /// Indexes the remaining cases; returns whether it reached their end before the thread must end. Progress is
    /// reported for a run that is `shown`.
    fn cases(&self, reading: &mut Reading, shown: Option<RunKey>) -> Result<bool, StoreError> {
        loop {
            let before = reading.cases();
            let is_end = reading.go_on(READING_CASES)?;
            if let Some(run) = shown
                && reading.cases() > before
            {
                lock(&self.state.progress).insert(run, reading.cases());
                self.say();
            }
            if is_end || self.end.within(Duration::ZERO) {
                return Ok(is_end);
            }
        }
    }

    /// Computes the figures of a run and stores them; for a run in progress only now and then.
    fn figures_of(
        &mut self,
        store: &Store,
        index: &mut CaseIndex,
        run: &RunRecord,
    ) -> Result<(), StoreError> {
        let goes_on = run.state == RunState::Running;
        if goes_on && self.due.get(&run.key).is_some_and(|due| Instant::now() < *due) {
            return Ok(());
        }
        let began = Instant::now();
        let figures = store.snapshot(|store| {
            let scorers = store.scorers(run.key)?;
            let id = run.spec.id.as_str();
            let options = VerdictOptions::default();
            let decided = verdicts(store, id, options, |_| true)?;
            Figures::of(store, run, &scorers, &decided, options)
        })?;
        // Figures are numbers and names, so writing them as JSON cannot fail.
        index.keep_figures(run, &serde_json::to_string(&figures).unwrap_or_default())?;
        self.stale.remove(&run.key);
        if goes_on {
            let due = began.elapsed() * FIGURES_SHARE;
            self.due.insert(run.key, Instant::now() + due.max(PAUSE));
        } else {
            index.complete(run)?;
            self.due.remove(&run.key);
        }
        self.say();
        Ok(())
    }

    fn say(&self) {
        self.changed.send_modify(next);
    }
}

/// Changes the number of changes.
fn next(number: &mut u64) {
    *number = number.wrapping_add(1);
}

/// Records the state of the file that is fully indexed, if it is known and not yet recorded.
fn note(index: &mut CaseIndex, file: Option<String>) -> Result<(), StoreError> {
    if file.is_some() && index.file()? != file {
        index.note_file(file.as_deref())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_why_nothing_is_indexed_any_more() {
        let state = State::default();
        let panicked: [(Box<dyn Any + Send>, &str); 3] = [
            (Box::new("it is broken"), "it is broken"),
            (Box::new("3 is broken".to_owned()), "3 is broken"),
            (Box::new(3), "without words"),
        ];
        for (panicked, why) in panicked {
            state.ended_by(&*panicked);
            let bug = "the index stopped because of a bug in scorebox; start the server again: ";
            assert_eq!(state.trouble(), Some(format!("{bug}{why}")));
        }
    }
}
