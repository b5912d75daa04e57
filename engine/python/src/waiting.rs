//! Waits for Rust from Python: detached from the interpreter, so that its other threads run, and checking for signals,
//! so that Ctrl-C ends the waiting. Does not know what it waits for.

use std::{
    ops::ControlFlow,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use pyo3::prelude::*;

use crate::home::Home;

/// How often signals are checked: a user waits no longer than a tenth of a second.
const LOOK: Duration = Duration::from_millis(50);

/// Waits for the result of `work`. It is polled on this thread, which is the fastest way to a single score; tasks that
/// it spawns run on the threads of the runtime.
///
/// # Errors
/// An exception that a signal handler raised, such as `KeyboardInterrupt`; `work` is dropped then.
pub(crate) fn wait_for<T: Send>(
    py: Python<'_>,
    home: &Home,
    work: impl Future<Output = T> + Send,
) -> PyResult<T> {
    py.detach(|| {
        let _inside = home.runtime.enter();
        let waker = Waker::from(Arc::new(Unparking(thread::current())));
        let mut context = Context::from_waker(&waker);
        let mut work = pin!(work);
        let mut looked = None;
        loop {
            if let Poll::Ready(done) = work.as_mut().poll(&mut context) {
                return Ok(done);
            }
            // Most scores finish before their first wait, and never read the clock.
            let since = *looked.get_or_insert_with(Instant::now);
            let left = LOOK.saturating_sub(since.elapsed());
            if left.is_zero() {
                Python::attach(|py| py.check_signals())?;
                looked = Some(Instant::now());
            } else {
                thread::park_timeout(left);
            }
        }
    })
}

/// Waits for what the end of the interpreter must not cut off. Called when it is about to end.
#[pyfunction]
pub(crate) fn finish(py: Python<'_>) -> PyResult<()> {
    Home::started().map_or(Ok(()), |home| wait_for(py, home, home.finish()))
}

/// Checks for signals during work that does not wait and that runs detached from the interpreter.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    looked: Option<Instant>,
    raised: Option<PyErr>,
}

impl Signals {
    /// Whether the work should continue. Cheap, because most calls only read a clock.
    pub(crate) fn look(&mut self) -> ControlFlow<()> {
        let since = *self.looked.get_or_insert_with(Instant::now);
        if since.elapsed() < LOOK {
            return ControlFlow::Continue(());
        }
        self.looked = Some(Instant::now());
        match Python::attach(|py| py.check_signals()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(raised) => {
                self.raised = Some(raised);
                ControlFlow::Break(())
            }
        }
    }

    /// The result of the work.
    ///
    /// # Errors
    /// An exception that a signal handler raised, which ended the work.
    pub(crate) fn or<T>(&mut self, done: T) -> PyResult<T> {
        match self.raised.take() {
            Some(raised) => Err(raised),
            None => Ok(done),
        }
    }
}

/// Wakes the waiting thread.
struct Unparking(Thread);

impl Wake for Unparking {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}
