//! Every way in which a score ends in an error, caused by a real guest that misbehaves. None of them affects the next
//! score.

use std::time::{Duration, Instant};

use scorebox::{
    advice::{Advice, Limit},
    contract::Field,
    sandbox::{ErrorKind, Limits, Outcome, Sandbox, ScoreError},
};
use serde_json::{Value, json};

use crate::sandbox_fixture::{
    builtin, error, guest, kind, load, output, refusal, result, sandbox, try_load,
};

/// The outcome of a guest with these `settings`. There is only one slot, so anything that a score leaves behind would
/// affect the next one.
async fn misdeed(settings: Value, limits: &Limits) -> Outcome {
    let sandbox = sandbox(1);
    let scorer = try_load(&sandbox, &guest("misbehave"), &settings, limits).await.unwrap();
    let outcome = scorer.score(output("1")).await;
    let again = scorer.score(output("1")).await;
    assert_eq!(kind(&outcome), kind(&again), "the second score went like the first");
    well_behaved_scorer_is_unharmed(&sandbox).await;
    outcome
}

async fn misdeed_error(settings: Value) -> ScoreError {
    error(misdeed(settings, &Limits::default()).await)
}

async fn well_behaved_scorer_is_unharmed(sandbox: &Sandbox) {
    let scorer = load(sandbox, &guest("misbehave"), &json!({"then": "keep-state"})).await;
    let next = result(scorer.score(output("1")).await);
    assert_eq!((next.score, next.reason.as_deref()), (Some(1.0), Some("1")));
}

#[tokio::test]
async fn a_panic_is_a_trap_with_its_text_its_place_and_its_functions() {
    let error = misdeed_error(json!({"then": "panic"})).await;
    assert_eq!(error.kind, ErrorKind::Trap);
    for part in ["was told to panic", "tests/guests/misbehave/src/lib.rs:", "misbehave::"] {
        assert!(error.message.contains(part), "no `{part}` in: {}", error.message);
    }
}

#[tokio::test]
async fn a_stack_without_end_is_a_trap_that_names_the_function() {
    let error = misdeed_error(json!({"then": "recurse"})).await;
    assert_eq!(error.kind, ErrorKind::Trap);
    assert!(error.message.contains("recurse"), "{}", error.message);
    assert!(error.message.contains("stack"), "{}", error.message);
}

#[tokio::test]
async fn a_loop_without_end_runs_out_of_fuel() {
    let limits = Limits::default().with_fuel(50_000_000).with_timeout(Duration::from_secs(60));
    let outcome = misdeed(json!({"then": "spin"}), &limits).await;
    assert_eq!(outcome.fuel, Some(50_000_000), "all of it is used up");
    let error = error(outcome);
    assert_eq!(error.kind, ErrorKind::OutOfFuel);
    assert!(error.message.contains("50000000 fuel"), "{}", error.message);
    assert_eq!(error.advice, Some(Advice::Raise(Limit::Fuel)));
}

#[tokio::test]
async fn too_much_memory_names_the_limit_and_passes_with_a_higher_one() {
    let greedy = json!({"then": "take-memory", "amount": 100 << 20});
    let error = misdeed_error(greedy.clone()).await;
    assert_eq!(error.kind, ErrorKind::OutOfMemory);
    assert!(error.message.contains("more than its limit of 67108864"), "{}", error.message);
    assert_eq!(error.advice, Some(Advice::Raise(Limit::Memory)));

    let roomy = Limits::default().with_memory_bytes(256 << 20);
    let outcome = misdeed(greedy, &roomy).await;
    assert!(outcome.memory_bytes >= 100 << 20);
    assert_eq!(result(outcome).reason.as_deref(), Some("104857600"));
}

