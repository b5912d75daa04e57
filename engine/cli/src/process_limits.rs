//! Adjusts the system's limits for this process at the start of a command: it raises the limit on open files, and makes
//! a write beyond the largest file size an error instead of a signal. Children get the default handling of that signal.
//! It limits no scorer.

use crate::failure::Failure;

/// The open files that a command needs: a runtime, a database with its log, an input and an output.
#[cfg(unix)]
const FEWEST_FILES: u64 = 24;

/// The limit on open files that is requested: a suite of a thousand scorers needs one or two for each. Not the maximum,
/// because children inherit the limit, and some programs close every possible file when they start.
#[cfg(unix)]
const WANTED_FILES: u64 = 1 << 16;

/// Raises the limit on open files, and replaces the signal with an error.
///
/// # Errors
/// If the limit on open files is lower than what a command needs.
#[cfg(unix)]
pub(crate) fn prepare() -> Result<(), Failure> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(WANTED_FILES, |most| most.min(WANTED_FILES));
    if current.is_some_and(|current| current < wanted) {
        // If this fails, the current limit may still be enough.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
    match getrlimit(Resource::Nofile).current {
        Some(most) if most < FEWEST_FILES => Err(Failure::new(format!(
            "this process may have {most} open files, and scorebox needs {FEWEST_FILES} at least"
        ))
        .hint("raise the limit: `ulimit -n`")),
        _ => {
            outlive_large_files();
            Ok(())
        }
    }
}

#[cfg(not(unix))]
pub(crate) fn prepare() -> Result<(), Failure> {
    Ok(())
}

/// From now on a write beyond the largest size of a file (`ulimit -f`) fails, as on a full disk: the signal that would
/// end the process gets a handler, which stays after its runtime is dropped. Ignoring the signal would make children
/// ignore it as well.
#[cfg(unix)]
fn outlive_large_files() {
    use rustix::process::Signal;
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return;
    };
    let _entered = runtime.enter();
    // If this fails, such a write ends the process.
    let _ = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()));
}
