//! Reads Vitest's and Jest's JSON, which is one format. A test file that cannot be loaded counts as a failing test with
//! the file's name; a run that is interrupted, or that fails although none of its tests does, counts as another failing
//! test. Coverage and snapshots are ignored.

use serde::Deserialize;

use crate::reported::{Outcome, Reported, not_json};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    test_results: Vec<File>,
    /// Only Jest writes it.
    #[serde(default)]
    was_interrupted: Option<bool>,
    #[serde(default)]
    success: Option<bool>,
    #[serde(default)]
    num_failed_tests: Option<u64>,
    #[serde(default)]
    num_failed_test_suites: Option<u64>,
    /// All tests, including those that are skipped or to do.
    #[serde(default)]
    num_total_tests: Option<u64>,
    /// Files that could not be loaded, which Jest also counts as failed.
    #[serde(default)]
    num_runtime_error_test_suites: Option<u64>,
}

impl Report {
    /// A failure that the report states as a whole but none of its tests does: the run failed, for example because of a
    /// coverage threshold, an obsolete snapshot or an error in a reporter, or it had tests that are not listed.
    fn failure(&self) -> Option<String> {
        let counts = [
            ("numFailedTests", self.num_failed_tests),
            ("numFailedTestSuites", self.num_failed_test_suites),
            ("numRuntimeErrorTestSuites", self.num_runtime_error_test_suites),
        ];
        let counted = counts.iter().find_map(|(key, count)| match count {
            Some(count) if *count > 0 => Some(format!("`{key}: {count}`")),
            _ => None,
        });
        let stated = counted
            .or_else(|| (self.success == Some(false)).then(|| "`success: false`".to_owned()));
        let failed = stated.map(|stated| format!("{stated}, but none of its tests fails"));
        failed.or_else(|| self.not_listed())
    }

    /// A failure if the report counts more tests than it lists: it was cut, or filtered after the run.
    fn not_listed(&self) -> Option<String> {
        let total = self.num_total_tests?;
        let listed: usize = self.test_results.iter().map(|file| file.assertion_results.len()).sum();
        (total > listed as u64).then(|| {
            format!("`numTotalTests: {total}`, but lists {listed}: the others are missing")
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(default)]
    name: String,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    assertion_results: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    #[serde(default)]
    ancestor_titles: Vec<String>,
    #[serde(default)]
    full_name: String,
    #[serde(default)]
    title: Option<String>,
    status: String,
    #[serde(default)]
    failure_messages: Option<Vec<String>>,
}

/// The tests of a report. Names begin with the file, relative to the folder that all files share.
pub(crate) fn read(text: &str) -> Result<Vec<Reported>, String> {
    let report: Report = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    let paths: Vec<String> =
        report.test_results.iter().map(|file| file.name.replace('\\', "/")).collect();
    let shared = shared_folder(&paths);
    let mut tests = Vec::new();
    for (file, path) in report.test_results.iter().zip(&paths) {
        let path = &path[shared..];
        let mut any_failed = false;
        for test in &file.assertion_results {
            let outcome = match test.status.as_str() {
                "passed" | "pass" => Outcome::Passed,
                "failed" | "fail" => Outcome::failed(
                    &test.failure_messages.as_deref().unwrap_or_default().join("\n"),
                ),
                "skipped" | "pending" | "todo" | "disabled" | "focused" | "skip" => {
                    Outcome::Skipped
                }
                other => {
                    return Err(format!("a test has the unknown status `{other}`"));
                }
            };
            any_failed |= matches!(outcome, Outcome::Failed(_));
            let mut parts = vec![path];
            match &test.title {
                Some(title) => {
                    parts.extend(test.ancestor_titles.iter().map(String::as_str));
                    parts.push(title);
                }
                None => parts.push(&test.full_name),
            }
            parts.retain(|part| !part.is_empty());
            tests.push(Reported::new(parts.join(" > "), outcome));
        }
        if file.status.as_deref() == Some("failed") && !any_failed {
            let name = if path.is_empty() { "a file of tests" } else { path };
            tests.push(Reported::failed(name, file.message.as_deref().unwrap_or_default()));
        }
    }
    if report.was_interrupted == Some(true) {
        tests.push(Reported::failed("the run", "it broke off: it was interrupted"));
    }
    if let Some(stated) = report.failure()
        && !tests.iter().any(Reported::is_failed)
    {
        let why = format!("the report says {stated}");
        tests.push(Reported::failed("the run", &why));
    }
    Ok(tests)
}

/// The length in bytes of the folder that all paths share.
fn shared_folder(paths: &[String]) -> usize {
    let Some(first) = paths.first() else { return 0 };
    let mut shared = first.rfind('/').map_or(0, |slash| slash + 1);
    for path in paths {
        let same = path.bytes().zip(first.bytes()).take(shared).take_while(|(a, b)| a == b).count();
        if same < shared {
            shared = first.as_bytes()[..same]
                .iter()
                .rposition(|byte| *byte == b'/')
                .map_or(0, |slash| slash + 1);
        }
    }
    shared
}
