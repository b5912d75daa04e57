//! tool-correctness, as a specification. The values were computed with deepeval 4.3.1 (Apache-2.0) from PyPI, unless a
//! test says otherwise.

use serde_json::{Value, json};

use super::*;

fn score(config: Value, called: Value, expected: Value) -> Score {
    let scorer: ToolCorrectness = scorebox_sdk::configure(config).unwrap();
    let called: Value = match called {
        Value::Array(names) if names.iter().all(Value::is_string) => {
            names.into_iter().map(|name| json!({ "tool": name })).collect()
        }
        calls => calls,
    };
    let case = Case::new(json!("done")).with_trace(called).with_ground_truth(expected);
    scorer.score(&case).unwrap()
}

fn value(config: Value, called: Value, expected: Value) -> f64 {
    score(config, called, expected).score.unwrap()
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

#[test]
fn by_names_calls_are_met_or_not_in_any_order() {
    let names = |called: Value, expected: Value| value(json!({}), called, expected);
    assert_eq!(names(json!(["a", "b"]), json!(["a", "b"])), 1.0);
    assert_eq!(names(json!(["b", "a"]), json!(["a", "b"])), 1.0);
    assert_eq!(names(json!(["a"]), json!(["a", "b"])), 0.5);
    assert_eq!(names(json!(["a", "x"]), json!(["a"])), 1.0);
    assert_eq!(names(json!(["A"]), json!(["a"])), 0.0);
    assert_eq!(names(json!([]), json!(["a"])), 0.0);
    assert_eq!(names(json!(["a"]), json!([])), 0.0);
    assert_eq!(names(json!([]), json!([])), 1.0);
    let missing = score(json!({}), json!(["a"]), json!(["a", "b"]));
    let reason = "`b` is missing; expected a, b; called a";
    assert_eq!(missing.reason.as_deref(), Some(reason));
    let met = [("called `a` (1)", 1.0), ("called `b` (2)", 0.0)];
    assert_eq!(missing.assertions, met.map(|(name, met)| Assertion::new(name, met)));
}

#[test]
fn arguments_count_by_their_fraction() {
    let arguments = |called: Value, expected: Value| {
        let config = json!({"compare": ["arguments"]});
        value(config, json!([call("a", called)]), json!([call("a", expected)]))
    };
    assert_eq!(arguments(json!({"x": 1, "y": 2}), json!({"x": 1, "y": 3})), 0.5);
    assert_eq!(arguments(json!({"x": 1}), json!({"x": 1, "y": 3})), 0.5);
    let nested =
        arguments(json!({"q": {"c": 1, "d": 2}, "z": 1}), json!({"q": {"c": 1, "d": 3}, "z": 1}));
    assert_eq!(nested, 0.75);
    assert_eq!(arguments(json!({"y": 1}), json!({"x": 1})), 0.0);
    assert_eq!(arguments(json!({}), json!({})), 1.0);
    assert_eq!(arguments(json!({"x": [1, 2]}), json!({"x": [1, 3]})), 0.0);
    assert_eq!(arguments(json!({"x": 1.0}), json!({"x": 1})), 1.0);
    // DeepEval says 1: in Python, True == 1.
    assert_eq!(arguments(json!({"x": true}), json!({"x": 1})), 0.0);
}

#[test]
fn each_expected_call_takes_the_best_that_is_left() {
    let config = json!({"compare": ["arguments"]});
    let called = json!([call("a", json!({"x": 1})), call("a", json!({"x": 2}))]);
    let expected = json!([call("a", json!({"x": 2})), call("a", json!({"x": 1}))]);
    assert_eq!(value(config.clone(), called, expected), 1.0);
    // In order, and not optimal: the first call takes what the second would need.
    let called = json!([call("a", json!({"x": 1, "y": 1})), call("a", json!({"x": 1, "y": 2}))]);
    let expected = json!([call("a", json!({"x": 1, "y": 3})), call("a", json!({"x": 1, "y": 1}))]);
    assert_eq!(value(config, called, expected), 0.5);
}

/// DeepEval gives 0.5: it counts equal calls as one.
#[test]
fn equal_calls_are_two_calls() {
    assert_eq!(value(json!({}), json!(["a", "a"]), json!(["a", "a"])), 1.0);
    assert_eq!(value(json!({}), json!(["a"]), json!(["a", "a"])), 0.5);
}

#[test]
fn in_order_the_heaviest_common_subsequence_counts() {
    let config = json!({"considerOrdering": true});
    let ordered = |called: Value, expected: Value| value(config.clone(), called, expected);
    assert_eq!(ordered(json!(["a", "x", "b"]), json!(["a", "b"])), 1.0);
    assert_eq!(ordered(json!(["b", "a"]), json!(["a", "b"])), 0.5);
    assert_eq!(ordered(json!(["b", "a", "c"]), json!(["a", "b", "c"])), 2.0 / 3.0);
    assert_eq!(ordered(json!(["a", "a"]), json!(["a", "a"])), 1.0);
    let config = json!({"considerOrdering": true, "compare": ["arguments"]});
    let called = json!([call("a", json!({"x": 1, "y": 2})), call("b", json!({}))]);
    let expected = json!([call("a", json!({"x": 1, "y": 3})), call("b", json!({}))]);
    assert_eq!(value(config, called, expected), 0.75);
}

#[test]
fn exactly_the_same_calls_or_nothing() {
    let config = json!({"exactMatch": true});
    let exact = |called: Value, expected: Value| value(config.clone(), called, expected);
    assert_eq!(exact(json!(["a", "b"]), json!(["a", "b"])), 1.0);
    assert_eq!(exact(json!(["b", "a"]), json!(["a", "b"])), 0.0);
    assert_eq!(exact(json!(["a", "b", "c"]), json!(["a", "b"])), 0.0);
    assert_eq!(exact(json!([]), json!([])), 1.0);
    let config = json!({"exactMatch": true, "compare": ["arguments"]});
    let called = json!([call("a", json!({"x": 1, "y": 1}))]);
    assert_eq!(value(config, called, json!([call("a", json!({"x": 1}))])), 0.0);
}

#[test]
fn results_are_equal_or_the_call_does_not_count() {
    let result = |called: Value, expected: Value| {
        let config = json!({"compare": ["result"]});
        let called = json!([{"name": "a", "arguments": {}, "output": called}]);
        value(config, called, json!([{"name": "a", "arguments": {}, "output": expected}]))
    };
    assert_eq!(result(json!("r"), json!("s")), 0.0);
    assert_eq!(result(json!("r"), json!("r")), 1.0);
    assert_eq!(result(json!("r"), json!(null)), 0.0);
    let call = |result: &str| json!([{"name": "a", "arguments": {}, "output": result}]);
    let other = score(json!({"compare": ["result"]}), call("r"), call("s"));
    assert_eq!(other.reason.as_deref(), Some("`a` has another result; expected a; called a"));
}

#[test]
fn strictly_all_or_nothing() {
    assert_eq!(value(json!({"strict": true}), json!(["a"]), json!(["a", "b"])), 0.0);
    assert_eq!(value(json!({"strict": true}), json!(["a", "b"]), json!(["a", "b"])), 1.0);
}

/// These have no counterpart in DeepEval.
#[test]
fn of_several_lists_the_best_counts_and_the_score_may_be_turned() {
    assert_eq!(value(json!({}), json!(["a"]), json!([["b"], ["a"]])), 1.0);
    let config = json!({"value": ["a", "b"], "negate": true});
    assert_eq!(value(config, json!(["a"]), json!(null)), 0.5);
    let negated = score(json!({"negate": true}), json!(["a"]), json!(["a", "b"]));
    assert_eq!(
        negated.reason.as_deref(),
        Some("`b` is missing; expected a, b; called a; wanted: anything but the expected calls")
    );
    let unmet = [("not: called `a` (1)", 0.0), ("not: called `b` (2)", 1.0)];
    assert_eq!(negated.assertions, unmet.map(|(name, unmet)| Assertion::new(name, unmet)));
    let any = json!({"compare": ["arguments"], "value": ["a"]});
    assert_eq!(value(any, json!([call("a", json!({"x": 1}))]), json!(null)), 1.0);
}

#[test]
fn an_exact_match_of_arguments_takes_none_where_none_are_expected() {
    let exact = |arguments: Value, config: Value| {
        value(config, json!([call("a", arguments)]), json!([{"name": "a"}]))
    };
    let config = json!({"exactMatch": true, "compare": ["arguments"]});
    assert_eq!(exact(json!({"x": 1}), config.clone()), 0.0);
    assert_eq!(exact(json!({}), config.clone()), 1.0);
    assert_eq!(value(config, json!(["a"]), json!(["a"])), 1.0);
    assert_eq!(exact(json!({"x": 1}), json!({"exactMatch": true})), 1.0);
    assert_eq!(exact(json!({"x": 1}), json!({"compare": ["arguments"]})), 1.0);
}
