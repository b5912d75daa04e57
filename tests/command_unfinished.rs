//! Runs that stopped, were interrupted or were killed: no command shows them as if they were complete.

use std::fs;

use insta::assert_snapshot;
use quick_junit::{Report, TestCaseStatus};

use crate::fixture::Folder;

const GOOD: &str = r#"{"id": "ID", "output": "4", "groundTruth": "4"}"#;

/// Three cases that pass, a line that is not a case, and lines that were not read.
fn cases() -> String {
    let good = |id: &str| GOOD.replace("ID", id) + "\n";
    [good("a"), good("b"), good("c"), "oops\n".to_owned(), good("d")].concat()
}

/// A folder with the run `r` of a gate, which stopped at a bad line.
fn folder(reports: &str) -> Folder {
    let folder = Folder::new();
    folder.write("cases.jsonl", cases());
    folder.write("suite.toml", "[scorers.exact-match]\nseverity = \"gate\"\n");
    folder
        .sh(&format!("scorebox run suite.toml cases.jsonl -q --run-id r {reports}"))
        .exits_with(2);
    folder
}

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path(name)).unwrap()
}

#[test]
fn a_summary_in_markdown_says_that_the_run_stopped_and_why() {
    let folder = folder("--report md=r.md");
    assert_snapshot!(read(&folder, "r.md"), @r"
    ## suite: stopped; 3 of 3 cases passed (100.0 %; 95 % interval 43.9 to 100.0 %)

    **This is not the whole run**: the run stopped\: cases.jsonl\:4\:1\: not valid JSON\: expected value

    | scorer | counts as | scored | n/a | skipped | errors | mean | min | max | failed | regressed |
    |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
    | exact-match | gate, threshold 1 | 3 | 0 | 0 | 0 | 1.0000 | 1.0000 | 1.0000 | 0 | 0 |

    Run `r`, root `[digest]`
    ");
}

#[test]
fn junit_has_an_error_in_place_of_the_cases_that_were_not_read() {
    let folder = folder("--report junit=r.xml");
    for (state, says) in [
        ("stopped", "the run stopped: cases.jsonl:4:1: not valid JSON: expected value"),
        ("interrupted", "the run was interrupted"),
        ("running", "the run is still running, or was killed"),
    ] {
        if state != "stopped" {
            let ended = if state == "running" { "NULL" } else { "finished_at_ms" };
            let change = format!(
                "UPDATE runs SET state = '{state}', state_reason = NULL, finished_at_ms = {ended}"
            );
            folder.database("scorebox.db").execute_batch(&change).unwrap();
            folder.sh("scorebox report junit=r.xml").exits_with(0);
        }
        let report = Report::deserialize_from_str(&read(&folder, "r.xml")).unwrap();
        assert_eq!((report.tests, report.failures, report.errors), (4, 0, 1), "{state}");
        let [suite] = &report.test_suites[..] else { panic!("{report:?}") };
        let property = suite.properties.iter().find(|it| it.name.as_str() == "state").unwrap();
        assert_eq!(property.value.as_str(), state);
        let last = suite.test_cases.last().unwrap();
        assert_eq!(last.name.as_str(), "run r");
        let TestCaseStatus::NonSuccess { message: Some(message), .. } = &last.status else {
            panic!("{last:?}")
        };
        assert_eq!(message.as_str(), says);
    }
}

#[test]
fn a_summary_without_a_verdict_counts_cases_that_a_scorer_has_not_seen() {
    let folder = Folder::new();
    folder.write("cases.jsonl", cases());
    folder.sh("scorebox run -s equals -s contains cases.jsonl -q --run-id r").exits_with(2);
    let gone = "DELETE FROM score_rows WHERE scorer = 2 AND case_key = (SELECT max(case_key) FROM score_rows)";
    folder.database("scorebox.db").execute_batch(gone).unwrap();
    let summary = folder.sh("scorebox report --format md").exits_with(0).stdout;
    let heading = "## command line: stopped; 2 cases, of which no scorer decides whether they pass, \
                   1 incomplete\n";
    assert!(summary.starts_with(heading), "{summary}");
}

#[test]
fn figures_cases_and_tables_of_a_part_of_a_run_come_with_a_warning() {
    let folder = folder("");
    let warning = "warning: run r was stopped, and only its stored scores count: \
                   cases.jsonl:4:1: not valid JSON: expected value\n";
    for command in [
        "stats",
        "stats --format json",
        "cases",
        "cases --format jsonl",
        "scores",
        "scores --format jsonl",
        "repeats",
        "repeats --format json",
        "repeats --cases --format jsonl",
        "export -o r.csv",
        "report csv=c.csv",
    ] {
        let said = folder.sh(&format!("scorebox {command}")).exits_with(0).stderr;
        assert!(said.contains(warning), "{command}: {said}");
    }
    folder.write("cases.jsonl", cases().replace("oops\n", ""));
    folder.sh("scorebox run suite.toml cases.jsonl -q --resume r").exits_with(0);
    for command in ["stats", "cases", "scores", "repeats", "export -o w.csv", "report csv=w.csv"] {
        let said = folder.sh(&format!("scorebox {command}")).exits_with(0).stderr;
        assert!(!said.contains("warning"), "{command}: {said}");
    }
}

#[test]
fn figures_in_json_say_how_far_their_run_has_come() {
    let folder = Folder::new();
    folder.write("cases.jsonl", cases());
    folder.write("suite.toml", "[scorers.labels]\nuse = \"label-distribution\"\n");
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r").exits_with(2);
    let figures = |options: &str| {
        folder.sh(&format!("scorebox stats --format json {options}")).exits_with(0).json()[0]
            .clone()
    };
    assert_eq!(figures("r")["state"], "stopped");
    folder.write("cases.jsonl", cases().replace("oops\n", ""));
    folder.sh("scorebox run suite.toml cases.jsonl -q --resume r").exits_with(0);
    let whole = figures("r");
    assert_eq!((&whole["state"], whole["summary"].is_object()), (&"finished".into(), true));
    // Several runs have no common state.
    assert_eq!(figures("--all-runs").get("state"), None);
}

#[test]
fn a_summary_of_a_part_of_a_run_is_so_far_in_markdown_too() {
    let folder = Folder::new();
    folder.write("cases.jsonl", cases().replace("oops\n", ""));
    folder.sh("scorebox run cases.jsonl -s labels=label-distribution -q").exits_with(0);
    let heading = |title: &str| {
        let markdown = folder.sh("scorebox report --format md").exits_with(0).stdout;
        assert!(markdown.contains(&format!("### labels of the run{title}\n\n")), "{markdown}");
    };
    heading("");
    let interrupted = "UPDATE runs SET state = 'interrupted'";
    folder.database("scorebox.db").execute_batch(interrupted).unwrap();
    heading(" so far");
}

/// `/dev/full` accepts nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_report_of_a_run_that_stopped_is_missed_if_it_cannot_be_written() {
    let folder = Folder::new();
    folder.write("cases.jsonl", cases());
    let scorers = "-s exact-match cases.jsonl --run-id r --report junit=/dev/full";
    let run = folder.sh(&format!("scorebox run {scorers}")).exits_with(2).stderr;
    let again = "write the report again with: scorebox report --run r junit=/dev/full\n";
    let resume = "resume with:\n";
    let [again, resume] =
        [again, resume].map(|words| run.find(words).unwrap_or_else(|| panic!("{run}")));
    assert!(again < resume, "{run}");
}

#[test]
fn figures_of_all_runs_say_which_of_them_are_not_whole() {
    let folder = folder("");
    folder.write("good.jsonl", GOOD.replace("ID", "a") + "\n");
    folder.sh("scorebox run suite.toml good.jsonl -q --run-id whole").exits_with(0);
    assert_snapshot!(folder.sh("scorebox stats --all-runs").exits_with(0).stderr, @"
    warning: run r was stopped, and only its stored scores count: cases.jsonl:4:1: not valid JSON: expected value
    all runs, pooled
    ");
    for run in 1..=5 {
        let run = format!("scorebox run suite.toml cases.jsonl -q --run-id r{run}");
        folder.sh(&run).exits_with(2);
    }
    let said = folder.sh("scorebox stats --all-runs").exits_with(0).stderr;
    assert_eq!(said.matches("warning: run r").count(), 5, "{said}");
    assert!(said.contains("and more runs are not whole: `scorebox runs` lists"), "{said}");
}
