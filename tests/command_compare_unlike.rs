//! `scorebox compare` with runs that were not made in the same way: what it points out, leaves out and refuses.

use insta::assert_snapshot;

use crate::{
    command_compare::{run_of, run_of_right},
    fixture::Folder,
    judge_fixture::scores_of_a_program,
};

#[test]
fn cases_that_only_one_run_has_are_counted_and_named() {
    let folder = Folder::new();
    run_of(&folder, "a", &[("x", "right"), ("y", "wrong"), ("only-a", "right")]);
    run_of(&folder, "b", &[("only-b", "wrong"), ("y", "right"), ("x", "right")]);
    let output = folder.sh("scorebox compare a b").exits_with(0);
    assert!(output.stderr.contains("\nonly A has 1 case: only-a\nonly B has 1 case: only-b\n"));
    let json = folder.sh("scorebox compare a b --format jsonl").exits_with(0).json();
    assert_eq!(
        (&json["cases"], &json["a"]["cases"], &json["b"]["onlyHere"]),
        (&2.into(), &3.into(), &1.into())
    );
    let changes = json["scorers"][0]["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!((&changes[0]["caseId"], &changes[0]["difference"]), (&"y".into(), &1.0.into()));
}

#[test]
fn a_scorer_that_fails_in_b_is_not_an_improvement() {
    let folder = Folder::new();
    folder.write(
        "half.js",
        "export default ({ output }) => { if (output < 0) throw new Error('no'); return output; };
        export const info = { reads: [], severity: 'soft' };",
    );
    let cases = |outputs: &[f64]| -> String {
        let lines = outputs.iter().enumerate();
        lines
            .map(|(place, output)| format!("{{\"id\": \"c{place}\", \"output\": {output}}}\n"))
            .collect()
    };
    folder.write("a.jsonl", cases(&[0.5; 20]));
    folder.write("b.jsonl", cases(&[[0.9; 10], [-1.0; 10]].concat()));
    for run in ["a", "b"] {
        folder.sh(&format!("scorebox run {run}.jsonl -s ./half.js -q --run-id {run}"));
    }
    let compared = folder.sh("scorebox compare a b --scorer half --fail-if-worse").exits_with(3);
    for says in [
        "half: B is better, on 10 cases\n",
        "\nhalf: there is a score of 10 cases only in A\n",
        "\nerror: B may be worse: `half` failed in B for 10 cases that have a score in A\n",
    ] {
        assert!(compared.stderr.contains(says), "{}", compared.stderr);
    }
}

#[test]
fn a_run_with_errors_is_not_worse_than_itself() {
    let folder = Folder::new();
    folder.write(
        "half.js",
        "export default ({ output }) => { if (output < 0) throw new Error('no'); return output; };
        export const info = { reads: [], severity: 'soft' };",
    );
    let attempts = |outputs: [f64; 4]| -> String {
        let attempts = (0..20).flat_map(|case| (0..4).map(move |attempt| (case, attempt)));
        let line = |(case, attempt): (usize, usize)| {
            format!(
                "{{\"id\": \"c{case}\", \"attempt\": {attempt}, \"output\": {}}}\n",
                outputs[attempt]
            )
        };
        attempts.map(line).collect()
    };
    folder.write("cases.jsonl", attempts([0.5, 0.5, 0.5, -1.0]));
    folder.write("more-errors.jsonl", attempts([0.5, 0.5, -1.0, -1.0]));
    for (run, cases) in [("a", "cases"), ("b", "cases"), ("c", "more-errors")] {
        folder.sh(&format!("scorebox run {cases}.jsonl -s ./half.js -q --run-id {run}"));
    }
    folder.sh("scorebox compare a b --scorer half --fail-if-worse").exits_with(0);
    folder.sh("scorebox compare c a --scorer half --fail-if-worse").exits_with(0);
    let more = folder.sh("scorebox compare a c --scorer half --fail-if-worse").exits_with(3);
    let error = "error: B may be worse: `half` failed in B for 20 cases that have a score in A\n";
    assert!(more.stderr.ends_with(error), "{}", more.stderr);
}

/// One of three attempts at each case is right in both runs, and B leaves the wrong ones out.
#[test]
fn attempts_without_a_score_in_b_are_not_an_improvement() {
    let folder = Folder::new();
    folder.write(
        "right.js",
        "export default ({ output }) => output < 0 ? null : output;
        export const info = { reads: [], severity: 'gate' };",
    );
    let cases = |attempts: &dyn Fn(usize) -> Vec<&'static str>| -> String {
        let lines = (0..20).flat_map(|case| {
            let attempts = attempts(case).into_iter().enumerate();
            attempts.map(move |(attempt, it)| {
                format!("{{\"id\":\"c{case}\",\"attempt\":{attempt},{it}}}\n")
            })
        });
        lines.collect()
    };
    let (right, wrong) = ("\"output\":1", "\"output\":0");
    let (not_applicable, skipped) = ("\"output\":-1", "\"output\":0,\"skip\":\"flaky\"");
    let failed = "\"error\":\"no answer\"";
    folder.write("all.jsonl", cases(&|_| vec![right, wrong, wrong]));
    folder.write("skipped.jsonl", cases(&|_| vec![right, skipped, wrong]));
    folder.write("not-applicable.jsonl", cases(&|_| vec![right, not_applicable, wrong]));
    folder.write("failed.jsonl", cases(&|_| vec![right, failed, wrong]));
    let uneven = |case| if case < 5 { vec![right] } else { vec![right, wrong, wrong] };
    folder.write("uneven.jsonl", cases(&uneven));
    folder.write("fewer.jsonl", cases(&|_| vec![right, wrong]));
    for run in ["all", "skipped", "not-applicable", "failed", "uneven", "fewer"] {
        folder.sh(&format!("scorebox run {run}.jsonl -s ./right.js -q --run-id {run}"));
    }
    let lacks = "B has a verdict for a smaller part of the attempts than A, at 20 cases; \
                 B has a score of `right` for a smaller part of the attempts than A, at 20 cases";
    for (b, says) in [
        ("skipped", lacks),
        ("not-applicable", lacks),
        ("failed", "`right` failed in B for 20 cases that have a score in A"),
        ("uneven", "B has fewer attempts than A at 5 cases, and not equally many at each"),
    ] {
        let compared = folder.sh(&format!("scorebox compare all {b}")).exits_with(0).stderr;
        assert!(compared.contains(&format!("\nwarning: {}", &says[..20])), "{compared}");
        let compared = folder.sh(&format!("scorebox compare all {b} --fail-if-worse"));
        let stderr = compared.exits_with(3).stderr;
        assert!(stderr.ends_with(&format!("\nerror: B may be worse: {says}\n")), "{stderr}");
    }
    let json = folder.sh("scorebox compare all skipped --format json").exits_with(0).json();
    assert_eq!([&json["verdict"]["absentB"], &json["scorers"][0]["absentB"]], [20, 20]);
    // Fewer attempts at each case are another measurement, so only the numbers are reported.
    let fewer = folder.sh("scorebox compare all fewer --fail-if-worse").exits_with(0).stderr;
    assert!(fewer.contains("20 cases in both, with 60 attempts in A and 40 in B\n"), "{fewer}");
    folder.sh("scorebox report all skipped -o report.html").exits_with(0);
    let page = std::fs::read_to_string(folder.path("report.html")).unwrap();
    assert!(
        page.contains("B has a verdict for a smaller part of the attempts than A, at 20 cases.")
    );
}

