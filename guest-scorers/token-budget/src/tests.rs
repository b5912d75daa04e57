//! token-budget, as a specification.

use serde_json::Value;

use super::*;

fn usage(input: u64, output: u64) -> Usage {
    Usage { input_tokens: Some(input), output_tokens: Some(output), ..Usage::default() }
}

fn score(config: Value, usage: Usage) -> Score {
    let scorer: TokenBudget = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!("x")).with_usage(usage)).unwrap()
}

#[test]
fn up_to_the_budget_the_score_is_1_and_beyond_it_0() {
    let config = || json!({"maxTokens": 100});
    assert_eq!(score(config(), usage(60, 40)).score, Some(1.0));
    let over = score(config(), usage(60, 41));
    assert_eq!(over.score, Some(0.0));
    assert_eq!(over.reason.as_deref(), Some("101 tokens of at most 100"));
    assert_eq!(over.meta, Some(json!({"tokens": 101, "maxTokens": 100})));
    assert_eq!(score(json!({"maxTokens": 0}), usage(0, 0)).score, Some(1.0));
}

#[test]
fn a_proportional_budget_falls_with_what_was_used() {
    let config = || json!({"maxTokens": 100, "mode": "proportional"});
    assert_eq!(score(config(), usage(100, 0)).score, Some(1.0));
    assert_eq!(score(config(), usage(100, 100)).score, Some(0.5));
    assert_eq!(
        score(json!({"maxTokens": 0, "mode": "proportional"}), usage(1, 0)).score,
        Some(0.0)
    );
}

#[test]
fn the_tokens_that_count_can_be_chosen() {
    let count = |count| score(json!({"maxTokens": 50, "count": count}), usage(60, 40)).score;
    assert_eq!(
        (count("total"), count("input"), count("output")),
        (Some(0.0), Some(0.0), Some(1.0))
    );
    let counted = Usage { total_tokens: Some(10), ..usage(60, 40) };
    assert_eq!(score(json!({"maxTokens": 50}), counted).score, Some(1.0));
}

#[test]
fn without_the_tokens_there_is_no_score() {
    let scorer: TokenBudget = scorebox_sdk::configure(json!({"maxTokens": 1})).unwrap();
    let error = scorer.score(&Case::new(json!("x"))).unwrap_err();
    assert!(error.message().contains("`usage`"), "{error}");
    let empty = Case::new(json!("x")).with_usage(Usage::default());
    assert_eq!(
        scorer.score(&empty).unwrap_err().to_string(),
        "`usage` should have `totalTokens`, `inputTokens` or `outputTokens`"
    );
}

#[test]
fn a_budget_is_a_whole_number() {
    let refusal =
        |config| scorebox_sdk::configure::<TokenBudget>(config).err().unwrap().to_string();
    assert_eq!(refusal(json!({})), "`maxTokens`: is missing, and has no default");
    assert!(refusal(json!({"maxTokens": -1})).starts_with("`maxTokens`: "));
}
