//! `scorebox remove`: a scorer out of a suite, and out of its lock if no other suite beside it uses it. Keeps the component.

use std::{
    fs,
    path::{Path, PathBuf},
};

use scorebox::input_file::{self, MOST_CONFIGURATION_BYTES};

use crate::{
    failure::{Exit, Failure},
    lock_file::{LockFile, Turn},
    report::one_line,
    suite_edit::SuiteEdit,
    words,
};

/// Remove a scorer from a suite, and from its `scorebox.lock`
#[derive(Debug, clap::Args)]
pub(crate) struct Remove {
    /// The scorer's name in the suite
    name: String,

    /// The suite file (TOML)
    #[arg(long, value_name = "FILE", default_value = "suite.toml", help_heading = "Suite")]
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
        let address = suite.uses(&self.name).and_then(|uses| uses.strip_prefix("oci://"));
        let address = address.map(str::to_owned);
        suite.remove(&self.name);
        let mut lock = LockFile::beside(&self.suite)?;
        suite.write()?;
        let mut said = format!("Removed `{}` from {shown}", self.name);
        if let Some(address) = address
            && lock.lock.get(&address).is_some()
            && !is_used_beside(&self.suite, &address)?
        {
            lock.lock.remove(&address);
            lock.write()?;
            said += &format!(" and from {}", lock.path().display());
        }
        words::say(&format!("{said}."));
        Ok(Exit::Done)
    }
}

/// Whether a suite file in the folder of `suite`, itself included, still names the address.
fn is_used_beside(suite: &Path, address: &str) -> Result<bool, Failure> {
    let folder = suite.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let unreadable = |error: std::io::Error| {
        Failure::new(format!("cannot read the folder `{}`: {error}", folder.display()))
    };
    for file in fs::read_dir(folder).map_err(unreadable)? {
        let path = file.map_err(unreadable)?.path();
        let is_suite = path.extension().is_some_and(|suffix| suffix == "toml" || suffix == "json");
        // What is no text is no suite.
        let text = is_suite.then(|| input_file::read_text(&path, MOST_CONFIGURATION_BYTES).ok());
        let names_it = |text: String| {
            ['"', '\''].iter().any(|quote| text.contains(&format!("oci://{address}{quote}")))
        };
        if text.flatten().is_some_and(names_it) {
            return Ok(true);
        }
    }
    Ok(false)
}
