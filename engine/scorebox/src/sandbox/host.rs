//! [`Sandbox`]: what all scorers share: wasmtime's engine, the linker, the admission, the clock's ticks
//! and the cache. Loads and scores nothing itself.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use tokio::sync::{OnceCell, Semaphore};
use wasmtime::{
    Engine, EngineWeak, Module,
    component::{Component, Linker},
};

use crate::{
    advice::{Advice, Build},
    digest::Digest,
};

use super::{
    Capabilities, CompileLimits, Compiler, ErrorKind, ScoreError,
    admission::Admission,
    cache::{Cache, CacheOptions},
    code::{Code, SplitCode, Way},
    compile_limits::{CompileBudget, CompileError},
    image::Image,
    imports,
    settings::{self, Allocation},
    split,
    state::State,
};

/// The version of wasmtime that is linked in; fuel is only comparable within one.
pub const WASMTIME_VERSION: &str = wasmtime_environ::VERSION;

/// How often a running guest checks the clock.
pub(super) const TICK: Duration = Duration::from_millis(5);

/// Components that are compiled at once: each takes all cores by itself, and memory up to its limit.
const COMPILATIONS: usize = 2;

/// Codes that are kept at hand for the next configuration of the same scorer, some megabytes each: as many
/// as a suite has scorers that differ in more than their configuration.
const KEPT_CODES: usize = 16;
/// Memories that are frozen at once, as long as they are small; one that is not is frozen alone.
pub(super) const FREEZINGS: u32 = 4;

/// Where code is kept once it is compiled, or why it does not compile.
type Slot = Arc<OnceCell<Result<Arc<Code>, ScoreError>>>;

/// How the sandbox is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SandboxOptions {
    /// Sandboxes that may exist at once, 1 to 4096. The pool has room for so many, and one more
    /// score waits until one is free. With a slot for each scorer and worker, a scorer's memory
    /// image stays where it is between two scores.
    pub slots: u32,
    /// Bytes of memory of all sandboxes together. A score takes its whole limit from it before it
    /// begins, and waits until that is free.
    pub memory_budget_bytes: u64,
    /// Where compiled code is kept; `None`: nowhere.
    pub cache: Option<CacheOptions>,
    /// Where components are compiled.
    pub compiler: Compiler,
    /// What compiling one scorer may use.
    pub compile_limits: CompileLimits,
    /// What scorers with a grant can see of the outside.
    pub capabilities: Capabilities,
    /// Whether a component's code is compiled once for all of its configurations, if it can be taken apart
    /// from its memory. Without it every configuration costs compiling; scores are the same, and so is what
    /// they cost, which a test shows.
    pub code_apart: bool,
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
            code_apart: true,
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

    /// The same with this [`code_apart`](SandboxOptions::code_apart).
    #[must_use]
    pub fn with_code_apart(mut self, code_apart: bool) -> SandboxOptions {
        self.code_apart = code_apart;
        self
    }

    /// The same with this [`capabilities`](SandboxOptions::capabilities).
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> SandboxOptions {
        self.capabilities = capabilities;
        self
    }
}

/// The shared half of all sandboxes. Cheap to clone.
#[derive(Clone)]
pub struct Sandbox(Arc<Shared>);

pub(super) struct Shared {
    pub(super) engine: Engine,
    /// Refuses what a pool would, if there is no pool.
    checking: Option<Engine>,
    pub(super) linker: Linker<State>,
    pub(super) admission: Admission,
    pub(super) cache: Option<Cache>,
    pub(super) capabilities: Capabilities,
    compiler: Compiler,
    compile_limits: CompileLimits,
    compiling: Semaphore,
    /// The latest code that configurations share.
    kept: Mutex<Vec<(Digest, Slot)>>,
    /// Held while a memory is frozen, which takes many times its size.
    pub(super) freezing: Semaphore,
    /// How code is compiled that can be compiled apart from its state.
    pub(super) way: Way,
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