/// The highest of eight attempts is above a single one, whatever they measure.
#[test]
fn a_reducer_that_depends_on_the_number_of_attempts_needs_equally_many() {
    let folder = Folder::new();
    let cases = |attempts: usize| -> String {
        let all = (0..6).flat_map(|case| (0..attempts).map(move |attempt| (case, attempt)));
        let line = |(case, attempt): (usize, usize)| {
            let output = if (case + attempt) % 2 == 0 { "right" } else { "wrong" };
            format!(
                r#"{{"id":"c{case}","attempt":{attempt},"output":"{output}","groundTruth":"right"}}"#
            ) + "\n"
        };
        all.map(line).collect()
    };
    for (run, attempts) in [("one", 1), ("eight", 8), ("again", 8)] {
        folder.write("cases.jsonl", cases(attempts));
        let line = format!("scorebox run cases.jsonl -s right=exact-match -q --run-id {run}");
        folder.sh(&line).exits_with(0);
    }
    for reducer in ["max", "min", "median", "mode"] {
        let line = |runs| format!("scorebox compare {runs} --fail-if-worse --reducer {reducer}");
        folder.sh(&line("one eight")).exits_with(2);
        folder.sh(&line("eight one")).exits_with(2);
        folder.sh(&line("eight again")).exits_with(0);
    }
    assert_snapshot!(folder.sh("scorebox compare one eight --reducer max"), @"
    [stderr]
    error: case `c0` has 1 score of `right` in A and 8 in B, and the max of more scores is another one on average
    hint: compare means, which do not depend on how many attempts there are: --reducer mean
    [exit code 2]
    ");
    folder.sh("scorebox compare one eight").exits_with(0);
}

/// The gate applies to ten of twenty cases in A, and to all cases in B, where it fails the other ten.
#[test]
fn cases_that_fail_in_b_and_that_a_did_not_decide_may_be_worse() {
    let folder = Folder::new();
    folder.write(
        "gate.js",
        "export default ({ output }) => {
            if (output === 'no answer') throw new Error('no');
            return output === 'nothing' ? null : output;
        };
        export const info = { severity: 'gate' };",
    );
    let cases = |other: &str| -> String {
        let output = |n: usize| if n < 10 { "1" } else { other };
        (0..20).map(|n| format!("{{\"id\":\"c{n}\",\"output\":{}}}\n", output(n))).collect()
    };
    for (run, other) in [("n-a", "\"nothing\""), ("errored", "\"no answer\""), ("failed", "0")] {
        folder.write("cases.jsonl", cases(other));
        let line = format!("scorebox run cases.jsonl -s ./gate.js -q --run-id {run}");
        folder.sh(&line);
    }
    for (scorer, says) in [
        ("", "10 cases fail in B to which no scorer that decides applied in A"),
        (" --scorer gate", "10 cases fail in B by `gate`, which did not apply in A"),
    ] {
        let line = format!("scorebox compare n-a failed{scorer}");
        let warned = folder.sh(&line).exits_with(0).stderr;
        assert!(warned.contains(&format!("\nwarning: {says}\n")), "{warned}");
        let refused = folder.sh(&format!("{line} --fail-if-worse")).exits_with(3).stderr;
        assert!(refused.ends_with(&format!("\nerror: B may be worse: {says}\n")), "{refused}");
    }
    let json = folder.sh("scorebox compare n-a failed --format json").json();
    assert_eq!(json["verdict"]["failedSpared"], 10);
    // A case that errored in A did not pass there either.
    let errored = folder.sh("scorebox compare errored failed --fail-if-worse").exits_with(0).stderr;
    let says = "\nwarning: 10 cases fail in B and errored in A, which counts as no change\n";
    assert!(errored.contains(says), "{errored}");
    // In the other direction, no case fails that passed before.
    folder.sh("cp scorebox.db copy.db").exits_with(0);
    let same =
        folder.sh("scorebox compare n-a n-a --with-db copy.db --fail-if-worse").exits_with(0);
    assert!(!same.stderr.contains("fail in B"), "{same}");
}

