//! A scorer that is a set of named tests: each is one assertion, and a failing test does not stop the others. What is
//! tested is up to the scorer.

use std::error::Error;

use serde_json::json;

use crate::score::ASSERTION_LIMIT;
use crate::{Assertion, Score, Severity, excerpt};

/// How much of a failure goes into the reason of the score, in characters.
const REASON_LENGTH: usize = 160;
/// How much of a failure goes into its assertion's reason, in characters.
const FAILURE_LENGTH: usize = 4000;
/// How much of a test's name is kept, in characters.
const NAME_LENGTH: usize = 500;
/// How many failures the reason of the score names.
const NAMED: usize = 3;

/// What a test returns: `Ok(())`, or why it fails. `?` works on any error.
pub type TestResult = Result<(), Box<dyn Error>>;

/// Named tests. Each becomes an assertion, which is a gate unless it is made soft; the score is the fraction of tests
/// that pass.
///
/// ```
/// use scorebox_sdk::{Tests, ensure, ensure_eq};
///
/// let mut tests = Tests::default();
/// tests.test("the answer is known", || {
///     let answer: u8 = "42".parse()?;
///     ensure_eq!(answer, 42);
///     Ok(())
/// });
/// tests.test("it says why", || {
///     ensure!("because".contains("since"), "it gives no reason");
///     Ok(())
/// });
/// let score = tests.into_score();
/// assert_eq!(score.score, Some(0.5));
/// assert_eq!(score.reason.as_deref(), Some("1 of 2 tests fails: it says why (it gives no reason)"));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tests {
    list: Vec<NamedTest>,
    skipped: usize,
}

/// A test that was run. Its methods change how it counts in the score.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedTest {
    name: String,
    failure: Option<String>,
    severity: Severity,
    weight: f64,
}

impl NamedTest {
    /// A failure lowers the score and is reported, but the case passes.
    pub fn soft(&mut self) -> &mut Self {
        self.severity = Severity::Soft;
        self
    }

    /// How much the test counts in the score, relative to others of weight 1.
    ///
    /// # Panics
    /// If the weight is negative or not finite: a mistake in the scorer.
    pub fn weight(&mut self, weight: f64) -> &mut Self {
        assert!(weight >= 0.0 && weight.is_finite(), "the weight of a test is {weight}");
        self.weight = weight;
        self
    }
}

impl Tests {
    /// Runs a test.
    pub fn test(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce() -> TestResult,
    ) -> &mut NamedTest {
        self.add(name, test().map_err(|error| error.to_string()))
    }

    /// Adds a test that was run elsewhere, with why it failed if it did.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        outcome: Result<(), impl Into<String>>,
    ) -> &mut NamedTest {
        let name = excerpt(&name.into(), NAME_LENGTH).into_owned();
        let failure = outcome.err().map(|why| shortened(why.into()));
        let index = self.list.len();
        self.list.push(NamedTest { name, failure, severity: Severity::Gate, weight: 1.0 });
        &mut self.list[index]
    }

    /// Counts a test that was not run.
    pub fn skip(&mut self) {
        self.skipped += 1;
    }

    /// How many tests there are, without those that were skipped.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are no tests.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many fail.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.list.iter().filter(|test| test.failure.is_some()).count()
    }

    /// The score: the weight of the passing tests divided by the weight of all. The reason names the failures. If there
    /// are no tests, or all have the weight 0, the result is not-applicable.
    ///
    /// A score has at most 1000 assertions. If there are more tests, failing ones are kept first, and the reason says
    /// how many are left out.
    #[must_use]
    pub fn into_score(self) -> Score {
        let all = self.list.len();
        let failed = self.failed();
        let meta = json!({ "tests": all, "failed": failed, "skipped": self.skipped });
        let weight = |tests: &mut dyn Iterator<Item = &NamedTest>| -> f64 {
            // Adding 0.0 turns the sum of nothing, -0.0, into 0.
            tests.map(|test| test.weight).sum::<f64>() + 0.0
        };
        let whole = weight(&mut self.list.iter());
        let mut reason = match (all, self.skipped) {
            (0, 0) => "there are no tests".to_owned(),
            (0, 1) => "the only test was skipped".to_owned(),
            (0, skipped) => format!("all {skipped} tests were skipped"),
            _ if whole <= 0.0 => "no test has a weight".to_owned(),
            _ => self.reason(failed),
        };
        if all == 0 || whole <= 0.0 {
            return Score::not_applicable(reason).meta(meta);
        }
        if all > ASSERTION_LIMIT {
            let left_out = all - ASSERTION_LIMIT;
            reason.push_str(&format!("; {left_out} assertions are left out"));
        }
        let passed = weight(&mut self.list.iter().filter(|test| test.failure.is_none()));
        let assertions = self.list.into_iter().map(|test| {
            let assertion =
                Assertion::pass(test.name, test.failure.is_none()).severity(test.severity);
            match test.failure {
                Some(why) => assertion.reason(why),
                None => assertion,
            }
        });
        Score::new((passed / whole).clamp(0.0, 1.0))
            .reason(reason)
            .meta(meta)
            .assertions(assertions)
    }

    fn reason(&self, failed: usize) -> String {
        let all = self.list.len();
        let mut reason = match (all, failed) {
            (1, 0) => "the test passes".to_owned(),
            (_, 0) => format!("all {all} tests pass"),
            (_, 1) => format!("1 of {all} tests fails: "),
            _ => format!("{failed} of {all} tests fail: "),
        };
        let failures = self.list.iter().filter_map(|test| Some((test, test.failure.as_deref()?)));
        let named: Vec<_> = failures
            .take(NAMED)
            .map(|(test, why)| {
                let name = excerpt(&test.name, REASON_LENGTH);
                format!("{name} ({})", excerpt(why.trim(), REASON_LENGTH))
            })
            .collect();
        reason.push_str(&named.join(", "));
        match failed.saturating_sub(NAMED) {
            0 => {}
            more => reason.push_str(&format!(", and {more} more")),
        }
        if self.skipped > 0 {
            reason.push_str(&format!("; {} skipped", self.skipped));
        }
        reason
    }
}

