//! levenshtein, as a specification.

use serde_json::{Value, json};

use super::*;

/// Left, right, distance, and the length of the longer one: in code points, counted by hand.
const PAIRS: &[(&str, &str, usize, usize)] = &[
    ("", "", 0, 0),
    ("a", "", 1, 1),
    ("kitten", "sitting", 3, 7),
    ("abc", "axc", 1, 3),
    // One letter as one code point, and as a letter with a combining accent.
    ("é", "e\u{301}", 2, 2),
    // One ß against two letters.
    ("straße", "strasse", 2, 7),
    // A family is five code points: three people and two joiners.
    ("👨\u{200d}👩\u{200d}👧", "👨", 4, 5),
    // A skin tone is a separate code point.
    ("👍🏽", "👍", 1, 2),
    ("日本語", "日本", 1, 3),
    ("Привет", "привет", 1, 6),
    ("𝒳", "X", 1, 1),
    // Longer than one machine word, where a bit-parallel algorithm works differently.
    (
        "The quick brown fox jumps over the lazy dog, and over the lazy dog again.",
        "The quick brown cat jumps over the lazy dog, and over the lazy dog again!",
        4,
        73,
    ),
];

#[test]
fn the_score_is_one_minus_distance_over_the_longer_length() {
    for &(left, right, distance, longest) in PAIRS {
        let expected = 1.0 - distance as f64 / longest.max(1) as f64;
        for similarity in [similarity(left, right), similarity(right, left)] {
            assert_eq!(similarity.distance, distance, "{left:?} {right:?}");
            assert!((similarity.score - expected).abs() < 1e-12, "{left:?} {right:?}");
        }
    }
}

fn score(config: Value, output: Value, truth: Value) -> Score {
    let scorer: Levenshtein = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(output).with_ground_truth(truth)).unwrap()
}

#[test]
fn of_several_expected_texts_the_most_alike_counts() {
    let best = score(json!({}), json!("color"), json!(["hue", "colour", "tint"]));
    assert!((best.score.unwrap() - 5.0 / 6.0).abs() < 1e-12);
    assert_eq!(best.meta_value(), Some(json!({"distance": 1})));
    assert_eq!(best.reason.as_deref(), Some("1 edit away from the expected text"));
}

#[test]
fn case_counts_unless_configured() {
    assert_eq!(score(json!({}), json!("A"), json!("a")).score, Some(0.0));
    let folded = score(json!({"ignoreCase": true}), json!("ÄB"), json!("äb"));
    assert_eq!(folded.score, Some(1.0));
}

#[test]
fn a_list_output_may_equal_the_whole_list() {
    assert_eq!(score(json!({}), json!([1, 2]), json!([1.0, 2])).score, Some(1.0));
}

#[test]
fn configured_texts_come_before_the_ground_truth() {
    assert_eq!(score(json!({"value": "abc"}), json!("abc"), json!("x")).score, Some(1.0));
}

#[test]
fn negate_turns_the_score_around() {
    let turned = score(json!({"negate": true}), json!("axc"), json!("abc"));
    assert!((turned.score.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(turned.reason.as_deref(), Some("1 edit away from the expected text"));
}

// The pairs are from promptfoo's tests of `levenshtein`.
#[test]
fn with_a_most_distance_it_passes_or_fails() {
    let passes = |max, output, truth: &str| {
        score(json!({"maxDistance": max}), json!(output), json!(truth)).score == Some(1.0)
    };
    assert!(passes(5, "test!@#$", "test!@#$"));
    assert!(passes(2, "tist", "test"));
    assert!(passes(3, "sitting", "kitten"));
    assert!(!passes(2, "sitting", "kitten"));
    assert!(!passes(0, "a", "b"));
    let close = score(json!({"maxDistance": 1}), json!("tist"), json!("test"));
    assert_eq!(
        close.reason.as_deref(),
        Some("1 edit away from the expected text; at most 1 allowed")
    );
    let far = score(json!({"maxDistance": 1, "negate": true}), json!("a"), json!("xyz"));
    assert_eq!(far.score, Some(1.0));
    assert_eq!(
        far.reason.as_deref(),
        Some("3 edits away from the expected text; at most 1 allowed")
    );
}

#[test]
fn with_a_most_distance_the_nearest_text_counts() {
    // The first is closer, the second more similar.
    let config = json!({"maxDistance": 1});
    assert_eq!(score(config, json!("a"), json!(["b", "abc"])).score, Some(1.0));
}