/// Without `--fail-if-worse`, parts of the cases or of the scorers can be compared.
#[test]
fn where_b_lacks_what_a_has_nothing_shows_that_it_is_not_worse() {
    let folder = Folder::new();
    run_of_right(&folder, "all", 20, 20);
    run_of_right(&folder, "few", 2, 2);
    run_of_right(&folder, "running", 20, 20);
    folder
        .database("scorebox.db")
        .execute(
            "UPDATE runs SET state = 'running', finished_at_ms = NULL WHERE id = 'running'",
            [],
        )
        .unwrap();
    let skipped = r#"sed 's/^{/{"skip":"flaky",/' all.jsonl > skipped.jsonl"#;
    folder.sh(skipped).exits_with(0);
    folder.sh("scorebox run skipped.jsonl -s right=exact-match -q --run-id skipped").exits_with(0);
    folder.write(
        "gate.toml",
        "[scorers.right]\nuse = \"exact-match\"\nseverity = \"soft\"\n\
         [scorers.polite]\nuse = \"exact-match\"\nseverity = \"gate\"\n",
    );
    folder.sh("scorebox run gate.toml all.jsonl -q --run-id gated").exits_with(0);
    for (a, b, says) in [
        ("all", "few", "only A has 18 cases"),
        ("all", "running", "B is still running"),
        (
            "all",
            "skipped",
            "B has no score of `right` for 20 cases that have one in A; no case has a score in both runs",
        ),
        (
            "gated",
            "all",
            "B does not have the scorer `polite`, which has a threshold or a gate in A",
        ),
    ] {
        folder.sh(&format!("scorebox compare {a} {b}")).exits_with(0);
        let compared = folder.sh(&format!("scorebox compare {a} {b} --fail-if-worse"));
        let stderr = compared.exits_with(3).stderr;
        assert!(stderr.ends_with(&format!("\nerror: B may be worse: {says}\n")), "{stderr}");
    }
    // Cases that only B has raise no doubt.
    folder.sh("scorebox compare few all --fail-if-worse").exits_with(0);
    folder.sh("scorebox compare all gated --fail-if-worse").exits_with(0);
}

