//! Asks the user at a terminal a question. What follows from the answer is up to the caller.

use std::io::{self, IsTerminal as _, Write as _};

use crate::failure::Failure;

/// Whether there is a user who sees a question and can answer it.
pub(crate) fn can_be_asked() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The user's answer to `question`, without surrounding white space.
pub(crate) fn ask(question: &str) -> Result<String, Failure> {
    // A user who does not see the question can still answer.
    let _ = write!(anstream::stderr(), "{question} ");
    let mut answer = String::new();
    io::stdin()
        .read_line(&mut answer)
        .map_err(|error| Failure::new(format!("cannot read the answer: {error}")))?;
    Ok(answer.trim().to_owned())
}

/// Whether the user says yes to `question`.
pub(crate) fn says_yes(question: &str) -> Result<bool, Failure> {
    Ok(is_yes(&ask(&format!("{question} [y/N]"))?))
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
