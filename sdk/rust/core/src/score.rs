//! What a scorer says about a case. Ranges are not checked here: the engine knows the declared scale.

use serde_json::Value;

use crate::{Assertion, Meta};

/// The most assertions of a score that the engine accepts.
pub(crate) const ASSERTION_LIMIT: usize = 1000;

/// A score, with what explains it. The fields are there to be read in tests; build one with the
/// methods.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Score {
    /// On the scale that the scorer's `Info` declares; `None` if it does not apply.
    pub score: Option<f64>,
    /// A category that goes with the score.
    pub label: Option<String>,
    /// Why, for a person.
    pub reason: Option<String>,
    /// Anything for programs.
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

    /// Adds checks, as many as a score may have. If there are more, those that fail come first;
    /// say in the reason how many there are.
    #[must_use]
    pub fn assertions(mut self, assertions: impl IntoIterator<Item = Assertion>) -> Self {
        let mut all: Vec<_> = assertions.into_iter().collect();
        let room = ASSERTION_LIMIT.saturating_sub(self.assertions.len());
        if all.len() > room {
            let passes = |each: &Assertion| each.score >= each.threshold.unwrap_or(1.0);
            let (passing, failing): (Vec<_>, Vec<_>) = all.into_iter().partition(passes);
            all = failing;
            all.extend(passing);
            all.truncate(room);
        }
        self.assertions.extend(all);
        self
    }
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
}
