//! test-report: what the tests of the work say: every reported test is a gate assertion. It runs
//! none; who checks the work runs them, and puts the report into the case.
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
use scorebox_sdk::trace::{TextOrRegex, TextPattern};
use scorebox_sdk::workspace::Workspace;
use scorebox_sdk::{
    Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scorer, Severity, Tests, excerpt,
    schemars,
};
use serde::Deserialize;

/// Scores the tests of a report: the fraction of those run that pass. Every test is a gate
/// assertion, named in full.
///
/// Reports are JUnit XML, TAP 12 to 14, the JSON of Vitest and Jest, cargo's (libtest's) JSON lines,
/// and the JSON of pytest-json-report and pytest-reportlog; the format is told from the content.
/// Skipped tests do not count, and neither do those marked as to do or expected to fail. A file of
/// tests that cannot be loaded fails, and so does a run that breaks off. A report without tests is
/// an error; where all were skipped, the scorer does not apply. Of more than 1000 tests, those that
/// fail are kept first as assertions. The workspace is data of the case; see docs/workspace.md.
/// Equals niceeval's `EVAL.ts`, of which every test is a gate.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestReport {
    /// The format of the reports; told from the content where not set.
    #[serde(default)]
    format: Option<Format>,
    /// Take the reports from the standard output of the recorded commands that have this text in
    /// them, or match the expression; not from `testReports`.
    #[serde(default)]
    from_command: Option<TextOrRegex>,
    /// The only tests that count: a text that their names have in them, or a regular expression.
    #[serde(default)]
    only: Option<Vec<TextOrRegex>>,
    /// Tests that do not count.
    #[serde(default)]
    ignore: Option<Vec<TextOrRegex>>,
    /// Names of tests that have to be there and to run, so that a deleted or skipped test fails.
    #[serde(default)]
    required: Vec<String>,
    #[serde(skip)]
    command: Option<TextPattern>,
    #[serde(skip)]
    counted: Vec<TextPattern>,
    #[serde(skip)]
    ignored: Vec<TextPattern>,
}

impl Scorer for TestReport {
    const INFO: Info = Info::new("test-report", "Test Report", env!("CARGO_PKG_VERSION"))
        .reads(Workspace::READS)
        .severity(Severity::Gate)
        .threshold(1.0);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        let command = self.from_command.as_ref();
        self.command =
            command.map(|written| TextPattern::compile("fromCommand", written)).transpose()?;
        self.counted = TextPattern::compile_all(("only", &None), ("only", &self.only))?;
        self.ignored = TextPattern::compile_all(("ignore", &None), ("ignore", &self.ignore))?;
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let all = self.reported(case)?;
        let is_required = |test: &Reported| self.required.iter().any(|name| *name == test.name);
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
                    tests.add(&test.name, Err("it is required, and was skipped"));
                }
                Outcome::Skipped => tests.skip(),
            }
        }
        let known: std::collections::BTreeSet<&str> =
            all.iter().map(|test| test.name.as_str()).collect();
        for name in self.required.iter().filter(|name| !known.contains(name.as_str())) {
            tests.add(name, Err("it is required, and not in the report"));
        }
        if tests.is_empty() && !all.iter().any(|test| counts(&test)) {
            return Err(ScoreError::invalid_input(format!(
                "of {} reported tests, `only` and `ignore` leave none",
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
        let mut texts = Vec::new();
        match &self.command {
            Some(pattern) => {
                let commands = workspace.commands()?.iter();
                let matching = commands.filter(|command| pattern.is_in(&command.command));
                for command in matching {
                    let name = format!("the output of `{}`", excerpt(&command.command, 80));
                    let text = command.stdout.as_deref().unwrap_or_default();
                    texts.push((name, None, text.into()));
                }
                if texts.is_empty() {
                    let message = format!(
                        "no command {pattern} was recorded, whose output should be a report"
                    );
                    return Err(ScoreError::invalid_input(message));
                }
            }
            None => {
                for (index, report) in workspace.test_reports()?.iter().enumerate() {
                    texts.push((
                        format!("`testReports[{index}]`"),
                        report.format(),
                        report.text()?,
                    ));
                }
            }
        }
        let mut all = Vec::new();
        for (name, stated, text) in &texts {
            let wrong =
                |why: String| ScoreError::invalid_input(format!("{name} cannot be read: {why}"));
            let format = match (self.format, stated) {
                (Some(format), _) => format,
                (None, Some(stated)) => Format::named(stated).map_err(wrong)?,
                (None, None) => Format::of(text).map_err(wrong)?,
            };
            all.extend(format.read(text).map_err(wrong)?);
        }
        if all.is_empty() {
            let what = match texts.as_slice() {
                [] => "the case has no test report".to_owned(),
                [(name, ..)] => format!("{name} has no tests"),
                several => format!("the {} reports have no tests", several.len()),
            };
            return Err(ScoreError::invalid_input(format!(
                "{what}; a run that tested nothing says nothing of the work"
            )));
        }
        Ok(all)
    }
}

scorebox_sdk::export!(TestReport);

#[cfg(test)]
mod tests;
