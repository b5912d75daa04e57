//! The run behind a stream of cases. It takes cases, and any thread can end it, even while another one waits for the
//! caller's next case. Reads no case.

use std::{
    mem, process,
    sync::{Arc, Mutex, PoisonError},
};

use pyo3::prelude::*;
use scorebox::{
    case::Case,
    engine::Live,
    run::{RunError, RunReport, Stop},
};
use tokio::sync::watch;

use crate::{
    home::{Home, Unfinished},
    open_runs::Place,
    waiting::wait_for,
};

/// The run behind a stream.
#[derive(Debug)]
pub(crate) struct Behind {
    process: u32,
    home: &'static Home,
    /// Whether its rows are stored.
    is_stored: bool,
    /// `None` once a thread waits for its end. Threads lock it only briefly while they are attached to the interpreter;
    /// see `home`.
    live: Mutex<Option<Open>>,
    /// The state of its end.
    end: watch::Sender<End>,
}

/// A run that has not ended, with its permit among the open runs of the process.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) live: Live,
    pub(crate) place: Place,
}

/// The state of the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Cases are taken.
    NotYet,
    /// The stream was closed: a caller that waits for rows or for a case gets none.
    Closed,
    /// No part of the run is left.
    Over,
}

/// Reports that no part of the run is left, even if the caller stopped waiting for it.
struct SaysOver<'b>(&'b watch::Sender<End>);

impl Drop for SaysOver<'_> {
    fn drop(&mut self) {
        self.0.send_replace(End::Over);
    }
}

impl Behind {
    pub(crate) fn new(home: &'static Home, open: Open, is_stored: bool) -> Arc<Behind> {
        let (end, live) = (watch::Sender::new(End::NotYet), Mutex::new(Some(open)));
        Arc::new(Behind { process: process::id(), home, is_stored, live, end })
    }

    /// Whether this process started it.
    pub(crate) fn is_here(&self) -> bool {
        self.process == process::id()
    }

    /// Passes a case to the run; false if the run takes no more cases.
    pub(crate) fn take(&self, case: Case) -> bool {
        self.with_live(|live| live.as_ref().is_some_and(|open| open.live.score_live(case)))
    }

    /// Skips the position of an item that is not a case.
    pub(crate) fn leave_empty(&self) {
        self.with_live(|live| live.iter().for_each(|open| open.live.leave_empty()));
    }

    /// Whether the stream was closed.
    pub(crate) fn is_closed(&self) -> bool {
        *self.end.borrow() != End::NotYet
    }

    /// Waits until the stream is closed.
    pub(crate) async fn closed(&self) {
        let _ = self.end.subscribe().wait_for(|end| *end != End::NotYet).await;
    }

    /// Ends the run before its last case, without waiting for it. If rows are stored, those that are being computed are
    /// stored too; otherwise they are dropped.
    pub(crate) fn leave(&self) {
        self.end.send_if_modified(|end| {
            *end == End::NotYet && {
                *end = End::Closed;
                true
            }
        });
        self.with_live(|live| match live.take() {
            Some(open) if self.is_stored => {
                open.live.stop(Stop::Interrupted);
                *live = Some(open);
            }
            Some(open) => open.live.abort(),
            None => {}
        });
    }

    /// Ends the run, with a reason if there is one, and waits for its end. Returns its outcome unless another caller
    /// has already waited for it.
    pub(crate) fn end(
        &self,
        py: Python<'_>,
        stop: Option<Stop>,
    ) -> PyResult<Option<Result<Option<RunReport>, RunError>>> {
        let Some(Open { live, place: _place }) = self.with_live(Option::take) else {
            return Ok(None);
        };
        let _over = SaysOver(&self.end);
        if let Some(stop) = stop {
            live.stop(stop);
        }
        wait_for(py, self.home, live.shutdown()).map(Some)
    }

    /// Ends the run early if it has not ended, and waits until all of it has stopped, whichever thread ends it. Does
    /// not wait for the caller's next case.
    pub(crate) fn close(
        &self,
        py: Python<'_>,
    ) -> PyResult<Option<Result<Option<RunReport>, RunError>>> {
        self.leave();
        match self.end(py, None)? {
            Some(ended) => Ok(Some(ended)),
            None if !self.is_stored => Ok(None),
            None => {
                let over = async {
                    let _ = self.end.subscribe().wait_for(|end| *end == End::Over).await;
                };
                wait_for(py, self.home, over)?;
                Ok(None)
            }
        }
    }

    /// Makes sure that the end of a stored run is stored even if the program ends now.
    pub(crate) fn end_alone(&self) {
        let live = self.with_live(Option::take);
        let live = live.filter(|_| self.is_stored).zip(self.home.unfinished());
        if let Some((open, unfinished)) = live {
            self.home.runtime.spawn(shut_down(open, unfinished));
        }
    }

    fn with_live<T>(&self, work: impl FnOnce(&mut Option<Open>) -> T) -> T {
        work(&mut self.live.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn shut_down(open: Open, _unfinished: Unfinished) {
    let Open { live, place: _place } = open;
    // No caller is left to report an error to.
    let _ = live.shutdown().await;
}

/// In a forked process, the run is left as it is: the threads that dropping it waits for do not exist there.
impl Drop for Behind {
    fn drop(&mut self) {
        if !self.is_here() {
            mem::forget(self.with_live(Option::take));
        }
    }
}
