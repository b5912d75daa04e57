//! Converts wasmtime's errors to those of `error`. It decides nothing but the kind and the text.

use std::{char::DecodeUtf16Error, str::Utf8Error};

use wasmtime::{Trap, WasmBacktrace, component::ResourceTableError};

pub(super) use crate::cut::cut;
use crate::{
    advice::{Advice, Bound, Build, Limit},
    judge::JudgeErrorKind,
};

use super::{
    ErrorKind, Limits, ScoreError, asking::NoAnswer, clock::TimeIsUp, host_trouble, phrases,
    state::State,
};

/// The most frames of a backtrace that are shown.
const FRAMES: usize = 12;
/// The most bytes of a frame's name.
const FRAME_BYTES: usize = 400;
/// The most bytes of a crashed scorer's last message.
const LAST_WORDS_BYTES: usize = 2 << 10;

/// The error for a failed call, in view of what the store has recorded.
pub(super) fn of_call(error: &wasmtime::Error, state: &State, limits: &Limits) -> ScoreError {
    if error.is::<TimeIsUp>() {
        return timed_out(limits);
    }
    if let Some(why) = error.downcast_ref::<NoAnswer>() {
        return no_answer(why, limits);
    }
    if let Some(resource) = host_trouble::lacking(error) {
        let message = format!("the system has no room for the score: {}", error.root_cause());
        return ScoreError::new(ErrorKind::OutOfResources, message)
            .with(Advice::GiveMore(resource));
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
            "the scorer needs {wanted} bytes of memory, more than its limit of {}\n{}",
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
    crash(error, trap, state)
}

/// The error for a guest's question that has no answer.
pub(super) fn no_answer(why: &NoAnswer, limits: &Limits) -> ScoreError {
    let (kind, advice) = match why {
        NoAnswer::Unreadable(_) => (ErrorKind::JudgeUnreadable, None),
        NoAnswer::Waits | NoAnswer::Nobody(_) => (ErrorKind::Failed, None),
        NoAnswer::TooMuch(_) => (ErrorKind::Failed, None),
        NoAnswer::Judge(error) => match error.kind {
            JudgeErrorKind::InvalidQuestion => (ErrorKind::Failed, None),
            JudgeErrorKind::ModelNotAllowed => (ErrorKind::JudgeRefused, error.advice.clone()),
            JudgeErrorKind::OverBudget(_) => (ErrorKind::JudgeOverBudget, None),
            JudgeErrorKind::CostUnknown(_) => {
                (ErrorKind::JudgeOverBudget, Some(Advice::BoundCalls))
            }
            JudgeErrorKind::Refused => (ErrorKind::JudgeRefused, None),
            JudgeErrorKind::Unavailable | JudgeErrorKind::Recordings => {
                (ErrorKind::JudgeUnavailable, None)
            }
            JudgeErrorKind::TimedOut => (ErrorKind::JudgeTimedOut, None),
            JudgeErrorKind::Limited => (ErrorKind::JudgeLimited, None),
            JudgeErrorKind::Stopped => (ErrorKind::JudgeStopped, None),
            JudgeErrorKind::NotRecorded => (ErrorKind::JudgeNotRecorded, None),
        },
    };
    let message = cut(&why.to_string(), limits.reason_bytes);
    ScoreError { advice: advice.or(kind.advice()), ..ScoreError::new(kind, message) }
}

/// The error for a function whose type does not match the contract: found when an instance is made, before any of it
/// runs.
pub(super) fn mismatch(error: &wasmtime::Error) -> ScoreError {
    let cause = error.root_cause();
    let message = format!("the component does not fit the contract: {cause}");
    ScoreError::new(ErrorKind::InvalidComponent, message)
        .with(Advice::Build(Build::AgainstContract))
}

/// The error of a time-out, with the limit.
pub(super) fn timed_out(limits: &Limits) -> ScoreError {
    let most = limits.timeout.as_millis();
    let message = format!("no answer within {most} ms; the scorer was stopped");
    ScoreError::new(ErrorKind::TimedOut, message).with(Advice::Raise(Limit::Timeout))
}

/// The error of a part of a result that exceeds its limit; `raise` names the limit, if it can be raised.
pub(super) fn too_large(what: &str, size: usize, limit: usize, raise: Option<Limit>) -> ScoreError {
    let message = format!("{what} has {size} bytes; the limit is {limit}");
    ScoreError::new(ErrorKind::OutputTooLarge, message)
        .with(Advice::Shorten(raise.into_iter().collect()))
}

/// The error of an export other than `score`.
pub(super) fn during(export: &str, mut error: ScoreError) -> ScoreError {
    error.message = format!("in `{export}`: {}", error.message);
    error
}

fn crash(error: &wasmtime::Error, trap: Option<&Trap>, state: &State) -> ScoreError {
    let crashed = ScoreError::new(ErrorKind::Trap, crash_report(error, trap, state));
    match fixed_bound(error) {
        Some(bound) => crashed.with(Advice::Bound(bound)),
        None if breaks_the_contract(error, trap) => {
            crashed.with(Advice::Build(Build::WithSoundBindings))
        }
        None => crashed,
    }
}

/// wasmtime's own message.
fn cause(error: &wasmtime::Error, trap: Option<&Trap>) -> String {
    match trap {
        Some(trap) => trap.to_string(),
        None => cut(&error.root_cause().to_string(), LAST_WORDS_BYTES),
    }
}

/// The last message, the cause and the backtrace.
fn crash_report(error: &wasmtime::Error, trap: Option<&Trap>, state: &State) -> String {
    let cause = cause(error, trap);
    let cause = match breaks_the_contract(error, trap) {
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

/// Whether an error has this type, or was caused by one that has.
fn is<E: std::error::Error + Send + Sync + 'static>(error: &wasmtime::Error) -> bool {
    error.is::<E>() || error.root_cause().is::<E>()
}

/// Whether a guest returned a value that breaks the component model's rules, or an offset outside its memory.
fn breaks_the_contract(error: &wasmtime::Error, trap: Option<&Trap>) -> bool {
    match trap {
        Some(trap) => [Trap::CannotLeaveComponent, Trap::InvalidDiscriminant].contains(trap),
        None => {
            is::<Utf8Error>(error)
                || is::<DecodeUtf16Error>(error)
                || phrases::says(&error.root_cause().to_string(), &phrases::BREAKS_THE_CONTRACT)
        }
    }
}

/// The bound of a host resource that the guest reached, if no limit raises it.
fn fixed_bound(error: &wasmtime::Error) -> Option<Bound> {
    let cause = error.root_cause();
    let text = cause.to_string();
    let said = |words: &[&str]| phrases::says(&text, words);
    let found = error.downcast_ref().or_else(|| cause.downcast_ref());
    let no_free_handle = matches!(found, Some(ResourceTableError::Full));
    if no_free_handle || said(&[phrases::TOO_MANY_HANDLES]) {
        Some(Bound::Handles(super::settings::COMPONENT_HANDLES))
    } else if said(&phrases::PRINTS_TOO_MUCH) {
        Some(Bound::PrintedBytes(super::wasi::PRINTED_BYTES))
    } else if said(&[phrases::TOO_MUCH_RANDOMNESS]) {
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
    error.chain().any(|cause| phrases::says(&cause.to_string(), &[phrases::HANDS_OVER_TOO_MUCH]))
}
