//! `scorebox remove`: removes a scorer from a suite, and from its lock if no other suite beside it uses the scorer. It
//! keeps the component.

use std::path::PathBuf;

use crate::{
    arguments::{DEFAULT_SUITE, completing},
    failure::{Exit, Failure},
    lock_file::{LockFile, Turn},
    lock_use::Uses,
    report::one_line,
    suite_edit::SuiteEdit,
    suite_entries::SuiteEntries,
    words,
};

/// Remove a scorer from a suite, and from its `scorebox.lock`
#[derive(Debug, clap::Args)]
pub(crate) struct Remove {
    /// The scorer's name in the suite
    #[arg(add = completing::scorers_of_file())]
    name: String,

    /// The suite file (TOML)
    #[arg(long, value_name = "FILE", default_value = DEFAULT_SUITE, help_heading = "Suite")]
    suite: PathBuf,
}

impl Remove {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let _turn = Turn::take(&self.suite);
        let mut suite = SuiteEdit::open(&self.suite)?;
        let shown = suite.path().display().to_string();
        if !suite.has(&self.name) {
            let names = suite.names().join(", ");
            let failure = Failure::new(format!(
                "there is no scorer `{}` in {shown}",
                one_line(&self.name, 80)
            ));
            return Err(match names.as_str() {
                "" => failure,
                names => failure.hint(format!("scorers in it: {names}")),
            });
        }
        let address = SuiteEntries::read(&self.suite)?.published(&self.name);
        suite.remove(&self.name);
        let mut lock = LockFile::beside(&self.suite)?;
        suite.write()?;
        let mut said = format!("Removed `{}` from {shown}", self.name);
        if let Some(address) = address
            && lock.lock.get(&address).is_some()
            && !Uses::beside(&lock, &[&self.suite])?.have(&address)
        {
            lock.lock.remove(&address);
            lock.write()?;
            said += &format!(" and from {}", lock.path().display());
        }
        words::say(&format!("{said}."));
        Ok(Exit::Done)
    }
}
