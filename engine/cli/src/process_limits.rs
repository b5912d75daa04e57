//! What the system lets this process have, at the beginning of a command: as many open files as it may ask for, and an
//! error instead of a signal where a file may not become larger. Children have the system's own handling of that signal
//! again. Bounds no scorer.

use crate::failure::Failure;

/// Open files that a command works with: a runtime, a database with its log, an input and an output.
#[cfg(unix)]
const FEWEST_FILES: u64 = 24;

/// Open files that are asked for: a suite of a thousand scorers has one or two for each. Not all that there may be, for
/// children inherit it, and some programs close every file that they may have when they begin.
#[cfg(unix)]
const WANTED_FILES: u64 = 1 << 16;

/// Asks for files, and for errors in place of the signal.
///
/// # Errors
/// There may be fewer files than a command works with.
#[cfg(unix)]
pub(crate) fn prepare() -> Result<(), Failure> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(WANTED_FILES, |most| most.min(WANTED_FILES));
    if current.is_some_and(|current| current < wanted) {
        // As many as it has may be enough.
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
/// end the process has a handler, which stays when its runtime is gone. A signal that is ignored would be ignored by
/// children as well.
#[cfg(unix)]
fn outlive_large_files() {
    use rustix::process::Signal;
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return;
    };
    let _entered = runtime.enter();
    // Without it, such a write ends the process.
    let _ = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()));
}
