//! cost-budget: whether the task stayed within its cost budget. It reads the cost from the case or its trace, or
//! computes it from the tokens and a table of prices; it knows no prices itself.
//!
//! hard: score = 1 up to `maxCost`, else 0; proportional: 1 up to `maxCost`, else maxCost / cost; cost = (input tokens
//! · input price + output tokens · output price) / 1 000 000, where tokens that were read from a cache or written to
//! one have separate prices, and the part of a total beyond all of these counts as output; sums are computed as
//! decimals
//!
//! The rule is that of niceeval's `maxCost`, which is hard.

use std::collections::BTreeMap;

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity, Usage,
    schemars,
};
use scorebox_sdk_traces::{Trace, decimal};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Scores 1 if the task cost no more than its budget. Beyond the budget it scores 0 or, with `mode`
/// `proportional`, budget divided by cost (twice the budget is 0.5).
///
/// The cost is `usage.costUsd` of the case, or else its input and output tokens times the `prices` of the model that
/// `metadata.model` of the case names. If the case has no `usage`, the cost or the tokens that its trace states are
/// used, also those read from a cache and written to one. If `prices` has no `cacheRead` or `cacheWrite` for them, they
/// cost as much as input, and the reason says so. A case's own `usage` has no such tokens: if it has no cost, and the
/// trace states some, the trace counts. If its `totalTokens` are more than input and output together, the rest costs as
/// much as output (some models count their thinking in the total only), and the reason says so. A hard requirement: a
/// gate that only 1 passes, unless the suite sets another threshold.
///
/// Equals niceeval's `maxCost`, which also sees the tokens of a cache in a case's own `usage`: for the same
/// cost, state `costUsd`, or give the usage in a trace.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostBudget {
    /// The highest cost that scores 1, in US dollars; 0 or more.
    max_cost: f64,
    /// The score beyond the budget.
    #[serde(default)]
    mode: Mode,
    /// Prices by model name; `*` applies to every other model.
    #[serde(default)]
    prices: BTreeMap<String, Price>,
    /// The name of the model, in place of `metadata.model`.
    #[serde(default)]
    model: Option<String>,
}

/// The score beyond the budget.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// 0.
    #[default]
    Hard,
    /// The budget divided by the cost.
    Proportional,
}

/// The price of a million tokens, in US dollars.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Price {
    /// Per million tokens of the prompt.
    input: f64,
    /// Per million tokens of the answer.
    output: f64,
    /// Per million tokens of the prompt that were read from a cache; `input` by default.
    #[serde(default)]
    cache_read: Option<f64>,
    /// Per million tokens of the prompt that were written to a cache; `input` by default.
    #[serde(default)]
    cache_write: Option<f64>,
}

#[derive(Default, Deserialize)]
struct Metadata {
    model: Option<String>,
}

impl Scorer for CostBudget {
    type Config = Self;

    const INFO: Info = Info::new("cost-budget", "Cost Budget", env!("CARGO_PKG_VERSION"))
        .reads(Fields::USAGE.and(Fields::METADATA).and(Fields::TRACE))
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Self) -> Result<Self, ConfigError> {
        let check = |key: String, dollars: f64| {
            if dollars.is_finite() && dollars >= 0.0 {
                return Ok(());
            }
            Err(ConfigError::new(key, format!("should be 0 or more US dollars, found {dollars}")))
        };
        check("maxCost".to_owned(), config.max_cost)?;
        for (model, price) in &config.prices {
            for (key, dollars) in [
                ("input", Some(price.input)),
                ("output", Some(price.output)),
                ("cacheRead", price.cache_read),
                ("cacheWrite", price.cache_write),
            ] {
                check(format!("prices.{model}.{key}"), dollars.unwrap_or(0.0))?;
            }
        }
        Ok(config)
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let usage = Trace::usage_of(case)?;
        let (cost, unpriced) = match usage.cost_usd {
            Some(cost) => (cost, String::new()),
            None => {
                let price = self.price(case)?;
                (price.of(&usage)?, price.unpriced(&usage))
            }
        };
        let max = self.max_cost;
        let score = match self.mode {
            _ if cost <= max => 1.0,
            Mode::Hard => 0.0,
            Mode::Proportional => (max / cost).clamp(0.0, 1.0),
        };
        let mut meta = json!({ "costUsd": cost, "maxCost": max });
        for (key, tokens) in [
            ("cacheReadTokens", usage.cache_read_tokens),
            ("cacheWriteTokens", usage.cache_write_tokens),
        ] {
            if let Some(tokens) = tokens {
                meta[key] = tokens.into();
            }
        }
        Ok(Score::new(score)
            .reason(format!("${} of at most ${max}{unpriced}", shown(cost, max)))
            .meta(meta))
    }
}

