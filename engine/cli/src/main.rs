//! The program `scorebox`: its allocator, and the call of the command line, which is in the library beside it.

use std::{env, process::ExitCode};

use scorebox::{
    build::become_rustc_if_asked,
    sandbox::{Compiler, compile_if_asked},
};

/// Cases and results are made on one thread and dropped on another, which mimalloc does fast.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    compile_if_asked();
    become_rustc_if_asked();
    scorebox_cli::run(env::args_os(), Compiler::Child).into()
}
