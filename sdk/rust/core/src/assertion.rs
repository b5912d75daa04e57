//! One named check inside a score. Combining checks into a score is left to the scorer.

/// How a value below its threshold counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// A hard requirement: the case fails.
    Gate,
    /// A quality signal: the case passes, and the shortfall is reported.
    Soft,
}

/// One named check inside a score, such as a test or a required tool call. With a severity or a threshold, it decides
/// by itself; with neither, it counts through the score alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Assertion {
    pub(crate) name: String,
    pub(crate) score: f64,
    pub(crate) severity: Option<Severity>,
    pub(crate) threshold: Option<f64>,
    pub(crate) reason: Option<String>,
}

impl Assertion {
    /// A check with a short name and the degree to which it holds, from 0 (not at all) to 1.
    pub fn new(name: impl Into<String>, score: f64) -> Self {
        Self { name: name.into(), score, severity: None, threshold: None, reason: None }
    }

    /// A check that holds or does not.
    pub fn pass(name: impl Into<String>, holds: bool) -> Self {
        Self::new(name, if holds { 1.0 } else { 0.0 })
    }

    /// Sets the severity. A check without one has the scorer's severity if it has a threshold.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// Sets the lowest score that passes, 0 to 1. Without one, a gate requires 1, and a soft check cannot fall short.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Why, for a person.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}
