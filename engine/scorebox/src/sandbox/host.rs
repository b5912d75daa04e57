//! [`Sandbox`]: what all scorers share: wasmtime's engine, the linker, the admission, the clock's ticks and the cache.
//! It loads and scores nothing itself.

use std::{fmt, process, sync::Arc, thread, time::Duration};

use tokio::sync::Semaphore;
use wasmtime::{
    Config, Engine, EngineWeak, Module,
    component::{Component, Linker},
};

use crate::advice::{Advice, Build};

use super::{
    Capabilities, CompileLimits, Compiler, ErrorKind, ScoreError,
    admission::Admission,
    cache::{Cache, CacheOptions},
    code::{Code, SplitCode, Way},
    compile_limits::{CompileBudget, CompileError},
    core_call::{self, CoreCall, Room},
    image::Image,
    imports,
    kept_code::KeptCodes,
    settings::{self, Allocation, Traps},
    split,
    state::State,
};

/// The version of wasmtime that is linked in; fuel is comparable only within one version.
pub const WASMTIME_VERSION: &str = wasmtime_environ::VERSION;

/// How often a running guest checks the clock.
pub(super) const TICK: Duration = Duration::from_millis(5);

/// How many components are compiled at the same time: each uses all cores by itself, and memory up to its limit.
const COMPILATIONS: usize = 2;

/// How many small memories are frozen at the same time; a large one is frozen alone.
pub(super) const FREEZINGS: u32 = 4;

/// How the sandbox is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SandboxOptions {
    /// How many sandboxes may exist at once, 1 to 4096. The pool has room for as many; any further score waits until
    /// one is free. With a slot for each scorer and worker, a scorer's memory image stays mapped between two scores.
    pub slots: u32,
    /// The memory of all sandboxes together, in bytes. A score takes its whole limit from this budget before it begins,
    /// and waits until that much is free.
    pub memory_budget_bytes: u64,
    /// Where compiled code is kept; `None` for nowhere.
    pub cache: Option<CacheOptions>,
    /// Where components are compiled.
    pub compiler: Compiler,
    /// What compiling one scorer may use.
    pub compile_limits: CompileLimits,
    /// What scorers with a grant can see of the outside.
    pub capabilities: Capabilities,
    /// Whether a component's code is compiled once for all of its configurations, if it can be separated from its
    /// memory. Without this option, every configuration must be compiled; scores and their costs are the same, which a
    /// test shows.
    pub code_apart: bool,
    /// Whether an instance may score case after case, reset in between to its state before anything ran in it: every
    /// byte of its memory and every global. This is done only where nothing else can change. Without this option, each
    /// score makes a separate instance, which takes more time; scores and their costs are the same, which a test shows.
    pub instances_kept: bool,
    /// Whether a guest's invalid accesses are detected through processor signals, for which this process then has
    /// handlers. Without them, the code itself checks each access to memory, which makes scorers that work on long
    /// texts slower (by a tenth to a quarter); scores and fuel are the same, which a test shows. A host that later
    /// installs handlers for the same signals, as interpreters do (Python's `faulthandler`), must disable this option,
    /// because the first trap would end the process.
    pub signals_based_traps: bool,
}

/// The default for the memory of all sandboxes together: 4 GiB.
pub const DEFAULT_MEMORY_BUDGET_BYTES: u64 = 4 << 30;

