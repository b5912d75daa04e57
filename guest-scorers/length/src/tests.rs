//! length, as a specification.

use serde_json::json;

use super::*;

fn score(config: Value, output: &str) -> f64 {
    let scorer: Length = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!(output))).unwrap().score.unwrap()
}

fn count(unit: &str, output: &str) -> Value {
    let scorer: Length = scorebox_sdk::configure(json!({"unit": unit, "max": 0})).unwrap();
    scorer.score(&Case::new(json!(output))).unwrap().meta_value().unwrap()["count"].clone()
}

#[test]
fn the_score_falls_with_the_distance_from_what_is_allowed() {
    let config = json!({"min": 2, "max": 4});
    assert_eq!(score(config.clone(), ""), 0.0);
    assert_eq!(score(config.clone(), "one"), 0.5);
    assert_eq!(score(config.clone(), "one two"), 1.0);
    assert_eq!(score(config.clone(), "one two three four"), 1.0);
    assert_eq!(score(config, "1 2 3 4 5 6 7 8"), 0.5);
    assert_eq!(score(json!({"max": 0}), ""), 1.0);
    assert_eq!(score(json!({"max": 0}), "one"), 0.0);
    assert_eq!(score(json!({"min": 0}), ""), 1.0);
}

// The pairs are from promptfoo's tests of `word-count`.
#[test]
fn with_zero_outside_it_passes_or_fails() {
    let passes = |min: Option<usize>, max: Option<usize>, output| {
        score(json!({"min": min, "max": max, "outside": "zero"}), output) == 1.0
    };
    assert!(passes(Some(5), Some(5), "This is a test sentence"));
    assert!(passes(Some(5), Some(10), "This is a test sentence"));
    assert!(passes(Some(4), Some(4), "Word   with    multiple     spaces"));
    assert!(passes(Some(7), Some(7), "First line\nSecond line here\nThird line"));
    assert!(passes(Some(0), Some(0), ""));
    assert!(!passes(None, Some(3), "This text has too many words"));
    let config = json!({"max": 3, "outside": "zero"});
    assert_eq!(score(config, "This text has too many words"), 0.0);
}

#[test]
fn negate_turns_the_score_around() {
    assert_eq!(score(json!({"min": 4, "negate": true}), "one"), 0.75);
    let config = json!({"min": 10, "max": 10, "outside": "zero", "negate": true});
    assert_eq!(score(config, "Short text"), 1.0);
}

#[test]
fn words_characters_sentences_and_lines_are_counted() {
    assert_eq!(count("words", " one-and-a-half\ttwo\u{a0}three\n"), json!(3));
    assert_eq!(count("characters", "año 👍🏽"), json!(6));
    assert_eq!(count("sentences", "It costs 3.50. Really? Yes! ok"), json!(4));
    assert_eq!(count("sentences", "See p. ex. this.\nThat"), json!(2));
    assert_eq!(count("sentences", "  \n"), json!(0));
    assert_eq!(count("lines", "one\n\nthree\r\n"), json!(3));
    assert_eq!(count("lines", ""), json!(0));
}

#[test]
fn other_values_are_counted_as_their_json_text() {
    let scorer: Length = scorebox_sdk::configure(json!({"unit": "characters", "max": 7})).unwrap();
    let score = scorer.score(&Case::new(json!({"a": 1}))).unwrap();
    assert_eq!(score.reason.as_deref(), Some("7 characters; at most 7 allowed"));
}

#[test]
fn reasons_say_how_long_it_is_and_may_be() {
    let reason = |config| {
        let scorer: Length = scorebox_sdk::configure(config).unwrap();
        scorer.score(&Case::new(json!("one"))).unwrap().reason.unwrap()
    };
    assert_eq!(reason(json!({"min": 2, "max": 4})), "1 word; 2 to 4 allowed");
    assert_eq!(reason(json!({"min": 2})), "1 word; at least 2 allowed");
    assert_eq!(reason(json!({"min": 2, "max": 2})), "1 word; 2 allowed");
    assert_eq!(reason(json!({"unit": "lines", "max": 2})), "1 line; at most 2 allowed");
}

#[test]
fn impossible_bounds_are_refused() {
    let refusal = |config| scorebox_sdk::configure::<Length>(config).err().unwrap().to_string();
    assert_eq!(refusal(json!({})), "needs `min` or `max`, or both");
    assert_eq!(
        refusal(json!({"min": 10, "max": 5})),
        "`max`: should be `min` (10) or more, found 5"
    );
    assert!(refusal(json!({"max": -1})).starts_with("`max`: "));
}

#[test]
fn a_number_may_be_written_as_text() {
    let scorer: Length = scorebox_sdk::configure(json!({"min": "2", "max": " 3 "})).unwrap();
    assert_eq!((scorer.min, scorer.max), (Some(2), Some(3)));
    for wrong in ["2.5", "-1", "two", ""] {
        let error = scorebox_sdk::configure::<Length>(json!({ "max": wrong })).err().unwrap();
        let expected = format!("`max`: should be a whole number, 0 or more; found \"{wrong}\"");
        assert_eq!(error.to_string(), expected);
    }
    let error = scorebox_sdk::configure::<Length>(json!({"max": -1})).err().unwrap();
    assert!(error.to_string().starts_with("`max`: "), "{error}");
}
