//! Which labels `scorebox agree` accepts, which of them are positive, and which scale they use.

use std::fmt::Write as _;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{
    command_agree::{close, scored},
    fixture::Folder,
};

/// A run of 40 cases of a scorer `s`, written in JavaScript; the keys of each case in addition to id and output depend
/// on its number.
fn run_of(script: &str, case: impl Fn(usize) -> String) -> Folder {
    let folder = Folder::new();
    let mut lines = String::new();
    for n in 0..40 {
        let output = "x".repeat(n);
        writeln!(lines, r#"{{"id":"{n}","output":"{output}",{}}}"#, case(n)).unwrap();
    }
    folder.write("cases.jsonl", lines);
    folder.write("s.js", script);
    folder.sh("scorebox run cases.jsonl -s ./s.js -q --run-id r").exits_with(0);
    folder
}

fn agree(folder: &Folder, options: &str) -> Value {
    folder.sh(&format!("scorebox agree s --format json {options}")).exits_with(0).json()
}

/// The longer an output, the higher and so the worse its score: all but the lowest scores belong to outputs that people
/// labelled as bad, with 1.
const LOWER: &str = "export default ({ output }) => output.length / 40;
    export const info = { severity: 'soft', direction: 'lower-is-better' };";

#[test]
fn which_labels_are_positive_can_be_said() {
    let folder = scored(&[
        (0.9, r#"{"label":"good","stars":5}"#),
        (0.8, r#"{"label":"fine","stars":4}"#),
        (0.1, r#"{"label":"bad","stars":1}"#),
        (0.7, r#"{"label":"bad","stars":2}"#),
    ]);
    let accuracy = |options: &str| {
        let line = format!("scorebox agree s --format json {options}");
        folder.sh(&line).exits_with(0).json()["binary"]["accuracy"]["rate"].as_f64().unwrap()
    };
    assert_eq!(accuracy("--with /label --positive good --positive fine"), 0.75);
    assert_eq!(accuracy("--with /stars --positive-from 4"), 0.75);
    assert_eq!(accuracy("--with /stars --positive-from 4 --threshold 0.75"), 1.0);
    assert_eq!(accuracy("--with /stars --positive 5"), 0.5);
    assert_eq!(accuracy("--with /stars --positive-to 3"), 0.25);
    let both = "scorebox agree s --with /stars --positive-to 3 --positive-from 4";
    assert!(folder.sh(both).exits_with(2).stderr.contains("cannot be used with"));
    assert_snapshot!(folder.sh("scorebox agree s --with /label"), @"
    [stderr]
    error: the labels at `/label` are words, and the scorer names no categories: `good`, `fine`, `bad`
    hint: name the labels of cases that should pass: `--positive LABEL`
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox agree s --with /label --positive god"), @"
    [stderr]
    error: no label at `/label` is one of the positive labels that you named; the labels are `good`, `fine`, `bad`
    hint: name the labels of cases that should pass: `--positive LABEL`
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox agree s --with /stars --positive-from 6"), @"
    [stderr]
    error: no label at `/stars` is one of the positive labels that you named; the labels are `5`, `4`, `1`, `2`
    hint: name the labels of cases that should pass: `--positive LABEL`, `--positive-from NUMBER` or `--positive-to NUMBER`
    [exit code 2]
    ");
    // Ratings from 1 to 5 are not yes or no, and use another scale than scores from 0 to 1.
    let ratings = folder.sh("scorebox agree s --with /stars --format json").exits_with(0).json();
    assert_eq!(
        (&ratings["binary"], &ratings["correlations"]["alpha"]),
        (&Value::Null, &Value::Null)
    );
    close(&ratings["correlations"]["spearman"], 1.0);
}

/// A cell of CSV is text.
#[test]
fn labels_that_read_as_numbers_are_numbers() {
    let folder = scored(&[
        (0.9, r#"{"label":"1","stars":"5","place":"1"}"#),
        (0.8, r#"{"label":"true","stars":" 4.0","place":"2"}"#),
        (0.1, r#"{"label":"0","stars":"n/a","place":"1"}"#),
        (0.2, r#"{"label":"False","stars":"2","place":"2"}"#),
        (0.7, r#"{"label":"0","stars":"1","place":"1"}"#),
    ]);
    let agree = |options: &str| {
        folder.sh(&format!("scorebox agree s --format json {options}")).exits_with(0).json()
    };
    let labels = agree("--with /label");
    close(&labels["binary"]["accuracy"]["rate"], 0.8);
    assert_eq!((&labels["binary"]["positives"], &labels["sameScale"]), (&2.into(), &true.into()));
    let stars = agree("--with /stars --positive-from 4");
    close(&stars["binary"]["recall"]["rate"], 1.0);
    assert_eq!((&stars["pairs"], &stars["unreadableLabels"]), (&4.into(), &1.into()));
    // A word that is named becomes a label like the others.
    assert_eq!(agree("--with /stars --positive n/a")["unreadableLabels"], 0);
    let by = agree("--with /label --by /place");
    assert!(by["bias"]["rho"].is_number() && by["bias"]["groups"][0]["name"] == "1", "{by}");
}

#[test]
fn labels_that_are_the_ground_truth_are_found_there() {
    let folder = Folder::new();
    let lines: String = (0..20)
        .map(|n| {
            let (output, truth) = ("x".repeat(n), f64::from(u8::from(n >= 10)));
            let label = if n >= 10 { "good" } else { "bad" };
            format!(
                r#"{{"id":"{n}","output":"{output}","expectedOutput":{{"score":{truth},"label":"{label}"}},"metadata":{{"mark":{truth}}}}}"#
            ) + "\n"
        })
        .collect();
    folder.write("cases.jsonl", lines);
    folder.write("s.js", "export default (input) => input.output.length / 20;");
    folder.write("suite.toml", "[target]\nuse = \"./s.js\"\nseverity = \"soft\"\n");
    folder.sh("scorebox run suite.toml cases.jsonl -q").exits_with(0);
    for with in [
        "/score",
        "/groundTruth/score",
        "/expectedOutput/score",
        "/metadata/mark",
        "/label --positive good",
    ] {
        let agree = format!("scorebox agree target --with {with} --format json");
        let agreement = folder.sh(&agree).exits_with(0).json();
        close(&agreement["binary"]["accuracy"]["rate"], 1.0);
    }
    let missing = folder.sh("scorebox agree target --with /grade").exits_with(2).stderr;
    assert!(missing.contains("the first case has `mark`, `label`, `score`"), "{missing}");
}

#[test]
fn hostile_labels_are_words_like_others() {
    let long = "x".repeat(1 << 20);
    let folder = scored(&[
        (0.9, r#"{"label":"\u001b[31mred"}"#),
        (0.1, r#"{"label":"NaN"}"#),
        (0.5, &format!(r#"{{"label":"{long}"}}"#)),
        (0.6, r#"{"label":1e999}"#),
    ]);
    let output = folder.sh("scorebox agree s --with /label").exits_with(2);
    assert!(!output.stderr.contains('\u{1b}') && output.stderr.len() < 2000, "{}", output.stderr);
    let line = "scorebox agree s --with /label --positive NaN --format json";
    let json = folder.sh(line).exits_with(0).json();
    assert_eq!((&json["pairs"], &json["unreadableLabels"]), (&2.into(), &2.into()));
}

#[test]
fn one_label_is_not_said_to_be_more_than_two() {
    let folder = scored(&[(0.25, r#"{"label":0.95}"#), (0.75, r#"{"label":0.95}"#)]);
    let agree = folder.sh("scorebox agree s --with /label").exits_with(0);
    let warned: Vec<&str> = agree.stderr.lines().filter(|it| it.starts_with("warning")).collect();
    assert_eq!(
        warned,
        [
            "warning: all labels are the same: figures that need them to vary are undefined",
            "warning: one label does not say which labels are positive: accuracy and the like need `--positive-from NUMBER`"
        ]
    );
    let said = "warning: labels are more than two numbers: accuracy and the like need `--positive-from NUMBER`\n";
    let folder =
        scored(&[(0.5, r#"{"label":1}"#), (0.5, r#"{"label":2}"#), (0.5, r#"{"label":3}"#)]);
    let agree = folder.sh("scorebox agree s --with /label").exits_with(0);
    assert!(agree.stderr.contains(said), "{agree}");
}

#[test]
fn the_lower_of_two_numbers_is_positive_if_lower_scores_are_better() {
    let folder = run_of(LOWER, |n| {
        let (bad, grade) = (u8::from(n >= 18), n / 10);
        format!(r#""metadata":{{"bad":{bad},"grade":{grade}}}"#)
    });
    let found = agree(&folder, "--with /bad");
    close(&found["binary"]["accuracy"]["rate"], 37.0 / 40.0);
    close(&found["binary"]["rocAuc"], 1.0);
    assert_eq!(
        found["binary"]["positive"],
        serde_json::json!({"rule": "better-of-two", "number": 0.0, "lowerIsBetter": true})
    );
    let said = folder.sh("scorebox agree s --with /bad").exits_with(0).stderr;
    let rule =
        "18 labels are positive (0, because lower is better); a score passes if it is at most 0.5";
    assert!(said.contains(rule) && !said.contains("warning"), "{said}");
    let low = agree(&folder, "--with /grade --positive-to 1");
    close(&low["binary"]["accuracy"]["rate"], 39.0 / 40.0);
    let said = folder.sh("scorebox agree s --with /grade").exits_with(0).stderr;
    assert!(said.contains("accuracy and the like need `--positive-to NUMBER`"), "{said}");
}

/// The expected values were computed by hand, in Python.
#[test]
fn scores_are_shown_as_they_are_if_lower_ones_are_better() {
    let folder = run_of(LOWER, |n| {
        let bad = u8::from(n >= 18 || n == 10);
        format!(r#""metadata":{{"bad":{bad}}}"#)
    });
    let shown = folder.sh("scorebox agree s --with /bad").exits_with(0).stdout;
    let (_, table) = shown.split_once("scores ").unwrap();
    assert_snapshot!(table, @"
         cases    mean  positive     95 % interval
    0.0 to 0.1      4  0.0375    1.0000  0.5101 to 1.0000
    0.1 to 0.2      4  0.1375    1.0000  0.5101 to 1.0000
    0.2 to 0.3      4  0.2375    0.7500  0.3006 to 0.9544
    0.3 to 0.4      4  0.3375    1.0000  0.5101 to 1.0000
    0.4 to 0.5      4  0.4375    0.5000  0.1500 to 0.8500
    0.5 to 0.6      4  0.5375    0.0000  0.0000 to 0.4899
    0.6 to 0.7      4  0.6375    0.0000  0.0000 to 0.4899
    0.7 to 0.8      4  0.7375    0.0000  0.0000 to 0.4899
    0.8 to 0.9      4  0.8375    0.0000  0.0000 to 0.4899
    0.9 to 1.0      4  0.9375    0.0000  0.0000 to 0.4899
    ");
    let calibration = agree(&folder, "--with /bad")["binary"]["calibration"].clone();
    close(&calibration["brier"], 0.099_687_5);
    close(&calibration["expectedError"], 0.19);
    folder.sh("scorebox report -o report.html --with /bad").exits_with(0);
    let page = std::fs::read_to_string(folder.path("report.html")).unwrap();
    assert!(page.contains("4 cases, mean score 0.0375: 100.0 % positive"));
}

#[test]
fn positive_labels_with_worse_scores_are_warned_of() {
    let folder = run_of(LOWER, |n| {
        let good = u8::from(n < 18);
        format!(r#""metadata":{{"good":{good},"any":{}}}"#, n % 2)
    });
    let warned = |options: &str| {
        let said = folder.sh(&format!("scorebox agree s --with {options}")).exits_with(0).stderr;
        let warning = said.lines().find(|line| line.starts_with("warning"))?;
        Some(warning.to_owned())
    };
    assert_snapshot!(warned("/good").unwrap(), @"warning: cases with a positive label have worse scores than others (ROC AUC 0.0000): if it is the other labels that should pass, say so with `--positive`, `--positive-from` or `--positive-to`");
    assert_eq!(warned("/good --positive 1"), None);
    assert_eq!(warned("/any"), None, "by chance only");
    folder.sh("scorebox report -o report.html --with /good").exits_with(0);
    let page = std::fs::read_to_string(folder.path("report.html")).unwrap();
    assert!(page.contains("Cases with a positive label have worse scores than others"));
    assert!(page.contains("22 labels are positive (0, because lower is better)"));
}

#[test]
fn true_is_positive_if_lower_scores_are_better_too() {
    // `true` says that a case should pass, while a number may say how bad it is.
    let folder = run_of(LOWER, |n| {
        let good = n < 18;
        format!(r#""metadata":{{"good":{good},"text":"{}"}}"#, if good { "True" } else { "False" })
    });
    for with in ["/good", "/text"] {
        let found = agree(&folder, &format!("--with {with}"));
        assert_eq!(found["binary"]["positive"], serde_json::json!({"rule": "true"}), "{with}");
        close(&found["binary"]["accuracy"]["rate"], 37.0 / 40.0);
        close(&found["binary"]["rocAuc"], 1.0);
    }
    let said = folder.sh("scorebox agree s --with /good").exits_with(0).stderr;
    let rule = "18 labels are positive (those that are true); a score passes if it is at most 0.5";
    assert!(said.contains(rule) && !said.contains("warning"), "{said}");
}

/// The longer an output, the higher and so the better its score.
const HIGHER: &str = "export default ({ output }) => output.length / 40;
    export const info = { severity: 'soft' };";

#[test]
fn labels_are_all_of_one_part_of_the_cases() {
    // Some cases have labels of people in the metadata, others in the ground truth.
    let folder = run_of(HIGHER, |n| {
        let label = |is_there| if is_there { u8::from(n >= 20).to_string() } else { "null".into() };
        let (truth, metadata) = (label(n < 22), label(n >= 12));
        format!(r#""expectedOutput":{{"score":{truth}}},"metadata":{{"score":{metadata}}}"#)
    });
    let mixed = agree(&folder, "--with /score");
    let counts = ["pairs", "withoutLabel", "labelsElsewhere"].map(|key| mixed[key].clone());
    assert_eq!((counts, &mixed["labelsFrom"]), ([28, 12, 12].map(Value::from), &"metadata".into()));
    let said = folder.sh("scorebox agree s --with /score").exits_with(0).stderr;
    let warning = said.lines().find(|line| line.starts_with("warning")).unwrap();
    assert_snapshot!(warning, @"warning: labels are those in the metadata: 12 cases have none there, and one in another part of the case, which does not count; `--with /groundTruth/score` takes those in the ground truth");
    let truth = agree(&folder, "--with /groundTruth/score");
    close(&truth["binary"]["accuracy"]["rate"], 1.0);
    let counts = ["pairs", "withoutLabel", "labelsElsewhere"].map(|key| truth[key].clone());
    assert_eq!(
        (counts, &truth["labelsFrom"]),
        ([22, 18, 0].map(Value::from), &"ground-truth".into())
    );
}

#[test]
fn labels_are_where_most_cases_have_one() {
    // The metadata of the first case has a stray label, and that of others has a value that is not a label; both parts
    // have grades of all cases.
    let folder = run_of(HIGHER, |n| {
        let (label, stray) = (u8::from(n >= 20), if n == 0 { "1" } else { "[]" });
        format!(
            r#""expectedOutput":{{"score":{label},"grade":{label}}},"metadata":{{"score":{stray},"grade":{label}}}"#
        )
    });
    let found = agree(&folder, "--with /score");
    let counts = ["pairs", "withoutLabel", "labelsElsewhere"].map(|key| found[key].clone());
    assert_eq!(
        (counts, &found["labelsFrom"]),
        ([40, 0, 0].map(Value::from), &"ground-truth".into())
    );
    close(&found["binary"]["accuracy"]["rate"], 1.0);
    assert_eq!(agree(&folder, "--with /grade")["labelsFrom"], "metadata", "the first of equals");
}

#[test]
fn points_and_labels_are_on_one_scale_if_their_largest_are_of_one_size() {
    let points = "export default ({ output }) => output.length;
        export const info = { severity: 'soft', scale: 'points' };";
    let folder = run_of(points, |n| {
        let (yes, near) = (u8::from(n >= 20), n + 2 - n % 3);
        format!(r#""metadata":{{"yes":{yes},"near":{near},"stars":{}}}"#, n / 8)
    });
    let left_out = "labels are on another scale: alpha and mean errors are left out";
    let says_left_out = |folder: &Folder, with: &str| {
        let said = folder.sh(&format!("scorebox agree s --with {with}")).exits_with(0).stderr;
        said.contains(left_out)
    };
    for with in ["/yes", "/stars"] {
        let found = agree(&folder, &format!("--with {with} --by output-length"));
        assert_eq!(
            (&found["sameScale"], &found["errors"], &found["correlations"]["alpha"]),
            (&false.into(), &Value::Null, &Value::Null),
            "{with}"
        );
        assert_eq!(found["intervals"]["intervalAlpha"], Value::Null);
        assert_eq!(found["bias"]["unit"], "standard-deviations");
        assert!(says_left_out(&folder, with), "{with}");
    }
    let near = agree(&folder, "--with /near --by output-length");
    assert_eq!((&near["sameScale"], &near["bias"]["unit"]), (&true.into(), &"score".into()));
    assert!(near["correlations"]["alpha"].as_f64().unwrap() > 0.9);
    // The errors are -2, -1 and 0, each thirteen times, and -2 once more.
    close(&near["errors"]["mean"], -41.0 / 40.0);
    close(&near["errors"]["meanAbsolute"], 41.0 / 40.0);
    close(&near["errors"]["rootMeanSquare"], (69.0_f64 / 40.0).sqrt());
    assert!(!says_left_out(&folder, "/near"));
    // A judge that gives 60 to 80 of 100 points uses a narrow part of the scale.
    let narrow = points.replace("=> output.length", "=> 60 + 20 * output.length / 39");
    let folder = run_of(&narrow, |n| format!(r#""metadata":{{"label":{}}}"#, n as f64 / 0.39));
    let found = agree(&folder, "--with /label");
    assert!(found["correlations"]["alpha"].is_number(), "{found}");
    // The mean of the points is 70, that of the labels 50.
    close(&found["errors"]["mean"], 20.0);
    assert!(!says_left_out(&folder, "/label"));
}

#[test]
fn errors_by_a_group_need_to_know_which_words_are_positive() {
    let script = "export default ({ output }) => ({ score: output.length / 40, label: output.length % 2 ? 'odd' : 'even' }); export const info = { severity: 'soft' };";
    let folder = run_of(script, |n| {
        format!(r#""metadata":{{"word":"{}"}}"#, ["even", "odd", "none"][n % 3])
    });
    for (by, name) in [("output-length", "output length"), ("/word", "/word")] {
        let said =
            folder.sh(&format!("scorebox agree s --with /word --by {by}")).exits_with(2).stderr;
        let error = format!(
            "errors by `{name}` are not known: the labels at `/word` are words, and nothing says which of them should pass: `even`, `odd`, `none`"
        );
        assert!(said.contains(&error) && said.contains("`--positive LABEL`"), "{said}");
    }
    let named = agree(&folder, "--with /word --by /word --positive even");
    assert_eq!(named["bias"]["groups"].as_array().unwrap().len(), 3);
    let points = script.replace("severity", "scale: 'points', severity");
    let folder =
        run_of(&points, |n| format!(r#""metadata":{{"word":"{}"}}"#, ["even", "odd"][n % 2]));
    let by = "scorebox agree s --with /word --by /word --positive even";
    let said = folder.sh(by).exits_with(2).stderr;
    assert!(said.contains("scorer `s` has points without a threshold"), "{said}");
    folder.sh(&format!("{by} --threshold 5")).exits_with(0);
}

#[test]
fn labels_that_are_there_and_cannot_be_read_are_not_said_to_be_missing() {
    let script = "export default () => ({ score: 1 }); export const info = { severity: 'soft' };";
    let long = format!("\"{}\"", "x".repeat(300));
    for (label, what) in [("[1,0]", "a list"), (long.as_str(), "a text of more than 256 bytes")] {
        let folder = run_of(script, |_| format!(r#""metadata":{{"label":{label}}}"#));
        let said = folder.sh("scorebox agree s --with /label").exits_with(2).stderr;
        let error = "no case with a score of `s` has a label at `/label` that can be read: of ";
        assert!(said.contains(error) && said.contains(&format!("the first is {what}, ")), "{said}");
    }
}

#[test]
fn categories_that_are_no_labels_are_not_compared_with_them() {
    let script = "export default ({ output }) => ({ score: output.length / 40, label: output.length % 2 ? 'odd' : 'even' }); export const info = { severity: 'soft' };";
    let folder =
        run_of(script, |n| format!(r#""metadata":{{"word":"{}"}}"#, ["Even", "Odd"][n % 2]));
    let said = folder.sh("scorebox agree s --with /word").exits_with(2).stderr;
    let error = "the labels at `/word` are other words than the scorer's categories: `Even`, `Odd`; it names ";
    assert!(said.contains(error) && said.contains("`--positive"), "{said}");
    let named = agree(&folder, "--with /word --positive Even");
    assert!(named["categories"].is_null() && named["binary"].is_object(), "{named}");
}

/// The order of the two answers should not matter: the same cases in both orders, with slightly higher scores in one of
/// them.
#[test]
fn cases_in_both_orders_are_compared_with_themselves() {
    let folder = Folder::new();
    let mut lines = String::new();
    for case in 0..40 {
        for (order, more) in [("AB", 10), ("BA", 0)] {
            let output = "x".repeat(case + 10 + more);
            let attempt = u8::from(more == 0) + 1;
            let metadata = format!(r#"{{"label":0.5,"order":"{order}"}}"#);
            writeln!(
                lines,
                r#"{{"id":"{case}","attempt":{attempt},"output":"{output}","metadata":{metadata}}}"#
            )
            .unwrap();
        }
    }
    folder.write("cases.jsonl", lines);
    folder.write("s.js", "export default (input) => input.output.length / 100;");
    folder.write("suite.toml", "version = 1\n[scorers.s]\nuse = \"./s.js\"\nseverity = \"soft\"\n");
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r").exits_with(0);
    let said = folder.sh("scorebox agree s --with /label --by /order").exits_with(0);
    assert!(said.stdout.contains("+0.1000              -   <0.0001"), "{}", said.stdout);
    let favours = "it favours `AB`: errors are 0.1000 higher than for others";
    assert!(said.stderr.contains(favours), "{}", said.stderr);
}
