//! test-report, as a specification. The reports in `fixtures` are the tools' own (pytest 9.2 with
//! pytest-json-report and pytest-reportlog, Vitest, Jest, Node 20, node-tap, cargo 1.95), with folders
//! renamed and backtraces cut.

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

/// A line for every test: `+` passes, `-` fails with the first line of why, `.` does not count.
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
fn a_report_of_pytest_is_read() {
    assert_eq!(
        outline(include_str!("../fixtures/pytest.xml")),
        "\
- pytest > tests.test_broken: collection failure
+ tests.test_sum > test_adds
- tests.test_sum > test_subtracts: assert (3 - 1) == 1
+ tests.test_sum.TestParse > test_number[1]
- tests.test_sum.TestParse > test_number[a b]: ValueError: invalid literal for int() with base 10: 'a b'
. tests.test_sum > test_skipped
. tests.test_sum > test_expected_to_fail
+ tests.test_sum > test_unexpectedly_passes
- tests.test_sum > test_needs_a_fixture: failed on setup with \"RuntimeError: no database\"
- tests.test_sum > test_teardown_fails: failed on teardown with \"RuntimeError: cannot close\"
"
    );
}

#[test]
fn junit_of_vitest_and_of_node() {
    assert_eq!(
        outline(include_str!("../fixtures/vitest.xml")),
        "\
+ sum.test.js > sum > adds
- sum.test.js > sum > of texts > refuses \"a\" & <b>: expected [Function] to throw an error
. sum.test.js > sum > is skipped
. sum.test.js > sum > is to be done
- broken/syntax.test.js: Parse failure: Parse failed with 1 error: Unexpected token 1: const = ;          ^ At file: /broken/syntax.test.js:1:6
"
    );
    assert_eq!(
        outline(include_str!("../fixtures/node.xml")),
        "\
+ sum > adds
- sum > of texts > refuses # hashes: Missing expected exception.
. sum > is skipped
. sum > is to be done
+ a test with a step > step
"
    );
}

#[test]
fn json_of_vitest_and_jest() {
    let expected = "\
+ sum.test.js > sum > adds
- sum.test.js > sum > of texts > refuses \"a\" & <b>: {first}
. sum.test.js > sum > is skipped
. sum.test.js > sum > is to be done
- broken/syntax.test.js: {second}
";
    let first = "AssertionError: expected [Function] to throw an error";
    let second = "Parse failure: Parse failed with 1 error:";
    let vitest = expected.replace("{first}", first).replace("{second}", second);
    assert_eq!(outline(include_str!("../fixtures/vitest.json")), vitest);
    let first = "Error: expect(received).toThrow()";
    let second = "● Test suite failed to run";
    let jest = expected.replace("{first}", first).replace("{second}", second);
    assert_eq!(outline(include_str!("../fixtures/jest.json")), jest);
}

#[test]
fn tap_of_node_of_node_tap_and_of_vitest() {
    assert_eq!(
        outline(include_str!("../fixtures/node.tap")),
        "\
+ sum > adds
- sum > of texts > refuses # hashes: Missing expected exception.
. sum > is skipped
. sum > is to be done
+ a test with a step > step
- a test with a step: after the step
"
    );
    assert_eq!(
        outline(include_str!("../fixtures/node-tap.tap")),
        "\
+ sum > adds
- sum > of texts > refuses # hashes: it failed
. sum > is skipped
. sum > is to be done
"
    );
    assert_eq!(
        outline(include_str!("../fixtures/vitest.tap")),
        "\
+ sum.test.js > sum > adds
- sum.test.js > sum > of texts > refuses \"a\" & <b>: expected [Function] to throw an error
. sum.test.js > sum > is skipped
. sum.test.js > sum > is to be done
- broken/syntax.test.js: Parse failure: Parse failed with 1 error:
"
    );
}

