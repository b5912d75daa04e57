//! Sets up an engine. It scores nothing.

use std::{path::PathBuf, sync::Arc, thread};

use crate::{
    judge::Judges,
    registry::Registry,
    run::DEFAULT_WAITING,
    sandbox::{CacheOptions, Capabilities, CompileLimits, Compiler, Sandbox, SandboxOptions},
    workspace::WorkspaceFolder,
};

use super::{Engine, EngineError};

/// How many sandboxes there are for each job, so that the scorers of a suite keep theirs from case to case.
const SLOTS_FOR_EACH_JOB: usize = 8;
/// The most sandboxes that are kept for scorers that do not wait.
const MAX_WARM_SLOTS: usize = 256;

/// An engine that is being set up. By default it has a job for each core, no cache, no workspace, no judges, and the
/// memory budget of [`SandboxOptions`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct EngineBuilder {
    jobs: Option<usize>,
    cache: Option<PathBuf>,
    workspace: Option<PathBuf>,
    left_out: Vec<String>,
    judges: Judges,
    memory_budget_bytes: Option<u64>,
    compiler: Option<Compiler>,
    compile_limits: Option<CompileLimits>,
    signals_based_traps: Option<bool>,
}

impl EngineBuilder {
    /// How many scores are computed at the same time, at least 1.
    pub fn jobs(self, jobs: usize) -> EngineBuilder {
        EngineBuilder { jobs: Some(jobs), ..self }
    }

    /// Keeps compiled code in this folder, which is created if it is missing. Only the user may have permission to
    /// write there; if the folder cannot be used, [`Engine::warnings`] has the reason.
    pub fn cache(self, folder: impl Into<PathBuf>) -> EngineBuilder {
        EngineBuilder { cache: Some(folder.into()), ..self }
    }

    /// Lets scorers with the grant read the files that tasks left: the folders that cases name in `workspace` are
    /// below this one, which must exist.
    pub fn workspace(self, folder: impl Into<PathBuf>) -> EngineBuilder {
        EngineBuilder { workspace: Some(folder.into()), ..self }
    }

    /// Omits the files that match this pattern from workspaces, like [`WorkspaceFolder::without`].
    pub fn workspace_without(mut self, pattern: impl Into<String>) -> EngineBuilder {
        self.left_out.push(pattern.into());
        self
    }

    /// The judges that scorers with the grant may ask. A scorer asks the judge `default`, or the one that
    /// [`ScorerLoader::judge`](super::ScorerLoader::judge) or its entry in a suite names. A suite's own judges are only
    /// settings: connect them with the crate `scorebox-judges`.
    pub fn judges(self, judges: Judges) -> EngineBuilder {
        EngineBuilder { judges, ..self }
    }

    /// The memory of all sandboxes together, in bytes.
    pub fn memory_budget_bytes(self, bytes: u64) -> EngineBuilder {
        EngineBuilder { memory_budget_bytes: Some(bytes), ..self }
    }

    /// Where components are compiled. By default, in a process of this same program, whose `main` must begin with
    /// [`compile_if_asked`](crate::sandbox::compile_if_asked).
    pub fn compiler(self, compiler: Compiler) -> EngineBuilder {
        EngineBuilder { compiler: Some(compiler), ..self }
    }

    /// What compiling one scorer may use.
    pub fn compile_limits(self, limits: CompileLimits) -> EngineBuilder {
        EngineBuilder { compile_limits: Some(limits), ..self }
    }

    /// Whether traps are detected through signals, which is the default; see [`SandboxOptions::signals_based_traps`].
    pub fn signals_based_traps(self, signals_based_traps: bool) -> EngineBuilder {
        EngineBuilder { signals_based_traps: Some(signals_based_traps), ..self }
    }

    /// Builds the engine.
    ///
    /// # Errors
    /// If the workspace cannot be opened, or wasmtime does not run on this machine.
    pub fn build(self) -> Result<Engine, EngineError> {
        let jobs =
            self.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, Into::into));
        let jobs = jobs.max(1);
        let warm = jobs.saturating_mul(SLOTS_FOR_EACH_JOB).min(MAX_WARM_SLOTS).max(jobs);
        let slots = u32::try_from(warm.saturating_add(DEFAULT_WAITING)).unwrap_or(u32::MAX);
        let mut options = SandboxOptions::default()
            .with_slots(slots)
            .with_cache(self.cache.map(CacheOptions::new))
            .with_capabilities(
                capabilities(self.workspace, &self.left_out)?.with_judges(self.judges),
            );
        if let Some(bytes) = self.memory_budget_bytes {
            options = options.with_memory_budget_bytes(bytes);
        }
        if let Some(compiler) = self.compiler {
            options = options.with_compiler(compiler);
        }
        if let Some(limits) = self.compile_limits {
            options = options.with_compile_limits(limits);
        }
        if let Some(by_signals) = self.signals_based_traps {
            options = options.with_signals_based_traps(by_signals);
        }
        let sandbox =
            Sandbox::new(&options).map_err(|error| EngineError::Sandbox(Box::new(error)))?;
        Ok(Engine { sandbox, registry: Arc::new(Registry::with_builtins()), jobs })
    }
}

fn capabilities(
    workspace: Option<PathBuf>,
    left_out: &[String],
) -> Result<Capabilities, EngineError> {
    let Some(folder) = workspace else { return Ok(Capabilities::none()) };
    let folder = WorkspaceFolder::open(&folder)?.without(left_out)?;
    Ok(Capabilities::none().with_workspace(folder))
}
