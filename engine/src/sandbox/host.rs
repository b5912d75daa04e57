//! [`Sandbox`]: what all scorers share: wasmtime's engine, the linker, the slots, the clock's ticks
//! and the cache. Loads and scores nothing itself.

use std::{sync::Arc, thread, time::Duration};

use tokio::sync::Semaphore;
use wasmtime::{Engine, EngineWeak, component::HasSelf};

use crate::contract::bindings::Scorer;

use super::{
    ErrorKind, ScoreError,
    cache::{Cache, CacheOptions},
    settings,
    state::State,
    wasi,
};

/// The version of wasmtime that is linked in; fuel is only comparable within one.
pub const WASMTIME_VERSION: &str = env!("SCOREBOX_WASMTIME_VERSION");

/// How often a running guest looks at the clock.
pub(super) const TICK: Duration = Duration::from_millis(5);

/// How the sandbox is set up.
#[derive(Clone, Debug)]
pub struct SandboxOptions {
    /// Sandboxes that may exist at once, 1 to 4096. The pool has room for so many, and one more
    /// score waits until one is free. With a slot for each scorer and worker, a scorer's memory
    /// image stays where it is between two scores.
    pub slots: u32,
    /// Where compiled code is kept; none: nowhere.
    pub cache: Option<CacheOptions>,
}

/// How memory for instances is had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// From a pool that is set up once.
    Pooling,
    /// Anew for every instance (slower), because the pool could not be had.
    OnDemand {
        /// Why not.
        reason: String,
    },
}

/// The shared half of all sandboxes. Cheap to clone.
#[derive(Clone)]
pub struct Sandbox(Arc<Shared>);

pub(super) struct Shared {
    pub(super) engine: Engine,
    pub(super) linker: wasmtime::component::Linker<State>,
    pub(super) slots: Semaphore,
    pub(super) cache: Option<Cache>,
    allocation: Allocation,
    warnings: Vec<String>,
}

impl Sandbox {
    /// The most slots that one sandbox can have.
    pub const MOST_SLOTS: u32 = 4096;

    /// Sets up wasmtime. Takes a pool where there is address space for one.
    ///
    /// # Errors
    /// Where wasmtime does not run on this machine at all.
    pub fn new(options: &SandboxOptions) -> Result<Sandbox, ScoreError> {
        let slots = options.slots.clamp(1, Sandbox::MOST_SLOTS);
        let (engine, allocation) = match Engine::new(&settings::pooling(slots)) {
            Ok(engine) => (engine, Allocation::Pooling),
            Err(error) => {
                let engine = Engine::new(&settings::on_demand()).map_err(|e| unusable(&e))?;
                (engine, Allocation::OnDemand { reason: format!("{error:#}") })
            }
        };
        let linker = linker(&engine).map_err(|error| unusable(&error))?;
        start_ticking(engine.weak()).map_err(|error| unusable(&error.into()))?;
        let mut warnings = Vec::new();
        let cache = options.cache.as_ref().and_then(|options| {
            Cache::open(options).map_err(|warning| warnings.push(warning)).ok()
        });
        Ok(Sandbox(Arc::new(Shared {
            engine,
            linker,
            slots: Semaphore::new(slots as usize),
            cache,
            allocation,
            warnings,
        })))
    }

    /// How memory for instances is had.
    pub fn allocation(&self) -> &Allocation {
        &self.0.allocation
    }

    /// What does not work as it should, though scoring does: one sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.0.warnings
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.0
    }
}

fn linker(engine: &Engine) -> wasmtime::Result<wasmtime::component::Linker<State>> {
    let mut linker = wasmtime::component::Linker::new(engine);
    Scorer::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
    wasi::link(&mut linker)?;
    Ok(linker)
}

fn unusable(error: &wasmtime::Error) -> ScoreError {
    ScoreError::new(ErrorKind::Failed, format!("wasmtime cannot run on this machine: {error:#}"))
}

/// Advances the engine's epoch until the engine is gone.
fn start_ticking(engine: EngineWeak) -> std::io::Result<()> {
    thread::Builder::new().name("scorebox-ticks".into()).spawn(move || {
        loop {
            thread::sleep(TICK);
            let Some(engine) = engine.upgrade() else { return };
            engine.increment_epoch();
        }
    })?;
    Ok(())
}
