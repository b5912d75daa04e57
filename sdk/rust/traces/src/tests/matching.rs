//! Patterns for arguments, expected calls, and pairing.

use serde_json::{Value, json};

use super::*;
use scorebox_sdk::{Case, ConfigError, ExpectedValue, ExpectedValues};

fn configured(
    value: Option<Value>,
    values: Option<Vec<Value>>,
) -> Result<Option<ExpectedCalls>, ConfigError> {
    ExpectedCalls::configured(ExpectedValue(value), ExpectedValues(values))
}

fn matches(pattern: Value, arguments: Value) -> bool {
    ArgumentPattern::compile("arguments", pattern, false).unwrap().matches(&arguments)
}

#[test]
fn objects_match_in_part_and_arrays_by_their_first_items() {
    let arguments = json!({"a": {"b": 1, "c": [1, {"d": 2, "e": 3}]}, "f": null});
    assert!(matches(json!({}), arguments.clone()));
    assert!(matches(json!({"a": {"b": 1.0}}), arguments.clone()));
    assert!(matches(json!({"a": {"c": [1, {"d": 2}]}}), arguments.clone()));
    assert!(matches(json!({"a": {"c": [1]}}), arguments.clone()));
    assert!(matches(json!({"a": {"c": []}}), arguments.clone()));
    assert!(!matches(json!({"a": {"c": [1, {}, {}]}}), arguments.clone()));
    assert!(!matches(json!({"a": {"c": [2]}}), arguments.clone()));
    assert!(matches(json!({"f": null}), arguments.clone()));
    assert!(!matches(json!({"g": null}), arguments));
}

#[test]
fn a_regex_matches_a_text_or_else_what_is_around_it() {
    let regex = |regex: &str| json!({"command": {"regex": regex}});
    assert!(matches(regex("^pwd"), json!({"command": "pwd -P"})));
    assert!(!matches(regex("^pwd"), json!({"command": "cd; pwd"})));
    assert!(matches(regex("src/.*\\.rs"), json!({"path": "src/a.rs"})));
    assert!(matches(json!({"regex": "\"a\":1"}), json!({"b": 2, "a": 1})));
    // As in niceeval, the search goes no further out than the object or array around it.
    let inner = json!({"a": {"path": {"regex": "x\\.rs"}}});
    assert!(matches(inner.clone(), json!({"a": {"command": "cat x.rs"}})));
    assert!(!matches(inner, json!({"a": {"path": "y"}, "b": "x.rs"})));
    let error = ArgumentPattern::compile("arguments", json!({"a": [{"regex": "("}]}), false);
    assert!(
        error
            .unwrap_err()
            .to_string()
            .starts_with("`arguments.a[0]` is not a valid regular expression: ")
    );
}

#[test]
fn exactly_means_equal_and_nothing_is_a_pattern() {
    let pattern = json!({"a": {"regex": "x"}});
    let exact = ArgumentPattern::compile("arguments", pattern.clone(), true).unwrap();
    assert!(exact.matches(&pattern));
    assert!(!exact.matches(&json!({"a": "x"})));
}

#[test]
fn a_text_or_a_regex() {
    let compile = |written: Value| {
        let written: TextOrRegex = serde_json::from_value(written).unwrap();
        TextPattern::compile("text", &written)
    };
    let text = compile(json!("ab")).unwrap();
    assert!(text.is("ab") && !text.is("abc") && text.is_in("abc"));
    let regex = compile(json!({"regex": "^a.$"})).unwrap();
    assert!(regex.is("ab") && !regex.is_in("abc"));
    assert!(compile(json!("")).is_err());
    let wrong = serde_json::from_value::<TextOrRegex>(json!(1)).unwrap_err();
    assert_eq!(wrong.to_string(), "should be a text, or {\"regex\": \"…\"}");
}

