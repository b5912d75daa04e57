//! The command line of scorebox: turns arguments into calls of the library, and what comes back into
//! words, colours and exit codes. Knows no wasmtime and no SQL.
//!
//! - `command`: one file per command.
//! - `arguments`: what several commands let a user say.
//! - `input`: text that a user names, a file or standard input.
//! - `setup`: the sandbox and its cache folder, from options and the environment.
//! - `signals`: what ends a run early.
//! - `report`: from data to text, safe for a terminal; pure functions.
//! - `output`: data to standard output, in the format that was asked for.
//! - `decision`: the verdict of a stored run and the requirements that it breaks.
//! - `scaffold`: the files of a new scorer.
//! - `waiting`: what a user at a terminal sees while they wait.
//! - `words`: words to standard error: errors, hints, warnings.
//! - `migration`: a configuration of promptfoo to a suite.
//! - `new_file`: a file that is written whole or not at all.
//! - `failure`: why a command ends, and its exit code.
//! - `advice`: what to do about an error, in the words of the command line.
//! - `answered`: what a scorer says about one case, as data and in words.

mod advice;
mod answered;
mod arguments;
mod command;
mod decision;
mod failure;
mod input;
mod migration;
mod new_file;
mod output;
mod python_engine;
mod report;
mod scaffold;
mod setup;
mod signals;
mod waiting;
mod words;

use std::{panic, process::ExitCode, thread};

use clap::{CommandFactory as _, Parser as _};
use clap_complete::CompleteEnv;
use scorebox::sandbox::{PARSERS_NAME, compile_if_asked};
use scorebox_readers::READERS_NAME;

use arguments::completing;
use command::Arguments;

/// Cases and results are made on one thread and dropped on another, which mimalloc is quick at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    compile_if_asked();
    keep_parsers_quiet();
    CompleteEnv::with_factory(Arguments::command).var(completing::VARIABLE).complete();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return words::usage(&error),
    };
    arguments.color.write_global();
    match arguments.command.run() {
        Ok(exit) => exit.into(),
        Err(failure) => words::failure(&failure).into(),
    }
}

/// Silences panics on parser threads: their callers report those failures themselves.
fn keep_parsers_quiet() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panicked| {
        let of_parsers = [Some(PARSERS_NAME), Some(READERS_NAME)];
        if !of_parsers.contains(&thread::current().name()) {
            usual(panicked);
        }
    }));
}
