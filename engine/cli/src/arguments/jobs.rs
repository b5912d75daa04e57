//! How much runs at once. Starts no thread but the runtime's.

use std::thread;

use crate::failure::Failure;

/// How many scores are computed at once.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Sandbox")]
pub(crate) struct JobArguments {
    /// Scores to compute at once [default: the number of cores]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

impl JobArguments {
    /// What was asked for, or the number of cores.
    pub(crate) fn count(&self) -> usize {
        self.jobs.map_or_else(cores, usize::from)
    }

    /// A runtime that computes so many scores at once.
    pub(crate) fn runtime(&self) -> Result<tokio::runtime::Runtime, Failure> {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(self.count().min(cores()))
            .enable_all()
            .build()
            .map_err(|error| Failure::new(format!("cannot start: {error}")))
    }
}

/// The cores that this process may use.
fn cores() -> usize {
    thread::available_parallelism().map_or(1, Into::into)
}
