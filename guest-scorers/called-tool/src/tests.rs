//! called-tool, as a specification. The semantics of names, counts and arguments are niceeval's.

use super::*;

fn case() -> Case {
    Case::new(json!("done")).with_trace(json!([
        {"type": "action.called", "callId": "1", "name": "Bash", "input": {"command": "pwd -P"}},
        {"type": "action.result", "callId": "1", "status": "completed", "output": "/"},
        {"type": "action.called", "callId": "2", "name": "Bash", "input": {"command": "npm i", "env": {"CI": 1}}},
        {"type": "action.result", "callId": "2", "status": "failed", "output": "no"},
        {"type": "action.called", "callId": "3", "name": "book", "input": {"seats": [1, 2]}},
    ]))
}

fn score(config: Value) -> Score {
    let scorer: CalledTool = scorebox_sdk::configure(config).unwrap();
    scorer.score(&case()).unwrap()
}

fn passes(config: Value) -> bool {
    score(config).score == Some(1.0)
}

#[test]
fn once_is_enough() {
    assert!(passes(json!({"name": "book"})));
    assert!(!passes(json!({"name": "cancel"})));
    assert_eq!(
        score(json!({"name": "cancel"})).reason.as_deref(),
        Some("`cancel` was not called; wanted: at least 1")
    );
}

#[test]
fn a_tool_goes_by_its_own_name_the_common_one_or_an_expression() {
    assert!(passes(json!({"name": "Bash"})));
    assert!(passes(json!({"name": "shell", "count": 2})));
    assert!(!passes(json!({"name": "bash"})));
    assert!(passes(json!({"name": {"regex": "^B"}})));
}

#[test]
fn the_number_of_calls_is_exact_or_bounded() {
    assert!(passes(json!({"name": "Bash", "count": 2})));
    assert!(!passes(json!({"name": "Bash", "count": 1})));
    assert!(passes(json!({"name": "Bash", "min": 2, "max": 3})));
    assert!(!passes(json!({"name": "Bash", "max": 1})));
    assert!(!passes(json!({"name": "cancel", "max": 1})));
    assert!(passes(json!({"name": "cancel", "min": 0, "max": 1})));
    assert!(passes(json!({"name": "cancel", "count": 0})));
    assert_eq!(
        score(json!({"name": "Bash", "count": 1})).reason.as_deref(),
        Some("`Bash` was called 2 times; wanted: exactly 1")
    );
}

#[test]
fn arguments_match_in_part_or_exactly() {
    let with = |arguments: Value| json!({"name": "Bash", "arguments": arguments});
    assert!(passes(with(json!({"command": {"regex": "^pwd"}}))));
    assert!(passes(with(json!({"env": {"CI": 1}}))));
    assert!(!passes(with(json!({"env": {"CI": 2}}))));
    let exact = json!({"name": "Bash", "arguments": {"command": "npm i"}, "match": "exact"});
    assert!(!passes(exact));
    assert!(passes(json!({"name": "book", "arguments": {"seats": [1, 2]}, "match": "exact"})));
    assert!(passes(json!({"name": "book", "arguments": {"seats": [1]}})));
    assert_eq!(
        score(json!({"name": "book", "arguments": {"seats": [2]}})).reason.as_deref(),
        Some(
            "`book` was not called with such arguments; wanted: at least 1; it was called with {\"seats\":[1,2]}"
        )
    );
}

#[test]
fn the_end_of_a_call_may_matter() {
    assert!(passes(json!({"name": "Bash", "status": "failed", "count": 1})));
    assert!(!passes(json!({"name": "book", "status": "succeeded"})));
    // niceeval's names for two of the statuses.
    assert!(passes(json!({"name": "Bash", "status": "completed", "count": 1})));
    assert!(passes(json!({"name": "book", "status": "pending"})));
}

#[test]
fn a_reason_says_that_only_the_end_of_a_call_is_another() {
    let reason = |config: Value| score(config).reason.unwrap();
    assert_eq!(
        reason(json!({"name": "book", "status": "failed"})),
        "`book` was not called with the status `failed`; wanted: at least 1; a call of it has the \
         status `unknown`"
    );
    let pwd = json!({"command": {"regex": "^pwd"}});
    assert_eq!(
        reason(json!({"name": "Bash", "status": "failed", "arguments": pwd})),
        "`Bash` was not called with such arguments with the status `failed`; wanted: at least 1; it was \
         called with {\"command\":\"pwd -P\"}; a call of it has the status `succeeded`"
    );
    assert_eq!(
        reason(json!({"name": "Bash", "status": "failed"})),
        "`Bash` was called once with the status `failed`"
    );
    assert_eq!(
        reason(json!({"value": ["book"], "status": "failed"})),
        "`book` was not called with the status `failed`"
    );
}

