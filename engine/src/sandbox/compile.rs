//! Where components are compiled: never on a thread that scores, and where the program allows it in a
//! process of its own, which can be ended. What is compiled was not checked beyond its outside.
//!
//! Compiling is the one thing that hostile bytes can make long without running at all. A thread cannot
//! be ended from outside, a process can; so the command line compiles in a child process with a
//! memory limit of the operating system, and kills it when its time is over.

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    path::PathBuf,
    process::Stdio,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::Command,
    time::timeout,
};
use wasmtime::{Engine, component::Component};

use super::{Allocation, ErrorKind, ScoreError, cut, settings};

/// Bytes of what a failed compiler process says that are shown.
const COMPLAINT_BYTES: u64 = 4 << 10;
/// Bytes of compiled code that are taken from a compiler process.
const CODE_BYTES: u64 = 2 << 30;

/// Where components are compiled.
#[derive(Clone, Debug, Default)]
pub enum Compiler {
    /// On a thread of this process. When the time is over, the answer is an error, but the thread goes
    /// on until it is done, its memory is not bounded, and bytes that are nested without end overflow
    /// its stack: for programs that load scorers which they trust so far.
    #[default]
    InProcess,
    /// In a process of its own, which is killed when its time is over: `program` with `arguments`
    /// and then three more, for [`compile_for_parent`].
    Process {
        /// A program of this very version of scorebox.
        program: PathBuf,
        /// What makes it call [`compile_for_parent`].
        arguments: Vec<OsString>,
    },
}

/// What compiling one component may use.
#[derive(Clone, Debug, PartialEq)]
pub struct CompileLimits {
    /// Wall-clock time of one compilation.
    pub timeout: Duration,
    /// Bytes of memory of the compiler's process; not bounded where it compiles in this process.
    pub memory_bytes: u64,
}

impl Default for CompileLimits {
    fn default() -> CompileLimits {
        CompileLimits { timeout: Duration::from_secs(60), memory_bytes: 2 << 30 }
    }
}

impl Compiler {
    /// Compiles a component for `engine`.
    pub(super) async fn compile(
        &self,
        engine: &Engine,
        allocation: &Allocation,
        bytes: &[u8],
        limits: &CompileLimits,
    ) -> Result<Component, ScoreError> {
        let compiled = async {
            match self {
                Compiler::InProcess => compile_on_a_thread(engine, bytes).await,
                Compiler::Process { program, arguments } => {
                    let mut command = Command::new(program);
                    command.args(arguments).args(arguments_for(allocation, limits));
                    compile_in_a_process(engine, command, bytes, limits).await
                }
            }
        };
        timeout(limits.timeout, compiled).await.unwrap_or_else(|_elapsed| Err(too_slow(limits)))
    }
}

async fn compile_on_a_thread(engine: &Engine, bytes: &[u8]) -> Result<Component, ScoreError> {
    let (engine, bytes) = (engine.clone(), bytes.to_vec());
    match on_a_deep_stack(move || Component::from_binary(&engine, &bytes)).await {
        Some(compiled) => compiled.map_err(|error| does_not_compile(&format!("{error:#}"))),
        None => Err(does_not_compile("the compiler panicked")),
    }
}

/// The name of the threads that parse what a stranger wrote. Where one panics, whoever waits for it has
/// words for that; a program may want to keep the panic's own to itself.
pub const PARSERS_NAME: &str = "scorebox-parser";
/// Bytes of stack of the threads that parse what a stranger wrote: parsers recurse.
const DEEP_STACK_BYTES: usize = 64 << 20;
/// Bytes of stack of the thread that compiles for another process: less, so that what the child could
/// parse the parent can.
const CHILDS_STACK_BYTES: usize = 16 << 20;

/// Runs `work` on a thread of its own with a deep stack; none where it panicked, or could not begin.
pub(super) async fn on_a_deep_stack<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name(PARSERS_NAME.into());
    let begun = thread.stack_size(DEEP_STACK_BYTES).spawn(move || {
        // Nobody listens any more where the time was over.
        let _ = sender.send(work());
    });
    begun.ok()?;
    receiver.await.ok()
}

