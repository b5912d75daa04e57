//! The hidden command that compiles one component for another process of this program, which can end
//! it. Not for people.

use std::io;

use scorebox::sandbox::{COMPILER_OUT_OF_TIME, NotCompiled, compile_for_parent};

use crate::failure::{Exit, Failure};

/// Compile a component from standard input to standard output, within limits
#[derive(Debug, clap::Args)]
pub struct Compile {
    /// What the parent asks for
    arguments: Vec<String>,
}

impl Compile {
    pub fn run(&self) -> Result<Exit, Failure> {
        let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
        match compile_for_parent(&self.arguments, &mut input, &mut output) {
            Ok(()) => Ok(Exit::Done),
            // Threads that still compile end with the process.
            Err(NotCompiled::OutOfTime) => std::process::exit(COMPILER_OUT_OF_TIME),
            Err(NotCompiled::Because(why)) => {
                // The parent reads this and words it.
                crate::words::raw(&why);
                Ok(Exit::BadInput)
            }
        }
    }
}