#[test]
fn a_pattern_that_is_not_anchored_is_found_beside_its_place() {
    let with = |command: &str| {
        let arguments = json!({"timeout": {"regex": command}});
        passes(json!({"name": "Bash", "arguments": arguments}))
    };
    assert!(with("pwd") && with("command"));
    assert!(!with("^pwd") && !with("^command"));
}

#[test]
fn negated_the_score_is_turned() {
    assert_eq!(score(json!({"name": "book", "negate": true})).score, Some(0.0));
    let not_called = score(json!({"name": "cancel", "negate": true}));
    assert_eq!(not_called.score, Some(1.0));
    assert_eq!(not_called.reason.as_deref(), Some("`cancel` was not called"));
    assert_eq!(
        score(json!({"name": "Bash", "count": 2, "negate": true})).reason.as_deref(),
        Some("`Bash` was called 2 times; wanted: not exactly 2")
    );
}

#[test]
fn negated_each_assertion_wants_the_opposite() {
    let score = score(json!({"names": ["Bash", "cancel"], "negate": true}));
    assert_eq!(score.score, Some(0.5));
    let reason = "`Bash` was called 2 times; wanted: not at least 1";
    let whole = format!("1 of 2 checks failed: {reason}");
    assert_eq!(score.reason.as_deref(), Some(whole.as_str()));
    let expected = [
        scorebox_sdk::Assertion::pass("not: called `Bash`", false).reason(reason),
        scorebox_sdk::Assertion::pass("not: called `cancel`", true)
            .reason("`cancel` was not called"),
    ];
    assert_eq!(score.assertions, expected);
    let calls = json!({"value": ["book", "cancel"], "negate": true});
    let scorer: CalledTool = scorebox_sdk::configure(calls).unwrap();
    assert_eq!(
        scorer.score(&case()).unwrap().reason.as_deref(),
        Some("1 of 2 checks failed: `book` was called; wanted: the opposite")
    );
}

#[test]
fn several_names_are_several_assertions() {
    let score = score(json!({"names": ["Bash", "cancel"]}));
    assert_eq!(score.score, Some(0.5));
    assert_eq!(
        score.reason.as_deref(),
        Some("1 of 2 checks failed: `cancel` was not called; wanted: at least 1")
    );
    let names = ["called `Bash`", "called `cancel`"];
    let reasons = ["`Bash` was called 2 times", "`cancel` was not called; wanted: at least 1"];
    for (index, assertion) in score.assertions.iter().enumerate() {
        let expected = scorebox_sdk::Assertion::pass(names[index], index == 0);
        assert_eq!(*assertion, expected.reason(reasons[index]));
    }
}

