//! [`Sandbox`]: what all scorers share: wasmtime's engine, the linker, the admission, the clock's ticks
//! and the cache. Loads and scores nothing itself.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use tokio::sync::Semaphore;
use wasmtime::{
    Engine, EngineWeak,
    component::{Component, HasSelf},
};

use crate::{contract::bindings::Scorer, digest::Digest};

use super::{
    Capabilities, CompileLimits, Compiler, ErrorKind, ScoreError,
    admission::Admission,
    cache::{Cache, CacheOptions},
    compile::{CompileBudget, CompileError},
    settings,
    state::State,
    wasi,
};

/// The version of wasmtime that is linked in; fuel is only comparable within one.
pub const WASMTIME_VERSION: &str = env!("SCOREBOX_WASMTIME_VERSION");

/// How often a running guest looks at the clock.
pub(super) const TICK: Duration = Duration::from_millis(5);

/// Components that are compiled at once: each takes all cores by itself, and memory up to its limit.
const COMPILATIONS: usize = 2;

/// Compiled components that are kept for the next configuration of the same scorer: what is described
/// and what is configured, of as many scorers as are compiled at once.
const KEPT_COMPONENTS: usize = 2 * COMPILATIONS;

/// How the sandbox is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SandboxOptions {
    /// Sandboxes that may exist at once, 1 to 4096. The pool has room for so many, and one more
    /// score waits until one is free. With a slot for each scorer and worker, a scorer's memory
    /// image stays where it is between two scores.
    pub slots: u32,
    /// Bytes of memory of all sandboxes together. A score takes its whole limit from it before it
    /// begins, and waits until that is there.
    pub memory_budget_bytes: u64,
    /// Where compiled code is kept; none: nowhere.
    pub cache: Option<CacheOptions>,
    /// Where components are compiled.
    pub compiler: Compiler,
    /// What compiling one scorer may use.
    pub compile_limits: CompileLimits,
    /// What of the outside scorers may be shown, where they are granted it.
    pub capabilities: Capabilities,
}

/// The memory of all sandboxes together, unless the user says otherwise: 4 GiB.
pub const DEFAULT_MEMORY_BUDGET_BYTES: u64 = 4 << 30;

impl Default for SandboxOptions {
    /// One slot, no cache, no capabilities, compiling in a process of this program.
    fn default() -> SandboxOptions {
        SandboxOptions {
            slots: 1,
            memory_budget_bytes: DEFAULT_MEMORY_BUDGET_BYTES,
            cache: None,
            compiler: Compiler::default(),
            compile_limits: CompileLimits::default(),
            capabilities: Capabilities::none(),
        }
    }
}

impl SandboxOptions {
    /// The same with this [`slots`](SandboxOptions::slots).
    #[must_use]
    pub fn with_slots(mut self, slots: u32) -> SandboxOptions {
        self.slots = slots;
        self
    }

    /// The same with this [`memory_budget_bytes`](SandboxOptions::memory_budget_bytes).
    #[must_use]
    pub fn with_memory_budget_bytes(mut self, memory_budget_bytes: u64) -> SandboxOptions {
        self.memory_budget_bytes = memory_budget_bytes;
        self
    }

    /// The same with this [`cache`](SandboxOptions::cache), or without one.
    #[must_use]
    pub fn with_cache(mut self, cache: impl Into<Option<CacheOptions>>) -> SandboxOptions {
        self.cache = cache.into();
        self
    }

    /// The same with this [`compiler`](SandboxOptions::compiler).
    #[must_use]
    pub fn with_compiler(mut self, compiler: Compiler) -> SandboxOptions {
        self.compiler = compiler;
        self
    }

    /// The same with this [`compile_limits`](SandboxOptions::compile_limits).
    #[must_use]
    pub fn with_compile_limits(mut self, compile_limits: CompileLimits) -> SandboxOptions {
        self.compile_limits = compile_limits;
        self
    }

