//! What of promptfoo's configuration counts: tests, variables and assertions. What an assertion is, is for `assertion` to say.

use serde_json::{Map, Value};

use super::LeftOut;

/// The most tests with one that has lists of variables spread out; promptfoo numbers them in this order.
const MOST_TESTS: usize = 10_000;

/// What counts of a configuration.
#[derive(Debug, Default)]
pub(crate) struct Config {
    pub description: Option<String>,
    pub assertions: Vec<Written>,
    pub left_out: Vec<LeftOut>,
    pub judge: Option<String>,
}

/// An assertion where it stands.
#[derive(Debug)]
pub(crate) struct Written {
    pub place: String,
    pub assertion: Map<String, Value>,
    /// The tests that it is for.
    pub tests: Vec<Test>,
    /// Whether these are all.
    pub of_all: bool,
}

/// A test with one value for each variable.
#[derive(Clone, Debug)]
pub(crate) struct Test {
    /// Its number in the results.
    pub number: usize,
    pub variables: Map<String, Value>,
}

/// Reads a configuration, which is YAML or JSON.
pub(crate) fn read(text: &str) -> Result<Config, String> {
    let document: Value = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
    let Value::Object(document) = document else {
        return Err("it is no mapping with `tests` or `defaultTest`".to_owned());
    };
    if !["tests", "defaultTest", "scenarios"].iter().any(|key| document.contains_key(*key)) {
        return Err("it has neither `tests` nor `defaultTest`".to_owned());
    }
    let mut reading = Reading { config: Config::default(), templates: Map::new(), number: 0 };
    reading.document(&document);
    Ok(reading.config)
}

struct Reading {
    config: Config,
    /// `assertionTemplates`, by their names.
    templates: Map<String, Value>,
    /// The number of the next test.
    number: usize,
}

impl Reading {
    fn document(&mut self, document: &Map<String, Value>) {
        self.config.description = text(document.get("description"));
        if let Some(Value::Object(templates)) = document.get("assertionTemplates") {
            self.templates.clone_from(templates);
        }
        let default = match document.get("defaultTest") {
            Some(Value::Object(default)) => default.clone(),
            Some(Value::String(file)) => {
                self.leave_out("defaultTest", file, "it is in another file: put it into this one");
                Map::new()
            }
            _ => Map::new(),
        };
        self.config.judge = judge(&default);
        self.test_options("defaultTest", &default);
        let repeat = document.get("evaluateOptions").and_then(|it| it.get("repeat"));
        let repeat = repeat.and_then(Value::as_u64).unwrap_or(1).max(1);
        let mut all = Vec::new();
        for (index, test) in list(document.get("tests")).iter().enumerate() {
            let place = format!("tests[{index}]");
            match test {
                Value::Object(test) => all.extend(self.test(&place, test, &default, repeat)),
                Value::String(file) => self.leave_out(
                    &place,
                    file,
                    "tests in another file are not read: put them into this one. The numbers of the tests behind it are unknown",
                ),
                _ => self.leave_out(&place, "", "it is no test"),
            }
        }
        match document.get("tests") {
            Some(Value::String(file)) => {
                self.leave_out(
                    "tests",
                    file,
                    "tests in another file are not read: put them into this one",
                );
            }
            Some(Value::Object(_)) => {
                self.leave_out("tests", "", "tests that a program makes are not read");
            }
            _ => {}
        }
        if document.contains_key("scenarios") {
            self.leave_out("scenarios", "", "a suite has no scenarios: write their tests out");
        }
        let assertions = list(default.get("assert"));
        // They come first, as they hold for all.
        let behind = std::mem::take(&mut self.config.assertions);
        self.assertions("defaultTest.assert", assertions, &all, true);
        self.config.assertions.extend(behind);
    }

    /// Takes up the assertions of a test; answers with the tests that its variables make of it.
    fn test(
        &mut self,
        place: &str,
        test: &Map<String, Value>,
        default: &Map<String, Value>,
        repeat: u64,
    ) -> Vec<Test> {
        self.test_options(place, test);
        let mut variables = object(default.get("vars"));
        variables.extend(object(test.get("vars")));
        let options = object(test.get("options"));
        let spread = options.get("disableVarExpansion") != Some(&Value::Bool(true));
        let combinations = if spread { combinations(&variables) } else { vec![variables] };
        let repeat = options.get("repeat").and_then(Value::as_u64).unwrap_or(repeat);
        let mut tests = Vec::new();
        for _ in 0..repeat.min(MOST_TESTS as u64) {
            for variables in &combinations {
                if self.number < MOST_TESTS {
                    tests.push(Test { number: self.number, variables: variables.clone() });
                }
                self.number += 1;
            }
        }
        if self.number > MOST_TESTS {
            self.leave_out(place, "", &format!("only {MOST_TESTS} tests are read"));
            return tests;
        }
        self.assertions(&format!("{place}.assert"), list(test.get("assert")), &tests, false);
        tests
    }

