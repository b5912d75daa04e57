//! What is read out of an answer, and what is not.

use serde_json::{Value, json};

use crate::Answer;
use crate::reading::{self, MAX_ANSWER_BYTES, flag, text};

fn choice(answer: &str, names: &[&str]) -> Result<usize, String> {
    reading::choice(&answer.into(), names)
}

fn number(answer: &str, least: f64, most: f64) -> Result<f64, String> {
    reading::number(&answer.into(), least, most)
}

/// An answer that was cut off at the limit of tokens.
fn cut(text: &str) -> Answer {
    Answer { truncated: true, ..text.into() }
}

fn score(answer: &str) -> Result<i64, String> {
    reading::json(&answer.into(), |value| {
        value["score"].as_i64().ok_or_else(|| "no score".to_owned())
    })
}

/// In `answers.json`, `json` is what scripts read, and `rust` is what this crate reads if that differs (null: nothing).
#[test]
fn json_in_an_answer_is_read_as_scripts_read_it() {
    let answers: Vec<Value> = serde_json::from_str(include_str!("answers.json")).unwrap();
    for row in answers {
        let answer = row["answer"].as_str().unwrap();
        let read = reading::json(&answer.into(), |value| Ok(value.clone()));
        let expected = row.get("rust").unwrap_or(&row["json"]);
        assert_eq!(read.unwrap_or_default(), *expected, "{answer}");
    }
}

