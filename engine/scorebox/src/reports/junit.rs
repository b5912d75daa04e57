//! Writes JUnit XML for GitLab, Jenkins and GitHub's test reporters: a test suite for the run, with a test case for
//! each case.
//!
//! | in scorebox | in JUnit |
//! |---|---|
//! | suite, run | `testsuite name`, and properties `run`, `state` and `root` |
//! | case, node | `testcase name`, `classname` (the suite's name if the case has no node) |
//! | time of all its scores | `testcase time`, in seconds |
//! | failed | `failure`, whose message lists the scorers that decided, and which of their assertions |
//! | errored | `error`, likewise |
//! | skipped | `skipped` |
//! | passed with a soft regression | passes; `system-out` lists the scorers that regressed |
//! | an error of a scorer that does not decide | `system-out` |
//! | an error of a scorer's summary of the run | `system-out` of the test suite |
//! | a scorer that can fail a case but decided none, if no requirement reports it | likewise |
//! | lines that are not valid cases and were skipped | likewise |
//! | a requirement of the run that is not met | a `testcase` named `requirement: …` with a `failure` that explains it |
//! | a run that has not finished | a last `testcase` with an `error` that has the reason |

use std::{io, time::Duration};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::{
    aggregate::DecidedRun,
    cut::cut,
    store::{RunRecord, Store, SummaryRecord},
    terminal::{markup_without_commands, visible},
    verdict::Verdict,
};

use super::{
    ReportError, ReportOptions,
    cases::{ReportedCase, for_each_case},
    skipped_lines, suite_name, unfinished,
};

/// The `type` of a test case that did not pass.
const KIND: &str = "scorebox";
/// The message for an undecided case.
const NOT_SCORED: &str = "not all scorers have scored it";
/// How many bytes of an assertion's name are in a message; the text has all of it.
const MAX_NAME_BYTES: usize = 120;

pub(super) fn write(
    store: &Store,
    options: ReportOptions<'_>,
    out: &mut dyn io::Write,
) -> Result<(), ReportError> {
    let run = store.run(options.run)?;
    let mut suite = TestSuite::new(shown(suite_name(&run)));
    suite.add_property(("run", run.spec.id.as_str()));
    suite.add_property(("state", run.state.as_str()));
    if options.strict {
        suite.add_property(("strict", "true"));
    }
    if let Some(root) = run.root {
        suite.add_property(("root", root.to_string().as_str()));
    }
    let mut time = Duration::ZERO;
    let decided = for_each_case(store, options, |case| {
        time = time.saturating_add(time_of(case));
        suite.add_test_case(test_case(&run, case));
        Ok(())
    })?;
    for requirement in options.unseen() {
        let name = shown(&format!("requirement: {}", requirement.what()));
        let broken = (name, NonSuccessKind::Failure);
        suite.add_test_case(of_the_run(&run, broken, &requirement.to_string()));
    }
    // Without this, missing cases would look like passes.
    let missing = (format!("run {}", run.spec.id), NonSuccessKind::Error);
    suite.add_test_cases(unfinished(&run).map(|why| of_the_run(&run, missing, &why)));
    suite.set_time(time);
    let summaries = store.summaries(run.key)?;
    let skipped = skipped_lines(&run).into_iter();
    let beside = skipped.chain(errors_of_summaries(&summaries)).chain(idle(options, &decided));
    let beside: Vec<String> = beside.collect();
    if !beside.is_empty() {
        suite.set_system_out(beside.join("\n"));
    }
    let mut report = Report::new("scorebox");
    report.set_time(time);
    report.add_test_suite(suite);
    // Convert it to text first, so that an error of the destination stays unchanged.
    let xml = report.to_string().map_err(|error| io::Error::other(error.to_string()))?;
    out.write_all(markup_without_commands(&as_published(xml)).as_bytes())?;
    Ok(out.write_all(b"\n")?)
}

/// Adapts the report to the published schema (`junit-10.xsd` of Jenkins): only a test suite counts skipped cases, not
/// the whole document. Also removes the two characters that are left in texts but not allowed in XML.
fn as_published(mut xml: String) -> String {
    xml.retain(|letter| !matches!(letter, '\u{fffe}' | '\u{ffff}'));
    let tag = xml.find("<testsuites ").and_then(|begin| {
        let end = begin + xml[begin..].find('>')?;
        let attribute = begin + xml[begin..end].find(" skipped=\"")?;
        let value = attribute + " skipped=\"".len();
        Some(attribute..value + xml[value..end].find('"')? + 1)
    });
    if let Some(skipped) = tag {
        xml.replace_range(skipped, "");
    }
    xml
}

