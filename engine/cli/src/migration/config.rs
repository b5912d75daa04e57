//! Reads the parts of promptfoo's configuration that matter: tests, variables and assertions. `assertion` converts
//! assertions, and `numbers` numbers the tests.

use serde_json::{Map, Value};

use super::{
    LeftOut,
    numbers::{MAX_TESTS, Numbers, Test, object},
    references::{self, reference, resolved},
    template, yaml,
};

/// Why a judge is not taken over.
pub(super) const OTHER_JUDGE: &str = "another judge than `[judges.default]`: write it as `[judges.NAME]`, and `judge = \"NAME\"` for the scorers that ask it";
/// Why a judge's prompt is not taken over.
pub(super) const OTHER_PROMPT: &str = "a prompt for the judge: the scorers have their own, and only what they are to judge is configured";
/// Keys of a configuration that change what is judged, or how.
const OF_THE_WHOLE: [(&str, &str); 3] = [
    ("scenarios", "a suite has no scenarios: write their tests out"),
    ("extensions", "code that may change tests and outputs before they are judged"),
    ("derivedMetrics", "figures of several metrics: compute them of what `scorebox export` writes"),
];
/// The consequence if the number of tests is not known.
const UNKNOWN_NUMBERS: &str =
    ". How many tests they make is unknown, and so are the numbers of those behind them";

/// The consequence if one or more tests are missing.
const UNKNOWN_BEHIND: &str = ". The numbers of the tests behind it are unknown";

/// Why the assertions of a test are not taken over.
const UNKNOWN_NUMBER: &str = "the number of this test in the results is unknown, because of a test before it that is listed here, too: put that into this file";

/// The part of the default assertions that is not taken over if numbers of tests are unknown.
const ONLY_KNOWN_NUMBERS: &str = "only for tests whose numbers are known, where it depends on the test: on its variables, or on `disableDefaultAsserts`";

/// Why a file or a program of tests is not read.
const TESTS_ELSEWHERE: &str =
    "tests that are in another file, or that a program makes, are not read: put them into this one";

/// The parts of a configuration that matter.
#[derive(Debug, Default)]
pub(crate) struct Config {
    pub description: Option<String>,
    pub assertions: Vec<Written>,
    pub left_out: Vec<LeftOut>,
    pub judge: Option<String>,
}

/// An assertion with its location.
#[derive(Debug)]
pub(crate) struct Written {
    pub place: String,
    pub assertion: Map<String, Value>,
    /// The tests that it applies to.
    pub tests: Vec<Test>,
    /// Whether these are all.
    pub of_all: bool,
}

/// Reads a configuration, which is YAML or JSON.
pub(crate) fn read(text: &str) -> Result<Config, String> {
    let Value::Object(document) = yaml::read(text)? else {
        return Err("it is not a mapping with `tests` or `defaultTest`".to_owned());
    };
    let document = resolved(document);
    if !["tests", "defaultTest", "scenarios"].iter().any(|key| document.contains_key(*key)) {
        return Err("it has neither `tests` nor `defaultTest`".to_owned());
    }
    let (config, templates) = (Config::default(), Map::new());
    let mut reading = Reading { config, templates, numbers: Numbers::default() };
    reading.document(&document);
    Ok(reading.config)
}

struct Reading {
    config: Config,
    /// `assertionTemplates`, by their names.
    templates: Map<String, Value>,
    numbers: Numbers,
}

