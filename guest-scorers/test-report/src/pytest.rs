//! Reads pytest's JSON: the report of pytest-json-report, and the JSON lines of pytest-reportlog. A file that cannot be
//! collected fails, and so does a test whose set-up, tear-down or subtest fails.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::reported::{Outcome, Reported, not_json};

/// Whether a JSON object is a report of pytest-json-report.
pub(crate) fn is_report(report: &Map<String, Value>) -> bool {
    report.contains_key("exitcode")
        || (report.contains_key("collectors") && report.contains_key("summary"))
}

/// The tests of a report.
pub(crate) fn read(text: &str) -> Result<Vec<Reported>, String> {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(report)) if !report.contains_key("$report_type") => {
            if !is_report(&report) {
                return Err(
                    "it is not a report of pytest-json-report: it has no `exitcode`".to_owned()
                );
            }
            Ok(read_report(&report))
        }
        _ => read_log(text),
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'r>(report: &'r Map<String, Value>, key: &str) -> &'r [Value] {
    report.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn read_report(report: &Map<String, Value>) -> Vec<Reported> {
    let mut tests = Vec::new();
    let failed = |collector: &&Value| text(collector, "outcome") == "failed";
    for collector in list(report, "collectors").iter().filter(failed) {
        tests.push(Reported::failed(text(collector, "nodeid"), text(collector, "longrepr")));
    }
    for test in list(report, "tests") {
        let outcome = match text(test, "outcome") {
            "passed" => Outcome::Passed,
            // With `strict`, a test that passes unexpectedly is reported as failed.
            "skipped" | "xfailed" | "xpassed" => Outcome::Skipped,
            // For a test that was rerun, the outcome only says so; its phases say how it ended.
            "rerun" if all_phases_passed(test) => Outcome::Passed,
            _ => Outcome::failed(why_of_phases(test)),
        };
        tests.push(Reported::new(text(test, "nodeid"), outcome));
    }
    let exit_code = report.get("exitcode").and_then(Value::as_i64);
    check_exit_code(&mut tests, exit_code);
    tests
}

/// The phases of a test that the report contains.
fn phases(test: &Value) -> impl Iterator<Item = &Value> {
    ["setup", "call", "teardown"].into_iter().filter_map(|phase| test.get(phase))
}

fn all_phases_passed(test: &Value) -> bool {
    phases(test).next().is_some() && phases(test).all(|phase| text(phase, "outcome") == "passed")
}

/// The message of the phase that failed.
fn why_of_phases(test: &Value) -> &str {
    let broken = phases(test).find(|phase| text(phase, "outcome") == "failed");
    let crash = broken.and_then(|phase| phase.get("crash"));
    let why = crash.map(|crash| text(crash, "message")).filter(|why| !why.is_empty());
    let long = || broken.map(|phase| text(phase, "longrepr"));
    why.or_else(long).unwrap_or_default()
}

/// Adds a failure for a run that did not succeed although nothing in the report failed: interrupted, an internal error,
/// wrong usage, no tests, or a failure outside the report.
fn check_exit_code(tests: &mut Vec<Reported>, exit_code: Option<i64>) {
    if let Some(code) = exit_code.filter(|code| *code != 0)
        && !tests.iter().any(Reported::is_failed)
    {
        tests.push(Reported::failed("the run", &format!("pytest ended with exit code {code}")));
    }
}

fn read_log(log: &str) -> Result<Vec<Reported>, String> {
    let mut tests = Vec::new();
    // The set-up, call and tear-down of a test are separate lines.
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut ended = None;
    for (index, line) in log.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: Value = serde_json::from_str(line)
            .map_err(|error| format!("line {}: {}", index + 1, not_json(&error)))?;
        let outcome = text(&line, "outcome");
        let name = text(&line, "nodeid");
        match text(&line, "$report_type") {
            "SessionFinish" => ended = Some(line.get("exitstatus").and_then(Value::as_i64)),
            "CollectReport" if outcome == "failed" => {
                tests.push(Reported::failed(name, &why(&line)));
            }
            // A subtest counts only if it fails: its test has a separate line, which may say that it passed.
            "SubTestReport" | "SubtestReport" if outcome != "failed" => {}
            "TestReport" | "SubTestReport" | "SubtestReport" => {
                let expected_to_fail = line.get("wasxfail").is_some();
                let phase = match outcome {
                    "failed" => Outcome::failed(&why(&line)),
                    "skipped" => Outcome::Skipped,
                    "rerun" => continue,
                    _ if expected_to_fail => Outcome::Skipped,
                    "passed" => Outcome::Passed,
                    other => {
                        return Err(format!("line {}: unknown outcome `{other}`", index + 1));
                    }
                };
                let is_setup = text(&line, "when") == "setup";
                match places.get(name).copied() {
                    // A test that is rerun begins again with its set-up.
                    Some(place) if is_setup => tests[place] = Reported::new(name, phase),
                    Some(place) => {
                        let so_far = &mut tests[place].outcome;
                        match (&*so_far, &phase) {
                            (Outcome::Failed(_), _) => {}
                            (_, Outcome::Failed(_)) | (Outcome::Passed, _) => *so_far = phase,
                            (Outcome::Skipped, _) => {}
                        }
                    }
                    None => {
                        places.insert(name.to_owned(), tests.len());
                        tests.push(Reported::new(name, phase));
                    }
                }
            }
            "" => {
                return Err(format!(
                    "line {} has no `$report_type`, as lines of pytest-reportlog have",
                    index + 1
                ));
            }
            _ => {}
        }
    }
    match ended {
        None => tests.push(Reported::failed("the run", "it broke off: the log has no end")),
        Some(exit_code) => check_exit_code(&mut tests, exit_code),
    }
    Ok(tests)
}

/// The message of a line about a failure.
fn why(line: &Value) -> String {
    let longrepr = line.get("longrepr");
    let crash = longrepr.and_then(|longrepr| longrepr.get("reprcrash"));
    match (crash, longrepr) {
        (Some(crash), _) if crash.is_object() => text(crash, "message").to_owned(),
        (_, Some(Value::String(text))) => text.clone(),
        (_, Some(Value::Array(parts))) => {
            parts.last().and_then(Value::as_str).unwrap_or_default().to_owned()
        }
        _ => String::new(),
    }
}