#[test]
fn one_text_or_a_list_of_them() {
    let all = |one: Value, many: Value| {
        let one = serde_json::from_value(one).unwrap();
        let many = serde_json::from_value(many).unwrap();
        TextPattern::compile_all(("name", &one), ("names", &many)).map(|all| all.len())
    };
    assert_eq!(all(json!("a"), json!(null)), Ok(1));
    assert_eq!(all(json!(null), json!(["a", {"regex": "b"}])), Ok(2));
    assert_eq!(all(json!(null), json!(null)), Ok(0));
    assert_eq!(all(json!("a"), json!(["b"])).unwrap_err().key(), Some("names"));
    assert_eq!(all(json!(null), json!([])).unwrap_err().key(), Some("names"));
    assert_eq!(all(json!(null), json!(["a", ""])).unwrap_err().key(), Some("names[1]"));
}

#[test]
fn a_tool_goes_by_its_own_name_and_by_its_canonical_one() {
    let call = ToolCall { name: "Bash".into(), ..ToolCall::default() };
    let named = |written: Value| {
        let written: TextOrRegex = serde_json::from_value(written).unwrap();
        call.is_named(&TextPattern::compile("name", &written).unwrap())
    };
    assert!(named(json!("Bash")) && named(json!("shell")) && named(json!({"regex": "^Ba"})));
    assert!(!named(json!("bash")) && !named(json!({"regex": "shell"})));
    // OpenHands and Amazon Q, Copilot, Codex, Goose.
    for name in ["execute_bash", "run_in_terminal", "shell_command", "developer__shell"] {
        assert!(ToolCall { name: name.into(), ..ToolCall::default() }.is("shell"), "{name}");
    }
}

fn expected(truth: Value) -> ExpectedCalls {
    ExpectedCalls::from_case(&Case::new(json!(null)).with_ground_truth(truth)).unwrap()
}

#[test]
fn expected_calls_come_in_the_spellings_of_traces() {
    let call = ExpectedCall { name: "w".into(), arguments: Some(json!({"c": 1})), result: None };
    let spellings = [
        json!([{"name": "w", "arguments": {"c": 1}}]),
        json!([{"name": "w", "args": {"c": 1}}]),
        json!({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "w", "arguments": "{\"c\": 1}"}}]}]}),
    ];
    for truth in spellings {
        assert_eq!(expected(truth).alternatives()[0].calls, std::slice::from_ref(&call));
    }
    assert_eq!(expected(json!([])).alternatives(), [ExpectedRun::default()]);
}

/// As in promptfoo, whose expected arguments may leave out keys, but not items.
#[test]
fn a_literal_array_is_as_long_as_it_is() {
    let literal = |written: Value| ArgumentPattern::literal(written, false);
    let arguments = json!({"a": [1, {"b": 2, "c": 3}], "d": 4});
    assert!(literal(json!({"a": [1, {"b": 2}]})).matches(&arguments));
    assert!(!literal(json!({"a": [1]})).matches(&arguments));
}

/// With `turns`, a run would be compared message by message.
#[test]
fn expected_calls_alone_are_not_messages() {
    let call = ExpectedCall { name: "w".into(), arguments: Some(json!({"c": 1})), result: None };
    let arguments = json!({"c": 1});
    let function = json!({"name": "w", "arguments": "{\"c\": 1}"});
    let alone = [
        json!([{"id": "1", "type": "function", "function": function}]),
        json!([{"tool": "w", "args": arguments}]),
        json!([{"tool_name": "w", "tool_input": arguments}]),
        json!([{"toolName": "w", "args": arguments}]),
        json!([{"functionCall": {"name": "w", "args": arguments}}]),
        json!([{"type": "tool_use", "id": "1", "name": "w", "input": arguments}]),
        json!([{"type": "function_call", "call_id": "1", "name": "w", "arguments": "{\"c\": 1}"}]),
        json!({"tool_calls": [{"id": "1", "type": "function", "function": function}]}),
        json!({"toolCalls": [{"toolName": "w", "args": arguments}]}),
        json!({"user_id": "u", "actions": [{"name": "w", "kwargs": arguments}], "outputs": []}),
        json!({"name": "w", "arguments": arguments}),
        json!([{"name": "w", "inputParameters": arguments}]),
        json!(json!([{"name": "w", "arguments": arguments}]).to_string()),
    ];
    for truth in alone {
        let run = &expected(truth.clone()).alternatives()[0].clone();
        assert_eq!(run.calls, std::slice::from_ref(&call), "{truth}");
        assert_eq!(run.turns, None, "{truth}");
    }
    let said = json!({"role": "assistant", "tool_calls": [{"function": function}]});
    let steps = json!([{"thought": "So.", "action": "w", "action_input": arguments}]);
    let span = json!([{"name": "w", "type": "tool", "input": arguments, "children": []}]);
    for run in [said, steps, span] {
        let run = &expected(run).alternatives()[0].clone();
        assert_eq!(run.calls, std::slice::from_ref(&call));
        assert!(run.turns.is_some());
    }
    for other in [json!([{"id": 3}]), json!({"name": "Ada", "age": 36})] {
        let case = Case::new(json!(null)).with_ground_truth(other);
        assert!(ExpectedCalls::from_case(&case).is_err());
    }
}

