//! The processes of a program that is asked: they end together, whatever happens to this process. Knows nothing of
//! questions.

use std::{
    collections::BTreeSet,
    future::pending,
    io,
    pin::pin,
    process::{ExitStatus, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
};

use crate::watcher::Watcher;

/// The most bytes that are kept of the end of a program's standard error.
const MAX_ERROR_BYTES: usize = 4 << 10;

/// How long the output of a program is read after the program has ended. By then everything that it wrote has arrived;
/// only a process that it started, and that left its group, keeps the output open for longer.
const READ_AFTER_END: Duration = Duration::from_millis(100);

/// What a program did.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) output: Vec<u8>,
    /// The end of what it wrote to standard error.
    pub(crate) errors: Vec<u8>,
}

/// Why a program has no outcome.
#[derive(Debug)]
pub(crate) enum Unended {
    /// The program could not be started, or its outcome could not be read.
    Failed(io::Error),
    /// The program wrote more than the limit.
    TooMuch,
    /// The program took longer than the time-out.
    TimedOut,
}

/// The programs that run in this process.
static RUNNING: Mutex<Running> =
    Mutex::new(Running { leaders: BTreeSet::new(), watcher: Watcher::NotStarted, is_over: false });

#[derive(Debug)]
struct Running {
    /// The ids of the process groups.
    leaders: BTreeSet<i32>,
    /// Ends them if this process is killed.
    watcher: Watcher,
    /// Whether they were ended, and none may begin.
    is_over: bool,
}

fn running() -> MutexGuard<'static, Running> {
    // The data behind the lock is consistent after every statement.
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the programs that answer questions, and prevents more from beginning. For a process that exits without dropping
/// its calls, which get no answer from here on. Outside Unix it only prevents more from beginning.
pub fn end_programs() {
    let mut running = running();
    running.is_over = true;
    for leader in std::mem::take(&mut running.leaders) {
        kill(leader);
        running.watcher.end(leader);
    }
}

/// Kills a process group.
#[cfg(unix)]
fn kill(leader: i32) {
    if let Some(leader) = rustix::process::Pid::from_raw(leader) {
        // This fails if the whole group has ended. The id stays in use as long as a process of the group lives.
        let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill(_: i32) {}

/// Runs a program with this input and waits until it ends, but not for processes that left its group and keep its
/// output open. The group ends with the program, at the time-out, and when the future is dropped.
pub(crate) async fn run(
    command: &[String],
    input: &[u8],
    max_bytes: usize,
    timeout: Duration,
) -> Result<Ended, Unended> {
    let [program, arguments @ ..] = command else {
        return Err(Unended::Failed(io::ErrorKind::NotFound.into()));
    };
    let mut command = Command::new(program);
    command.args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let (mut child, mut group) = begin(&mut command)?;
    let talking = talk(&mut child, input, max_bytes, &mut group);
    let outcome = tokio::time::timeout(timeout, talking).await;
    if running().is_over {
        // The program was killed by `end_programs`, so its end is no answer to the question.
        pending::<()>().await;
    }
    outcome.unwrap_or(Err(Unended::TimedOut))
}

/// Starts a program. The group must be dropped before the child, because the id belongs to it only until the child is
/// waited for.
fn begin(command: &mut Command) -> Result<(Child, Group), Unended> {
    // The lock is held until the program is recorded; otherwise it could begin after all others were ended.
    let mut running = running();
    if running.is_over {
        return Err(Unended::Failed(io::ErrorKind::Interrupted.into()));
    }
    let child = command.spawn().map_err(Unended::Failed)?;
    let leader = child.id().and_then(|number| i32::try_from(number).ok());
    if let Some(leader) = leader {
        running.leaders.insert(leader);
        running.watcher.begin(leader);
    }
    Ok((child, Group { leader }))
}

async fn talk(
    child: &mut Child,
    input: &[u8],
    max_bytes: usize,
    group: &mut Group,
) -> Result<Ended, Unended> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let writing = async {
        if let Some(mut stdin) = stdin {
            // A program may end without reading its input.
            let _ = stdin.write_all(input).await;
        }
        Ok(())
    };
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let reading = async {
        match stdout {
            Some(stdout) => read(stdout, max_bytes, &mut output).await,
            None => Ok(()),
        }
    };
    let complaining = async {
        if let Some(stderr) = stderr {
            end(stderr, &mut errors).await;
        }
        Ok(())
    };
    let exchanging = async { tokio::try_join!(reading, complaining, writing).map(drop) };
    let ending = async {
        has_ended(child).await.map_err(Unended::Failed)?;
        // Processes that it left behind would keep its output open. The id belongs to the group until the child is
        // waited for.
        group.kill();
        child.wait().await.map_err(Unended::Failed)
    };
    let status = ended_with(ending, exchanging).await?;
    Ok(Ended { code: status.code(), output, errors })
}

/// Waits until a program has ended, but does not reap it, so that no other process gets its id until then.
#[cfg(unix)]
async fn has_ended(child: &Child) -> io::Result<()> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    use tokio::signal::unix::{SignalKind, signal};

    let number = child.id().and_then(|number| Pid::from_raw(i32::try_from(number).ok()?));
    let Some(number) = number else { return Ok(()) };
    // This is before the first check, so that a signal reports any end after it.
    let mut ends = signal(SignalKind::child())?;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while let Ok(None) = waitid(WaitId::Pid(number), options) {
        ends.recv().await;
    }
    // The program has ended, or cannot be waited for; in that case the caller's wait reports the better error.
    Ok(())
}

