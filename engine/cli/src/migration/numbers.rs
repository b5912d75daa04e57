//! The numbers that tests have in promptfoo's results, as the reader of results gives them: without repeats, so that
//! tests that look the same in the results have one number. It reads no assertions.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

/// The most tests, with each test's lists of variables expanded; promptfoo numbers the expanded tests in this order.
pub(super) const MAX_TESTS: usize = 10_000;

/// A test with one value for each variable.
#[derive(Clone, Debug)]
pub(crate) struct Test {
    /// Its number in the results.
    pub number: usize,
    pub variables: Map<String, Value>,
}

/// The numbers of the tests so far.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    known: HashMap<String, usize>,
    are_lost: bool,
}

impl Numbers {
    /// The tests of an entry, one for each combination of its variables; `None` if there are too many tests by now.
    pub(super) fn of(
        &mut self,
        test: &Map<String, Value>,
        default: &Map<String, Value>,
        combinations: Vec<Map<String, Value>>,
    ) -> Option<Vec<Test>> {
        let said = said_of(test, default);
        let mut tests: Vec<Test> = Vec::new();
        for (at, variables) in combinations.into_iter().enumerate() {
            // The values of the combination are not always known; then its index replaces them.
            let is_known = !variables.values().any(Value::is_null);
            let place = (!is_known).then_some(at);
            let next = self.known.len();
            let written = as_in_results(&json!([said, variables, place])).to_string();
            let number = *self.known.entry(written).or_insert(next);
            if number >= MAX_TESTS {
                return None;
            }
            if tests.iter().all(|test| test.number != number) {
                tests.push(Test { number, variables });
            }
        }
        Some(tests)
    }

    /// Records that the number of tests is unknown from here on.
    pub(super) fn lose(&mut self) {
        self.are_lost = true;
    }

    pub(super) fn are_lost(&self) -> bool {
        self.are_lost
    }
}

/// The value as in results: in texts that are JSON, white space does not count.
fn as_in_results(value: &Value) -> Value {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            let read = serde_json::from_str::<Value>(text);
            read.map_or_else(|_| value.clone(), |read| read.to_string().into())
        }
        Value::Array(items) => items.iter().map(as_in_results).collect(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| (name.clone(), as_in_results(value));
            Value::Object(members.iter().map(member).collect())
        }
        other => other.clone(),
    }
}

/// A test's data in results apart from its variables, with what promptfoo (0.121) adds.
fn said_of(test: &Map<String, Value>, default: &Map<String, Value>) -> Value {
    let mut said = test.clone();
    said.remove("vars");
    for key in ["options", "metadata"] {
        let mut all = object(default.get(key));
        all.extend(object(test.get(key)));
        said.insert(key.to_owned(), all.into());
    }
    said.entry("assert").or_insert_with(|| json!([]));
    said.retain(|_, value| !value.is_null());
    said.into()
}

/// The object at a key, or an empty one.
pub(super) fn object(value: Option<&Value>) -> Map<String, Value> {
    value.and_then(Value::as_object).cloned().unwrap_or_default()
}