#[test]
fn scores_that_count_otherwise_are_pointed_out() {
    let folder = Folder::new();
    for (run, threshold) in [("strict", 1.0), ("lenient", 0.5)] {
        folder.write(
            "suite.toml",
            format!(
                "[scorers.near]\nuse = \"levenshtein\"\nseverity = \"gate\"\nthreshold = {threshold}\n"
            ),
        );
        let lines: String = (0..20)
            .map(|n| {
                format!("{{\"id\":\"{n}\",\"output\":\"rights\",\"groundTruth\":\"right\"}}\n")
            })
            .collect();
        folder.write("cases.jsonl", lines);
        let line =
            format!("scorebox run suite.toml cases.jsonl -q --run-id {run} --allow-failures");
        folder.sh(&line).exits_with(0);
    }
    let compared = folder.sh("scorebox compare strict lenient").exits_with(0);
    let warning = "warning: `near` has another threshold, severity or weight in B: what passes may differ although scores do not\n";
    assert!(compared.stderr.contains(warning), "{}", compared.stderr);
    let json = folder.sh("scorebox compare strict lenient --format json").exits_with(0).json();
    let scorer = &json["scorers"][0];
    assert_eq!((&scorer["sameScorer"], &scorer["samePolicy"]), (&true.into(), &false.into()));
    assert_eq!(
        (&json["verdict"]["finding"], &scorer["finding"]),
        (&"better".into(), &"same".into())
    );
}

#[test]
fn cases_that_are_others_under_the_same_id_are_pointed_out() {
    let folder = Folder::new();
    let case =
        |place: usize| format!("{{\"input\": \"question {place}\", \"output\": \"right\"}}\n");
    folder.write("a.jsonl", (0..6).map(case).collect::<String>());
    folder.write("b.jsonl", (1..6).map(case).collect::<String>());
    for run in ["a", "b"] {
        folder.sh(&format!("scorebox run {run}.jsonl -s is-refusal -q --run-id {run}"));
    }
    let compared = folder.sh("scorebox compare a b").exits_with(0);
    let warning = "warning: 5 of 5 cases have another input or ground truth in B, or the same written otherwise: they are paired by \
        id, and the id of a case without one is its place in the file\n";
    assert!(compared.stderr.contains(warning), "{}", compared.stderr);
}

