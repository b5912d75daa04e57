//! The command line of scorebox: turns arguments into calls of the library, and what comes back into
//! words, colours and exit codes. Knows no wasmtime and no SQL.
//!
//! - `command`: one file per command.
//! - `scorer_arguments`: what several commands let a user say about a scorer.
//! - `capabilities`: what several commands let a user name for scorers to look at.
//! - `input`: text that a user names, a file or standard input.
//! - `stored`: what several commands let a user say about stored scores.
//! - `setup`: the sandbox and its cache folder, from global options and the environment.
//! - `report`: from data to text, safe for a terminal; pure functions.
//! - `output`: data to standard output, in the format that was asked for.
//! - `words`: words to standard error: errors, hints, warnings.
//! - `failure`: why a command ends, and its exit code.

mod capabilities;
mod command;
mod failure;
mod input;
mod output;
mod report;
mod scorer_arguments;
mod setup;
mod stored;
mod words;

use std::{panic, process::ExitCode, thread};

use clap::Parser as _;
use scorebox::sandbox::PARSERS_NAME;

use command::Arguments;

/// Cases and results are made on one thread and dropped on another, which mimalloc is quick at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    keep_parsers_quiet();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return words::usage(&error),
    };
    arguments.color.write_global();
    match arguments.command.run(&arguments.global) {
        Ok(exit) => exit.into(),
        Err(failure) => words::failure(&failure).into(),
    }
}

/// A parser that panics of what a stranger wrote is told in other words, or does not matter.
fn keep_parsers_quiet() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panicked| {
        if thread::current().name() != Some(PARSERS_NAME) {
            usual(panicked);
        }
    }));
}