/// Line breaks stay, because a person reads the failure of a test line by line.
fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(FAILURE_LENGTH) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Ends a test if a condition does not hold: `ensure!(condition)`, or with the reason,
/// `ensure!(condition, "found {n}")`.
#[macro_export]
macro_rules! ensure {
    ($condition:expr $(,)?) => {
        if !$condition {
            return ::std::result::Result::Err(
                ::std::concat!("`", ::std::stringify!($condition), "` does not hold").into(),
            );
        }
    };
    ($condition:expr, $($reason:tt)+) => {
        if !$condition {
            return ::std::result::Result::Err(::std::format!($($reason)+).into());
        }
    };
}

/// Ends a test if two values differ: `ensure_eq!(found, expected)`.
#[macro_export]
macro_rules! ensure_eq {
    ($found:expr, $expected:expr $(,)?) => {
        match (&$found, &$expected) {
            (found, expected) => {
                if *found != *expected {
                    return ::std::result::Result::Err(
                        ::std::format!(
                            "`{}` is {found:?}, expected {expected:?}",
                            ::std::stringify!($found)
                        )
                        .into(),
                    );
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_fails_stops_no_other() {
        let mut tests = Tests::default();
        tests.test("parses", || {
            "x".parse::<u8>()?;
            Ok(())
        });
        tests.test("holds", || {
            ensure!(1 + 1 == 3);
            Ok(())
        });
        tests.test("is equal", || {
            ensure_eq!("a".len(), 2);
            Ok(())
        });
        tests.test("passes", || Ok(()));
        let score = tests.into_score();
        assert_eq!(score.score, Some(0.25));
        assert_eq!(
            score.reason.as_deref(),
            Some(
                "3 of 4 tests fail: parses (invalid digit found in string), holds (`1 + 1 == 3` \
                 does not hold), is equal (`\"a\".len()` is 1, expected 2)"
            )
        );
        let gate = |name: &str| Assertion::pass(name, false).severity(Severity::Gate);
        assert_eq!(score.assertions[0], gate("parses").reason("invalid digit found in string"));
        assert_eq!(score.assertions[3], Assertion::pass("passes", true).severity(Severity::Gate));
    }

    #[test]
    fn tests_weigh_and_may_be_soft() {
        let mut tests = Tests::default();
        tests.test("heavy", || Ok(())).weight(3.0);
        tests.test("light", || Err("no".into())).soft();
        let score = tests.into_score();
        assert_eq!(score.score, Some(0.75));
        assert_eq!(score.assertions[1].severity, Some(Severity::Soft));
    }

    #[test]
    fn without_tests_there_is_no_score() {
        assert_eq!(Tests::default().into_score().score, None);
        let mut tests = Tests::default();
        tests.skip();
        tests.skip();
        assert_eq!(tests.into_score().reason.as_deref(), Some("all 2 tests were skipped"));
    }

    #[test]
    fn of_more_tests_than_there_is_room_for_the_failures_are_kept() {
        let mut tests = Tests::default();
        for index in 0..1500 {
            let outcome = if index == 1499 { Err("no") } else { Ok(()) };
            tests.add(format!("test {index}"), outcome);
        }
        let score = tests.into_score();
        assert_eq!(score.score, Some(1499.0 / 1500.0));
        assert_eq!(score.assertions.len(), 1000);
        assert_eq!(score.assertions[0].name, "test 1499");
        assert_eq!(
            score.reason.as_deref(),
            Some("1 of 1500 tests fails: test 1499 (no); 500 assertions are left out")
        );
    }
}
