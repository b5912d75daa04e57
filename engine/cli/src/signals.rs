//! Handles signals: the first ends a run in good order, the second at once; other commands that ask judges or begin
//! files clean up and end. It does not report what is stored.
//!
//! Programs that pass a signal on often send it twice: `timeout` to the process and to its group, `npm run` and `docker
//! run --init -g` in addition to the terminal. So a signal that is repeated at once is the same request.

use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    thread,
    time::{Duration, Instant},
};

use scorebox::run::{Control, Stop};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::{
    failure::{Exit, Failure},
    report::printable,
    words,
};

/// How long after the first signal a repetition of it is the same request.
const SAME_REQUEST: Duration = Duration::from_millis(500);

/// The first signal that came, if one did.
#[derive(Clone, Default)]
pub(crate) struct Signalled(Arc<OnceLock<Exit>>);

impl Signalled {
    /// Whether a signal came.
    pub(crate) fn came(&self) -> bool {
        self.0.get().is_some()
    }

    /// The exit code for the signal.
    pub(crate) fn exit(&self) -> Exit {
        self.0.get().copied().unwrap_or(Exit::Interrupted)
    }

    /// Starts listening: the first signal stops the run, and the second ends the process.
    pub(crate) fn stop(&self, control: Arc<Control>) -> Result<(), Failure> {
        let (mut signals, first) = (Signals::listen()?, Arc::clone(&self.0));
        tokio::spawn(async move {
            while let Some(exit) = signals.next().await {
                if first.set(exit).is_err() {
                    leave(exit);
                }
                control.stop(Stop::Interrupted);
                words::say(
                    "interrupted: finishing the scores in flight; interrupt again to stop at once",
                );
            }
        });
        Ok(())
    }
}

/// The result of `work`, which may ask judges. A signal before that ends the process and the programs that answer for
/// judges.
pub(crate) async fn unless_signalled<T>(work: impl Future<Output = T>) -> T {
    let Ok(mut signals) = Signals::listen() else { return work.await };
    let signalled = async {
        match signals.next().await {
            Some(exit) => leave(exit),
            None => std::future::pending::<T>().await,
        }
    };
    tokio::select! {
        done = work => done,
        never = signalled => never,
    }
}

/// Removes the files that are not complete, and returns the paths that they would have had.
type Remove = fn() -> Vec<PathBuf>;

/// Starts listening: a signal without other listeners ends the process, and before any signal does so, `remove` is
/// called.
pub(crate) fn leave_nothing_unfinished(remove: Remove) -> io::Result<()> {
    let mut heard = heard();
    heard.remove = remove;
    heard.begin()
}

/// The listeners for requests to end.
static HEARD: Mutex<Heard> =
    Mutex::new(Heard { has_begun: false, by: Vec::new(), remove: Vec::new });

struct Heard {
    /// Whether the thread that listens was started.
    has_begun: bool,
    by: Vec<UnboundedSender<Exit>>,
    /// Runs before a signal ends the process.
    remove: Remove,
}

fn heard() -> MutexGuard<'static, Heard> {
    HEARD.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Heard {
    /// Starts the thread, which listens for the life of the process: from then on a signal does not end the process by
    /// itself, even without listeners.
    fn begin(&mut self) -> io::Result<()> {
        if self.has_begun {
            return Ok(());
        }
        let cannot = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot wait for signals: {error}"))
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(cannot)?;
        let entered = runtime.enter();
        let listening = Listening::begin().map_err(cannot)?;
        drop(entered);
        let hear = move || runtime.block_on(pass_on(listening));
        thread::Builder::new().name("scorebox-signals".into()).spawn(hear).map_err(cannot)?;
        self.has_begun = true;
        Ok(())
    }

    /// Notifies all remaining listeners; returns whether there are any.
    fn tell(&mut self, exit: Exit) -> bool {
        self.by.retain(|by| by.send(exit).is_ok());
        !self.by.is_empty()
    }
}

/// Passes requests on. A request without listeners ends the process.
async fn pass_on(mut listening: Listening) {
    let mut first: Option<(Exit, Instant)> = None;
    while let Some(exit) = listening.next().await {
        let now = Instant::now();
        match first {
            None => first = Some((exit, now)),
            Some((first, came)) if is_the_same_request(first, exit, now - came) => continue,
            Some(_) => {}
        }
        if !heard().tell(exit) {
            let removed = clear();
            if io::stderr().is_terminal() {
                // Begins a new line, after the progress display.
                words::say("");
            }
            words::say(&interrupted(&removed));
            std::process::exit(exit as i32);
        }
    }
}

