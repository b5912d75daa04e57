//! list-contains, as a specification. The figures are from `ListContains` of autoevals 0.4.1.

use super::*;

fn score(config: Value, output: Value, truth: Value) -> Score {
    let scorer: ListContains = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(output).with_ground_truth(truth)).unwrap()
}

fn check(output: Value, truth: Value, expected: f64) {
    let found = score(json!({}), output.clone(), truth.clone()).score.unwrap();
    assert!((found - expected).abs() < 1e-12, "{output} {truth}: {found}, not {expected}");
}

#[test]
fn the_best_pairing_is_divided_by_the_longer_list() {
    check(json!(["a"]), json!(["a"]), 1.0);
    check(json!(["b", "a"]), json!(["a", "b"]), 1.0);
    check(json!(["a", "b"]), json!(["a"]), 0.5);
    check(json!(["a"]), json!(["a", "b"]), 0.5);
    let words = json!(["workspaces", "section", "view", "others", "workspace", "team", "pinning"]);
    let found = json!(["starred", "multiple different workspaces", "shortcuts"]);
    check(found, words, 0.121_823_442_020_486_35);
}

#[test]
fn extra_items_may_cost_nothing() {
    let allowed = json!({"allowExtra": true});
    assert_eq!(score(allowed.clone(), json!(["a", "b"]), json!(["b"])).score, Some(1.0));
    assert_eq!(score(allowed, json!(["a"]), json!(["a", "b"])).score, Some(0.5));
}

#[test]
fn an_empty_list_matches_only_an_empty_list() {
    check(json!([]), json!([]), 1.0);
    check(json!([0]), json!([]), 0.0);
    check(json!([]), json!([0]), 0.0);
    let empty = score(json!({}), json!([]), json!(["a"]));
    assert_eq!(
        empty.reason.as_deref(),
        Some("0 of 1 expected items found in 0 items; the best pairing adds up to 0.00")
    );
}

#[test]
fn items_that_are_not_texts_are_compared_as_json() {
    check(json!([10, "x"]), json!(["x", "10"]), 1.0);
    check(json!([{"a": 1}]), json!([{"a": 2}]), 6.0 / 7.0);
}

// autoevals for Python compares `1.0` and `1` as texts.
#[test]
fn numbers_are_compared_by_value() {
    check(json!([1.0]), json!([1]), 1.0);
    check(json!([-0.0, 2.50]), json!([0, 2.5]), 1.0);
    check(json!("[1.0]"), json!(["1"]), 1.0);
    check(json!([{"a": [1.0]}]), json!([{"a": [1]}]), 1.0);
    // Texts stay as they are written.
    check(json!(["1.0"]), json!([1]), 1.0 / 3.0);
    let value = json!({"value": [3.0]});
    assert_eq!(score(value, json!([3]), json!(["x"])).score, Some(1.0));
}

#[test]
fn an_output_that_is_the_ground_truth_scores_1() {
    check(json!([["a"]]), json!([["a"]]), 1.0);
    check(json!([["a", "b"], ["c"]]), json!([["c"], ["a", "b"]]), 1.0);
    check(json!([[]]), json!([[]]), 1.0);
    check(json!([]), json!([[], ["a"]]), 1.0);
    check(json!([["a"], ["x"]]), json!([["a"]]), 0.5);
    // Of equal scores, the items of an expected list are named.
    let either = score(json!({}), json!(["x"]), json!([["y"]]));
    assert!(either.reason.unwrap().starts_with("0 of 1 expected items"));
}

#[test]
fn a_text_may_hold_the_list() {
    check(json!("[\"a\", \"b\"]"), json!(["b", "a"]), 1.0);
    let scorer: ListContains = scorebox_sdk::configure(json!({})).unwrap();
    let failure = |output: Value, truth: Value| {
        let case = Case::new(output).with_ground_truth(truth);
        scorer.score(&case).unwrap_err().to_string()
    };
    assert_eq!(
        failure(json!("a, b"), json!(["a"])),
        "`output` should be a list, or a text that holds one as JSON, found a string"
    );
    assert!(failure(json!(["a"]), json!({"a": 1})).starts_with("`groundTruth` should be a list"));
    assert_eq!(
        scorer.score(&Case::new(json!([]))).unwrap_err().message(),
        "the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place"
    );
}

#[test]
fn several_expected_lists_may_be_given() {
    check(json!(["c"]), json!([["a", "b"], ["c"]]), 1.0);
    let values = json!({"values": [["a", "b"], ["c"]]});
    assert_eq!(score(values, json!(["c"]), json!(["x"])).score, Some(1.0));
    let value = json!({"value": ["c"]});
    assert_eq!(score(value, json!(["c"]), json!(["x"])).score, Some(1.0));
    let refusal =
        |config| scorebox_sdk::configure::<ListContains>(config).err().unwrap().to_string();
    assert!(refusal(json!({"values": []})).starts_with("`values` is an empty list"));
    assert!(refusal(json!({"value": [], "values": [[]]})).starts_with("`values`: give either"));
}

