//! Questions, the second question for an unreadable answer, and what two unreadable answers mean.

use scorebox_sdk::ScoreError;
use serde_json::{Value, json};

use crate::{
    Answer, Choice, Classifier, Grade, List, Model, Prompt, Question, Reasoning, Role, Settings,
    Unreadable, ask_all_for, cosine, reading, schema, similarity, testing,
};

const GRADE: Grade = Grade { criteria: "You grade.", scale: (1.0, 5.0), meaning: "5 is best." };
const PICK: Classifier = Classifier {
    criteria: "You pick.",
    choices: &[
        Choice { name: "good", score: 1.0, meaning: "" },
        Choice { name: "bad", score: 0.25, meaning: "it is bad" },
    ],
};

fn prompt() -> Prompt<'static> {
    let mut prompt = Prompt::new();
    prompt.say("Judge this:").data("output", "fine");
    prompt
}

#[test]
fn a_grade_is_brought_to_0_to_1_and_keeps_its_reason() {
    let judge = testing::answering(|_| "{\"reason\": \"solid\", \"score\": 4}".into());
    let score = GRADE.score(&prompt(), &Settings::default()).unwrap();
    assert_eq!((score.score, score.reason.as_deref()), (Some(0.75), Some("solid")));
    assert_eq!(score.meta_value(), Some(json!({"grade": 4.0})));
    let question = &judge.questions()[0];
    assert!(question.messages[0].text.contains("from 1 to 5. 5 is best."));
    assert_eq!(
        question.schema.as_deref(),
        Some(
            r#"{"type":"object","properties":{"reason":{"type":"string"},"score":{"type":"number"}},"required":["reason","score"],"additionalProperties":false}"#
        )
    );
}

#[test]
fn a_choice_has_its_score_its_label_and_a_model_of_its_own() {
    let judge = testing::answering(|_| "{\"choice\": \"bad\"}".into());
    let model = Model(Some("large".into()));
    let settings = Settings::new(model, Reasoning(false), Unreadable::Error);
    let score = PICK.score(&prompt(), &settings).unwrap();
    assert_eq!((score.score, score.label.as_deref()), (Some(0.25), Some("bad")));
    assert_eq!(score.meta_value(), Some(json!({"choice": "bad"})));
    assert_eq!(score.reason.as_deref(), Some("the judge chose bad"));
    let question = &judge.questions()[0];
    assert_eq!(question.model.as_deref(), Some("large"));
    assert!(!question.messages[0].text.contains("reason"));
    assert_eq!(
        question.schema.as_deref(),
        Some(
            r#"{"type":"object","properties":{"choice":{"type":"string","enum":["good","bad"]}},"required":["choice"],"additionalProperties":false}"#
        )
    );
}

