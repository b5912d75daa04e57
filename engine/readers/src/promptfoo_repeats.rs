//! Which results of promptfoo are of one test: `--repeat N` gives each repeat of a test a number of its own, and no result says of which
//! test it is. Makes no cases.
//!
//! As in promptfoo's `src/util/comparison.ts` (0.121), a test is known by its variables without those that a run adds; and by its prompt,
//! provider and the rest of what its result says of it, because tests with the same variables may differ in their assertions.

use std::collections::{BTreeMap, HashMap};

use scorebox::digest::Digest;
use serde::{Deserialize, de::Deserializer};
use serde_json::{Map, Value};

use crate::{
    problem::Problem,
    text::Allowance,
    walk::{Path, Take, walk},
};

/// Results that are looked at, a few bytes each; those behind them keep their own numbers.
const MOST_RESULTS: usize = 1 << 20;

/// What promptfoo writes in place of a prompt with `PROMPTFOO_STRIP_PROMPT_TEXT`.
const STRIPPED: &str = "[prompt stripped]";

/// What a result says of its test.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tested {
    #[serde(default)]
    prompt_idx: u64,
    #[serde(default)]
    test_idx: u64,
    #[serde(default)]
    test_case: Map<String, Value>,
    #[serde(default)]
    prompt: Option<Prompt>,
    #[serde(default)]
    provider: Value,
    #[serde(default)]
    vars: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Prompt {
    #[serde(default)]
    raw: Value,
}

impl Tested {
    /// What the results of one test have in common; `None` if too little is said.
    fn name(mut self) -> Option<u128> {
        let prompt = self.prompt?.raw;
        if prompt.is_null() || prompt == STRIPPED {
            return None;
        }
        self.vars.retain(|name, _| !is_added(name));
        if let Some(Value::Object(vars)) = self.test_case.get_mut("vars") {
            vars.retain(|name, _| !is_added(name));
        }
        let test = Value::Object(self.test_case);
        let known = [Value::Object(self.vars), test, prompt, self.provider];
        let parts = known.map(|it| it.to_string());
        let prompt_idx = self.prompt_idx.to_le_bytes();
        let parts = parts.iter().map(String::as_bytes).chain([&prompt_idx[..]]);
        let digest = Digest::of_parts(parts);
        digest.as_bytes().first_chunk().copied().map(u128::from_le_bytes)
    }
}

/// Whether a run adds the variable: promptfoo's `isRuntimeVar`.
fn is_added(name: &str) -> bool {
    name.starts_with('_') || name == "sessionId"
}

/// A result among those of its test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repeat {
    /// The lowest number of the test.
    pub test: u64,
    /// Which of its numbers the result has, from 0.
    pub attempt: u64,
}

/// The results of a file, in its order.
#[derive(Debug, Default)]
pub(crate) struct Repeats(Vec<Repeat>);

impl Repeats {
    /// Of a document with results at these paths.
    pub(crate) fn of_document(
        text: impl std::io::Read,
        paths: &[Path],
        allowance: &Allowance,
    ) -> Repeats {
        let mut seen = Seen::default();
        // What is wrong with it is said by who reads it again.
        let _ = walk(
            allowance.on(text),
            paths,
            &mut Taking { seen: &mut seen, allowance },
            "the file of results",
        );
        seen.repeats()
    }

    /// Of a text whose lines are results.
    pub(crate) fn of_lines(text: impl std::io::Read, allowance: &Allowance) -> Repeats {
        let mut seen = Seen::default();
        let results = serde_json::Deserializer::from_reader(allowance.on(text)).into_iter();
        for tested in results.map_while(Result::ok) {
            seen.note(tested);
            allowance.renew();
        }
        seen.repeats()
    }

    /// The result of this number, from 1; with `test` alone if it was not looked at.
    pub(crate) fn of(&self, record: u64, test: u64) -> Repeat {
        let index = usize::try_from(record).ok().and_then(|record| record.checked_sub(1));
        let known = index.and_then(|index| self.0.get(index));
        known.copied().unwrap_or(Repeat { test, attempt: 0 })
    }
}

/// What was seen so far: of each result its number, and which test it is of, if that is known.
#[derive(Debug, Default)]
struct Seen(Vec<(u64, Option<u128>)>);

impl Seen {
    fn note(&mut self, tested: Tested) {
        if self.0.len() < MOST_RESULTS {
            self.0.push((tested.test_idx, tested.name()));
        }
    }

