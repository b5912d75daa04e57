//! label-distribution, as a specification. The reference values are the results of Orbiter's class for the same inputs,
//! and its documented example.

use super::*;

fn configured(config: Value) -> LabelDistribution {
    scorebox_sdk::configure(config).unwrap()
}

/// The summary of cases with these inputs.
fn summary_of(config: Value, inputs: Value) -> Result<Value, ScoreError> {
    let scorer = configured(config);
    let scored = |(index, input): (usize, &Value)| {
        let case = Case::new(json!("output")).with_input(input.clone());
        Scored::new(format!("c{index}"), scorer.score(&case).unwrap())
    };
    let scores: Vec<_> = inputs.as_array().unwrap().iter().enumerate().map(scored).collect();
    scorer.summarize(&scores)
}

/// The summary of cases with these labels.
fn summary(labels: Value) -> Value {
    let inputs = labels.as_array().unwrap().iter().map(|label| json!({ "label": label }));
    summary_of(json!({}), inputs.collect()).unwrap()
}

#[test]
fn the_example_of_orbiter_gives_its_distribution() {
    let categories = ["positive", "positive", "negative", "neutral"];
    let inputs = categories.map(|category| json!({ "category": category }));
    assert_eq!(
        summary_of(json!({"labelKey": "category"}), json!(inputs)).unwrap(),
        json!({
            "labels": ["negative", "neutral", "positive"],
            "fractions": [0.25, 0.25, 0.5],
            "counts": {"negative": 1, "neutral": 1, "positive": 2},
            "skew": 0.25,
        })
    );
}

#[test]
fn the_skew_is_the_largest_fraction_less_the_smallest() {
    let skew = |labels| summary(labels)["skew"].as_f64().unwrap();
    assert_eq!(skew(json!(["a", "b"])), 0.0);
    assert_eq!(skew(json!(["a", "b", "b"])), 2.0 / 3.0 - 1.0 / 3.0);
    assert_eq!(skew(json!(["a", "b", "b", "c", "c", "c", "c"])), 4.0 / 7.0 - 1.0 / 7.0);
    // A single label is balanced.
    assert_eq!(skew(json!(["a", "a"])), 0.0);
}

#[test]
fn a_case_has_a_label_and_no_score() {
    let scorer = configured(json!({}));
    let score = scorer.score(&Case::new(json!(1)).with_input(json!({"label": "spam"}))).unwrap();
    assert_eq!((score.score, score.label.as_deref()), (None, Some("spam")));
    assert_eq!(score.reason.as_deref(), Some("the label is \"spam\""));
    assert_eq!(score.meta_value(), Some(json!({"label": "spam"})));
}

#[test]
fn numbers_and_booleans_stay_what_they_are_and_are_sorted_as_such() {
    assert_eq!(
        summary(json!([10, 9, 10, -1])),
        json!({
            "labels": [-1, 9, 10],
            "fractions": [0.25, 0.25, 0.5],
            "counts": {"-1": 1, "9": 1, "10": 2},
            "skew": 0.25,
        })
    );
    assert_eq!(summary(json!([1.5, 0.5]))["labels"], json!([0.5, 1.5]));
    let booleans = summary(json!([true, false, true]));
    assert_eq!(booleans["labels"], json!([false, true]));
    assert_eq!(booleans["counts"], json!({"false": 1, "true": 2}));
    let scorer = configured(json!({}));
    let score = scorer.score(&Case::new(json!(1)).with_input(json!({"label": 1}))).unwrap();
    assert_eq!(score.label.as_deref(), Some("1"));
}

#[test]
fn numbers_are_one_label_where_their_values_are_equal() {
    assert_eq!(summary(json!([1, 1.0, 1]))["counts"], json!({"1": 3}));
    assert_eq!(summary(json!([1.0, 1]))["labels"], json!([1.0]));
    assert_eq!(summary(json!([0, -0.0]))["counts"], json!({"0": 2}));
    let large = json!([9007199254740993_u64, 9007199254740992.0, 9007199254740993_u64]);
    assert_eq!(summary(large)["counts"], json!({"9007199254740992.0": 1, "9007199254740993": 2}));
}

#[test]
fn strings_are_distinguished_and_sorted_by_code_points() {
    assert_eq!(
        summary(json!(["b", "B", "é", "", "b ", "z", "1", "10", "9"]))["labels"],
        json!(["", "1", "10", "9", "B", "b", "b ", "z", "é"])
    );
}

#[test]
fn labels_of_several_kinds_are_refused_as_pythons_sorted_refuses_them() {
    let mixed = |labels: [Value; 3]| {
        let inputs = labels.map(|label| json!({ "label": label }));
        summary_of(json!({}), json!(inputs)).unwrap_err().to_string()
    };
    assert_eq!(
        mixed([json!(1), json!(2), json!("1")]),
        "the labels are of several kinds: a number in case `c0`, a string in case `c2`; \
         write all of them as strings"
    );
    assert!(mixed([json!(true), json!(1), json!(1)]).contains("a boolean in case `c0`"));
}

#[test]
fn cases_without_a_label_are_counted_apart() {
    let inputs = json!([{"label": "a"}, {"label": null}, {}, "label", ["label"], null]);
    assert_eq!(
        summary_of(json!({}), inputs).unwrap(),
        json!({
            "labels": ["a"], "fractions": [1.0], "counts": {"a": 1}, "skew": 0.0, "unlabelled": 5,
        })
    );
    let score = configured(json!({"labelKey": "class"})).score(&Case::new(json!(1))).unwrap();
    assert_eq!((score.score, &score.label), (None, &None));
    assert_eq!(
        score.reason.as_deref(),
        Some("no label: neither `input` nor `metadata` has `class`")
    );
}

#[test]
fn without_any_label_the_distribution_is_empty() {
    let empty = json!({"labels": [], "fractions": [], "counts": {}, "skew": 0.0});
    assert_eq!(summary(json!([])), empty);
}

#[test]
fn the_metadata_is_looked_at_where_the_input_has_no_label() {
    let label = |case: Case| configured(json!({})).score(&case).unwrap().label.unwrap();
    let case = Case::new(json!("x")).with_metadata(json!({"label": "of metadata"}));
    assert_eq!(label(case.clone()), "of metadata");
    assert_eq!(label(case.clone().with_input(json!("a text"))), "of metadata");
    assert_eq!(label(case.with_input(json!({"label": "of input"}))), "of input");
}

#[test]
fn a_label_that_is_a_structure_is_refused() {
    let error = |label: Value| {
        let case = Case::new(json!("x")).with_input(json!({ "label": label }));
        configured(json!({})).score(&case).unwrap_err().to_string()
    };
    assert_eq!(
        error(json!(["a"])),
        "`input.label` should be a label (a string, a number or a boolean), found an array"
    );
    assert!(error(json!({})).ends_with("found an object"));
}

#[test]
fn a_long_label_is_cut_beside_the_score_and_whole_in_the_count() {
    let long = "é".repeat(101);
    let case = Case::new(json!("x")).with_input(json!({ "label": long }));
    let score = configured(json!({})).score(&case).unwrap();
    assert!(score.label.unwrap().len() <= LABEL_BYTES);
    assert_eq!(summary(json!([long]))["counts"][&long], 1);
    assert_eq!(summary(json!([long]))["labels"], json!([long]));
}

#[test]
fn an_empty_key_is_refused() {
    let error = scorebox_sdk::configure::<LabelDistribution>(json!({"labelKey": ""})).err();
    assert_eq!(
        error.expect("a refusal").to_string(),
        "`labelKey` is empty; give the key of the label"
    );
}
