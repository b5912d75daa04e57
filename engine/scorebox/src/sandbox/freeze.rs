//! The state that `configure` left, made the image that every score starts from: a data module where code
//! is compiled apart from state, a component of its own where it is not. Knows nothing of files or caches.

use wasmtime::{
    Engine, Module, Store,
    component::{Instance, WasmList},
};
use wasmtime_wizer::Wizer;

use super::{
    ErrorKind, Limits, ScoreError,
    access::{self, WizerAccess},
    code::SplitCode,
    compile::{CompileBudget, CompileError, on_a_deep_stack},
    guest_call::{Configure, Guest, Image},
    host::{FREEZINGS, Sandbox},
    split::{ACCESS, Accessor, BYTES, Contents, FIRST_WORD, Kind, PAGES, Shape},
    state::State,
};

/// Bytes of memory that are frozen. wizer keeps a list of all stretches that are not zero, which for a
/// memory made to that end is twelve times as large as the memory.
const MOST_BYTES: u64 = 32 << 20;
/// Bytes of memory that are few enough to be frozen beside others.
const FEW_BYTES: u64 = 4 << 20;
/// Bytes of a page of memory.
const PAGE_BYTES: u64 = 64 << 10;

/// What became of an attempt to freeze.
pub(super) enum Frozen<Image> {
    /// Instances begin where `configure` ended.
    Image(Image),
    /// It cannot be frozen; `configure` has to run in every sandbox.
    Impossible(String),
}

/// Calls `configure` once on code that is compiled already, and makes a data module of what it leaves.
///
/// # Errors
/// Where `configure` refuses the configuration or breaks a limit.
pub(super) async fn freeze_state(
    sandbox: &Sandbox,
    code: &SplitCode,
    config: &str,
    limits: &Limits,
) -> Result<Frozen<Module>, ScoreError> {
    let shared = sandbox.shared();
    let image = sandbox.link_split(code, &code.first)?;
    let mut guest = Guest::admit(shared, limits).await;
    let instance = guest.ask(Configure { image: &image, config }, Ok).await?;
    let store = guest.store();
    let left = store.data().limiter.used_bytes();
    if left > MOST_BYTES {
        return Ok(Frozen::Impossible(too_much(left)));
    }
    // The semaphore is never closed.
    let few = left <= FEW_BYTES;
    let _turn = shared.freezing.acquire_many(if few { 1 } else { FREEZINGS }).await;
    lift_limits(store);
    let contents = match contents_of(store, instance, &code.shape).await {
        Ok(contents) => contents,
        Err(error) => return Ok(Frozen::Impossible(format!("{error:#}"))),
    };
    drop(guest);
    let (engine, shape) = (shared.engine.clone(), code.shape.clone());
    let compiled = on_a_deep_stack(move || data_module(&engine, &shape, &contents)).await;
    // Whatever `configure` leaves compiles. A score costs another fuel where its start is another: that is not
    // for a machine without memory or threads to settle.
    let compiled = compiled.unwrap_or_else(|| Err("the thread for it ended".to_owned()));
    compiled.map(Frozen::Image).map_err(|why| {
        ScoreError::new(ErrorKind::Failed, format!("cannot keep what `configure` left: {why}"))
    })
}

/// What is compiled here is this program's own, and calls through a table at most: none of the stranger's
/// code.
fn data_module(engine: &Engine, shape: &Shape, contents: &Contents) -> Result<Module, String> {
    let bytes = shape.data(contents).map_err(|error| error.to_string())?;
    Module::from_binary(engine, &bytes).map_err(|error| format!("{error:#}"))
}

/// Reads memory and globals, through the functions that are there for it.
async fn contents_of(
    store: &mut Store<State>,
    instance: Instance,
    shape: &Shape,
) -> wasmtime::Result<Contents> {
    let pages: u32 = read(store, instance, PAGES, |_, pages| pages).await?;
    let bytes = u64::from(pages).saturating_mul(PAGE_BYTES);
    let memory = match bytes {
        0 => Vec::new(),
        1..=MOST_BYTES => {
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

/// What a function of the shell answers.
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

/// Calls `configure` once in the whole component and freezes what it leaves.
///
/// # Errors
/// Where `configure` refuses the configuration or breaks a limit, or compiling does.
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
    let code = sandbox.whole_code(&instrumented, budget).await;
    let instrumented = match code {
        Ok(instrumented) => instrumented,
        // A score costs another fuel where its start is another: that is not for this machine to settle.
        Err(CompileError::OfTheMachine(error)) => return Err(error),
        Err(CompileError::OfTheComponent(error)) => return Ok(Frozen::Impossible(error.message)),
    };
    let image = match Image::new(&shared.linker, &instrumented) {
        Ok(image) => image,
        Err(error) => return Ok(Frozen::Impossible(format!("{error:#}"))),
    };
    let mut guest = Guest::admit(shared, limits).await;
    let instance = guest.ask(Configure { image: &image, config }, Ok).await?;
    let store = guest.store();
    let left = store.data().limiter.used_bytes();
    if left > MOST_BYTES {
        return Ok(Frozen::Impossible(too_much(left)));
    }
    // The semaphore is never closed.
    let _turn = shared.freezing.acquire_many(FREEZINGS).await;
    lift_limits(store);
    let mut access = WizerAccess::new(store, instance);
    let image = wizer.snapshot_component(&context, &mut access).await;
    Ok(match (access.failure(), image) {
        (None, Ok(image)) => Frozen::Image(image),
        (Some(error), _) | (None, Err(error)) => Frozen::Impossible(format!("{error:#}")),
    })
}

fn too_much(bytes: u64) -> String {
    format!("`configure` leaves {bytes} bytes of memory; at most {MOST_BYTES} are frozen")
}

/// From here on only functions run that hand out memories which are already bounded.
fn lift_limits(store: &mut Store<State>) {
    // Fuel is on in every engine of ours.
    let _ = store.set_fuel(u64::MAX);
    store.set_hostcall_fuel(usize::MAX);
    store.epoch_deadline_callback(|_| Ok(wasmtime::UpdateDeadline::Yield(1)));
}
