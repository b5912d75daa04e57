//! [`Kept`]: the instances of one scorer that were reset and wait for the next case; [`Room`]: how many instances all
//! scorers of a sandbox may keep. It knows no cases.

use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    CoreSandbox,
    model::Model,
    watching::{Watch, Watcher},
    written_pages::PageMap,
};

/// How often an instance is reset before it is watched: starting a watch takes longer than a few scans without one.
const SET_BACK_BEFORE_WATCHED: u32 = 4;

/// The places for kept instances. The pool has them in addition to those for running scores, so that no score waits for
/// a kept instance.
pub(in super::super) struct Room {
    places: Arc<Semaphore>,
    pages: PageMap,
    watcher: Option<Arc<Watcher>>,
}

impl Room {
    /// Room for this many instances; `None` on a machine that cannot report what a score wrote.
    pub(in super::super) fn new(places: u32) -> Option<Room> {
        let places = Arc::new(Semaphore::new(places as usize));
        Some(Room { places, pages: PageMap::open()?, watcher: Watcher::open() })
    }

    fn place(&self) -> Option<OwnedSemaphorePermit> {
        self.places.clone().try_acquire_owned().ok()
    }

    /// Whether the system can watch memories for this process.
    #[cfg(test)]
    pub(super) fn can_watch(&self) -> bool {
        self.watcher.is_some()
    }

    /// Watches the memory of an instance that was reset. It is equal to the model's, so only what is written from now
    /// on can differ.
    fn watch(&self, sandbox: &CoreSandbox) -> Option<Watch> {
        let memory = sandbox.instance.as_ref()?.memory;
        self.watcher.as_ref()?.watch(memory.data(&sandbox.store))
    }
}

/// The waiting instances of a scorer.
#[derive(Default)]
pub(super) struct Kept {
    /// From a command line, most scorers score only once, so instances are kept only from the second score on.
    has_scored: AtomicBool,
    model: OnceLock<Model>,
    waiting: Mutex<Vec<CoreSandbox>>,
}

impl Kept {
    /// Nobody panics while holding the lock, and a list is complete in any case.
    pub(super) fn waiting(&self) -> MutexGuard<'_, Vec<CoreSandbox>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A waiting instance, if there is one.
    pub(super) fn take(&self) -> Option<CoreSandbox> {
        self.waiting().pop()
    }

    /// Keeps the instance of `sandbox`, if it can be reset and there is a place; otherwise drops it.
    pub(super) fn put(
        &self,
        mut sandbox: CoreSandbox,
        room: &Room,
        model: impl FnOnce(OwnedSemaphorePermit) -> Option<Model>,
    ) {
        if !self.has_scored.swap(true, Relaxed) {
            return;
        }
        let Some(changed) = sandbox.changed(&room.pages) else { return };
        if sandbox.place.is_none() {
            sandbox.place = room.place();
        }
        if sandbox.place.is_some()
            && let Some(model) = self.model(room, model)
            && model.set_back(&mut sandbox, changed).is_some()
        {
            sandbox.times_set_back = sandbox.times_set_back.saturating_add(1);
            if sandbox.times_set_back == SET_BACK_BEFORE_WATCHED {
                sandbox.watch = room.watch(&sandbox);
            }
            self.waiting().push(sandbox);
        }
    }

    fn model(
        &self,
        room: &Room,
        model: impl FnOnce(OwnedSemaphorePermit) -> Option<Model>,
    ) -> Option<&Model> {
        if self.model.get().is_none() {
            // Another thread may set it first.
            let _ = self.model.set(model(room.place()?)?);
        }
        self.model.get()
    }
}
