//! Signals that end a run: the first in good order, the second at once. Says nothing of what is stored.

use std::{
    io,
    sync::{Arc, OnceLock},
};

use scorebox::run::{Control, Stop};

use crate::{failure::Exit, words};

/// The first signal that came, if one did.
#[derive(Clone, Default)]
pub(crate) struct Signalled(Arc<OnceLock<Exit>>);

impl Signalled {
    /// Whether one came.
    pub(crate) fn came(&self) -> bool {
        self.0.get().is_some()
    }

    /// The exit code that stands for it.
    pub(crate) fn exit(&self) -> Exit {
        self.0.get().copied().unwrap_or(Exit::Interrupted)
    }

    /// From now on, the first signal stops the run and the second ends the process.
    pub(crate) fn stop(&self, control: Arc<Control>) -> io::Result<()> {
        let (mut signals, first) = (Signals::listen()?, Arc::clone(&self.0));
        tokio::spawn(async move {
            while let Some(exit) = signals.next().await {
                if first.set(exit).is_err() {
                    std::process::exit(exit as i32);
                }
                control.stop(Stop::Interrupted);
                words::say(
                    "interrupted: finishing the scores in flight; interrupt again to stop at once",
                );
            }
        });
        Ok(())
    }
}

/// Ctrl-C, and what `kill`, systemd, Kubernetes and CI send.
#[cfg(unix)]
pub(crate) struct Signals {
    interrupts: tokio::signal::unix::Signal,
    terminations: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupts: signal(SignalKind::interrupt())?,
            terminations: signal(SignalKind::terminate())?,
        })
    }

    pub(crate) async fn next(&mut self) -> Option<Exit> {
        tokio::select! {
            Some(()) = self.interrupts.recv() => Some(Exit::Interrupted),
            Some(()) = self.terminations.recv() => Some(Exit::Terminated),
            else => None,
        }
    }
}

/// Ctrl-C.
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> io::Result<Signals> {
        Ok(Signals)
    }

    pub(crate) async fn next(&mut self) -> Option<Exit> {
        tokio::signal::ctrl_c().await.ok().map(|()| Exit::Interrupted)
    }
}