#[test]
fn names_alone_leave_the_arguments_open() {
    let open = ExpectedCall { name: "w".into(), arguments: None, result: None };
    for truth in [json!("w"), json!(["w"]), json!([{"name": "w"}])] {
        assert_eq!(expected(truth).alternatives()[0].calls, std::slice::from_ref(&open));
    }
    assert!(open.is("w", &json!({"any": 1})) && !open.is("v", &json!({})));
}

#[test]
fn a_list_of_lists_is_a_choice() {
    let choice = expected(json!([["a", "b"], [{"name": "c", "arguments": {}}], []]));
    let sizes: Vec<_> = choice.alternatives().iter().map(|run| run.calls.len()).collect();
    assert_eq!(sizes, [2, 1, 0]);
    let configured = configured(None, Some(vec![json!(["a"]), json!([])]));
    assert_eq!(configured.unwrap().unwrap().alternatives().len(), 2);
}

#[test]
fn what_is_not_a_list_of_calls_is_refused() {
    let case = Case::new(json!(null)).with_ground_truth(json!({"answer": 5}));
    assert_eq!(
        ExpectedCalls::from_case(&case).unwrap_err().message(),
        "`groundTruth` should be a list of calls, each a name or {name, arguments}; found {\"answer\":5}"
    );
    assert_eq!(configured(Some(json!(5)), None).unwrap_err().key(), Some("value"));
    assert!(configured(Some(json!([])), Some(vec![json!([])])).is_err());
    assert!(configured(None, Some(vec![])).is_err());
    for nameless in [json!(""), json!(" "), json!(["a", ""]), json!({"name": "", "arguments": {}})]
    {
        let case = Case::new(json!(null)).with_ground_truth(nameless);
        assert_eq!(
            ExpectedCalls::from_case(&case).unwrap_err().message(),
            "`groundTruth` has a call with an empty name; name the tool, or leave the call out"
        );
    }
}

#[test]
fn optimal_pairing_finds_partners_that_greedy_pairing_gives_away() {
    // 0 fits both, 1 fits only the one that 0 takes first.
    let fits = |left: usize, right: usize| left == 0 || right == 0;
    let greedy = Assignment::Greedy.pair(2, 2, fits).unwrap();
    assert_eq!(greedy.right_of, [Some(0), None]);
    let optimal = Assignment::Optimal.pair(2, 2, fits).unwrap();
    assert_eq!(optimal.right_of, [Some(1), Some(0)]);
    assert_eq!(optimal.left_of, [Some(1), Some(0)]);
}

#[test]
fn optimal_pairing_agrees_with_trying_everything() {
    fn best(left: usize, right: &mut Vec<bool>, fits: &dyn Fn(usize, usize) -> bool) -> usize {
        let Some(item) = left.checked_sub(1) else {
            return 0;
        };
        let mut most = best(item, right, fits);
        for other in 0..right.len() {
            if !right[other] && fits(item, other) {
                right[other] = true;
                most = most.max(1 + best(item, right, fits));
                right[other] = false;
            }
        }
        most
    }
    for seed in 0..400_u64 {
        let (left, right) = (1 + (seed % 6) as usize, 1 + (seed / 6 % 6) as usize);
        let fits = |l: usize, r: usize| {
            let mixed =
                (seed * 1_000_003 + l as u64 * 7919 + r as u64 * 104_729).wrapping_mul(0x9E37_79B9);
            mixed >> 7 & 3 == 0
        };
        let pairing = Assignment::Optimal.pair(left, right, fits).unwrap();
        assert_eq!(pairing.count(), best(left, &mut vec![false; right], &fits), "seed {seed}");
        for (l, r) in pairing.right_of.iter().enumerate() {
            assert!(r.is_none_or(|r| fits(l, r) && pairing.left_of[r] == Some(l)));
        }
    }
}