fn test_case(run: &RunRecord, reported: &ReportedCase<'_>) -> TestCase {
    let case = reported.decided.case;
    let verdict = reported.decided.verdict;
    let (summary, details) = decided(reported);
    let unsuccessful = |kind| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(KIND).set_message(summary.as_str()).set_description(details.as_str());
        status
    };
    let status = match verdict.verdict {
        Verdict::Errored => unsuccessful(NonSuccessKind::Error),
        Verdict::Failed => unsuccessful(NonSuccessKind::Failure),
        Verdict::Skipped => {
            let mut status = TestCaseStatus::skipped();
            if let Some(why) = case.skip.as_deref().filter(|why| !why.is_empty()) {
                status.set_message(shown(why));
            }
            status
        }
        Verdict::Undecided => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(NOT_SCORED);
            status
        }
        Verdict::Passed => TestCaseStatus::success(),
    };
    let mut test = TestCase::new(shown(&name(reported)), status);
    // A case without a task is its own task.
    let node = case.node_id.as_deref().filter(|node| *node != case.case_id);
    test.set_classname(shown(node.unwrap_or_else(|| suite_name(run))));
    test.set_time(time_of(reported));
    let regressed =
        (verdict.verdict == Verdict::Passed && verdict.regressions > 0).then_some(details);
    let said: Vec<String> = regressed.into_iter().chain(errors_beside(reported)).collect();
    if !said.is_empty() {
        test.set_system_out(said.join("\n"));
    }
    test
}

/// The errors of scorers that do not decide, a line for each.
fn errors_beside<'a>(reported: &'a ReportedCase<'_>) -> impl Iterator<Item = String> + use<'a> {
    let decides = |id: &str| reported.decided.against.iter().any(|it| it.scorer_id == id);
    let beside = reported.rows.iter().filter(move |record| !decides(&record.row.scorer_id));
    beside.filter_map(|record| {
        let error = record.row.answer.error.as_ref()?;
        Some(shown(&format!("{} error: {}: {}", record.row.scorer_id, error.kind, error.message)))
    })
}

/// The errors of scorers' summaries of the run, a line for each.
fn errors_of_summaries(summaries: &[SummaryRecord]) -> impl Iterator<Item = String> {
    summaries.iter().filter_map(|record| {
        let kind = record.error_kind.as_deref()?;
        let message = record.error_message.as_deref().unwrap_or_default();
        Some(shown(&format!("{} of the run: error: {kind}: {message}", record.scorer_id)))
    })
}

/// The scorers that can fail a case but decided none, a line for each.
fn idle(options: ReportOptions<'_>, decided: &DecidedRun) -> impl Iterator<Item = String> {
    options.idle(decided).map(|(scorer_id, why)| shown(&format!("{scorer_id}: {why}")))
}

/// A test case for the run instead of a case: a requirement that is not met, or why the run did not reach all cases.
fn of_the_run(run: &RunRecord, (name, kind): (String, NonSuccessKind), why: &str) -> TestCase {
    let why = shown(why);
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(KIND).set_message(why.as_str()).set_description(why.as_str());
    let mut test = TestCase::new(name, status);
    test.set_classname(shown(suite_name(run)));
    test.set_time(Duration::ZERO);
    test
}

/// The case's id, with iteration and attempt if they are not the first.
fn name(reported: &ReportedCase<'_>) -> String {
    let id = &reported.decided.case.case_id;
    reported.which_attempt().map_or_else(|| id.clone(), |which| format!("{id} {which}"))
}

fn time_of(reported: &ReportedCase<'_>) -> Duration {
    let ms: f64 = reported.rows.iter().filter_map(|record| record.row.answer.duration_ms).sum();
    // A stranger's database may have any number there.
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}

/// The scorers that decided against the case in one line, and the reasons, a line for each scorer and assertion.
fn decided(reported: &ReportedCase<'_>) -> (String, String) {
    let (mut summary, mut details) = (Vec::new(), Vec::new());
    for (against, record) in reported.decisive() {
        let (id, standing) = (against.scorer_id, against.standing.as_str());
        let answer = record.map(|record| &record.row.answer);
        let error = answer.and_then(|answer| answer.error.as_ref());
        let what = match (against.score, error) {
            (Some(score), _) => {
                let threshold = record.and_then(|record| record.threshold);
                let threshold =
                    threshold.map_or_else(String::new, |it| format!(", threshold {it}"));
                format!("{score}{threshold}")
            }
            (None, Some(error)) => format!("{}: {}", error.kind, error.message),
            (None, None) => "no score".to_owned(),
        };
        let reason = answer.and_then(|answer| answer.reason.as_ref());
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        let assertions = match &against.assertions[..] {
            [] => String::new(),
            [only] => format!(" ({} {})", cut(&only.name, MAX_NAME_BYTES), only.score),
            [first, rest @ ..] => {
                let name = cut(&first.name, MAX_NAME_BYTES);
                format!(" ({name} {}, and {} more)", first.score, rest.len())
            }
        };
        summary.push(match against.score {
            Some(score) => format!("{id} {score}{assertions}"),
            None => format!("{id} {standing}"),
        });
        details.push(format!("{id} {standing}: {what}{reason}"));
        details.extend(against.assertions.iter().map(|it| format!("  assertion {it}")));
    }
    (shown(&summary.join(", ")), shown(&details.join("\n")))
}

/// The text with invisible characters made visible. XML has no line end of two characters.
fn shown(text: &str) -> String {
    visible(&text.replace("\r\n", "\n")).into_owned()
}
