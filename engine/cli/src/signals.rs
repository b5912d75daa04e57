//! Signals that end a run, the first in good order, the second at once, or another command that asks judges. Says nothing of
//! what is stored.

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
                    leave(exit);
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

/// What `work` gives, which may ask judges. A signal before that ends the process, and the programs that answer.
pub(crate) async fn unless_signalled<T>(work: impl Future<Output = T>) -> T {
    let Ok(mut signals) = Signals::listen() else { return work.await };
    let signalled = async {
        match signals.next().await {
            Some(exit) => leave(exit),
            None => std::future::pending::<T>().await,
        }
    };
    tokio::select! {
        done = work => done,
        never = signalled => never,
    }
}

/// Ends the process at once. Programs that answer for judges have process groups of their own, so no signal of a terminal
/// reaches them.
fn leave(exit: Exit) -> ! {
    scorebox_judges::end_programs();
    std::process::exit(exit as i32)
}

/// Ctrl-C, what `kill`, systemd, Kubernetes and CI send, and what a terminal or a session sends that closes.
#[cfg(unix)]
pub(crate) struct Signals {
    interrupts: tokio::signal::unix::Signal,
    terminations: tokio::signal::unix::Signal,
    hangups: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupts: signal(SignalKind::interrupt())?,
            terminations: signal(SignalKind::terminate())?,
            hangups: match hangups_end_it() {
                true => Some(signal(SignalKind::hangup())?),
                false => None,
            },
        })
    }

    pub(crate) async fn next(&mut self) -> Option<Exit> {
        let hangup = async {
            match &mut self.hangups {
                Some(hangups) => hangups.recv().await,
                None => None,
            }
        };
        tokio::select! {
            Some(()) = self.interrupts.recv() => Some(Exit::Interrupted),
            Some(()) = self.terminations.recv() => Some(Exit::Terminated),
            Some(()) = hangup => Some(Exit::Terminated),
            else => None,
        }
    }
}

/// Whether a hangup ends this process: not if `nohup` or who started it said that it is to be ignored, which listening would
/// undo. Only Linux says so; elsewhere, the system does what it was told.
#[cfg(unix)]
fn hangups_end_it() -> bool {
    const SIGHUP_BIT: u64 = 1;
    let ignored = |status: String| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    };
    let ignored = std::fs::read_to_string("/proc/self/status").ok().and_then(ignored);
    ignored.is_some_and(|mask| mask & SIGHUP_BIT == 0)
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