/// A cost with four decimal places, or with all if four do not show that it exceeds the budget.
fn shown(cost: f64, max: f64) -> String {
    let rounded = format!("{cost:.4}");
    let is_beyond = rounded.parse::<f64>().is_ok_and(|rounded| rounded > max);
    if is_beyond == (cost > max) { rounded } else { cost.to_string() }
}

impl CostBudget {
    /// The price of the case's model.
    fn price(&self, case: &Case) -> Result<Price, ScoreError> {
        if self.prices.is_empty() {
            return Err(ScoreError::invalid_input(
                "the usage has no `costUsd`, and there are no `prices` to compute it from the tokens",
            ));
        }
        let named = match (&self.model, case.metadata()) {
            (Some(model), _) => Some(model.clone()),
            // serde would read a list as the fields in order.
            (None, Some(metadata)) if metadata.kind() != "an object" => {
                return Err(metadata.should_be("an object"));
            }
            (None, Some(metadata)) => metadata.read::<Metadata>()?.model,
            (None, None) => None,
        };
        let price = named.as_ref().and_then(|model| self.prices.get(model));
        price.or_else(|| self.prices.get("*")).copied().ok_or_else(|| {
            let known: Vec<_> = self.prices.keys().map(|model| format!("`{model}`")).collect();
            let known = known.join(", ");
            ScoreError::invalid_input(match named {
                Some(model) => {
                    format!("`prices` has no price for the model `{model}`; it has {known}")
                }
                None => format!(
                    "the case has no `metadata.model`, and `prices` has no `*`; it has {known}"
                ),
            })
        })
    }
}

impl Price {
    /// What a usage costs, in US dollars.
    fn of(self, usage: &Usage) -> Result<f64, ScoreError> {
        let rest = |known: Option<u64>| Some(usage.total_tokens?.saturating_sub(known?));
        let input = usage.input_tokens.or_else(|| rest(usage.output_tokens));
        let output = usage.output_tokens.or_else(|| rest(usage.input_tokens));
        let (Some(input), Some(output)) = (input, output) else {
            return Err(ScoreError::invalid_input(
                "the usage should have `costUsd`, or `inputTokens` and `outputTokens`",
            ));
        };
        let read = usage.cache_read_tokens.unwrap_or(0);
        let written = usage.cache_write_tokens.unwrap_or(0);
        let cached = usage.cached_input_tokens.unwrap_or(0).saturating_add(written);
        let cost = input.saturating_sub(cached) as f64 * self.input
            + read as f64 * self.cache_read.unwrap_or(self.input)
            + written as f64 * self.cache_write.unwrap_or(self.input)
            + output.saturating_add(uncounted(usage).unwrap_or(0)) as f64 * self.output;
        Ok(decimal(cost / 1e6))
    }

    /// The tokens without a separate price, as the end of a sentence.
    fn unpriced(self, usage: &Usage) -> String {
        let mut words = String::new();
        for (tokens, price, what) in [
            (
                usage.cache_read_tokens,
                self.cache_read,
                "read from a cache (no `cacheRead`) at the price of input",
            ),
            (
                usage.cache_write_tokens,
                self.cache_write,
                "written to a cache (no `cacheWrite`) at the price of input",
            ),
            (uncounted(usage), None, "that only the total counts at the price of output"),
        ] {
            if let (Some(tokens @ 1..), None) = (tokens, price) {
                words.push_str(&format!(", {tokens} tokens {what}"));
            }
        }
        words
    }
}

/// The part of the total beyond input, cache and output, if it is known.
fn uncounted(usage: &Usage) -> Option<u64> {
    let beside = usage.cache_read_tokens.unwrap_or(0);
    let beside = beside.saturating_sub(usage.cached_input_tokens.unwrap_or(0));
    let counted = usage.input_tokens?.saturating_add(usage.output_tokens?).saturating_add(beside);
    Some(usage.total_tokens?.saturating_sub(counted))
}

scorebox_sdk::export!(CostBudget);

#[cfg(test)]
mod tests;
