//! Turns the state that `configure` left into the image that every score starts from: a data module if code is compiled
//! separately from state, otherwise a new component. It knows nothing of files or caches.

use tokio::sync::{AcquireError, SemaphorePermit};
use wasmtime::{
    Engine, Module, Store,
    component::{Instance, WasmList},
};
use wasmtime_wizer::Wizer;

use super::{
    ErrorKind, Limits, ScoreError,
    access::{self, WizerAccess},
    code::SplitCode,
    compile_limits::{CompileBudget, CompileError},
    guest_call::{Configure, Guest},
    host::{FREEZINGS, Sandbox, Shared},
    image::Image,
    parser_thread::{Undone, on_a_deep_stack},
    split::{ACCESS, Accessor, BYTES, Contents, FIRST_WORD, Kind, PAGES, Shape},
    state::State,
};

/// The most bytes of memory that are frozen. wizer keeps a list of all ranges that are not zero, and that list can be
/// twelve times as large as the memory.
const MAX_BYTES: u64 = 32 << 20;
/// Memory of up to this many bytes can be frozen at the same time as others.
const FEW_BYTES: u64 = 4 << 20;
/// The size of a page of memory, in bytes.
const PAGE_BYTES: u64 = 64 << 10;

/// The result of an attempt to freeze, or of a step of it.
pub(super) enum Frozen<Image> {
    /// Instances start where `configure` ended.
    Image(Image),
    /// The state cannot be frozen, for this reason; `configure` must run in every sandbox.
    Impossible(String),
}

/// A configured guest, whose limits are lifted so that its state can be read.
struct Configured<'a> {
    guest: Guest<'a>,
    instance: Instance,
    /// Held until the state is frozen, because that takes memory.
    turn: Result<SemaphorePermit<'a>, AcquireError>,
}

/// Calls `configure`, and waits until the state that it left may be frozen: `turns` returns how many of the
/// [`FREEZINGS`] that takes for this many bytes of memory in use.
///
/// # Errors
/// If `configure` refuses the configuration or exceeds a limit.
async fn configure<'a>(
    shared: &'a Shared,
    image: &Image,
    config: &str,
    limits: &'a Limits,
    turns: impl FnOnce(u64) -> u32,
) -> Result<Frozen<Configured<'a>>, ScoreError> {
    let mut guest = Guest::admit(shared, limits).await;
    let instance = guest.ask(Configure { image, config }, Ok).await?;
    let store = guest.store();
    if let Some(why) = store.data().kept_of_wasi {
        return Ok(Frozen::Impossible(why.to_owned()));
    }
    let left = store.data().limiter.used_bytes();
    if left > MAX_BYTES {
        return Ok(Frozen::Impossible(too_much(left)));
    }
    // The semaphore is never closed.
    let turn = shared.freezing.acquire_many(turns(left)).await;
    lift_limits(store);
    Ok(Frozen::Image(Configured { guest, instance, turn }))
}

/// Calls `configure` once on code that is compiled already, and makes a data module from the state that it leaves.
///
/// # Errors
/// If `configure` refuses the configuration or exceeds a limit.
pub(super) async fn freeze_state(
    sandbox: &Sandbox,
    code: &SplitCode,
    config: &str,
    limits: &Limits,
) -> Result<Frozen<Module>, ScoreError> {
    let shared = sandbox.shared();
    let image = sandbox.link_split(code, &code.first)?;
    let few = |left| if left <= FEW_BYTES { 1 } else { FREEZINGS };
    let mut configured = match configure(shared, &image, config, limits, few).await? {
        Frozen::Image(configured) => configured,
        Frozen::Impossible(why) => return Ok(Frozen::Impossible(why)),
    };
    let (store, instance) = (configured.guest.store(), configured.instance);
    let contents = match contents_of(store, instance, &code.shape).await {
        Ok(contents) => contents,
        Err(error) => return Ok(Frozen::Impossible(format!("{error:#}"))),
    };
    let _turn = configured.turn;
    drop(configured.guest);
    let (engine, shape) = (shared.engine.clone(), code.shape.clone());
    let compiled = on_a_deep_stack(move || data_module(&engine, &shape, &contents)).await;
    // Any state that `configure` leaves compiles. Failing is an error, because without the image a score would use
    // different fuel, and whether this machine is out of memory or threads must not decide that.
    let compiled = compiled.unwrap_or_else(|undone| {
        Err(match undone {
            Undone::Panicked => "the thread for it ended".to_owned(),
            Undone::NotBegun(error) => format!("no thread could be started for it: {error}"),
        })
    });
    compiled.map(Frozen::Image).map_err(|why| {
        ScoreError::new(ErrorKind::Failed, format!("cannot keep what `configure` left: {why}"))
    })
}

