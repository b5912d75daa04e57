//! `scorebox completions`: prints the script that makes a shell ask this program for completions.
//! `arguments::completing` has the answers.

use crate::{
    arguments::completing,
    failure::{Exit, Failure},
    output,
};

/// Print a shell completion script
///
/// The script makes the shell ask scorebox itself, so that it knows the built-in
/// scorers, the runs in the database and the scorers of the suite. For bash, add
/// this line to ~/.bashrc; docs/commands.md has the line for each shell:
///
///   source <(scorebox completions bash)
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Completions {
    /// The shell
    shell: clap_complete::Shell,
}

impl Completions {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let shells = completing::shells();
        let name = self.shell.to_string();
        let Some(shell) = shells.completer(&name) else {
            return Err(Failure::new(format!("there is no script for {name}")));
        };
        let mut script = Vec::new();
        shell
            .write_registration(
                completing::VARIABLE,
                "scorebox",
                "scorebox",
                "scorebox",
                &mut script,
            )
            .map_err(|error| Failure::new(format!("cannot write the script: {error}")))?;
        output::stdout(|out| out.write_all(&script))?;
        Ok(Exit::Done)
    }
}
