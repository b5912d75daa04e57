//! not-called-tool, as a specification. The semantics are niceeval's.

use serde_json::json;

use super::*;

fn case() -> Case {
    Case::new(json!("done")).with_trace(json!([
        {"tool": "Bash", "args": {"command": "npm i left-pad"}, "status": "failed"},
        {"tool": "Bash", "args": {"command": "ls"}, "result": "a"},
    ]))
}

fn score(config: Value) -> Score {
    let scorer: NotCalledTool = scorebox_sdk::configure(config).unwrap();
    scorer.score(&case()).unwrap()
}

#[test]
fn one_call_is_one_too_many() {
    assert_eq!(score(json!({"name": "book"})).score, Some(1.0));
    let shell = score(json!({"name": "shell"}));
    assert_eq!(shell.score, Some(0.0));
    assert_eq!(
        shell.reason.as_deref(),
        Some("`shell` was called 2 times, first with {\"command\":\"npm i left-pad\"}")
    );
}

#[test]
fn only_certain_arguments_may_be_forbidden() {
    let with = |command: &str| {
        let arguments = json!({"command": {"regex": command}});
        score(json!({"name": "shell", "arguments": arguments})).score
    };
    assert_eq!(with("npm i"), Some(0.0));
    assert_eq!(with("rm -rf"), Some(1.0));
    let beside = |pattern: &str| {
        score(json!({"name": "shell", "arguments": {"cwd": {"regex": pattern}}})).score
    };
    assert_eq!((beside("npm i"), beside("^npm i")), (Some(0.0), Some(1.0)));
    let exact = json!({"name": "Bash", "arguments": {"command": "npm"}, "match": "exact"});
    assert_eq!(score(exact).score, Some(1.0));
}

#[test]
fn a_result_without_its_call_was_a_call_of_the_tool_that_it_names() {
    let result =
        json!({"role": "tool", "name": "delete", "tool_call_id": "1", "content": "deleted"});
    let case =
        Case::new(json!("done")).with_trace(json!([{"role": "user", "content": "x"}, result]));
    let score = |config: Value| {
        let scorer: NotCalledTool = scorebox_sdk::configure(config).unwrap();
        scorer.score(&case).unwrap().score
    };
    assert_eq!(score(json!({"name": "delete"})), Some(0.0));
    assert_eq!(score(json!({"name": "book"})), Some(1.0));
    // The arguments are not known.
    assert_eq!(score(json!({"name": "delete", "arguments": {"path": "/"}})), Some(1.0));
}

#[test]
fn only_a_certain_end_may_be_forbidden() {
    let rejected = score(json!({"name": "Bash", "status": "rejected"}));
    assert_eq!(rejected.score, Some(1.0));
    assert_eq!(
        rejected.reason.as_deref(),
        Some("`Bash` was not called with the status `rejected`")
    );
    assert_eq!(score(json!({"name": "Bash", "status": "failed"})).score, Some(0.0));
}

#[test]
fn a_pattern_that_would_miss_letters_is_refused() {
    let config = json!({"name": "shell", "arguments": {"command": {"regex": "(?i)удалить"}}});
    let error = scorebox_sdk::configure::<NotCalledTool>(config).err().unwrap().to_string();
    assert!(error.starts_with("`arguments.command`: ignores case"), "{error}");
}

#[test]
fn several_names_are_several_assertions() {
    let score = score(json!({"names": ["book", {"regex": "^Ba"}]}));
    assert_eq!(score.score, Some(0.5));
    assert_eq!(score.assertions.len(), 2);
}

#[test]
fn without_a_name_nothing_is_forbidden_and_that_is_an_error() {
    let error = scorebox_sdk::configure::<NotCalledTool>(json!({})).err().unwrap();
    assert_eq!(
        error.to_string(),
        "`name` is missing, and so is `names`; name the tools that may not be called"
    );
}

/// A trace whose keys keep their order, unlike in `json!`.
fn as_written(trace: &str) -> Case {
    Case::new(json!("done")).with_trace(json!(trace))
}

#[test]
fn a_pattern_sees_the_keys_in_the_order_of_the_call_and_sorted() {
    let score = |case: &Case, regex: &str| {
        let config = json!({"name": "w", "arguments": {"regex": regex}});
        let scorer: NotCalledTool = scorebox_sdk::configure(config).unwrap();
        scorer.score(case).unwrap().score
    };
    let written = r#""path":"/etc/passwd","mode":"w""#;
    let sorted = r#""mode":"w","path":"/etc/passwd""#;
    for trace in [
        r#"[{"tool": "w", "args": {"path": "/etc/passwd", "mode": "w"}}]"#,
        r#"[{"tool": "w", "args": {"all": {"path": "/etc/passwd", "mode": "w"}, "a": 1}}]"#,
        r#"[{"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "w",
            "arguments": "{\"path\": \"/etc/passwd\", \"mode\": \"w\"}"}}]}]"#,
    ] {
        assert_eq!(score(&as_written(trace), written), Some(0.0), "{trace}");
        assert_eq!(score(&as_written(trace), sorted), Some(0.0), "{trace}");
        assert_eq!(score(&as_written(trace), "\"path\":\"/etc/passwd\"}"), Some(0.0));
        assert_eq!(score(&as_written(trace), "\"w\":"), Some(1.0));
    }
    // Text elsewhere in the trace is not part of the call.
    let elsewhere = r#"[{"tool": "w", "args": {"mode": "r", "path": "x"}},
        {"tool": "r", "args": {"path": "/etc/passwd", "mode": "w"}}]"#;
    assert_eq!(score(&as_written(elsewhere), written), Some(1.0));
}

#[test]
fn a_null_that_would_drop_a_condition_is_refused() {
    for key in ["arguments", "status"] {
        let error = scorebox_sdk::configure::<NotCalledTool>(json!({"name": "w", key: null}))
            .err()
            .unwrap();
        let why = "is null, which asks for nothing; leave the key out";
        assert!(error.to_string().contains(why), "{key}: {error}");
        assert!(error.to_string().contains(key), "{key}: {error}");
    }
}
