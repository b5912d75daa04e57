//! Compiling in a separate process: the parent's side, which starts it and reads its answer, and the child's side,
//! which bounds itself. It knows no scorers.
//!
//! The child checks its own processor time, so that a busy machine does not make a component too slow. Its answer is
//! the processor time that it used, as microseconds in eight bytes (little-endian), and the compiled code, in parts
//! after their lengths (`code`). The parent parses nothing that a stranger wrote.

use std::{
    hint::black_box,
    io::{self, Read, Write},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    process::{ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::Command,
    time::timeout,
};
use wasmtime::{Config, Engine};

use crate::{advice::Advice, digest::Digest};

use super::{
    ErrorKind, ScoreError,
    code::{self, Way},
    compile_limits::{self, COMPLAINT_BYTES, CompileBudget, CompileError, CompileLimits},
    parser_thread::{PARSERS_NAME, panicked_without_threads},
    phrases,
    settings::{self, Allocation, Traps},
};

/// The environment variable with which a parent passes its request to the child.
pub(super) const ASKED: &str = "SCOREBOX_COMPILE_FOR_PARENT";
/// The most bytes of compiled code that are read from a compiler process.
const CODE_BYTES: u64 = 2 << 30;
/// The size of the processor time before the code, in bytes.
const TIME_BYTES: usize = 8;
/// The stack of the thread that compiles for another process, in bytes. It is smaller than that of the parent's
/// parsers, so that the parent can parse what the child could.
const CHILD_STACK_BYTES: usize = 16 << 20;
/// How often the child checks its processor time.
const LOOK: Duration = Duration::from_millis(20);
/// The parent waits this many times as long as the processor time that is left, and [`PATIENCE`] more: only a process
/// that does nothing takes longer.
const WALL_FACTOR: u32 = 20;
const PATIENCE: Duration = Duration::from_secs(10);

/// The prefix of the digest of a shell that is compiled already.
const BESIDE: &str = "beside:";

/// The exit code of a compiler process that used up its processor time.
pub(super) const COMPILER_OUT_OF_TIME: i32 = 75;

/// The exit code of a compiler process without memory for the stack of a thread.
pub(super) const COMPILER_OUT_OF_MEMORY: i32 = 70;

/// The exit code of a compiler process that could not start a thread for another reason.
pub(super) const COMPILER_WITHOUT_A_THREAD: i32 = 71;

/// Makes `command` compile; `code` reads the result. Dropping the future kills the process.
pub(super) async fn compile(
    mut command: Command,
    settings: (&Allocation, Traps),
    (bytes, way, beside): (&[u8], Way, Option<Digest>),
    limits: &CompileLimits,
    budget: &CompileBudget,
) -> Result<Vec<u8>, CompileError> {
    let left = budget.left();
    if left.is_zero() {
        return Err(compile_limits::out_of_processor_time(limits));
    }
    command.env(ASKED, arguments_for(settings, (way, beside), limits, left).join(" "));
    let longest = left.saturating_mul(WALL_FACTOR).saturating_add(PATIENCE);
    let Ok(answered) = timeout(longest, answer(command, bytes)).await else {
        return Err(stuck(longest));
    };
    let Answer { status, mut output, complaint } = answered.map_err(broken)?;
    match status.code() {
        Some(0) => {
            let time = output.first_chunk().ok_or_else(|| broken(cut_off()))?;
            budget.spend(Duration::from_micros(u64::from_le_bytes(*time)));
            output.drain(..TIME_BYTES);
            Ok(output)
        }
        Some(COMPILER_OUT_OF_TIME) => Err(compile_limits::out_of_processor_time(limits)),
        Some(COMPILER_OUT_OF_MEMORY) => Err(compile_limits::too_large(limits)),
        Some(COMPILER_WITHOUT_A_THREAD) => Err(compile_limits::no_thread(complaint.trim())),
        Some(_) => Err(compile_limits::does_not_compile(complaint.trim())),
        None if ended_by_the_clock(status) => Err(compile_limits::out_of_processor_time(limits)),
        None if complaint.contains(phrases::OUT_OF_MEMORY) => {
            Err(compile_limits::too_large(limits))
        }
        None if complaint.contains(phrases::OUT_OF_STACK) || ended_by_the_stack(status) => {
            Err(compile_limits::does_not_compile("it is nested too deep"))
        }
        // The signals that end processes here do not exist elsewhere.
        None => Err(ended_from_outside(status)),
    }
}

/// The outcome of a compiler process.
struct Answer {
    status: ExitStatus,
    output: Vec<u8>,
    /// What it wrote to standard error.
    complaint: String,
}

async fn answer(mut command: Command, bytes: &[u8]) -> io::Result<Answer> {
    // Memory is committed only when it is used, so that a limit applies to what is really used.
    command.env("MIMALLOC_ARENA_EAGER_COMMIT", "0");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let (Some(mut stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(cut_off());
    };
    let (mut output, mut complaint) = (Vec::new(), Vec::new());
    let mut stdout = stdout.take(CODE_BYTES + TIME_BYTES as u64);
    let mut stderr = stderr.take(COMPLAINT_BYTES);
    let hear = async {
        let heard = stderr.read_to_end(&mut complaint).await;
        // Drain the rest, so that the process does not block on a full pipe.
        heard.and(tokio::io::copy(&mut stderr.into_inner(), &mut tokio::io::sink()).await)
    };
    let feed = async move {
        // A process that ends early reports why in its own way.
        let _ = stdin.write_all(bytes).await;
    };
    let (_, read, heard) = tokio::join!(feed, stdout.read_to_end(&mut output), hear);
    read.and(heard.map(drop).map(|()| 0))?;
    let status = child.wait().await?;
    Ok(Answer { status, output, complaint: String::from_utf8_lossy(&complaint).into_owned() })
}

fn cut_off() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

pub(super) fn broken(error: io::Error) -> CompileError {
    failed(format!("the compiler process failed: {error}"))
}

pub(super) fn failed(message: String) -> CompileError {
    CompileError::OfTheMachine(ScoreError::new(ErrorKind::Failed, message))
}

/// A machine that is short of memory ends processes like this.
fn ended_from_outside(status: ExitStatus) -> CompileError {
    let message = format!("the compiler's process was ended by {status}");
    let error = ScoreError::new(ErrorKind::Failed, message);
    CompileError::OfTheMachine(error.with(Advice::TryLater))
}

fn stuck(longest: Duration) -> CompileError {
    let longest = longest.as_millis();
    let message = format!("the compiler's process gave no answer within {longest} ms");
    let error = ScoreError::new(ErrorKind::Failed, message);
    CompileError::OfTheMachine(error.with(Advice::TryLater))
}

/// The five arguments of [`compile_for_parent`].
fn arguments_for(
    (allocation, traps): (&Allocation, Traps),
    (way, beside): (Way, Option<Digest>),
    limits: &CompileLimits,
    left: Duration,
) -> [String; 5] {
    let allocation = match allocation {
        Allocation::Pooling => "pooling",
        Allocation::OnDemand { .. } => "on-demand",
    };
    let traps = match traps {
        Traps::Signals => "signals",
        Traps::Checks => "checks",
    };
    let way = match (way, beside) {
        (Way::Apart, Some(shell)) => format!("{BESIDE}{shell}"),
        (Way::Apart, None) => "apart".to_owned(),
        (Way::Whole, _) => "whole".to_owned(),
    };
    let (bytes, milliseconds) = (limits.memory_bytes.to_string(), left.as_millis().to_string());
    [allocation.to_owned(), traps.to_owned(), way, bytes, milliseconds]
}

/// Why a compiler process has no code for its parent.
#[derive(Debug, PartialEq)]
pub(super) enum NotCompiled {
    /// It has no memory for the stack of a thread: the process must end with [`COMPILER_OUT_OF_MEMORY`].
    OutOfMemory,
    /// It could not start a thread, for this reason: the process must end with [`COMPILER_WITHOUT_A_THREAD`].
    NoThread(String),
    /// Its processor time is used up: the process must end with [`COMPILER_OUT_OF_TIME`].
    OutOfTime,
    /// Another reason, for the parent to read from standard error; the process must end with another code that is not
    /// 0.
    Because(String),
}

impl From<String> for NotCompiled {
    fn from(why: String) -> NotCompiled {
        NotCompiled::Because(why)
    }
}

/// The child's side: bounds this process, reads a component from `input` and writes the processor time that it used and
/// the compiled code to `output`. `arguments` is the parent's request: how memory is allocated, how traps are detected,
/// whether code is compiled separately from state and which code exists already, the most bytes of memory, and the most
/// milliseconds of processor time.
///
/// # Errors
/// Why there is no code. If the time is used up, the process still compiles, and must exit at once.
pub(super) fn compile_for_parent(
    arguments: &[String],
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> Result<(), NotCompiled> {
    let started = Instant::now();
    let [allocation, traps, way, memory_bytes, milliseconds] = arguments else {
        return Err("a compiler's process takes five arguments".to_owned().into());
    };
    let traps = match traps.as_str() {
        "signals" => Traps::Signals,
        "checks" => Traps::Checks,
        other => return Err(format!("there is no way `{other}` to notice traps").into()),
    };
    let (way, beside) = match way.as_str() {
        "apart" => (Way::Apart, None),
        "whole" => (Way::Whole, None),
        other => {
            let shell = other.strip_prefix(BESIDE).and_then(|shell| shell.parse().ok());
            let unknown = || format!("there is no way `{other}` to compile");
            (Way::Apart, Some(shell.ok_or_else(unknown)?))
        }
    };
    let number = |text: &str| text.parse::<u64>().map_err(|error| format!("`{text}`: {error}"));
    let most = Duration::from_millis(number(milliseconds)?);
    bound_this_process(number(memory_bytes)?, most)?;
    let config = match allocation.as_str() {
        "pooling" => settings::common(traps),
        "on-demand" => settings::on_demand(traps),
        other => return Err(format!("there is no allocation `{other}`").into()),
    };
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(|error| match error.kind() {
        io::ErrorKind::OutOfMemory => NotCompiled::OutOfMemory,
        _ => NotCompiled::Because(error.to_string()),
    })?;
    let (sender, compiled) = channel();
    let thread = std::thread::Builder::new().name(PARSERS_NAME.into());
    let compiling = thread.stack_size(CHILD_STACK_BYTES).spawn(move || {
        // The receiver is gone if the time was over.
        let _ = sender.send(compile_on_threads(config, &bytes, way, beside));
    });
    // A thread needs more than its stack, and this process may have had too little memory for that.
    compiling.map_err(|error| match has_room_for(2 * CHILD_STACK_BYTES) {
        true => NotCompiled::NoThread(error.to_string()),
        false => NotCompiled::OutOfMemory,
    })?;
    // If the parent is gone, nothing else ends this process, so this treats its time as used up.
    let clock = || if parent_is_gone() { Duration::MAX } else { processor_time(started) };
    let code = within(most, &compiled, clock)??;
    let time = u64::try_from(processor_time(started).as_micros()).unwrap_or(u64::MAX);
    let written = output.write_all(&time.to_le_bytes()).and_then(|()| output.write_all(&code));
    Ok(written.and_then(|()| output.flush()).map_err(|error| error.to_string())?)
}

/// Compiles on as many threads as wasmtime chooses; on this one alone if wasmtime gets none. The code is the same.
fn compile_on_threads(
    mut config: Config,
    bytes: &[u8],
    way: Way,
    beside: Option<Digest>,
) -> Result<Vec<u8>, String> {
    let compile = |config: &Config| {
        let engine = Engine::new(config).map_err(|error| format!("{error:#}"))?;
        code::compile(&engine, bytes, way, beside)
    };
    match catch_unwind(AssertUnwindSafe(|| compile(&config))) {
        Ok(compiled) => compiled,
        Err(panicked) if panicked_without_threads(&*panicked) => {
            compile(config.parallel_compilation(false))
        }
        Err(panicked) => resume_unwind(panicked),
    }
}

/// Whether memory for this many bytes is available. A thread that cannot start has the same error whether memory or
/// something else is missing.
fn has_room_for(bytes: usize) -> bool {
    let mut room = Vec::<u8>::new();
    // Without `black_box`, the compiler may remove an allocation that is not used.
    black_box(&mut room).try_reserve_exact(bytes).is_ok() && black_box(&room).capacity() > 0
}

/// Whether standard output is no longer read.
#[cfg(unix)]
fn parent_is_gone() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = io::stdout();
    let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let polled = poll(&mut watched, Some(&at_once)).is_ok();
    polled && watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Here the process notices only when it writes.
#[cfg(not(unix))]
fn parent_is_gone() -> bool {
    false
}

/// What arrives on `channel` while the clock shows at most `most`.
fn within<T>(
    most: Duration,
    channel: &Receiver<T>,
    clock: impl Fn() -> Duration,
) -> Result<T, NotCompiled> {
    loop {
        match channel.recv_timeout(LOOK) {
            Ok(received) if clock() <= most => return Ok(received),
            Err(RecvTimeoutError::Disconnected) => {
                return Err("the compiler panicked".to_owned().into());
            }
            Err(RecvTimeoutError::Timeout) if clock() <= most => {}
            Ok(_) | Err(RecvTimeoutError::Timeout) => return Err(NotCompiled::OutOfTime),
        }
    }
}

/// The processor time of all threads of this process.
#[cfg(unix)]
fn processor_time(_started: Instant) -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    // Processor time is not negative.
    Duration::try_from(time).unwrap_or_default()
}

/// Without a clock for processor time, the time since the process began.
#[cfg(not(unix))]
fn processor_time(started: Instant) -> Duration {
    started.elapsed()
}

/// Bounds the process for the case that it no longer checks its time, or that its parent is gone.
#[cfg(unix)]
fn bound_this_process(memory_bytes: u64, most: Duration) -> Result<(), String> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let bound = |resource, most: u64, latest: u64| {
        let limit = Rlimit { current: Some(most), maximum: Some(latest) };
        setrlimit(resource, limit).map_err(|error| format!("cannot set a limit: {error}"))
    };
    // The signal at the soft limit says which limit it was; the kernel counts whole seconds.
    let seconds = most.as_secs().saturating_add(2);
    bound(Resource::Data, memory_bytes, memory_bytes)?;
    bound(Resource::Cpu, seconds, seconds.saturating_add(1))?;
    bound(Resource::Core, 0, 0)
}

#[cfg(not(unix))]
fn bound_this_process(_memory_bytes: u64, _most: Duration) -> Result<(), String> {
    // Only the time is bounded on these systems.
    Ok(())
}

/// Whether the operating system ended a process because of its processor time.
#[cfg(unix)]
fn ended_by_the_clock(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal() == Some(rustix::process::Signal::XCPU.as_raw())
}

/// Whether a thread overflowed its stack in a process without Rust's handler that reports it: an interpreter's process
/// did not start as Rust's do. The compiler's own code has no other invalid access.
#[cfg(unix)]
fn ended_by_the_stack(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal() == Some(rustix::process::Signal::SEGV.as_raw())
}

#[cfg(not(unix))]
fn ended_by_the_stack(_status: ExitStatus) -> bool {
    false
}

#[cfg(not(unix))]
fn ended_by_the_clock(_status: ExitStatus) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_ends_when_its_own_clock_is_over_and_not_before() {
        let (sender, channel) = channel::<()>();
        let looks = std::cell::Cell::new(0);
        let clock = || {
            looks.set(looks.get() + 1);
            Duration::from_millis(looks.get())
        };
        let ended = within(Duration::from_millis(3), &channel, clock);
        assert_eq!((ended, looks.get()), (Err(NotCompiled::OutOfTime), 4));
        drop(sender);
        let panicked = within(Duration::ZERO, &channel, || Duration::ZERO);
        assert_eq!(panicked, Err(NotCompiled::Because("the compiler panicked".into())));
    }

    #[test]
    fn code_is_taken_within_the_limit_and_not_after_it() {
        let (sender, channel) = channel();
        let limit = Duration::from_millis(3);
        sender.send("code").unwrap();
        assert_eq!(within(limit, &channel, || limit), Ok("code"));
        sender.send("code").unwrap();
        let later = || limit + Duration::from_nanos(1);
        assert_eq!(within(limit, &channel, later), Err(NotCompiled::OutOfTime));
    }
}
