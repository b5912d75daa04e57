//! Computes how well the calls that were made meet the expected ones, 0 to 1 each. Which list of expected calls counts
//! is decided elsewhere.

use scorebox_sdk::equal;
use scorebox_sdk_traces::{ExpectedCall, ToolCall};
use serde_json::{Map, Value};

use crate::{Compared, ToolCorrectness};

impl ToolCorrectness {
    /// The score, and how well each expected call was met, if that is known.
    pub(crate) fn compare_calls(
        &self,
        wanted: &[ExpectedCall],
        calls: &[&ToolCall],
    ) -> (f64, Vec<f64>) {
        if self.exact_match {
            let same = wanted.len() == calls.len()
                && wanted.iter().zip(calls).all(|(wanted, call)| self.met(wanted, call) == 1.0);
            return (if same { 1.0 } else { 0.0 }, Vec::new());
        }
        if wanted.is_empty() {
            return (if calls.is_empty() { 1.0 } else { 0.0 }, Vec::new());
        }
        let (sum, met) = if self.consider_ordering {
            (self.in_order(wanted, calls), Vec::new())
        } else {
            let met = self.in_any_order(wanted, calls);
            (met.iter().sum(), met)
        };
        ((sum / wanted.len() as f64).clamp(0.0, 1.0), met)
    }

    /// Each expected call takes the best of the remaining calls; of equal ones, the first.
    fn in_any_order(&self, wanted: &[ExpectedCall], calls: &[&ToolCall]) -> Vec<f64> {
        let mut taken = vec![false; calls.len()];
        let mut best_of = |wanted: &ExpectedCall| {
            let (mut best, mut index) = (0.0, None);
            for (other, call) in calls.iter().enumerate() {
                let met = if taken[other] { 0.0 } else { self.met(wanted, call) };
                if met > best {
                    (best, index) = (met, Some(other));
                }
            }
            if let Some(index) = index {
                taken[index] = true;
            }
            best
        };
        wanted.iter().map(&mut best_of).collect()
    }

    /// The weight of the heaviest common subsequence.
    fn in_order(&self, wanted: &[ExpectedCall], calls: &[&ToolCall]) -> f64 {
        let mut above = vec![0.0_f64; calls.len() + 1];
        for wanted in wanted {
            let mut row = vec![0.0; calls.len() + 1];
            for (index, call) in calls.iter().enumerate() {
                let met = self.met(wanted, call);
                let paired = if met > 0.0 { above[index] + met } else { 0.0 };
                row[index + 1] = above[index + 1].max(row[index]).max(paired);
            }
            above = row;
        }
        above.last().copied().unwrap_or(0.0)
    }

    /// How well a call meets an expected one, 0 to 1.
    fn met(&self, wanted: &ExpectedCall, call: &ToolCall) -> f64 {
        if wanted.name != call.name {
            return 0.0;
        }
        if self.compare.contains(&Compared::Result) && !same_result(wanted, call) {
            return 0.0;
        }
        match (&wanted.arguments, self.compare.contains(&Compared::Arguments)) {
            (Some(wanted), true) if self.exact_match => {
                if equal(wanted, &call.arguments) {
                    1.0
                } else {
                    0.0
                }
            }
            (None, true) if self.exact_match => {
                if is_nothing(&call.arguments) {
                    1.0
                } else {
                    0.0
                }
            }
            (Some(wanted), true) => agreement(wanted, &call.arguments),
            _ => 1.0,
        }
    }
}

/// Whether a call has no arguments.
fn is_nothing(arguments: &Value) -> bool {
    arguments.is_null() || arguments.as_object().is_some_and(Map::is_empty)
}

fn same_result(wanted: &ExpectedCall, call: &ToolCall) -> bool {
    match (&wanted.result, &call.result) {
        (Some(wanted), Some(result)) => equal(wanted, result),
        (wanted, result) => wanted.is_none() && result.is_none(),
    }
}

/// The fraction of the keys in either object that have equal values; inner objects count by their own fraction.
fn agreement(left: &Value, right: &Value) -> f64 {
    if equal(left, right) {
        return 1.0;
    }
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => of_objects(left, right),
        _ => 0.0,
    }
}

fn of_objects(left: &Map<String, Value>, right: &Map<String, Value>) -> f64 {
    let only_right = right.keys().filter(|key| !left.contains_key(*key)).count();
    let total = left.len() + only_right;
    let shared = left.iter().filter_map(|(key, value)| Some((value, right.get(key)?)));
    let sum: f64 = shared.map(|(left, right)| agreement(left, right) / total as f64).sum();
    sum
}
