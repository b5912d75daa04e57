//! Scores compared with labels of people, and with other scorers: `scorebox agree`.

use std::{fmt::Write as _, fs, path::Path};

use insta::assert_snapshot;
use serde_json::Value;

use crate::fixture::Folder;

/// Replies of four systems, with people's labels: does the reply say only what its source says?
fn begin() -> Folder {
    let folder = Folder::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/begin");
    for name in ["cases.jsonl", "suite.toml"] {
        fs::copy(example.join(name), folder.path(name)).unwrap();
    }
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id begin").exits_with(0);
    folder
}

/// A run in which the scorer `s`, which only measures, gives each case this score; with the further keys of the cases.
pub(crate) fn scored(cases: &[(f64, &str)]) -> Folder {
    let folder = Folder::new();
    let mut lines = String::new();
    for (n, (score, metadata)) in cases.iter().enumerate() {
        let output = "x".repeat((score * 100.0).round() as usize);
        writeln!(lines, r#"{{"id":"{n}","output":"{output}","metadata":{metadata}}}"#).unwrap();
    }
    folder.write("cases.jsonl", lines);
    folder.write("s.js", "export default (input) => input.output.length / 100;");
    folder.write("suite.toml", "version = 1\n[scorers.s]\nuse = \"./s.js\"\nseverity = \"soft\"\n");
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r").exits_with(0);
    folder
}

pub(crate) fn close(found: &Value, expected: f64) {
    assert!((found.as_f64().unwrap() - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn a_scorer_against_the_labels_of_people() {
    let folder = begin();
    assert_snapshot!(folder.sh("scorebox agree copied --with /label"), @"
    figure                 value     95 % interval
    accuracy              0.7850  0.7357 to 0.8273
    precision             0.6919  0.6220 to 0.7540
    recall                0.9343  0.8799 to 0.9651
    specificity           0.6647  0.5908 to 0.7313
    F1                    0.7950  0.7438 to 0.8395
    balanced accuracy     0.7995  0.7562 to 0.8388
    Cohen's kappa         0.5793  0.4911 to 0.6608
    Krippendorff's alpha  0.5697  0.4731 to 0.6551
    ROC AUC               0.9319  0.9036 to 0.9559
    Brier                 0.1335  0.1146 to 0.1544
    calibration error     0.1420
    Pearson               0.7391  0.6837 to 0.7860
    Spearman              0.7453  0.6939 to 0.7859
    Kendall tau-b         0.6176  0.5746 to 0.6530
    alpha, interval       0.6249  0.5580 to 0.6817
    mean error            0.1364  0.0980 to 0.1742
    mean absolute error   0.2777  0.2510 to 0.3050
    RMSE                  0.3654  0.3385 to 0.3929

            positive  negative
    passes       128        57
    fails          9       113

    scores      cases    mean  positive     95 % interval
    0.0 to 0.1     23  0.0456    0.0000  0.0000 to 0.1431
    0.1 to 0.2     22  0.1426    0.0000  0.0000 to 0.1487
    0.2 to 0.3     31  0.2423    0.0323  0.0057 to 0.1619
    0.3 to 0.4     18  0.3456    0.0556  0.0099 to 0.2576
    0.4 to 0.5     28  0.4310    0.2500  0.1268 to 0.4336
    0.5 to 0.6     24  0.5359    0.1667  0.0668 to 0.3585
    0.6 to 0.7     30  0.6403    0.5000  0.3315 to 0.6685
    0.7 to 0.8     32  0.7400    0.5000  0.3363 to 0.6637
    0.8 to 0.9     26  0.8458    0.8077  0.6212 to 0.9149
    0.9 to 1.0     73  0.9746    0.9863  0.9264 to 0.9976
    [stderr]
    run begin: 307 of 309 cases have a score and a label, 2 without a label
    mean score 0.5827, mean label 0.4463
    137 labels are positive (1, because higher is better); a score passes if it is at least 0.5
    best threshold 0.75: balanced accuracy 0.8192 on cases that it was not chosen by (five parts)
    [exit code 0]
    ");
    assert_snapshot!(folder.sh("scorebox agree short --with /label --by output-length"), @"
    figure                  value       95 % interval
    accuracy               0.4495    0.3948 to 0.5054
    precision              0.4477    0.3930 to 0.5037
    recall                 1.0000    0.9727 to 1.0000
    specificity            0.0059    0.0010 to 0.0326
    F1                     0.6185    0.5634 to 0.6681
    balanced accuracy      0.5029    0.5000 to 0.5094
    Cohen's kappa          0.0053    0.0000 to 0.0178
    Krippendorff's alpha  -0.3676  -0.4256 to -0.3109
    ROC AUC                0.5971    0.5454 to 0.6475
    Brier                  0.4711    0.4194 to 0.5216
    calibration error      0.4831
    Pearson                0.2025    0.0926 to 0.3074
    Spearman               0.2036    0.0988 to 0.3072
    Kendall tau-b          0.1894    0.0927 to 0.2846
    alpha, interval       -0.2365  -0.3079 to -0.1658
    mean error             0.4831    0.4280 to 0.5368
    mean absolute error    0.5202    0.4704 to 0.5700
    RMSE                   0.6864    0.6476 to 0.7222

            positive  negative
    passes       137       169
    fails          0         1

    scores      cases    mean  positive     95 % interval
    0.3 to 0.4      1  0.3448    0.0000  0.0000 to 0.7935
    0.5 to 0.6     12  0.5478    0.0833  0.0149 to 0.3539
    0.6 to 0.7     12  0.6465    0.2500  0.0889 to 0.5323
    0.7 to 0.8     20  0.7427    0.3500  0.1812 to 0.5671
    0.8 to 0.9     29  0.8378    0.4138  0.2551 to 0.5926
    0.9 to 1.0    233  0.9935    0.4893  0.4258 to 0.5531

    group       cases  passes  positive    error  against others       95 % interval  p (Holm)
    14 to 59       78  1.0000    0.5897  +0.4103         -0.1880  -0.3110 to -0.0650    0.0219
    61 to 85       76  1.0000    0.3947  +0.6053         +0.0728   -0.0544 to 0.2000    0.5794
    86 to 120      77  1.0000    0.3636  +0.6364         +0.1146   -0.0106 to 0.2398    0.2599
    122 to 313     76  0.9868    0.4342  +0.5526         +0.0028   -0.1259 to 0.1316    1.0000
    [stderr]
    run begin: 307 of 309 cases have a score and a label, 2 without a label
    mean score 0.9293, mean label 0.4463
    137 labels are positive (1, because higher is better); a score passes if it is at least 0.5
    best threshold 1: balanced accuracy 0.5912 on cases that it was not chosen by (five parts)
    errors and output length: Spearman's rho +0.1121, p 0.0497
    it is harder on `14 to 59`: errors are 0.1880 lower than for others
    [exit code 0]
    ");
}

/// The output of the example's `figures.py`, with scikit-learn 1.9.1, SciPy 1.17.1 and krippendorff 0.9.0; the errors
/// are summed by Python's `math.fsum`.
#[test]
fn the_figures_of_real_labels_are_those_of_other_programs() {
    let folder = begin();
    let json = folder.sh("scorebox agree copied --with /label --format json").exits_with(0).json();
    assert_eq!((&json["pairs"], &json["withoutLabel"]), (&307.into(), &2.into()));
    let binary = &json["binary"];
    for (key, expected) in REFERENCE {
        let found = match *key {
            "accuracy" | "precision" | "recall" => &binary[*key]["rate"],
            "brier" => &binary["calibration"]["brier"],
            "pearson" | "spearman" | "kendall" => &json["correlations"][*key],
            "alphaInterval" => &json["correlations"]["alpha"],
            "meanError" => &json["errors"]["mean"],
            "meanAbsoluteError" => &json["errors"]["meanAbsolute"],
            "rootMeanSquareError" => &json["errors"]["rootMeanSquare"],
            key => &binary[key],
        };
        close(found, *expected);
    }
    for (key, expected) in DRAWN {
        for (end, expected) in expected.iter().enumerate() {
            let found = json["intervals"][*key][end].as_f64().unwrap();
            assert!((found - expected).abs() < 0.003, "{key}: {found} is not {expected}");
        }
    }
}

/// Percentiles of twenty thousand samples of the errors, drawn by Python's `random.choices`.
const DRAWN: &[(&str, [f64; 2])] = &[
    ("meanError", [0.09904, 0.17443]),
    ("meanAbsoluteError", [0.25134, 0.30465]),
    ("rootMeanSquareError", [0.33770, 0.39261]),
];

const REFERENCE: &[(&str, f64)] = &[
    ("accuracy", 0.7850162866449512),
    ("precision", 0.6918918918918919),
    ("recall", 0.9343065693430657),
    ("f1", 0.7950310559006211),
    ("balancedAccuracy", 0.7995062258480035),
    ("kappa", 0.5793123494726351),
    ("alpha", 0.5697056070790436),
    ("rocAuc", 0.9319235723486475),
    ("brier", 0.1335200108430452),
    ("pearson", 0.7390802350971968),
    ("spearman", 0.7452523567667315),
    ("kendall", 0.617584557332686),
    ("alphaInterval", 0.6249403526456945),
    ("meanError", 0.13641007495998062),
    ("meanAbsoluteError", 0.27768494087018786),
    ("rootMeanSquareError", 0.3654039009685655),
];

#[test]
fn labels_that_are_missing_or_unreadable_are_counted() {
    let folder = scored(&[
        (0.9, r#"{"label":1}"#),
        (0.2, r#"{"label":0}"#),
        (0.3, r#"{"label":null}"#),
        (0.4, "{}"),
        (0.5, r#"{"label":[1]}"#),
        (0.6, r#"{"label":true}"#),
    ]);
    let json = folder.sh("scorebox agree s --with /label --format json").exits_with(0).json();
    let counts = ["cases", "pairs", "withoutScore", "withoutLabel", "unreadableLabels"];
    assert_eq!(counts.map(|key| json[key].as_u64().unwrap()), [6, 3, 0, 2, 1]);
    assert_eq!(json["binary"]["positives"], 2);
}

#[test]
fn the_best_threshold_does_as_it_is_printed_what_is_said_of_it() {
    let folder = scored(&[(0.5, "{}")]);
    let mut lines = String::new();
    for n in 0..40 {
        let (output, label) = if n % 2 == 0 { ("xx", 1) } else { ("x", 0) };
        let metadata = format!(r#"{{"label":{label}}}"#);
        writeln!(lines, r#"{{"id":"{n}","output":"{output}","metadata":{metadata}}}"#).unwrap();
    }
    folder.write("cases.jsonl", lines);
    folder.write("s.js", "export default (input) => input.output.length / 3;");
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id thirds").exits_with(0);
    let agree = folder.sh("scorebox agree s --run thirds --with /label").exits_with(0);
    let best = "best threshold 0.6666666666666666: balanced accuracy 1.0000";
    assert!(agree.stderr.contains(best), "{agree}");
    let with = "scorebox agree s --run thirds --with /label --threshold 0.6666666666666666";
    let agree = folder.sh(with).exits_with(0);
    assert!(agree.stdout.contains("\npasses        20         0\n"), "{agree}");
}

#[test]
fn constant_scores_and_labels_make_figures_undefined_and_never_nan() {
    let folder =
        scored(&[(0.5, r#"{"label":1}"#), (0.5, r#"{"label":0}"#), (0.5, r#"{"label":1}"#)]);
    assert_snapshot!(folder.sh("scorebox agree s --with /label"), @"
    figure                    value     95 % interval
    accuracy                 0.6667  0.2077 to 0.9385
    precision                0.6667  0.2077 to 0.9385
    recall                   1.0000  0.3424 to 1.0000
    specificity              0.0000  0.0000 to 0.7935
    F1                       0.8000
    balanced accuracy        0.5000
    Cohen's kappa            0.0000
    Krippendorff's alpha     0.0000
    ROC AUC                  0.5000
    Brier                    0.2500
    calibration error        0.1667
    Pearson               undefined
    Spearman              undefined
    Kendall tau-b         undefined
    alpha, interval          0.1176
    mean error              -0.1667
    mean absolute error      0.5000
    RMSE                     0.5000

            positive  negative
    passes         2         1
    fails          0         0

    scores      cases    mean  positive     95 % interval
    0.5 to 0.6      3  0.5000    0.6667  0.2077 to 0.9385
    [stderr]
    run r: 3 of 3 cases have a score and a label
    mean score 0.5000, mean label 0.6667
    2 labels are positive (1, because higher is better); a score passes if it is at least 0.5
    warning: all scores are the same: figures that need them to vary are undefined
    [exit code 0]
    ");
    let folder = scored(&[(0.1, r#"{"label":1}"#), (0.7, r#"{"label":1}"#)]);
    let json = folder.sh("scorebox agree s --with /label --format json").exits_with(0).json();
    assert_eq!((&json["constantLabels"], &json["binary"]["rocAuc"]), (&true.into(), &Value::Null));
    close(&json["binary"]["recall"]["rate"], 0.5);
}

#[test]
fn two_scorers_on_other_scales_are_not_compared_number_by_number() {
    let folder = Folder::new();
    let lines: String =
        (0..20).map(|n| format!("{{\"id\":\"{n}\",\"output\":\"{}\"}}\n", "x".repeat(n))).collect();
    folder.write("cases.jsonl", lines);
    folder.write("part.js", "export default ({ output }) => output.length / 20; export const info = { severity: 'soft' };");
    folder.write(
        "points.js",
        "export default ({ output }) => output.length; export const info = { severity: 'soft', scale: 'points' };",
    );
    folder
        .sh("scorebox run cases.jsonl -s part=./part.js -s points=./points.js -s again=./part.js -q")
        .exits_with(0);
    let agree = |line: &str| {
        folder.sh(&format!("scorebox agree {line} --format json")).exits_with(0).json()
    };
    for line in ["points --with part", "part --with points"] {
        let other = agree(line);
        assert_eq!(
            (&other["sameScale"], &other["correlations"]["alpha"]),
            (&false.into(), &Value::Null),
            "{line}"
        );
        close(&other["correlations"]["spearman"], 1.0);
    }
    assert_eq!(agree("part --with again")["sameScale"], true);
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let folder = begin();
    assert_snapshot!(folder.sh("scorebox agree copied --with /lable"), @"
    [stderr]
    error: no case with a score of `copied` has a label at `/lable`; the first case has `label`, `system`, `groundTruth`
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox agree copied --with lable"), @"
    [stderr]
    error: the run has no scorer `lable`
    hint: choose a scorer from `copied`, `short`; a label of the cases is a JSON Pointer: --with /lable
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox agree copeid --with /label"), @"
    [stderr]
    error: the run has no scorer `copeid`
    hint: did you mean `copied`?
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox agree copied --with /a~x"), @"
    [stderr]
    error: `/a~x` is not a valid JSON Pointer: a `~` is written `~0`, and a `/` inside a key `~1`
    hint: a JSON Pointer begins with `/`: `/label`, `/votes/0`
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox agree copied --with /label --threshold 7"), @"
    [stderr]
    error: 7 is not on the scale of scorer `copied`, which is 0 to 1
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox agree copied --with /label --by length"), @"
    [stderr]
    error: `length` is not a valid JSON Pointer: it does not start with `/`
    hint: a JSON Pointer begins with `/`: `/label`, `/votes/0`
    [exit code 2]
    ");
}

#[test]
fn a_scorer_is_compared_with_another_by_the_threshold_of_that() {
    let folder = Folder::new();
    folder.sh("scorebox run suite.toml answers.jsonl -q --run-id r").exits_with(0);
    let line = "scorebox agree mentions-answer --with numeric-answer --format json";
    let json = folder.sh(line).exits_with(0).json();
    assert_eq!((&json["with"], &json["pairs"]), (&"numeric-answer".into(), &400.into()));
    // Of 168 right answers, all but one mention the number as it is written, and so do 47 wrong ones.
    let confusion = &json["binary"]["confusion"];
    assert_eq!(
        (&confusion["truePositives"], &confusion["falsePositives"]),
        (&167.into(), &47.into())
    );
    assert_eq!(
        (&confusion["falseNegatives"], &confusion["trueNegatives"]),
        (&1.into(), &185.into())
    );
    // The data set's own labels are next to the metadata, not in it.
    let labels =
        folder.sh("scorebox agree numeric-answer --with /label --format json").exits_with(0).json();
    close(&labels["binary"]["kappa"], 1.0);
}

/// Ten attempts at each of twenty cases, all right or all wrong, count as twenty cases and not as two hundred.
#[test]
fn attempts_at_a_case_make_no_interval_narrower() {
    let run = |attempts: u32| {
        let folder = Folder::new();
        let mut lines = String::new();
        for case in 0..20 {
            // Fourteen of the twenty get a high score, and people call every other case good.
            let output = "x".repeat(if case % 10 < 7 { 90 } else { 10 });
            for attempt in 0..attempts {
                writeln!(lines, r#"{{"id":"{case}","attempt":{attempt},"output":"{output}","metadata":{{"label":{}}}}}"#, case % 2)
                    .unwrap();
            }
        }
        folder.write("cases.jsonl", lines);
        folder.write("s.js", "export default (input) => input.output.length / 100;");
        folder.write("suite.toml", "[scorers.s]\nuse = \"./s.js\"\nseverity = \"soft\"\n");
        folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r").exits_with(0);
        folder.sh("scorebox agree s --with /label --format json").exits_with(0).json()
    };
    let (once, often) = (run(1), run(10));
    assert_eq!((&once["hasAttempts"], &often["hasAttempts"]), (&false.into(), &true.into()));
    assert_eq!((&once["pairs"], &often["pairs"]), (&20.into(), &200.into()));
    let width = |json: &Value, figure: &str| {
        let interval = &json["intervals"][figure];
        interval[1].as_f64().unwrap() - interval[0].as_f64().unwrap()
    };
    for figure in ["accuracy", "recall", "kappa", "rocAuc", "spearman", "pearson"] {
        assert!(width(&often, figure) > 0.8 * width(&once, figure), "{figure}");
    }
    // Wilson's interval, as if each attempt were a case.
    let rate = &often["binary"]["accuracy"];
    let too_narrow = rate["high"].as_f64().unwrap() - rate["low"].as_f64().unwrap();
    assert!(width(&often, "accuracy") > 2.0 * too_narrow);
}

#[test]
fn categories_have_a_table_and_weighted_kappa() {
    let ratings =
        [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (0.5, 1.0), (0.0, 0.5), (1.0, 1.0), (0.0, 0.0)];
    let cases: Vec<(f64, String)> =
        ratings.iter().map(|(score, label)| (*score, format!(r#"{{"label":{label}}}"#))).collect();
    let cases: Vec<(f64, &str)> =
        cases.iter().map(|(score, label)| (*score, label.as_str())).collect();
    let folder = scored(&cases);
    let json = folder.sh("scorebox agree s --with /label --format json").exits_with(0).json();
    let categories = &json["categories"];
    assert_eq!(categories["names"], serde_json::json!(["0", "0.5", "1"]));
    assert_eq!(categories["table"], serde_json::json!([[2, 0, 0], [1, 1, 0], [0, 1, 2]]));
    // scikit-learn: cohen_kappa_score([0, 1, 2, 1, 0, 2, 0], [0, 1, 2, 2, 1, 2, 0], weights=…)
    close(&categories["kappaLinear"], 0.695_652_173_913_043_5);
    close(&categories["kappaQuadratic"], 0.805_555_555_555_555_6);
}

#[test]
fn words_of_a_scorer_are_compared_with_words_of_people() {
    let folder = Folder::new();
    let mut lines = String::new();
    for (n, (said, label)) in
        [("a", "a"), ("b", "b"), ("c", "c"), ("a", "b"), ("c", "c"), ("b", "b")].iter().enumerate()
    {
        writeln!(lines, r#"{{"id":"{n}","output":"{said}","metadata":{{"label":"{label}"}}}}"#)
            .unwrap();
    }
    folder.write("cases.jsonl", lines);
    folder.write("s.js", "export default (input) => ({ score: 1, label: input.output });");
    folder.sh("scorebox run cases.jsonl -s s=s.js -q --run-id r").exits_with(0);
    let json = folder.sh("scorebox agree s --with /label --format json").exits_with(0).json();
    let categories = &json["categories"];
    assert_eq!(categories["names"], serde_json::json!(["a", "b", "c"]));
    assert_eq!(categories["table"], serde_json::json!([[1, 0, 0], [1, 2, 0], [0, 0, 2]]));
    // 5 of 6 agree; by chance (1 * 2 + 3 * 2 + 2 * 2) / 36.
    close(&categories["kappa"], (5.0 / 6.0 - 12.0 / 36.0) / (1.0 - 12.0 / 36.0));
    assert_eq!(
        (&categories["hasOrder"], &categories["kappaLinear"]),
        (&false.into(), &Value::Null)
    );
    assert_eq!(json["binary"], Value::Null);
}