    /// What a test has beside variables and assertions, and what changes what its assertions mean.
    fn test_options(&mut self, place: &str, test: &Map<String, Value>) {
        if test.contains_key("threshold") {
            self.leave_out(
                &format!("{place}.threshold"),
                "threshold",
                "a test that passes by its weighted score: here each assertion is a gate; `--fail-below` requires a mean of a run",
            );
        }
        let options = object(test.get("options"));
        if options.contains_key("factuality") {
            self.leave_out(
                &format!("{place}.options.factuality"),
                "factuality",
                "scores for the verdicts of `factuality`: here every verdict except a contradiction passes",
            );
        }
        for key in ["transform", "postprocess"] {
            if options.contains_key(key) {
                self.leave_out(
                    &format!("{place}.options.{key}"),
                    key,
                    "it is code that changes the output before it is judged: the results have the output as it was changed",
                );
            }
        }
    }

    fn assertions(&mut self, place: &str, written: &[Value], tests: &[Test], of_all: bool) {
        for (index, assertion) in written.iter().enumerate() {
            let place = format!("{place}[{index}]");
            let assertion = match assertion {
                Value::Object(assertion) => assertion,
                _ => {
                    self.leave_out(&place, "", "it is no assertion");
                    continue;
                }
            };
            let named = assertion.get("$ref").and_then(Value::as_str);
            let template = named.map(|name| name.trim_start_matches("#/assertionTemplates/"));
            let assertion = match template.map(|name| (name, self.templates.get(name))) {
                None => assertion.clone(),
                Some((_, Some(Value::Object(template)))) => template.clone(),
                Some((name, _)) => {
                    self.leave_out(&place, name, "there is no template of this name");
                    continue;
                }
            };
            if assertion.get("type").and_then(Value::as_str) != Some("assert-set") {
                let tests = tests.to_vec();
                self.config.assertions.push(Written { place, assertion, tests, of_all });
            } else if assertion.contains_key("threshold") {
                self.leave_out(
                    &place,
                    "assert-set",
                    "a set that passes by a share of its assertions: here each assertion is a gate",
                );
            } else {
                let inner: Vec<Value> = list(assertion.get("assert")).to_vec();
                // promptfoo has no set in a set.
                let inner = inner.into_iter().filter(|it| it.get("type") != assertion.get("type"));
                let inner: Vec<Value> = inner.collect();
                self.assertions(&format!("{place}.assert"), &inner, tests, of_all);
            }
        }
    }

    fn leave_out(&mut self, place: &str, what: &str, why: &str) {
        let (place, what, why) = (place.to_owned(), what.to_owned(), why.to_owned());
        self.config.left_out.push(LeftOut { place, what, why });
    }
}

/// The model that judges: `openai:chat:gpt-4o` of the default test's provider.
fn judge(default: &Map<String, Value>) -> Option<String> {
    let options = default.get("options")?;
    let provider = options.get("provider")?;
    let provider = provider.get("text").unwrap_or(provider);
    text(Some(provider)).or_else(|| text(provider.get("id")))
}

/// Each combination of the values of variables that are lists of texts. With several lists, which combination has which number
/// depends on the order in which they are written, which is not known here: their values are left out then.
fn combinations(variables: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let is_spread = |value: &Value| {
        value.as_array().is_some_and(|values| values.first().is_some_and(Value::is_string))
    };
    let is_known = variables.values().filter(|value| is_spread(value)).count() < 2;
    let mut all = vec![Map::new()];
    for (name, value) in variables {
        let values = match value {
            Value::Array(values) if is_spread(value) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        let with = |combination: &Map<String, Value>, value: &Value| {
            let mut combination = combination.clone();
            let of_a_list = !is_known && variables.get(name).is_some_and(is_spread);
            let value = if of_a_list { Value::Null } else { value.clone() };
            combination.insert(name.clone(), value);
            combination
        };
        all = all
            .iter()
            .flat_map(|combination| values.iter().map(move |value| with(combination, value)))
            .take(MOST_TESTS + 1)
            .collect();
    }
    all
}

fn text(value: Option<&Value>) -> Option<String> {
    value?.as_str().map(str::to_owned)
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn object(value: Option<&Value>) -> Map<String, Value> {
    value.and_then(Value::as_object).cloned().unwrap_or_default()
}
