//! Writes messages to standard error: errors, hints, warnings, but never data. It ignores failures to write there: no
//! one would see them.

use std::{
    collections::BTreeSet,
    io::{self, Write as _},
};

use anstyle::{AnsiColor, Style};
use scorebox::{advice::Advice, sandbox::ErrorKind};

use crate::advice;
use crate::failure::{Exit, Failure};
use crate::report::{count, printable};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// Prints one line.
pub(crate) fn say(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// `warning: …`
pub(crate) fn warn(text: &str) {
    say(&format!("{WARNING}warning:{WARNING:#} {}", quoted(text)));
}

/// Prints an item of a list below a message, with its further lines indented.
pub(crate) fn item(text: &str) {
    say(&format!("  {}", quoted(text).replace('\n', "\n  ")));
}

/// The text with its further lines indented, so that nothing but scorebox begins a line: a message may contain a
/// scorer's text, with lines that look like ours.
fn quoted(text: &str) -> String {
    printable(text).replace('\n', "\n  ")
}

/// Reports what is missing on a page of `shown` things after the first `skip` of `all`; prints nothing if the page has
/// all of them.
pub(crate) fn page_of(all: u64, skip: u64, shown: u64, things: &str) {
    let seen = skip.min(all) + shown;
    if all == 0 {
        say(&format!("no {things}"));
    } else if skip >= all {
        let (skip, all) = (count(skip), count(all));
        say(&format!("no {things} after the first {skip}: there are {all}"));
    } else if seen < all {
        let (shown, all) = (count(shown), count(all));
        say(&format!("{shown} of {all} {things}; next page: --skip {seen}; all: --limit 0"));
    }
}

/// `hint: …`
pub(crate) fn hint(text: &str) {
    say(&format!("{HINT}hint:{HINT:#} {}", quoted(text)));
}

/// Prints a `hint: …` for each kind of stored error that the user can do something about.
pub(crate) fn limit_hints(error_kinds: BTreeSet<ErrorKind>) {
    let advice = error_kinds.into_iter().filter_map(ErrorKind::advice);
    advice.filter_map(|advice| advice::words(&advice)).for_each(|words| hint(&words));
}

/// `error: …`, and what to do about it on the next line.
pub(crate) fn error_with(message: &str, advice: Option<&Advice>) {
    error(message, advice.and_then(advice::words).as_deref());
}

/// `error: …`, with the hint on its own line.
pub(crate) fn error(message: &str, hint_text: Option<&str>) {
    say(&format!("{ERROR}error:{ERROR:#} {}", quoted(message)));
    if let Some(text) = hint_text {
        hint(text);
    }
}

/// Prints why a command ends.
pub(crate) fn failure(failure: &Failure) -> Exit {
    error(&failure.message, failure.hint.as_deref());
    failure.others.iter().for_each(|(message, hint)| error(message, hint.as_deref()));
    Exit::BadInput
}

/// Prints clap's own text: help, version, or errors of the arguments.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    match (error.print().and_then(|()| io::stdout().flush()), error.use_stderr()) {
        (_, true) => Exit::BadInput,
        // It is not an error if a reader of help closes the pipe early.
        (Err(error), false) if error.kind() != io::ErrorKind::BrokenPipe => {
            failure(&Failure::stdout(&error))
        }
        _ => Exit::Done,
    }
}