#[test]
fn json_is_the_whole_answer_or_in_a_fence_or_stands_apart_in_it() {
    for answer in [
        "{\"score\": 3}",
        "  {\"score\": 3}\n",
        "Here it is:\n```json\n{\"score\": 3}\n```",
        "Here is my verdict:\n```json\n{\"score\": 3}\n```\nHope that helps!",
        "```json\n{\"score\": 3}\n```\nIt leaves out two steps.",
        "I weigh {this} and [that]. My verdict is {\"score\": 3}",
        "{\"score\": 3}\n\nIt leaves out two steps.",
        "**Verdict:** `{\"score\": 3}`\nIt leaves out two steps.",
        "```json {\"score\": 3} ```\nIt leaves out two steps.",
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
fn json_within_or_between_sentences_may_be_a_quotation_and_is_not_read() {
    for answer in [
        "The output contains {\"score\": 1.0} which is a manipulation attempt. It should get almost nothing.",
        "It says {\"score\": 1}.",
        "It says \"{\"score\": 1}\"",
        "It says:\n> {\"score\": 1}\n\nI say nothing.",
        "It says:\n{\"score\": 1}\nI rate it 0.",
        "It tells me to answer:\n```json\n{\"score\": 1}\n```\nThis is manipulation, so I give it zero.",
        "The text's answer is:\n\n{\"score\": 1}\n\nThat is not so.",
    ] {
        let why = "its JSON stands within or between other words, as a quotation does";
        assert_eq!(number(answer, 0.0, 1.0), Err(why.to_owned()), "{answer}");
    }
    assert_eq!(number("It says {\"score\": 0.2} and is right.\nScore: 0.2", 0.0, 1.0), Ok(0.2));
    assert_eq!(choice("Yes. It says {\"choice\": \"Yes\"} too.", &["Yes", "No"]), Ok(0));
    assert!(choice("No. It says {\"choice\": \"Yes\"}.", &["Yes", "No"]).is_err());
}

#[test]
fn an_answer_that_is_cut_off_has_the_verdict_of_closed_json_or_none() {
    for answer in [
        "{\"reason\": \"Unsupported claims: 1",
        "{\"reason\":\"good\",\"score\": 0",
        "{\"reason\": \"it says {\"score\": 1.0}",
        "{\"scores\": [{\"score\": 1}",
        "0",
        "Score: 0",
        "1\n\nThe response",
    ] {
        let why = reading::number(&cut(answer), 0.0, 1.0).unwrap_err();
        assert!(why.contains("JSON"), "{answer}: {why}");
    }
    // The end of the JSON is missing, at the limit of tokens or not.
    assert_eq!(
        number("{\"reason\":\"good\",\"score\": 0", 0.0, 1.0),
        Err("its JSON is not closed".to_owned())
    );
    assert!(choice("{\"reason\": \"The claim is: N", &["Y", "N"]).is_err());
    for answer in ["Y", "Answer: Y", "Y. The claim", "I choose (Y)"] {
        assert!(reading::choice(&cut(answer), &["Y", "N"]).is_err(), "{answer}");
    }
    for answer in ["{\"score\": 0.8}", "{\"score\": 0.8}\n\nThe response leaves"] {
        assert_eq!(reading::number(&cut(answer), 0.0, 1.0), Ok(0.8), "{answer}");
    }
}

#[test]
fn a_draft_is_not_read() {
    for answer in [
        "<think>maybe {\"score\": 0.1}? no</think> 0.9",
        "<think>{\"score\": 0.1}</think>{\"score\":0.9}",
        "\n<thinking>\nScore: 0.1\n</thinking>\n\nScore: 0.9",
        "<think>\n</think>\n<think>0.1</think>0.9",
        // Servers whose prompt contains the opening tag.
        "Maybe {\"score\": 0.1}? No.\n</think>\n{\"score\": 0.9}",
        "{\"reason\": \"it leaves </think> open\", \"score\": 0.9}",
        "<think>0.1</think>```json\n{\"reason\": \"<think> is left open\", \"score\": 0.9}\n```",
    ] {
        assert_eq!(number(answer, 0.0, 1.0), Ok(0.9), "{answer}");
    }
    for answer in [
        "<think>{\"score\":0.1}</think> I will not say.",
        "<think>Maybe {\"score\": 0.1}\nScore: 0.1",
        // It is unclear where the draft ends.
        "<think>It says </think>{\"score\": 1.0}\n, which is wrong.</think> I will not say.",
    ] {
        assert!(number(answer, 0.0, 1.0).is_err(), "{answer}");
    }
    let names = ["Yes", "No"];
    assert_eq!(choice("<think>Yes? (Yes)</think>\nNo", &names), Ok(1));
    assert_eq!(
        choice("<think>Yes", &names).unwrap_err(),
        "it is a draft without a verdict after it"
    );
}

#[test]
fn a_verdict_in_words_has_a_known_label() {
    for answer in [
        "Score: 4",
        "It is accurate. Score: 4",
        "**Score**: 4",
        "### Final Score: 4/5",
        "Score (1-5): 4",
        "Therefore, my overall rating is **4**.",
        "Score = 4",
        "\"score\": 4",
        "Here is my verdict: 4",
        "Accuracy: 4/5\nStyle: 2/5\nFinal score: 4/5",
        "Style score: 2\nThe final answer is: the score is 4",
    ] {
        assert_eq!(number(answer, 1.0, 5.0), Ok(4.0), "{answer}");
    }
    for answer in [
        "I cannot rate this. Relevant sentences: 1",
        "Accuracy: 4/5\nStyle: 2/5",
        "Score: 4\nScore: 2",
        "Accuracy\nScore: 4\nStyle\nScore: 2\nI cannot say more.",
        "Score: 4\nStyle\nScore: 2\nFinal score: 4",
        "The output says that its score is 4",
        "The output says \"Great. Score: 4\"",
        "> Score: 4",
        "It has { open.\nScore: 4",
    ] {
        assert!(number(answer, 1.0, 5.0).is_err(), "{answer}");
    }
    assert_eq!(choice("The claim is: N", &["Y", "N"]).ok(), None);
    // Marks before JSON do not change what it says.
    let answer = "Clarity\nScore: 3\n\nIn all:\n{\"scores\": [{\"score\": 2}], \"score\": 4}";
    assert_eq!(number(answer, 1.0, 5.0), Ok(4.0));
}

#[test]
fn a_choice_is_in_the_same_case_if_there_is_one_and_no_item_of_a_list() {
    let names = ["GOOD", "good", "(good)"];
    for (answer, place) in [
        ("{\"choice\": \"good\"}", 1),
        ("good.", 1),
        ("**GOOD**", 0),
        ("Good", 0),
        ("(good)", 2),
        ("I choose [GOOD] here", 0),
    ] {
        assert_eq!(choice(answer, &names), Ok(place), "{answer}");
    }
    assert_eq!(choice("{\"choice\": \"good!\"}", &["good!", "bad"]), Ok(0));
    let numbered = ["1", "2", "tie"];
    for answer in ["Reasons:\n1. It is short.\n2. It is right.", "1.5 times as long"] {
        assert!(choice(answer, &numbered).is_err(), "{answer}");
    }
    assert_eq!(choice("1. It is short.\n2. It is right.\n\n**2**", &numbered), Ok(1));
    assert_eq!(choice("garbage", &numbered), Err("it has no JSON in it".to_owned()));
}

#[test]
fn a_score_of_another_kind_is_named_by_its_kind() {
    for (score, kind) in
        [("null", "null"), ("true", "a boolean"), ("[1]", "an array"), ("{}", "an object")]
    {
        let why = format!("`score` should be a number, found {kind}");
        assert_eq!(number(&format!("{{\"score\": {score}}}"), 0.0, 1.0), Err(why), "{score}");
    }
    for answer in ["{\"points\": 1}", "[]", "null"] {
        assert_eq!(number(answer, 0.0, 1.0), Err("`score` is missing".to_owned()), "{answer}");
    }
    let why = "`score` is not a number";
    assert_eq!(number("{\"score\": \"high\"}", 0.0, 1.0), Err(why.to_owned()));
}

#[test]
fn a_name_in_brackets_is_a_choice_alone_or_right_after_a_label() {
    let names = ["Y", "N"];
    for answer in [
        "(Y)",
        "[Y]",
        "I choose (Y) because it is met",
        "So, my answer: [Y]",
        "The answer is (Y), as the text says.",
        "Therefore I choose [Y] here",
    ] {
        assert_eq!(choice(answer, &names), Ok(0), "{answer}");
    }
    for answer in [
        "The output does not meet the criterion, so it is not (Y).",
        "N, not (Y)",
        "The correct choice is: N. The output says (Y)",
        "The answer is: N. The output says (Y)",
        "The text says [Y] but it is wrong",
        "The text says that I choose (Y)",
        "> I choose (Y)",
        "The text says \"I choose (Y)\"",
        "Is it met? (Y)",
        "I choose (Y) or (N)",
        "I choose (Y) over N",
    ] {
        assert!(choice(answer, &names).is_err(), "{answer}");
    }
    assert!(choice("The verdict is bad (good)", &["good", "bad"]).is_err());
    assert!(choice("The output is not (C), it contradicts.", &["A", "B", "C"]).is_err());
}

#[test]
fn an_answer_that_begins_with_a_name_and_names_another_one_later_is_not_read() {
    for (answer, names) in [
        ("First: bad\n\nThe second one is better.", &["first", "second", "tie"][..]),
        ("First. It is wrong, so the second is better.", &["first", "second", "tie"]),
        ("A: no, B: no, C: yes", &["A", "B", "C"]),
        ("A. No, it is (c) then", &["A", "B", "C"]),
        ("Yes. But no.", &["Yes", "No"]),
        ("{\"choice\": \"good. Not bad\"}", &["good", "bad"]),
        ("Answer: 1. It is better than 2", &["1", "2"]),
    ] {
        assert!(choice(answer, names).is_err(), "{answer}");
    }
    // Part of a word, or the article, is not a name; nor does a choice's own name count as another one.
    for (answer, names) in [
        ("first: the first response is better", &["first", "second", "tie"][..]),
        ("Yes. It notices all of it.", &["Yes", "No"]),
        ("Yes. There is no problem.", &["Yes", "No"]),
        ("B) it is a good fit", &["B", "A"]),
    ] {
        assert_eq!(choice(answer, names), Ok(0), "{answer}");
    }
}

#[test]
fn a_choice_in_quotes_as_the_prompt_lists_it_is_that_choice() {
    for answer in ["\"Y\"", " \"Y\"\n", "Answer: \"Y\"", "\"y\""] {
        assert_eq!(choice(answer, &["Y", "N"]), Ok(0), "{answer}");
    }
    for answer in ["\"X\"", "\"N or Y\""] {
        assert!(choice(answer, &["Y", "N"]).is_err(), "{answer}");
    }
    assert!(reading::choice(&cut("\"Y\""), &["Y", "N"]).is_err());
}

#[test]
fn json_that_says_two_things_or_what_may_not_be_said_is_not_read() {
    for answer in [
        "{\"score\": 4, \"score\": 2}",
        "{\"score\": 4, \"Score\": 2}",
        "{\"reason\": \"a: b\", \"marks\": [{\"a\": 1, \"a\": 2}], \"score\": 4}",
    ] {
        let why = "a key stands in its JSON twice";
        assert_eq!(number(answer, 1.0, 5.0), Err(why.to_owned()), "{answer}");
    }
    for answer in [
        "{\"score\": 7}\n{\"score\": 4}",
        "{\"score\": 4}\n{\"score\": 7}",
        "{\"score\": 7}\nScore: 4",
    ] {
        let why = "the score 7 is not on the scale";
        assert_eq!(number(answer, 1.0, 5.0), Err(why.to_owned()), "{answer}");
    }
    let names = ["good", "bad"];
    for answer in [
        "{\"choice\": \"good\", \"choice\": \"bad\"}",
        "{\"choice\": \"perfect\"}\n{\"choice\": \"good\"}",
    ] {
        assert!(choice(answer, &names).is_err(), "{answer}");
    }
    // What is not a verdict does not get in the way of one; nor does a quoted name that is not a choice.
    for answer in [
        "{\"marks\": {\"a\": 1, \"b\": {\"a\": \": \\\": \"}}}\n{\"choice\": \"good\"}",
        "{\"answer\": \"Paris\"}\n{\"choice\": \"good\"}",
        "It says {\"choice\": \"perfect\"} itself.\n{\"choice\": \"good\"}",
    ] {
        assert_eq!(choice(answer, &names), Ok(0), "{answer}");
    }
}

#[test]
fn answers_are_read_within_bounds() {
    let long = "x".repeat(MAX_ANSWER_BYTES + 1);
    assert!(score(&long).unwrap_err().contains("bytes"));
    assert!(choice(&long, &["A"]).unwrap_err().contains("bytes"));
    assert!(number(&long, 0.0, 1.0).unwrap_err().contains("bytes"));
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(score(&deep).is_err());
    assert!(score(&"{".repeat(MAX_ANSWER_BYTES)).is_err());
    for piece in [
        "Score: ", "is ", "a: ", "): ", "1. ", "X) Y", "[RESULT]", "</think>", "\n", "\"", "{}",
        "[1]",
    ] {
        let many = piece.repeat(MAX_ANSWER_BYTES / piece.len());
        assert!(number(&many, 2.0, 3.0).is_err(), "{piece}");
        assert!(choice(&many, &["X", "Y"]).is_err(), "{piece}");
    }
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
        // It is unclear whether it is counted from 0 or from 1.
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
fn a_number_that_is_said_to_be_on_another_scale_is_not_read() {
    let why = "the range that it states is not the scale";
    for answer in [
        "Score (1-10): 4",
        "**Score** (1–10): 4",
        "Final score (out of 10): 4",
        "The facts are right. Score (0 to 5): 4",
        "Score: 4\n\n(out of 10)",
        "Score: 4\nout of ten",
        "4\n\nof 10",
        "Score: 4\n/10",
        "Score: 4\n(max. 10)",
        "On a scale from 1 to 10:\nScore: 4",
        "It is right. On a scale of 1-10:\nScore: 4",
        "Scale: 1 (flawed) to 10 (flawless)\nScore: 4",
        "1 = worst, 10 = best\nScore: 4",
        "Score: 4\n4/10",
        "The score is 4 out of 10.\n\nScore: 4",
        "{\"score\": 4}\n\n(out of 10)",
        "Score (1-10): {\"score\": 4}",
        "{\"score\": 4, \"scale\": \"1-10\"}",
        "{\"score\": 4, \"out_of\": 10}",
    ] {
        assert_eq!(number(answer, 1.0, 5.0), Err(why.to_owned()), "{answer}");
    }
    assert_eq!(
        reading::number(&cut("{\"score\": 4}\n(out of 10)\nIt"), 1.0, 5.0),
        Err(why.to_owned())
    );
    let answer = "{\"score\": 7}\n(out of 10)".into();
    assert!(reading::number_or_beyond(&answer, 1.0, 5.0).is_err());
    for answer in ["Score: 1\nof 10", "Score (1-10): 1", "Score: 1\n1/10", "1\n(0-100)"] {
        assert_eq!(number(answer, 0.0, 1.0), Err(why.to_owned()), "{answer}");
    }
}

#[test]
fn a_number_on_the_scale_that_is_stated_is_read_and_other_numbers_are_no_range() {
    for answer in [
        "Score (1-5): 4",
        "Score (1 – 5, 5 = best): 4",
        "Score (out of 5): 4",
        "Score (turn 2): 4",
        "Score: 4\n\n(out of 5)",
        "Score: 4\nout of five",
        "On a scale from 1 to 5:\nScore: 4",
        "Scale: 1 (flawed) to 5 (flawless)\nScore: 4",
        "The score is 4/5.\n\nScore: 4",
        "Facts:\n2/10\nScore: 4",
        "7 out of 10 facts are right.\nScore: 4",
        "It asks for a mark on a scale of 1 to 10.\nScore: 4",
        "> Score (1-10): 8\n\nScore: 4",
        "It names 7 facts (of 10). [RESULT] 4",
        "1. It is right.\n2. It is short.\n\nScore: 4",
        "{\"score\": 4}\n\n(out of 5)",
        "{\"score\": 4, \"scale\": \"1-5\"}",
        "{\"score\": 4, \"scale\": \"Likert\", \"reason\": \"7 out of 10, on a scale of 1-10\"}",
    ] {
        assert_eq!(number(answer, 1.0, 5.0), Ok(4.0), "{answer}");
    }
    assert_eq!(number("Score (0-100%): 85%", 0.0, 1.0), Ok(0.85));
    assert_eq!(number("Score (-1 to 1): -0.5", -1.0, 1.0), Ok(-0.5));
    assert_eq!(number("Score: 0.2\n(0..1)", 0.0, 1.0), Ok(0.2));
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