    fn repeats(self) -> Repeats {
        // The numbers of each test, each with its place among them.
        let mut tests: HashMap<u128, BTreeMap<u64, u64>> = HashMap::new();
        for (number, name) in &self.0 {
            if let Some(name) = name {
                tests.entry(*name).or_default().insert(*number, 0);
            }
        }
        for numbers in tests.values_mut() {
            numbers.values_mut().zip(0..).for_each(|(number, at)| *number = at);
        }
        let repeat = |(number, name): (u64, Option<u128>)| {
            let numbers = name.and_then(|name| tests.get(&name));
            let found = numbers.and_then(|numbers| {
                let (test, _) = numbers.first_key_value()?;
                Some(Repeat { test: *test, attempt: *numbers.get(&number)? })
            });
            found.unwrap_or(Repeat { test: number, attempt: 0 })
        };
        Repeats(self.0.into_iter().map(repeat).collect())
    }
}

struct Taking<'a> {
    seen: &'a mut Seen,
    allowance: &'a Allowance,
}

impl Take for Taking<'_> {
    fn take<'de, D: Deserializer<'de>>(&mut self, _: usize, element: D) -> Result<(), D::Error> {
        self.seen.note(Tested::deserialize(element)?);
        self.allowance.renew();
        Ok(())
    }

    fn problem(&mut self) -> Option<Problem> {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Tests and attempts of results, each of which is an answer to `Q`, with these changes.
    fn repeats(changes: &[Value]) -> Vec<(u64, u64)> {
        let mut lines = String::new();
        for change in changes {
            let mut result = json!({
                "promptIdx": 0, "prompt": {"raw": "Q"}, "provider": {"id": "echo"}, "vars": {"q": 1},
                "testCase": {"vars": {"q": 1}, "assert": [{"type": "contains", "value": "a"}]},
            });
            let (Value::Object(members), Value::Object(change)) = (&mut result, change) else {
                panic!()
            };
            members.extend(change.clone());
            lines.push_str(&format!("{result}\n"));
        }
        let of_lines = Repeats::of_lines(lines.as_bytes(), &Allowance::new());
        let list = lines.trim_end().replace('\n', ",");
        let document = format!("{{\"results\": [{list}]}}");
        let paths: &[Path] = &[&["results", crate::walk::EACH]];
        let of_document = Repeats::of_document(document.as_bytes(), paths, &Allowance::new());
        assert_eq!(of_lines.0, of_document.0);
        of_lines.0.iter().map(|it| (it.test, it.attempt)).collect()
    }

    #[test]
    fn results_of_one_test_are_attempts_by_their_numbers_in_whatever_order() {
        let numbers = |numbers: &[u64]| {
            let changes: Vec<Value> = numbers.iter().map(|it| json!({"testIdx": it})).collect();
            repeats(&changes)
        };
        assert_eq!(numbers(&[2, 0, 4]), [(0, 1), (0, 0), (0, 2)]);
        assert_eq!(numbers(&[7]), [(7, 0)]);
        // What is there twice stays there twice.
        assert_eq!(numbers(&[3, 3]), [(3, 0), (3, 0)]);
    }

    #[test]
    fn what_differs_in_more_than_a_run_adds_is_another_test() {
        for change in [
            json!({"promptIdx": 1}),
            json!({"prompt": {"raw": "R"}}),
            json!({"provider": {"id": "other"}}),
            json!({"vars": {"q": 2}}),
            json!({"testCase": {"vars": {"q": 1}}}),
        ] {
            let mut other = change.clone();
            other["testIdx"] = json!(1);
            assert_eq!(repeats(&[json!({"testIdx": 0}), other]), [(0, 0), (1, 0)], "{change}");
        }
        let added = json!({
            "testIdx": 1, "vars": {"q": 1, "_conversation": [1], "sessionId": "s"},
        });
        assert_eq!(repeats(&[json!({"testIdx": 0}), added]), [(0, 0), (0, 1)]);
    }

    #[test]
    fn results_without_their_prompts_are_not_taken_together() {
        for prompt in [json!({"raw": STRIPPED}), json!(null), json!({})] {
            let result = |number: u64| json!({"testIdx": number, "prompt": prompt.clone()});
            assert_eq!(repeats(&[result(0), result(1)]), [(0, 0), (1, 0)], "{prompt}");
        }
    }

    #[test]
    fn what_was_not_looked_at_has_its_own_number() {
        assert_eq!(Repeats::default().of(1, 9), Repeat { test: 9, attempt: 0 });
        assert_eq!(Repeats::default().of(0, 9), Repeat { test: 9, attempt: 0 });
    }
}
