//! A program that is its own compiler process: it is started again, and `main` begins with [`compile_if_asked`]. It
//! does not compile itself; the protocol between parent and child is in `compiler_process`.

use std::{
    env,
    io::{self, Write as _},
    panic,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use crate::advice::Advice;

use super::{
    ErrorKind, ScoreError,
    compiler_process::{
        ASKED, COMPILER_OUT_OF_MEMORY, COMPILER_OUT_OF_TIME, COMPILER_WITHOUT_A_THREAD,
        NotCompiled, compile_for_parent,
    },
};

/// The exit code of a child that has no code to return; it reports why on standard error.
const NO_CODE: i32 = 2;

/// Whether `main` has begun with [`compile_if_asked`].
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Makes a program able to compile in a separate process, which [`Compiler::Child`](super::Compiler::Child) needs: it
/// must be the first call in `main`. It returns at once, except in the process that a sandbox of this program has
/// started to compile: that process compiles a component from standard input, within limits, and exits. It also exits
/// when the process that started it is gone.
///
/// ```no_run
/// use scorebox::sandbox::{Sandbox, SandboxOptions, compile_if_asked};
///
/// fn main() {
///     compile_if_asked();
///     let sandbox = Sandbox::new(&SandboxOptions::default());
///     // …
/// }
/// ```
pub fn compile_if_asked() {
    let Some(asked) = env::var_os(ASKED) else {
        // In a test, `main` begins with another function, and would in the child too.
        let is_main = thread::current().name() == Some("main");
        BEGUN.fetch_or(is_main, Ordering::Relaxed);
        return;
    };
    // The parent has its own message for a parser that panics.
    panic::set_hook(Box::new(|_| {}));
    let asked = asked.to_string_lossy();
    let arguments: Vec<String> = asked.split(' ').map(str::to_owned).collect();
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    // Threads that still compile end with the process.
    process::exit(match compile_for_parent(&arguments, &mut input, &mut output) {
        Ok(()) => 0,
        Err(NotCompiled::OutOfTime) => COMPILER_OUT_OF_TIME,
        Err(NotCompiled::OutOfMemory) => COMPILER_OUT_OF_MEMORY,
        Err(NotCompiled::NoThread(why)) => saying(&why, COMPILER_WITHOUT_A_THREAD),
        Err(NotCompiled::Because(why)) => saying(&why, NO_CODE),
    })
}

/// Reports why, and returns the exit code.
fn saying(why: &str, code: i32) -> i32 {
    // If nobody reads it, nobody waits for it either.
    let _ = io::stderr().write_all(why.as_bytes());
    code
}

/// This program, to be started again.
///
/// # Errors
/// If the started program would not compile, but do its usual work.
pub(super) fn this_program() -> Result<PathBuf, ScoreError> {
    // A process that was asked to compile and still gets here did not begin as it should: its child would not either.
    if !BEGUN.load(Ordering::Relaxed) || env::var_os(ASKED).is_some() {
        return Err(ScoreError::new(
            ErrorKind::Failed,
            "this program cannot be started again to compile scorers: `main` does not begin with \
             `scorebox::sandbox::compile_if_asked`",
        )
        .with(Advice::PrepareCompiler));
    }
    // The running file, even if it was replaced or removed since.
    let running = Path::new("/proc/self/exe");
    if cfg!(target_os = "linux") && running.exists() {
        return Ok(running.to_owned());
    }
    env::current_exe().map_err(|error| {
        let message = format!("cannot find this program's file: {error}");
        ScoreError::new(ErrorKind::Failed, message)
    })
}
