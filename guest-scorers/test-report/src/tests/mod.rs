//! test-report, as a specification. The reports in `fixtures` were written by the tools themselves (pytest 9.2 with
//! pytest-json-report and pytest-reportlog, Vitest, Jest, Node 20, node-tap, cargo 1.95), with folders renamed and
//! backtraces shortened. This file has what holds for all formats; each format has its own file, and `commands` is
//! about recorded output.

mod commands;
mod jest;
mod junit;
mod pytest;
mod tap;

use std::fmt::Write;

use scorebox_sdk::serde_json::{Value, json};

use super::*;

fn of(config: Value, workspace: Value) -> Result<Score, ScoreError> {
    let scorer: TestReport = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!("done")).with_metadata(json!({ "workspace": workspace })))
}

fn report(content: &str) -> Result<Score, ScoreError> {
    of(json!({}), json!({"testReports": [{"content": content}]}))
}

/// One line for each test: `+` passes, `-` fails and shows the first line of the reason, `.` does not count.
fn outline(content: &str) -> String {
    let tests = Format::of(content).unwrap().read(content).unwrap();
    let mut outline = String::new();
    for Reported { name, outcome } in tests {
        match outcome {
            Outcome::Passed => writeln!(outline, "+ {name}"),
            Outcome::Failed(why) => writeln!(outline, "- {name}: {}", why.lines().next().unwrap()),
            Outcome::Skipped => writeln!(outline, ". {name}"),
        }
        .unwrap();
    }
    outline
}