/// Outside Unix there is no group that must be killed first.
#[cfg(not(unix))]
async fn has_ended(_: &Child) -> io::Result<()> {
    Ok(())
}

/// How a program ended, after everything that it wrote was read.
async fn ended_with(
    ending: impl Future<Output = Result<ExitStatus, Unended>>,
    exchanging: impl Future<Output = Result<(), Unended>>,
) -> Result<ExitStatus, Unended> {
    let (mut ending, mut exchanging) = (pin!(ending), pin!(exchanging));
    tokio::select! {
        exchanged = &mut exchanging => {
            exchanged?;
            ending.await
        }
        status = &mut ending => {
            let exchanged = tokio::time::timeout(READ_AFTER_END, exchanging).await;
            exchanged.unwrap_or(Ok(()))?;
            status
        }
    }
}

/// Reads everything, up to the limit.
async fn read(
    from: impl AsyncRead + Unpin,
    max_bytes: usize,
    bytes: &mut Vec<u8>,
) -> Result<(), Unended> {
    let mut from = from.take(max_bytes as u64 + 1);
    // What was read stays in `bytes` if this future is dropped.
    while from.read_buf(bytes).await.map_err(Unended::Failed)? > 0 {}
    match bytes.len() <= max_bytes {
        true => Ok(()),
        false => Err(Unended::TooMuch),
    }
}

/// Reads everything, and keeps the last bytes.
async fn end(mut from: impl AsyncRead + Unpin, bytes: &mut Vec<u8>) {
    let mut part = [0; MAX_ERROR_BYTES];
    while let Ok(count @ 1..) = from.read(&mut part).await {
        bytes.extend_from_slice(&part[..count]);
        bytes.drain(..bytes.len().saturating_sub(MAX_ERROR_BYTES));
    }
}

/// The process group of a program, which is killed when this is dropped.
#[derive(Debug)]
struct Group {
    leader: Option<i32>,
}

impl Group {
    fn kill(&mut self) {
        let Some(leader) = self.leader.take() else { return };
        // Those that were ended already are not among them, and their numbers may be others'.
        let mut running = running();
        if running.leaders.remove(&leader) {
            kill(leader);
            running.watcher.end(leader);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[tokio::test]
    async fn a_program_that_has_ended_keeps_its_number_until_it_is_waited_for() {
        let mut child = Command::new("sh").args(["-c", "exit 3"]).spawn().unwrap();
        let known = PathBuf::from(format!("/proc/{}", child.id().unwrap()));
        has_ended(&child).await.unwrap();
        assert!(known.exists());
        assert_eq!(child.wait().await.unwrap().code(), Some(3));
        assert!(!known.exists());
    }
}
