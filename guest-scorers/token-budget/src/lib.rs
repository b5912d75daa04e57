//! token-budget: whether the task kept to its budget of tokens. It reads the case's usage and counts no
//! tokens itself.
//!
//! hard: score = 1 up to `maxTokens`, else 0; proportional: 1 up to `maxTokens`, else maxTokens / tokens
//!
//! The rule is that of niceeval's `maxTokens`, which is hard.

use scorebox_sdk::{
    Case, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity, Usage, schemars,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Scores 1 when the task used no more tokens than its budget; beyond it 0, or with `mode` `proportional`
/// the budget's part of what was used (twice the budget is 0.5).
///
/// The tokens are those of the case's `usage`. A hard requirement (gate).
///
/// Equals niceeval's `maxTokens`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenBudget {
    /// The most tokens that score 1.
    max_tokens: u64,
    /// Which tokens count.
    #[serde(default)]
    count: Count,
    /// What the score is beyond the budget.
    #[serde(default)]
    mode: Mode,
}

/// Which tokens count.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Count {
    /// All: `totalTokens`, or else the sum of the two others.
    #[default]
    Total,
    /// Those of the prompt: `inputTokens`.
    Input,
    /// Those of the answer: `outputTokens`.
    Output,
}

/// What the score is beyond the budget.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// 0.
    #[default]
    Hard,
    /// The budget divided by what was used.
    Proportional,
}

impl Scorer for TokenBudget {
    const INFO: Info = Info::new("token-budget", "Token Budget", env!("CARGO_PKG_VERSION"))
        .reads(Fields::USAGE)
        .severity(Severity::Gate);

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let tokens = self.count.of(case.require_usage()?)?;
        let max = self.max_tokens;
        let score = match self.mode {
            _ if tokens <= max => 1.0,
            Mode::Hard => 0.0,
            Mode::Proportional => max as f64 / tokens as f64,
        };
        Ok(Score::new(score)
            .reason(format!("{tokens} {}tokens of at most {max}", self.count.word()))
            .meta(json!({ "tokens": tokens, "maxTokens": max })))
    }
}

impl Count {
    fn of(self, usage: &Usage) -> Result<u64, ScoreError> {
        let (tokens, keys) = match self {
            Self::Total => (usage.total(), "`totalTokens`, `inputTokens` or `outputTokens`"),
            Self::Input => (usage.input_tokens, "`inputTokens`"),
            Self::Output => (usage.output_tokens, "`outputTokens`"),
        };
        tokens.ok_or_else(|| ScoreError::invalid_input(format!("`usage` should have {keys}")))
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