#[tokio::test]
async fn a_scorer_that_computes_too_long_is_stopped() {
    let limits = Limits::default().with_fuel(u64::MAX).with_timeout(Duration::from_millis(100));
    let started = Instant::now();
    let error = error(misdeed(json!({"then": "spin"}), &limits).await);
    assert_eq!(error.kind, ErrorKind::TimedOut);
    assert!(error.message.contains("100 ms"), "{}", error.message);
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn a_scorer_that_waits_in_a_host_call_is_stopped() {
    let limits = Limits::default().with_timeout(Duration::from_millis(100));
    let sandbox = sandbox(1);
    let long = json!({"ms": u64::MAX});
    let scorer = try_load(&sandbox, &guest("sleeper"), &long, &limits).await.unwrap();
    let started = Instant::now();
    assert_eq!(error(scorer.score(output("1")).await).kind, ErrorKind::TimedOut);
    assert!(started.elapsed() < Duration::from_secs(60));
    well_behaved_scorer_is_unharmed(&sandbox).await;
}

#[tokio::test]
async fn a_score_that_is_no_longer_waited_for_gives_its_slot_back() {
    let sandbox = sandbox(1);
    let sleeper = load(&sandbox, &guest("sleeper"), &json!({"ms": u64::MAX})).await;
    let abandoned = tokio::time::timeout(Duration::from_millis(50), sleeper.score(output("1")));
    assert!(abandoned.await.is_err());
    well_behaved_scorer_is_unharmed(&sandbox).await;
}

#[tokio::test]
async fn a_score_off_its_scale_is_invalid() {
    let scores = [("not-a-number", "NaN"), ("infinite", "inf"), ("two", "2"), ("negative", "-1")];
    for (score, shown) in scores {
        let error = misdeed_error(json!({"score": score})).await;
        assert_eq!(error.kind, ErrorKind::InvalidScore, "{score}");
        assert_eq!(error.message, format!("the score is {shown}; it must be 0 to 1"));
    }
}

#[tokio::test]
async fn minus_zero_is_zero() {
    let outcome = misdeed(json!({"score": "minus-zero"}), &Limits::default()).await;
    assert_eq!(result(outcome).score.map(f64::to_bits), Some(0.0_f64.to_bits()));
}

#[tokio::test]
async fn a_result_fills_its_limits_but_does_not_exceed_them() {
    // A text in JSON has two additional quotation marks.
    for (deed, most, what) in [
        ("long-reason", 64 << 10, "the reason has 65537 bytes; the limit is 65536"),
        ("long-meta", (1 << 20) - 2, "meta has 1048577 bytes; the limit is 1048576"),
        ("many-assertions", 1000, "1001 assertions; the limit is 1000"),
    ] {
        let fits = misdeed(json!({"then": deed, "amount": most}), &Limits::default()).await;
        assert_eq!(result(fits).score, Some(1.0), "{deed}");
        let error = misdeed_error(json!({"then": deed, "amount": most + 1})).await;
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::OutputTooLarge, what));
    }
}

#[tokio::test]
async fn a_result_that_would_fill_the_hosts_memory_is_never_copied() {
    let roomy = Limits::default().with_memory_bytes(512 << 20);
    for deed in ["long-reason", "long-meta"] {
        let settings = json!({"then": deed, "amount": 30_000_000});
        let error = error(misdeed(settings, &roomy).await);
        assert_eq!(error.kind, ErrorKind::OutputTooLarge, "{deed}: {error}");
    }
}

#[tokio::test]
async fn what_the_scorer_says_itself_is_kept_word_for_word() {
    let failed = misdeed_error(json!({"then": "fail"})).await;
    assert_eq!((failed.kind, failed.message.as_str()), (ErrorKind::Failed, "was told to fail"));
    let refused = misdeed_error(json!({"then": "invalid-input"})).await;
    assert_eq!(refused.kind, ErrorKind::InvalidInput);
    assert_eq!(refused.message, "was told to refuse");
    let none = misdeed(json!({"then": "not-applicable"}), &Limits::default()).await;
    let none = result(none);
    assert_eq!((none.score, none.reason.as_deref()), (None, Some("was told not to apply")));
}

