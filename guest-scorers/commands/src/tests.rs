//! commands, as a specification. That exit code 0 means success is niceeval's rule.

use scorebox_sdk::Assertion;
use scorebox_sdk::serde_json::Value;

use super::*;

fn of(config: Value, commands: Value) -> Score {
    let scorer: Commands = scorebox_sdk::configure(config).unwrap();
    let workspace = json!({"workspace": {"commands": commands}});
    scorer.score(&Case::new(json!("done")).with_metadata(workspace)).unwrap()
}

fn score(config: Value) -> Score {
    of(
        config,
        json!([
            {"command": "npm test", "exitCode": 1, "stdout": "1 passed\n2 failed\n", "stderr": ""},
            {"command": "npm test", "exitCode": 0, "stdout": "3 passed"},
            {"command": ["npm", "run", "build"], "exitCode": 0},
            {"command": "npm start", "stderr": "killed"},
        ]),
    )
}

#[test]
fn without_patterns_every_command_has_to_succeed() {
    let score = score(json!({}));
    assert_eq!(score.score, Some(0.5));
    assert_eq!(
        score.reason.as_deref(),
        Some("2 of 4 checks failed; first: `npm test` ended with exit code 1: 2 failed")
    );
    assert_eq!(score.assertions.len(), 4);
    assert_eq!(score.meta_value(), Some(json!({"commands": 4, "otherExitCode": 2})));
}

#[test]
fn a_pattern_is_about_all_that_it_matches_or_one_or_the_last() {
    let test = |which: &str| score(json!({"command": "npm test", "which": which})).score;
    assert_eq!(test("all"), Some(0.0));
    assert_eq!(test("any"), Some(1.0));
    assert_eq!(test("last"), Some(1.0));
    let build = score(json!({"command": {"regex": "^npm run b"}}));
    assert_eq!(build.score, Some(1.0));
    assert_eq!(build.reason.as_deref(), Some("`^npm run b` (a regex) succeeds"));
}

#[test]
fn a_command_has_to_be_there() {
    let score = score(json!({"commands": ["build", "npm run lint"]}));
    assert_eq!(score.score, Some(0.5));
    assert_eq!(
        score.reason.as_deref(),
        Some("1 of 2 checks failed: no command `npm run lint` was recorded")
    );
}

#[test]
fn without_an_exit_code_a_command_did_not_end_by_itself() {
    let score = score(json!({"command": "npm start"}));
    assert_eq!(score.score, Some(0.0));
    assert_eq!(
        score.reason.as_deref(),
        Some("`npm start` has no exit code, so it was killed: killed")
    );
}

#[test]
fn another_exit_code_may_be_expected() {
    assert_eq!(
        score(json!({"command": "npm test", "exitCode": 1, "which": "any"})).score,
        Some(1.0)
    );
    assert_eq!(score(json!({"command": "npm test", "negate": true})).score, Some(1.0));
}

#[test]
fn negated_each_assertion_wants_the_opposite() {
    let one = score(json!({"command": "npm run build", "negate": true}));
    assert_eq!(one.score, Some(0.0));
    assert_eq!(one.reason.as_deref(), Some("`npm run build` succeeds; wanted: the opposite"));
    let two = score(json!({"commands": ["npm run build", "npm start"], "negate": true}));
    assert_eq!(two.score, Some(0.5));
    let start = "`npm start` has no exit code, so it was killed: killed";
    let expected = [
        Assertion::pass("not: `npm run build` succeeds", false)
            .reason("`npm run build` succeeds; wanted: the opposite"),
        Assertion::pass("not: `npm start` succeeds", true).reason(start),
    ];
    assert_eq!(two.assertions, expected);
}

#[test]
fn without_commands_there_is_no_score() {
    assert_eq!(of(json!({}), json!([])).score, None);
    assert_eq!(of(json!({"command": "npm test"}), json!([])).score, Some(0.0));
    let scorer: Commands = scorebox_sdk::configure(json!({})).unwrap();
    let case = Case::new(json!("done")).with_context(json!({"diff": "", "files": []}));
    assert_eq!(
        scorer.score(&case).unwrap_err().message(),
        "`context` has no `commands`, which this scorer needs; it has `files`, `diff`"
    );
}

#[test]
fn impossible_configurations_are_refused() {
    let refused = scorebox_sdk::configure::<Commands>(json!({"which": "last"})).err().unwrap();
    assert_eq!(refused.to_string(), "`which`: needs a `command` or `commands` to apply to");
}

#[test]
fn an_exit_code_may_be_written_as_python_writes_it() {
    let recorded = |code: i64| of(json!({}), json!([{"command": "x", "exit_code": code}])).score;
    assert_eq!((recorded(0), recorded(1)), (Some(1.0), Some(0.0)));
}