#[test]
fn json_lines_of_cargo() {
    assert_eq!(
        outline(include_str!("../../fixtures/cargo.jsonl")),
        "\
+ tests::adds
. tests::ignored
- tests::panics: test did not panic as expected at src/lib.rs:16:8
- tests::subtracts: thread 'tests::subtracts' (30462) panicked at src/lib.rs:10:22:
+ src/lib.rs - documented (line 1)
"
    );
    let broken_off = "   Compiling sum v0.1.0
{ \"type\": \"suite\", \"event\": \"started\", \"test_count\": 2 }
{ \"type\": \"test\", \"event\": \"started\", \"name\": \"a\" }
{ \"type\": \"test\", \"name\": \"a\", \"event\": \"ok\" }
{ \"type\": \"test\", \"event\": \"started\", \"name\": \"b\" }
{not json, but printed by a test}
";
    assert_eq!(outline(broken_off), "+ a\n- b: it began and did not end\n");
}

#[test]
fn a_log_that_ends_early_fails() {
    let log = include_str!("../../fixtures/pytest.jsonl");
    let cut: Vec<_> = log.lines().filter(|line| !line.contains("SessionFinish")).collect();
    assert!(outline(&cut.join("\n")).ends_with("- the run: it broke off: the log has no end\n"));
    let interrupted =
        r#"{"exitcode": 2, "summary": {}, "tests": [{"nodeid": "a", "outcome": "passed"}]}"#;
    assert_eq!(outline(interrupted), "+ a\n- the run: pytest ended with exit code 2\n");
}

#[test]
fn the_score_is_the_part_of_the_tests_that_passes_and_each_is_a_gate() {
    let score = report(include_str!("../../fixtures/vitest.json")).unwrap();
    assert_eq!(score.score, Some(1.0 / 3.0));
    let gate =
        |name: &str, holds| scorebox_sdk::Assertion::pass(name, holds).severity(Severity::Gate);
    assert_eq!(score.assertions[0], gate("sum.test.js > sum > adds", true));
    assert_eq!(score.assertions.len(), 3);
    assert_eq!(score.meta_value(), Some(json!({"tests": 3, "failed": 2, "skipped": 2})));
    assert!(score.reason.unwrap().starts_with(
        "2 of 3 tests fail: sum.test.js > sum > of texts > refuses \"a\" & <b> (AssertionError:"
    ));
}

#[test]
fn several_reports_count_together_and_json_may_be_in_the_case_as_json() {
    let vitest: Value = serde_json::from_str(include_str!("../../fixtures/vitest.json")).unwrap();
    let reports = json!({"testReports": [
        {"format": "vitest", "content": vitest},
        {"format": "TAP", "content": "1..1\nok 1 - a"},
    ]});
    assert_eq!(of(json!({}), reports).unwrap().score, Some(0.5));
}

#[test]
fn some_tests_may_be_chosen_left_out_or_required() {
    let tap = json!({"testReports": [
        {"content": "1..4\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP\nok 4 - ab\n"},
    ]});
    let score = |config: Value| of(config, tap.clone()).unwrap();
    assert_eq!(score(json!({})).score, Some(2.0 / 3.0));
    assert_eq!(score(json!({"only": [{"regex": "^a"}]})).score, Some(1.0));
    assert_eq!(score(json!({"ignore": ["b"]})).score, Some(1.0));
    let required = score(json!({"only": ["ab"], "required": ["a", "c", "d"]}));
    assert_eq!(required.score, Some(0.5));
    assert_eq!(
        required.reason.as_deref(),
        Some(
            "2 of 4 tests fail: c (it is required, but was skipped), d (it is required, but is not in the report)"
        )
    );
    let error = of(json!({"only": ["x"]}), tap.clone()).unwrap_err();
    assert_eq!(error.message(), "`only` and `ignore` leave none of the 4 reported tests");
}

#[test]
fn without_tests_there_is_no_score() {
    let empty = "<testsuites><testsuite name=\"a\" tests=\"0\"/></testsuites>";
    assert_eq!(
        report(empty).unwrap_err().message(),
        "`testReports[0]` has no tests; a run without tests says nothing about the work"
    );
    let skipped = report("1..1\nok 1 - a # SKIP").unwrap();
    assert_eq!(
        (skipped.score, skipped.reason.as_deref()),
        (None, Some("the only test was skipped"))
    );
    assert!(of(json!({}), json!({"testReports": []})).is_err());
    assert!(of(json!({}), json!({"diff": ""})).is_err());
}

#[test]
fn of_more_than_a_thousand_tests_the_failures_are_kept() {
    let mut tap = String::from("1..3000\n");
    for number in 1..=3000 {
        let not = if number == 2999 { "not " } else { "" };
        writeln!(tap, "{not}ok {number} - test {number}").unwrap();
    }
    let score = report(&tap).unwrap();
    assert_eq!(score.score, Some(2999.0 / 3000.0));
    assert_eq!(score.assertions.len(), 1000);
    assert_eq!(
        score.reason.as_deref(),
        Some("1 of 3000 tests fails: test 2999 (it failed); 2000 assertions are left out")
    );
}

#[test]
fn what_is_not_a_report_is_an_error_that_says_so() {
    let message = |content: &str| report(content).unwrap_err().message().to_owned();
    for (content, expected) in [
        ("", "it is empty"),
        ("all is well", "it is in an unknown format; it begins with \"all is well\""),
        ("{\"stats\": {}}", "it is JSON in an unknown format, with the keys `stats`"),
        ("<html><body/></html>", "the element `html` is neither `testsuites` nor `testsuite`"),
        ("<testsuite><testcase name='a'/>", "it ends before its elements are closed"),
        ("<testsuite><testcase name='a'></testsuite>", "it is not valid XML"),
    ] {
        assert!(message(content).contains(expected), "{content}: {}", message(content));
    }
    let named = of(json!({}), json!({"testReports": [{"format": "mocha", "content": ""}]}));
    assert_eq!(
        named.unwrap_err().message(),
        "`testReports[0]` cannot be read: its format is `mocha`; known formats: `junit`, `tap`, `vitest`, \
         `jest`, `cargo`, `pytest`"
    );
}

#[test]
fn hostile_reports_end() {
    let deep = "<testsuite>".repeat(100_000);
    assert!(report(&deep).unwrap_err().message().contains("more than 64 deep"));
    let entities = "<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><testsuite><testcase name=\"x\"><failure>&b;</failure></testcase></testsuite>";
    assert_eq!(report(entities).unwrap().score, Some(0.0));
    let attributes = format!("<testsuite><testcase {}/></testsuite>", "a='b' ".repeat(50_000));
    assert_eq!(report(&attributes).unwrap().score, Some(1.0));
    let indented = format!("{}ok 1 - a\n1..1", " ".repeat(1000));
    assert!(report(&indented).is_err());
    let mut nested = String::new();
    for depth in (0..60).rev() {
        writeln!(nested, "{}ok 1 - {}", " ".repeat(depth * 4), "x".repeat(1000)).unwrap();
    }
    assert_eq!(report(&(nested + "1..1\n")).unwrap().score, Some(1.0));
}
