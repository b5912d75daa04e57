//! no-failed-commands, as a specification. The semantics are niceeval's.

use super::*;

fn score_with(config: Value, trace: Value) -> Score {
    let scorer: NoFailedCommands = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!("done")).with_trace(trace)).unwrap()
}

fn score(trace: Value) -> Score {
    score_with(json!({}), trace)
}

#[test]
fn a_failed_command_fails_and_other_tools_do_not_count() {
    let trace = json!([
        {"tool": "Bash", "args": {"command": "ls"}, "result": "a", "status": "completed"},
        {"tool": "Bash", "args": {"command": "npm test"}, "result": "2 failed", "status": "failed"},
        {"tool": "Read", "args": {"path": "x"}, "result": "", "status": "failed"},
    ]);
    let score = score(trace);
    assert_eq!(score.score, Some(0.0));
    assert_eq!(score.reason.as_deref(), Some("1 of 2 failed, first `npm test`: 2 failed"));
    let assertion = Assertion::pass("`npm test` does not fail", false).reason("2 failed");
    assert_eq!(score.assertions, [assertion]);
}

#[test]
fn an_exit_code_says_it_best() {
    let run = |result: Value, status: &str| {
        let call = json!({"tool": "shell", "args": {"command": ["make", "all"]}, "result": result, "status": status});
        score(json!([call]))
    };
    assert_eq!(
        run(json!({"exit_code": 2, "output": ""}), "completed").reason.as_deref(),
        Some("1 of 1 failed, first `make all`: exit code 2")
    );
    assert_eq!(
        run(json!({"output": "Error: 0", "metadata": {"exit_code": 0}}), "unknown").score,
        Some(1.0)
    );
    assert_eq!(run(json!("Exit code 127\nnot found"), "unknown").score, Some(0.0));
}

#[test]
fn some_commands_may_fail_and_other_tools_may_run_them() {
    let trace =
        json!([{"tool": "terminal", "args": {"cmd": "grep x y"}, "result": {"exitCode": 1}}]);
    assert_eq!(
        score(trace.clone()).reason.as_deref(),
        Some("no tool that is known to run commands was called, only `terminal`; see `tools`")
    );
    assert_eq!(
        score(json!([{"role": "user", "content": "x"}])).reason.as_deref(),
        Some("no command was run")
    );
    let config = json!({"tools": ["terminal"]});
    assert_eq!(score_with(config, trace.clone()).score, Some(0.0));
    let config = json!({"tools": ["terminal"], "allow": [{"regex": "^grep "}]});
    assert_eq!(score_with(config, trace).score, Some(1.0));
}

#[test]
fn a_refused_command_did_not_fail() {
    let trace = json!([{"tool": "Bash", "args": {"command": "rm -rf /"}, "result": "no", "status": "rejected"}]);
    assert_eq!(score(trace).score, Some(1.0));
}

#[test]
fn an_exit_code_beside_the_output_counts() {
    let step = |code: i64| json!([{"tool": "bash", "args": {"command": "x"}, "exit_code": code, "output": "x"}]);
    assert_eq!(score(step(1)).score, Some(0.0));
    assert_eq!(score(step(0)).score, Some(1.0));
}

#[test]
fn the_shells_of_many_agents_are_known() {
    for tool in ["execute_bash", "run_in_terminal", "shell_command", "run_terminal_command"] {
        let call =
            json!({"id": "1", "function": {"name": tool, "arguments": "{\"command\":\"make\"}"}});
        let trace = json!([
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "Exit code: 1"},
        ]);
        assert_eq!(score(trace).score, Some(0.0), "{tool}");
    }
}
