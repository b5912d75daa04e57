//! trajectory-match, as a specification. Statements about agentevals were checked with agentevals 0.0.9 (MIT) from
//! PyPI.

use super::*;

fn call(name: &str, arguments: Value) -> Value {
    json!({"id": "1", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
}

fn says(calls: Value) -> Value {
    json!({"role": "assistant", "content": "", "tool_calls": calls})
}

fn user() -> Value {
    json!({"role": "user", "content": "hi"})
}

fn tool() -> Value {
    json!({"role": "tool", "tool_call_id": "1", "content": "x"})
}

fn done() -> Value {
    json!({"role": "assistant", "content": "done"})
}

fn score(config: Value, run: &Value, reference: &Value) -> Score {
    let scorer: TrajectoryMatch = scorebox_sdk::configure(config).unwrap();
    let case =
        Case::new(json!("done")).with_trace(run.clone()).with_ground_truth(reference.clone());
    scorer.score(&case).unwrap()
}

fn matches(config: Value, run: &Value, reference: &Value) -> bool {
    score(config, run, reference).score == Some(1.0)
}

#[test]
fn strict_compares_roles_and_calls_and_no_words() {
    let sunny = says(json!([call("weather", json!({"city": "SF"}))]));
    let mut wordy = sunny.clone();
    wordy["content"] = json!("Let me see.");
    let other_end = json!({"role": "assistant", "content": "bye"});
    let run = json!([user(), sunny, tool(), done()]);
    assert!(matches(json!({}), &run, &json!([user(), wordy, tool(), other_end])));
    let reference = json!([user(), sunny, done()]);
    let short = score(json!({}), &run, &reference);
    assert_eq!(short.score, Some(0.0));
    assert_eq!(short.reason.as_deref(), Some("4 messages, expected 3"));
    let reference = json!([user(), tool(), sunny, done()]);
    assert_eq!(
        score(json!({}), &run, &reference).reason.as_deref(),
        Some("message 2 is of `assistant`, expected `tool`")
    );
    let reference =
        json!([user(), says(json!([call("weather", json!({"city": "LA"}))])), tool(), done()]);
    assert_eq!(
        score(json!({}), &run, &reference).reason.as_deref(),
        Some("message 2: `weather` was called with {\"city\":\"SF\"}, expected {\"city\":\"LA\"}")
    );
}

#[test]
fn within_a_message_calls_stand_in_any_order() {
    let (a, b) = (call("a", json!({})), call("b", json!({})));
    let run = json!([user(), says(json!([a, b]))]);
    assert!(matches(json!({}), &run, &json!([user(), says(json!([b, a]))])));
    let two = json!([user(), says(json!([a])), says(json!([b]))]);
    assert!(!matches(json!({}), &run, &two));
    assert!(matches(json!({"mode": "unordered"}), &run, &two));
}

#[test]
fn providers_shapes_are_the_same_run() {
    let reference = json!([user(), says(json!([call("w", json!({"city": "SF"}))])), tool()]);
    let anthropic = json!([user(),
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "w", "input": {"city": "SF"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x"}]}]);
    assert!(matches(json!({}), &anthropic, &reference));
    // A result without its call is a tool message, and not a call.
    let orphans = json!([user(), tool()]);
    assert!(matches(json!({"mode": "unordered"}), &orphans, &json!([])));
    let empty_list = json!([user(), {"role": "assistant", "content": "a", "tool_calls": []}]);
    assert!(matches(json!({}), &empty_list, &json!([user(), done()])));
}

/// For every mode of runs and of arguments: a run whose call has fewer arguments than the
/// reference's, and one whose call has more, as agentevals scores them.
#[test]
fn the_modes_of_agentevals() {
    let less = json!([user(), says(json!([call("w", json!({"a": 1}))])), tool(), done()]);
    let more = json!([user(), says(json!([call("w", json!({"a": 1, "b": 2}))])), tool(), done()]);
    let expected = [
        ("strict", "exact", false, false),
        ("strict", "ignore", true, true),
        ("strict", "subset", true, false),
        ("strict", "superset", false, true),
        ("unordered", "exact", false, false),
        ("unordered", "ignore", true, true),
        ("unordered", "subset", false, false),
        ("unordered", "superset", false, false),
        ("subset", "exact", false, false),
        ("subset", "ignore", true, true),
        ("subset", "subset", false, true),
        ("subset", "superset", true, false),
        ("superset", "exact", false, false),
        ("superset", "ignore", true, true),
        ("superset", "subset", true, false),
        ("superset", "superset", false, true),
    ];
    for assignment in ["optimal", "greedy"] {
        for (mode, arguments, of_less, of_more) in expected {
            let config = json!({"mode": mode, "argumentMode": arguments, "assignment": assignment});
            assert_eq!(matches(config.clone(), &less, &more), of_less, "{config}");
            assert_eq!(matches(config.clone(), &more, &less), of_more, "{config}");
        }
    }
}

#[test]
fn supersets_and_subsets_of_calls() {
    let (a, b) = (call("a", json!({})), call("b", json!({})));
    let one = json!([user(), says(json!([a]))]);
    let both = json!([user(), says(json!([a])), tool(), says(json!([b]))]);
    assert!(matches(json!({"mode": "superset"}), &both, &one));
    let missing = score(json!({"mode": "superset"}), &one, &both);
    assert_eq!(missing.score, Some(0.0));
    assert_eq!(missing.reason.as_deref(), Some("missing b"));
    assert_eq!(missing.meta_value(), Some(json!({"missing": ["b"], "extra": []})));
    assert!(matches(json!({"mode": "subset"}), &one, &both));
    let extra = score(json!({"mode": "subset"}), &both, &one);
    assert_eq!(extra.reason.as_deref(), Some("not in the reference b"));
    // Each call of the reference needs a separate one.
    let twice = json!([user(), says(json!([a, a]))]);
    assert!(!matches(json!({"mode": "superset"}), &one, &twice));
}

/// agentevals 0.0.9 rejects the first three: the first call took the partner that the other one needed.
#[test]
fn optimal_pairing_finds_what_the_peers_greedy_one_misses() {
    let (small, big) = (call("w", json!({"a": 1})), call("w", json!({"a": 1, "b": 2})));
    let big_first = json!([user(), says(json!([big, small]))]);
    let small_first = json!([user(), says(json!([small, big]))]);
    let config = |mode: &str, arguments: &str, assignment: &str| json!({"mode": mode, "argumentMode": arguments, "assignment": assignment});
    let cases = [
        ("superset", "superset", &big_first, &small_first),
        ("subset", "subset", &big_first, &small_first),
        ("strict", "superset", &big_first, &small_first),
        ("unordered", "subset", &big_first, &small_first),
    ];
    for (mode, arguments, run, reference) in cases {
        assert!(matches(config(mode, arguments, "optimal"), run, reference), "{mode}");
        assert!(!matches(config(mode, arguments, "greedy"), run, reference), "{mode}");
    }
    assert!(matches(config("superset", "subset", "greedy"), &big_first, &small_first));
}

/// agentevals accepts it: in Python, True == 1.
#[test]
fn a_boolean_is_not_a_number() {
    let run = |argument: Value| json!([user(), says(json!([call("w", json!({ "a": argument }))]))]);
    assert!(!matches(json!({}), &run(json!(true)), &run(json!(1))));
    assert!(matches(json!({}), &run(json!(1.0)), &run(json!(1))));
}

#[test]
fn single_tools_may_have_ways_of_their_own() {
    let run = |arguments: Value| json!([user(), says(json!([call("w", arguments)]))]);
    let with = |other: Value| json!({"argumentModes": {"w": other}});
    let one = run(json!({"city": "SF", "x": 1, "q": {"c": 1, "d": 2}}));
    let two = run(json!({"city": "SF", "x": 2, "q": {"c": 1, "d": 3}}));
    assert!(!matches(json!({}), &one, &two));
    assert!(matches(with(json!("ignore")), &one, &two));
    assert!(matches(with(json!(["city"])), &one, &two));
    assert!(matches(with(json!(["city", "q.c"])), &one, &two));
    assert!(!matches(with(json!(["q.d"])), &one, &two));
    assert!(matches(with(json!(["nowhere", "q.c.e"])), &one, &two));
    // An empty list does not override the mode.
    assert!(!matches(with(json!([])), &one, &two));
    let ignored = json!({"argumentMode": "ignore", "argumentModes": {"w": []}});
    assert!(matches(ignored, &one, &two));
}

#[test]
fn a_reference_of_calls_alone_knows_no_messages() {
    let run = json!([
        user(),
        says(json!([call("a", json!({"x": 1}))])),
        tool(),
        says(json!([call("b", json!({}))])),
        tool(),
        done()
    ]);
    let a = json!({"name": "a", "arguments": {"x": 1}});
    let b = json!({"name": "b", "arguments": {}});
    assert!(matches(json!({}), &run, &json!([a, b])));
    let turned = score(json!({}), &run, &json!([b, a]));
    assert_eq!(turned.reason.as_deref(), Some("call 1 is `a`, expected `b`"));
    assert_eq!(score(json!({}), &run, &json!([a])).reason.as_deref(), Some("2 calls, expected 1"));
    assert!(matches(json!({"mode": "unordered"}), &run, &json!([b, a])));
    assert!(matches(json!({}), &run, &json!(["a", "b"])));
    // Regardless of how the calls are written.
    let spellings = [
        json!([call("a", json!({"x": 1})), call("b", json!({}))]),
        json!({"tool_calls": [call("a", json!({"x": 1})), call("b", json!({}))]}),
        json!([{"tool": "a", "args": {"x": 1}}, {"toolName": "b", "args": {}}]),
        json!([{"functionCall": {"name": "a", "args": {"x": 1}}}, {"tool_name": "b", "tool_input": {}}]),
        json!({"actions": [{"name": "a", "kwargs": {"x": 1}}, {"name": "b", "kwargs": {}}]}),
    ];
    for reference in spellings {
        assert!(matches(json!({}), &run, &reference), "{reference}");
    }
    let other = json!([{"name": "a", "kwargs": {"x": 2}}, "b"]);
    assert!(!matches(json!({}), &run, &other));
    // If there are several references, any one is enough.
    assert!(matches(json!({}), &run, &json!([[b], [a, b]])));
    // A reference may have no calls.
    assert!(!matches(json!({"mode": "subset"}), &run, &json!([])));
    assert!(matches(json!({"mode": "superset"}), &run, &json!([])));
}

#[test]
fn the_configuration_may_name_the_reference_and_turn_the_score() {
    let scorer = |config: Value| scorebox_sdk::configure::<TrajectoryMatch>(config).unwrap();
    let case = Case::new(json!("x")).with_trace(json!([{"tool": "a"}]));
    assert_eq!(scorer(json!({"value": ["a"]})).score(&case).unwrap().score, Some(1.0));
    let negated = scorer(json!({"value": ["a"], "negate": true})).score(&case).unwrap();
    assert_eq!(negated.score, Some(0.0));
    assert_eq!(negated.reason.as_deref(), Some("the same run as the reference (1 calls)"));
    assert_eq!(scorer(json!({"values": [["b"], ["a"]]})).score(&case).unwrap().score, Some(1.0));
    let error =
        scorebox_sdk::configure::<TrajectoryMatch>(json!({"argumentModes": {"w": "some"}})).err();
    assert_eq!(
        error.unwrap().to_string(),
        "`argumentModes.w`: should be `exact`, `ignore`, `subset`, `superset`, or a list of arguments"
    );
    assert_eq!(
        scorer(json!({})).score(&case).unwrap_err().message(),
        "the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place"
    );
}