/// The message that a command ended before these files were complete.
fn interrupted(removed: &[PathBuf]) -> String {
    let names: Vec<String> = removed
        .iter()
        .map(|path| format!("`{}`", printable(&path.display().to_string())))
        .collect();
    match names.len() {
        0 => "Interrupted.".to_owned(),
        1 => format!("Interrupted: {} was not written.", names[0]),
        _ => format!("Interrupted: {} were not written.", names.join(", ")),
    }
}

/// Ends the process at once.
fn leave(exit: Exit) -> ! {
    clear();
    std::process::exit(exit as i32)
}

/// Ends programs and removes files that would outlive the process. Programs that answer for judges have their own
/// process groups, so signals of a terminal do not reach them.
fn clear() -> Vec<PathBuf> {
    scorebox_judges::end_programs();
    let remove = heard().remove;
    remove()
}

/// Receives signals as requests to end. While this exists, signals have no other effect.
pub(crate) struct Signals(UnboundedReceiver<Exit>);

impl Signals {
    pub(crate) fn listen() -> Result<Signals, Failure> {
        let mut heard = heard();
        heard.begin().map_err(|error| Failure::new(error.to_string()))?;
        let (tell, told) = unbounded_channel();
        heard.by.push(tell);
        Ok(Signals(told))
    }

    /// Waits for the next request, and returns its exit code. A signal that only repeats the first one is not a
    /// request.
    pub(crate) async fn next(&mut self) -> Option<Exit> {
        self.0.recv().await
    }

    /// The same for a thread that does nothing else.
    pub(crate) fn wait(&mut self) -> Option<Exit> {
        self.0.blocking_recv()
    }
}

/// Whether a signal that comes `after` this time repeats the first one.
fn is_the_same_request(first: Exit, again: Exit, after: Duration) -> bool {
    first == again && after < SAME_REQUEST
}

/// Ctrl-C; the signal of `kill`, systemd, Kubernetes and CI; and the signal of a terminal or a session that closes.
#[cfg(unix)]
struct Listening {
    interrupts: tokio::signal::unix::Signal,
    terminations: tokio::signal::unix::Signal,
    hangups: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Listening {
    fn begin() -> io::Result<Listening> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Listening {
            interrupts: signal(SignalKind::interrupt())?,
            terminations: signal(SignalKind::terminate())?,
            hangups: match hangups_end_it() {
                true => Some(signal(SignalKind::hangup())?),
                false => None,
            },
        })
    }

    async fn next(&mut self) -> Option<Exit> {
        let hangup = async {
            match &mut self.hangups {
                Some(hangups) => hangups.recv().await,
                None => None,
            }
        };
        tokio::select! {
            Some(()) = self.interrupts.recv() => Some(Exit::Interrupted),
            Some(()) = self.terminations.recv() => Some(Exit::Terminated),
            Some(()) = hangup => Some(Exit::Terminated),
            else => None,
        }
    }
}

/// Whether a hangup should end this process: not if `nohup` or the parent process set it to be ignored, which listening
/// would undo. Only Linux reports that; on other systems, this process does not listen for it.
#[cfg(unix)]
fn hangups_end_it() -> bool {
    const SIGHUP_BIT: u64 = 1;
    let ignored = |status: String| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    };
    let ignored = std::fs::read_to_string("/proc/self/status").ok().and_then(ignored);
    ignored.is_some_and(|mask| mask & SIGHUP_BIT == 0)
}

/// Ctrl-C.
#[cfg(not(unix))]
struct Listening;

#[cfg(not(unix))]
impl Listening {
    fn begin() -> io::Result<Listening> {
        Ok(Listening)
    }

    async fn next(&mut self) -> Option<Exit> {
        tokio::signal::ctrl_c().await.ok().map(|()| Exit::Interrupted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_of_the_same_kind_is_another_request_only_after_a_while() {
        let is_same = |again, milliseconds| {
            is_the_same_request(Exit::Terminated, again, Duration::from_millis(milliseconds))
        };
        for (milliseconds, same) in
            [(0, true), (50, true), (499, true), (500, false), (9000, false)]
        {
            assert_eq!(is_same(Exit::Terminated, milliseconds), same, "{milliseconds}");
            // A user who presses Ctrl-C after a `kill` wants the process to end now.
            assert!(!is_same(Exit::Interrupted, milliseconds), "{milliseconds}");
        }
    }
}
