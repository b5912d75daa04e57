//! What a scorer returns for a case. Ranges are not checked here: the engine knows the declared scale.

use serde_json::Value;

use crate::{Assertion, Meta, Severity};

/// The most assertions of a score that the engine accepts.
pub(crate) const ASSERTION_LIMIT: usize = 1000;

/// A score, with what explains it. The fields are public so that tests can read them; build a score with the methods.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Score {
    /// The score, on the scale that the scorer's `Info` declares; `None` if the scorer does not apply.
    pub score: Option<f64>,
    /// A category that goes with the score.
    pub label: Option<String>,
    /// Why, for a person.
    pub reason: Option<String>,
    /// A JSON document for programs.
    pub meta: Option<Meta>,
    /// The checks that the score is made of.
    pub assertions: Vec<Assertion>,
}

impl Score {
    /// A score, usually 0 to 1.
    #[must_use]
    pub fn new(score: f64) -> Self {
        Self { score: Some(score), ..Self::default() }
    }

    /// 1 if `passes`, else 0.
    #[must_use]
    pub fn pass(passes: bool) -> Self {
        Self::new(if passes { 1.0 } else { 0.0 })
    }

    /// The scorer does not apply to this case: stored with its reason, and left out of every mean.
    pub fn not_applicable(reason: impl Into<String>) -> Self {
        Self::default().reason(reason)
    }

    /// Why, for a person; short.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// A category that goes with the score ("refusal", "C").
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// A JSON document for programs, usually from `json!`; a second call replaces the first.
    #[must_use]
    pub fn meta(mut self, meta: impl Into<Meta>) -> Self {
        self.meta = Some(meta.into());
        self
    }

    /// For tests: the document that [`meta`](Self::meta) gave.
    #[must_use]
    pub fn meta_value(&self) -> Option<Value> {
        self.meta.as_ref().map(Meta::value)
    }

    /// Adds a check that the score is made of.
    #[must_use]
    pub fn assertion(mut self, assertion: Assertion) -> Self {
        self.assertions.push(assertion);
        self
    }

    /// Adds as many checks as a score may have. If there are too many, counting those that it already has, failing ones
    /// come first, and among these the ones that decide; say in the reason how many there are.
    #[must_use]
    pub fn assertions(mut self, assertions: impl IntoIterator<Item = Assertion>) -> Self {
        self.assertions.extend(assertions);
        if self.assertions.len() > ASSERTION_LIMIT {
            for comes_first in [fails, fails_by_itself, fails_as_a_gate] {
                let all = self.assertions;
                let (first, then): (Vec<_>, Vec<_>) = all.into_iter().partition(comes_first);
                self.assertions = first;
                self.assertions.extend(then);
            }
            self.assertions.truncate(ASSERTION_LIMIT);
        }
        self
    }
}

fn fails(assertion: &Assertion) -> bool {
    assertion.score < assertion.threshold.unwrap_or(1.0)
}

fn fails_by_itself(assertion: &Assertion) -> bool {
    let decides = assertion.threshold.is_some() || assertion.severity.is_some();
    decides && fails(assertion)
}

/// Whether it fails and is a gate, or may be one because the scorer's severity applies.
fn fails_as_a_gate(assertion: &Assertion) -> bool {
    assertion.severity != Some(Severity::Soft) && fails_by_itself(assertion)
}

impl From<f64> for Score {
    fn from(score: f64) -> Self {
        Self::new(score)
    }
}

impl From<bool> for Score {
    fn from(passes: bool) -> Self {
        Self::pass(passes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_many_assertions_those_that_fail_are_kept() {
        let few = (0..3).map(|index| Assertion::pass(index.to_string(), index == 0));
        let names = |score: &Score| -> Vec<String> {
            score.assertions.iter().map(|assertion| assertion.name.clone()).collect()
        };
        assert_eq!(names(&Score::new(0.0).assertions(few)), ["0", "1", "2"]);
        let many = (0..3000).map(|index| Assertion::pass(index.to_string(), index != 2999));
        let score = Score::new(0.0).assertions(many);
        assert_eq!(score.assertions.len(), ASSERTION_LIMIT);
        assert_eq!(names(&score)[..2], ["2999", "0"]);
    }

    #[test]
    fn whatever_is_left_out_a_gate_that_fails_is_not() {
        let checks = |passes: bool| (0..1000).map(move |_| Assertion::pass("check", passes));
        let soft = checks(false).map(|it| it.severity(Severity::Soft).threshold(0.5));
        let gate = Assertion::pass("no secret", false).severity(Severity::Gate);
        let inherited = Assertion::pass("short", false).threshold(0.5);
        for score in [
            Score::new(1.0).assertions(checks(true)).assertions([gate.clone()]),
            Score::new(1.0).assertions(checks(false).chain([gate.clone()])),
            Score::new(1.0).assertions(soft.clone().chain([gate.clone()])),
            Score::new(1.0).assertions([gate.clone()]).assertions(soft.clone()),
        ] {
            assert_eq!(score.assertions.len(), ASSERTION_LIMIT);
            assert_eq!(score.assertions[0], gate);
        }
        let score =
            Score::new(1.0).assertions(checks(false).chain(soft).chain([inherited.clone()]));
        assert_eq!(score.assertions[0], inherited);
        assert_eq!(score.assertions[1].severity, Some(Severity::Soft));
    }
}
