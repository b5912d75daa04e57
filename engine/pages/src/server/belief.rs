//! Which runs the index is known to be right about: those that were read, or compared, from the file that is served as
//! it is now. Pages show nothing of the index about others. Reads no database.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use scorebox::store::{RunId, RunKey, RunRecord, RunState};

use super::files::Seen;

/// A share of the time at most goes to reading again what another program may have changed beside a run that is
/// written.
const SHARE: u32 = 10;

/// What pages ask.
#[derive(Debug, Default)]
pub(super) struct Belief(Mutex<Believed>);

#[derive(Debug, Default)]
struct Believed {
    /// The files that the runs are believed of.
    of: Option<Seen>,
    /// Whether a run is in progress, which changes the file.
    is_written: bool,
    runs: HashSet<RunKey>,
    /// How often something turned out not to be as it was believed, or may have.
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

    /// A number that another one follows when what was computed of runs may not hold any more; `None` while nothing is
    /// known of these files.
    pub(super) fn doubts(&self, files: &Seen) -> Option<u64> {
        let believed = self.lock();
        believed.is_of(files).then_some(believed.doubts)
    }

    /// From now on it is about these files, and these runs are in them.
    pub(super) fn is_about(&self, files: Seen, runs: &[RunRecord]) {
        let mut believed = self.lock();
        believed.of = Some(files);
        believed.is_written = runs.iter().any(|run| run.state == RunState::Running);
        believed.runs.retain(|known| runs.iter().any(|run| run.key == *known));
    }

    /// Whether this run is believed, of the files that are looked at.
    pub(super) fn has(&self, run: RunKey) -> bool {
        self.lock().runs.contains(&run)
    }

    pub(super) fn add(&self, run: RunKey) {
        self.lock().runs.insert(run);
    }

    /// What the index has of a run could not be read again.
    pub(super) fn remove(&self, run: RunKey) {
        self.lock().runs.remove(&run);
    }

    /// The index was not right about a run that was believed; it is now.
    pub(super) fn was_wrong(&self) {
        self.lock().doubts += 1;
    }

    /// Nothing is believed any more.
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

/// What a change of the file is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It is the first look at the file, or at another one.
    First,
    /// Runs came, went, or are in progress: what a run writes changes no other run.
    OfRuns,
    /// The runs are the same, and something of them is not.
    Unexplained,
}

/// How a run stood: a change of it is one that scorebox makes.
type Stood = (RunKey, RunId, RunState, Option<i64>);

/// What may have changed without a sign, and is to be read again at leisure.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    stood: Option<Vec<Stood>>,
    again: VecDeque<RunKey>,
    due: Option<Instant>,
}

impl Doubts {
    /// What a change is that left these runs.
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

    /// All of it is forgotten: what comes is another file.
    pub(super) fn clear(&mut self) {
        *self = Doubts::default();
    }

    /// Of these runs, which are all, those that are over are to be read again.
    pub(super) fn add(&mut self, runs: &[RunRecord]) {
        let there: HashSet<RunKey> = runs.iter().map(|run| run.key).collect();
        self.again.retain(|known| there.contains(known));
        let known: HashSet<RunKey> = self.again.iter().copied().collect();
        let over = runs.iter().filter(|run| run.state != RunState::Running).map(|run| run.key);
        self.again.extend(over.filter(|run| !known.contains(run)));
    }

    /// This one was read.
    pub(super) fn remove(&mut self, run: RunKey) {
        self.again.retain(|it| *it != run);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.again.is_empty()
    }

    /// The run whose turn it is, if it is time.
    pub(super) fn next(&self) -> Option<RunKey> {
        let is_due = self.due.is_none_or(|due| due <= Instant::now());
        self.again.front().copied().filter(|_| is_due)
    }

    /// To read one took so long.
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
