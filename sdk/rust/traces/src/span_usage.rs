//! Reads the tokens and the cost that a span states. They are added up elsewhere.

use scorebox_sdk::Usage;
use serde_json::json;

use crate::fields::{self, Object};

/// Tokens and cost of a span, under the current and older keys of OpenTelemetry, and those of OpenInference and
/// OpenLLMetry.
pub(super) fn usage(attributes: &Object) -> Option<Usage> {
    let first = |keys: &[&str]| keys.iter().find_map(|key| attributes.get(*key)).cloned();
    fields::usage(Some(&json!({
        "input_tokens": first(&[
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.prompt_tokens",
            "llm.token_count.prompt",
        ]),
        "output_tokens": first(&[
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
        ]),
        "total_tokens": first(&["llm.usage.total_tokens", "llm.token_count.total"]),
        "cost_usd": first(&["llm.cost.total", "gen_ai.usage.cost"]),
        "cache_read_tokens": first(&[
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "llm.token_count.prompt_details.cache_read",
        ]),
        "cache_write_tokens": first(&[
            "gen_ai.usage.cache_creation.input_tokens",
            "gen_ai.usage.cache_creation_input_tokens",
            "llm.token_count.prompt_details.cache_write",
        ]),
    })))
}
