//! pytest's JSON, XML and log: phases, subtests, and runs that end early.

use super::*;

/// XML does not say that a passing test was expected to fail, so it counts there.
#[test]
fn a_report_of_pytest_is_read() {
    assert_eq!(
        outline(include_str!("../../fixtures/pytest.xml")),
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
fn json_of_pytest() {
    let expected = "\
- tests/test_broken.py: ImportError while importing test module '/project/tests/test_broken.py'.
+ tests/test_sum.py::test_adds
- tests/test_sum.py::test_subtracts: assert (3 - 1) == 1
+ tests/test_sum.py::TestParse::test_number[1]
- tests/test_sum.py::TestParse::test_number[a b]: ValueError: invalid literal for int() with base 10: 'a b'
. tests/test_sum.py::test_skipped
. tests/test_sum.py::test_expected_to_fail
. tests/test_sum.py::test_unexpectedly_passes
- tests/test_sum.py::test_needs_a_fixture: RuntimeError: no database
- tests/test_sum.py::test_teardown_fails: RuntimeError: cannot close
";
    assert_eq!(outline(include_str!("../../fixtures/pytest.json")), expected);
    assert_eq!(outline(include_str!("../../fixtures/pytest.jsonl")), expected);
}

/// A log of pytest-reportlog with these lines and an end.
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
