//! rubric, as a specification. What a judge's answers may look like is specified in the SDK.

use scorebox_sdk_judges::{Answer, testing};
use serde_json::{Value, json};

use super::*;

fn refusal(config: Value) -> String {
    scorebox_sdk::configure::<Rubric>(config).err().unwrap().to_string()
}

fn case() -> Case {
    Case::new(json!({"answer": "Good day"})).with_input(json!("Greet."))
}

#[test]
fn smithers_judge_gives_a_number_and_a_reason() {
    let judge =
        testing::answering(|_| "```json\n{\"score\": 0.7, \"reason\": \"polite\"}\n```".into());
    let scorer: Rubric = scorebox_sdk::configure(json!({
        "instructions": "You judge the tone.",
        "promptTemplate": "Rate it.\n\nInput: {{input}}\n\nOutput: {{output/answer}}",
    }))
    .unwrap();
    let scored = scorer.score(&case()).unwrap();
    assert_eq!((scored.score, scored.reason.as_deref()), (Some(0.7), Some("polite")));
    let question = &judge.questions()[0];
    assert!(question.system.as_ref().unwrap().starts_with("You judge the tone."));
    let text = &question.messages[0].text;
    assert!(text.starts_with("Rate it.\n\nInput: <input-"), "{text}");
    assert!(text.contains("\nGood day\n") && !text.contains("\"answer\""), "{text}");
}

#[test]
fn what_smithers_cannot_parse_scores_0_with_a_diagnosis_if_the_user_wants_it() {
    let _judge = testing::answering(|_| "Quite good.".into());
    let config = json!({"instructions": "Judge.", "unreadable": "zero"});
    let scorer: Rubric = scorebox_sdk::configure(config).unwrap();
    let scored = scorer.score(&case()).unwrap();
    assert_eq!(scored.score, Some(0.0));
    assert!(scored.reason.unwrap().contains("Quite good."));
}

#[test]
fn with_smithers_zero_a_number_off_the_scale_is_its_end_as_there() {
    let _judge = testing::answering(|_| "{\"score\": 8, \"reason\": \"8 of 10\"}".into());
    let scored = |config: Value| {
        let scorer: Rubric = scorebox_sdk::configure(config).unwrap();
        scorer.score(&case())
    };
    let zero = scored(json!({"instructions": "Judge.", "unreadable": "zero"})).unwrap();
    assert_eq!((zero.score, zero.reason.as_deref()), (Some(1.0), Some("8 of 10")));
    assert_eq!(zero.meta_value(), Some(json!({"grade": 8.0, "clamped": true})));
    let error = scored(json!({"instructions": "Judge."})).unwrap_err();
    assert!(error.message().contains("the score 8 is not on the scale"), "{error:?}");
}

#[test]
fn a_judge_can_be_shown_the_schema_and_the_latency() {
    let judge = testing::answering(|_| "{\"score\": 1}".into());
    let template = "{{output}} for {{outputSchema/required}} after {{latencyMs}} ms";
    let config = json!({"instructions": "Judge.", "promptTemplate": template});
    let scorer: Rubric = scorebox_sdk::configure(config).unwrap();
    let case = case().with_latency_ms(12.5).with_output_schema(json!({"required": ["answer"]}));
    scorer.score(&case).unwrap();
    let text = &judge.questions()[0].messages[0].text;
    assert!(text.contains("\n[\"answer\"]\n") && text.contains("\n12.5\n"), "{text}");
}

#[test]
fn a_scale_is_brought_to_0_to_1() {
    let _judge = testing::answering(|_| "{\"score\": 4}".into());
    let config = json!({"instructions": "Judge.", "scale": {"min": 1, "max": 5}});
    let scorer: Rubric = scorebox_sdk::configure(config).unwrap();
    let scored = scorer.score(&case()).unwrap();
    assert_eq!((scored.score, scored.meta_value()), (Some(0.75), Some(json!({"grade": 4.0}))));
}

#[test]
fn choices_have_their_own_scores_and_reasons_may_be_left_out() {
    let judge = testing::answering(|_| "{\"choice\": \"fair\"}".into());
    let config = json!({
        "instructions": "Judge.", "reasoning": false, "model": "large",
        "choices": {"good": 1, "fair": 0.5, "bad": 0},
    });
    let scorer: Rubric = scorebox_sdk::configure(config).unwrap();
    let scored = scorer.score(&case()).unwrap();
    assert_eq!((scored.score, scored.label.as_deref()), (Some(0.5), Some("fair")));
    let question = &judge.questions()[0];
    assert_eq!(question.model.as_deref(), Some("large"));
    let text = &question.messages[0].text;
    assert!(text.contains("Greet.") && !text.contains("reason"), "{text}");
}

#[test]
fn an_answer_that_is_cut_off_or_grades_several_criteria_has_no_score() {
    let scale = |max: u32| json!({"instructions": "Judge.", "scale": {"min": 0, "max": max}});
    for (config, answer, truncated) in [
        (scale(100), "{\"reason\":\"x\",\"score\": 1", true),
        (scale(5), "Accuracy: 4/5\nStyle: 2/5", false),
    ] {
        let _judge = testing::giving(move |_| Answer { truncated, ..answer.into() });
        let scorer: Rubric = scorebox_sdk::configure(config).unwrap();
        let why = scorer.score(&case()).unwrap_err();
        assert!(why.message().starts_with("the judge's answer cannot be read"), "{why:?}");
    }
}

#[test]
fn configurations_that_cannot_work_are_refused() {
    let with = |key: &str, value: Value| {
        let mut config = json!({"instructions": "Judge."});
        config[key] = value;
        refusal(config)
    };
    assert!(refusal(json!({})).starts_with("`instructions`"));
    assert!(refusal(json!({"instructions": " "})).contains("say what to judge"));
    assert!(with("promptTemplate", json!("{{question}}")).contains("there are `{{input}}`"));
    assert!(with("promptTemplate", json!("{{trace}}")).contains("not a place that a template can"));
    assert!(with("promptTemplate", json!("Judge.")).contains("no place for the output"));
    assert_eq!(
        refusal(json!({"instructions": "Is {{ output/answer }} polite?"})),
        "`instructions`: has `{{output/answer}}`, which would reach the judge as it is: only `promptTemplate` has places"
    );
    assert!(with("choices", json!({"a": 2, "b": 0})).starts_with("`choices.a`"));
    assert!(with("choices", json!({"a": 1})).contains("at least two"));
    assert!(with("choices", json!({" ": 1, "a": 0})).contains("has no name"));
    assert_eq!(
        with("choices", json!({"good": 1, "GOOD": 0, "bad": 0})),
        "`choices.good`: differs from `GOOD` in case or white space only; give it another name"
    );
    assert!(with("choices", json!({"good": 1, "good ": 0})).contains("white space only"));
    assert!(with("scale", json!({"min": 1, "max": 1})).starts_with("`scale.max`"));
    let wide = "`scale` is too wide: `max` - `min` is not a number";
    assert_eq!(with("scale", json!({"min": -1e308, "max": 1e308})), wide);
    let both =
        json!({"instructions": "x", "choices": {"a": 1, "b": 0}, "scale": {"min": 0, "max": 1}});
    assert!(refusal(both).contains("not both"));
}
