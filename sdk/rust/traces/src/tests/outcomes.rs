//! How a run ended, in the words that programs use for it.

use serde_json::json;

use super::*;

fn outcome(around: Value) -> Option<Outcome> {
    let mut trace = json!({"messages": [{"role": "assistant", "content": "x"}]});
    trace.as_object_mut().unwrap().extend(around.as_object().unwrap().clone());
    Trace::read(trace).unwrap().outcome().cloned()
}

fn of(status: &str) -> Option<Outcome> {
    outcome(json!({ "status": status }))
}

#[test]
fn words_of_success() {
    for word in [
        "completed",
        "Complete",
        "success",
        "successful",
        "succeeded",
        "ok",
        "DONE",
        "finished",
        "passed",
        "idle",
        "TASK_STATE_COMPLETED",
    ] {
        assert_eq!(of(word), Some(Outcome::Completed), "{word}");
    }
}

#[test]
fn words_of_failure() {
    for word in ["failed", "failure", "fail", "error", "ERRORED"] {
        assert_eq!(of(word), Some(Outcome::Failed(None)), "{word}");
    }
    for word in [
        "expired",
        "aborted",
        "interrupted",
        "killed",
        "crashed",
        "terminated",
        "TimedOut",
        "timed-out",
        "timeout",
        "unsuccessful",
        "exception",
        "blocked",
        "max_turns",
        "max_iterations",
        "error_max_turns",
        "max_steps_error",
        "budget_exceeded",
        "rate limited",
        "rejected",
        "denied",
        "cancelled",
        "canceled",
        "completed_with_errors",
        "stuck",
    ] {
        let why = format!("its status is `{word}`");
        assert_eq!(of(word), Some(Outcome::Failed(Some(why))), "{word}");
    }
    assert_eq!(
        outcome(json!({"status": "expired", "error": "late"})),
        Some(Outcome::Failed(Some("late".to_owned())))
    );
}

#[test]
fn words_of_what_has_not_ended() {
    for word in [
        "running",
        "pending",
        "queued",
        "in_progress",
        "in-progress",
        "InProgress",
        "submitted",
        "not_started",
    ] {
        assert_eq!(of(word), Some(Outcome::Unfinished(word.to_owned())), "{word}");
    }
    for word in [
        "waiting",
        "waiting-approval",
        "awaiting_input",
        "parked",
        "input-required",
        "requires_action",
        "suspended",
    ] {
        assert_eq!(of(word), Some(Outcome::Waiting), "{word}");
    }
}

#[test]
fn other_words_are_kept_and_silence_is_none() {
    for word in ["blue", "no_errors", "not_failed"] {
        assert_eq!(of(word), Some(Outcome::Unknown(word.to_owned())), "{word}");
    }
    for silent in [
        json!({}),
        json!({"status": ""}),
        json!({"status": "UNSET"}),
        json!({"status": 200}),
        json!({"status": null}),
    ] {
        assert_eq!(outcome(silent), None);
    }
    // An answer that was cut off is not complete, whatever its text says.
    let cut = outcome(
        json!({"status": "blue", "messages": [{"role": "assistant", "content": "x", "finish_reason": "length"}]}),
    );
    assert!(matches!(cut, Some(Outcome::Failed(_))), "{cut:?}");
}

#[test]
fn smolagents_has_a_state_in_place_of_a_status() {
    assert_eq!(outcome(json!({"state": "success"})), Some(Outcome::Completed));
    let why = "its status is `max_steps_error`".to_owned();
    assert_eq!(outcome(json!({"state": "max_steps_error"})), Some(Outcome::Failed(Some(why))));
    assert_eq!(outcome(json!({"state": "Texas"})), None);
}

#[test]
fn a_wrapper_inside_another_does_not_hide_that_it_failed() {
    let said = json!([{"role": "assistant", "content": "x"}]);
    let read = |outer: &str, inner: Value| {
        let trace = Trace::read(json!({"status": outer, "trace": inner})).unwrap();
        trace.outcome().cloned()
    };
    assert_eq!(read("failed", json!({"messages": said})), Some(Outcome::Failed(None)));
    let inner = |status: &str| json!({"messages": said, "status": status});
    assert_eq!(read("failed", inner("completed")), Some(Outcome::Failed(None)));
    assert_eq!(read("completed", inner("failed")), Some(Outcome::Failed(None)));
    assert_eq!(read("completed", inner("completed")), Some(Outcome::Completed));
}

#[test]
fn the_last_of_several_answers_says_how_the_run_ended() {
    let answer = |status: &str| json!({"object": "response", "status": status, "output": [{"type": "message", "role": "assistant", "content": "x"}]});
    let read = |answers: Value| Trace::read(answers).unwrap().outcome().cloned();
    assert_eq!(read(json!([answer("failed"), answer("completed")])), Some(Outcome::Completed));
    assert_eq!(read(json!([answer("completed"), answer("failed")])), Some(Outcome::Failed(None)));
}