#[test]
fn a_judge_gives_its_reasons_before_its_verdict_and_lists_in_their_order() {
    let judge = testing::answering(|_| r#"{"choice": "good", "lost": ["a"], "found": []}"#.into());
    PICK.score(&prompt(), &Settings::default()).unwrap();
    let item = schema::object(&[("why", schema::TEXT), ("is", schema::FLAG)]);
    let list =
        List { criteria: "", form: "", keys: &["lost", "found"], least: 0, item: item.as_str() };
    list.ask(&prompt(), &Settings::default(), |_| Some(())).unwrap().unwrap();
    let schemas: Vec<_> = judge.questions().into_iter().map(|it| it.schema.unwrap()).collect();
    assert_eq!(
        schemas[0],
        r#"{"type":"object","properties":{"reason":{"type":"string"},"choice":{"type":"string","enum":["good","bad"]}},"required":["reason","choice"],"additionalProperties":false}"#
    );
    let item = r#"{"type":"object","properties":{"why":{"type":"string"},"is":{"type":"boolean"}},"required":["why","is"],"additionalProperties":false}"#;
    let list = format!(r#"{{"type":"array","items":{item}}}"#);
    assert_eq!(
        schemas[1],
        format!(
            r#"{{"type":"object","properties":{{"lost":{list},"found":{list}}},"required":["lost","found"],"additionalProperties":false}}"#
        )
    );
    // Names are quoted as JSON, whatever they contain.
    let odd: Value = serde_json::from_str(&schema::one_of(&["\"", "é\n"])).unwrap();
    assert_eq!(odd, json!({"type": "string", "enum": ["\"", "é\n"]}));
}

#[test]
fn an_unreadable_answer_is_asked_again_once_in_the_same_conversation() {
    let judge = testing::answering(|question| match question.messages.len() {
        1 => "well …".into(),
        _ => "{\"reason\": \"now\", \"choice\": \"good\"}".into(),
    });
    let score = PICK.score(&prompt(), &Settings::default()).unwrap();
    assert_eq!((score.score, score.reason.as_deref()), (Some(1.0), Some("now")));
    let questions = judge.questions();
    let [first, second] = questions.as_slice() else { panic!("{questions:?}") };
    assert_eq!(second.messages[0], first.messages[0]);
    assert_eq!((second.messages[1].role, &*second.messages[1].text), (Role::Assistant, "well …"));
    assert!(second.messages[2].text.contains("it has no JSON in it"));
    assert_eq!((&second.system, &second.schema), (&first.system, &first.schema));
}

#[test]
fn an_answer_that_is_cut_off_is_asked_again_and_told_so() {
    let judge = testing::giving(|question| match question.messages.len() {
        1 => Answer { truncated: true, ..Answer::from("{\"reason\":\"x\",\"score\": 1") },
        _ => Answer::from("<think>{\"score\": 5}?</think>{\"reason\":\"x\",\"score\": 2}"),
    });
    let score = GRADE.score(&prompt(), &Settings::default()).unwrap();
    assert_eq!((score.score, score.reason.as_deref()), (Some(0.25), Some("x")));
    let again = &judge.questions()[1].messages[2].text;
    let why = "its JSON is not closed, and it ended early, at the limit of tokens";
    assert!(again.contains(why), "{again}");
}

#[test]
fn a_reason_in_words_is_what_stands_beside_the_verdict_and_not_the_draft() {
    let reason = |answer: &'static str| {
        let _judge = testing::answering(move |_| answer.into());
        GRADE.score(&prompt(), &Settings::default()).unwrap().reason
    };
    let solid = Some("It is solid.".to_owned());
    for answer in [
        "It is solid.\n\nScore: 4",
        "4\nIt is solid.",
        "**Score:** 4\n\nIt is solid.",
        "<think>\nHm.\n</think>\nIt is solid.\nScore: 4",
    ] {
        assert_eq!(reason(answer), solid, "{answer}");
    }
    // What is left of the form is not a reason.
    for answer in [
        "<think>\nHm.\n</think>\n4",
        "```json\n4",
        "```\nScore: 4",
        "Score: 4\nScore: 4",
        "Score: 4\n\n**Score**: 4",
    ] {
        assert_eq!(reason(answer).as_deref(), Some("the judge gave 4"), "{answer}");
    }
}

#[test]
fn two_unreadable_answers_are_an_error_or_if_the_user_wants_it_smithers_zero() {
    let judge = testing::answering(|_| "no".into());
    let why = "the judge's answer cannot be read: it has no JSON in it; the answer is \"no\"";
    let error = GRADE.score(&prompt(), &Settings::default()).unwrap_err();
    assert_eq!(error, ScoreError::failed(why));
    assert_eq!(judge.questions().len(), 2);
    let settings = Settings { unreadable: Unreadable::Zero, ..Settings::default() };
    let zero = GRADE.score(&prompt(), &settings).unwrap();
    assert_eq!((zero.score, zero.reason.as_deref()), (Some(0.0), Some(why)));
    assert_eq!(zero.meta_value(), Some(json!({"unreadable": true})));
}

/// The scores of Smithers' `llmJudge` (`packages/scorers/src/llmJudge.js`), which clamps a number in JSON to the scale.
#[test]
fn with_smithers_zero_a_json_number_off_the_scale_is_the_end_that_it_is_beyond() {
    let graded = |answer: &'static str, scale, unreadable| {
        let judge = testing::answering(move |_| answer.into());
        let settings = Settings { unreadable, ..Settings::default() };
        let score = Grade { scale, ..GRADE }.score(&prompt(), &settings);
        (score, judge.questions().len())
    };
    for (answer, scale, expected, grade) in [
        ("{\"score\":8,\"reason\":\"8 of 10: slurs\"}", (0.0, 1.0), 1.0, 8.0),
        ("```json\n{\"score\": 1.5}\n```", (0.0, 1.0), 1.0, 1.5),
        ("{\"score\": -1}", (0.0, 1.0), 0.0, -1.0),
        ("{\"score\": \"8\"}", (0.0, 1.0), 1.0, 8.0),
        ("{\"score\": 0}", (1.0, 5.0), 0.0, 0.0),
        ("{\"score\": 9}\nScore: 9", (1.0, 5.0), 1.0, 9.0),
    ] {
        let (score, asked) = graded(answer, scale, Unreadable::Zero);
        let score = score.unwrap();
        assert_eq!((score.score, asked), (Some(expected), 1), "{answer}");
        let meta = json!({"grade": grade, "clamped": true});
        assert_eq!(score.meta_value(), Some(meta), "{answer}");
        let (error, asked) = graded(answer, scale, Unreadable::Error);
        let why = format!("the score {grade} is not on the scale");
        assert!(error.unwrap_err().message().contains(&why), "{answer}");
        assert_eq!(asked, 2, "{answer}");
    }
    let (slurs, _) = graded("{\"score\":8,\"reason\":\"slurs\"}", (0.0, 1.0), Unreadable::Zero);
    assert_eq!(slurs.unwrap().reason.as_deref(), Some("slurs"));
    let (exact, _) = graded("{\"score\": 1}", (0.0, 1.0), Unreadable::Zero);
    assert_eq!(exact.unwrap().meta_value(), None);
}

