//! Verdicts of cases and runs, gates and other requirements, and their exit codes.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::fixture::Folder;

/// Four cases: a good one, one that fails a gate, one that falls below a soft threshold, and one whose gate has no
/// score.
pub(crate) const CASES: &str = r#"{"id": "good", "input": "2+2?", "output": "4", "groundTruth": "4", "latencyMs": 100, "usage": {"costUsd": 0.5}}
{"id": "wrong", "output": "5", "groundTruth": "4", "latencyMs": 100}
{"id": "slow", "output": "4", "groundTruth": "4", "latencyMs": 900}
{"id": "broken", "output": "4", "latencyMs": 100}
{"id": "left", "output": "4", "groundTruth": "4", "latencyMs": 100, "skip": "flaky"}
"#;

const SUITE: &str = r#"[scorers.right]
use = "exact-match"
severity = "gate"
weight = 3
[scorers.fast]
use = "latency"
config = { targetMs = 0, maxMs = 1000 }
threshold = 0.5
"#;

pub(crate) fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("cases.jsonl", CASES);
    folder.write("suite.toml", SUITE);
    folder
}

#[test]
fn the_cases_that_a_scorer_decided_against_are_listed_by_its_name() {
    let folder = folder();
    folder.sh("scorebox run suite.toml cases.jsonl -q").exits_with(3);
    assert_snapshot!(folder.sh("scorebox cases --scorer right"), @"
    case    verdict   score  decided by
    wrong   failed   0.2250  right 0.0000
    broken  errored  0.9000  right errored
    [exit code 0]
    ");
    assert_snapshot!(folder.sh("scorebox cases --scorer fast --failed"), @"
    [stderr]
    no case failed or is errored because of `fast`
    [exit code 0]
    ");
    assert_snapshot!(folder.sh("scorebox cases --scorer right --skip 2"), @"
    [stderr]
    no cases after the first 2: there are 2
    [exit code 0]
    ");
    let strict = folder.sh("scorebox cases --scorer fast --failed --strict --format json").json();
    assert_eq!((strict[0]["caseId"].as_str(), strict[1].as_object()), (Some("slow"), None));
    let unknown = folder.sh("scorebox cases --scorer rihgt").exits_with(2).stderr;
    assert!(unknown.contains("its scorers: right, fast"), "{unknown}");
}

#[test]
fn an_error_of_one_gate_does_not_hide_that_another_one_failed() {
    let folder = Folder::new();
    folder.write("both.jsonl", r#"{"id": "both", "output": "nope", "input": "hello"}"#);
    folder.write(
        "both.toml",
        r#"[scorers.said]
use = "contains"
config = { value = "confirmed" }
severity = "gate"
[scorers.right]
use = "exact-match"
severity = "gate"
"#,
    );
    assert_snapshot!(folder.sh("scorebox run both.toml both.jsonl --run-id r -q --max-errors 5"), @"
    scorer  scored  n/a  errors    mean  0 … 1        p50     min     max fuel time
    said         1    0       0  0.0000  █         0.0000  0.0000  0.0000 [fuel] [time]
    right        0    0       1       -                 -       -       - - -
    [stderr]

    run r: 1 case, 2 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: 1 score is an error; first:
      right on both: invalid-input: the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place
    hint: show all errors: scorebox scores r --errors
    verdict: 0 of 1 case passed (0.0 %, 95 % interval 0.0 to 79.3 %), 1 errored
      said (gate, at least 1.0000): 1 case failed
      right (gate, at least 1.0000): 1 case errored
    error: 1 errored case also failed
    hint: show them: scorebox cases r --failed
    error: `right`, which decides whether a case passes, decided none: it has 1 error and no score
    hint: look at why: scorebox scores r --scorer right; if it need not decide any case: --allow-idle right
    [exit code 3]
    ");
    let strict = "scorebox run both.toml both.jsonl -q --allow-errors --strict";
    folder.sh(strict).exits_with(3);
    folder.sh("scorebox run both.toml both.jsonl -q --allow-errors --allow-failures").exits_with(0);
}

#[test]
fn a_case_to_which_no_deciding_scorer_applies_is_skipped_and_not_passed() {
    let folder = Folder::new();
    folder.write(
        "lengths.jsonl",
        "{\"id\": \"short\", \"output\": \"a\"}\n{\"id\": \"none\", \"output\": null}\n",
    );
    folder.write(
        "short.toml",
        r#"[scorers.short]
use = "satisfies"
config = { expression = ".output | values | length < 5" }
severity = "gate"
"#,
    );
    assert_snapshot!(folder.sh("scorebox run short.toml lengths.jsonl --run-id r"), @"
    scorer  scored  n/a  errors    mean  0 … 1        p50     min     max fuel time
    short        1    1       0  1.0000         █  1.0000  1.0000  1.0000 [fuel] [time]
    [stderr]

    run r: 2 cases, 2 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    verdict: 1 of 1 case passed (100.0 %, 95 % interval 20.7 to 100.0 %), 1 skipped
    [exit code 0]
    ");
    let cases = folder.sh("scorebox cases --format json").json();
    assert_eq!((&cases[0]["verdict"], &cases[1]["verdict"]), (&"passed".into(), &"skipped".into()));
}

#[test]
fn a_regression_is_not_among_what_decided_a_case_that_a_gate_failed() {
    let folder = folder();
    let case = r#"{"id": "both", "output": "5", "groundTruth": "4", "latencyMs": 900}"#;
    folder.write("both.jsonl", format!("{case}\n"));
    folder.sh("scorebox run suite.toml both.jsonl -q").exits_with(3);
    assert_snapshot!(folder.sh("scorebox cases"), @"
    case  verdict   score  decided by
    both  failed   0.0250  right 0.0000
    [exit code 0]
    ");
    // There, it would have failed the case on its own.
    let strict = folder.sh("scorebox cases --strict").exits_with(0).stdout;
    assert!(strict.contains("right 0.0000, fast 0.1000"), "{strict}");
}

#[test]
fn a_failed_gate_makes_the_exit_code_3_and_the_last_lines_say_which() {
    let folder = folder();
    let run = "scorebox run suite.toml cases.jsonl --run-id r";
    assert_snapshot!(folder.sh(run), @"
    scorer  scored  n/a  skipped  errors    mean  0 … 1        p50     min     max fuel time
    right        3    0        1       1  0.6667  ▄      █  1.0000  0.0000  1.0000 [fuel] [time]
    fast         4    0        1       0  0.7000  ▃      █  0.9000  0.1000  0.9000 [fuel] [time]
    [stderr]

    run r: 5 cases, 8 scores in [time], 2 skipped
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: 1 score is an error; first:
      right on broken: invalid-input: the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place
    hint: show all errors: scorebox scores r --errors
    verdict: 2 of 4 cases passed (50.0 %, 95 % interval 15.0 to 85.0 %), 1 of them with regressions, 1 failed, 1 errored, 1 skipped
      right (gate, at least 1.0000): 1 case failed, 1 case errored
      fast (soft, at least 0.5000): 1 case regressed
    error: 1 case failed
    hint: show them: scorebox cases r --failed
    [exit code 3]
    ");
    assert_snapshot!(folder.sh("scorebox cases"), @"
    case    verdict             score  decided by
    good    passed             0.9750
    wrong   failed             0.2250  right 0.0000
    slow    passed, regressed  0.7750  fast 0.1000
    broken  errored            0.9000  right errored
    left    skipped                 -  flaky
    [exit code 0]
    ");
    assert_snapshot!(folder.sh("scorebox cases --failed --strict --format jsonl"), @r#"
    {"caseId":"wrong","nodeId":"wrong","iteration":0,"attempt":0,"verdict":"failed","regressions":0,"score":0.225,"against":[{"scorerId":"right","standing":"failed","score":0.0}]}
    {"caseId":"slow","nodeId":"slow","iteration":0,"attempt":0,"verdict":"failed","regressions":1,"score":0.775,"against":[{"scorerId":"fast","standing":"regressed","score":0.09999999999999998}]}
    {"caseId":"broken","nodeId":"broken","iteration":0,"attempt":0,"verdict":"errored","regressions":0,"score":0.9,"against":[{"scorerId":"right","standing":"errored","score":null}]}
    [exit code 0]
    "#);
    assert_snapshot!(folder.sh("scorebox scores"), @r#"
    case    scorer    score  verdict    reason
    good    right    1.0000  passed     "4" equals the expected answer
    good    fast     0.9000  passed     100ms (target: 0ms, max: 1000ms)
    wrong   right    0.0000  failed     "5" does not equal "4"
    wrong   fast     0.9000  passed     100ms (target: 0ms, max: 1000ms)
    slow    right    1.0000  passed     "4" equals the expected answer
    slow    fast     0.1000  regressed  900ms (target: 0ms, max: 1000ms)
    broken  right     error  errored    invalid-input: the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place
    broken  fast     0.9000  passed     100ms (target: 0ms, max: 1000ms)
    left    right   skipped  -          the case is skipped: flaky
    left    fast    skipped  -          the case is skipped: flaky
    [exit code 0]
    "#);
    assert_snapshot!(folder.sh("scorebox stats"), @"
    scorer  count    mean     min     max     p50  stddev  n/a  skipped  errors
    right       3  0.6667  0.0000  1.0000  1.0000  0.4714    0        1       1
    fast        4  0.7000  0.1000  0.9000  0.9000  0.3464    0        1       0
    [stderr]
    verdict: 2 of 4 cases passed (50.0 %, 95 % interval 15.0 to 85.0 %), 1 of them with regressions, 1 failed, 1 errored, 1 skipped
      right (gate, at least 1.0000): 1 case failed, 1 case errored
      fast (soft, at least 0.5000): 1 case regressed
    run r; to pool all runs: --all-runs
    [exit code 0]
    ");
}

/// A fast gate has seen all sixty cases, a third of which fail, and a slow scorer only eighteen, as if a budget had
/// ended the run.
#[test]
fn an_unfinished_run_has_the_rate_of_the_cases_that_all_scorers_have_seen() {
    let folder = Folder::new();
    let case = |place: u32| {
        let output = if place.is_multiple_of(3) { "5" } else { "4" };
        format!(
            "{{\"id\": \"c{place:02}\", \"output\": \"{output}\", \"groundTruth\": \"4\", \"latencyMs\": 100}}\n"
        )
    };
    folder.write("cases.jsonl", (0..60).map(case).collect::<String>());
    folder.write("suite.toml", SUITE);
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id whole").exits_with(3);
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id part").exits_with(3);
    let of_run = "run = (SELECT run FROM runs WHERE id = 'part')";
    let change = format!(
        "DELETE FROM score_rows WHERE scorer = (SELECT scorer FROM scorers WHERE scorer_id = 'fast' AND {of_run})
         AND case_key IN (SELECT case_key FROM cases WHERE {of_run} AND case_id >= 'c18')"
    );
    folder.database("scorebox.db").execute(&change, []).unwrap();
    let stats = folder.sh("scorebox stats --run part");
    assert!(
        stats.stderr.contains(
            "verdict: 12 of 18 cases passed (66.7 %, 95 % interval 43.7 to 83.7 %), 6 failed, \
             42 incomplete (14 of them already failed)\n"
        ),
        "{}",
        stats.stderr
    );
    let markdown = folder.sh("scorebox report part --format markdown").stdout;
    let said = "12 of 18 cases passed (66.7 %; 95 % interval 43.7 to 83.7 %), 6 failed, \
                42 incomplete (14 of them already failed)\n";
    assert!(markdown.contains(said), "{markdown}");
    let failed = folder.sh("scorebox cases part --failed --limit 0 --format json").json();
    let failed = failed.as_array().unwrap();
    let incomplete = failed.iter().filter(|case| case["incomplete"] == true);
    assert_eq!((failed.len(), incomplete.count()), (20, 14), "each failed case is listed");
    let listed = folder.sh("scorebox cases part --failed --limit 0").stdout;
    assert_eq!(listed.matches("failed, incomplete").count(), 14, "{listed}");
    let junit = folder.sh("scorebox report part --format junit").stdout;
    assert!(junit.contains("failures=\"20\""), "{junit}");
    let tries = |run: &str| {
        folder.sh(&format!("scorebox repeats {run} --format json")).json()["verdict"].clone()
    };
    assert_eq!(tries("part")["passRate"], tries("whole")["passRate"]);
}

/// A scorer whose score is always the best one, while the gates among its assertions decide.
pub(crate) const CHECKS: &str = r#"export default (c) => {
    const leaks = c.output.includes("@");
    return { score: 1, reason: "fine overall", assertions: [
        { name: "polite", score: 1, severity: "gate" },
        { name: "no PII", score: leaks ? 0.25 : 1, severity: "gate", threshold: 0.5, reason: "has an e-mail address" },
        { name: "short", score: c.output === "fine" ? 1 : 0, severity: "soft", threshold: 0.5 },
    ] };
};
"#;

/// A case that passes, one that a soft assertion regresses, and one that a gate among the assertions fails.
fn folder_with_assertions() -> Folder {
    let folder = Folder::new();
    folder.write("as.js", CHECKS);
    let case = |id: &str, output: &str| format!("{{\"id\": \"{id}\", \"output\": \"{output}\"}}\n");
    let cases = [case("a", "fine"), case("b", "too long"), case("c", "mail a@b.c")];
    folder.write("cases.jsonl", cases.concat());
    folder.write("suite.toml", "[scorers.as]\nuse = \"./as.js\"\nseverity = \"gate\"\n");
    folder
}

#[test]
fn an_assertion_that_decides_is_named_with_its_score_threshold_and_reason() {
    let folder = folder_with_assertions();
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r").exits_with(3);
    assert_snapshot!(folder.sh("scorebox cases"), @r#"
    case  verdict             score  decided by
    a     passed             1.0000
    b     passed, regressed  1.0000  as 1.0000 (short 0.0000, at least 0.5000)
    c     failed             1.0000  as 1.0000 (no PII 0.2500, at least 0.5000: has an e-mail address)
    [exit code 0]
    "#);
    assert_snapshot!(folder.sh("scorebox scores"), @r#"
    case  scorer   score  verdict    reason
    a     as      1.0000  passed     fine overall
    b     as      1.0000  regressed  short 0.0000, at least 0.5000; fine overall
    c     as      1.0000  failed     no PII 0.2500, at least 0.5000: has an e-mail address; fine overall
    [exit code 0]
    "#);
    let shown = folder.sh("scorebox show c").exits_with(0).stdout;
    let above_all = shown.split("  assertions").next().unwrap();
    assert_snapshot!(above_all, @r#"
    c: failed, score 1.0000
      output      "mail a@b.c"

    as: 1.0000 (gate, threshold 1.0000)
      decided by  no PII 0.2500, at least 0.5000: has an e-mail address
      reason      fine overall
    "#);
    assert_snapshot!(folder.sh("scorebox stats").stderr, @r#"
    verdict: 2 of 3 cases passed (66.7 %, 95 % interval 20.8 to 93.9 %), 1 of them with regressions, 1 failed
      as (gate, at least 1.0000): 1 case failed, 1 case regressed, 2 by its assertions (first: no PII)
    run r; to pool all runs: --all-runs
    "#);
    let cases = folder.sh("scorebox cases --failed --limit 1 --format json").json();
    let decisive =
        r#"[{"name":"no PII","reason":"has an e-mail address","score":0.25,"threshold":0.5}]"#;
    assert_eq!(cases[0]["against"][0]["assertions"].to_string(), decisive);
    let shown = folder.sh("scorebox show c --format json").json();
    assert_eq!(shown[0]["against"], cases[0]["against"]);
    let held = folder.sh("scorebox cases --limit 1 --format json").json();
    assert_eq!(held[0]["against"].to_string(), "[]");
}

#[test]
fn rows_in_json_say_what_they_count_as_as_an_export_does() {
    let folder = folder_with_assertions();
    folder.sh("scorebox run suite.toml cases.jsonl -q").exits_with(3);
    assert_eq!(standings(&folder), ["a as holds", "b as regressed", "c as failed"]);
    folder.write("cases.jsonl", CASES);
    folder.write("suite.toml", SUITE);
    folder.sh("scorebox run suite.toml cases.jsonl -q --allow-errors").exits_with(3);
    let found = standings(&folder);
    let expected = [
        "good right holds",
        "good fast holds",
        "wrong right failed",
        "wrong fast holds",
        "slow right holds",
        "slow fast regressed",
        "broken right errored",
        "broken fast holds",
        "left right -",
        "left fast -",
    ];
    assert_eq!(found, expected);
}

/// The standing of each row of the newest run in `scores`, which an export must match.
fn standings(folder: &Folder) -> Vec<String> {
    let rows = |command: &str, [case, scorer]: [&str; 2]| {
        let lines = folder.sh(command).exits_with(0).stdout;
        let rows = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        rows.map(|row| [&row[case], &row[scorer], &row["standing"]].map(text).join(" "))
            .collect::<Vec<_>>()
    };
    let listed = rows("scorebox scores --format jsonl", ["caseId", "scorerId"]);
    assert_eq!(listed, rows("scorebox export --format jsonl", ["case_id", "scorer_id"]));
    listed
}

#[test]
fn figures_in_json_have_the_verdict_that_the_run_had() {
    let folder = folder();
    let run = "scorebox run suite.toml cases.jsonl -q --allow-errors --format json";
    for strict in ["", "--strict"] {
        let run = folder.sh(&format!("{run} {strict}")).exits_with(3).json();
        let figures = folder.sh(&format!("scorebox stats --format json {strict}")).json();
        let mut verdict = run["verdict"].clone();
        let scorers = verdict["scorers"].take();
        assert_eq!(verdict["failed"], if strict.is_empty() { 1 } else { 2 }, "{verdict}");
        // Each scorer has its own share of it.
        for (place, name) in ["right", "fast"].into_iter().enumerate() {
            let mut own = figures[place]["verdict"].clone();
            assert_eq!(figures[place]["scorerId"], name);
            assert_eq!(own["scorers"].take(), Value::from(vec![scorers[place].clone()]));
            assert_eq!(own, verdict);
        }
    }
    for of_no_verdict in ["--scorer right", "--all-runs"] {
        let figures = folder.sh(&format!("scorebox stats --format json {of_no_verdict}")).json();
        assert_eq!(figures[0].get("verdict"), None, "{of_no_verdict}");
    }
}

#[test]
fn reports_name_the_assertion_that_decides() {
    let folder = folder_with_assertions();
    let reports = "--report junit=r.xml --report markdown=r.md --report csv=r.csv --report jsonl=r.jsonl --report html=r.html";
    folder
        .sh(&format!("scorebox run suite.toml cases.jsonl -q --run-id r {reports}"))
        .exits_with(3);
    let lines_with = |name: &str| {
        let text = fs::read_to_string(folder.path(name)).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("PII")).collect();
        lines.join("\n")
    };
    assert_snapshot!(lines_with("r.md"), @"| c | failed | 1.0000 | as 1.0000: fine overall<br>assertion no PII 0.2500, threshold 0.5: has an e-mail address |");
    assert_snapshot!(lines_with("r.xml").trim_start(), @r#"
    <failure message="as 1 (no PII 0.25)" type="scorebox">as failed: 1, threshold 1: fine overall
      assertion no PII 0.25, threshold 0.5: has an e-mail address</failure>
    "#);
    let table = csv::Reader::from_path(folder.path("r.csv")).unwrap().into_records();
    let last: Vec<String> =
        table.map(|row| row.unwrap().iter().next_back().unwrap().to_owned()).collect();
    assert_snapshot!(last.join(" | "), @" | short 0, threshold 0.5 | no PII 0.25, threshold 0.5: has an e-mail address");
    for line in lines_with("r.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        if case["caseId"] == "c" {
            assert_eq!(case["against"][0]["assertions"][0]["name"], "no PII");
        }
    }
    let page = lines_with("r.html");
    assert!(page.contains("<b>no PII</b>"), "{page}");
}

#[test]
fn show_has_all_of_a_case() {
    let folder = folder();
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r").exits_with(3);
    assert_snapshot!(folder.sh("scorebox show slow"), @r#"
    slow: passed, regressed, score 0.7750
      output      "4"
      groundTruth "4"
      latencyMs   900

    right: 1.0000 (gate, threshold 1.0000)
      reason      "4" equals the expected answer

    fast: 0.1000 (soft, threshold 0.5000)
      reason      900ms (target: 0ms, max: 1000ms)
    [exit code 0]
    "#);
    let shown = folder.sh("scorebox show good --format json").exits_with(0).json();
    assert_eq!(shown[0]["output"], "4");
    assert_eq!(shown[0]["verdict"], "passed");
    assert_eq!(shown[0]["score"], 0.975);
    assert_eq!(shown[0]["scores"][1]["scorerId"], "fast");
    assert_eq!(shown[0]["usage"]["costUsd"], 0.5);
    let none = folder.sh("scorebox show goood").exits_with(2);
    assert!(none.stderr.contains("did you mean `good`?"), "{none}");
}

#[test]
fn a_summary_in_markdown_stays_below_what_github_takes() {
    let folder = Folder::new();
    folder.write(
        "as.js",
        "export default () => ({ score: 0, reason: '$'.repeat(300), assertions: [...'abcde'].map((name) =>\n\
         ({ name, score: 0, severity: 'gate', reason: '$'.repeat(300) })) });\n",
    );
    folder.write(
        "suite.toml",
        "[scorers.as]\nuse = \"./as.js\"\nseverity = \"gate\"\nthreshold = 1\n",
    );
    folder.write("cases.jsonl", "{\"output\": 1}\n".repeat(120));
    folder.sh("scorebox run suite.toml cases.jsonl -q --report markdown=r.md").exits_with(3);
    let summary = fs::read_to_string(folder.path("r.md")).unwrap();
    assert!((500_000..1 << 20).contains(&summary.len()), "{}", summary.len());
    assert!(summary.contains("\nThese are the first "), "it says that cases are left out");
}

#[test]
fn the_verdict_of_a_run_is_in_its_json() {
    let folder = folder();
    let json =
        folder.sh("scorebox run suite.toml cases.jsonl -q --format json").exits_with(3).json();
    let verdict = &json["verdict"];
    for (key, count) in
        [("passed", 2), ("regressed", 1), ("failed", 1), ("errored", 1), ("skipped", 1)]
    {
        assert_eq!(verdict[key], count, "{key}");
    }
    assert_eq!(verdict["passRate"]["rate"], 0.5);
    assert_eq!(verdict["meanLatencyMs"], 300.0);
    assert_eq!(verdict["meanCostUsd"], 0.5);
    assert_eq!(verdict["scorers"][0]["failed"], 1);
    assert_eq!(json["broken"][0]["requirement"], "cases");
}

#[test]
fn an_error_of_a_soft_scorer_with_a_threshold_is_named_where_it_counts() {
    let folder = Folder::new();
    folder.write(
        "cases.jsonl",
        "{\"id\": \"a\", \"output\": \"4\", \"groundTruth\": \"4\"}\n{\"id\": \"b\", \"output\": \"4\"}\n",
    );
    folder.write(
        "s.toml",
        "[scorers.soft]\nuse = 'exact-match'\nseverity = 'soft'\nthreshold = 0.5\n",
    );
    let run = "scorebox run s.toml cases.jsonl -q --strict --max-errors 1 --min-pass-rate";
    let said = folder.sh(&format!("{run} 0.5")).exits_with(0).stderr;
    assert!(said.contains("verdict: 1 of 2 cases passed (50.0 %"), "{said}");
    assert!(said.contains("\n  soft (soft, at least 0.5000): 1 case errored\n"), "{said}");
    folder.sh(&format!("{run} 0.9")).exits_with(3);
    assert_snapshot!(folder.sh("scorebox cases --strict --scorer soft").stdout, @"
    case  verdict  score  decided by
    b     errored      -  soft errored
    ");
    let junit = folder.sh("scorebox report junit=- --strict").exits_with(0).stdout;
    assert!(!junit.contains("<error message=\"\""), "{junit}");
}