impl Default for SandboxOptions {
    /// One slot, no cache, no capabilities, compiling in a process of this program, traps by signals.
    fn default() -> SandboxOptions {
        SandboxOptions {
            slots: 1,
            memory_budget_bytes: DEFAULT_MEMORY_BUDGET_BYTES,
            cache: None,
            compiler: Compiler::default(),
            compile_limits: CompileLimits::default(),
            capabilities: Capabilities::none(),
            code_apart: true,
            instances_kept: true,
            signals_based_traps: true,
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

    /// The same with this [`instances_kept`](SandboxOptions::instances_kept).
    #[must_use]
    pub fn with_instances_kept(mut self, instances_kept: bool) -> SandboxOptions {
        self.instances_kept = instances_kept;
        self
    }

    /// The same with this [`signals_based_traps`](SandboxOptions::signals_based_traps).
    #[must_use]
    pub fn with_signals_based_traps(mut self, signals_based_traps: bool) -> SandboxOptions {
        self.signals_based_traps = signals_based_traps;
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
    /// If there is no pool, refuses what a pool would refuse.
    checking: Option<Engine>,
    pub(super) linker: Linker<State>,
    /// What code that is called without its component may import.
    pub(super) core_linker: wasmtime::Linker<State>,
    pub(super) admission: Admission,
    /// Room for instances that are kept for the next case; `None` if none are kept.
    pub(super) room: Option<Room>,
    pub(super) cache: Option<Cache>,
    pub(super) capabilities: Capabilities,
    compiler: Compiler,
    compile_limits: CompileLimits,
    compiling: Semaphore,
    traps: Traps,
    /// The process whose threads score and count the time.
    process: u32,
    pub(super) kept: KeptCodes,
    /// Held while a memory is frozen, because that takes many times its size.
    pub(super) freezing: Semaphore,
    /// How code that can be separated from its state is compiled.
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
    pub const MAX_SLOTS: u32 = 4096;

    /// Sets up wasmtime. Uses a pool if there is address space for one.
    ///
    /// # Errors
    /// If wasmtime does not run on this machine at all, or if the program should compile in a separate process but its
    /// `main` does not begin as required ([`compile_if_asked`](super::compile_if_asked)).
    pub fn new(options: &SandboxOptions) -> Result<Sandbox, ScoreError> {
        let sandbox = Sandbox::without_ticks(options)?;
        let engine = sandbox.shared().engine.weak();
        start_ticking(engine).map_err(|error| unusable(&error.into()))?;
        Ok(sandbox)
    }

    /// A sandbox whose clock does not tick: no running guest checks its time, however busy the machine is.
    pub(super) fn without_ticks(options: &SandboxOptions) -> Result<Sandbox, ScoreError> {
        options.compiler.command()?;
        let slots = options.slots.clamp(1, Sandbox::MAX_SLOTS);
        let traps = if options.signals_based_traps { Traps::Signals } else { Traps::Checks };
        // If a separate process compiles, only small data modules are compiled here. The threads that would share the
        // work outlive it, and a process that is forked later would wait for them.
        let compiles_here = matches!(options.compiler, Compiler::InProcess);
        let engine_of =
            |mut config: Config| Engine::new(config.parallel_compilation(compiles_here));
        let kept = if options.instances_kept { settings::kept_instances(slots) } else { 0 };
        let pooling = |kept| engine_of(settings::pooling(slots, kept, traps));
        let of_pool = |kept| move |engine| (engine, kept);
        // If there is less address space, no instances are kept.
        let pool = pooling(kept).map(of_pool(kept)).or_else(|_| pooling(0).map(of_pool(0)));
        let (engine, checking, allocation, kept) = match pool {
            Ok((engine, kept)) => (engine, None, Allocation::Pooling, kept),
            Err(error) => {
                let engine = engine_of(settings::on_demand(traps)).map_err(|e| unusable(&e))?;
                let checking = engine_of(settings::checking(traps)).map_err(|e| unusable(&e))?;
                let allocation = Allocation::OnDemand { reason: format!("{error:#}") };
                (engine, Some(checking), allocation, 0)
            }
        };
        let room = (kept > 0).then(|| Room::new(kept)).flatten();
        let linker = imports::linker(&engine).map_err(|error| unusable(&error))?;
        let core_linker = core_call::linker(&engine).map_err(|error| unusable(&error))?;
        let mut warnings = Vec::new();
        let cache = options.cache.as_ref().and_then(|options| {
            Cache::open(options).map_err(|warning| warnings.push(warning)).ok()
        });
        Ok(Sandbox(Arc::new(Shared {
            engine,
            checking,
            linker,
            core_linker,
            admission: Admission::new(slots, options.memory_budget_bytes),
            room,
            cache,
            capabilities: options.capabilities.clone(),
            compiler: options.compiler.clone(),
            compile_limits: options.compile_limits.clone(),
            compiling: Semaphore::new(COMPILATIONS),
            traps,
            process: process::id(),
            kept: KeptCodes::default(),
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

    /// Whether instances may be kept for the next case here: the [option](SandboxOptions::instances_kept) is enabled,
    /// there is a pool, and the system can report what a score wrote (Linux 6.7 and later).
    pub fn keeps_instances(&self) -> bool {
        self.0.room.is_some()
    }

    /// What does not work although scoring does, in one sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.0.warnings
    }

    /// Why compiled code was not kept, if some was not: a sentence that is known once a scorer was loaded.
    pub fn cache_trouble(&self) -> Option<&str> {
        self.0.cache.as_ref()?.trouble()
    }

    /// What scorers with a grant can see of the outside here.
    pub fn capabilities(&self) -> &Capabilities {
        &self.0.capabilities
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.0
    }

    /// Refuses to work in a process that was forked from the one that made the sandbox: threads are not forked, so no
    /// time-out would apply there, and waiting for another thread would never end.
    pub(super) fn must_be_of_this_process(&self) -> Result<(), ScoreError> {
        if self.0.process == process::id() {
            return Ok(());
        }
        let message = "this process was forked from the one that made the sandbox, and has none of its threads";
        Err(ScoreError::new(ErrorKind::Failed, message).with(Advice::MakeSandboxAfterFork))
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
            let Some(scoring) = &code.code else { return Image::new(&linker, &code.shell) };
            linker.root().module(split::CODE_IMPORT, &scoring.module)?;
            let core = CoreCall::new(&self.shared().core_linker, scoring, data);
            Ok(Image::new(&linker, &code.shell)?.with_core(core))
        };
        link().map_err(|error| does_not_fit(&error))
    }

    /// The time for all compiling of one load.
    pub(super) fn compile_budget(&self) -> CompileBudget {
        CompileBudget::new(&self.shared().compile_limits)
    }

    /// Compiles a component, off the threads that score; with `beside`, only what that does not have already. Waiting
    /// for a turn does not count.
    pub(super) async fn compile(
        &self,
        bytes: &[u8],
        way: Way,
        beside: Option<&SplitCode>,
        budget: &CompileBudget,
    ) -> Result<(Code, Vec<u8>), CompileError> {
        let Shared {
            engine, checking, allocation, traps, compiler, compile_limits, compiling, ..
        } = self.shared();
        // The semaphore is never closed.
        let _turn = compiling.acquire().await;
        if let Some(checking) = checking {
            // What a component may contain does not depend on the machine. Only a pool checks all of it, and only in
            // code that was compiled for it.
            let pooling = (&Allocation::Pooling, *traps);
            let whole = (bytes, Way::Whole, None);
            compiler.compile(checking, pooling, whole, compile_limits, budget).await?;
        }
        let settings = (allocation, *traps);
        compiler.compile(engine, settings, (bytes, way, beside), compile_limits, budget).await
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
