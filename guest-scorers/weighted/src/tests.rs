//! weighted, as a specification. The three figures of the first tests are from the tests of dify's
//! `WeightedScorer`.

use serde_json::Value;

use super::*;

fn score(config: Value, case: &Case) -> Score {
    let scorer: Weighted = scorebox_sdk::configure(config).unwrap();
    scorer.score(case).unwrap()
}

fn attempt(metadata: Value) -> Case {
    Case::new(json!("x")).with_metadata(metadata)
}

#[test]
fn success_and_rating_give_points_and_time_and_tokens_cost_some() {
    let case = attempt(json!({
        "succeeded": true, "tokens_total": 1000, "elapsed_ms": 5000, "rating": 8,
        "created_at": 1_730_000_000_000_u64,
    }));
    let points = score(json!({}), &case);
    assert_eq!(points.score, Some(165.0));
    assert_eq!(
        points.reason.as_deref(),
        Some("100 for success + 80 for rating - 5 for time - 10 for tokens")
    );
    assert_eq!(
        points.meta_value(),
        Some(json!({
            "base": 100.0, "ratingContribution": 80.0, "timePenalty": 5.0, "tokenPenalty": 10.0,
        }))
    );
}

#[test]
fn a_failure_has_no_bonus() {
    let case =
        attempt(json!({"succeeded": false, "tokens_total": 500, "elapsed_ms": 2000, "rating": 3}));
    assert_eq!(score(json!({}), &case).score, Some(23.0));
}

#[test]
fn points_are_never_below_0() {
    let case = attempt(
        json!({"succeeded": false, "tokens_total": 10_000, "elapsed_ms": 30_000, "rating": 1}),
    );
    assert_eq!(score(json!({}), &case).score, Some(0.0));
}

#[test]
fn the_weights_can_be_set() {
    let case =
        attempt(json!({"succeeded": true, "tokens_total": 100, "elapsed_ms": 2000, "rating": 4}));
    let config =
        json!({"successBonus": 50, "ratingWeight": 15, "timePenalty": 0.5, "tokenPenalty": 0.02});
    assert_eq!(score(config, &case).score, Some(50.0 + 60.0 - 1.0 - 2.0));
}

#[test]
fn usage_and_latency_stand_in() {
    let usage = Usage { input_tokens: Some(600), output_tokens: Some(400), ..Usage::default() };
    let case = attempt(json!({"succeeded": true, "rating": 8, "tokens_total": null}))
        .with_usage(usage)
        .with_latency_ms(5000.0);
    assert_eq!(score(json!({}), &case).score, Some(165.0));
    let own = attempt(json!({"succeeded": true, "elapsed_ms": 0})).with_latency_ms(5000.0);
    assert_eq!(score(json!({}), &own).score, Some(100.0));
}

#[test]
fn tokens_and_time_may_be_written_in_camel_case() {
    let metadata = json!({"succeeded": true, "tokensTotal": 1000, "elapsedMs": 5000});
    assert_eq!(score(json!({}), &attempt(metadata)).score, Some(85.0));
    let both = json!({"tokens_total": null, "tokensTotal": 100, "elapsed_ms": 0, "elapsedMs": 5000,
        "succeeded": true});
    assert_eq!(score(json!({}), &attempt(both)).score, Some(99.0));
}

#[test]
fn half_a_usage_is_not_a_total() {
    let scorer: Weighted = scorebox_sdk::configure(json!({})).unwrap();
    let with = |usage| attempt(json!({"succeeded": true})).with_usage(usage);
    let input = Usage { input_tokens: Some(1000), ..Usage::default() };
    assert_eq!(
        scorer.score(&with(input)).unwrap_err().to_string(),
        "the usage should have `totalTokens`, or `inputTokens` and `outputTokens`; it has no \
         `outputTokens`"
    );
    let output = Usage { output_tokens: Some(1000), ..Usage::default() };
    assert!(scorer.score(&with(output)).unwrap_err().message().ends_with("no `inputTokens`"));
    let total = Usage { total_tokens: Some(1000), ..input };
    assert_eq!(scorer.score(&with(total)).unwrap().score, Some(90.0));
    let cost = Usage { cost_usd: Some(1.0), ..Usage::default() };
    assert_eq!(scorer.score(&with(cost)).unwrap().score, Some(100.0));
    let own = attempt(json!({"succeeded": true, "tokens_total": 0})).with_usage(input);
    assert_eq!(scorer.score(&own).unwrap().score, Some(100.0));
    for half in [input, output] {
        let free = score(json!({"tokenPenalty": 0}), &with(half));
        assert_eq!(free.score, Some(100.0), "tokens that cost nothing need not be known");
    }
    let alone = Case::new(json!("x")).with_usage(input);
    assert_eq!(score(json!({"tokenPenalty": 0}), &alone).score, Some(0.0));
}

