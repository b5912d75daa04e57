//! Finds out which results of promptfoo belong to the same test: `--repeat N` gives each repeat of a test its own
//! number, and no result names its test. Creates no cases.
//!
//! A test gets the number that it would have without repeats, which is its position in the configuration however often
//! it was repeated.
//!
//! As in promptfoo's `src/util/comparison.ts` (0.121), a test is identified by its variables without those that a run
//! adds; and by its prompt, provider and the other properties in its result, because tests with the same variables may
//! differ in their assertions.

use std::collections::{BTreeMap, HashMap, HashSet};

use scorebox::digest::Digest;
use serde::{Deserialize, de::Deserializer};
use serde_json::{Map, Value};

use crate::{
    problem::Problem,
    text::Allowance,
    walk::{EACH, Path, Take, walk},
};

/// The most results that are compared, with a few bytes each; later ones keep their own numbers.
const MAX_RESULTS: usize = 1 << 20;

/// The path of the configuration's tests in a document.
const CONFIGURED: Path = &["config", "tests", EACH];

/// What promptfoo writes instead of a prompt with `PROMPTFOO_STRIP_PROMPT_TEXT`.
const STRIPPED: &str = "[prompt stripped]";

/// The properties of a result's test.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tested {
    #[serde(default)]
    prompt_idx: u64,
    #[serde(default)]
    test_idx: Option<u64>,
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
    /// A hash of what all results of one test share; `None` if the result contains too little.
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
        short(&Digest::of_parts(parts))
    }
}

/// Whether a run adds the variable: promptfoo's `isRuntimeVar`.
fn is_added(name: &str) -> bool {
    name.starts_with('_') || name == "sessionId"
}

/// A result among those of its test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repeat {
    /// The lowest number of the test, minus the repeats of other tests before it.
    pub test: u64,
    /// The index of the result's number among the numbers of the test, from 0.
    pub attempt: u64,
}

/// The results of a file, in its order.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    results: Vec<Repeat>,
    /// The lowest number of tests that are in the file's configuration but have no result.
    missing: u64,
}

impl Repeats {
    /// The repeats in a document with results at these paths.
    pub(crate) fn of_document(
        text: impl std::io::Read,
        results: &[Path],
        allowance: &Allowance,
    ) -> Repeats {
        let mut seen = Seen::default();
        let paths: Vec<Path> = results.iter().copied().chain([CONFIGURED]).collect();
        // The second reading reports what is wrong with the document.
        let _ = walk(
            allowance.on(text),
            &paths,
            &mut Taking { seen: &mut seen, configured: results.len(), allowance },
            "the file of results",
        );
        seen.repeats()
    }

    /// The repeats in a text whose lines are results.
    pub(crate) fn of_lines(text: impl std::io::Read, allowance: &Allowance) -> Repeats {
        let mut seen = Seen::default();
        let results = serde_json::Deserializer::from_reader(allowance.on(text)).into_iter();
        for tested in results.map_while(Result::ok) {
            seen.note(tested);
            allowance.renew();
        }
        seen.repeats()
    }

    /// The result with this number, from 1; with only `test` if it was not compared.
    pub(crate) fn of(&self, record: u64, test: u64) -> Repeat {
        let index = usize::try_from(record).ok().and_then(|record| record.checked_sub(1));
        let known = index.and_then(|index| self.results.get(index));
        known.copied().unwrap_or(Repeat { test, attempt: 0 })
    }

    /// How many tests of the configuration have no result, as far as that is known. A filter numbers the remaining
    /// tests from 0, so numbers do not show which tests these are.
    pub(crate) fn missing_tests(&self) -> u64 {
        self.missing
    }
}

/// What was read so far.
#[derive(Debug, Default)]
struct Seen {
    /// The number of each result, and its test, if that is known.
    results: Vec<(u64, Option<u128>)>,
    /// The tests of the configuration.
    configured: HashSet<u128>,
}

impl Seen {
    fn note(&mut self, tested: Tested) {
        if self.results.len() < MAX_RESULTS {
            let number = tested.test_idx.unwrap_or(self.results.len() as u64);
            self.results.push((number, tested.name()));
        }
    }

    /// Records a test of the configuration. It has at least one result, unless it refers to a file of tests.
    fn configure(&mut self, test: &Value) {
        let is_file = test.get("path").is_some();
        if test.is_object() && !is_file && self.configured.len() < MAX_RESULTS {
            self.configured.extend(short(&Digest::of_parts([test.to_string().as_bytes()])));
        }
    }

    fn repeats(self) -> Repeats {
        let placed = placed(&self.results);
        let tests: HashSet<u64> = placed.values().map(|it| it.test).collect();
        let missing = match self.results.len() < MAX_RESULTS {
            true => self.configured.len().saturating_sub(tests.len()) as u64,
            false => 0,
        };
        let results = self.results.iter().map(|(number, _)| placed[number]).collect();
        Repeats { results, missing }
    }
}

