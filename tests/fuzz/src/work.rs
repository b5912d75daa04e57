//! Diffs and test reports, as the scorers of an agent's work read them. In a sandbox a panic costs one score; here the
//! fuzzer finds it.

use commands::Commands;
use diff::Diff;
use files::Files;
use scorebox_sdk::{Case, Scorer, configure};
use serde_json::{Value, json};
use test_report::TestReport;

/// The most assertions of one score.
const ASSERTIONS: usize = 1000;

/// The scorers, configured once: compiling their regular expressions takes longer than scoring.
struct Scorers {
    diff: Diff,
    files: Files,
    commands: Commands,
    report: TestReport,
    /// Scorers that are configured for one format of reports, whatever a report looks like.
    formats: Vec<TestReport>,
}

thread_local! {
    static SCORERS: Scorers = Scorers {
        diff: scorer(json!({"isEmpty": false, "mustMatch": ["a"], "mustNotMatch": ["^$"], "lines": "added"})),
        files: scorer(json!({"changed": ["**/*.rs"], "untouched": ["a"], "only": ["*"]})),
        commands: scorer(json!({})),
        report: scorer(json!({})),
        formats: ["junit", "tap", "vitest", "jest", "cargo", "pytest"]
            .map(|format| scorer(json!({ "format": format })))
            .into(),
    };
}

fn scorer<S: Scorer>(config: Value) -> S {
    configure(config).expect("a configuration of ours")
}

/// Reads the bytes as a diff, as a test report and as a whole workspace, and scores each.
pub fn work(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let whole = serde_json::from_str::<Value>(text).ok();
    SCORERS.with(|scorers| {
        let patch = case(json!({ "diff": text }));
        check(&scorers.diff, &patch);
        check(&scorers.files, &patch);
        let report = case(json!({"testReports": [{ "content": text }]}));
        check(&scorers.report, &report);
        scorers.formats.iter().for_each(|told| check(told, &report));
        let Some(whole) = whole.map(case) else { return };
        check(&scorers.diff, &whole);
        check(&scorers.files, &whole);
        check(&scorers.commands, &whole);
        check(&scorers.report, &whole);
    });
}

fn case(workspace: Value) -> Case {
    Case::new(Value::Null).with_metadata(json!({ "workspace": workspace }))
}

fn check(scorer: &impl Scorer, case: &Case) {
    let scored = scorer.score(case);
    if let Ok(score) = &scored {
        assert!(score.score.is_none_or(|score| (0.0..=1.0).contains(&score)), "{score:?}");
        assert!(score.assertions.len() <= ASSERTIONS, "{} assertions", score.assertions.len());
    }
    assert_eq!(format!("{:?}", scorer.score(case)), format!("{scored:?}"));
}