    /// The same with this [`capabilities`](SandboxOptions::capabilities).
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> SandboxOptions {
        self.capabilities = capabilities;
        self
    }
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
    /// Refuses what a pool would, where there is none.
    checking: Option<Engine>,
    pub(super) linker: wasmtime::component::Linker<State>,
    pub(super) admission: Admission,
    pub(super) cache: Option<Cache>,
    pub(super) capabilities: Capabilities,
    compiler: Compiler,
    compile_limits: CompileLimits,
    compiling: Semaphore,
    /// The latest that were compiled and do not depend on a configuration, by the digest of their bytes.
    kept: Mutex<VecDeque<(Digest, Component)>>,
    /// Held while a memory is frozen, which takes many times its size.
    pub(super) freezing: Semaphore,
    allocation: Allocation,
    warnings: Vec<String>,
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shared { allocation, compiler, compile_limits, capabilities, warnings, .. } = &*self.0;
        f.debug_struct("Sandbox")
            .field("allocation", allocation)
            .field("compiler", compiler)
            .field("compile_limits", compile_limits)
            .field("capabilities", capabilities)
            .field("warnings", warnings)
            .finish_non_exhaustive()
    }
}

impl Sandbox {
    /// The most slots that one sandbox can have.
    pub const MOST_SLOTS: u32 = 4096;

    /// Sets up wasmtime. Takes a pool where there is address space for one.
    ///
    /// # Errors
    /// Where wasmtime does not run on this machine at all, or the program is to compile in a process of its own
    /// and does not begin as it should ([`compile_if_asked`](super::compile_if_asked)).
    pub fn new(options: &SandboxOptions) -> Result<Sandbox, ScoreError> {
        options.compiler.command()?;
        let slots = options.slots.clamp(1, Sandbox::MOST_SLOTS);
        let (engine, checking, allocation) = match Engine::new(&settings::pooling(slots)) {
            Ok(engine) => (engine, None, Allocation::Pooling),
            Err(error) => {
                let engine = Engine::new(&settings::on_demand()).map_err(|e| unusable(&e))?;
                let checking = Engine::new(&settings::checking()).map_err(|e| unusable(&e))?;
                let allocation = Allocation::OnDemand { reason: format!("{error:#}") };
                (engine, Some(checking), allocation)
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
            checking,
            linker,
            admission: Admission::new(slots, options.memory_budget_bytes),
            cache,
            capabilities: options.capabilities.clone(),
            compiler: options.compiler.clone(),
            compile_limits: options.compile_limits.clone(),
            compiling: Semaphore::new(COMPILATIONS),
            kept: Mutex::default(),
            freezing: Semaphore::new(1),
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

    /// What of the outside scorers may be shown here, where they are granted it.
    pub fn capabilities(&self) -> &Capabilities {
        &self.0.capabilities
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.0
    }

    /// Compiles what is the same for all configurations of a scorer, unless it was just compiled.
    pub(super) async fn compile_once(
        &self,
        bytes: &[u8],
        budget: &CompileBudget,
    ) -> Result<Component, CompileError> {
        let digest = Digest::of(bytes);
        let kept = self.kept().iter().find(|(kept, _)| *kept == digest).cloned();
        if let Some((_, component)) = kept {
            return Ok(component);
        }
        let component = self.compile(bytes, budget).await?;
        let mut kept = self.kept();
        kept.truncate(KEPT_COMPONENTS - 1);
        kept.push_front((digest, component.clone()));
        Ok(component)
    }

    /// Nobody panics while holding it, and what is in it is whole in any case.
    fn kept(&self) -> MutexGuard<'_, VecDeque<(Digest, Component)>> {
        self.shared().kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time for all compiling of one load.
    pub(super) fn compile_budget(&self) -> CompileBudget {
        CompileBudget::new(&self.shared().compile_limits)
    }

    /// Compiles a component, off the threads that score. Waiting for a turn is not of its budget.
    pub(super) async fn compile(
        &self,
        bytes: &[u8],
        budget: &CompileBudget,
    ) -> Result<Component, CompileError> {
        let Shared { engine, checking, allocation, compiler, compile_limits, compiling, .. } =
            self.shared();
        // The semaphore is never closed.
        let _turn = compiling.acquire().await;
        if let Some(checking) = checking {
            // What a component may have depends on no machine. Only a pool looks at all of it, and only at code
            // that was compiled for it.
            let pooling = &Allocation::Pooling;
            compiler.compile(checking, pooling, bytes, compile_limits, budget).await?;
        }
        compiler.compile(engine, allocation, bytes, compile_limits, budget).await
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
