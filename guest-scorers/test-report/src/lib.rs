//! test-report: the results of the work's tests, each of which becomes a gate assertion. It runs no tests; the harness
//! runs them and puts the report into the case.
//!
//! score = tests that pass / tests that were run
//!
//! The idea is niceeval's `EVAL.ts`. `report` knows the formats, `reported` one test of any.

mod cargo;
mod jest;
mod junit;
mod pytest;
mod report;
mod reported;
mod tap;

use report::Format;
use reported::{Outcome, Reported};
use scorebox_sdk::{
    Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scorer, Severity, Tests, excerpt,
    schemars,
};
use scorebox_sdk_traces::{TextOrRegex, TextPattern};
use scorebox_sdk_workspace::{Command, Workspace};
use serde::Deserialize;

/// Scores the tests of a report: the fraction of the tests run that pass. Every test is a gate
/// assertion, with its full name.
///
/// Reports are JUnit XML, TAP 12 to 14, the JSON of Vitest and Jest, cargo's (libtest's) JSON lines, and the JSON of
/// pytest-json-report and pytest-reportlog; the format is detected from the content. Skipped tests do not count, nor do
/// those that are marked as to do or as expected to fail, whether they fail or pass (of those that pass, pytest's XML
/// does not say so); a skipped test whose set-up or tear-down fails does count. A test file that cannot be loaded
/// fails, and so does a run that breaks off or numbers its tests otherwise than its plan; if no test fails, a suite
/// that counts failures fails, and so does a run with an exit code other than 0 or, in the JSON of Vitest and Jest, one
/// that counts failures or more tests than are listed, or says `success: false`. A report without tests is an error; if
/// all tests were skipped, the result is not-applicable. Of more than 1000 tests, failing ones are kept first as
/// assertions. The workspace is part of the case's data; see docs/workspace.md. Equals niceeval's `EVAL.ts`, in which
/// every test is a gate.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The format of the reports; detected from the content by default.
    #[serde(default)]
    format: Option<Format>,
    /// Reads the reports from the standard output of the recorded commands that contain this text
    /// or match the expression, in place of `testReports`. A JSON report may be surrounded by other
    /// lines. A command fails if its exit code is missing or not 0 and none of its tests fails.
    #[serde(default)]
    from_command: Option<TextOrRegex>,
    /// The only tests that count: a text that their names contain, or a regular expression.
    #[serde(default)]
    only: Option<Vec<TextOrRegex>>,
    /// Tests that do not count.
    #[serde(default)]
    ignore: Option<Vec<TextOrRegex>>,
    /// Names of tests that must be in the report and must have run, so that a deleted or skipped test
    /// fails.
    #[serde(default)]
    required: Vec<String>,
}

/// The scorer, made from its [`Config`].
pub struct TestReport {
    format: Option<Format>,
    command: Option<TextPattern>,
    counted: Vec<TextPattern>,
    ignored: Vec<TextPattern>,
    required: Vec<String>,
}

impl Scorer for TestReport {
    type Config = Config;

    const INFO: Info = Info::new("test-report", "Test Report", env!("CARGO_PKG_VERSION"))
        .reads(Workspace::READS)
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { format, from_command, only, ignore, required } = config;
        let command = from_command.as_ref();
        Ok(Self {
            format,
            command: command
                .map(|written| TextPattern::compile("fromCommand", written))
                .transpose()?,
            counted: TextPattern::compile_all(("only", &None), ("only", &only))?,
            ignored: TextPattern::compile_all(("ignore", &None), ("ignore", &ignore))?,
            required,
        })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let all = self.reported(case)?;
        let is_required = |test: &Reported| self.required.contains(&test.name);
        let counts = |test: &&Reported| {
            let named =
                |patterns: &[TextPattern]| patterns.iter().any(|pattern| pattern.is_in(&test.name));
            is_required(test)
                || ((self.counted.is_empty() || named(&self.counted)) && !named(&self.ignored))
        };
        let mut tests = Tests::default();
        for test in all.iter().filter(counts) {
            match &test.outcome {
                Outcome::Passed => {
                    tests.add(&test.name, Ok::<(), String>(()));
                }
                Outcome::Failed(why) => {
                    tests.add(&test.name, Err(why.as_str()));
                }
                Outcome::Skipped if is_required(test) => {
                    tests.add(&test.name, Err("it is required, but was skipped"));
                }
                Outcome::Skipped => tests.skip(),
            }
        }
        let known: std::collections::BTreeSet<&str> =
            all.iter().map(|test| test.name.as_str()).collect();
        for name in self.required.iter().filter(|name| !known.contains(name.as_str())) {
            tests.add(name, Err("it is required, but is not in the report"));
        }
        if tests.is_empty() && !all.iter().any(|test| counts(&test)) {
            return Err(ScoreError::invalid_input(format!(
                "`only` and `ignore` leave none of the {} reported tests",
                all.len()
            )));
        }
        Ok(tests.into_score())
    }
}

