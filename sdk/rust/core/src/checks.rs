//! Combines several checks into one score: the fraction that holds. What is checked is up to the scorer.

use crate::negation::unmet;
use crate::{Assertion, Score, excerpt};

/// How much of a check's reason goes into the reason of the score, in characters.
const REASON_LENGTH: usize = 200;

/// A list of checks, each of which holds or does not.
///
/// ```
/// # use scorebox_sdk::Checks;
/// let mut checks = Checks::default();
/// checks.add("called `a`", true, "`a` was called once");
/// checks.add("called `b`", false, "`b` was not called");
/// let score = checks.into_score();
/// assert_eq!(score.score, Some(0.5));
/// assert_eq!(score.reason.as_deref(), Some("1 of 2 checks failed: `b` was not called"));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checks {
    list: Vec<Check>,
    negate: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Check {
    name: String,
    holds: bool,
    found: String,
    wanted: Option<String>,
}

impl Check {
    fn into_assertion(self, negate: bool) -> Assertion {
        let reason = match self.holds == negate {
            true => unmet(&self.found, self.wanted.as_deref(), negate),
            false => self.found,
        };
        Assertion::pass(self.name, self.holds).reason(reason).negated(negate)
    }
}

impl Checks {
    /// Adds a check: what is checked, whether it holds, and why, for a person. If the scorer can
    /// be [`negated`](Self::negated), say what was found, not whether that is good.
    pub fn add(&mut self, name: impl Into<String>, holds: bool, reason: impl Into<String>) {
        let (name, found) = (name.into(), reason.into());
        self.list.push(Check { name, holds, found, wanted: None });
    }

    /// Adds a check whose reason is the finding and, if it fails, what was wanted instead. `wanted` must read well
    /// after "wanted:" and "wanted: not" (`at least 1`).
    pub fn add_wanted(
        &mut self,
        name: impl Into<String>,
        holds: bool,
        found: impl Into<String>,
        wanted: impl Into<String>,
    ) {
        let (name, found, wanted) = (name.into(), found.into(), Some(wanted.into()));
        self.list.push(Check { name, holds, found, wanted });
    }

    /// Inverts all checks if `negate` is set: the score s becomes 1 - s, and each check wants the
    /// opposite, in its name, in its value and, if it fails, in its reason.
    ///
    /// ```
    /// # use scorebox_sdk::Checks;
    /// let mut checks = Checks::default();
    /// checks.add_wanted("called `a`", true, "`a` was called once", "at least 1");
    /// let score = checks.negated(true).into_score();
    /// assert_eq!(score.score, Some(0.0));
    /// assert_eq!(score.reason.as_deref(), Some("`a` was called once; wanted: not at least 1"));
    /// ```
    #[must_use]
    pub fn negated(mut self, negate: bool) -> Self {
        self.negate ^= negate;
        self
    }

    /// How many checks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are no checks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The fraction of the checks that hold; 1 if there are none. Negated, 1 minus that.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        let held = self.list.iter().filter(|check| check.holds).count();
        let fraction =
            if self.list.is_empty() { 1.0 } else { held as f64 / self.list.len() as f64 };
        // Negates the fraction itself; computed from the failing checks, it may differ in the last bit.
        if self.negate { 1.0 - fraction } else { fraction }
    }

    /// The fraction as a score, with a reason; if there are several checks, with each as an assertion.
    #[must_use]
    pub fn into_score(self) -> Score {
        let score = Score::new(self.fraction());
        let negate = self.negate;
        let checks: Vec<_> =
            self.list.into_iter().map(|check| check.into_assertion(negate)).collect();
        let reason = reason(&checks);
        if checks.len() > 1 {
            score.reason(reason).assertions(checks)
        } else {
            score.reason(reason)
        }
    }
}

/// The reason of the only check, or how many checks failed and why the first one did.
fn reason(checks: &[Assertion]) -> String {
    let why = |assertion: &Assertion| assertion.reason.clone().unwrap_or_default();
    let mut failing = checks.iter().filter(|assertion| assertion.score < 1.0);
    match (checks, failing.next()) {
        ([], _) => "there is nothing to check".to_owned(),
        ([only], _) => why(only),
        (all, None) => format!("all {} checks passed", all.len()),
        (all, Some(first)) => {
            let failed = 1 + failing.count();
            let fail = if failed == 1 { "failed" } else { "failed; first" };
            let why = why(first);
            format!("{failed} of {} checks {fail}: {}", all.len(), excerpt(&why, REASON_LENGTH))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks() -> Checks {
        let mut checks = Checks::default();
        checks.add("`a` changed", true, "`a` is new");
        checks.add("`b` changed", false, "no file `b` changed");
        checks.add_wanted("called `c`", false, "`c` was called 2 times", "exactly 1");
        checks
    }

    #[test]
    fn negated_each_check_wants_the_opposite() {
        let score = checks().negated(true).into_score();
        assert_eq!(score.score, Some(1.0 - 1.0 / 3.0));
        assert_eq!(
            score.reason.as_deref(),
            Some("1 of 3 checks failed: `a` is new; wanted: the opposite")
        );
        let expected = [
            ("not: `a` changed", false, "`a` is new; wanted: the opposite"),
            ("not: `b` changed", true, "no file `b` changed"),
            ("not: called `c`", true, "`c` was called 2 times"),
        ];
        let told =
            |(name, holds, reason): (&str, bool, &str)| Assertion::pass(name, holds).reason(reason);
        assert_eq!(score.assertions, expected.map(told));
    }

    #[test]
    fn not_negated_or_negated_twice_a_check_stays_as_it_is() {
        let plain = checks().into_score();
        assert_eq!(plain.score, Some(1.0 / 3.0));
        let reason = "`c` was called 2 times; wanted: exactly 1";
        let last = Assertion::pass("called `c`", false).reason(reason);
        assert_eq!(plain.assertions.last(), Some(&last));
        assert_eq!(checks().negated(false).into_score(), plain);
        assert_eq!(checks().negated(true).negated(true).into_score(), plain);
    }

    #[test]
    fn of_one_check_the_reason_is_the_whole() {
        let of = |holds: bool| {
            let mut checks = Checks::default();
            checks.add_wanted("called `a`", holds, "`a` was found", "at least 1");
            checks.negated(true).into_score()
        };
        assert_eq!((of(true).score, of(false).score), (Some(0.0), Some(1.0)));
        assert_eq!(of(false).reason.as_deref(), Some("`a` was found"));
        assert_eq!(of(true).reason.as_deref(), Some("`a` was found; wanted: not at least 1"));
    }
}