#[test]
fn a_chain_of_exchanges_needs_no_recursion_and_too_many_pairs_are_refused() {
    // Greedy pairing pairs i with i; only shifting all by one makes room for the last.
    let count = 1500;
    let fits = |left: usize, right: usize| {
        right == left || right == left + 1 || (left == count - 1 && right == 0)
    };
    let pairing = Assignment::Optimal.pair(count, count, fits).unwrap();
    assert_eq!(pairing.count(), count);
    let error = Assignment::Optimal.pair(3000, 3000, |_, _| false).unwrap_err();
    assert!(error.message().starts_with("3000 calls against 3000 are too many to compare"));
}

#[test]
fn whole_messages_keep_the_turns_that_calls_stand_in() {
    let call = |name: &str| json!({"function": {"name": name, "arguments": "{}"}});
    let run = expected(json!([
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "content": "1"},
        {"role": "assistant", "tool_calls": [call("c")]},
    ]));
    let turns = run.alternatives()[0].turns.as_ref().unwrap();
    let turns: Vec<_> = turns.iter().map(|turn| (turn.role.name(), turn.calls.clone())).collect();
    assert_eq!(turns, [("user", 0..0), ("assistant", 0..2), ("tool", 2..2), ("assistant", 2..3)]);
}

#[test]
fn how_often_something_has_to_happen() {
    let count = |count, min, max| Count::from_config(count, min, max, 1);
    let exact = count(Some(2), None, None).unwrap();
    assert!(exact.holds(2) && !exact.holds(1) && !exact.holds(3));
    assert_eq!(exact.to_string(), "exactly 2");
    let default = count(None, None, None).unwrap();
    assert!(default.holds(1) && !default.holds(0));
    assert_eq!(default.to_string(), "at least 1");
    assert_eq!(count(None, Some(0), Some(5)).unwrap().to_string(), "at most 5");
    assert_eq!(count(None, Some(2), Some(4)).unwrap().to_string(), "2 to 4");
    assert_eq!(count(None, Some(1), Some(1)).unwrap().to_string(), "exactly 1");
    // A user who writes only `max` may mean "at most".
    let only_max = count(None, None, Some(1)).unwrap();
    assert!(only_max.holds(1) && !only_max.holds(0));
    assert_eq!(only_max.to_string(), "1 to 1 (`min` is 1 unless you say otherwise)");
    let none_by_default = Count::from_config(None, None, Some(5), 0).unwrap();
    assert_eq!(none_by_default.to_string(), "at most 5");
    assert_eq!(count(Some(1), Some(1), None).unwrap_err().key(), Some("count"));
    assert_eq!(count(None, Some(3), Some(2)).unwrap_err().key(), Some("max"));
}

#[test]
fn arguments_that_many_calls_have_are_one_text_for_each_order_of_their_keys() {
    let call = |args: &str| format!(r#"{{"tool": "w", "args": {args}}}"#);
    let (one, other) = (r#"{"c": 1, "a": 2, "b": 3}"#, r#"{"b": 3, "c": 1, "a": 2}"#);
    let calls = [one, other].map(call).join(",");
    let trace = format!("[{}]", vec![calls; 50].join(","));
    let case = Case::new(json!("x")).with_trace(json!(trace));
    let read = Trace::of(&case).unwrap();
    let written = Written::new(&case, &read);
    let texts: Vec<_> = written.texts(r#"{"a":2,"b":3,"c":1}"#).collect();
    assert_eq!(texts, [r#"{"b":3,"c":1,"a":2}"#, r#"{"c":1,"a":2,"b":3}"#]);
}
