//! token-budget: whether the task stayed within its token budget. It reads the case's usage, or the usage that the
//! trace states, and counts no tokens itself.
//!
//! hard: score = 1 up to `maxTokens`, else 0; proportional: 1 up to `maxTokens`, else maxTokens / tokens
//!
//! The rule is that of niceeval's `maxTokens`, which is hard.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity, Usage,
    schemars,
};
use scorebox_sdk_traces::Trace;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Scores 1 if the task used no more tokens than its budget. Beyond the budget it scores 0 or, with
/// `mode` `proportional`, budget divided by use (twice the budget is 0.5).
///
/// The tokens are those of the case's `usage` or, if it has none, or the trace states tokens of a
/// cache beside a `usage` without a cost, those that the trace states. If only
/// one of `inputTokens` and `outputTokens` is known, the total is not: the result is an error, unless
/// that part alone is beyond a hard budget. Tokens that were written to a cache count as input. Those
/// read from one count as far as the model counts them as input: OpenAI's do, Anthropic's do not.
/// `meta.cacheReadTokens` and `meta.cacheWriteTokens` report them if the trace does. A hard
/// requirement: a gate that only 1 passes, unless the suite sets another threshold.
///
/// Equals niceeval's `maxTokens`, except for tokens of a cache, which do not count there, and for a
/// `totalTokens`, which is used as it is (niceeval adds input and output).
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenBudget {
    /// The maximum number of tokens that scores 1.
    max_tokens: u64,
    /// Which tokens count.
    #[serde(default)]
    count: Count,
    /// The score beyond the budget.
    #[serde(default)]
    mode: Mode,
}

/// Which tokens count.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Count {
    /// All: `totalTokens`, or else the sum of the other two.
    #[default]
    Total,
    /// Those of the prompt: `inputTokens`.
    Input,
    /// Those of the answer: `outputTokens`.
    Output,
}

/// The score beyond the budget.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// 0.
    #[default]
    Hard,
    /// The budget divided by the tokens used.
    Proportional,
}

impl Mode {
    fn is_hard(self) -> bool {
        matches!(self, Self::Hard)
    }
}

impl Scorer for TokenBudget {
    type Config = Self;

    const INFO: Info = Info::new("token-budget", "Token Budget", env!("CARGO_PKG_VERSION"))
        .reads(Fields::USAGE.and(Fields::TRACE))
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Self) -> Result<Self, ConfigError> {
        Ok(config)
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let usage = Trace::usage_of(case)?;
        let max = self.max_tokens;
        let (tokens, at_least) = match self.count.of(&usage)? {
            Counted::All(tokens) => (tokens, ""),
            Counted::Part { tokens, .. } if tokens > max && self.mode.is_hard() => {
                (tokens, "at least ")
            }
            Counted::Part { missing, .. } => {
                return Err(ScoreError::invalid_input(format!(
                    "the usage should have `totalTokens`, or `inputTokens` and `outputTokens`; it \
                     has no `{missing}`"
                )));
            }
        };
        let score = match self.mode {
            _ if tokens <= max => 1.0,
            Mode::Hard => 0.0,
            Mode::Proportional => max as f64 / tokens as f64,
        };
        let mut meta = json!({ "tokens": tokens, "maxTokens": max });
        for (key, cached) in [
            ("cacheReadTokens", usage.cache_read_tokens),
            ("cacheWriteTokens", usage.cache_write_tokens),
        ] {
            if let Some(cached) = cached {
                meta[key] = cached.into();
            }
        }
        Ok(Score::new(score)
            .reason(format!("{at_least}{tokens} {}tokens of at most {max}", self.count.word()))
            .meta(meta))
    }
}

/// The tokens that count, as far as they are known.
enum Counted {
    All(u64),
    /// Those of the prompt or of the answer, if the others are unknown.
    Part {
        tokens: u64,
        missing: &'static str,
    },
}

impl Count {
    fn of(self, usage: &Usage) -> Result<Counted, ScoreError> {
        let (tokens, keys) = match self {
            Self::Total => {
                (Self::total(usage), "`totalTokens`, or `inputTokens` and `outputTokens`")
            }
            Self::Input => (usage.input_tokens.map(Counted::All), "`inputTokens`"),
            Self::Output => (usage.output_tokens.map(Counted::All), "`outputTokens`"),
        };
        tokens.ok_or_else(|| ScoreError::invalid_input(format!("the usage should have {keys}")))
    }

    fn total(usage: &Usage) -> Option<Counted> {
        match (usage.total_tokens, usage.input_tokens, usage.output_tokens) {
            (Some(total), ..) => Some(Counted::All(total)),
            (_, Some(input), Some(output)) => Some(Counted::All(input.saturating_add(output))),
            (_, Some(tokens), None) => Some(Counted::Part { tokens, missing: "outputTokens" }),
            (_, None, Some(tokens)) => Some(Counted::Part { tokens, missing: "inputTokens" }),
            (_, None, None) => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Total => "",
            Self::Input => "input ",
            Self::Output => "output ",
        }
    }
}

scorebox_sdk::export!(TokenBudget);

#[cfg(test)]
mod tests;
