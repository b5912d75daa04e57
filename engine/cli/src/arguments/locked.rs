//! The option that refuses a suite whose lock is not up to date. The check itself is in `lock_use`.

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
    /// Refuses the suite if the user set the option and its locks are not up to date.
    pub(crate) fn check(&self, suite: &Suite) -> Result<(), Failure> {
        match self.locked {
            true => lock_use::must_be_up_to_date(&suite.scorers),
            false => Ok(()),
        }
    }
}
