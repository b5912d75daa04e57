//! The numbers that tests have in promptfoo's results, as the reader of results gives them: without repeats, so that tests which are the
//! same in all that results say about them have one number. Reads no assertion.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::config::{MOST_TESTS, Test, object};

/// The numbers of the tests so far.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    known: HashMap<String, usize>,
    are_lost: bool,
}

impl Numbers {
    /// Those of a test, one for each combination of its variables; `None` if there are too many tests by now.
    pub(super) fn of(
        &mut self,
        test: &Map<String, Value>,
        default: &Map<String, Value>,
        combinations: Vec<Map<String, Value>>,
    ) -> Option<Vec<Test>> {
        let said = said_of(test, default);
        let mut tests: Vec<Test> = Vec::new();
        for (at, variables) in combinations.into_iter().enumerate() {
            // Which values the combination has is not always known, and then its place stands for them.
            let is_known = !variables.values().any(Value::is_null);
            let place = (!is_known).then_some(at);
            let next = self.known.len();
            let number =
                *self.known.entry(json!([said, variables, place]).to_string()).or_insert(next);
            if number >= MOST_TESTS {
                return None;
            }
            if tests.iter().all(|test| test.number != number) {
                tests.push(Test { number, variables });
            }
        }
        Some(tests)
    }

    /// From here on, how many tests there are is unknown.
    pub(super) fn lose(&mut self) {
        self.are_lost = true;
    }

    pub(super) fn are_lost(&self) -> bool {
        self.are_lost
    }
}

/// What results say of a test beside its variables, with what promptfoo (0.121) adds to it.
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
