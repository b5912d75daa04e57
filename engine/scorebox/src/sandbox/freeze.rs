//! The memory that `configure` left, made the image that every score starts from. Knows nothing of
//! files or caches.

use wasmtime::Store;
use wasmtime_wizer::{WasmtimeWizerComponent, Wizer};

use super::{
    Limits, ScoreError,
    compile::{CompileBudget, CompileError},
    guest_call::{Configure, Guest, Image},
    host::Sandbox,
    state::State,
};

/// Bytes of memory that are frozen. wizer keeps a list of all stretches that are not zero, which for a
/// memory made to that end is twelve times as large as the memory.
const MOST_BYTES: u64 = 32 << 20;

/// What became of an attempt to freeze.
pub(super) enum Frozen {
    /// A component whose instances begin where `configure` ended.
    Image(Vec<u8>),
    /// The component is of a kind that cannot be frozen; `configure` has to run in every sandbox.
    Impossible(String),
}

/// Calls `configure` once and freezes what it leaves.
///
/// # Errors
/// Where `configure` refuses the configuration or breaks a limit, or compiling does.
pub(super) async fn freeze(
    sandbox: &Sandbox,
    component: &[u8],
    config: &str,
    limits: &Limits,
    budget: &CompileBudget,
) -> Result<Frozen, ScoreError> {
    let wizer = Wizer::new();
    let (context, instrumented) = match wizer.instrument_component(component) {
        Ok(instrumented) => instrumented,
        Err(error) => return Ok(Frozen::Impossible(format!("{error:#}"))),
    };
    let shared = sandbox.shared();
    let instrumented = match sandbox.compile_once(&instrumented, budget).await {
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
        return Ok(Frozen::Impossible(format!(
            "`configure` leaves {left} bytes of memory; at most {MOST_BYTES} are frozen"
        )));
    }
    // The semaphore is never closed.
    let _turn = shared.freezing.acquire().await;
    lift_limits(store);
    let mut access = WasmtimeWizerComponent { store, instance };
    match wizer.snapshot_component(&context, &mut access).await {
        Ok(image) => Ok(Frozen::Image(image)),
        Err(error) => Ok(Frozen::Impossible(format!("{error:#}"))),
    }
}

/// From here on only wizer's own functions run, which hand out memories that are already bounded.
fn lift_limits(store: &mut Store<State>) {
    // Fuel is on in every engine of ours.
    let _ = store.set_fuel(u64::MAX);
    store.set_hostcall_fuel(usize::MAX);
    store.epoch_deadline_callback(|_| Ok(wasmtime::UpdateDeadline::Yield(1)));
}
