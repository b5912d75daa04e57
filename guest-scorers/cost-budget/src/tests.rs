//! cost-budget, as a specification.

use serde_json::Value;

use super::*;

fn cost(dollars: f64) -> Usage {
    Usage { cost_usd: Some(dollars), ..Usage::default() }
}

fn tokens(input: u64, output: u64) -> Usage {
    Usage { input_tokens: Some(input), output_tokens: Some(output), ..Usage::default() }
}

fn run(config: Value, case: &Case) -> Result<Score, ScoreError> {
    let scorer: CostBudget = scorebox_sdk::configure(config).unwrap();
    scorer.score(case)
}

fn score(config: Value, usage: Usage) -> Score {
    run(config, &Case::new(json!("x")).with_usage(usage)).unwrap()
}

fn prices() -> Value {
    json!({
        "maxCost": 0.5,
        "prices": {"gpt-4o": {"input": 2.5, "output": 10}, "mini": {"input": 0.15, "output": 0.6}},
    })
}

fn of_model(model: &str) -> Case {
    Case::new(json!("x")).with_usage(tokens(100_000, 50_000)).with_metadata(json!({"model": model}))
}

#[test]
fn up_to_the_budget_the_score_is_1_and_beyond_it_0() {
    assert_eq!(score(json!({"maxCost": 0.5}), cost(0.5)).score, Some(1.0));
    let over = score(json!({"maxCost": 0.5}), cost(0.50001));
    assert_eq!(over.score, Some(0.0));
    assert_eq!(over.reason.as_deref(), Some("$0.50001 of at most $0.5"));
    assert_eq!(score(json!({"maxCost": 0}), cost(0.0)).score, Some(1.0));
}

#[test]
fn a_reason_shows_on_which_side_of_the_budget_the_cost_is() {
    let reason = |max: f64, dollars| score(json!({"maxCost": max}), cost(dollars)).reason.unwrap();
    assert_eq!(reason(0.3, 0.1 + 0.2), "$0.30000000000000004 of at most $0.3");
    assert_eq!(reason(0.3, 0.3), "$0.3000 of at most $0.3");
    assert_eq!(reason(0.3, 0.299_999), "$0.3000 of at most $0.3");
    assert_eq!(reason(0.00003, 0.00004), "$0.00004 of at most $0.00003");
    assert_eq!(reason(0.00006, 0.00005), "$0.00005 of at most $0.00006");
}

#[test]
fn a_proportional_budget_falls_with_the_cost() {
    let config = json!({"maxCost": 0.5, "mode": "proportional"});
    assert_eq!(score(config.clone(), cost(0.25)).score, Some(1.0));
    assert_eq!(score(config, cost(2.0)).score, Some(0.25));
}

#[test]
fn a_table_of_prices_turns_tokens_into_cost() {
    // 0.1 million at 2.5 and 0.05 million at 10 dollars.
    let priced = run(prices(), &of_model("gpt-4o")).unwrap();
    assert_eq!(priced.score, Some(0.0));
    assert_eq!(priced.reason.as_deref(), Some("$0.7500 of at most $0.5"));
    assert_eq!(priced.meta_value(), Some(json!({"costUsd": 0.75, "maxCost": 0.5})));
    // 0.1 million at 0.15 and 0.05 million at 0.6 dollars.
    assert_eq!(run(prices(), &of_model("mini")).unwrap().score, Some(1.0));
}

#[test]
fn decimals_add_up_to_decimals() {
    let answer = |cost: f64| json!({"role": "assistant", "content": "x", "cost": cost});
    let of = |costs: &[f64], max: f64| {
        let trace: Value = costs.iter().copied().map(answer).collect();
        run(json!({"maxCost": max}), &Case::new(json!("x")).with_trace(trace)).unwrap()
    };
    let kept = of(&[0.1, 0.2], 0.3);
    assert_eq!((kept.score, kept.reason.as_deref()), (Some(1.0), Some("$0.3000 of at most $0.3")));
    assert_eq!(kept.meta_value(), Some(json!({"costUsd": 0.3, "maxCost": 0.3})));
    assert_eq!(of(&[0.001; 1000], 1.0).score, Some(1.0));
    assert_eq!(of(&[0.000_000_037_5; 3], 0.000_000_112_5).score, Some(1.0));
    assert_eq!(of(&[0.1, 0.200_000_000_001], 0.3).score, Some(0.0));
    assert_eq!(of(&[1e-15, 1e-15], 1e-15).score, Some(0.0));
    assert_eq!(of(&[1e300, 1e300], 1e300).score, Some(0.0));
    // 3 tokens at 0.1 dollars a million.
    let priced = json!({"maxCost": 0.000_000_3, "prices": {"*": {"input": 0.1, "output": 0}}});
    assert_eq!(score(priced, tokens(3, 0)).score, Some(1.0));
}

