//! `scorebox compare`: two runs side by side; and the intervals of means.

use std::fmt::Write as _;

use insta::assert_snapshot;

use crate::fixture::Folder;

/// Two runs over the same hundred questions of GSM8K: the answers of two models, with the questions as cases.
fn two_models() -> Folder {
    let folder = Folder::new();
    for (run, model) in [("small", "6b_verification"), ("large", "175b_verification")] {
        folder
            .sh(&format!(
                "grep '\"system\": \"{model}\"' answers.jsonl | sed 's/-{model}\"/\"/' > {run}.jsonl && \
                 scorebox run suite.toml {run}.jsonl -q --run-id {run}"
            ))
            .exits_with(0);
    }
    folder
}

/// A run of `exact-match` over cases with these outputs, where `right` is the expected output.
pub(crate) fn run_of(folder: &Folder, run: &str, cases: &[(&str, &str)]) {
    let mut lines = String::new();
    for (id, output) in cases {
        writeln!(lines, r#"{{"id":"{id}","output":"{output}","groundTruth":"right"}}"#).unwrap();
    }
    folder.write(&format!("{run}.jsonl"), lines);
    folder
        .sh(&format!("scorebox run {run}.jsonl -s right=exact-match -q --run-id {run}"))
        .exits_with(0);
}

/// `count` cases of which the first `right` ones are right.
fn right(count: usize, right: usize) -> Vec<(String, &'static str)> {
    (0..count).map(|n| (format!("c{n:03}"), if n < right { "right" } else { "wrong" })).collect()
}

pub(crate) fn run_of_right(folder: &Folder, run: &str, count: usize, are_right: usize) {
    let cases = right(count, are_right);
    let cases: Vec<(&str, &str)> =
        cases.iter().map(|(id, output)| (id.as_str(), *output)).collect();
    run_of(folder, run, &cases);
}

#[test]
fn two_runs_of_real_answers_side_by_side() {
    let folder = two_models();
    assert_snapshot!(folder.sh("scorebox compare small large"), @"
    scorer           cases       A       B  difference      95 % interval  p (Holm)  effect  wins  losses  ties  B is
    numeric-answer     100  0.4300  0.5500     +0.1200   0.0028 to 0.2372    0.1305   +0.20    24      12    64  not shown to differ
    mentions-answer    100  0.5400  0.6800     +0.1400   0.0307 to 0.2493    0.0602   +0.25    23       9    68  not shown to differ
    marked             100  1.0000  1.0000      0.0000                  -    1.0000       -     0       0   100  the same
    levenshtein        100  0.0087  0.0085     -0.0002  -0.0011 to 0.0007    0.7268   -0.04    44      56     0  not shown to differ

    passed           both  only A  only B  neither  McNemar p
    numeric-answer     31      12      24       33     0.0652
    mentions-answer    45       9      23       23     0.0201
    marked            100       0       0        0     1.0000

    changed most          A       B  difference  case
    numeric-answer   0.0000  1.0000     +1.0000  gsm8k-0007
                     0.0000  1.0000     +1.0000  gsm8k-0052
                     0.0000  1.0000     +1.0000  gsm8k-0061
    mentions-answer  0.0000  1.0000     +1.0000  gsm8k-0007
                     0.0000  1.0000     +1.0000  gsm8k-0061
                     1.0000  0.0000     -1.0000  gsm8k-0069
    levenshtein      0.0291  0.0079     -0.0212  gsm8k-0141
                     0.0067  0.0196     +0.0129  gsm8k-0108
                     0.0085  0.0201     +0.0116  gsm8k-0120
    [stderr]
    numeric-answer: no difference that these 100 cases can show; 80 times of 100, they show one of 0.2032 or more, and a difference of 0.1200 takes 270 cases
    mentions-answer: no difference that these 100 cases can show; 80 times of 100, they show one of 0.1893 or more, and a difference of 0.1400 takes 176 cases
    marked: the same on all 100 cases
    levenshtein: no difference that these 100 cases can show; 80 times of 100, they show one of 0.0015 or more, and a difference of 0.0002 takes 8,200 cases
    A small, B large: 100 cases in both
    p values are of permutation tests, corrected for 3 tests (Holm); where ways are too many to count, 9,999 are drawn
    mentions-answer: the interval leaves out 0 where p shows no difference, because it is that of one scorer alone, and p is corrected for 3 tests
    numeric-answer: the interval leaves out 0 where p shows no difference, because an interval is an approximation, and the test is not: p decides
    [exit code 0]
    ");
}

/// By hand and by SciPy: of 100 questions, 24 are won and 12 lost; `binomtest(12, 36).pvalue` is 0.0652.
#[test]
fn figures_are_those_of_the_same_counts_elsewhere() {
    let folder = two_models();
    let json = folder.sh("scorebox compare small large --format json").exits_with(0).json();
    let scorer = &json["scorers"][0];
    assert_eq!(scorer["scorerId"], "numeric-answer");
    assert_eq!([&scorer["wins"], &scorer["losses"], &scorer["ties"]], [24, 12, 64]);
    let close = |found: &serde_json::Value, expected: f64| {
        assert!((found.as_f64().unwrap() - expected).abs() < 1e-9, "{found} is not {expected}");
    };
    close(&scorer["difference"], 0.12);
    close(&scorer["test"]["p"], 0.065_245_335_223_153_25);
    close(&scorer["mcnemar"], 0.065_245_335_223_153_25);
    close(&scorer["signTest"], 0.065_245_335_223_153_25);
    // Three scorers changed and are tested: the smallest p value is multiplied by three, the second by two.
    close(&scorer["pCorrected"], 0.065_245_335_223_153_25 * 2.0);
    // The differences are 1 in 24 cases, -1 in 12 cases, and otherwise 0.
    let stddev = ((36.0 - 100.0 * 0.12 * 0.12) / 99.0_f64).sqrt();
    close(&scorer["effect"], 0.12 / stddev);
    assert_eq!((&json["cases"], &json["tests"]), (&100.into(), &3.into()));
}

#[test]
fn a_better_run_is_better_and_the_other_way_round_worse() {
    let folder = Folder::new();
    run_of_right(&folder, "before", 60, 30);
    run_of_right(&folder, "after", 60, 45);
    let better = folder.sh("scorebox compare before after --fail-if-worse").exits_with(0);
    assert!(better.stderr.starts_with("right: B is better, on 60 cases\n"), "{}", better.stderr);
    let worse = folder.sh("scorebox compare after before --fail-if-worse").exits_with(3);
    assert!(worse.stderr.starts_with("right: B is worse, on 60 cases\n"), "{}", worse.stderr);
    assert!(worse.stderr.ends_with("error: B is worse: `right`\n"), "{}", worse.stderr);
    // The newest run is B.
    folder.sh("scorebox compare before").exits_with(0);
    folder.sh("scorebox compare after before").exits_with(0);
}

/// Fifteen more of sixty, so that the variance of the differences is 0.1875. By SciPy: with a difference of 0.1, where
/// 0.14875 of the cases change one way and 0.04875 the other, the exact sign test detects it 80 times in 100 with 166
/// cases.
#[test]
fn a_number_of_cases_is_named_for_the_difference_that_is_asked_for() {
    let folder = Folder::new();
    run_of_right(&folder, "before", 60, 30);
    run_of_right(&folder, "after", 60, 45);
    let line = "scorebox compare before after --difference 0.1 --format json";
    let json = folder.sh(line).exits_with(0).json();
    assert_eq!(json["scorers"][0]["casesNeeded"], 166);
    assert_snapshot!(folder.sh("scorebox compare before after --difference 0 | cat").stderr, @"
    error: invalid value '0' for '--difference <X>': a difference is a number above 0

    For more information, try '--help'.
    ");
}

#[test]
fn a_difference_that_is_on_no_scale_is_refused_and_never_said_to_be_shown() {
    let folder = Folder::new();
    folder.write(
        "score.js",
        "export default ({ output }) => output; export const info = { severity: 'soft' };",
    );
    let cases = |scores: &[f64]| -> String {
        let lines = scores.iter().enumerate();
        lines.map(|(n, score)| format!("{{\"id\":\"c{n}\",\"output\":{score}}}\n")).collect()
    };
    folder.write("a.jsonl", cases(&[0.0, 1.0, 0.0, 1.0, 0.1, 0.9]));
    folder.write("b.jsonl", cases(&[1.0, 0.0, 0.9, 0.0, 1.0, 0.2]));
    for run in ["a", "b"] {
        folder
            .sh(&format!("scorebox run {run}.jsonl -s ./score.js -q --run-id {run}"))
            .exits_with(0);
    }
    let compared = folder.sh("scorebox compare a b").exits_with(0);
    let shown = "\nscore: no difference that these 6 cases can show; 80 times of 100, they show none that is on the scale, \
        and a difference of ";
    assert!(format!("\n{}", compared.stderr).contains(shown), "{}", compared.stderr);
    let json = folder.sh("scorebox compare a b --format json").json();
    assert_eq!(json["scorers"][0]["smallestDifference"], serde_json::Value::Null);
    assert_snapshot!(folder.sh("scorebox compare a b --difference 2").exits_with(2), @"
    [stderr]
    error: a difference of 2 is off the scale: the scores of `score` are from 0 to 1
    [exit code 2]
    ");
    folder.sh("scorebox compare a b --difference 1").exits_with(0);
}

/// Five wins of five: the interval of the mean is above 0, and 2 of 32 ways to swap the signs are as extreme.
#[test]
fn an_interval_that_leaves_out_0_where_p_shows_nothing_is_explained() {
    let folder = Folder::new();
    folder.write(
        "score.js",
        "export default ({ output }) => output; export const info = { severity: 'soft' };",
    );
    for (run, add) in [("a", 0.0), ("b", 0.01)] {
        let line =
            |n: usize| format!("{{\"id\":\"c{n}\",\"output\":{}}}\n", 0.5 + add * (n + 3) as f64);
        folder.write(&format!("{run}.jsonl"), (0..5).map(line).collect::<String>());
        folder
            .sh(&format!("scorebox run {run}.jsonl -s ./score.js -q --run-id {run}"))
            .exits_with(0);
    }
    let compared = folder.sh("scorebox compare a b").exits_with(0);
    let explained = "\nscore: the interval leaves out 0 where p shows no difference, because an interval is an \
        approximation, and the test is not: p decides\n";
    assert!(compared.stderr.contains(explained), "{}", compared.stderr);
    folder.sh("scorebox report a b -o report.html").exits_with(0);
    let page = std::fs::read_to_string(folder.path("report.html")).unwrap();
    assert!(page.contains("where an interval leaves out 0 and p shows no difference, p decides."));
}

#[test]
fn few_cases_show_no_difference_and_say_which_they_could_show() {
    let folder = Folder::new();
    run_of_right(&folder, "before", 10, 5);
    run_of_right(&folder, "after", 10, 7);
    assert_snapshot!(folder.sh("scorebox compare before after"), @"
    scorer  cases       A       B  difference     95 % interval       p  effect  wins  losses  ties  B is
    right      10  0.5000  0.7000     +0.2000  0.0000 to 0.5000  0.5000   +0.47     2       0     8  not shown to differ

    passed  both  only A  only B  neither  McNemar p
    right      5       0       2        3     0.5000

    changed most       A       B  difference  case
    right         0.0000  1.0000     +1.0000  c005
                  0.0000  1.0000     +1.0000  c006
    [stderr]
    right: no difference that these 10 cases can show; 80 times of 100, they show one of 0.6732 or more, and a difference of 0.2000 takes 39 cases
    A before, B after: 10 cases in both
    p is that of a permutation test
    [exit code 0]
    ");
}

#[test]
fn runs_of_two_databases_are_compared_like_those_of_one() {
    let folder = two_models();
    folder.sh("scorebox run suite.toml large.jsonl -q --run-id large --db other.db").exits_with(0);
    let one = folder.sh("scorebox compare small large --format json").exits_with(0);
    let two =
        folder.sh("scorebox compare small large --with-db other.db --format json").exits_with(0);
    assert_eq!(one.stdout, two.stdout);
    // The same id in two databases is not the same run.
    let same = folder.sh("scorebox compare large large --with-db other.db").exits_with(0);
    assert!(same.stderr.contains("numeric-answer: the same on all 100 cases"), "{}", same.stderr);
}

/// Rows are stored in the order in which workers finish, and cases in that of the file: neither order matters.
#[test]
fn the_order_of_cases_and_workers_changes_no_bit() {
    let folder = two_models();
    let shuffled = "sort -t: -k5 small.jsonl > s.jsonl && tac large.jsonl > l.jsonl && \
                    scorebox run suite.toml s.jsonl -q --run-id small -j 4 --db other.db && \
                    scorebox run suite.toml l.jsonl -q --run-id large -j 1 --db other.db";
    folder.sh(shuffled).exits_with(0);
    let one = folder.sh("scorebox compare small large --format json").exits_with(0);
    let two = folder.sh("scorebox compare small large --format json --db other.db").exits_with(0);
    assert_eq!(one.stdout, two.stdout);
    for command in ["stats --ci --run small", "stats --ci --run large"] {
        let intervals = |database: &str| {
            let line = format!("scorebox {command} --format json --db {database}");
            let json = folder.sh(&line).exits_with(0).json();
            let scorers = json.as_array().unwrap().clone();
            scorers.iter().map(|it| it["interval"].to_string()).collect::<Vec<_>>()
        };
        assert_eq!(intervals("scorebox.db"), intervals("other.db"));
    }
}

#[test]
fn attempts_at_a_case_are_one_case_and_verdicts_are_compared() {
    let folder = Folder::new();
    folder.write(
        "suite.toml",
        "version = 1\n[scorers.right]\nuse = \"exact-match\"\nseverity = \"gate\"\n",
    );
    // Ten cases with four attempts each: half of the attempts are right in A, and all of them in B.
    let mut files = [String::new(), String::new()];
    for (case, attempt) in (0..10).flat_map(|case| (0..4).map(move |attempt| (case, attempt))) {
        for (file, output) in
            files.iter_mut().zip([if attempt < 2 { "right" } else { "wrong" }, "right"])
        {
            let line = format!(
                r#"{{"id":"c{case}","attempt":{attempt},"output":"{output}","groundTruth":"right"}}"#
            );
            writeln!(file, "{line}").unwrap();
        }
    }
    for (run, cases) in ["before", "after"].into_iter().zip(files) {
        folder.write(&format!("{run}.jsonl"), cases);
        folder
            .sh(&format!("scorebox run suite.toml {run}.jsonl -q --run-id {run} --allow-failures"))
            .exits_with(0);
    }
    let json = folder.sh("scorebox compare before after --format json").exits_with(0).json();
    for scores in [&json["verdict"], &json["scorers"][0]] {
        assert_eq!(
            (&scores["pairs"], &scores["meanA"], &scores["meanB"]),
            (&10.into(), &0.5.into(), &1.0.into())
        );
        assert_eq!((&scores["finding"], &scores["wins"]), (&"better".into(), &10.into()));
        // Ten coins land on the same side; McNemar's test is for cases that pass or fail, not for partial scores.
        let p = scores["test"]["p"].as_f64().unwrap();
        assert!((p - 2.0_f64.powi(-9)).abs() < 1e-12, "{p}");
        assert_eq!(scores["passes"], serde_json::Value::Null);
    }
    let best =
        folder.sh("scorebox compare before after --reducer max --format json").exits_with(0).json();
    assert_eq!(best["scorers"][0]["finding"], "same");
}

/// Six losses of ten: 2 of 64 ways to throw six coins are as one-sided, p = 0.03125.
#[test]
fn a_gate_finds_what_the_same_scorer_finds_if_it_is_soft() {
    let folder = Folder::new();
    let suite = |more: &str| format!("[scorers.right]\nuse = \"exact-match\"\n{more}");
    for (severity, more) in [
        ("soft", "severity = \"soft\"\n"),
        ("gate", "severity = \"gate\"\n"),
        // A soft scorer fails no case, unlike the gate.
        (
            "two",
            "severity = \"gate\"\n[scorers.long]\nuse = \"contains\"\nconfig = { value = \"w\" }\n",
        ),
    ] {
        folder.write("suite.toml", suite(more));
        for (run, are_right) in [("a", 10), ("b", 4)] {
            let cases = right(10, are_right);
            let line = |(id, output): &(String, &str)| {
                format!(r#"{{"id":"{id}","output":"{output}","groundTruth":"right"}}"#) + "\n"
            };
            folder.write("cases.jsonl", cases.iter().map(line).collect::<String>());
            let line = "scorebox run suite.toml cases.jsonl -q --allow-failures";
            folder.sh(&format!("{line} --run-id {severity}-{run}")).exits_with(0);
        }
    }
    let compared = |runs: &str| {
        let line = format!("scorebox compare {runs}-a {runs}-b --format json --fail-if-worse");
        folder.sh(&line)
    };
    let soft = compared("soft").exits_with(3).json();
    let gate = compared("gate").exits_with(3).json();
    assert_eq!((&soft["tests"], &gate["tests"]), (&1.into(), &1.into()));
    let is_p = |scores: &serde_json::Value, expected: f64| {
        (scores["pCorrected"].as_f64().unwrap() - expected).abs() < 1e-12
    };
    for scores in [&soft["scorers"][0], &gate["scorers"][0], &gate["verdict"]] {
        assert!(is_p(scores, 0.03125) && scores["finding"] == "worse", "{scores}");
    }
    // The soft scorer has its own test; the verdicts share that of the gate.
    let two = compared("two").json();
    assert_eq!(two["tests"], 2);
    assert!(is_p(&two["verdict"], 0.0625), "{}", two["verdict"]);
}

#[test]
fn verdicts_that_are_not_the_scores_of_one_scorer_have_a_test_of_their_own() {
    let folder = Folder::new();
    let cases = |outputs: [&str; 10]| -> String {
        let lines = outputs.iter().enumerate();
        lines
            .map(|(n, output)| {
                format!("{{\"id\":\"{n}\",\"output\":\"{output}\",\"groundTruth\":\"right\"}}\n")
            })
            .collect()
    };
    folder.write("a.jsonl", cases(["right"; 10]));
    folder.write("b.jsonl", cases(["rights"; 10]));
    for (suite, gates) in [
        // The score is between 0 and 1, but the verdict is not.
        ("near", "[scorers.near]\nuse = \"levenshtein\"\nseverity = \"gate\"\nthreshold = 0.9\n"),
        (
            "two",
            "[scorers.right]\nuse = \"exact-match\"\nseverity = \"gate\"\n\
             [scorers.many]\nuse = \"contains\"\nconfig = { value = \"rights\" }\n\
             severity = \"gate\"\nthreshold = 0.0\n",
        ),
    ] {
        folder.write("suite.toml", gates);
        for run in ["a", "b"] {
            let line = format!("scorebox run suite.toml {run}.jsonl -q --allow-failures");
            folder.sh(&format!("{line} --run-id {suite}-{run}")).exits_with(0);
        }
        let line = format!("scorebox compare {suite}-a {suite}-b --format json");
        let json = folder.sh(&line).exits_with(0).json();
        assert_eq!(json["tests"], json["scorers"].as_array().unwrap().len() + 1, "{suite}");
    }
}

#[test]
fn where_lower_is_better_a_lower_score_is_a_win() {
    let folder = Folder::new();
    folder.write(
        "length.js",
        "export const info = { direction: 'lower-is-better' };
         export default (input) => input.output.length / 100;",
    );
    for (run, length) in [("slow", 80), ("quick", 10)] {
        let mut lines = String::new();
        for n in 0..40 {
            let output = "x".repeat(length + n % 10);
            writeln!(lines, r#"{{"id":"{n}","output":"{output}"}}"#).unwrap();
        }
        folder.write(&format!("{run}.jsonl"), lines);
        let line = format!(
            "scorebox run {run}.jsonl -s length=length.js -q --run-id {run} --allow-failures"
        );
        folder.sh(&line).exits_with(0);
    }
    let json = folder.sh("scorebox compare slow quick --format json").exits_with(0).json();
    let scorer = &json["scorers"][0];
    assert_eq!(
        (&scorer["direction"], &scorer["finding"]),
        (&"lower-is-better".into(), &"better".into())
    );
    assert!(scorer["difference"].as_f64().unwrap() < 0.0);
    assert_eq!((&scorer["wins"], &scorer["losses"]), (&40.into(), &0.into()));
}

#[test]
fn a_run_that_is_not_finished_is_compared_as_far_as_it_is_stored() {
    let folder = Folder::new();
    run_of_right(&folder, "a", 20, 10);
    run_of_right(&folder, "b", 20, 12);
    folder
        .database("scorebox.db")
        .execute("UPDATE runs SET state = 'running', finished_at_ms = NULL WHERE id = 'b'", [])
        .unwrap();
    let output = folder.sh("scorebox compare a b").exits_with(0);
    let warning = "warning: B is still running: only its stored scores are compared";
    assert!(output.stderr.contains(warning), "{}", output.stderr);
}

#[test]
fn names_of_cases_and_scorers_reach_no_terminal_as_they_are() {
    let folder = Folder::new();
    run_of(&folder, "a", &[("\\u202ered", "right"), ("\\u202egreen", "right")]);
    run_of(&folder, "b", &[("\\u202ered", "wrong")]);
    for command in ["compare a b", "compare a b --format json"] {
        let output = folder.sh(&format!("scorebox {command}")).exits_with(0);
        assert!(!output.stdout.contains('\u{202e}') && !output.stderr.contains('\u{202e}'));
    }
}

#[test]
fn means_have_their_intervals_in_stats_and_in_the_table_of_a_run() {
    let folder = Folder::new();
    let run = folder.sh("scorebox run suite.toml answers.jsonl -q --run-id r --ci").exits_with(0);
    assert!(run.stdout.contains("95 % interval"), "{}", run.stdout);
    let line = "intervals are right about 95 times of 100: Wilson's for rates; Student's t\n";
    assert!(run.stderr.starts_with(line), "{}", run.stderr);
    assert_snapshot!(folder.sh("scorebox stats --ci"), @"
    scorer           count    mean     95 % interval     min     max     p50  stddev  n/a  skipped  errors
    numeric-answer     400  0.4200  0.3726 to 0.4689  0.0000  1.0000  0.0000  0.4936    0        0       0
    mentions-answer    400  0.5350  0.4860 to 0.5833  0.0000  1.0000  1.0000  0.4988    0        0       0
    marked             400  1.0000  0.9905 to 1.0000  1.0000  1.0000  1.0000  0.0000    0        0       0
    levenshtein        400  0.0085  0.0080 to 0.0090  0.0000  0.0291  0.0075  0.0052    0        0       0
    [stderr]
    intervals are right about 95 times of 100: Wilson's for rates; Student's t
    run r; to pool all runs: --all-runs
    [exit code 0]
    ");
    let json = folder.sh("scorebox stats --ci --scorer numeric-answer --format json").json();
    // statsmodels: proportion_confint(168, 400, method="wilson")
    let interval = &json[0]["interval"];
    assert!((interval["low"].as_f64().unwrap() - 0.372_618).abs() < 1e-6, "{interval}");
    assert!((interval["high"].as_f64().unwrap() - 0.468_904).abs() < 1e-6, "{interval}");
    assert_eq!((&interval["method"], &interval["cases"]), (&"wilson".into(), &400.into()));
    let plain = folder.sh("scorebox stats --format json").json();
    assert_eq!(plain[0].get("interval"), None);
    folder.sh("scorebox stats --ci --all-runs").exits_with(2);
}