/// Compiles only what this program generates: functions that at most call through a table, and none of the scorer's
/// code.
fn data_module(engine: &Engine, shape: &Shape, contents: &Contents) -> Result<Module, String> {
    let bytes = shape.data(contents).map_err(|error| error.to_string())?;
    Module::from_binary(engine, &bytes).map_err(|error| format!("{error:#}"))
}

/// Reads memory and globals through the shell's accessors.
async fn contents_of(
    store: &mut Store<State>,
    instance: Instance,
    shape: &Shape,
) -> wasmtime::Result<Contents> {
    let pages: u32 = read(store, instance, PAGES, |_, pages| pages).await?;
    let bytes = u64::from(pages).saturating_mul(PAGE_BYTES);
    let memory = match bytes {
        0 => Vec::new(),
        1..=MAX_BYTES => {
            let first: u64 = read(store, instance, FIRST_WORD, |_, first| first).await?;
            let copy = |store: &Store<State>, list: WasmList<u8>| list.as_le_slice(store).to_vec();
            let mut memory = read(store, instance, BYTES, copy).await?;
            if let Some(start) = memory.first_chunk_mut() {
                *start = first.to_le_bytes();
            }
            memory
        }
        _ => wasmtime::bail!(too_much(bytes)),
    };
    let mut globals = Vec::new();
    for (index, kind) in shape.changing() {
        let low = Accessor::of_global(index, false);
        globals.push(match kind {
            Kind::I32 | Kind::F32 => {
                [read(store, instance, &low, |_, value: u32| value.into()).await?, 0]
            }
            Kind::I64 | Kind::F64 => [read(store, instance, &low, |_, value| value).await?, 0],
            Kind::V128 => {
                let high = Accessor::of_global(index, true);
                let low = read(store, instance, &low, |_, value| value).await?;
                [low, read(store, instance, &high, |_, value| value).await?]
            }
        });
    }
    Ok(Contents { memory, globals })
}

/// Calls one of the shell's accessors.
async fn read<Answer, Value>(
    store: &mut Store<State>,
    instance: Instance,
    name: &str,
    value: impl FnOnce(&Store<State>, Answer) -> Value,
) -> wasmtime::Result<Value>
where
    Answer: wasmtime::component::Lift + Send + Sync + 'static,
{
    let answer = access::ask(store, instance, ACCESS, name).await?;
    Ok(value(store, answer))
}

/// Calls `configure` once in the whole component and freezes the state that it leaves.
///
/// # Errors
/// If `configure` refuses the configuration, or it or compiling exceeds a limit.
pub(super) async fn freeze_whole(
    sandbox: &Sandbox,
    component: &[u8],
    config: &str,
    limits: &Limits,
    budget: &CompileBudget,
) -> Result<Frozen<Vec<u8>>, ScoreError> {
    let wizer = Wizer::new();
    let (context, instrumented) = match wizer.instrument_component(component) {
        Ok(instrumented) => instrumented,
        Err(error) => return Ok(Frozen::Impossible(format!("{error:#}"))),
    };
    let shared = sandbox.shared();
    let code = sandbox.whole_code(instrumented, budget).await;
    let instrumented = match code {
        Ok(instrumented) => instrumented,
        // Without the image a score would use different fuel, and this machine must not decide that.
        Err(CompileError::OfTheMachine(error)) => return Err(error),
        Err(CompileError::OfTheComponent(error)) => return Ok(Frozen::Impossible(error.message)),
    };
    let image = match Image::new(&shared.linker, &instrumented) {
        Ok(image) => image,
        Err(error) => return Ok(Frozen::Impossible(format!("{error:#}"))),
    };
    let mut configured = match configure(shared, &image, config, limits, |_| FREEZINGS).await? {
        Frozen::Image(configured) => configured,
        Frozen::Impossible(why) => return Ok(Frozen::Impossible(why)),
    };
    let (store, instance) = (configured.guest.store(), configured.instance);
    let mut access = WizerAccess::new(store, instance);
    let image = wizer.snapshot_component(&context, &mut access).await;
    Ok(match (access.failure(), image) {
        (None, Ok(image)) => Frozen::Image(image),
        (Some(error), _) | (None, Err(error)) => Frozen::Impossible(format!("{error:#}")),
    })
}

fn too_much(bytes: u64) -> String {
    format!("`configure` leaves {bytes} bytes of memory; at most {MAX_BYTES} are frozen")
}

/// From here on, only accessors run, and their results are bounded already.
fn lift_limits(store: &mut Store<State>) {
    // Fuel is enabled in every engine that this program makes.
    let _ = store.set_fuel(u64::MAX);
    store.set_hostcall_fuel(usize::MAX);
    store.epoch_deadline_callback(|_| Ok(wasmtime::UpdateDeadline::Yield(1)));
}
