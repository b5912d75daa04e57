//! `scorebox completions`: what a shell needs to complete scorebox's arguments.

use clap::CommandFactory as _;

use crate::{
    failure::{Exit, Failure},
    output,
};

/// Print a shell completion script
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell
    shell: clap_complete::Shell,
}

impl Completions {
    pub fn run(&self) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(
            self.shell,
            &mut super::Arguments::command(),
            "scorebox",
            &mut script,
        );
        output::stdout(|out| out.write_all(&script))?;
        Ok(Exit::Done)
    }
}
