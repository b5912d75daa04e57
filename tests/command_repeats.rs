//! Cases with several attempts: `scorebox repeats`, and what a run's own summary shows about them.

use std::{fs, path::Path};

use insta::assert_snapshot;

use crate::fixture::Folder;

/// Four attempts of gpt-4o at each of 25 tasks of tau-bench, with the reward that it recorded.
fn airline() -> Folder {
    let folder = Folder::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tau-airline");
    for name in ["attempts.jsonl", "suite.toml"] {
        fs::copy(example.join(name), folder.path(name)).unwrap();
    }
    folder.sh("scorebox run suite.toml attempts.jsonl -q --run-id r").exits_with(3);
    folder
}

/// The figures of tau-bench's own formulas over these 25 tasks, computed without scorebox (by SciPy's `comb`), and by
/// hand: of 25 tasks, 7, 6, 7, 1 and 4 have 0, 1, 2, 3 and 4 successes, so pass^2 is (7 · 1 + 1 · 3 + 4 · 6) / (25 ·
/// 6), and pass@2 is (6 · 3 + 7 · 5 + 5 · 6) / (25 · 6).
const REFERENCE: [(u64, f64, f64, f64); 4] = [
    (1, 0.39, 0.39, 18.0 / 25.0),
    (2, 83.0 / 150.0, 34.0 / 150.0, 12.0 / 25.0),
    (3, 0.66, 0.17, 5.0 / 25.0),
    (4, 0.72, 0.16, 4.0 / 25.0),
];

/// A hundred attempts at 25 tasks. If they were a hundred tasks, Wilson's interval would be 30.0 to 48.8 %.
#[test]
fn the_pass_rate_has_the_interval_of_cases_and_not_of_attempts() {
    let folder = airline();
    let stats = folder.sh("scorebox stats --ci").exits_with(0);
    assert!(stats.stdout.contains("reward    100  0.3900  0.2645 to 0.5320"), "{stats}");
    let verdict =
        "verdict: 39 of 100 cases passed (39.0 %, 95 % interval 26.5 to 53.2 %), 61 failed";
    assert!(stats.stderr.contains(verdict), "{stats}");
    let summary = folder.sh("scorebox report --format md").exits_with(0);
    assert!(summary.stdout.contains("95 % interval 26.5 to 53.2 %"), "{summary}");
    // A single task shows nothing about others.
    folder.sh("grep '\"id\":\"t41\"' attempts.jsonl > one.jsonl && scorebox run suite.toml one.jsonl -q --run-id one").exits_with(3);
    let one = folder.sh("scorebox stats --run one").exits_with(0);
    assert!(one.stderr.contains("95 % interval 0.0 to 100.0 %"), "{one}");
}

#[test]
fn figures_of_real_attempts_are_those_of_the_published_formulas() {
    let folder = airline();
    let json = folder.sh("scorebox repeats --k 4,3,2,1,1 --format json").exits_with(0).json();
    assert_eq!((&json["cases"], &json["attempts"]), (&25.into(), &100.into()));
    let by_reward = &json["scorers"][0];
    for tries in [&json["verdict"], &by_reward["tries"]] {
        assert_eq!((&tries["passed"], &tries["passRate"]), (&39.into(), &0.39.into()));
        let draws = tries["draws"].as_array().unwrap();
        assert_eq!(draws.len(), REFERENCE.len());
        for (draw, (k, pass_at, pass_hat, at_least)) in draws.iter().zip(REFERENCE) {
            assert_eq!(draw["k"], k);
            for (key, expected) in
                [("passAtK", pass_at), ("passHatK", pass_hat), ("atLeastK", at_least)]
            {
                let found = draw[key].as_f64().unwrap();
                assert!((found - expected).abs() < 1e-12, "{key}, k = {k}: {found}");
            }
        }
    }
    // The rewards are 0 and 1. The mean of a task with c successes is c/4, its median is (0 + 1)/2 if c is 2, and its
    // minimum is 1 only if c is 4. Its mode is 1 from c = 3 on, and for c = 2 its first reward; 2 of the 7 tasks begin
    // with 1.
    let reduced = &by_reward["reduced"];
    for (reducer, expected) in [
        ("mean", 0.39),
        ("median", 8.5 / 25.0),
        ("mode", 7.0 / 25.0),
        ("min", 4.0 / 25.0),
        ("max", 18.0 / 25.0),
    ] {
        assert!((reduced[reducer].as_f64().unwrap() - expected).abs() < 1e-12, "{reducer}");
    }
}