/// Dropping the future kills the process.
async fn compile_in_a_process(
    engine: &Engine,
    mut command: Command,
    bytes: &[u8],
    limits: &CompileLimits,
) -> Result<Component, ScoreError> {
    let broken = |error: io::Error| {
        ScoreError::new(ErrorKind::Failed, format!("the compiler's process broke: {error}"))
    };
    // Memory is taken as it is used, so that a limit on it means what it says.
    command.env("MIMALLOC_ARENA_EAGER_COMMIT", "0");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(broken)?;
    let (Some(mut stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(broken(io::ErrorKind::BrokenPipe.into()));
    };
    let (mut code, mut complaint) = (Vec::new(), Vec::new());
    let (mut stdout, mut stderr) = (stdout.take(CODE_BYTES), stderr.take(COMPLAINT_BYTES));
    let hear = async {
        let heard = stderr.read_to_end(&mut complaint).await;
        // A process with more to say than is heard must not wait for an ear.
        heard.and(tokio::io::copy(&mut stderr.into_inner(), &mut tokio::io::sink()).await)
    };
    let feed = async move {
        // A process that ends early says why in its own way.
        let _ = stdin.write_all(bytes).await;
    };
    let (_, read, heard) = tokio::join!(feed, stdout.read_to_end(&mut code), hear);
    read.map_err(broken)?;
    heard.map_err(broken)?;
    let status = child.wait().await.map_err(broken)?;
    let complaint = String::from_utf8_lossy(&complaint);
    match status.code() {
        Some(0) => trusted(engine, &code),
        Some(_) => Err(does_not_compile(complaint.trim())),
        None if complaint.contains("memory allocation of") => Err(too_large(limits)),
        None if complaint.contains("overflowed its stack") => {
            Err(does_not_compile("it is nested too deep"))
        }
        None => Err(does_not_compile(&format!("the compiler's process ended by {status}"))),
    }
}

fn trusted(engine: &Engine, code: &[u8]) -> Result<Component, ScoreError> {
    // SAFETY: these are the bytes that `compile_for_parent` gave, in a process that this one started
    // from the program that it was told to trust, over a pipe that no other process has. wasmtime
    // checks version and settings once more.
    #[allow(unsafe_code)]
    let component = unsafe { Component::deserialize(engine, code) };
    component.map_err(|error| match format!("{error:#}") {
        // The compiler's process has no pool, so the pool's bounds are first met here.
        why if why.contains("pooling allocator") => does_not_compile(&why),
        why => {
            ScoreError::new(ErrorKind::Failed, format!("the compiler's answer is unusable: {why}"))
        }
    })
}

/// The three arguments that [`compile_for_parent`] takes.
fn arguments_for(allocation: &Allocation, limits: &CompileLimits) -> [String; 3] {
    let allocation = match allocation {
        Allocation::Pooling => "pooling",
        Allocation::OnDemand { .. } => "on-demand",
    };
    // Seconds of all cores, for the case that the parent is gone and kills nobody.
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let seconds = (limits.timeout.as_secs() + 1).saturating_mul(cores);
    [allocation.to_owned(), limits.memory_bytes.to_string(), seconds.to_string()]
}

/// The other side of [`Compiler::Process`]: bounds this process, reads a component from `input` and
/// writes compiled code to `output`. `arguments` are the last three that the process was given.
///
/// # Errors
/// Why not, for the parent to read from standard error.
pub fn compile_for_parent(
    arguments: &[String],
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> Result<(), String> {
    let [allocation, memory_bytes, seconds] = arguments else {
        return Err("a compiler's process takes three arguments".into());
    };
    let number = |text: &str| text.parse::<u64>().map_err(|error| format!("`{text}`: {error}"));
    bound_this_process(number(memory_bytes)?, number(seconds)?)?;
    let config = match allocation.as_str() {
        "pooling" => settings::common(),
        "on-demand" => settings::on_demand(),
        other => return Err(format!("there is no allocation `{other}`")),
    };
    let engine = Engine::new(&config).map_err(|error| format!("{error:#}"))?;
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let thread = std::thread::Builder::new().name(PARSERS_NAME.into());
    let thread = thread.stack_size(CHILDS_STACK_BYTES);
    let compiling = thread.spawn(move || engine.precompile_component(&bytes));
    let compiled = compiling.map_err(|error| error.to_string())?.join();
    let code = compiled
        .map_err(|_panicked| "the compiler panicked".to_owned())?
        .map_err(|error| format!("{error:#}"))?;
    output.write_all(&code).and_then(|()| output.flush()).map_err(|error| error.to_string())
}

#[cfg(unix)]
fn bound_this_process(memory_bytes: u64, seconds: u64) -> Result<(), String> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let bound = |resource, most: u64| {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(resource, limit).map_err(|error| format!("cannot set a limit: {error}"))
    };
    bound(Resource::Data, memory_bytes)?;
    bound(Resource::Cpu, seconds)?;
    bound(Resource::Core, 0)
}

#[cfg(not(unix))]
fn bound_this_process(_memory_bytes: u64, _seconds: u64) -> Result<(), String> {
    // Only the time is bounded there, by the parent.
    Ok(())
}

fn does_not_compile(why: &str) -> ScoreError {
    let invalid = |why: &str| {
        let why = why.strip_prefix("failed to parse WebAssembly module: ").unwrap_or(why);
        ScoreError::new(
            ErrorKind::InvalidComponent,
            format!(
                "the component does not compile: {}",
                cut(why.trim(), COMPLAINT_BYTES as usize)
            ),
        )
    };
    if why.contains("component model async feature") {
        return invalid(why).hint(
            "it was built for asynchronous components, which the contract does not use; \
             build it without (jco: `--backend-qjs-disable-async`)",
        );
    }
    if !why.contains("pooling allocator") {
        return invalid(why);
    }
    let (_, detail) = why.split_once("pooling allocator requirements: ").unwrap_or(("", why));
    let detail = detail.replace(" in the pooling allocator", "");
    let first_line = detail.lines().next().unwrap_or_default();
    invalid(&format!("it needs more than a sandbox has: {first_line}"))
        .hint(settings::fixed_bounds())
}

const HINT_TIME: &str = "if you trust it that far, raise the limit: --compile-timeout";
const HINT_MEMORY: &str = "if you trust it that far, raise the limit: --compile-memory";

fn too_slow(limits: &CompileLimits) -> ScoreError {
    ScoreError::new(
        ErrorKind::InvalidComponent,
        format!("compiling the component took longer than {} ms", limits.timeout.as_millis()),
    )
    .hint(HINT_TIME)
}

fn too_large(limits: &CompileLimits) -> ScoreError {
    ScoreError::new(
        ErrorKind::InvalidComponent,
        format!("compiling the component took more than {} bytes of memory", limits.memory_bytes),
    )
    .hint(HINT_MEMORY)
}

/// Whether a component did not compile because of this machine, or of a limit: elsewhere it may.
pub(super) fn is_of_the_machine(error: &ScoreError) -> bool {
    let hint = error.hint.as_deref();
    error.kind == ErrorKind::Failed || hint == Some(HINT_TIME) || hint == Some(HINT_MEMORY)
}
