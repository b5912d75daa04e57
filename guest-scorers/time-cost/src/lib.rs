//! time-cost: how much of a time budget is left. It reads a measured time and measures nothing itself; for a target up
//! to which the score is 1, see latency.
//!
//! score = 1 - elapsed / maxMs, within 0 and 1
//!
//! The rule is that of Orbiter's `TimeCostScorer`.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use serde::Deserialize;
use serde_json::json;

/// Scores how much of a time budget is left: 1 - elapsed / `maxMs`, and 0 from `maxMs` on.
///
/// The elapsed time is `_time_cost_ms` of an output that is an object (a number, or its text), or
/// else the case's latency. If neither is known it counts as 0, which scores 1, and `meta.skipped`
/// says so.
///
/// Equals Orbiter's `TimeCostScorer` (`time_cost`), which does not fall back to a latency.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimeCost {
    /// The time from which the score is 0, in milliseconds; more than 0.
    #[serde(default = "half_a_minute")]
    max_ms: f64,
}

fn half_a_minute() -> f64 {
    30_000.0
}

/// The keys of an output that are read.
#[derive(Deserialize)]
struct Timed {
    #[serde(rename = "_time_cost_ms")]
    time_cost_ms: Option<Milliseconds>,
}

/// A number, or its text, which Orbiter passes to Python's `float`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "should be a number of milliseconds")]
enum Milliseconds {
    Number(f64),
    Text(String),
}

impl Milliseconds {
    fn number(self) -> Result<f64, ScoreError> {
        let number = match &self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
        };
        number.filter(|number: &f64| number.is_finite()).ok_or_else(|| {
            ScoreError::invalid_input(
                "`output._time_cost_ms` cannot be read: should be a number of milliseconds",
            )
        })
    }
}

impl Scorer for TimeCost {
    type Config = Self;

    const INFO: Info =
        Info::new("time-cost", "Time Cost", env!("CARGO_PKG_VERSION")).reads(Fields::LATENCY);

    fn new(config: Self) -> Result<Self, ConfigError> {
        if !config.max_ms.is_finite() || config.max_ms <= 0.0 {
            let found = shown(config.max_ms);
            let message = format!("should be more than 0 milliseconds, found {found}");
            return Err(ConfigError::new("maxMs", message));
        }
        Ok(config)
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let output = case.output();
        let own = match output.kind() {
            "an object" => output.read::<Timed>()?.time_cost_ms,
            _ => None,
        };
        let own = own.map(Milliseconds::number).transpose()?;
        let max = self.max_ms;
        let Some(elapsed) = own.or(case.latency_ms()) else {
            return Ok(Score::new(1.0)
                .reason("no time is known: neither `_time_cost_ms` of the output nor `latencyMs`")
                .meta(json!({ "elapsedMs": 0.0, "maxMs": max, "skipped": true })));
        };
        Ok(Score::new((1.0 - elapsed / max).clamp(0.0, 1.0))
            .reason(format!("{} ms of at most {} ms", shown(elapsed), shown(max)))
            .meta(json!({ "elapsedMs": elapsed, "maxMs": max })))
    }
}

/// A number with few characters, however large or small.
fn shown(number: f64) -> String {
    let size = number.abs();
    match size >= 1e16 || (size > 0.0 && size < 1e-5) {
        true => format!("{number:e}"),
        false => number.to_string(),
    }
}

scorebox_sdk::export!(TimeCost);

#[cfg(test)]
mod tests;
