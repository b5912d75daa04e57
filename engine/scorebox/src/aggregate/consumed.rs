//! What a case's task consumed, as far as the verdict of its run needs it: time, money, and whether cached tokens are
//! not counted. It decides nothing.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::{row::Json, store::CaseToDecide, verdict::Effort};

/// The spellings of the cost in a case's own usage.
const COSTS: [&str; 3] = ["costUsd", "cost_usd", "costUSD"];

/// The names of all counts of cached tokens contain this: `cacheReadTokens`, `cached_tokens`,
/// `cache_creation_input_tokens`.
const CACHE: &str = "cache";

/// What the task consumed, if it is known.
pub(super) fn effort(case: &CaseToDecide) -> Effort {
    /// The part of a usage that is needed here.
    #[derive(Deserialize)]
    struct Cost {
        #[serde(rename = "costUsd", alias = "cost_usd", alias = "costUSD")]
        cost_usd: Option<f64>,
    }
    let cost = |usage: &Json| serde_json::from_str::<Cost>(usage.get()).ok()?.cost_usd;
    let cost_usd = case.usage.as_ref().and_then(cost).filter(|cost| cost.is_finite());
    Effort { latency_ms: case.latency_ms, cost_usd }
}

/// Whether the case's own usage counts cached tokens and has no cost that includes them. Scorers are not given such
/// counts; but a trace may contain them, so this is false for a case with a trace.
pub(super) fn hides_a_cache(case: &CaseToDecide) -> bool {
    !case.has_trace && case.usage.as_ref().is_some_and(|usage| counts_a_cache_unpriced(usage.get()))
}

fn counts_a_cache_unpriced(usage: &str) -> bool {
    // Most usages have no such key, and are not parsed again.
    if !usage.to_ascii_lowercase().contains(CACHE) {
        return false;
    }
    let Ok(usage) = serde_json::from_str::<BTreeMap<String, Value>>(usage) else { return false };
    let is_priced = COSTS.iter().any(|key| usage.get(*key).is_some_and(|cost| !cost.is_null()));
    let counts_some = |(key, tokens): (&String, &Value)| {
        key.to_ascii_lowercase().contains(CACHE) && tokens.as_f64().is_some_and(|it| it > 0.0)
    };
    !is_priced && usage.iter().any(counts_some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usage_hides_a_cache_whose_tokens_it_counts_without_a_cost() {
        for hiding in [
            r#"{"inputTokens": 1, "cacheReadTokens": 9}"#,
            r#"{"inputTokens": 1, "cacheCreationTokens": 9, "costUsd": null}"#,
            r#"{"input_tokens": 1, "cache_read_input_tokens": 9}"#,
            r#"{"input_tokens": 1, "cache_creation_input_tokens": 0, "cached_tokens": 9}"#,
            r#"{"promptTokenCount": 1, "cachedContentTokenCount": 9}"#,
        ] {
            assert!(counts_a_cache_unpriced(hiding), "{hiding}");
        }
        for other in [
            r#"{"inputTokens": 1, "outputTokens": 2}"#,
            r#"{"inputTokens": 1, "cacheReadTokens": 0}"#,
            r#"{"inputTokens": 1, "cacheReadTokens": null}"#,
            r#"{"inputTokens": 1, "cacheReadTokens": 9, "cost_usd": 0}"#,
            // Part of the input, which is counted.
            r#"{"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 8}}"#,
            "[9]",
        ] {
            assert!(!counts_a_cache_unpriced(other), "{other}");
        }
    }
}