impl Reading {
    fn document(&mut self, document: &Map<String, Value>) {
        self.config.description = text(document.get("description"));
        if let Some(Value::Object(templates)) = document.get("assertionTemplates") {
            self.templates.clone_from(templates);
        }
        let default = match document.get("defaultTest") {
            Some(test) if self.is_elsewhere("defaultTest", test, "") => Map::new(),
            Some(Value::Object(default)) => default.clone(),
            Some(Value::String(file)) => {
                self.leave_out("defaultTest", file, "it is in another file: put it into this one");
                Map::new()
            }
            _ => Map::new(),
        };
        self.config.judge = judge(&default);
        self.test_options("defaultTest", &default);
        let spread = is_spread_out(&object(default.get("options")));
        self.variables_in_files("defaultTest", &default, spread);
        // The tests that have the assertions of `defaultTest`.
        let (mut all, mut are_all) = (Vec::new(), true);
        for (index, test) in list(document.get("tests")).iter().enumerate() {
            let place = format!("tests[{index}]");
            match test {
                test if self.is_elsewhere(&place, test, UNKNOWN_BEHIND) => self.numbers.lose(),
                Value::Object(test) if tests_elsewhere(test).is_none() => {
                    let tests = self.test(&place, test, &default);
                    match has_default_assertions(test) {
                        true => all.extend(tests),
                        false => are_all = false,
                    }
                }
                Value::Object(_) | Value::String(_) => {
                    let file = test.as_str().or_else(|| tests_elsewhere(test.as_object()?));
                    let why = format!("{TESTS_ELSEWHERE}{UNKNOWN_BEHIND}");
                    self.leave_out(&place, file.unwrap_or_default(), &why);
                    self.numbers.lose();
                }
                _ => self.leave_out(&place, "", "it is not a test"),
            }
        }
        match document.get("tests") {
            Some(Value::String(file)) => self.leave_out("tests", file, TESTS_ELSEWHERE),
            Some(tests) if self.is_elsewhere("tests", tests, "") => {}
            Some(Value::Object(_)) => self.leave_out("tests", "", TESTS_ELSEWHERE),
            _ => {}
        }
        for (key, why) in OF_THE_WHOLE {
            let is_empty = |it: &Value| it.is_null() || it.as_array().is_some_and(Vec::is_empty);
            if document.get(key).is_some_and(|it| !is_empty(it)) {
                self.leave_out(key, "", why);
            }
        }
        let assertions = self.assertion_list("defaultTest.assert", default.get("assert"));
        self.default_assertions(&assertions, &all, are_all);
    }

    /// Adds the assertions of `defaultTest` before the others, because they apply to all or most tests.
    fn default_assertions(&mut self, assertions: &[Value], tests: &[Test], of_all: bool) {
        const PLACE: &str = "defaultTest.assert";
        if assertions.is_empty() {
            return;
        }
        let depends = |it: &Value| it.get("value").is_some_and(template::has_variables);
        if self.numbers.are_lost() && (!of_all || assertions.iter().any(depends)) {
            self.leave_out(PLACE, "", ONLY_KNOWN_NUMBERS);
        }
        // Without a node, a scorer would apply to all cases.
        if tests.is_empty() && !of_all {
            return self.leave_out(
                PLACE,
                "",
                "each test that is known here says `disableDefaultAsserts`",
            );
        }
        let behind = std::mem::take(&mut self.config.assertions);
        self.assertions(PLACE, assertions, tests, of_all);
        self.config.assertions.extend(behind);
    }

    /// Adds the assertions of a test; returns the tests that its variables expand it to.
    fn test(
        &mut self,
        place: &str,
        test: &Map<String, Value>,
        default: &Map<String, Value>,
    ) -> Vec<Test> {
        self.test_options(place, test);
        let mut variables = object(default.get("vars"));
        variables.extend(object(test.get("vars")));
        let mut options = object(default.get("options"));
        options.extend(object(test.get("options")));
        let spread = is_spread_out(&options);
        self.variables_in_files(place, test, spread);
        let behind_is_unknown = spread && variables.values().any(finds_files);
        let combinations = if spread { combinations(&variables) } else { vec![variables] };
        let place_of_assertions = format!("{place}.assert");
        let assertions = self.assertion_list(&place_of_assertions, test.get("assert"));
        if self.numbers.are_lost() {
            if !assertions.is_empty() {
                self.leave_out(&place_of_assertions, "", UNKNOWN_NUMBER);
            }
            return Vec::new();
        }
        let Some(tests) = self.numbers.of(test, default, combinations) else {
            self.leave_out(place, "", &format!("only {MAX_TESTS} tests are read"));
            return Vec::new();
        };
        self.assertions(&place_of_assertions, &assertions, &tests, false);
        if behind_is_unknown {
            self.numbers.lose();
        }
        tests
    }

