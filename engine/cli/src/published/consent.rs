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
    Ok(is_yes(&answer))
}

fn is_yes(answer: &str) -> bool {
    ["y", "yes"].iter().any(|yes| answer.trim().eq_ignore_ascii_case(yes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_is_yes_however_it_is_written() {
        for yes in ["y\n", "Y\n", "yes", "Yes\r\n", "YES", " yEs "] {
            assert!(is_yes(yes), "{yes:?}");
        }
        for no in ["", "\n", "n", "no", "yes please", "ye", "ja"] {
            assert!(!is_yes(no), "{no:?}");
        }
    }
}