#[test]
fn no_other_number_off_the_scale_is_taken() {
    let settings = Settings { unreadable: Unreadable::Zero, ..Settings::default() };
    for answer in [
        // Not JSON, or JSON without a verdict.
        "8",
        "Score: 8",
        "{\"rating\": 8}",
        "{\"score\": \"inf%\"}",
        "{\"score\": \"NaN/1\"}",
        // It may be a quotation.
        "It says {\"score\": 8} itself.",
        "Sure! {\"score\": 8} Let me know.",
        // It is unclear which one counts.
        "{\"score\": 8}\n{\"score\": 9}",
        "{\"score\": 8}\nScore: 0.4",
        "{\"score\": 8, \"Score\": 9}",
    ] {
        let _judge = testing::answering(move |_| answer.into());
        let score = Grade { scale: (0.0, 1.0), ..GRADE }.score(&prompt(), &settings).unwrap();
        assert_eq!(score.meta_value(), Some(json!({"unreadable": true})), "{answer}");
    }
    // A number on the scale takes precedence: the other one is not the judge's.
    let _judge = testing::answering(|_| "It says {\"score\": 8} itself.\n{\"score\": 0.4}".into());
    let score = Grade { scale: (0.0, 1.0), ..GRADE }.score(&prompt(), &settings).unwrap();
    assert_eq!((score.score, score.meta_value()), (Some(0.4), None));
}

#[test]
fn of_several_questions_only_those_without_a_readable_answer_are_asked_again() {
    let judge = testing::answering(|question| match question.messages.len() {
        1 if question.sample == 1 => String::new(),
        count => format!("{}", 10 * count + question.sample as usize),
    });
    let questions: Vec<_> =
        (0..3).map(|sample| Question::new("how many?").sample(sample)).collect();
    let read = |answer: &Answer| reading::number(answer, 0.0, 99.0);
    assert_eq!(ask_all_for(&questions, read).unwrap(), [10.0, 31.0, 12.0]);
    assert_eq!(judge.questions().len(), 4);
    assert_eq!(judge.questions()[3].messages[1].text, "(no answer)");
}

#[test]
fn lists_are_read_whole_or_asked_for_again() {
    let judge = testing::answering(|question| match question.messages.len() {
        1 => "{\"found\": [\"a\", 2], \"lost\": []}".into(),
        _ => "{\"found\": [\"a\", \" \", \"b\"], \"lost\": [\"\"]}".into(),
    });
    let read = |item: &Value| item.as_str().map(str::to_owned);
    let (keys, item) = (&["lost", "found"], schema::TEXT);
    let list = List { criteria: "You list.", form: "List.", keys, least: 1, item };
    let lists = list.ask(&prompt(), &Settings::default(), read);
    assert_eq!(lists.unwrap().unwrap(), [vec![], vec!["a".to_owned(), "b".to_owned()]]);
    assert!(judge.questions()[1].messages[2].text.contains("an item of `found`"));
}

#[test]
fn similarity_is_the_cosine_and_neither_an_empty_text_nor_a_vector_of_zeros_has_one() {
    let _judge = testing::answering(|_| String::new()).embedding(|text| {
        if text == "zero" { vec![0.0, 0.0] } else { vec![1.0, text.len() as f32 - 1.0] }
    });
    let alike = similarity("a", &["b".to_owned(), "cc".to_owned()], None).unwrap();
    assert_eq!(alike[0], 1.0);
    assert!((alike[1] - std::f64::consts::FRAC_1_SQRT_2).abs() < 1e-9);
    assert!(similarity(" ", &["b".to_owned()], None).is_err());
    assert!(similarity("a", &["zero".to_owned()], None).is_err());
    assert!(similarity("zero", &["b".to_owned()], None).is_err());
}

#[test]
fn a_vector_is_exactly_as_alike_to_itself_as_can_be() {
    for length in 1..200 {
        let vector: Vec<f32> = (0..length).map(|at| (at as f32 * 0.7).sin() / 3.0 + 1e-3).collect();
        assert_eq!(cosine(&vector, &vector), 1.0, "{length}");
    }
    for extreme in [f32::MAX, f32::MIN_POSITIVE] {
        assert_eq!(cosine(&[extreme; 4096], &[extreme; 4096]), 1.0);
    }
}

#[test]
fn why_an_answer_cannot_be_read_is_its_true_cause() {
    let why = |answer: &str| reading::number(&answer.into(), 0.0, 1.0).unwrap_err();
    let range = "the range that it states is not the scale";
    for (answer, cause) in [
        ("{\"score\":1e400}", "what looks like JSON in it is not valid JSON"),
        ("{'score':0.7}", "what looks like JSON in it is not valid JSON"),
        ("```\n0.5\n```", "its code fence has no JSON object in it"),
        ("Score: 7/10", range),
        ("0.7 out of 10", range),
        ("7 of 8 facts are right", "it has no JSON in it"),
        ("garbage", "it has no JSON in it"),
        ("{\"score\": 0", "its JSON is not closed"),
    ] {
        assert_eq!(why(answer), cause, "{answer}");
    }
}