    /// Leaves out a test's keys that have no equivalent, or that change the meaning of its assertions.
    fn test_options(&mut self, place: &str, test: &Map<String, Value>) {
        if test.contains_key("threshold") {
            self.leave_out(
                &format!("{place}.threshold"),
                "threshold",
                "a test that passes by its weighted score: here each assertion is a gate; `--fail-below` requires a mean of a run",
            );
        }
        if test.get("assertScoringFunction").is_some_and(|it| !it.is_null()) {
            self.leave_out(
                &format!("{place}.assertScoringFunction"),
                "assertScoringFunction",
                "code that decides whether a test passes: here each assertion is a gate",
            );
        }
        let options = object(test.get("options"));
        self.is_elsewhere(&format!("{place}.options"), &Value::Object(options.clone()), "");
        if options.contains_key("factuality") {
            self.leave_out(
                &format!("{place}.options.factuality"),
                "factuality",
                "scores for the verdicts of `factuality`: here every verdict except a contradiction passes",
            );
        }
        if options.contains_key("rubricPrompt") {
            self.leave_out(&format!("{place}.options.rubricPrompt"), "rubricPrompt", OTHER_PROMPT);
        }
        let judge = self.config.judge.as_deref();
        if options.get("provider").is_some_and(|it| is_other_judge(it, judge)) {
            self.leave_out(&format!("{place}.options.provider"), "provider", OTHER_JUDGE);
        }
        if options.contains_key("transformVars") {
            self.leave_out(
                &format!("{place}.options.transformVars"),
                "transformVars",
                "it is code that changes the variables: the suite has the values that are written",
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

    /// Lists what is not known of a test because its variables are in files; with `spread`, their values also expand it
    /// to several tests.
    fn variables_in_files(&mut self, place: &str, test: &Map<String, Value>, spread: bool) {
        const NOT_READ: &str = "variables in another file are not read: put them into this one";
        const EACH_FILE: &str = "each file that the pattern finds is a value: write a list of them";
        let place = format!("{place}.vars");
        let behind = if spread { UNKNOWN_NUMBERS } else { "" };
        match test.get("vars") {
            Some(variables) if self.is_elsewhere(&place, variables, behind) => {}
            Some(Value::String(file)) => {
                self.leave_out(&place, file, &format!("{NOT_READ}{behind}"));
            }
            Some(Value::Array(files)) if !files.is_empty() => {
                let files: Vec<&str> = files.iter().filter_map(Value::as_str).collect();
                self.leave_out(&place, &files.join(", "), &format!("{NOT_READ}{behind}"));
            }
            Some(Value::Object(variables)) if spread => {
                let why = format!("{EACH_FILE}{UNKNOWN_NUMBERS}");
                for (name, pattern) in variables {
                    if let Some(pattern) = finds_files(pattern).then(|| pattern.as_str()).flatten()
                    {
                        self.leave_out(&format!("{place}.{name}"), pattern, &why);
                    }
                }
            }
            _ => {}
        }
    }

    fn assertions(&mut self, place: &str, written: &[Value], tests: &[Test], of_all: bool) {
        for (index, assertion) in written.iter().enumerate() {
            let place = format!("{place}[{index}]");
            let assertion = match assertion {
                Value::Object(assertion) => assertion,
                _ => {
                    self.leave_out(&place, "", "it is not an assertion");
                    continue;
                }
            };
            let named = assertion.get("$ref").and_then(Value::as_str);
            let template = named.map(|name| name.trim_start_matches("#/assertionTemplates/"));
            let assertion = match template.map(|name| (name, self.templates.get(name))) {
                None => assertion.clone(),
                Some((_, Some(Value::Object(template)))) => template.clone(),
                Some((name, _)) => {
                    self.leave_out(&place, name, references::why(named.unwrap_or(name)));
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
                let inner =
                    self.assertion_list(&format!("{place}.assert"), assertion.get("assert"));
                // promptfoo does not allow a set in a set.
                let inner = inner.into_iter().filter(|it| it.get("type") != assertion.get("type"));
                let inner: Vec<Value> = inner.collect();
                self.assertions(&format!("{place}.assert"), &inner, tests, of_all);
            }
        }
    }

    /// The assertions of a test. A value that is not a list is reported.
    fn assertion_list(&mut self, place: &str, written: Option<&Value>) -> Vec<Value> {
        match written {
            None | Some(Value::Null) => {}
            Some(Value::Array(assertions)) => return assertions.clone(),
            Some(other) if self.is_elsewhere(place, other, "") => {}
            Some(Value::String(file)) => {
                self.leave_out(place, file, "it is not a list of assertions");
            }
            Some(_) => self.leave_out(place, "", "it is not a list of assertions"),
        }
        Vec::new()
    }

    /// Whether a value is a reference that was not replaced, which is then reported; `behind` is the consequence.
    fn is_elsewhere(&mut self, place: &str, value: &Value, behind: &str) -> bool {
        let Some(name) = reference(value) else { return false };
        self.leave_out(place, name, &format!("{}{behind}", references::why(name)));
        true
    }

    fn leave_out(&mut self, place: &str, what: &str, why: &str) {
        let (place, what, why) = (place.to_owned(), what.to_owned(), why.to_owned());
        self.config.left_out.push(LeftOut { place, what, why });
    }
}

/// The model that judges: `openai:chat:gpt-4o` of the default test's grader, or of its provider, which promptfoo uses
/// next.
fn judge(default: &Map<String, Value>) -> Option<String> {
    let grader = default.get("options").and_then(|options| options.get("provider"));
    grader.or_else(|| default.get("provider")).and_then(grader_name)
}

fn grader_name(provider: &Value) -> Option<String> {
    let provider = provider.get("text").unwrap_or(provider);
    text(Some(provider)).or_else(|| text(provider.get("id")))
}

/// Whether a provider names more than the suite's judge.
pub(super) fn is_other_judge(provider: &Value, judge: Option<&str>) -> bool {
    let name = grader_name(provider);
    !provider.is_null()
        && (name.is_none() || name.as_deref() != judge || provider.get("embedding").is_some())
}

/// Whether a variable that is a list makes a test for each value.
fn is_spread_out(options: &Map<String, Value>) -> bool {
    options.get("disableVarExpansion") != Some(&Value::Bool(true))
}

/// Whether a test has the assertions of `defaultTest`. promptfoo reads this before it adds the options of
/// `defaultTest`.
fn has_default_assertions(test: &Map<String, Value>) -> bool {
    let disabled = test.get("options").and_then(|options| options.get("disableDefaultAsserts"));
    disabled != Some(&Value::Bool(true))
}

/// Whether it is a path that may match several files.
fn finds_files(value: &Value) -> bool {
    let path = value.as_str().and_then(|text| text.strip_prefix("file://"));
    path.is_some_and(|path| path.contains(['*', '?', '[', '{']))
}

/// The file or the program that replaces a test: `path` of `{path: file://more.csv}`.
fn tests_elsewhere(test: &Map<String, Value>) -> Option<&str> {
    test.get("path").and_then(Value::as_str)
}

/// Each combination of the values of variables that are lists of texts. With several lists, which combination has which
/// number depends on the order in which they are written, which is not known here, so their values are left out.
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
            .take(MAX_TESTS + 1)
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
