//! Folds several checks into one score: the fraction that holds. What is checked is the scorer's
//! business.

use crate::{Assertion, Score, excerpt};

/// How much of a check's reason goes into the reason of the whole, in characters.
const REASON_LENGTH: usize = 200;

/// Checks of which each holds or does not.
///
/// ```
/// # use scorebox_sdk::Checks;
/// let mut checks = Checks::default();
/// checks.add("called `a`", true, "`a` was called once");
/// checks.add("called `b`", false, "`b` was not called");
/// let score = checks.into_score();
/// assert_eq!(score.score, Some(0.5));
/// assert_eq!(score.reason.as_deref(), Some("1 of 2 checks fails: `b` was not called"));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checks {
    list: Vec<Check>,
}

#[derive(Debug, Clone, PartialEq)]
struct Check {
    name: String,
    holds: bool,
    reason: String,
}

impl Checks {
    /// Adds a check: what is checked, whether it holds, and why, for a person.
    pub fn add(&mut self, name: impl Into<String>, holds: bool, reason: impl Into<String>) {
        self.list.push(Check { name: name.into(), holds, reason: reason.into() });
    }

    /// How many checks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The fraction of the checks that hold; 1 where there are none.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        let held = self.list.iter().filter(|check| check.holds).count();
        if self.list.is_empty() { 1.0 } else { held as f64 / self.list.len() as f64 }
    }

    /// The fraction as a score, with a reason, and every check as an assertion where there are
    /// several.
    #[must_use]
    pub fn into_score(self) -> Score {
        let score = Score::new(self.fraction());
        let all = self.list.len();
        let mut failing = self.list.iter().filter(|check| !check.holds);
        let reason = match (self.list.as_slice(), failing.next()) {
            ([], _) => "there is nothing to check".to_owned(),
            ([only], _) => only.reason.clone(),
            (_, None) => format!("all {all} checks hold"),
            (_, Some(first)) => {
                let failed = 1 + failing.count();
                let fail = if failed == 1 { "fails" } else { "fail, first" };
                let why = excerpt(&first.reason, REASON_LENGTH);
                format!("{failed} of {all} checks {fail}: {why}")
            }
        };
        let assertions = (self.list.into_iter())
            .map(|check| Assertion::pass(check.name, check.holds).reason(check.reason));
        if all > 1 { score.reason(reason).assertions(assertions) } else { score.reason(reason) }
    }
}
