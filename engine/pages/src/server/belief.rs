//! Records for which runs the index is known to be right: those that were read or compared since the served file last
//! changed. For other runs, pages show nothing from the index. Reads no database.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use scorebox::store::{RunId, RunKey, RunRecord, RunState};

use super::files::Seen;

/// The inverse of the largest share of time that goes to reading again what another program may have changed while a
/// run is being written.
const SHARE: u32 = 10;

/// The runs for which pages may use the index.
#[derive(Debug, Default)]
pub(super) struct Belief(Mutex<Believed>);

#[derive(Debug, Default)]
struct Believed {
    /// The files that the runs belong to.
    of: Option<Seen>,
    /// Whether a run is in progress, which changes the file.
    is_written: bool,
    runs: HashSet<RunKey>,
    /// How often something was different than believed, or may have been.
    doubts: u64,
}

impl Believed {
    fn is_of(&self, files: &Seen) -> bool {
        self.of.is_some_and(|of| of == *files || (self.is_written && of.has_same_files(files)))
    }
}

impl Belief {
    /// Whether the index is right about a run of these files.
    pub(super) fn holds(&self, run: RunKey, files: &Seen) -> bool {
        let believed = self.lock();
        believed.is_of(files) && believed.runs.contains(&run)
    }

    /// A number that changes when results computed from runs may not be valid any more; `None` while nothing is known
    /// about these files.
    pub(super) fn doubts(&self, files: &Seen) -> Option<u64> {
        let believed = self.lock();
        believed.is_of(files).then_some(believed.doubts)
    }

    /// Starts to apply to these files, which contain these runs.
    pub(super) fn is_about(&self, files: Seen, runs: &[RunRecord]) {
        let mut believed = self.lock();
        believed.of = Some(files);
        believed.is_written = runs.iter().any(|run| run.state == RunState::Running);
        believed.runs.retain(|known| runs.iter().any(|run| run.key == *known));
    }

    /// Whether the index is believed for this run, in the current files.
    pub(super) fn has(&self, run: RunKey) -> bool {
        self.lock().runs.contains(&run)
    }

    pub(super) fn add(&self, run: RunKey) {
        self.lock().runs.insert(run);
    }

    /// Withdraws belief in a run that could not be read again.
    pub(super) fn remove(&self, run: RunKey) {
        self.lock().runs.remove(&run);
    }

    /// Records that the index was wrong about a run that was believed, and is right now.
    pub(super) fn was_wrong(&self) {
        self.lock().doubts += 1;
    }

    /// Withdraws belief in all runs.
    pub(super) fn withdraw(&self) {
        let mut believed = self.lock();
        believed.of = None;
        believed.runs.clear();
        believed.doubts += 1;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Believed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a change of the file is interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// This is the first look at the file, or it is another file.
    First,
    /// Runs were added, removed, or are in progress: what a run writes changes no other run.
    OfRuns,
    /// The runs are the same, but something in them has changed.
    Unexplained,
}

/// The state of a run: scorebox itself makes changes to it.
type Stood = (RunKey, RunId, RunState, Option<i64>);

/// The runs that may have changed without a sign, and are read again when there is time.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    stood: Option<Vec<Stood>>,
    again: VecDeque<RunKey>,
    due: Option<Instant>,
}

impl Doubts {
    /// How to interpret a change after which these runs exist.
    pub(super) fn change(&mut self, runs: &[RunRecord]) -> Change {
        let stood = |run: &RunRecord| (run.key, run.spec.id.clone(), run.state, run.finished_at_ms);
        let now: Vec<Stood> = runs.iter().map(stood).collect();
        let is_written = runs.iter().any(|run| run.state == RunState::Running);
        match self.stood.replace(now) {
            None => Change::First,
            before if is_written || before != self.stood => Change::OfRuns,
            Some(_) => Change::Unexplained,
        }
    }

    /// Forgets everything, because another file follows.
    pub(super) fn clear(&mut self) {
        *self = Doubts::default();
    }

    /// Of these runs, which are all there are, adds those that have ended, to be read again.
    pub(super) fn add(&mut self, runs: &[RunRecord]) {
        let there: HashSet<RunKey> = runs.iter().map(|run| run.key).collect();
        self.again.retain(|known| there.contains(known));
        let known: HashSet<RunKey> = self.again.iter().copied().collect();
        let over = runs.iter().filter(|run| run.state != RunState::Running).map(|run| run.key);
        self.again.extend(over.filter(|run| !known.contains(run)));
    }

    /// Removes a run that was read.
    pub(super) fn remove(&mut self, run: RunKey) {
        self.again.retain(|it| *it != run);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.again.is_empty()
    }

    /// The next run to be read, if it is time.
    pub(super) fn next(&self) -> Option<RunKey> {
        let is_due = self.due.is_none_or(|due| due <= Instant::now());
        self.again.front().copied().filter(|_| is_due)
    }

    /// Records how long reading one run took.
    pub(super) fn took(&mut self, time: Duration) {
        self.due = Some(Instant::now() + time * SHARE);
    }
}

#[cfg(test)]
mod tests {
    use scorebox::store::Store;

    use super::*;

    #[test]
    fn a_change_that_no_run_explains_is_someone_elses() {
        let mut doubts = Doubts::default();
        assert_eq!(doubts.change(&[]), Change::First);
        assert_eq!(doubts.change(&[]), Change::Unexplained);
        doubts.clear();
        assert_eq!(doubts.change(&[]), Change::First);
    }

    #[test]
    fn nothing_is_believed_of_files_that_are_not_the_ones_that_were_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["one.db", "other.db"] {
            drop(Store::open(path(name)).unwrap());
        }
        let [one, other] = ["one.db", "other.db"].map(|name| {
            let files = super::super::files::Files::new(path(name), path("cases.index"));
            files.seen().unwrap()
        });
        let belief = Belief::default();
        assert_eq!(belief.doubts(&one), None);
        belief.is_about(one, &[]);
        assert_eq!(belief.doubts(&one), Some(0));
        assert_eq!(belief.doubts(&other), None);
        belief.withdraw();
        assert_eq!(belief.doubts(&one), None);
        belief.is_about(one, &[]);
        assert_eq!(belief.doubts(&one), Some(1));
    }
}
