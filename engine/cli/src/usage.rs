//! Explains errors of arguments, where clap does not report what is allowed. It prints nothing.

use std::{
    error::Error as _,
    num::{IntErrorKind, ParseIntError},
};

use clap::{
    Command, Error,
    builder::StyledStr,
    error::{ContextKind, ContextValue, ErrorKind},
};

/// The error, with the values that the user can write.
pub(crate) fn explained(error: Error, command: &Command) -> Error {
    match error.kind() {
        ErrorKind::ValueValidation => whole_number(error, command),
        ErrorKind::UnknownArgument => no_output(error),
        _ => error,
    }
}

/// Replaces the message of Rust's number parser by what a whole number is.
fn whole_number(error: Error, command: &Command) -> Error {
    let why = error.source().and_then(|source| source.downcast_ref::<ParseIntError>());
    let tip = match why.map(ParseIntError::kind) {
        Some(IntErrorKind::PosOverflow) => "the number is too large",
        Some(_) => "this is a whole number of 0 or more, written in digits alone: 1000000",
        None => return error,
    };
    let mut explained = Error::new(ErrorKind::ValueValidation).with_cmd(command);
    for (kind, value) in error.context() {
        explained.insert(kind, value.clone());
    }
    with_tip(explained, tip)
}

/// Removes clap's suggestion for `--output`: the option with the closest name sends scores to a server, which is not
/// what the user wants.
fn no_output(mut error: Error) -> Error {
    let is = |kind, text: &str| matches!(error.get(kind), Some(ContextValue::String(it)) if it.starts_with(text));
    if !is(ContextKind::InvalidArg, "--out") || !is(ContextKind::SuggestedArg, "--otlp") {
        return error;
    }
    error.remove(ContextKind::SuggestedArg);
    // The usage line shows the same option.
    error.remove(ContextKind::Usage);
    with_tip(error, "`--report FORMAT=FILE` writes a report; the summary goes to standard output")
}

fn with_tip(mut error: Error, tip: &'static str) -> Error {
    let tips = vec![StyledStr::from(tip)];
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    error
}
