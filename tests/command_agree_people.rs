//! How far people agree with each other, and scorers that treat groups of cases differently: `scorebox agree`.

use std::{fs, path::Path};

use insta::assert_snapshot;
use serde_json::Value;

use crate::{
    command_agree::{close, scored},
    fixture::Folder,
};

#[test]
fn people_are_compared_with_each_other() {
    let folder = Folder::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pandalm");
    fs::copy(example.join("cases.jsonl"), folder.path("cases.jsonl")).unwrap();
    folder
        .sh("scorebox run cases.jsonl -s length --config 'length={\"max\": 400}' -q")
        .exits_with(0);
    let of = |raters: &str| {
        let line = "scorebox agree length --with /votes/0 --positive 1 --format json";
        folder.sh(&format!("{line} {raters}")).exits_with(0).json()["raters"].clone()
    };
    let all = of("--raters /votes");
    close(&all["fleissKappa"], 0.875_317_609_498_531);
    close(&all["alpha"], 0.875_525_413_482_700_3);
    close(&all["same"], 0.926_666_666_666_666_6);
    let each = of("--raters /votes/0 --raters /votes/1 --raters /votes/2");
    assert_eq!((&each["fleissKappa"], &each["cases"]), (&all["fleissKappa"], &all["cases"]));
    assert_eq!(of(""), Value::Null);
    let none = folder.sh("scorebox agree length --with /votes/0 --positive 1 --raters /votes/0");
    assert_snapshot!(none, @"
    [stderr]
    error: no case has two labels at `/votes/0`; the first case has `systems`, `votes`, `groundTruth`
    [exit code 2]
    ");
}

#[test]
fn raters_who_left_out_a_case_count_where_two_have_a_label() {
    let folder = scored(&[
        (0.1, r#"{"label":0,"by":["no","no","yes"]}"#),
        (0.9, r#"{"label":1,"by":["yes",null,"yes"]}"#),
        (0.8, r#"{"label":1,"by":["yes","yes","no"]}"#),
        (0.2, r#"{"label":0,"by":["no"]}"#),
        (0.3, r#"{"label":0,"by":[["no"],{"no":1}]}"#),
    ]);
    let shown = folder.sh("scorebox agree s --with /label --raters /by").exits_with(0);
    let (_, table) = shown.stdout.split_once("among raters").unwrap();
    // In two cases 1/3 of the pairs agree, and in another its only pair: the mean is over cases, not 3 of 7 pairs.
    assert_snapshot!(table, @"
                          value
    pairs who agree, mean of cases   0.5556
    Fleiss' kappa                   -0.3333
    Krippendorff's alpha             0.0667
    ");
    let words = "among raters: 2 cases have 3 labels, and Fleiss' kappa is over these; 1 case has another number; 2 cases have fewer \
                 than two that can be read\n";
    assert!(shown.stderr.contains(words), "{shown}");
    let json = folder.sh("scorebox agree s --with /label --raters /by --format json").json();
    assert_eq!((&json["raters"]["cases"], &json["raters"]["without"]), (&3.into(), &2.into()));
}

/// The agreement of two raters of twelve cases: one gives `first`, the other 0 and 1 in turn.
fn two_raters(first: [&str; 12]) -> Value {
    let cases = first.iter().enumerate().map(|(n, first)| {
        let second = n % 2;
        (0.5, format!(r#"{{"label":{second},"first":{first},"second":{second}}}"#))
    });
    let cases: Vec<(f64, String)> = cases.collect();
    let cases: Vec<(f64, &str)> =
        cases.iter().map(|(score, metadata)| (*score, metadata.as_str())).collect();
    let line = "scorebox agree s --with /label --raters /first --raters /second --format json";
    scored(&cases).sh(line).exits_with(0).json()["raters"].clone()
}

#[test]
fn raters_say_the_same_however_their_numbers_are_written() {
    let zero = ["0", r#""0""#, r#""0.0""#, "false", r#""FALSE""#, r#"" 0""#];
    let one = ["1", r#""1""#, r#""1.0""#, "true", r#""True""#, "1e0"];
    let raters = two_raters(std::array::from_fn(|n| [zero, one][n % 2][n / 2]));
    assert_eq!([&raters["same"], &raters["fleissKappa"], &raters["alpha"]], [&Value::from(1.0); 3]);
    assert_eq!(raters["cases"], 12);
}

/// Like votes for one of two answers, or for neither.
#[test]
fn a_word_of_a_rater_among_numbers_is_a_label_as_others_are() {
    let tie = r#""tie""#;
    let raters = two_raters(["0", "1", "0", "1", "0", "1", "0", "1", "0", tie, tie, tie]);
    assert_eq!((&raters["same"], &raters["cases"]), (&0.75.into(), &12.into()));
}

#[test]
fn a_scorer_that_favours_a_group_is_found_out() {
    let cases: Vec<(f64, String)> = (0..120)
        .map(|n| {
            let is_long = n % 2 == 0;
            let (system, label) = (if is_long { "wordy" } else { "terse" }, (n / 2) % 2);
            let score = if is_long { 0.8 } else { 0.2 } + f64::from(n % 20) / 100.0;
            (score, format!(r#"{{"label":{label},"system":"{system}"}}"#))
        })
        .collect();
    let cases: Vec<(f64, &str)> =
        cases.iter().map(|(score, label)| (*score, label.as_str())).collect();
    let folder = scored(&cases);
    let by_system = folder.sh("scorebox agree s --with /label --by /system").exits_with(0);
    assert!(
        by_system.stderr.contains("it favours `wordy`: errors are 1.0000 higher than for others")
    );
    assert!(
        by_system
            .stderr
            .contains("it is harder on `terse`: errors are 1.0000 lower than for others")
    );
    let line = "scorebox agree s --with /label --by output-length --format json";
    let bias = folder.sh(line).exits_with(0).json()["bias"].clone();
    assert!(bias["rho"].as_f64().unwrap() > 0.5 && bias["p"].as_f64().unwrap() < 1e-6, "{bias}");
    assert_eq!(bias["groups"].as_array().unwrap().len(), 4);
}

#[test]
fn cases_that_do_not_say_their_group_are_counted_and_left_out() {
    let folder = scored(&[
        (0.1, r#"{"label":0,"system":"a"}"#),
        (0.9, r#"{"label":1,"system":"b"}"#),
        (0.8, r#"{"label":1}"#),
        (0.2, r#"{"label":0,"system":[]}"#),
    ]);
    let said = folder.sh("scorebox agree s --with /label --by /system").exits_with(0).stderr;
    assert!(said.contains("2 cases have nothing readable at /system\n"), "{said}");
    let json = folder.sh("scorebox agree s --with /label --by /system --format json").json();
    assert_eq!(json["bias"]["without"], 2);
}
