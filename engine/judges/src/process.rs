//! The processes of a program that is asked: they end together, whatever happens. Knows nothing of questions.

use std::{io, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
};

/// The most bytes that are kept of the end of a program's standard error.
const MOST_ERROR_BYTES: usize = 4 << 10;

/// What a program did.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) output: Vec<u8>,
    /// The end of what it wrote to standard error.
    pub(crate) errors: Vec<u8>,
}

/// Why there is no outcome.
#[derive(Debug)]
pub(crate) enum Unended {
    /// It could not be started, or its outcome not be read.
    Failed(io::Error),
    /// It wrote more than the limit.
    TooMuch,
    /// It took longer than the time-out.
    TimedOut,
}

/// Runs a program with this input and waits until it ends. Its process group ends with it, with the time-out, and when the
/// future is dropped.
pub(crate) async fn run(
    command: &[String],
    input: &[u8],
    most_bytes: usize,
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
    let mut child = command.spawn().map_err(Unended::Failed)?;
    // Dropped before the child is, whose number is its own until then.
    let mut group = Group::of(&child);
    let talking = talk(&mut child, input, most_bytes, &mut group);
    let outcome = tokio::time::timeout(timeout, talking).await;
    outcome.unwrap_or(Err(Unended::TimedOut))
}

async fn talk(
    child: &mut Child,
    input: &[u8],
    most_bytes: usize,
    group: &mut Group,
) -> Result<Ended, Unended> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let writing = async {
        if let Some(mut stdin) = stdin {
            // A program need not read what it is asked.
            let _ = stdin.write_all(input).await;
        }
        Ok(())
    };
    let reading = async {
        match stdout {
            Some(stdout) => read(stdout, most_bytes).await,
            None => Ok(Vec::new()),
        }
    };
    let complaining = async {
        match stderr {
            Some(stderr) => Ok(end(stderr).await),
            None => Ok(Vec::new()),
        }
    };
    let ending = async {
        let status = child.wait().await.map_err(Unended::Failed);
        // What it left behind would keep its output open.
        group.kill();
        status
    };
    let (status, output, errors, ()) = tokio::try_join!(ending, reading, complaining, writing)?;
    Ok(Ended { code: status.code(), output, errors })
}

/// All that comes, if it is not too much.
async fn read(from: impl AsyncRead + Unpin, most_bytes: usize) -> Result<Vec<u8>, Unended> {
    let mut bytes = Vec::new();
    let mut from = from.take(most_bytes as u64 + 1);
    from.read_to_end(&mut bytes).await.map_err(Unended::Failed)?;
    match bytes.len() <= most_bytes {
        true => Ok(bytes),
        false => Err(Unended::TooMuch),
    }
}

/// The last bytes of all that comes.
async fn end(mut from: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut part = [0; MOST_ERROR_BYTES];
    while let Ok(count @ 1..) = from.read(&mut part).await {
        bytes.extend_from_slice(&part[..count]);
        bytes.drain(..bytes.len().saturating_sub(MOST_ERROR_BYTES));
    }
    bytes
}

/// The process group of a program, which is killed when this is dropped.
#[derive(Debug)]
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Group {
    #[cfg(unix)]
    fn of(child: &Child) -> Group {
        let number = child.id().and_then(|number| i32::try_from(number).ok());
        Group { leader: number.and_then(rustix::process::Pid::from_raw) }
    }

    #[cfg(not(unix))]
    fn of(_: &Child) -> Group {
        Group {}
    }

    #[cfg(unix)]
    fn kill(&mut self) {
        if let Some(leader) = self.leader.take() {
            // Fails if all of it has ended. Its number stays taken as long as a process of it lives.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }

    #[cfg(not(unix))]
    fn kill(&mut self) {}
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
