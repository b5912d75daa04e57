//! tool-order, as a specification. The semantics are niceeval's and promptfoo's.

use serde_json::Value;

use super::*;

fn case(called: &[&str]) -> Case {
    let trace: Vec<_> = called.iter().map(|name| json!({ "tool": name })).collect();
    Case::new(json!("done")).with_trace(trace.into())
}

fn score(config: Value, called: &[&str]) -> Score {
    let scorer: ToolOrder = scorebox_sdk::configure(config).unwrap();
    scorer.score(&case(called)).unwrap()
}

fn in_order(names: &[&str], called: &[&str]) -> bool {
    score(json!({ "names": names }), called).score == Some(1.0)
}

#[test]
fn other_calls_may_stand_between() {
    assert!(in_order(&["a", "b"], &["x", "a", "x", "b", "x"]));
    assert!(!in_order(&["a", "b"], &["b", "a"]));
    assert!(in_order(&["a", "b", "a"], &["a", "b", "b", "a"]));
    assert!(!in_order(&["a", "a"], &["a"]));
    assert!(!in_order(&["a"], &[]));
}

#[test]
fn exactly_means_nothing_else() {
    let exact = |called: &[&str]| score(json!({"names": ["a", "b"], "mode": "exact"}), called);
    assert_eq!(exact(&["a", "b"]).score, Some(1.0));
    assert_eq!(
        exact(&["a", "b", "c"]).reason.as_deref(),
        Some("in order, but 1 more follow, first `c`")
    );
    let other = exact(&["a", "x", "b"]);
    assert_eq!(other.score, Some(0.0));
    assert_eq!(other.reason.as_deref(), Some("`b` is missing after `a`; found `x` instead"));
    assert_eq!(exact(&["b", "a"]).meta_value(), Some(json!({"called": ["b", "a"], "matched": 0})));
}

#[test]
fn names_may_be_common_ones_or_expressions() {
    assert!(in_order(&["file_read", "shell"], &["Read", "Bash"]));
    let config = json!({"names": [{"regex": "^search"}, "book"]});
    assert_eq!(score(config, &["search_direct", "book"]).score, Some(1.0));
}

#[test]
fn the_ground_truth_stands_in_for_names() {
    let of = |truth: Value| {
        let scorer: ToolOrder = scorebox_sdk::configure(json!({})).unwrap();
        scorer.score(&case(&["a", "b"]).with_ground_truth(truth)).unwrap().score
    };
    assert_eq!(of(json!([{"name": "a", "arguments": {"any": 1}}, {"name": "b"}])), Some(1.0));
    assert_eq!(of(json!(["b", "a"])), Some(0.0));
    assert_eq!(of(json!([["b", "a"], ["a"]])), Some(1.0));
    assert_eq!(score(json!({"value": ["a", "b"]}), &["a", "b"]).score, Some(1.0));
    assert_eq!(score(json!({"values": [["b"], ["c"]]}), &["a", "b"]).score, Some(1.0));
}

#[test]
fn negated_the_order_is_forbidden() {
    let score = score(json!({"names": ["b", "a"], "negate": true}), &["a", "b"]);
    assert_eq!(score.score, Some(1.0));
    assert_eq!(score.reason.as_deref(), Some("`a` is missing after `b`"));
}

#[test]
fn an_empty_list_is_not_an_order() {
    let error = scorebox_sdk::configure::<ToolOrder>(json!({"names": []})).err().unwrap();
    assert_eq!(error.to_string(), "`names` is an empty list; name at least one");
    let scorer: ToolOrder = scorebox_sdk::configure(json!({})).unwrap();
    assert_eq!(
        scorer.score(&case(&["a"])).unwrap_err().message(),
        "the case has no `groundTruth`, which this scorer needs, and the configuration has no `names` or `value` in \
         its place"
    );
}

#[test]
fn where_no_call_is_expected_it_does_not_apply() {
    let scorer: ToolOrder = scorebox_sdk::configure(json!({})).unwrap();
    let expecting = |expected: Value, called: &[&str]| {
        scorer.score(&case(called).with_ground_truth(expected)).unwrap()
    };
    for called in [&[][..], &["a"][..]] {
        let none = expecting(json!([]), called);
        assert_eq!((none.score, none.reason.as_deref()), (None, Some("no call is expected")));
    }
    // Next to others it is not a choice, or every order would be accepted.
    assert_eq!(expecting(json!([[], ["b"]]), &["a"]).score, Some(0.0));
}
