//! tool-call-f1, as a specification. The values with arguments were computed with ragas 0.4 (Apache-2.0) from PyPI;
//! those of names follow promptfoo's code (MIT).

use serde_json::{Value, json};

use super::*;

fn score_with(config: Value, called: Value, expected: Value) -> Score {
    let scorer: ToolCallF1 = scorebox_sdk::configure(config).unwrap();
    let case = Case::new(json!("done")).with_trace(called).with_ground_truth(expected);
    scorer.score(&case).unwrap()
}

fn score(called: Value, expected: Value) -> f64 {
    score_with(json!({}), called, expected).score.unwrap()
}

fn call(name: &str, argument: i32) -> Value {
    json!({"name": name, "arguments": {"x": argument}})
}

#[test]
fn with_arguments_as_ragas() {
    let (a, b, c) = (call("a", 1), call("b", 1), call("c", 1));
    let near = |left: f64, right: f64| (left - right).abs() < 5e-5;
    assert_eq!(score(json!([a, b]), json!([a, b])), 1.0);
    assert_eq!(score(json!([b, a]), json!([a, b])), 1.0);
    assert!(near(score(json!([a]), json!([a, b])), 0.6667));
    assert!(near(score(json!([a, b, c]), json!([a])), 0.5));
    assert_eq!(score(json!([call("a", 2)]), json!([a])), 0.0);
    assert!(near(score(json!([a, a, b]), json!([a, c])), 0.5));
    assert_eq!(score(json!([]), json!([a])), 0.0);
}

#[test]
fn with_names_as_promptfoo() {
    let called = json!([call("a", 1), call("a", 2), call("b", 1)]);
    assert_eq!(score(called.clone(), json!(["a", "b"])), 1.0);
    assert_eq!(score(called.clone(), json!(["a"])), 2.0 / 3.0);
    let whole = score_with(json!({}), called.clone(), json!(["a", "c"]));
    assert_eq!(whole.score, Some(0.5));
    assert_eq!(
        whole.reason.as_deref(),
        Some("1 right call of 2 made and 2 expected; missing: `c`; not expected: `b`")
    );
    assert_eq!(score(called, json!(["c"])), 0.0);
}

#[test]
fn numbers_count_by_value() {
    let called = json!([{"name": "a", "arguments": {"x": 1.0}}]);
    assert_eq!(score(called, json!([call("a", 1)])), 1.0);
    let with = |x: Value| json!([{"name": "a", "arguments": {"x": [x]}}]);
    for (left, right) in [
        (json!(1e18), json!(1_000_000_000_000_000_000_u64)),
        (json!(1e19), json!(10_000_000_000_000_000_000_u64)),
        (json!(-9_223_372_036_854_775_808.0), json!(i64::MIN)),
        (json!(-0.0), json!(0)),
        (json!(1e20), json!(1e20)),
    ] {
        assert_eq!(score(with(left.clone()), with(right)), 1.0, "{left}");
    }
    for (left, right) in [
        (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992.0)),
        (json!(u64::MAX), json!(u64::MAX as f64)),
        (json!(-1), json!(1)),
        (json!(0.5), json!(0)),
    ] {
        assert_eq!(score(with(left.clone()), with(right)), 0.0, "{left}");
    }
}

#[test]
fn repeats_may_count_each_time() {
    let called = json!([call("a", 1), call("a", 1), call("a", 1)]);
    let config = json!({"repeats": "each"});
    assert_eq!(score_with(config, called, json!([call("a", 1)])).score, Some(0.5));
}

#[test]
fn arguments_may_be_ignored() {
    let config = json!({"arguments": "ignore"});
    assert_eq!(score_with(config, json!([call("a", 2)]), json!([call("a", 1)])).score, Some(1.0));
}

#[test]
fn where_no_call_is_expected_it_does_not_apply() {
    let silent = json!([{"role": "user", "content": "x"}]);
    for called in [silent.clone(), json!([call("a", 1)])] {
        for expected in [json!([]), json!([[], []])] {
            let none = score_with(json!({}), called.clone(), expected);
            assert_eq!((none.score, none.reason.as_deref()), (None, Some("no call is expected")));
        }
    }
    // Next to others, an empty list is a choice.
    assert_eq!(score(silent, json!([[], ["a"]])), 1.0);
}

#[test]
fn of_several_lists_the_best_counts_and_the_score_may_be_turned() {
    let called = json!([call("a", 1)]);
    assert_eq!(score(called.clone(), json!([["b"], ["a"]])), 1.0);
    let config = json!({"value": ["a", "b"], "negate": true});
    let turned = score_with(config, called, json!(null)).score.unwrap();
    assert!((turned - 1.0 / 3.0).abs() < 1e-12);
}

#[test]
fn of_many_lists_the_calls_that_were_made_are_read_once() {
    let made: Value = (0..300).map(|index| call("a", index)).collect();
    let mut lists: Vec<Value> = (0..2_000).map(|index| json!([call("b", index)])).collect();
    lists.extend([json!(["a"]), json!([call("a", 7), call("a", 8)])]);
    let score = score_with(json!({}), made, Value::Array(lists));
    // The names alone agree best: `a` is one name.
    assert_eq!(score.score, Some(1.0));
}

#[test]
fn without_a_trace_calls_are_read_from_a_text() {
    let scorer: ToolCallF1 = scorebox_sdk::configure(json!({"value": ["w"]})).unwrap();
    let of_text = |text: &str| scorer.score(&Case::new(json!(text)));
    let texts = [
        r#"[{"type":"function","function":{"name":"w","arguments":"{}"}}]"#,
        "I look.\n\n{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"w\",\"input\":{}}",
    ];
    for text in texts {
        assert_eq!(of_text(text).unwrap().score, Some(1.0), "{text}");
    }
    assert!(of_text("No tools needed.").is_err());
}
