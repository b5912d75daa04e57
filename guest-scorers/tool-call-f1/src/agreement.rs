//! How well two sets of calls agree: precision, recall and F1. It compares no calls.

use serde_json::{Value, json};

/// How two sets of calls agree.
pub(crate) struct Agreement {
    pub(crate) right: usize,
    pub(crate) made: usize,
    pub(crate) expected: usize,
    /// The names of some of them.
    pub(crate) missing: Vec<String>,
    /// The names of some of them.
    pub(crate) extra: Vec<String>,
}

impl Agreement {
    fn precision(&self) -> f64 {
        if self.made == 0 { 0.0 } else { self.right as f64 / self.made as f64 }
    }

    fn recall(&self) -> f64 {
        if self.expected == 0 { 0.0 } else { self.right as f64 / self.expected as f64 }
    }

    pub(crate) fn f1(&self) -> f64 {
        if self.made == 0 && self.expected == 0 {
            return 1.0;
        }
        let (precision, recall) = (self.precision(), self.recall());
        let sum = precision + recall;
        if sum == 0.0 { 0.0 } else { 2.0 * precision * recall / sum }
    }

    pub(crate) fn reason(&self) -> String {
        let Self { right, made, expected, .. } = self;
        let calls = if *right == 1 { "call" } else { "calls" };
        let mut reason = format!("{right} right {calls} of {made} made and {expected} expected");
        if let Some(missing) = self.missing.first() {
            reason.push_str(&format!("; missing: `{missing}`"));
        }
        if let Some(extra) = self.extra.first() {
            reason.push_str(&format!("; not expected: `{extra}`"));
        }
        reason
    }

    pub(crate) fn meta(&self) -> Value {
        json!({
            "precision": self.precision(), "recall": self.recall(), "right": self.right,
            "made": self.made, "expected": self.expected, "missing": self.missing,
            "extra": self.extra,
        })
    }
}
