//! Reads JUnit XML, as many tools write it: nested suites with tests in them. Custom entities and external documents
//! are not resolved.

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::reported::{Outcome, Reported, full_name};

/// The deepest nesting of elements that is read.
const DEPTH: usize = 64;
/// The most attributes of an element that are read.
const ATTRIBUTES: usize = 64;
/// The most of a failure's text that is kept, in bytes.
const TEXT: usize = 16 << 10;

#[derive(Default)]
struct Attributes {
    name: String,
    class_name: String,
    message: String,
    kind: String,
    /// How a test ended, if its attributes say so: `status`, and GoogleTest's `result`.
    endings: [String; 2],
    counts: Counts,
}

/// How many of its tests do not pass, according to a suite's attributes.
#[derive(Default)]
struct Counts {
    failures: u64,
    errors: u64,
}

impl Counts {
    /// `2 failures and 1 error`; `None` if there are neither.
    fn words(&self) -> Option<String> {
        let failures = match self.failures {
            0 => None,
            1 => Some("1 failure".to_owned()),
            many => Some(format!("{many} failures")),
        };
        let errors = match self.errors {
            0 => None,
            1 => Some("1 error".to_owned()),
            many => Some(format!("{many} errors")),
        };
        match (failures, errors) {
            (Some(failures), Some(errors)) => Some(format!("{failures} and {errors}")),
            (failures, errors) => failures.or(errors),
        }
    }
}

impl Attributes {
    fn ended(&self, words: &[&str]) -> bool {
        self.endings.iter().any(|ending| words.iter().any(|word| word.eq_ignore_ascii_case(ending)))
    }
}

/// The endings of tests that did not run; GoogleTest's are `notrun` and `suppressed`.
const SKIPPED: [&str; 6] = ["skipped", "notrun", "disabled", "suppressed", "ignored", "pending"];
/// The endings of tests that failed.
const FAILED: [&str; 4] = ["failed", "failure", "fail", "error"];
/// Node's types of skipped elements for tests that are run nevertheless and may fail.
const MAY_FAIL: [&str; 2] = ["todo", "skipped"];

/// The elements for failures that a later run of the test repaired (surefire), or did not.
const OF_RERUNS: [&str; 4] = ["flakyFailure", "flakyError", "rerunFailure", "rerunError"];

struct Suite {
    name: String,
    counts: Counts,
    tests_before: usize,
    failures_before: usize,
    /// Whether something failed outside a test, such as a common set-up.
    has_failure: bool,
}

impl Suite {
    /// Why the suite fails, if it counts failures but contains none. Tools count differently if a test fails more than
    /// once, or if suites are nested, so different numbers are not an error.
    fn contradiction(&self, tests: usize, failures: usize) -> Option<String> {
        if failures != self.failures_before {
            return None;
        }
        let counted = match self.counts.words() {
            None if self.has_failure => {
                return Some("it reports an error outside of its tests".to_owned());
            }
            counted => counted?,
        };
        let found =
            if tests == self.tests_before { "has no tests" } else { "none of its tests fails" };
        Some(format!("it reports {counted}, but {found}"))
    }
}

struct Test {
    attributes: Attributes,
    failure: Option<Failure>,
    /// Whether a run of it failed; another run may have passed.
    has_failed_run: bool,
    is_skipped: bool,
    /// Whether its failure does not count.
    may_fail: bool,
}

#[derive(Default)]
struct Failure {
    message: String,
    text: String,
}

/// The tests of a report.
pub(crate) fn read(text: &str) -> Result<Vec<Reported>, String> {
    let mut reader = Reader::from_str(text);
    let mut state = State::default();
    let wrong = |at: u64, what: &dyn std::fmt::Display| {
        let line = 1 + text.as_bytes()[..(at as usize).min(text.len())]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        format!("it is not valid XML: {what}, at line {line}")
    };
    loop {
        let event = reader.read_event().map_err(|error| wrong(reader.error_position(), &error))?;
        let result = match event {
            Event::Start(start) => state.open(&start),
            Event::Empty(start) => state.open(&start).map(|()| state.close()),
            Event::End(_) => {
                state.close();
                Ok(())
            }
            Event::Text(text) => {
                state.text(&text.xml10_content());
                Ok(())
            }
            Event::CData(text) => {
                state.text(&text.xml10_content());
                Ok(())
            }
            Event::GeneralRef(name) => {
                let character = name.resolve_char_ref().ok().flatten();
                match character {
                    Some(character) => state.text(character.encode_utf8(&mut [0; 4])),
                    None => state
                        .text(resolve_predefined_entity(&name.xml10_content()).unwrap_or_default()),
                }
                Ok(())
            }
            Event::Eof if state.depth > 0 => {
                Err("it ends before its elements are closed".to_owned())
            }
            Event::Eof if !state.began => {
                Err("it has no element `testsuites` or `testsuite`".to_owned())
            }
            Event::Eof => return Ok(state.tests),
            _ => Ok(()),
        };
        result.map_err(|what| wrong(reader.buffer_position(), &what))?;
    }
}

