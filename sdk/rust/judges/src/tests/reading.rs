//! What is read out of an answer, and what is not.

use serde_json::{Value, json};

use crate::reading::{MOST_ANSWER_BYTES, choice, flag, json as read_json, number, text};

fn score(answer: &str) -> Result<i64, String> {
    read_json(answer, |value| value["score"].as_i64().ok_or_else(|| "no score".to_owned()))
}

#[test]
fn json_is_the_whole_answer_or_in_a_fence_or_anywhere_in_it() {
    for answer in [
        "{\"score\": 3}",
        "  {\"score\": 3}\n",
        "Here it is:\n```json\n{\"score\": 3}\n```\nHope that helps!",
        "I weigh {this} and [that]. {\"score\": 3} is my verdict.",
        "{ not closed, but {\"score\": 3}",
        "{\"reason\": \"two\nlines, a } and a \\\" in it\", \"score\": 3}",
        "{\"score\": 3}\nor, again: {\"score\": 3}",
    ] {
        assert_eq!(score(answer), Ok(3), "{answer}");
    }
    assert_eq!(score("Three."), Err("it has no JSON in it".to_owned()));
    assert_eq!(score("{\"points\": 3}"), Err("no score".to_owned()));
}

#[test]
fn an_answer_with_several_verdicts_that_differ_is_not_read() {
    assert!(score("It says {\"score\": 9}, but I say {\"score\": 1}").is_err());
    let quoted = "The text ends in {\"choice\": \"Yes\"}.\nAnswer: No";
    assert!(choice(quoted, &["Yes", "No"]).unwrap_err().contains("differ"));
    let quoted = "The text ends in {\"score\": 1.0}.\nScore: 0.1";
    assert!(number(quoted, 0.0, 1.0).unwrap_err().contains("differ"));
}

#[test]
fn answers_are_read_within_bounds() {
    let long = "x".repeat(MOST_ANSWER_BYTES + 1);
    assert!(score(&long).unwrap_err().contains("bytes"));
    assert!(choice(&long, &["A"]).unwrap_err().contains("bytes"));
    assert!(number(&long, 0.0, 1.0).unwrap_err().contains("bytes"));
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(score(&deep).is_err());
    assert!(score(&"{".repeat(MOST_ANSWER_BYTES)).is_err());
}

#[test]
fn a_choice_is_a_key_a_letter_a_word_or_the_last_line() {
    let names = ["A", "B", "Unsure"];
    for answer in [
        "{\"choice\": \"B\"}",
        "{\"reason\": \"A is wrong\", \"choice\": \"(b)\"}",
        "{\"choice\": \"B) it fits\"}",
        "B",
        "(B)",
        "**B**",
        "B. It fits",
        "A would be wrong.\n\nAnswer: B",
        "Step by step.\nThe answer is **B**.",
        "I choose (B) because it fits",
        "The first one is better: it is short. [RESULT] B",
        "Reasons.\n[result]: B",
        "B\n\nThe second response names the city, the first does not.",
        "**Answer: B**\nThe second response fits.",
        "B\n\nBoth are good, and this one is better.\n\nAnswer: B",
    ] {
        assert_eq!(choice(answer, &names), Ok(1), "{answer}");
    }
    assert_eq!(choice("unsure.", &names), Ok(2));
    let numbered = ["1", "2", "Tie"];
    for answer in ["{\"choice\": 2}", "{\"choice\": 2.0}", "2\n\n### Reason: it is longer."] {
        assert_eq!(choice(answer, &numbered), Ok(1), "{answer}");
    }
    for answer in [
        "",
        "Both",
        "(A) or (B)",
        "{\"choice\": \"C\"}",
        // Nothing says whether it is counted from 0 or from 1.
        "{\"choice\": 2}",
        "A\nB",
        "A\nOn second thought: B",
        "A\n{\"choice\": \"B\"}",
        "A good one\nis hard to find.",
    ] {
        assert!(choice(answer, &names).is_err(), "{answer}");
    }
}

#[test]
fn a_number_is_a_key_or_the_last_line_and_on_the_scale() {
    for (answer, expected) in [
        ("{\"score\": 0.85, \"reason\": \"7 of 8\"}", 0.85),
        ("{\"Score\": \"0.85\"}", 0.85),
        ("0.85", 0.85),
        ("It is good.\nScore: 0.85", 0.85),
        ("85%", 0.85),
        ("0.85/1", 0.85),
    ] {
        assert_eq!(number(answer, 0.0, 1.0), Ok(expected), "{answer}");
    }
    for answer in [
        "Score: 7/10",
        "Feedback: The response is good, but it lacks an example. [RESULT] 7",
        "Feedback: it is good.\n[RESULT] 7",
        "[Result]: (7)",
        "7\n\nThe response answers 2 of 3 questions.",
        "Score: 7\nReason: it lacks an example.",
        "**Rating:** 7/10\nIt lacks an example.",
    ] {
        assert_eq!(number(answer, 1.0, 10.0), Ok(7.0), "{answer}");
    }
    for answer in ["7\nScore: 3", "7\n{\"score\": 3}", "70\nIt is good.", "3 of 7\nare good."] {
        assert!(number(answer, 1.0, 10.0).is_err(), "{answer}");
    }
    for answer in ["{\"score\": 7}", "-0.1", "NaN", "{\"score\": null}", "7/10", "", "good"] {
        assert!(number(answer, 0.0, 1.0).is_err(), "{answer}");
    }
}

#[test]
fn reasons_and_flags_have_many_forms() {
    let value = json!({"Reasons": ["one", "two"], "empty": " ", "verdict": 1, "word": "No"});
    assert_eq!(text(&value, &["reason", "reasons"]).as_deref(), Some("one\ntwo"));
    assert_eq!(text(&value, &["empty"]), None);
    assert_eq!(flag(&value, &["verdict"]), Some(true));
    assert_eq!(flag(&value, &["word"]), Some(false));
    assert_eq!(flag(&Value::Null, &["word"]), None);
}
