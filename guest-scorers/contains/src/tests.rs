//! contains, as a specification.

use serde_json::json;

use super::*;

fn score(config: Value, output: Value) -> Score {
    let scorer: Contains = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(output)).unwrap()
}

fn passes(config: Value, output: &str) -> bool {
    score(config, json!(output)).score == Some(1.0)
}

#[test]
fn any_all_or_none_of_the_texts() {
    let config = |mode| json!({"values": ["option1", "option2"], "mode": mode});
    assert!(passes(config("any"), "option2 only"));
    assert!(!passes(config("any"), "nothing"));
    assert!(passes(config("all"), "option1 and option2"));
    assert!(!passes(config("all"), "option1 alone"));
    assert!(passes(config("none"), "nothing"));
    assert!(!passes(config("none"), "option1"));
}

#[test]
fn case_counts_unless_configured() {
    assert!(!passes(json!({"value": "WORLD"}), "hello world"));
    assert!(passes(json!({"value": "WORLD", "ignoreCase": true}), "hello world"));
    assert!(passes(json!({"value": "ÄRA", "ignoreCase": true}), "neue ära"));
    // Python: "straße".casefold() in "STRASSEN".casefold().
    assert!(passes(json!({"value": "straße", "ignoreCase": true}), "STRASSEN"));
}

#[test]
fn negate_turns_every_mode_around() {
    let config = |mode| json!({"values": ["option1", "option2"], "mode": mode, "negate": true});
    assert!(passes(config("any"), "nothing"));
    assert!(!passes(config("any"), "option1"));
    assert!(passes(config("all"), "option1"));
    assert!(!passes(config("all"), "option2, option1"));
    assert!(passes(config("none"), "option1"));
    let negated = score(json!({"value": "a", "negate": true}), json!("cat"));
    assert_eq!(negated.reason.as_deref(), Some("found \"a\""));
}

#[test]
fn texts_may_be_written_with_commas_between_them() {
    assert!(passes(json!({"values": "one, \"two, three\"", "mode": "all"}), "one and two, three"));
    assert!(!passes(json!({"values": "one, \"two, three\"", "mode": "all"}), "one, two and three"));
}

#[test]
fn the_place_may_be_the_start_or_the_end() {
    assert!(passes(json!({"value": "hello", "at": "start"}), "hello world"));
    assert!(!passes(json!({"value": "world", "at": "start"}), "hello world"));
    assert!(passes(json!({"value": "world", "at": "end"}), "hello world"));
    assert!(!passes(json!({"value": "world", "at": "end"}), "hello world\n"));
}

#[test]
fn the_ground_truth_stands_in_for_configured_texts() {
    let scorer: Contains = scorebox_sdk::configure(json!({"mode": "all"})).unwrap();
    let case = Case::new(json!("one, two")).with_ground_truth(json!(["one", "three"]));
    let score = scorer.score(&case).unwrap();
    assert_eq!(score.score, Some(0.0));
    assert_eq!(score.meta_value(), Some(json!({"found": ["one"], "missing": ["three"]})));
    assert_eq!(score.reason.as_deref(), Some("found \"one\"; missing \"three\""));
}

#[test]
fn meta_shows_the_beginning_of_the_first_texts() {
    let long = "x".repeat(2_000_000);
    let many: Vec<_> = (0..150).map(|index| format!("missing {index}")).collect();
    let values = [&many[..], std::slice::from_ref(&long)].concat();
    let score = score(json!({"values": values, "mode": "all"}), json!(long));
    let meta = score.meta_value().unwrap();
    assert_eq!(meta["missing"].as_array().map(Vec::len), Some(100));
    let found = meta["found"][0].as_str().unwrap();
    assert!(found.starts_with("xxx") && found.chars().count() <= 81, "{found}");
}

#[test]
fn a_list_as_the_value_is_refused_and_a_list_in_values_is_json_text() {
    let error = scorebox_sdk::configure::<Contains>(json!({"value": ["a", "b"]})).err().unwrap();
    let why = "`value` is a list, which would be looked for as one JSON text; for several texts, use `values`";
    assert_eq!(error.to_string(), why);
    assert_eq!(score(json!({"values": [["a"]]}), json!({"of": ["a"]})).score, Some(1.0));
}

#[test]
fn other_values_are_searched_as_json_text() {
    assert_eq!(score(json!({"value": 0}), json!("There are 0 errors")).score, Some(1.0));
    assert_eq!(score(json!({"value": "\"a\":1"}), json!({"a": 1})).score, Some(1.0));
}

#[test]
fn an_empty_text_is_in_every_output() {
    let scorer: Contains = scorebox_sdk::configure(json!({})).unwrap();
    let case = Case::new(json!("x")).with_ground_truth(json!(""));
    assert_eq!(scorer.score(&case).unwrap().score, Some(1.0));
    assert!(passes(json!({"values": [""]}), ""));
}

#[test]
fn nothing_to_look_for_is_an_error() {
    let refusal = |config| {
        let error = scorebox_sdk::configure::<Contains>(config).err();
        error.expect("a refusal").to_string()
    };
    assert!(refusal(json!({"values": []})).starts_with("`values` is an empty list"));
    assert!(refusal(json!({"values": " , "})).starts_with("`values` is an empty list"));
    assert!(refusal(json!({"values": "\"a"})).starts_with("`values`: has a double quote"));
    assert_eq!(
        refusal(json!({"values": 1})),
        "`values`: should be a list of texts, or one text with commas between them"
    );
    assert_eq!(refusal(json!({"value": ""})), "`value` is empty, and would be in every output");
    let scorer: Contains = scorebox_sdk::configure(json!({})).unwrap();
    assert_eq!(
        scorer.score(&Case::new(json!("x"))).unwrap_err().message(),
        "the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place"
    );
    let empty = Case::new(json!("x")).with_ground_truth(json!([]));
    assert!(scorer.score(&empty).is_err());
}