#[test]
fn a_run_of_repeated_cases_says_so_and_the_command_shows_it() {
    let folder = airline();
    assert_snapshot!(folder.sh("scorebox repeats"), @"
    by       cases  attempts  passed  pass rate  k  pass@k  pass^k  at least k
    verdict     25       100      39     0.3900  1  0.3900  0.3900      0.7200
                                                 2  0.5533  0.2267      0.4800
                                                 4  0.7200  0.1600      0.1600
    reward      25       100      39     0.3900  1  0.3900  0.3900      0.7200
                                                 2  0.5533  0.2267      0.4800
                                                 4  0.7200  0.1600      0.1600
    calls       20        80       7     0.0875  1  0.0875  0.0875      0.3000
                                                 2  0.1667  0.0083      0.0500
                                                 4  0.3000  0.0000      0.0000

    scorer    mean  median    mode     min     max
    reward  0.3900  0.3400  0.2800  0.1600  0.7200
    calls   0.4825  0.4928  0.4868  0.3096  0.6346
    [stderr]
    run r: 25 cases, 100 attempts, at most 4 at a case
    [exit code 0]
    ");
    assert_snapshot!(folder.sh("scorebox repeats --cases --limit 3 --scorer calls --threshold 0.5 --k 2,5 --reducer max,mean"), @"
    case  attempts  passed  latency     pass@2     pass^2     pass@5     pass^5        max       mean
    t10          4  0 of 4        -     0.0000     0.0000  undefined  undefined     0.0000     0.0000
    t13          4  0 of 4        -     0.0000     0.0000  undefined  undefined     0.0000     0.0000
    t15          4  0 of 0        -  undefined  undefined  undefined  undefined  undefined  undefined
    [stderr]
    3 of 25 cases; next page: --skip 3; all: --limit 0
    [exit code 0]
    ");
    let said = folder.sh("scorebox stats").exits_with(0).stderr;
    let run =
        folder.sh("scorebox run suite.toml attempts.jsonl --run-id again").exits_with(3).stderr;
    for (said, run_id) in [(said, "r"), (run, "again")] {
        let line = format!("repeats: 25 cases, 100 attempts; more: scorebox repeats {run_id}\n");
        assert!(said.contains(&line), "{said}");
        assert!(said.contains("  pass^1 0.3900, pass^2 0.2267, pass^4 0.1600\n"), "{said}");
    }
    let markdown = folder.sh("scorebox report markdown=-").exits_with(0).stdout;
    assert!(markdown.contains("\n| 2 | 0.5533 | 0.2267 | 0.4800 |\n"), "{markdown}");
    let json = folder.sh("scorebox run suite.toml attempts.jsonl -q --format json").exits_with(3);
    assert_eq!(json.json()["repeats"]["verdict"]["draws"][2]["passHatK"], 0.16);
}

/// A case whose four attempts pass, fail, error and are skipped; and one with a single attempt.
const MIXED: &str = r#"{"id": "a", "attempt": 3, "output": "4", "groundTruth": "4", "skip": "flaky"}
{"id": "b", "output": "4", "groundTruth": "4", "latencyMs": 1000}
{"id": "a", "attempt": 0, "output": "4", "groundTruth": "4", "latencyMs": 2000}
{"id": "a", "attempt": 2, "output": "4"}
{"id": "a", "attempt": 1, "output": "5", "groundTruth": "4", "latencyMs": 6000}
"#;

const GATE: &str = "[scorers.right]\nuse = \"exact-match\"\nseverity = \"gate\"\n";

fn mixed(suite: &str, cases: &str) -> Folder {
    let folder = Folder::new();
    folder.write("cases.jsonl", cases);
    folder.write("suite.toml", suite);
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r");
    folder
}

#[test]
fn an_errored_attempt_is_one_that_did_not_pass_and_a_skipped_one_does_not_count() {
    let folder = mixed(GATE, MIXED);
    let json = folder.sh("scorebox repeats --cases --k 1,2,3,4 --format jsonl").exits_with(0);
    let first: serde_json::Value =
        serde_json::from_str(json.stdout.lines().next().unwrap()).unwrap();
    assert_eq!((&first["caseId"], &first["attempts"]), (&"a".into(), &4.into()));
    assert_eq!(first["meanLatencyMs"], 4000.0);
    let figures = |tries: &serde_json::Value, key: &str| {
        let draws = tries["draws"].as_array().unwrap();
        draws.iter().map(|draw| draw[key].as_f64()).collect::<Vec<_>>()
    };
    // By verdict: 1 of 3 passed. Draws of two contain it in 2 of 3 cases.
    let verdict = &first["verdict"];
    assert_eq!((&verdict["attempts"], &verdict["passed"]), (&3.into(), &1.into()));
    let two = figures(verdict, "passAtK")[1].unwrap();
    assert!((two - 2.0 / 3.0).abs() < 1e-12, "{two}");
    assert_eq!(figures(verdict, "passAtK")[2..], [Some(1.0), None]);
    assert_eq!(figures(verdict, "passHatK")[1..], [Some(0.0), Some(0.0), None]);
    // By the scorer: an error is not a score, so 1 of 2.
    let right = &first["scorers"][0]["tries"];
    assert_eq!((&right["attempts"], &right["passed"]), (&2.into(), &1.into()));
    assert_eq!(figures(right, "passAtK"), [Some(0.5), Some(1.0), None, None]);
    assert_eq!(first["scorers"][0]["reduced"]["mean"], 0.5);
}

#[test]
fn the_mean_latency_is_of_the_attempts_that_count() {
    let folder = Folder::new();
    let attempts = r#"{"id": "e", "attempt": 0, "output": "4", "groundTruth": "4", "latencyMs": 100}
{"id": "e", "attempt": 1, "output": "4", "groundTruth": "4", "latencyMs": 900, "skip": "flaky"}
"#;
    folder.write("suite.toml", GATE);
    folder.write("cases.jsonl", attempts);
    let run = folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r --format json").json();
    assert_eq!(run["verdict"]["meanLatencyMs"], 100.0);
    assert_eq!(run["repeats"]["meanLatencyMs"], 100.0);
    let cases = folder.sh("scorebox repeats --cases --format json").exits_with(0).json();
    assert_eq!(cases[0]["meanLatencyMs"], 100.0);
}

#[test]
fn fewer_attempts_than_k_are_shown_as_undefined_with_the_reason() {
    let folder = mixed(GATE, MIXED);
    assert_snapshot!(folder.sh("scorebox repeats --k 1,2"), @"
    by       cases  attempts  passed  pass rate  k     pass@k     pass^k  at least k
    verdict      2         4       2     0.5000  1     0.6667     0.6667      1.0000
                                                 2  undefined  undefined   undefined
    right        2         3       2     0.6667  1     0.7500     0.7500      1.0000
                                                 2  undefined  undefined   undefined

    scorer    mean  median    mode     min     max
    right   0.7500  0.7500  1.0000  0.5000  1.0000
    [stderr]
    run r: 2 cases, 5 attempts, at most 4 at a case, mean latency [time]
    verdict: pass@2 and pass^2 are undefined: 1 of 2 cases have fewer than 2 attempts that count
    right: pass@2 and pass^2 are undefined: 1 of 2 cases have fewer than 2 attempts that count
    [exit code 0]
    ");
    assert_snapshot!(folder.sh("scorebox repeats --k 3 --cases"), @"
    case  attempts  passed  latency     pass@3     pass^3
    a            4  1 of [fuel] [time]     1.0000     0.0000
    b            1  1 of [fuel] [time]  undefined  undefined
    [exit code 0]
    ");
}

#[test]
fn a_run_whose_cases_were_tried_once_says_that_there_are_no_repeats() {
    let folder = mixed(GATE, MIXED.lines().nth(1).unwrap());
    let shown = folder.sh("scorebox repeats").exits_with(0);
    assert!(shown.stderr.contains("no case was tried more than once"), "{shown}");
    assert!(!folder.sh("scorebox stats").stderr.contains("repeats:"));
    assert!(!folder.sh("scorebox report markdown=-").stdout.contains("Repeats"));
}

#[test]
fn iterations_are_attempts_too_and_a_scorer_that_only_measures_decides_nothing() {
    let cases = "{\"id\": \"a\", \"output\": \"x\", \"groundTruth\": \"x\"}\n\
                 {\"id\": \"a\", \"iteration\": 1, \"output\": \"y\", \"groundTruth\": \"x\"}\n";
    let folder = mixed("[scorers.right]\nuse = \"exact-match\"\n", cases);
    let said = folder.sh("scorebox stats").exits_with(0).stderr;
    assert!(said.contains("repeats: 1 case, 2 attempts"), "{said}");
    assert!(!said.contains("pass@"), "{said}");
    // No attempt can fail, so verdicts tell nothing; without a threshold, a score passes if it is the best possible
    // one.
    let json = folder.sh("scorebox repeats --format json").json();
    assert_eq!(json["verdict"], serde_json::Value::Null);
    assert_eq!(json["scorers"][0]["threshold"], 1.0);
    assert_eq!(json["scorers"][0]["tries"]["passed"], 1);
}

#[test]
fn points_without_a_threshold_are_reduced_and_neither_pass_nor_fail() {
    let cases = "{\"id\": \"a\", \"output\": 1, \"metadata\": {\"succeeded\": true}}\n\
                 {\"id\": \"a\", \"attempt\": 1, \"output\": 1, \"metadata\": {\"succeeded\": false}}\n";
    let folder = mixed("[scorers.points]\nuse = \"weighted\"\n", cases);
    assert_snapshot!(folder.sh("scorebox repeats --scorer points"), @"
    by             cases  attempts  passed  pass rate  k  pass@k  pass^k  at least k
    points  no threshold

    scorer     mean   median   mode     min    max
    points  50.0000  50.0000  100.0  0.0000  100.0
    [stderr]
    run r: 1 case, 2 attempts, at most 2 at a case
    [exit code 0]
    ");
    assert_snapshot!(folder.sh("scorebox repeats --scorer points --cases"), @"
    case  attempts  passed  latency     pass@1     pass^1     pass@2     pass^2     mean   median   mode     min    max
    a            2       -        -  undefined  undefined  undefined  undefined  50.0000  50.0000  100.0  0.0000  100.0
    [exit code 0]
    ");
    let passing = folder.sh("scorebox repeats --scorer points --threshold 50 --format json").json();
    assert_eq!(passing["scorers"][0]["tries"]["passed"], 1);
    for wrong in ["nan", "inf", "-1"] {
        let line = format!("scorebox repeats --scorer points --threshold={wrong}");
        folder.sh(&line).exits_with(2);
    }
}

#[test]
fn wrong_questions_are_refused() {
    let folder = mixed(GATE, MIXED);
    for (options, words) in [
        ("--k 0", "must be 1 or more"),
        ("--k 2,x", "invalid digit"),
        ("--reducer average", "possible values: mean, median, mode, min, max"),
        ("--scorer wrong", "hint: its scorers: right"),
        ("--scorer right --threshold 2", "the threshold 2 is not on the scorer's scale"),
        ("--threshold 0.5", "--scorer"),
        ("--node nowhere", "has no scores of a node `nowhere`"),
        ("--skip 3", "--cases"),
        ("nothing", "nothing"),
    ] {
        let refused = folder.sh(&format!("scorebox repeats {options}")).exits_with(2);
        assert!(refused.stderr.contains(words), "{options}: {refused}");
        assert_eq!(refused.stdout, "");
    }
}

#[test]
fn names_that_a_terminal_acts_on_and_impossible_numbers_do_no_harm() {
    let folder = mixed(GATE, MIXED);
    folder
        .database("scorebox.db")
        .execute_batch(
            "PRAGMA ignore_check_constraints = 1;
             UPDATE cases SET case_id = char(27) || '[2J' || char(10) || 'error: forged' WHERE case_id = 'a';
             UPDATE cases SET latency_ms = 9e999 WHERE attempt = 0;",
        )
        .unwrap();
    let shown = folder.sh("scorebox repeats --cases").exits_with(0);
    assert!(shown.stdout.contains("\\u{1b}[2J error: forged"), "{shown}");
    let json = folder.sh("scorebox repeats --format json").exits_with(0);
    assert_eq!(json.json()["meanLatencyMs"], 6000.0);
}

#[test]
fn more_attempts_than_are_held_in_memory_are_refused_and_still_counted() {
    let folder = mixed(GATE, MIXED.lines().nth(1).unwrap());
    folder
        .database("scorebox.db")
        .execute_batch(
            "INSERT INTO cases (case_key, run, ordinal, case_id, iteration, attempt, source_name, source_line, digest, output)
             WITH RECURSIVE more (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < 100000)
             SELECT (run << 40) + n, run, n, case_id, 0, n, source_name, n + 1, digest, output
             FROM cases, more;",
        )
        .unwrap();
    let refused = folder.sh("scorebox repeats").exits_with(2);
    assert!(refused.stderr.contains("case `b` has more than 100000 attempts"), "{refused}");
    let stats = folder.sh("scorebox stats").exits_with(0);
    assert!(stats.stderr.contains("repeats: 1 case, 100,001 attempts"), "{stats}");
}
