//! Reports in the output of a recorded command.

use super::*;

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

/// The score for the output of a command.
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
    // As Vitest does for an error outside all tests.
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

/// A Jest report with one test.
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
    // A report in the case itself must be nothing else.
    assert!(of(json!({}), json!({"testReports": [{"content": around}]})).is_err());
}

#[test]
fn of_several_json_reports_that_a_command_wrote_all_count() {
    // So that the work cannot put its own report before the real one.
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