/// The test and attempt of each number. Two numbers belong to the same test if results of the same prompt show that:
/// results of another prompt may differ in what the run inserted.
fn placed(results: &[(u64, Option<u128>)]) -> BTreeMap<u64, Repeat> {
    // The lowest number of each test, and the lowest number that each number shares a test with.
    let mut lowest: HashMap<u128, u64> = HashMap::new();
    for (number, name) in results {
        if let Some(name) = name {
            lowest.entry(*name).and_modify(|it| *it = (*it).min(*number)).or_insert(*number);
        }
    }
    let mut firsts: BTreeMap<u64, u64> = BTreeMap::new();
    for (number, name) in results {
        let shared = name.map_or(*number, |name| lowest[&name]);
        firsts.entry(*number).and_modify(|it| *it = (*it).min(shared)).or_insert(shared);
    }
    let mut placed: BTreeMap<u64, Repeat> = BTreeMap::new();
    let mut attempts: HashMap<u64, u64> = HashMap::new();
    let mut repeats = 0;
    for (number, first) in firsts {
        let test = match placed.get(&first) {
            Some(first) => first.test,
            None => number - repeats,
        };
        let attempt = attempts.entry(test).or_default();
        placed.insert(number, Repeat { test, attempt: *attempt });
        repeats += u64::from(*attempt > 0);
        *attempt += 1;
    }
    placed
}

fn short(digest: &Digest) -> Option<u128> {
    digest.as_bytes().first_chunk().copied().map(u128::from_le_bytes)
}

struct Taking<'a> {
    seen: &'a mut Seen,
    /// The index of the path of the configuration's tests.
    configured: usize,
    allowance: &'a Allowance,
}

impl Take for Taking<'_> {
    fn take<'de, D: Deserializer<'de>>(&mut self, path: usize, element: D) -> Result<(), D::Error> {
        match path == self.configured {
            true => self.seen.configure(&Value::deserialize(element)?),
            false => self.seen.note(Tested::deserialize(element)?),
        }
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

    /// The tests and attempts of results, each of which is an answer to `Q`, with these changes.
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
        let of_document = of_document(&format!("{{\"results\": [{list}]}}"));
        assert_eq!(of_lines.results, of_document.results);
        of_lines.results.iter().map(|it| (it.test, it.attempt)).collect()
    }

    fn of_document(document: &str) -> Repeats {
        let paths: &[Path] = &[&["results", EACH]];
        Repeats::of_document(document.as_bytes(), paths, &Allowance::new())
    }

    #[test]
    fn results_of_one_test_are_attempts_by_their_numbers_in_whatever_order() {
        let numbers = |numbers: &[u64]| {
            let changes: Vec<Value> = numbers.iter().map(|it| json!({"testIdx": it})).collect();
            repeats(&changes)
        };
        assert_eq!(numbers(&[2, 0, 4]), [(0, 1), (0, 0), (0, 2)]);
        assert_eq!(numbers(&[7]), [(7, 0)]);
        // Duplicates stay duplicates.
        assert_eq!(numbers(&[3, 3]), [(3, 0), (3, 0)]);
    }

    #[test]
    fn a_test_has_the_number_that_it_has_without_repeats() {
        let result =
            |number: u64, question: &str| json!({"testIdx": number, "vars": {"q": question}});
        let results = [(0, "a"), (1, "a"), (2, "b"), (3, "b"), (6, "c"), (7, "c")];
        let results = results.map(|(number, question)| result(number, question));
        // Numbers without a result still count as tests.
        let expected = [(0, 0), (0, 1), (1, 0), (1, 1), (4, 0), (4, 1)];
        assert_eq!(repeats(&results), expected);
    }

    #[test]
    fn one_prompt_that_is_the_same_says_of_all_that_they_are_repeats() {
        let prompts = |number: u64, second: &str| {
            [
                json!({"testIdx": number}),
                json!({"testIdx": number, "promptIdx": 1, "prompt": {"raw": second}}),
            ]
        };
        let other = json!({"testIdx": 2, "vars": {"q": 2}});
        let results = [prompts(0, "try 1"), prompts(1, "try 2")].concat();
        let results = [results, vec![other]].concat();
        assert_eq!(repeats(&results), [(0, 0), (0, 0), (0, 1), (0, 1), (1, 0)]);
    }

    #[test]
    fn tests_of_the_configuration_without_a_result_are_counted() {
        let missing = |tests: Value| {
            let result = json!({"testIdx": 0, "prompt": {"raw": "Q"}});
            let again = json!({"testIdx": 1, "prompt": {"raw": "Q"}});
            let document = json!({"results": [result, again], "config": {"tests": tests}});
            of_document(&document.to_string()).missing_tests()
        };
        assert_eq!(missing(json!([{"vars": {"a": 1}}, {"vars": {"a": 2}}, {"vars": {"a": 2}}])), 1);
        for fine in
            [json!([{}]), json!([{}, "file://more.csv", {"path": "more.csv"}]), json!("a.csv")]
        {
            assert_eq!(missing(fine.clone()), 0, "{fine}");
        }
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