#[test]
fn a_known_cost_comes_before_the_table() {
    let case = of_model("gpt-4o").with_usage(cost(0.1));
    assert_eq!(run(prices(), &case).unwrap().score, Some(1.0));
}

#[test]
fn the_model_may_be_configured_or_any() {
    let mut config = prices();
    config["model"] = json!("mini");
    assert_eq!(run(config, &of_model("gpt-4o")).unwrap().score, Some(1.0));
    let any = json!({"maxCost": 1, "prices": {"*": {"input": 1, "output": 1}}});
    assert_eq!(score(any, tokens(1, 1)).score, Some(1.0));
}

#[test]
fn tokens_that_are_not_stated_are_the_rest_of_the_total() {
    let one = |input, output, total| {
        let usage = Usage {
            input_tokens: input,
            output_tokens: output,
            total_tokens: total,
            ..Usage::default()
        };
        Price { input: 1.0, output: 2.0, ..Price::default() }.of(&usage)
    };
    assert_eq!(one(Some(1_000_000), None, Some(3_000_000)), Ok(5.0));
    assert_eq!(one(None, Some(1_000_000), Some(3_000_000)), Ok(4.0));
    assert!(one(None, None, Some(1)).is_err());
    assert!(one(Some(1), None, None).is_err());
}

#[test]
fn what_is_missing_is_named() {
    let failure = |config: Value, case: &Case| run(config, case).unwrap_err().to_string();
    let plain = Case::new(json!("x"));
    assert!(failure(prices(), &plain).contains("`usage`"));
    let no_model = plain.with_usage(tokens(1, 1));
    assert_eq!(
        failure(prices(), &no_model),
        "the case has no `metadata.model`, and `prices` has no `*`; it has `gpt-4o`, `mini`"
    );
    assert_eq!(
        failure(prices(), &of_model("o9")),
        "`prices` has no price for the model `o9`; it has `gpt-4o`, `mini`"
    );
    assert!(failure(json!({"maxCost": 1}), &no_model).contains("no `prices`"));
    let by_position = no_model.clone().with_metadata(json!(["gpt-4o"]));
    assert_eq!(failure(prices(), &by_position), "`metadata` should be an object, found an array");
    let named = no_model.with_metadata(json!("gpt-4o"));
    assert_eq!(failure(prices(), &named), "`metadata` should be an object, found a string");
}

#[test]
fn wrong_amounts_are_refused_by_name() {
    let refusal = |config| scorebox_sdk::configure::<CostBudget>(config).err().unwrap().to_string();
    assert_eq!(
        refusal(json!({"maxCost": -1})),
        "`maxCost`: should be 0 or more US dollars, found -1"
    );
    assert_eq!(
        refusal(json!({"maxCost": 1, "prices": {"m": {"input": 1, "output": -2}}})),
        "`prices.m.output`: should be 0 or more US dollars, found -2"
    );
    let cached = json!({"input": 1, "output": 2, "cacheRead": -0.5});
    assert_eq!(
        refusal(json!({"maxCost": 1, "prices": {"m": cached}})),
        "`prices.m.cacheRead`: should be 0 or more US dollars, found -0.5"
    );
}

#[test]
fn without_usage_the_cost_is_the_one_that_the_trace_states() {
    let config = || json!({"maxCost": 0.5});
    let of = |trace: Value| Case::new(json!("x")).with_trace(trace);
    let ended = json!([
        {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": "x",
            "usage": {"input_tokens": 1, "output_tokens": 1}}},
        {"type": "result", "subtype": "success", "total_cost_usd": 0.75, "session_id": "s",
            "usage": {"input_tokens": 1, "output_tokens": 1}},
    ]);
    let stated = run(config(), &of(ended)).unwrap();
    assert_eq!(stated.meta_value(), Some(json!({"costUsd": 0.75, "maxCost": 0.5})));
    let tokens = json!([{"role": "assistant", "content": "x",
        "usage": {"input_tokens": 100_000, "output_tokens": 50_000}}]);
    let case = of(tokens).with_metadata(json!({"model": "gpt-4o"}));
    assert_eq!(run(prices(), &case).unwrap().meta_value().unwrap()["costUsd"], json!(0.75));
}