#[test]
fn runs_that_share_nothing_are_refused() {
    let folder = Folder::new();
    run_of(&folder, "a", &[("x", "right"), ("y", "right")]);
    run_of(&folder, "b", &[("1", "right")]);
    assert_snapshot!(folder.sh("scorebox compare a b"), @"
    [stderr]
    error: the runs share no id of a case: a has `x`, `y`; b has `1`
    hint: `scorebox runs` lists them
    [exit code 2]
    ");
    folder.sh("scorebox run a.jsonl -s is-refusal -q --run-id c").exits_with(0);
    assert_snapshot!(folder.sh("scorebox compare a c"), @"
    [stderr]
    error: the runs share no scorer: a has `right`; c has `is-refusal`
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox compare a a"), @"
    [stderr]
    error: run `a` is compared with itself
    hint: `scorebox runs` lists them
    [exit code 2]
    ");
    let linked = "ln -s scorebox.db link.db && scorebox compare a a --with-db link.db";
    let linked = folder.sh(linked).exits_with(2).stderr;
    assert!(linked.starts_with("error: run `a` is compared with itself\n"), "{linked}");
    assert_snapshot!(folder.sh("scorebox compare c"), @"
    [stderr]
    error: run `c` is compared with itself: it is the newest run, which B is unless another is named
    hint: name the run to compare it with first: `scorebox compare A c`; `scorebox runs` lists them
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox compare a b --scorer rihgt"), @"
    [stderr]
    error: the run `a` has no scorer `rihgt`
    hint: did you mean `right`?
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox compare a no-run"), @"
    [stderr]
    error: there is no run `no-run` in [folder]/scorebox.db
    hint: runs in it: c, b, a
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox compare a b --with-db nothing.db"), @"
    [stderr]
    error: there is no database at [folder]/nothing.db
    hint: check the path; the first run creates the database
    [exit code 2]
    ");
}

#[test]
fn a_scorer_that_is_another_one_is_a_warning() {
    let folder = Folder::new();
    run_of_right(&folder, "a", 20, 10);
    folder.sh("scorebox run a.jsonl -s right=contains -q --run-id b").exits_with(0);
    let output = folder.sh("scorebox compare a b").exits_with(0);
    let warning = "warning: `right` is not the same component or configuration in both runs";
    assert!(output.stderr.contains(warning), "{}", output.stderr);
}

#[test]
fn a_scorer_that_asks_another_judge_or_model_is_a_warning() {
    let folder = Folder::new();
    let case = |n: usize| format!("{{\"id\": \"c{n}\", \"input\": \"q\", \"output\": \"o\"}}\n");
    folder.write("cases.jsonl", (0..8).map(case).collect::<String>());
    for (run, score, model) in [("a", 1, "m"), ("b", 0, "m"), ("c", 1, "other"), ("d", 1, "m")] {
        folder.write("suite.json", scores_of_a_program(score, model).to_string());
        let line = format!(
            "scorebox run --suite suite.json cases.jsonl -q --run-id {run} --allow-failures"
        );
        folder.sh(&line).exits_with(0);
    }
    let warning =
        "warning: `r` asks another judge or model in B: a difference may be the judge's\n";
    for (b, is_same) in [("b", false), ("c", false), ("d", true)] {
        let compared = folder.sh(&format!("scorebox compare a {b} --format json")).exits_with(0);
        let scorer = &compared.json()["scorers"][0];
        assert_eq!((&scorer["sameJudge"], &scorer["sameScorer"]), (&is_same.into(), &true.into()));
        assert_eq!(compared.stderr.contains(warning), !is_same, "{}", compared.stderr);
    }
    folder.sh("scorebox report a b -o report.html").exits_with(0);
    let page = std::fs::read_to_string(folder.path("report.html")).unwrap();
    assert!(page.contains("Asking another judge or model in B: r."));
}

/// With five cases, the smallest p value is 2^-4.
#[test]
fn losses_in_so_few_cases_that_none_is_ever_shown_may_be_worse() {
    let folder = Folder::new();
    let ids: Vec<String> = (0..6).map(|place| format!("c{place}")).collect();
    let all = |word: &'static str, count: usize| -> Vec<(&str, &str)> {
        ids.iter().take(count).map(|id| (id.as_str(), word)).collect()
    };
    run_of(&folder, "five", &all("right", 5));
    run_of(&folder, "same", &all("right", 5));
    run_of(&folder, "wrong", &all("wrong", 5));
    run_of(&folder, "six", &all("right", 6));
    run_of(&folder, "six-wrong", &all("wrong", 6));
    let few = folder.sh("scorebox compare five wrong --fail-if-worse").exits_with(3).stderr;
    assert!(
        few.ends_with(
            "\nerror: B may be worse: `right` is worse in 5 of 5 cases, which are too few to show any loss: it takes at least 6\n"
        ),
        "{few}"
    );
    assert!(
        few.contains("right: no difference that these 5 cases can show: it takes at least 6\n"),
        "{few}"
    );
    let same = folder.sh("scorebox compare five same --fail-if-worse").exits_with(0).stderr;
    assert!(
        same.contains("right: the same on all 5 cases; fewer than 6 cannot show a loss\n"),
        "{same}"
    );
    folder.sh("scorebox compare wrong five --fail-if-worse").exits_with(0);
    let shown = folder.sh("scorebox compare six six-wrong --fail-if-worse").exits_with(3).stderr;
    assert!(shown.ends_with("\nerror: B is worse: `right`\n"), "{shown}");
    let json = folder.sh("scorebox compare five wrong --format json").json();
    assert_eq!(json["scorers"][0]["fewestCases"], 6);
}

/// Every case of a run without gates passes, which is not better than a run with gates.
#[test]
fn verdicts_of_a_run_whose_scorers_fail_no_case_are_not_compared() {
    let folder = Folder::new();
    let suite = |severity: &str| {
        format!("[scorers.right]\nuse = \"exact-match\"\nseverity = \"{severity}\"\n")
    };
    let cases: String = (0..8)
        .map(|place| {
            format!("{{\"id\": {place}, \"output\": \"{}\", \"groundTruth\": \"0\"}}\n", place % 2)
        })
        .collect();
    folder.write("cases.jsonl", &cases);
    for severity in ["gate", "soft"] {
        folder.write("suite.toml", suite(severity));
        folder
            .sh(&format!(
                "scorebox run suite.toml cases.jsonl -q --run-id {severity} --allow-failures"
            ))
            .exits_with(0);
    }
    let compared = folder.sh("scorebox compare gate soft --fail-if-worse").exits_with(3);
    assert!(!compared.stdout.contains("verdict"), "{compared}");
    for says in [
        "verdict: B has no scorer that can fail a case\n",
        "\nerror: B may be worse: A has verdicts, and B has no scorer that can fail a case\n",
    ] {
        assert!(compared.stderr.contains(says), "{compared}");
    }
    let turned = folder.sh("scorebox compare soft gate --fail-if-worse").exits_with(0);
    assert!(turned.stderr.contains("verdict: A has no scorer that can fail a case\n"), "{turned}");
    let json = folder.sh("scorebox compare gate soft --format json").json();
    let has = |run: &str| json[run]["hasVerdicts"].as_bool();
    assert_eq!((has("a"), has("b"), json["verdict"].is_null()), (Some(true), Some(false), true));
}