    /// Sets up wasmtime. Takes a pool if there is address space for one.
    ///
    /// # Errors
    /// If wasmtime does not run on this machine at all, or the program is to compile in a separate process
    /// and does not begin as it must ([`compile_if_asked`](super::compile_if_asked)).
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
        let linker = imports::linker(&engine).map_err(|error| unusable(&error))?;
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
            freezing: Semaphore::new(FREEZINGS as usize),
            way: if options.code_apart { Way::Apart } else { Way::Whole },
            allocation,
            warnings,
        })))
    }

    /// How memory for instances is allocated.
    pub fn allocation(&self) -> &Allocation {
        &self.0.allocation
    }

    /// What does not work although scoring does: one sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.0.warnings
    }

    /// What scorers with a grant can see of the outside here.
    pub fn capabilities(&self) -> &Capabilities {
        &self.0.capabilities
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.0
    }

    /// The code of a component that is the same for all configurations: the one that is at hand, or from the
    /// cache if it has one under `cached`, or compiled. Loads that want the same code meanwhile wait for
    /// it. With it, whether it had to be compiled.
    pub(super) async fn code(
        &self,
        key: Digest,
        cached: Option<&Cache>,
        (bytes, way): (&[u8], Way),
        budget: &CompileBudget,
    ) -> Result<(Arc<Code>, bool), CompileError> {
        let compiled = AtomicBool::new(false);
        let slot = self.slot(key);
        let code = slot.get_or_try_init(|| async {
            let engine = &self.shared().engine;
            if let Some(code) = cached.and_then(|cache| cache.get_code(engine, key)) {
                return Ok(Ok(Arc::new(code)));
            }
            compiled.store(true, Ordering::Relaxed);
            match self.compile(bytes, way, budget).await {
                Ok((code, bytes)) => {
                    if let Some(cache) = cached {
                        cache.put_code(key, &bytes);
                    }
                    Ok(Ok(Arc::new(code)))
                }
                // It would not compile for the next one either.
                Err(CompileError::OfTheComponent(error)) => Ok(Err(error)),
                Err(error) => Err(error),
            }
        });
        match code.await? {
            Ok(code) => Ok((Arc::clone(code), compiled.into_inner())),
            Err(error) => Err(CompileError::OfTheComponent(error.clone())),
        }
    }

    /// The code of a component that is not taken apart, and is the same for all configurations.
    pub(super) async fn whole_code(
        &self,
        bytes: &[u8],
        budget: &CompileBudget,
    ) -> Result<Component, CompileError> {
        let (code, _) = self.code(Digest::of(bytes), None, (bytes, Way::Whole), budget).await?;
        Ok(code.component().clone())
    }

    /// The place of the code under `key`, which is filled once. If there are too many, those go that were
    /// made longest ago and that no load waits for.
    fn slot(&self, key: Digest) -> Slot {
        let mut kept = self.kept();
        if let Some((_, slot)) = kept.iter().find(|(kept, _)| *kept == key) {
            return Arc::clone(slot);
        }
        let mut too_many = (kept.len() + 1).saturating_sub(KEPT_CODES);
        // The oldest come first.
        kept.retain(|(_, slot)| {
            let goes = too_many > 0 && Arc::strong_count(slot) == 1;
            too_many -= usize::from(goes);
            !goes
        });
        let slot = Slot::default();
        kept.push((key, Arc::clone(&slot)));
        slot
    }

    /// No code panics while it holds the lock, and the content is consistent in any case.
    fn kept(&self) -> MutexGuard<'_, Vec<(Digest, Slot)>> {
        self.shared().kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Links a component that contains its state.
    pub(super) fn link(&self, component: &Component) -> Result<Image, ScoreError> {
        Image::new(&self.shared().linker, component).map_err(|error| does_not_fit(&error))
    }

    /// Links code with the module that contains its state.
    pub(super) fn link_split(&self, code: &SplitCode, data: &Module) -> Result<Image, ScoreError> {
        let link = || {
            let mut linker = self.shared().linker.clone();
            linker.root().module(split::DATA_IMPORT, data)?;
            Image::new(&linker, &code.shell)
        };
        link().map_err(|error| does_not_fit(&error))
    }

    /// The time for all compiling of one load.
    pub(super) fn compile_budget(&self) -> CompileBudget {
        CompileBudget::new(&self.shared().compile_limits)
    }

    /// Compiles a component, off the threads that score. Waiting for a turn does not count.
    pub(super) async fn compile(
        &self,
        bytes: &[u8],
        way: Way,
        budget: &CompileBudget,
    ) -> Result<(Code, Vec<u8>), CompileError> {
        let Shared { engine, checking, allocation, compiler, compile_limits, compiling, .. } =
            self.shared();
        // The semaphore is never closed.
        let _turn = compiling.acquire().await;
        if let Some(checking) = checking {
            // What a component may have does not depend on the machine. Only a pool looks at all of it, and only at code
            // that was compiled for it.
            let pooling = &Allocation::Pooling;
            let whole = (bytes, Way::Whole);
            compiler.compile(checking, pooling, whole, compile_limits, budget).await?;
        }
        compiler.compile(engine, allocation, (bytes, way), compile_limits, budget).await
    }
}

fn does_not_fit(error: &wasmtime::Error) -> ScoreError {
    let message = format!("the component does not fit the contract: {error:#}");
    ScoreError::new(ErrorKind::InvalidComponent, message)
        .with(Advice::Build(Build::AgainstContract))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_someone_waits_for_stays_at_hand_and_of_the_rest_the_latest() {
        let options = SandboxOptions::default().with_compiler(Compiler::InProcess);
        let sandbox = Sandbox::new(&options).unwrap();
        let key = |number: usize| Digest::of(&number.to_le_bytes());
        let waited_for = sandbox.slot(key(0));
        for number in 1..100 {
            sandbox.slot(key(number));
        }
        assert!(Arc::ptr_eq(&waited_for, &sandbox.slot(key(0))));
        let latest: Vec<Digest> = (100 - (KEPT_CODES - 1)..100).map(key).collect();
        let kept: Vec<Digest> = sandbox.kept().iter().map(|(key, _)| *key).collect();
        assert_eq!(kept, [[key(0)].as_slice(), &latest].concat());
    }
}