/// Two answers of a Claude Code session; nearly all of the prompts come from the cache.
fn session() -> Case {
    let answer = |id: &str| {
        json!({"type": "assistant", "session_id": "s", "message": {"id": id, "role": "assistant",
            "content": [{"type": "text", "text": "hi"}], "usage": {"input_tokens": 4,
            "output_tokens": 100, "cache_creation_input_tokens": 500_000,
            "cache_read_input_tokens": 2_000_000}}})
    };
    Case::new(json!("x")).with_trace(json!([answer("m1"), answer("m2")]))
}

#[test]
fn tokens_of_a_cache_have_prices_of_their_own() {
    let prices = |price: Value| json!({"maxCost": 5, "prices": {"*": price}});
    let listed = json!({"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75});
    let score = run(prices(listed), &session()).unwrap();
    // 8 at 3, 200 at 15, 4 million at 0.3 and a million at 3.75 dollars.
    assert_eq!(score.reason.as_deref(), Some("$4.9530 of at most $5"));
    assert_eq!(
        score.meta_value(),
        Some(json!({"costUsd": 4.953024, "maxCost": 5.0, "cacheReadTokens": 4_000_000,
            "cacheWriteTokens": 1_000_000}))
    );
}

#[test]
fn without_prices_of_their_own_they_cost_as_much_as_input() {
    let prices = json!({"maxCost": 5, "prices": {"*": {"input": 3, "output": 15}}});
    let score = run(prices, &session()).unwrap();
    assert_eq!(score.score, Some(0.0));
    assert_eq!(
        score.reason.as_deref(),
        Some(
            "$15.0030 of at most $5, 4000000 tokens read from a cache (no `cacheRead`) at the price \
             of input, 1000000 tokens written to a cache (no `cacheWrite`) at the price of input"
        )
    );
}

#[test]
fn cached_tokens_that_are_a_part_of_the_input_are_paid_once() {
    let answer = json!([{"role": "assistant", "content": "x", "usage": {
        "prompt_tokens": 3_000_000, "completion_tokens": 0,
        "prompt_tokens_details": {"cached_tokens": 2_000_000}}}]);
    let case = Case::new(json!("x")).with_trace(answer);
    let cost = |price: Value| {
        let config = json!({"maxCost": 5, "prices": {"*": price}});
        run(config, &case).unwrap().meta_value().unwrap()["costUsd"].clone()
    };
    assert_eq!(cost(json!({"input": 2, "output": 8, "cacheRead": 0.5})), json!(3.0));
    assert_eq!(cost(json!({"input": 2, "output": 8})), json!(6.0));
}

#[test]
fn thinking_that_is_counted_beside_the_answer_is_paid_as_output() {
    let prices = || json!({"maxCost": 1, "prices": {"*": {"input": 1, "output": 10}}});
    let google = json!([{"candidates": [{"content": {"role": "model", "parts": [{"text": "x"}]}}],
        "usageMetadata": {"promptTokenCount": 1000, "candidatesTokenCount": 100,
            "thoughtsTokenCount": 1_000_000, "totalTokenCount": 1_001_100}}]);
    let xai = json!([{"role": "assistant", "content": "x", "usage": {"prompt_tokens": 1000,
        "completion_tokens": 100, "total_tokens": 1_001_100,
        "completion_tokens_details": {"reasoning_tokens": 1_000_000}}}]);
    for trace in [google, xai] {
        let score = run(prices(), &Case::new(json!("x")).with_trace(trace)).unwrap();
        assert_eq!(score.score, Some(0.0));
        assert_eq!(score.reason.as_deref(), Some("$10.0020 of at most $1"));
    }
    // In a case's own usage, only the total shows it.
    let total = Usage { total_tokens: Some(1_001_100), ..tokens(1000, 100) };
    assert_eq!(
        score(prices(), total).reason.as_deref(),
        Some(
            "$10.0020 of at most $1, 1000000 tokens that only the total counts at the price of \
             output"
        )
    );
    let less = Usage { total_tokens: Some(10), ..tokens(1000, 100) };
    assert_eq!(score(prices(), less).reason.as_deref(), Some("$0.0020 of at most $1"));
}

#[test]
fn the_cost_that_only_one_answer_states_is_not_that_of_all() {
    let answer = |cost: Value| {
        json!({"role": "assistant", "content": "x", "usage": {"prompt_tokens": 1_000_000,
            "completion_tokens": 1_000_000, "cost_usd": cost}})
    };
    let case = Case::new(json!("x")).with_trace(json!([answer(json!(0.01)), answer(json!(null))]));
    let prices = json!({"maxCost": 1, "prices": {"*": {"input": 1, "output": 10}}});
    assert_eq!(run(prices, &case).unwrap().reason.as_deref(), Some("$22.0000 of at most $1"));
    assert!(run(json!({"maxCost": 1}), &case).unwrap_err().message().contains("no `prices`"));
}
