//! Asks the user whether to make a change. It changes nothing.

use crate::{
    failure::Failure,
    question::{can_be_asked, says_yes},
};

/// Whether the user says yes to `question`; yes without asking if `is_given`. `doing` names the change, such as `add
/// it`.
///
/// # Errors
/// If there is no terminal to ask on.
pub(crate) fn consent(question: &str, doing: &str, is_given: bool) -> Result<bool, Failure> {
    if is_given {
        return Ok(true);
    }
    if !can_be_asked() {
        let message = format!("cannot ask whether to {doing}: this is not a terminal");
        return Err(Failure::new(message).hint(format!("{doing} without asking: --yes")));
    }
    says_yes(question)
}
