//! answer, as a specification. Finding answers is specified next to its code.

use serde_json::Value;

use super::*;

fn score(config: Value, output: &str, truth: Value) -> Score {
    let scorer: Answer = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!(output)).with_ground_truth(truth)).unwrap()
}

fn right(pattern: &str, output: &str, truth: &str) -> bool {
    score(json!({"pattern": pattern}), output, json!(truth)).score == Some(1.0)
}

#[test]
fn a_letter_a_word_or_a_line_is_compared_whole() {
    assert!(right("letter", "It is Paris.\nANSWER: B", "B"));
    assert!(!right("letter", "ANSWER: B", "C"));
    assert!(right("word", "ANSWER: Yes.", "yes"));
    assert!(!right("word", "ANSWER: Yes", "Ye"));
    assert!(right("line", "ANSWER: New York\n", " new york"));
}

#[test]
fn any_expected_answer_will_do_and_negate_turns_the_score_around() {
    let config = json!({"pattern": "letter"});
    assert_eq!(score(config, "ANSWER: B", json!(["A", "B"])).score, Some(1.0));
    let config = json!({"pattern": "letter", "value": "A", "negate": true});
    assert_eq!(score(config, "ANSWER: B", json!("B")).score, Some(1.0));
    let config = json!({"pattern": "letter", "ignoreCase": false});
    assert_eq!(score(config, "ANSWER: b", json!("B")).score, Some(0.0));
    let config = json!({"pattern": "word"});
    assert_eq!(score(config, "ANSWER: 42", json!(42)).score, Some(1.0));
}

#[test]
fn reasons_say_what_the_answer_is() {
    let config = json!({"pattern": "word"});
    let wrong = score(config.clone(), "ANSWER: Rome", json!(["Paris", "Lyon"]));
    let reason = "the answer is \"Rome\", expected one of \"Paris\", \"Lyon\"";
    assert_eq!(wrong.reason.as_deref(), Some(reason));
    assert_eq!(wrong.meta_value(), Some(json!({"answer": "Rome"})));
    let none = score(config, "Rome", json!("Rome"));
    assert_eq!(none.score, Some(0.0));
    let reason = "no answer found: the output does not have `ANSWER:` with one word";
    assert_eq!(none.reason.as_deref(), Some(reason));
    assert_eq!(none.meta_value(), Some(json!({"answer": null})));
}

#[test]
fn the_form_of_the_answer_has_to_be_named() {
    let refusal = |config| scorebox_sdk::configure::<Answer>(config).err().unwrap().to_string();
    assert_eq!(refusal(json!({})), "`pattern` is required");
    assert!(refusal(json!({"pattern": "letters"})).contains("did you mean `letter`?"));
    let scorer: Answer = scorebox_sdk::configure(json!({"pattern": "word"})).unwrap();
    assert!(scorer.score(&Case::new(json!("ANSWER: a"))).is_err());
}
