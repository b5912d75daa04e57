//! time-cost, as a specification. The figures of the first test are from Orbiter's documentation.

use serde_json::Value;

use super::*;

fn score(config: Value, case: &Case) -> Score {
    let scorer: TimeCost = scorebox_sdk::configure(config).unwrap();
    scorer.score(case).unwrap()
}

#[test]
fn the_score_is_what_is_left_of_the_budget() {
    let value = |elapsed: f64| {
        let case = Case::new(json!({"_time_cost_ms": elapsed, "result": "ok"}));
        score(json!({"maxMs": 10_000}), &case).score.unwrap()
    };
    assert!((value(2000.0) - 0.8).abs() < 1e-12);
    assert_eq!(value(15_000.0), 0.0);
    assert_eq!(value(0.0), 1.0);
    assert_eq!(value(-5.0), 1.0);
}

#[test]
fn the_budget_is_half_a_minute_unless_configured() {
    assert_eq!(score(json!({}), &Case::new(json!({"_time_cost_ms": 15_000}))).score, Some(0.5));
}

#[test]
fn the_latency_stands_in_for_the_outputs_own_time() {
    let text = Case::new(json!("x")).with_latency_ms(15_000.0);
    let by_latency = score(json!({}), &text);
    assert_eq!(by_latency.score, Some(0.5));
    assert_eq!(by_latency.reason.as_deref(), Some("15000 ms of at most 30000 ms"));
    assert_eq!(by_latency.meta_value(), Some(json!({"elapsedMs": 15000.0, "maxMs": 30000.0})));
    let own = Case::new(json!({"_time_cost_ms": 3000})).with_latency_ms(15_000.0);
    assert_eq!(score(json!({}), &own).score, Some(0.9));
    let null = Case::new(json!({"_time_cost_ms": null})).with_latency_ms(15_000.0);
    assert_eq!(score(json!({}), &null).score, Some(0.5));
}

#[test]
fn a_reason_writes_numbers_in_few_characters() {
    let reason = |elapsed: f64| {
        let case = Case::new(json!("x")).with_latency_ms(elapsed);
        score(json!({"maxMs": 1e300}), &case).reason.unwrap()
    };
    assert_eq!(reason(1e308), "1e308 ms of at most 1e300 ms");
    assert_eq!(reason(1e-300), "1e-300 ms of at most 1e300 ms");
    assert_eq!(reason(0.25), "0.25 ms of at most 1e300 ms");
}

#[test]
fn without_a_time_the_score_is_1_and_marked_as_skipped() {
    let none = score(json!({}), &Case::new(json!({"result": "ok"})));
    assert_eq!(none.score, Some(1.0));
    assert_eq!(none.meta_value().unwrap()["skipped"], json!(true));
}

#[test]
fn a_time_that_is_not_a_number_gives_no_score() {
    let scorer: TimeCost = scorebox_sdk::configure(json!({})).unwrap();
    let error = scorer.score(&Case::new(json!({"_time_cost_ms": "fast"}))).unwrap_err();
    assert!(error.message().starts_with("`output._time_cost_ms` cannot be read"), "{error}");
}

#[test]
fn a_time_may_be_written_as_text() {
    let text = Case::new(json!({"_time_cost_ms": "2000"}));
    assert_eq!(score(json!({"maxMs": 10_000}), &text).score, Some(0.8));
}

#[test]
fn a_budget_of_nothing_is_refused() {
    let error = scorebox_sdk::configure::<TimeCost>(json!({"maxMs": 0})).err().unwrap();
    assert_eq!(error.to_string(), "`maxMs`: should be more than 0 milliseconds, found 0");
}
