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
    assert_eq!(over.meta_value(), Some(json!({"tokens": 101, "maxTokens": 100})));
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
        "the usage should have `totalTokens`, or `inputTokens` and `outputTokens`"
    );
}

#[test]
fn of_a_part_of_the_tokens_only_what_is_beyond_the_budget_is_known() {
    let run = |config: Value, usage| {
        let scorer: TokenBudget = scorebox_sdk::configure(config).unwrap();
        scorer.score(&Case::new(json!("x")).with_usage(usage))
    };
    let input = Usage { input_tokens: Some(30_000), ..Usage::default() };
    let output = Usage { output_tokens: Some(30_000), ..Usage::default() };
    let within = run(json!({"maxTokens": 30_000}), input).unwrap_err();
    assert_eq!(
        within.to_string(),
        "the usage should have `totalTokens`, or `inputTokens` and `outputTokens`; it has no \
         `outputTokens`"
    );
    assert!(run(json!({"maxTokens": 30_000}), output).is_err());
    let over = run(json!({"maxTokens": 20_000}), input).unwrap();
    assert_eq!(over.score, Some(0.0));
    assert_eq!(over.reason.as_deref(), Some("at least 30000 tokens of at most 20000"));
    assert_eq!(run(json!({"maxTokens": 20_000}), output).unwrap().score, Some(0.0));
    // A proportional score depends on how far beyond the budget it is, so the total must be known.
    assert!(run(json!({"maxTokens": 20_000, "mode": "proportional"}), input).is_err());
    assert_eq!(
        run(json!({"maxTokens": 30_000, "count": "input"}), input).unwrap().score,
        Some(1.0)
    );
}

#[test]
fn a_budget_is_a_whole_number() {
    let refusal =
        |config| scorebox_sdk::configure::<TokenBudget>(config).err().unwrap().to_string();
    assert_eq!(refusal(json!({})), "`maxTokens` is required");
    assert!(refusal(json!({"maxTokens": -1})).starts_with("`maxTokens`: "));
}

#[test]
fn without_usage_the_tokens_are_those_that_the_trace_states() {
    let answer = |input: u64, output: u64| {
        json!({"role": "assistant", "content": "x", "usage": {
            "prompt_tokens": input, "completion_tokens": output,
            "prompt_tokens_details": {"cached_tokens": 7}}})
    };
    let trace = json!([answer(60, 20), answer(15, 6)]);
    let scorer: TokenBudget = scorebox_sdk::configure(json!({"maxTokens": 100})).unwrap();
    let stated = scorer.score(&Case::new(json!("x")).with_trace(trace.clone())).unwrap();
    assert_eq!(stated.score, Some(0.0));
    assert_eq!(
        stated.meta_value(),
        Some(json!({"tokens": 101, "maxTokens": 100, "cacheReadTokens": 14}))
    );
    let output = scorer.score(&Case::new(trace.clone())).unwrap();
    assert_eq!(
        output.meta_value(),
        stated.meta_value(),
        "an output that is a trace states them too"
    );
    let counted = Case::new(json!("x")).with_trace(trace).with_usage(usage(1, 1));
    assert_eq!(scorer.score(&counted).unwrap().score, Some(1.0), "the case's usage comes first");
    let silent = Case::new(json!("x")).with_trace(json!([{"role": "user", "content": "x"}]));
    assert_eq!(
        scorer.score(&silent).unwrap_err().to_string(),
        "the case has no `usage`, which this scorer needs, and no trace that states one"
    );
    let unreadable = Case::new(json!("x")).with_trace(json!("hello"));
    assert!(scorer.score(&unreadable).unwrap_err().message().starts_with("`trace` "));
}

#[test]
fn tokens_that_were_written_to_a_cache_are_input_and_those_read_from_one_as_the_model_counts_them()
{
    let run = |usage: Value, config: Value| {
        let scorer: TokenBudget = scorebox_sdk::configure(config).unwrap();
        let trace = json!([{"role": "assistant", "content": "x", "usage": usage}]);
        scorer.score(&Case::new(json!("x")).with_trace(trace)).unwrap()
    };
    let anthropic = || {
        json!({"input_tokens": 4, "output_tokens": 100, "cache_creation_input_tokens": 500,
            "cache_read_input_tokens": 2000})
    };
    let total = run(anthropic(), json!({"maxTokens": 603}));
    assert_eq!(total.score, Some(0.0));
    assert_eq!(
        total.meta_value(),
        Some(json!({"tokens": 604, "maxTokens": 603, "cacheReadTokens": 2000,
            "cacheWriteTokens": 500}))
    );
    let input = run(anthropic(), json!({"maxTokens": 504, "count": "input"}));
    assert_eq!(input.reason.as_deref(), Some("504 input tokens of at most 504"));
    let openai = json!({"prompt_tokens": 2504, "completion_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 2000}});
    assert_eq!(
        run(openai, json!({"maxTokens": 1})).reason.as_deref(),
        Some("2604 tokens of at most 1")
    );
}

#[test]
fn one_over_the_budget_fails_the_gate() {
    let info = TokenBudget::INFO;
    assert_eq!(info, info.severity(Severity::Gate).threshold(1.0));
}

#[test]
fn answers_without_a_total_count_too() {
    let trace = json!([
        {"role": "assistant", "content": "x", "usage": {"prompt_tokens": 1000,
            "completion_tokens": 1000, "total_tokens": 2000}},
        {"role": "assistant", "content": "x", "usage": {"prompt_tokens": 100_000,
            "completion_tokens": 1_000_000}},
    ]);
    let scorer: TokenBudget = scorebox_sdk::configure(json!({"maxTokens": 5000})).unwrap();
    let score = scorer.score(&Case::new(json!("x")).with_trace(trace)).unwrap();
    assert_eq!(score.reason.as_deref(), Some("1102000 tokens of at most 5000"));
}