impl TestReport {
    /// The tests of all reports.
    fn reported(&self, case: &Case) -> Result<Vec<Reported>, ScoreError> {
        let workspace = Workspace::of(case)?;
        let reports = match &self.command {
            Some(pattern) => self.of_commands(pattern, &workspace)?,
            None => self.of_test_reports(&workspace)?,
        };
        if reports.iter().all(|(_, tests)| tests.is_empty()) {
            let what = match reports.as_slice() {
                [] => "the case has no test report".to_owned(),
                [(name, _)] => format!("{name} has no tests"),
                several => format!("the {} reports have no tests", several.len()),
            };
            return Err(ScoreError::invalid_input(format!(
                "{what}; a run without tests says nothing about the work"
            )));
        }
        Ok(reports.into_iter().flat_map(|(_, tests)| tests).collect())
    }

    /// The output of each command that matches the pattern, and its tests.
    fn of_commands(
        &self,
        pattern: &TextPattern,
        workspace: &Workspace,
    ) -> Result<Vec<(String, Vec<Reported>)>, ScoreError> {
        let mut reports = Vec::new();
        let commands = workspace.commands()?.iter();
        for command in commands.filter(|command| pattern.is_in(&command.command)) {
            let name = format!("the output of `{}`", excerpt(&command.command, 80));
            let text = command.stdout.as_deref().unwrap_or_default();
            let mut tests = Format::read_output(self.format, text)
                .map_err(|why| cannot_be_read(&name, &why))?;
            check_exit(command, &mut tests);
            reports.push((name, tests));
        }
        if reports.is_empty() {
            let message = format!(
                "no command {pattern} was recorded, so there is no output to read a report from"
            );
            return Err(ScoreError::invalid_input(message));
        }
        Ok(reports)
    }

    /// The names of `testReports`, and the tests of each.
    fn of_test_reports(
        &self,
        workspace: &Workspace,
    ) -> Result<Vec<(String, Vec<Reported>)>, ScoreError> {
        let mut reports = Vec::new();
        for (index, report) in workspace.test_reports()?.iter().enumerate() {
            let name = format!("`testReports[{index}]`");
            let text = report.text()?;
            let format = match (self.format, report.format()) {
                (Some(format), _) => Ok(format),
                (None, Some(stated)) => Format::named(stated),
                (None, None) => Format::of(&text),
            };
            let tests = format.and_then(|format| format.read(&text));
            reports.push((name.clone(), tests.map_err(|why| cannot_be_read(&name, &why))?));
        }
        Ok(reports)
    }
}

fn cannot_be_read(name: &str, why: &str) -> ScoreError {
    ScoreError::invalid_input(format!("{name} cannot be read: {why}"))
}

/// Adds a failure for a command that failed although none of its tests did: its report does not contain the cause, such
/// as an error outside all tests.
fn check_exit(command: &Command, tests: &mut Vec<Reported>) {
    if command.exit_code == Some(0) || tests.iter().any(Reported::is_failed) {
        return;
    }
    let ended = match command.exit_code {
        Some(code) => format!("ended with exit code {code}"),
        None => "has no exit code, so it was killed".to_owned(),
    };
    let line = excerpt(&command.command, 80);
    let why = format!("`{line}` {ended}, and no test of its report fails");
    tests.push(Reported::failed("the run", &why));
}

scorebox_sdk::export!(TestReport);

#[cfg(test)]
mod tests;