#[test]
fn the_pairs_are_reported() {
    let score = score(json!({}), json!(["ab", "x"]), json!(["x", "ac"]));
    assert_eq!(
        score.reason.as_deref(),
        Some("1 of 2 expected items found in 2 items; the best pairing adds up to 1.50")
    );
    assert_eq!(
        score.meta_value(),
        Some(json!({"pairs": [
            {"output": "ab", "expected": "ac", "score": 0.5},
            {"output": "x", "expected": "x", "score": 1.0},
        ]}))
    );
}

#[test]
fn negate_turns_the_score_around() {
    assert_eq!(score(json!({"negate": true}), json!(["a", "b"]), json!(["a"])).score, Some(0.5));
}

#[test]
fn similarity_is_that_of_levenshtein() {
    let texts =
        ["", "a", "kitten", "sitting", "naïve", "\u{1f600}é", &"ab".repeat(70), &"ba".repeat(90)];
    for left in texts {
        for right in texts {
            let edits = rapidfuzz::distance::levenshtein::distance(left.chars(), right.chars());
            check(json!([left]), json!([right]), of_edits(edits, left, right));
        }
    }
}

#[test]
fn an_equal_item_is_not_always_the_best_partner() {
    // `ab` with `aba` and `aba` with `ba` are worth 4/3, `aba` with itself and the others 1.
    check(json!(["ab", "aba"]), json!(["aba", "ba"]), 2.0 / 3.0);
}

#[test]
fn lists_that_are_too_long_to_pair_are_refused() {
    let scorer: ListContains = scorebox_sdk::configure(json!({})).unwrap();
    let refusal = |output: Vec<String>, expected: Vec<String>| {
        let case = Case::new(json!(output)).with_ground_truth(json!(expected));
        scorer.score(&case).unwrap_err().to_string()
    };
    let items = |count: usize| (0..count).map(|index| index.to_string()).collect();
    assert_eq!(
        refusal(items(2400), items(2400)),
        "2400 items and 2400 expected ones are too many, or too long, to find their best pairing (at most 150000000 \
         steps are done for a case); score shorter lists, or lists of shorter items"
    );
    // If all pairs are equally good, the search takes longest.
    let same = |count: usize| vec!["same".to_owned(); count];
    assert!(refusal(same(700), same(700)).starts_with("700 items and 700 expected ones are too"));
    check(json!(same(300)), json!(same(300)), 1.0);
    // All expected lists share the step limit.
    let case = Case::new(json!(same(400))).with_ground_truth(json!([same(400), same(400)]));
    assert_eq!(scorer.score(&case).unwrap().score, Some(1.0));
    let case = case.with_ground_truth(json!(vec![same(400); 4]));
    assert!(scorer.score(&case).is_err());
    check(json!(items(1000)), json!(items(1000)), 1.0);
}

#[test]
fn the_longer_the_items_the_fewer_can_be_compared() {
    let fits = |count: usize, item: &str| {
        let items = vec![item.to_owned(); count];
        comparing(&items, &items) < STEP_LIMIT
    };
    for (item, most) in [
        ("".to_owned(), 2236),
        ("a".repeat(60), 1118),
        ("é".repeat(60), 953),
        ("東".repeat(60), 845),
        ("a".repeat(100), 425),
        ("a".repeat(1000), 64),
    ] {
        assert!(fits(most, &item) && !fits(most + 1, &item), "{most} of {} bytes", item.len());
    }
    // The shorter list is read only once.
    let (one, many) = (vec!["a".repeat(10)], vec!["a".repeat(20); 100_000]);
    assert!(comparing(&one, &many) < STEP_LIMIT);
    let objects: Vec<_> = (0..1600).map(|id| json!({"id": id, "name": "abc"})).collect();
    let scorer: ListContains = scorebox_sdk::configure(json!({})).unwrap();
    let case = Case::new(json!(objects)).with_ground_truth(json!(objects));
    assert!(scorer.score(&case).unwrap_err().message().ends_with("lists of shorter items"));
}

#[test]
fn a_value_of_null_is_refused_and_does_not_mean_the_ground_truth() {
    let refused = scorebox_sdk::configure::<ListContains>(json!({"value": null})).err().unwrap();
    assert_eq!(refused.to_string(), "`value` is null; to use the ground truth, leave the key out");
}