#[test]
fn what_is_not_known_counts_as_0() {
    let points = |metadata| score(json!({}), &attempt(metadata)).score;
    assert_eq!(points(json!({"rating": 2})), Some(20.0));
    let nulls =
        json!({"succeeded": null, "rating": null, "tokens_total": null, "elapsed_ms": null});
    assert_eq!(points(nulls), Some(0.0));
    let zeros = json!({"succeeded": false, "rating": 0, "tokens_total": 0, "elapsed_ms": 0});
    assert_eq!(points(zeros), Some(0.0));
}

#[test]
fn an_attempt_that_cannot_be_read_has_no_score() {
    let scorer: Weighted = scorebox_sdk::configure(json!({})).unwrap();
    let failure = |case: &Case| scorer.score(case).unwrap_err().to_string();
    let origin = json!({"origin": {"file": "attempts.csv"}});
    for unknown in [json!({}), json!({"success": true, "score": 9}), origin] {
        let words = failure(&attempt(unknown));
        assert!(words.starts_with("nothing is known about the attempt"), "{words}");
    }
    assert!(failure(&Case::new(json!("x"))).starts_with("nothing is known about the attempt"));
    assert_eq!(
        failure(&attempt(json!({"rating": "good"}))),
        "`metadata.rating` cannot be read: invalid type: string \"good\", expected a number"
    );
    assert_eq!(
        failure(&attempt(json!({"succeeded": 2}))),
        "`metadata.succeeded` cannot be read: should be true, false, 1 or 0"
    );
    for succeeded in [json!("yes"), json!(""), json!([]), json!(0.5)] {
        let words = failure(&attempt(json!({ "succeeded": succeeded })));
        assert!(words.ends_with("should be true, false, 1 or 0"), "{words}");
    }
    for rating in [json!("NaN"), json!("1e400"), json!(""), json!(true), json!({})] {
        let words = failure(&attempt(json!({ "rating": rating })));
        assert!(words.starts_with("`metadata.rating` cannot be read: "), "{words}");
    }
    assert_eq!(
        failure(&attempt(json!([true, 8, 1000, 5000]))),
        "`metadata` should be an object, found an array"
    );
    assert_eq!(
        failure(&attempt(json!("succeeded"))),
        "`metadata` should be an object, found a string"
    );
    assert!(failure(&attempt(json!({"rating": 1e308}))).contains("too large"));
}

#[test]
fn success_may_be_written_as_a_number() {
    let base = |succeeded: Value| {
        let case = Case::new(json!("x")).with_metadata(json!({ "succeeded": succeeded }));
        score(json!({}), &case).meta_value().unwrap()["base"].clone()
    };
    assert_eq!((base(json!(1)), base(json!(true))), (json!(100.0), json!(100.0)));
    assert_eq!((base(json!(0)), base(json!(false))), (json!(0.0), json!(0.0)));
    assert_eq!((base(json!(1.0)), base(json!(0.0))), (json!(100.0), json!(0.0)));
    assert_eq!(base(json!(null)), json!(0.0));
}

/// All cells of a CSV are texts; pandas and R write booleans in their own way.
#[test]
fn texts_are_read_as_what_they_say() {
    let points = |metadata| score(json!({}), &attempt(metadata)).score;
    let row =
        json!({"succeeded": "true", "rating": "8", "tokens_total": "1000", "elapsed_ms": "5e3"});
    assert_eq!(points(row), Some(165.0));
    for (succeeded, expected) in
        [("True", 100.0), ("TRUE", 100.0), ("1.0", 100.0), ("False", 0.0), ("0", 0.0)]
    {
        assert_eq!(points(json!({ "succeeded": succeeded })), Some(expected), "{succeeded}");
    }
}
