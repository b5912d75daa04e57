//! How a check is told that `negate` turns around: what was wanted is the opposite. It decides no
//! score; that one becomes 1 - s.

use crate::Assertion;

impl Assertion {
    /// Turns the check around where `negate` is set: its value v becomes 1 - v, and its name begins
    /// with `not: `. The reason stays: it says what was found. Meant for a check without a threshold
    /// of its own, which would stay too.
    #[must_use]
    pub fn negated(mut self, negate: bool) -> Self {
        if negate {
            self.name = format!("not: {}", self.name);
            self.score = 1.0 - self.score;
        }
        self
    }
}

/// What was found and is not what was wanted, with what that was: `wanted`, or the opposite of it.
/// Without a word on what was wanted, the finding says it by itself, except where its opposite was.
pub(crate) fn unmet(found: &str, wanted: Option<&str>, negate: bool) -> String {
    match (wanted, negate) {
        (Some(wanted), false) => format!("{found}; wanted: {wanted}"),
        (Some(wanted), true) => format!("{found}; wanted: not {wanted}"),
        (None, false) => found.to_owned(),
        (None, true) => format!("{found}; wanted: the opposite"),
    }
}
