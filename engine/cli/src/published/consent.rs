//! The question to a user whether a change is to be made. Changes nothing.

use std::io::{self, IsTerminal as _, Write as _};

use crate::failure::Failure;

/// Whether the user says yes to `question`; yes without asking if `is_given`. `doing` says what it is about, such as `add it`.
///
/// # Errors
/// There is no terminal to ask on.
pub(crate) fn consent(question: &str, doing: &str, is_given: bool) -> Result<bool, Failure> {
    if is_given {
        return Ok(true);
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let message = format!("cannot ask whether to {doing}: this is not a terminal");
        return Err(Failure::new(message).hint(format!("{doing} without asking: --yes")));
    }
    let mut err = io::stderr();
    let _ = write!(err, "{question} [y/N] ");
    let _ = err.flush();
    let mut answer = String::new();
    let _ = io::stdin().read_line(&mut answer);
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
