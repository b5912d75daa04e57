//! Whether a suite whose lock is not up to date is refused. Reads no lock.

use scorebox::suite::Suite;

use crate::{failure::Failure, lock_use};

/// What the locks of a suite must be.
#[derive(Debug, clap::Args)]
pub(crate) struct LockedArguments {
    /// Refuse the suite if its `scorebox.lock` lacks a published scorer, or locks what no suite beside it uses
    #[arg(long, help_heading = "Suite")]
    locked: bool,
}

impl LockedArguments {
    /// Refuses the suite if the user wants its locks to be up to date, and they are not.
    pub(crate) fn check(&self, suite: &Suite) -> Result<(), Failure> {
        match self.locked {
            true => lock_use::must_be_up_to_date(&suite.scorers),
            false => Ok(()),
        }
    }
}
