//! Defines what compiling may use, and why a component was not compiled. `compile` does the compiling.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::advice::{Advice, Build, Limit};

use super::{ErrorKind, ScoreError, cut, phrases, settings};

/// The most bytes of a failed compiler process's message that are shown.
pub(super) const COMPLAINT_BYTES: u64 = 4 << 10;

/// What compiling one scorer may use.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompileLimits {
    /// The time for all compiling during one load of a scorer (up to three components). In a separate process it is
    /// processor time, of all cores together, so that it does not depend on other load on the machine; with
    /// [`Compiler::InProcess`](super::Compiler::InProcess), it is wall-clock time.
    pub timeout: Duration,
    /// The most memory of the compiler process, in bytes; not bounded if this process compiles.
    pub memory_bytes: u64,
}

impl Default for CompileLimits {
    fn default() -> CompileLimits {
        CompileLimits { timeout: Duration::from_secs(120), memory_bytes: 2 << 30 }
    }
}

impl CompileLimits {
    /// The same with this [`timeout`](CompileLimits::timeout).
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> CompileLimits {
        self.timeout = timeout;
        self
    }

    /// The same with this [`memory_bytes`](CompileLimits::memory_bytes).
    #[must_use]
    pub fn with_memory_bytes(mut self, memory_bytes: u64) -> CompileLimits {
        self.memory_bytes = memory_bytes;
        self
    }
}

/// The time for all compiling of one load. Clones share it.
#[derive(Clone)]
pub(super) struct CompileBudget {
    /// In microseconds.
    left: Arc<AtomicU64>,
}

impl CompileBudget {
    pub(super) fn new(limits: &CompileLimits) -> CompileBudget {
        CompileBudget { left: Arc::new(micros(limits.timeout).into()) }
    }

    /// The time that is left.
    pub(super) fn left(&self) -> Duration {
        Duration::from_micros(self.left.load(Ordering::Relaxed))
    }

    /// Subtracts the time that compiling took.
    pub(super) fn spend(&self, time: Duration) {
        let less = |left: u64| Some(left.saturating_sub(micros(time)));
        // The closure never returns `None`.
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Why a component was not compiled.
#[derive(Debug)]
pub(super) enum CompileError {
    /// Because of the component: no machine compiles it.
    OfTheComponent(ScoreError),
    /// Because of this machine, or of a limit: it may compile elsewhere.
    OfTheMachine(ScoreError),
}

impl From<CompileError> for ScoreError {
    fn from(error: CompileError) -> ScoreError {
        match error {
            CompileError::OfTheComponent(error) | CompileError::OfTheMachine(error) => error,
        }
    }
}

/// The error of a component that no machine compiles.
pub(super) fn does_not_compile(why: &str) -> CompileError {
    CompileError::OfTheComponent(invalid_component(why))
}

fn invalid_component(why: &str) -> ScoreError {
    let invalid = |why: &str| {
        let why = why.strip_prefix(phrases::DOES_NOT_PARSE).unwrap_or(why);
        ScoreError::new(
            ErrorKind::InvalidComponent,
            format!(
                "the component does not compile: {}",
                cut(why.trim(), COMPLAINT_BYTES as usize)
            ),
        )
    };
    if why.contains(phrases::IS_ASYNCHRONOUS) {
        return invalid(why).with(Advice::Build(Build::WithoutAsync));
    }
    if !why.contains(phrases::DOES_NOT_FIT_THE_POOL) {
        return invalid(why);
    }
    let (_, detail) = why.split_once(phrases::POOL_REQUIREMENTS).unwrap_or(("", why));
    let detail = detail.replace(" in the pooling allocator", "");
    let first_line = detail.lines().next().unwrap_or_default();
    invalid(&format!("it needs more than a sandbox has: {first_line}"))
        .with(Advice::Bound(settings::SHAPE))
}

pub(super) fn out_of_processor_time(limits: &CompileLimits) -> CompileError {
    out_of_time(limits, "more than", " of processor time")
}

pub(super) fn out_of_time(limits: &CompileLimits, more: &str, of_what: &str) -> CompileError {
    let milliseconds = limits.timeout.as_millis();
    let message = format!("compiling the scorer took {more} {milliseconds} ms{of_what}");
    over_the_limit(message, Limit::CompileTime)
}

pub(super) fn too_large(limits: &CompileLimits) -> CompileError {
    let bytes = limits.memory_bytes;
    let message = format!("compiling the scorer took more than {bytes} bytes of memory");
    over_the_limit(message, Limit::CompileMemory)
}

/// The system could not start a thread for compiling.
pub(super) fn no_thread(why: &str) -> CompileError {
    let message = format!(
        "no thread could be started to compile the scorer: the machine is short of memory, or a limit on threads \
         (`ulimit -u`, or that of a container) is reached: {why}"
    );
    let error = ScoreError::new(ErrorKind::Failed, message);
    CompileError::OfTheMachine(error.with(Advice::TryLater))
}

fn over_the_limit(message: String, limit: Limit) -> CompileError {
    let error = ScoreError::new(ErrorKind::InvalidComponent, message);
    CompileError::OfTheMachine(error.with(Advice::Raise(limit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_compiling_of_a_load_is_of_one_budget() {
        let timeout = Duration::from_millis(500);
        let budget = CompileBudget::new(&CompileLimits { timeout, ..CompileLimits::default() });
        let same = budget.clone();
        budget.spend(Duration::from_millis(200));
        same.spend(Duration::from_millis(100));
        assert_eq!(budget.left(), Duration::from_millis(200));
        same.spend(Duration::MAX);
        assert_eq!(budget.left(), Duration::ZERO);
    }
}
