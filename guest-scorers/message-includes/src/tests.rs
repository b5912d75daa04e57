//! message-includes, as a specification. The semantics are niceeval's.

use serde_json::json;

use super::*;

fn case() -> Case {
    Case::new(json!("Regards, Ada")).with_trace(json!([
        {"role": "system", "content": "Never mention refunds."},
        {"role": "user", "content": "Where is my order?"},
        {"role": "assistant", "content": "Order 7 is on its way."},
        {"role": "assistant", "content": [{"type": "text", "text": "Regards,\n"}, {"type": "text", "text": "Ada"}]},
    ]))
}

fn score(config: Value) -> Score {
    let scorer: MessageIncludes = scorebox_sdk::configure(config).unwrap();
    scorer.score(&case()).unwrap()
}

#[test]
fn all_messages_of_the_agent_are_searched() {
    assert_eq!(score(json!({"value": "Order 7"})).score, Some(1.0));
    assert_eq!(score(json!({"value": "way.\nRegards,\nAda"})).score, Some(1.0));
    let user = score(json!({"value": "my order"}));
    assert_eq!(user.score, Some(0.0));
    assert_eq!(user.reason.as_deref(), Some("`my order` is not in the messages"));
    assert_eq!(score(json!({"value": "my order", "from": "user"})).score, Some(1.0));
    assert_eq!(score(json!({"value": "refunds", "from": "anyone"})).score, Some(1.0));
}

#[test]
fn a_text_may_be_an_expression() {
    assert_eq!(score(json!({"value": {"regex": "(?m)^Regards,$"}})).score, Some(1.0));
    assert_eq!(score(json!({"value": {"regex": "^Regards"}})).score, Some(0.0));
}

#[test]
fn of_several_texts_all_or_any() {
    let values = json!(["Order 7", "Order 8"]);
    let all = score(json!({"values": values}));
    assert_eq!(all.score, Some(0.5));
    assert_eq!(all.assertions.len(), 2);
    let any = score(json!({"values": values, "mode": "any"}));
    assert_eq!(any.score, Some(1.0));
    assert_eq!(any.reason.as_deref(), Some("`Order 7` is in the messages"));
}

#[test]
fn negated_none_may_be_there() {
    let negated = |values: Value| score(json!({"values": values, "negate": true})).score;
    assert_eq!(negated(json!(["refund"])), Some(1.0));
    assert_eq!(negated(json!(["refund", "Order 7"])), Some(0.0));
}

#[test]
fn the_ground_truth_stands_in_and_an_output_for_messages() {
    let scorer: MessageIncludes = scorebox_sdk::configure(json!({})).unwrap();
    let of = |truth: Value| scorer.score(&case().with_ground_truth(truth));
    assert_eq!(of(json!(["Order", 7])).unwrap().score, Some(1.0));
    assert_eq!(
        of(json!([{"name": "f"}])).unwrap_err().message(),
        "`groundTruth` should be a text, or a list of texts, found an array"
    );
    assert!(of(json!([])).is_err());
    assert_eq!(
        of(json!(null)).unwrap_err().message(),
        "the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place"
    );
    let plain = Case::new(json!("Regards, Ada")).with_ground_truth(json!("Ada"));
    assert_eq!(scorer.score(&plain).unwrap().score, Some(1.0));
}

#[test]
fn an_output_is_not_a_message_of_the_user() {
    let case = Case::new(json!("the model said hello"));
    let score_from = |from: &str| {
        let config = json!({"value": "hello", "from": from});
        scorebox_sdk::configure::<MessageIncludes>(config).unwrap().score(&case)
    };
    assert_eq!(score_from("assistant").unwrap().score, Some(1.0));
    assert_eq!(score_from("anyone").unwrap().score, Some(1.0));
    assert_eq!(
        score_from("user").unwrap_err().message(),
        "the case has no `trace`, which this scorer needs; its `output` (a string) is not a trace either"
    );
}

#[test]
fn a_text_is_what_the_agent_said_even_if_it_is_json() {
    let scorer: MessageIncludes = scorebox_sdk::configure(json!({"value": "find"})).unwrap();
    let case = Case::new(json!(r#"{"type": "tool_use", "name": "find", "input": {}}"#));
    assert_eq!(scorer.score(&case).unwrap().score, Some(1.0));
}

#[test]
fn an_output_with_an_id_is_not_a_trace() {
    let scorer: MessageIncludes = scorebox_sdk::configure(json!({"value": "hello"})).unwrap();
    let case = Case::new(json!({"id": 1, "reply": "hello"}));
    assert_eq!(scorer.score(&case).unwrap().score, Some(1.0));
}

#[test]
fn a_value_of_null_is_refused_and_does_not_mean_the_ground_truth() {
    let refused = scorebox_sdk::configure::<MessageIncludes>(json!({"value": null})).err().unwrap();
    assert_eq!(refused.to_string(), "`value` is null; to use the ground truth, leave the key out");
}