#[tokio::test]
async fn configure_has_the_limits_of_a_score_and_errors_say_that_it_was_configure() {
    // `configure` has at least the default fuel, which may take long to use up on a busy machine.
    let timeout = Duration::from_secs(120);
    let limits = Limits::default().with_fuel(50_000_000).with_timeout(timeout);
    let sandbox = sandbox(1);
    for (settings, expected, part) in [
        (json!({"first": "fail"}), ErrorKind::InvalidConfig, "`first`: was told to fail"),
        (json!({"first": "panic"}), ErrorKind::Trap, "was told to panic"),
        (json!({"first": "spin"}), ErrorKind::OutOfFuel, "in `configure`"),
        (json!({"first": "recurse"}), ErrorKind::Trap, "in `configure`"),
        (
            json!({"first": "take-memory", "amount": 100 << 20}),
            ErrorKind::OutOfMemory,
            "in `configure`",
        ),
    ] {
        let loaded = try_load(&sandbox, &guest("misbehave"), &settings, &limits).await;
        let error = refusal(loaded);
        assert_eq!(error.kind, expected, "{settings}: {error}");
        assert!(error.message.contains(part), "{settings}: {error}");
    }
    well_behaved_scorer_is_unharmed(&sandbox).await;
}

#[tokio::test]
async fn configure_is_stopped_by_the_clock_too() {
    let time = Duration::from_millis(300);
    let limits = Limits::default().with_fuel(u64::MAX).with_loading_timeout(time);
    let settings = json!({"first": "spin"});
    let loaded = try_load(&sandbox(1), &guest("misbehave"), &settings, &limits).await;
    assert_eq!(refusal(loaded).kind, ErrorKind::TimedOut);
}

#[tokio::test]
async fn the_log_keeps_its_first_lines_and_counts_the_rest() {
    let settings = json!({"then": "log", "amount": 1500});
    let log = misdeed(settings.clone(), &Limits::default()).await.log;
    let lines: Vec<String> = log.iter().map(ToString::to_string).collect();
    assert_eq!(lines.len(), 1001);
    assert_eq!((lines[0].as_str(), lines[999].as_str()), ("info: line 0", "info: line 999"));
    assert_eq!(lines[1000], "warn: 500 more messages were dropped (log limit)");

    let narrow = Limits::default().with_log_bytes(18);
    let log = misdeed(settings, &narrow).await.log;
    let lines: Vec<String> = log.iter().map(ToString::to_string).collect();
    let dropped = "warn: 1497 more messages were dropped (log limit)";
    assert_eq!(lines, ["info: line 0", "info: line 1", "info: line 2", dropped]);
}

#[tokio::test]
async fn one_scorer_scores_rightly_after_each_kind_of_error() {
    let long = format!("\"{}\"", "ab".repeat(20_000));
    let hard = output(&long).with(Field::GroundTruth, "\"x\"");
    let other = format!("\"{}\"", "ba".repeat(20_000));
    let hard = hard.with(Field::GroundTruth, &other);
    let usual = Limits::default();
    let tight = [
        (ErrorKind::OutOfFuel, usual.clone().with_fuel(5_000_000)),
        (ErrorKind::OutOfMemory, usual.clone().with_memory_bytes(1_300_000)),
        (ErrorKind::InvalidInput, usual),
    ];
    let sandbox = sandbox(1);
    for (expected, limits) in tight {
        let scorer =
            try_load(&sandbox, &builtin("levenshtein"), &json!({}), &limits).await.unwrap();
        for _ in 0..3 {
            let bad = if expected == ErrorKind::InvalidInput { output("1") } else { hard };
            let failed = scorer.score(bad).await;
            assert_eq!(kind(&failed), Some(expected), "{failed:?}");
            let easy = output("\"abcd\"").with(Field::GroundTruth, "\"abed\"");
            assert_eq!(result(scorer.score(easy).await).score, Some(0.75));
        }
    }
}
