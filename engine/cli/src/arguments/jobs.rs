//! How many scores are computed at once, and the runtime for them. It keeps no other threads.

use std::{sync::Mutex, thread};

use crate::{failure::Failure, report::counted};

/// How many scores are computed at once.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Sandbox")]
pub(crate) struct JobArguments {
    /// Scores to compute at once [default: the number of cores]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

impl JobArguments {
    /// The requested number, or the number of cores.
    pub(crate) fn count(&self) -> usize {
        self.jobs.map_or_else(cores, usize::from)
    }

    /// A runtime that computes this many scores at once.
    pub(crate) fn runtime(&self) -> Result<tokio::runtime::Runtime, Failure> {
        let threads = self.count().min(cores());
        must_have_threads(threads)?;
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .enable_all()
            .build()
            .map_err(|error| Failure::new(format!("cannot start: {error}")))
    }
}

/// Refuses a number for which the system lacks threads: tokio panics if it cannot start one.
fn must_have_threads(count: usize) -> Result<(), Failure> {
    let (gate, wait) = (Mutex::new(()), thread::Builder::new);
    let closed = gate.lock();
    let started = thread::scope(|scope| {
        // All threads exist at once: none ends before the gate opens.
        let _closed = closed;
        (0..count).try_for_each(|_| wait().spawn_scoped(scope, || drop(gate.lock())).map(drop))
    });
    started.map_err(|error| {
        let threads = counted(count as u64, "thread", "threads");
        Failure::new(format!("cannot start {threads}: {error}")).hint(
            "raise the limit on threads (`ulimit -u`, or that of the container), or compute fewer scores at once: --jobs 1",
        )
    })
}

/// The cores that this process may use.
fn cores() -> usize {
    thread::available_parallelism().map_or(1, Into::into)
}