#[test]
fn tap_of_old() {
    // The examples of the TAP 12 and 13 documents.
    assert_eq!(
        outline(
            "1..4\nok 1 - Input file opened\nnot ok 2 - First line of the input valid\nok 3\nnot ok 4 # TODO not written yet\n"
        ),
        "+ Input file opened\n- First line of the input valid: it failed\n+ test 3\n. test 4\n"
    );
    assert_eq!(
        outline("1..3\nok 1\nnot ok - Failed to open\nBail out! No database\n"),
        "+ test 1\n- Failed to open: it failed\n- the run: it bailed out: No database\n"
    );
    assert_eq!(
        outline("1..0 # skip because English-to-French translator isn't installed"),
        ". all tests\n"
    );
    assert_eq!(
        outline("ok 1 - a\nok 2 - b # SKIP no network\n1..3\n"),
        "+ a\n. b\n- the run: 3 tests were planned, 2 reported\n"
    );
    assert_eq!(outline("ok 1 - a\n"), "+ a\n- the run: it broke off: there is no plan\n");
}

#[test]
fn json_lines_of_cargo() {
    assert_eq!(
        outline(include_str!("../fixtures/cargo.jsonl")),
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
fn json_of_pytest() {
    let expected = "\
- tests/test_broken.py: ImportError while importing test module '/project/tests/test_broken.py'.
+ tests/test_sum.py::test_adds
- tests/test_sum.py::test_subtracts: assert (3 - 1) == 1
+ tests/test_sum.py::TestParse::test_number[1]
- tests/test_sum.py::TestParse::test_number[a b]: ValueError: invalid literal for int() with base 10: 'a b'
. tests/test_sum.py::test_skipped
. tests/test_sum.py::test_expected_to_fail
+ tests/test_sum.py::test_unexpectedly_passes
- tests/test_sum.py::test_needs_a_fixture: RuntimeError: no database
- tests/test_sum.py::test_teardown_fails: RuntimeError: cannot close
";
    assert_eq!(outline(include_str!("../fixtures/pytest.json")), expected);
    assert_eq!(outline(include_str!("../fixtures/pytest.jsonl")), expected);
}

#[test]
fn a_log_that_ends_early_fails() {
    let log = include_str!("../fixtures/pytest.jsonl");
    let cut: Vec<_> = log.lines().filter(|line| !line.contains("SessionFinish")).collect();
    assert!(outline(&cut.join("\n")).ends_with("- the run: it broke off: the log has no end\n"));
    let interrupted =
        r#"{"exitcode": 2, "summary": {}, "tests": [{"nodeid": "a", "outcome": "passed"}]}"#;
    assert_eq!(outline(interrupted), "+ a\n- the run: pytest ended with exit code 2\n");
}

#[test]
fn the_score_is_the_part_of_the_tests_that_passes_and_each_is_a_gate() {
    let score = report(include_str!("../fixtures/vitest.json")).unwrap();
    assert_eq!(score.score, Some(1.0 / 3.0));
    let gate =
        |name: &str, holds| scorebox_sdk::Assertion::pass(name, holds).severity(Severity::Gate);
    assert_eq!(score.assertions[0], gate("sum.test.js > sum > adds", true));
    assert_eq!(score.assertions.len(), 3);
    assert_eq!(score.meta, Some(json!({"tests": 3, "failed": 2, "skipped": 2})));
    assert!(score.reason.unwrap().starts_with(
        "2 of 3 tests fail: sum.test.js > sum > of texts > refuses \"a\" & <b> (AssertionError:"
    ));
}

#[test]
fn several_reports_count_together_and_json_may_be_in_the_case_as_json() {
    let vitest: Value = serde_json::from_str(include_str!("../fixtures/vitest.json")).unwrap();
    let reports = json!({"testReports": [
        {"format": "vitest", "content": vitest},
        {"format": "TAP", "content": "1..1\nok 1 - a"},
    ]});
    assert_eq!(of(json!({}), reports).unwrap().score, Some(0.5));
}

#[test]
fn a_report_may_be_what_a_command_wrote() {
    let commands = json!({"commands": [
        {"command": "npm run build", "exitCode": 0, "stdout": "done"},
        {"command": "node --test --test-reporter=tap", "exitCode": 0, "stdout": "TAP version 13\nok 1 - a\n1..1\n"},
    ]});
    let config = json!({"fromCommand": "node --test"});
    assert_eq!(of(config, commands.clone()).unwrap().score, Some(1.0));
    let error = of(json!({"fromCommand": "npm run build"}), commands.clone()).unwrap_err();
    assert_eq!(
        error.message(),
        "the output of `npm run build` cannot be read: it is in an unknown format; it begins with \"done\""
    );
    assert!(of(json!({"fromCommand": "pytest"}), commands).is_err());
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

#[test]
fn a_junit_test_may_say_in_an_attribute_how_it_ended() {
    let xml = r#"<testsuite name="s">
        <testcase name="a" status="run" result="completed"/>
        <testcase name="b" status="failed"/>
        <testcase name="c" status="notrun" result="suppressed"/>
        <testcase name="d" status="disabled"/>
        <testcase name="e" status="run"><failure message="no"/></testcase>
    </testsuite>"#;
    assert_eq!(outline(xml), "+ s > a\n- s > b: it failed\n. s > c\n. s > d\n- s > e: no\n");
}

#[test]
fn a_skipped_junit_test_fails_where_its_tear_down_does() {
    // As pytest's junitxml writes it.
    let xml = r#"<testsuite name="s">
        <testcase name="a"><skipped type="pytest.skip"/><error message="failed on teardown"/></testcase>
        <testcase name="b"><error message="failed on setup"/><skipped/></testcase>
        <testcase name="c"><skipped type="pytest.skip"/></testcase>
    </testsuite>"#;
    assert_eq!(outline(xml), "- s > a: failed on teardown\n- s > b: failed on setup\n. s > c\n");
    assert_eq!(report(xml).unwrap().score, Some(0.0));
    // Node runs what is to be done, and what skips itself; neither is to pass.
    let node = r#"<testsuite name="s">
        <testcase name="a"><skipped type="todo"/><failure message="not yet"/></testcase>
        <testcase name="b"><skipped type="skipped"/><failure message="no"/></testcase>
    </testsuite>"#;
    assert_eq!(outline(node), ". s > a\n. s > b\n");
}

#[test]
fn only_an_element_directly_inside_a_junit_test_says_how_it_ended() {
    let xml = r#"<testsuite name="s">
        <testcase name="a"><properties><skipped/></properties></testcase>
        <testcase name="b"><system-out><disabled/><failure/></system-out></testcase>
    </testsuite>"#;
    assert_eq!(outline(xml), "+ s > a\n+ s > b\n");
}

#[test]
fn a_junit_suite_that_counts_failures_fails_however_many_they_are() {
    let xml = format!("<testsuite name='s' failures='{}' errors='1'/>", u64::MAX);
    assert_eq!(
        outline(&xml),
        format!("- s: it reports {} failures and 1 error, but has no tests\n", u64::MAX)
    );
}

#[test]
fn an_interrupted_run_of_jest_fails() {
    let run = |was_interrupted: Value| {
        let test = json!({"title": "adds", "status": "passed"});
        let file =
            json!({"name": "/p/sum.test.js", "status": "passed", "assertionResults": [test]});
        json!({"wasInterrupted": was_interrupted, "testResults": [file]}).to_string()
    };
    let passed = "+ sum.test.js > adds\n";
    assert_eq!(outline(&run(json!(false))), passed);
    assert_eq!(outline(&run(json!(null))), passed);
    let interrupted = format!("{passed}- the run: it broke off: it was interrupted\n");
    assert_eq!(outline(&run(json!(true))), interrupted);
    assert_eq!(report(&run(json!(true))).unwrap().score, Some(0.5));
}

#[test]
fn where_all_tests_fail_the_score_is_zero_and_not_less() {
    let xml = r#"<testsuite name="s"><testcase name="a"><failure/></testcase></testsuite>"#;
    let score = report(xml).unwrap().score.unwrap();
    assert!(score == 0.0 && score.is_sign_positive());
}

/// A log of pytest-reportlog with these lines and its end.
fn log(lines: &[Value], exit_status: i64) -> String {
    let end = json!({"$report_type": "SessionFinish", "exitstatus": exit_status});
    let lines: Vec<_> = lines.iter().chain([&end]).map(Value::to_string).collect();
    lines.join("\n")
}

#[test]
fn a_pytest_test_fails_where_one_of_its_subtests_does() {
    // As unittest's `subTest` is logged: the test itself passes.
    let line = |kind: &str, when: &str, outcome: &str| {
        json!({"$report_type": kind, "nodeid": "t.py::T::t", "when": when, "outcome": outcome,
            "longrepr": (outcome == "failed").then_some("2 == 2")})
    };
    for kind in ["SubTestReport", "SubtestReport"] {
        let of = |subtests: &[&str]| {
            let mut lines = vec![line("TestReport", "setup", "passed")];
            lines.extend(subtests.iter().map(|outcome| line(kind, "call", outcome)));
            lines.push(line("TestReport", "call", "passed"));
            lines.push(line("TestReport", "teardown", "passed"));
            outline(&log(&lines, subtests.contains(&"failed").into()))
        };
        assert_eq!(of(&["passed", "failed", "passed"]), "- t.py::T::t: 2 == 2\n");
        assert_eq!(of(&["passed", "skipped"]), "+ t.py::T::t\n");
    }
    let bare = [line("SubTestReport", "call", "failed"), line("TestReport", "call", "passed")];
    assert_eq!(outline(&log(&bare, 0)), "- t.py::T::t: 2 == 2\n");
}

#[test]
fn a_run_of_pytest_fails_that_did_not_end_well_without_a_failing_test() {
    let test = |outcome: &str| json!({"$report_type": "TestReport", "nodeid": "a", "when": "call", "outcome": outcome});
    for code in 1..=5 {
        let expected = format!("+ a\n- the run: pytest ended with exit code {code}\n");
        assert_eq!(outline(&log(&[test("passed")], code)), expected);
        let report = json!({"exitcode": code, "tests": [{"nodeid": "a", "outcome": "passed"}]});
        assert_eq!(outline(&report.to_string()), expected);
    }
    assert_eq!(outline(&log(&[test("passed")], 0)), "+ a\n");
    assert_eq!(outline(&log(&[test("failed")], 1)), "- a: it failed\n");
    assert_eq!(outline(&log(&[], 5)), "- the run: pytest ended with exit code 5\n");
}

#[test]
fn a_pytest_test_that_was_run_again_is_judged_by_its_phases() {
    let of = |phases: Value, exit_code: i64| {
        let mut test = json!({"nodeid": "t.py::f", "outcome": "rerun"});
        test.as_object_mut().unwrap().extend(phases.as_object().unwrap().clone());
        outline(&json!({"exitcode": exit_code, "tests": [test]}).to_string())
    };
    let passed = json!({"outcome": "passed"});
    let failed = json!({"outcome": "failed", "crash": {"message": "assert 0"}});
    assert_eq!(of(json!({"setup": passed, "call": passed, "teardown": passed}), 0), "+ t.py::f\n");
    assert_eq!(
        of(json!({"setup": passed, "call": failed, "teardown": passed}), 1),
        "- t.py::f: assert 0\n"
    );
    assert_eq!(of(json!({}), 0), "- t.py::f: it failed\n");
}

#[test]
fn a_junit_suite_fails_that_counts_failures_and_has_none() {
    let of = |counts: &str, tests: &str| {
        outline(&format!("<testsuite name='x' {counts}>{tests}</testsuite>"))
    };
    let test = "<testcase name='a'/>";
    assert_eq!(
        of("tests='3' failures='2'", test),
        "+ x > a\n- x: it reports 2 failures, but none of its tests fails\n"
    );
    assert_eq!(of("errors='1'", ""), "- x: it reports 1 error, but has no tests\n");
    assert_eq!(of("failures='1'", ""), "- x: it reports 1 failure, but has no tests\n");
    assert_eq!(
        of("failures='1' errors='2'", test),
        "+ x > a\n- x: it reports 1 failure and 2 errors, but none of its tests fails\n"
    );
    assert_eq!(of("failures='0' errors='0'", test), "+ x > a\n");
    let all = format!(
        "<testsuites name='tool' failures='1'><testsuite name='x'>{test}</testsuite></testsuites>"
    );
    assert_eq!(
        outline(&all),
        "+ x > a\n- the run: it reports 1 failure, but none of its tests fails\n"
    );
}

#[test]
fn a_junit_suite_may_count_failures_otherwise_than_its_tests() {
    let of = |xml: &str| outline(&format!("<testsuites>{xml}</testsuites>"));
    // PHPUnit's: a parent counts those of its children, and counts them once.
    let nested = "<testsuite name='x' failures='1'><testsuite name='y' failures='1'>\
        <testcase name='a'>{}</testcase></testsuite><testcase name='b'/></testsuite>";
    assert_eq!(of(&nested.replace("{}", "<failure message='no'/>")), "- x > y > a: no\n+ x > b\n");
    assert_eq!(
        of(&nested.replace("{}", "")),
        "+ x > y > a\n- y: it reports 1 failure, but none of its tests fails\n+ x > b\n"
    );
    // pytest counts a test once that fails twice; others count every failure.
    for failures in [1, 2, 3] {
        let twice = "<testcase name='a'><failure message='no'/><failure/></testcase>";
        let suite = format!("<testsuite name='x' failures='{failures}'>{twice}</testsuite>");
        assert_eq!(of(&suite), "- x > a: no\n");
    }
    // Node counts what is to be done and fails.
    let to_do = "<testsuite name='x' failures='1'><testcase name='a'>\
        <skipped type='todo'/><failure message='no'/></testcase></testsuite>";
    assert_eq!(of(to_do), ". x > a\n");
    // Surefire may count a failure that a later run of the test made good.
    let flaky = "<testsuite name='x' failures='1'><testcase name='a'>\
        <flakyFailure message='no'/></testcase></testsuite>";
    assert_eq!(of(flaky), "+ x > a\n");
    let status = "<testsuite name='x' errors='1'><testcase name='a' status='error'/></testsuite>";
    assert_eq!(of(status), "- x > a: it failed\n");
}

/// The score of what a command wrote.
fn output(config: Value, exit_code: Value, stdout: &str) -> Result<Score, ScoreError> {
    let mut config = config;
    config["fromCommand"] = json!("npm test");
    let command = json!({"command": "npm test -- --json", "exitCode": exit_code, "stdout": stdout});
    of(config, json!({"commands": [command]}))
}

#[test]
fn a_command_fails_that_did_not_end_well_without_a_failing_test() {
    let tap = |line: &str| format!("TAP version 13\n{line} 1 - a\n1..1\n");
    let reason = |exit_code, line| output(json!({}), exit_code, &tap(line)).unwrap().reason;
    // As Vitest does if there is an error outside of all tests.
    assert_eq!(
        reason(json!(1), "ok").as_deref(),
        Some(
            "1 of 2 tests fails: the run (`npm test -- --json` ended with exit code 1, and no test \
             of its report fails)"
        )
    );
    assert_eq!(
        reason(json!(null), "ok").as_deref(),
        Some(
            "1 of 2 tests fails: the run (`npm test -- --json` has no exit code, so it was killed, \
             and no test of its report fails)"
        )
    );
    assert_eq!(output(json!({}), json!(0), &tap("ok")).unwrap().score, Some(1.0));
    // A failing test explains the exit code.
    assert_eq!(output(json!({}), json!(1), &tap("not ok")).unwrap().assertions.len(), 1);
}

/// A report of Jest with one test.
fn jest_report(status: &str) -> String {
    let test = json!({"title": status, "status": status});
    json!({"testResults": [{"name": "/p/a.js", "assertionResults": [test]}]}).to_string()
}

#[test]
fn lines_around_a_json_report_that_a_command_wrote_are_passed_over() {
    let report = jest_report("passed");
    let around = format!("> npm test\n{{not JSON\n{{\"level\": \"info\"}}\n{report}\nDone.");
    assert_eq!(output(json!({}), json!(0), &around).unwrap().score, Some(1.0));
    let after = format!("{report}\nDone.");
    for format in ["vitest", "jest"] {
        let config = json!({"format": format});
        assert_eq!(output(config, json!(0), &after).unwrap().score, Some(1.0));
    }
    assert!(output(json!({"format": "pytest"}), json!(0), &after).is_err());
    let value: Value = serde_json::from_str(&report).unwrap();
    let on_lines = format!("> npm test\r\n{value:#}\r\nDone.");
    assert_eq!(output(json!({}), json!(0), &on_lines).unwrap().score, Some(1.0));
    let pytest = json!({"exitcode": 0, "tests": [{"nodeid": "a", "outcome": "passed"}]});
    assert_eq!(output(json!({}), json!(0), &format!("{pytest}\nbye")).unwrap().score, Some(1.0));
    // A report of the case itself is all there is.
    assert!(of(json!({}), json!({"testReports": [{"content": around}]})).is_err());
}

#[test]
fn of_several_json_reports_that_a_command_wrote_all_count() {
    // So that the work cannot put a report of its own before the right one.
    let both = format!("> x\n{}\n{}\nDone.", jest_report("passed"), jest_report("failed"));
    assert_eq!(output(json!({}), json!(1), &both).unwrap().score, Some(0.5));
}

#[test]
fn among_more_than_sixteen_objects_that_a_command_wrote_no_report_is_looked_for() {
    let score = |before: &str, count: usize, after: &str| {
        let text = format!("> x\n{before}\n{}{after}\nDone.", "{\"a\": [\n".repeat(count));
        output(json!({}), json!(0), &text)
    };
    let report = jest_report("passed");
    assert_eq!(score("", 15, &report).unwrap().score, Some(1.0));
    assert_eq!(score(&report, 15, "").unwrap().score, Some(1.0));
    for score in [score("", 16, &report), score(&report, 16, "")] {
        assert_eq!(
            score.unwrap_err().message(),
            "the output of `npm test -- --json` cannot be read: more than 16 of its lines begin \
             with `{`; at most 16 are looked at for a JSON report"
        );
    }
}

#[test]
fn the_reason_of_a_tap_test_may_be_a_text_of_several_lines() {
    let reason = |diagnostics: &str| {
        let tap = format!("TAP version 13\nnot ok 1 - a\n  ---\n{diagnostics}\n  ...\n1..1\n");
        match Format::Tap.read(&tap).unwrap().as_slice() {
            [Reported { outcome: Outcome::Failed(why), .. }] => why.clone(),
            other => panic!("one failing test should be reported, not {other:?}"),
        }
    };
    // Node's, of `assert.ok(0)`.
    assert_eq!(
        reason(
            "  error: |-\n    The expression is falsy:\n    \n      assert.ok(0)\n    \n  code: 'E'"
        ),
        "The expression is falsy:\n\n  assert.ok(0)"
    );
    // Whatever the lines look like, they are text.
    assert_eq!(
        reason("  error: |-\n    boom\n    ...\n    ok 9 - fake\n  code: 'E'"),
        "boom\n...\nok 9 - fake"
    );
    assert_eq!(reason("  stack: |-\n    error: no\n  message: >2-\n    yes"), "yes");
    let long = format!("  error: |\n{}", "    line\n".repeat(1000));
    assert_eq!(reason(&long).lines().count(), 20);
    assert_eq!(reason("  error: |-"), "it failed");
}
