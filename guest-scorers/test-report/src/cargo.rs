//! Reads the JSON lines of Rust's libtest: `cargo test -- -Z unstable-options --format json`, and those of
//! cargo-nextest. A test that began but did not end fails.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::reported::{Outcome, Reported};

/// Whether a line of JSON is of this format.
pub(crate) fn is_line(line: &Value) -> bool {
    let text = |key: &str| line.get(key).and_then(Value::as_str);
    matches!(text("type"), Some("suite" | "test" | "bench")) && text("event").is_some()
}

/// The tests of a report. Other lines, such as the output of tests, are skipped.
pub(crate) fn read(text: &str) -> Result<Vec<Reported>, String> {
    let mut tests = Vec::new();
    let mut running: BTreeMap<String, usize> = BTreeMap::new();
    let mut open_suites = 0_usize;
    let mut any = false;
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with('{'));
    for line in lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if !is_line(&line) {
            continue;
        }
        any = true;
        let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
        match (text("type"), text("event")) {
            ("suite", "started") => open_suites += 1,
            ("suite", "ok" | "failed") => open_suites = open_suites.saturating_sub(1),
            ("test", "started") => *running.entry(text("name").to_owned()).or_default() += 1,
            (_, event) => {
                let outcome = match event {
                    "ok" => Outcome::Passed,
                    "failed" => Outcome::failed(&[text("message"), text("stdout")].join("\n")),
                    "ignored" => Outcome::Skipped,
                    // `timeout` says that a test runs for long; it will still end.
                    _ if line.get("type") != Some(&"bench".into()) => continue,
                    _ => Outcome::Passed,
                };
                if let Some(count) = running.get_mut(text("name")) {
                    *count = count.saturating_sub(1);
                }
                tests.push(Reported::new(text("name"), outcome));
            }
        }
    }
    if !any {
        return Err("it has no line of libtest's JSON, `{\"type\": \"test\", …}`".to_owned());
    }
    let unfinished: Vec<_> = running.into_iter().filter(|(_, count)| *count > 0).collect();
    if unfinished.is_empty() && open_suites > 0 {
        tests.push(Reported::failed("the run", "it broke off: a suite began and did not end"));
    }
    for (name, _) in unfinished {
        tests.push(Reported::failed(name, "it began and did not end"));
    }
    Ok(tests)
}