#[test]
fn the_ground_truth_stands_in_for_names() {
    let of = |truth: Value, config: Value| {
        let scorer: CalledTool = scorebox_sdk::configure(config).unwrap();
        scorer.score(&case().with_ground_truth(truth)).unwrap().score
    };
    let pwd = json!({"name": "Bash", "arguments": {"command": "pwd -P"}});
    let cancel = json!({"name": "cancel", "arguments": {}});
    assert_eq!(of(json!([pwd, cancel]), json!({})), Some(0.5));
    // One call does not count as two.
    assert_eq!(of(json!([pwd, pwd]), json!({})), Some(0.5));
    assert_eq!(of(json!(["Bash", "Bash", "book"]), json!({})), Some(1.0));
    // The common name of a kind of tools is accepted here too.
    assert_eq!(of(json!(["shell", "Bash", "book"]), json!({})), Some(1.0));
    assert_eq!(of(json!(["shell", "shell", "shell"]), json!({})), Some(2.0 / 3.0));
    // An array must have the same length as the call's.
    let seats = |seats: Value| json!([{"name": "book", "arguments": {"seats": seats}}]);
    assert_eq!(of(seats(json!([1, 2])), json!({})), Some(1.0));
    assert_eq!(of(seats(json!([1])), json!({})), Some(0.0));
    // Of several lists, the best match counts.
    assert_eq!(of(json!([[cancel], [pwd]]), json!({})), Some(1.0));
    // Nothing in a ground truth is a regular expression.
    let literal = json!([{"name": "Bash", "arguments": {"command": {"regex": "pwd"}}}]);
    assert_eq!(of(literal, json!({})), Some(0.0));
    let part = json!([{"name": "Bash", "arguments": {"command": "npm i"}}]);
    assert_eq!(of(part.clone(), json!({})), Some(1.0));
    assert_eq!(of(part, json!({"match": "exact"})), Some(0.0));
    assert_eq!(of(json!([]), json!({})), None);
    // An empty choice checks nothing.
    assert_eq!(of(json!([[], ["Bash"]]), json!({})), Some(1.0));
    assert_eq!(of(json!([[], ["cancel"]]), json!({})), Some(0.0));
    assert_eq!(of(json!([[], []]), json!({})), None);
    // The configuration replaces the ground truth.
    assert_eq!(of(json!([cancel]), json!({"value": [pwd]})), Some(1.0));
    assert_eq!(of(json!([cancel]), json!({"values": [["cancel"], ["book"]]})), Some(1.0));
    assert_eq!(of(json!([pwd, cancel]), json!({"negate": true})), Some(0.5));
}

#[test]
fn what_needs_a_name_says_so() {
    let refusal = |config: Value| {
        let error = scorebox_sdk::configure::<CalledTool>(config).err();
        error.expect("a refusal").to_string()
    };
    assert_eq!(refusal(json!({"count": 1})), "`count`: needs a `name` or `names` to apply to");
    assert_eq!(
        refusal(json!({"name": "a", "names": ["b"]})),
        "`names`: give either `name` or `names`, not both"
    );
    assert_eq!(
        refusal(json!({"name": "a", "value": ["b"]})),
        "`value`: cannot be combined with names; give either expected calls or names"
    );
    assert_eq!(refusal(json!({"name": 1})), "`name`: should be a text, or {\"regex\": \"…\"}");
    let scorer: CalledTool = scorebox_sdk::configure(json!({})).unwrap();
    assert_eq!(
        scorer.score(&case()).unwrap_err().message(),
        "the case has no `groundTruth`, which this scorer needs, and the configuration has no `name`, `names` or \
         `value` in its place"
    );
    let scorer: CalledTool = scorebox_sdk::configure(json!({"name": "a"})).unwrap();
    assert!(scorer.score(&Case::new(json!("x"))).unwrap_err().message().contains("`trace`"));
}

#[test]
fn a_pattern_sees_the_keys_in_the_order_of_the_call_and_sorted() {
    // As a text, because `json!` sorts keys.
    let trace = r#"[{"tool": "w", "args": {"b": 1.0, "a": [{"d": "\u00e9", "c": null}]}}]"#;
    let case = Case::new(json!("done")).with_trace(json!(trace));
    let score = |arguments: Value| {
        let config = json!({"name": "w", "arguments": arguments});
        let scorer: CalledTool = scorebox_sdk::configure(config).unwrap();
        scorer.score(&case).unwrap().score
    };
    assert_eq!(score(json!({"regex": "^.\"b\":1,\"a\":.*\"d\":\"é\",\"c\""})), Some(1.0));
    assert_eq!(score(json!({"a": [{"regex": "^..\"d\":\"é\",\"c\":null"}]})), Some(1.0));
    assert_eq!(score(json!({"a": [{"d": {"regex": "^.\"d\":\"é\",\"c\":null"}}]})), Some(1.0));
    assert_eq!(score(json!({"a": [{"regex": "^..\"c\":null,\"d\""}]})), Some(1.0));
    assert_eq!(score(json!({"regex": "\"d\":null"})), Some(0.0));
}

#[test]
fn a_null_that_would_drop_a_condition_is_refused() {
    for key in ["arguments", "status", "count", "min", "max"] {
        let error =
            scorebox_sdk::configure::<CalledTool>(json!({"name": "w", key: null})).err().unwrap();
        let why = "is null, which asks for nothing; leave the key out";
        assert!(error.to_string().contains(why), "{key}: {error}");
        assert!(error.to_string().contains(key), "{key}: {error}");
    }
}
