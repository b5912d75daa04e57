//! match, as a specification. The results are those of `match_str` in Inspect 0.3.285.

use serde_json::Value;

use super::*;

fn score(config: Value, output: &str, truth: Value) -> Score {
    let scorer: Match = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!(output)).with_ground_truth(truth)).unwrap()
}

fn matches(config: Value, output: &str, truth: &str) -> bool {
    score(config, output, json!(truth)).score == Some(1.0)
}

#[test]
fn the_place_is_the_end_unless_configured() {
    let at = |location: &str, output| matches(json!({"location": location}), output, "Paris");
    assert!(matches(json!({}), "It is Paris", "Paris"));
    assert!(!matches(json!({}), "Paris it is", "Paris"));
    assert!(at("begin", "Paris it is") && !at("begin", "It is Paris"));
    assert!(at("any", "It is Paris, I think") && !at("any", "It is Rome"));
    assert!(at("exact", "Paris") && !at("exact", "It is Paris"));
}

#[test]
fn case_and_punctuation_around_a_text_do_not_count() {
    assert!(matches(json!({}), "It is **PARIS**.\n", " \"Paris\""));
    assert!(!matches(json!({"ignoreCase": false}), "PARIS", "Paris"));
    assert!(matches(json!({}), "Hauptstraße", "HAUPTSTRASSE"));
    assert!(!matches(json!({"location": "exact"}), "Par-is", "Paris"));
    assert!(!matches(json!({}), "«Paris»", "Paris"));
    // Nothing of the expected text is left.
    assert!(matches(json!({}), "anything", "."));
}

#[test]
fn white_space_is_that_of_python() {
    assert!(matches(json!({}), "It is Paris\u{1c}", "\u{1f}Paris"));
    assert!(matches(json!({"numeric": true}), "7\u{1d}42\u{1e}", "42"));
    assert!(!matches(json!({"numeric": true}), "7\u{1d}42", "742"));
}

#[test]
fn a_number_is_not_a_text() {
    let numeric = |location: &str, output, truth| {
        matches(json!({"location": location, "numeric": true}), output, truth)
    };
    assert!(!numeric("end", "The answer is 25", "5"));
    assert!(matches(json!({}), "The answer is 25", "5"));
    assert!(!numeric("begin", "50 is the answer", "5"));
    assert!(!numeric("any", "got 25 here", "5"));
    assert!(numeric("any", "first 7 then 25 then done", "25"));
    assert!(numeric("begin", "first 7 then 25", "7"));
    assert!(numeric("end", "28 + 32 = 60\nThis solves the problem.", "60"));
    assert!(!numeric("exact", "5 some text", "5"));
    assert!(numeric("exact", "5.0", "5"));
    assert!(!numeric("exact", "(5)", "5"));
}

#[test]
fn an_expected_text_that_is_not_a_number_stays_a_text() {
    let numeric = json!({"numeric": true});
    assert!(matches(numeric.clone(), "28 + 32 = 60%", "60%"));
    assert!(!matches(numeric.clone(), "28 + 32 = 60%", "60"));
    let either = score(numeric, "28 + 32 = 60%", json!(["60", "60%"]));
    assert_eq!(either.score, Some(1.0));
}

#[test]
fn an_output_that_is_the_expected_text_matches() {
    for location in ["begin", "end", "any", "exact"] {
        let config = json!({"location": location, "numeric": true});
        for text in ["(42)", "42!", "[42]", "42:", "(5", "(1,000)", "$(7)", "60%, 70%"] {
            assert!(matches(config.clone(), text, text), "{location} {text}");
        }
        // Inspect scores `(42)` at `exact` with 0, and this too: it removes the comma from the expected text only.
        assert!(matches(config.clone(), "Paris, Texas", "Paris, Texas"), "{location}");
        assert!(matches(config, "Paris Texas", "Paris, Texas"), "{location}");
    }
}

#[test]
fn a_whole_output_is_the_number_of_an_expected_one_in_brackets() {
    let exact =
        |output, truth| matches(json!({"location": "exact", "numeric": true}), output, truth);
    for truth in ["(42)", "[42]", "\"42\"", "42:", "$(42)"] {
        assert!(exact("42", truth) && exact("42.0", truth), "{truth}");
        for output in [">=42", "~42", "-42", "42%", "{42}", "(42) apples"] {
            assert!(!exact(output, truth), "{output} {truth}");
        }
    }
}

#[test]
fn numbers_are_read_as_people_write_them() {
    let is = |output, truth| matches(json!({"numeric": true}), output, truth);
    for output in ["**$1,234.50**", "\\$1234.5", "€1_234.5", "(1234.5)!", "1.2345e3."] {
        assert!(is(output, "1234.5"), "{output}");
    }
    let scripts = [
        ("−5", "-5"),
        ("--5", "5"),
        ("½", "0.5"),
        ("-2½", "-2.5"),
        ("2½½", "2½½"),
        ("10³", "1000"),
        ("2⁻²", "0.25"),
        ("-2²", "4"),
        ("Ⅻ", "12"),
        ("１２３", "123"),
        ("٣٫٥", "3.5"),
        ("三", "3"),
        ("十二", "12"),
        ("一万二千", "12000"),
        ("二〇二五", "2025"),
        ("三点一四", "3.14"),
        ("负廿三", "-23"),
    ];
    for (output, truth) in scripts {
        assert!(is(output, truth), "{output}");
    }
    for output in ["5abc", "<5", "~5", "5%", "0⁻¹", "inf", "1.2.3", "5e"] {
        assert!(!is(output, "5"), "{output}");
    }
}

#[test]
fn five_significant_digits_count() {
    assert!(matches(json!({"numeric": true}), "1.000001", "1"));
    assert!(matches(json!({"numeric": true}), "123456", "123459"));
    assert!(!matches(json!({"numeric": true}), "12345", "12346"));
}

#[test]
fn any_expected_text_will_do_and_negate_turns_the_score_around() {
    assert_eq!(score(json!({}), "b", json!(["a", "b"])).score, Some(1.0));
    assert_eq!(score(json!({"negate": true}), "b", json!(["a", "b"])).score, Some(0.0));
    assert_eq!(score(json!({"value": "c"}), "c", json!("a")).score, Some(1.0));
    assert_eq!(score(json!({"numeric": true}), "It is 7", json!(7)).score, Some(1.0));
    let none = scorebox_sdk::configure::<Match>(json!({})).unwrap();
    assert!(none.score(&Case::new(json!("b"))).is_err());
}

#[test]
fn reasons_say_what_is_where() {
    let reason = |config, output, truth| score(config, output, truth).reason.unwrap();
    assert_eq!(reason(json!({}), "a b", json!("b")), "\"b\" is at the output's end");
    assert_eq!(
        reason(json!({"location": "any"}), "c", json!(["a", "b"])),
        "none of \"a\", \"b\" is in the output"
    );
    assert_eq!(
        reason(json!({"numeric": true}), "It is 25", json!("5")),
        "\"5\" is not at the output's end, where 25 is"
    );
}

#[test]
fn long_outputs_cost_no_more_than_their_length() {
    let numeric = json!({"numeric": true, "location": "any"});
    for piece in ["1 ", "½", "1,", "三", "-", "e", "(", "²", "word "] {
        assert!(!matches(numeric.clone(), &piece.repeat(100_000), "77"));
    }
}
