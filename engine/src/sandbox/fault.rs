//! wasmtime's errors in the words of `error`. Decides nothing but the kind and the text.

use wasmtime::{Trap, WasmBacktrace};

use super::{ErrorKind, Limits, ScoreError, state::State};

/// Frames of a backtrace that are shown.
const FRAMES: usize = 12;
/// Bytes of one error message.
const MESSAGE_BYTES: usize = 8 << 10;

/// The clock's verdict, raised inside a running guest.
#[derive(Debug, thiserror::Error)]
#[error("the time-out is over")]
pub(super) struct TimeIsUp;

/// What a failed call means, in the light of what the store has noted.
pub(super) fn of_call(error: &wasmtime::Error, state: &State, limits: &Limits) -> ScoreError {
    if error.is::<TimeIsUp>() {
        return timed_out(limits);
    }
    let trap = error.downcast_ref::<Trap>();
    if trap == Some(&Trap::OutOfFuel) {
        return ScoreError::new(
            ErrorKind::OutOfFuel,
            format!("the scorer used up its {} fuel", limits.fuel),
        )
        .hint("if it needs more, raise it: `limits = { fuel = … }` in the suite, or --fuel");
    }
    if let Some(wanted) = state.limiter.refused_bytes() {
        return ScoreError::new(
            ErrorKind::OutOfMemory,
            format!("the scorer wanted {wanted} bytes of memory; the limit is {}", limits.memory_bytes),
        )
        .hint("if it needs more, raise it: `limits = { memory = \"…MiB\" }` in the suite, or --memory");
    }
    if transfers_too_much(error) {
        return too_large("the result", limits.transfer_bytes());
    }
    crash(error, trap, state)
}

/// The time-out of a score, in the words of the limits.
pub(super) fn timed_out(limits: &Limits) -> ScoreError {
    ScoreError::new(
        ErrorKind::TimedOut,
        format!("no answer within {} ms; the scorer was stopped", limits.timeout.as_millis()),
    )
    .hint(
        "if it needs longer, raise it: `limits = { timeout = \"…s\" }` in the suite, or --timeout",
    )
}

/// A part of a result beyond its limit.
pub(super) fn too_large(what: &str, limit: usize) -> ScoreError {
    ScoreError::new(ErrorKind::OutputTooLarge, format!("{what} is larger than {limit} bytes")).hint(
        "have the scorer shorten it; the limits are `reason` and `meta` in the suite's `limits`",
    )
}

fn crash(error: &wasmtime::Error, trap: Option<&Trap>, state: &State) -> ScoreError {
    let cause = match trap {
        Some(trap) => trap.to_string(),
        None => error.root_cause().to_string(),
    };
    let mut message = match state.log.last_error() {
        Some(last_words) => format!("{last_words}\n({cause})"),
        None => cause,
    };
    if let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() {
        for frame in backtrace.frames().iter().take(FRAMES) {
            let name = frame
                .func_name()
                .map_or_else(|| format!("function {}", frame.func_index()), rustc_name);
            message.push_str("\n  at ");
            message.push_str(&name);
        }
    }
    message.truncate(message.floor_char_boundary(MESSAGE_BYTES));
    ScoreError::new(ErrorKind::Trap, message)
}

/// A function's name as its author wrote it: demangled, without rustc's hash.
fn rustc_name(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

fn transfers_too_much(error: &wasmtime::Error) -> bool {
    // wasmtime has no type for this error.
    error.chain().any(|cause| cause.to_string().contains("fuel allocated for hostcalls"))
}
