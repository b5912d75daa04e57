//! wasmtime's errors in the words of `error`. Decides nothing but the kind and the text.

use wasmtime::{Trap, WasmBacktrace};

use crate::advice::{Advice, Bound, Build, Limit};
pub(super) use crate::cut::cut;

use super::{ErrorKind, Limits, ScoreError, state::State};

/// Frames of a backtrace that are shown.
const FRAMES: usize = 12;
/// Bytes of a frame's name.
const FRAME_BYTES: usize = 400;
/// Bytes of a crashed scorer's last words.
const LAST_WORDS_BYTES: usize = 2 << 10;

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
        .with(Advice::Raise(Limit::Fuel));
    }
    if let Some(wanted) = state.limiter.refused_bytes() {
        let message = format!(
            "the scorer wanted {wanted} bytes of memory; the limit is {}\n{}",
            limits.memory_bytes,
            crash_report(error, trap, state)
        );
        return ScoreError::new(ErrorKind::OutOfMemory, message).with(Advice::Raise(Limit::Memory));
    }
    if transfers_too_much(error) {
        return ScoreError::new(
            ErrorKind::OutputTooLarge,
            format!(
                "the scorer handed over more than {} bytes, the most of one result with its log",
                limits.transfer_bytes()
            ),
        )
        .with(Advice::Shorten(Limit::OF_OUTPUT.to_vec()));
    }
    if let Some(mismatch) = mismatch(error) {
        return mismatch;
    }
    crash(error, trap, state)
}

/// A function whose type is not the contract's: found when an instance is made, before anything runs.
fn mismatch(error: &wasmtime::Error) -> Option<ScoreError> {
    let cause = error.root_cause().to_string();
    let types = cause.starts_with("expected `") && cause.contains("` found `");
    (types && !error.is::<WasmBacktrace>()).then(|| {
        ScoreError::new(
            ErrorKind::InvalidComponent,
            format!("the component does not fit the contract: {cause}"),
        )
        .with(Advice::Build(Build::AgainstContract))
    })
}

/// The time-out of a score, in the words of the limits.
pub(super) fn timed_out(limits: &Limits) -> ScoreError {
    ScoreError::new(
        ErrorKind::TimedOut,
        format!("no answer within {} ms; the scorer was stopped", limits.timeout.as_millis()),
    )
    .with(Advice::Raise(Limit::Timeout))
}

/// A part of a result beyond its limit; `raise` is its name, where it can be raised.
pub(super) fn too_large(what: &str, size: usize, limit: usize, raise: Option<Limit>) -> ScoreError {
    let message = format!("{what} has {size} bytes; the limit is {limit}");
    ScoreError::new(ErrorKind::OutputTooLarge, message)
        .with(Advice::Shorten(raise.into_iter().collect()))
}

/// The error of another export than `score`.
pub(super) fn during(export: &str, mut error: ScoreError) -> ScoreError {
    error.message = format!("in `{export}`: {}", error.message);
    error
}

fn crash(error: &wasmtime::Error, trap: Option<&Trap>, state: &State) -> ScoreError {
    let crashed = ScoreError::new(ErrorKind::Trap, crash_report(error, trap, state));
    match fixed_bound(error) {
        Some(bound) => crashed.with(Advice::Bound(bound)),
        None if breaks_the_contract(&cause(error, trap)) => {
            crashed.with(Advice::Build(Build::WithSoundBindings))
        }
        None => crashed,
    }
}

/// wasmtime's own words.
fn cause(error: &wasmtime::Error, trap: Option<&Trap>) -> String {
    match trap {
        Some(trap) => trap.to_string(),
        None => cut(&error.root_cause().to_string(), LAST_WORDS_BYTES),
    }
}

/// Last words, cause and backtrace.
fn crash_report(error: &wasmtime::Error, trap: Option<&Trap>, state: &State) -> String {
    let cause = cause(error, trap);
    let cause = match breaks_the_contract(&cause) {
        true => format!("what the scorer handed over breaks the contract: {cause}"),
        false => cause,
    };
    let mut report = match state.log.last_words() {
        Some(last_words) => format!("{}\n({cause})", cut(&last_words, LAST_WORDS_BYTES)),
        None => cause,
    };
    if let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() {
        for frame in backtrace.frames().iter().take(FRAMES) {
            let name = frame
                .func_name()
                .map_or_else(|| format!("function {}", frame.func_index()), rustc_name);
            report.push_str("\n  at ");
            report.push_str(&cut(&name, FRAME_BYTES));
        }
    }
    report
}

/// Whether `cause` is one of wasmtime's words for a value that breaks the component model's rules on its
/// way out of a guest.
fn breaks_the_contract(cause: &str) -> bool {
    const WORDS: [&str; 8] = [
        "invalid utf-8 sequence",
        "incomplete utf-8 byte sequence",
        "pointer/length out of bounds of memory",
        "pointer is not aligned",
        "pointer not aligned",
        "discriminant",
        "beyond end of memory",
        "cannot leave component instance",
    ];
    WORDS.iter().any(|words| cause.contains(words))
}

/// The bounds of host resources that no limit raises, by wasmtime's words for reaching them.
fn fixed_bound(error: &wasmtime::Error) -> Option<Bound> {
    let cause = error.root_cause().to_string();
    let said = |words: &[&str]| words.iter().any(|words| cause.contains(words));
    if said(&["resource table has no free keys", "handle limit exceeded"]) {
        Some(Bound::Handles(super::score::COMPONENT_HANDLES))
    } else if said(&["write beyond capacity", "than `check_write` allows"]) {
        Some(Bound::PrintedBytes(super::wasi::PRINTED_BYTES))
    } else if said(&["requested len"]) {
        Some(Bound::RandomBytes(super::wasi::RANDOM_BYTES))
    } else {
        None
    }
}

/// A function's name as its author wrote it: demangled, without rustc's hash.
fn rustc_name(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

fn transfers_too_much(error: &wasmtime::Error) -> bool {
    // wasmtime has no type for this error.
    error.chain().any(|cause| cause.to_string().contains("fuel allocated for hostcalls"))
}