#[derive(Default)]
struct State {
    tests: Vec<Reported>,
    /// How many tests have failures, including those that do not count.
    failures: usize,
    /// The kinds of all open elements.
    open: Vec<Element>,
    suites: Vec<Suite>,
    test: Option<Test>,
    depth: usize,
    began: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Element {
    Suites,
    Suite,
    Test,
    /// A failure or an error of a test.
    Failure,
    Other,
}

impl State {
    fn open(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        let name = start.local_name();
        let element = match (name.as_ref(), &mut self.test) {
            ("testsuites", None) => Element::Suites,
            ("testsuite", None) => Element::Suite,
            ("testcase", None) => Element::Test,
            ("failure" | "error", Some(test)) if self.open.last() == Some(&Element::Test) => {
                let attributes = attributes(start)?;
                let said = if attributes.message.is_empty() {
                    attributes.kind
                } else {
                    attributes.message
                };
                // If there are several failures, the message of the first one is reported.
                test.failure.get_or_insert_with(|| Failure { message: said, ..Failure::default() });
                Element::Failure
            }
            ("failure" | "error", None) if self.open.last() == Some(&Element::Suite) => {
                if let Some(suite) = self.suites.last_mut() {
                    suite.has_failure = true;
                }
                Element::Other
            }
            ("skipped" | "disabled", Some(test)) if self.open.last() == Some(&Element::Test) => {
                test.is_skipped = true;
                test.may_fail |= MAY_FAIL.contains(&attributes(start)?.kind.as_str());
                Element::Other
            }
            (name, Some(test)) if self.open.last() == Some(&Element::Test) => {
                test.has_failed_run |= OF_RERUNS.contains(&name);
                Element::Other
            }
            _ => Element::Other,
        };
        if !self.began && !matches!(element, Element::Suites | Element::Suite) {
            return Err(format!(
                "the element `{}` is neither `testsuites` nor `testsuite`",
                name.as_ref()
            ));
        }
        self.began = true;
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("elements are nested more than {DEPTH} deep"));
        }
        match element {
            Element::Suites | Element::Suite => {
                let Attributes { name, counts, .. } = attributes(start)?;
                self.suites.push(Suite {
                    // The name for all suites is the tool's, and not part of a test's name.
                    name: if element == Element::Suite { name } else { String::new() },
                    counts,
                    tests_before: self.tests.len(),
                    failures_before: self.failures,
                    has_failure: false,
                });
            }
            Element::Test => {
                let attributes = attributes(start)?;
                self.test = Some(Test {
                    attributes,
                    failure: None,
                    has_failed_run: false,
                    is_skipped: false,
                    may_fail: false,
                });
            }
            _ => {}
        }
        self.open.push(element);
        Ok(())
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        match self.open.pop() {
            Some(element @ (Element::Suites | Element::Suite)) => {
                if let Some(suite) = self.suites.pop()
                    && let Some(why) = suite.contradiction(self.tests.len(), self.failures)
                {
                    let name = match suite.name.as_str() {
                        _ if element == Element::Suites => "the run",
                        "" => "a suite",
                        name => name,
                    };
                    self.tests.push(Reported::failed(name, &why));
                    // An enclosing suite may count the same failures.
                    self.failures += 1;
                }
            }
            Some(Element::Test) => {
                if let Some(test) = self.test.take() {
                    let name = self.name(&test.attributes);
                    let has_failure = test.failure.is_some() || test.has_failed_run;
                    let outcome = match test.failure {
                        _ if test.may_fail => Outcome::Skipped,
                        // A skipped test fails if its tear-down does.
                        Some(Failure { message, text }) => {
                            Outcome::failed(&format!("{message}\n{}", text.trim()))
                        }
                        None if test.is_skipped => Outcome::Skipped,
                        None if test.attributes.ended(&FAILED) => Outcome::failed("it failed"),
                        None if test.attributes.ended(&SKIPPED) => Outcome::Skipped,
                        None => Outcome::Passed,
                    };
                    let reported = Reported::new(name, outcome);
                    self.failures += usize::from(has_failure || reported.is_failed());
                    self.tests.push(reported);
                }
            }
            _ => {}
        }
    }

    /// The class (or else the suites) and the name. Node writes `test` as the class.
    fn name(&self, test: &Attributes) -> String {
        let name = if test.name.is_empty() { "a test" } else { &test.name };
        if test.class_name.is_empty() || test.class_name == "test" {
            full_name(self.suites.iter().map(|suite| suite.name.as_str()), name)
        } else {
            full_name([test.class_name.as_str()], name)
        }
    }

    /// The text of a failure.
    fn text(&mut self, text: &str) {
        if self.open.last() == Some(&Element::Failure)
            && let Some(Test { failure: Some(failure), .. }) = &mut self.test
            && failure.text.len() < TEXT
        {
            failure.text.push_str(&text[..text.floor_char_boundary(TEXT)]);
        }
    }
}

fn attributes(start: &BytesStart<'_>) -> Result<Attributes, String> {
    let mut found = Attributes::default();
    // Checking for duplicates would take quadratic time.
    for attribute in start.attributes().with_checks(false).take(ATTRIBUTES) {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let value = || {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            value.map(|value| value.into_owned()).map_err(|error| error.to_string())
        };
        match attribute.key.as_ref() {
            "name" => found.name = value()?,
            "classname" => found.class_name = value()?,
            "message" => found.message = value()?,
            "type" => found.kind = value()?,
            "status" => found.endings[0] = value()?,
            "result" => found.endings[1] = value()?,
            "failures" => found.counts.failures = value()?.parse().unwrap_or(0),
            "errors" => found.counts.errors = value()?.parse().unwrap_or(0),
            _ => {}
        }
    }
    Ok(found)
}
