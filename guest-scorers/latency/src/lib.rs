//! latency: how fast the task answered, between a target and a maximum. It reads the measured time of
//! the case and measures nothing itself.
//!
//! score = 1 up to `targetMs`, 0 from `maxMs` on, and in between 1 - (latency - target) / (max - target)
//!
//! The rule is the latency scorer's of Smithers.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, push_number, schemars,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The initial capacity of a reason, in bytes: enough for most.
const USUAL_REASON: usize = 64;

/// Scores how fast the task answered: 1 up to `targetMs`, 0 from `maxMs` on, and linear between
/// them.
///
/// A case without a latency scores 1, and `meta.skipped` says so; a gate passes then, unless `missing`
/// is `error` or `not-applicable`. Follows Smithers' latency scorer; with `missing` `error`, equals
/// promptfoo's `latency`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Latency {
    /// The latency up to which the score is 1, in milliseconds; 0 or more.
    target_ms: f64,
    /// The latency from which the score is 0, in milliseconds; `targetMs` or more.
    max_ms: f64,
    /// What a case without a latency gets.
    #[serde(default)]
    missing: Missing,
}

/// What a case without a latency gets.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Missing {
    /// The score 1, as in Smithers.
    #[default]
    Full,
    /// An error.
    Error,
    /// No score: the result is not-applicable.
    NotApplicable,
}

impl Scorer for Latency {
    type Config = Self;
    const INFO: Info =
        Info::new("latency", "Latency", env!("CARGO_PKG_VERSION")).reads(Fields::LATENCY);

    fn new(config: Self) -> Result<Self, ConfigError> {
        let (target, max) = (config.target_ms, config.max_ms);
        for (key, value) in [("targetMs", target), ("maxMs", max)] {
            if !value.is_finite() || value < 0.0 {
                let message = format!("should be 0 or more milliseconds, found {value}");
                return Err(ConfigError::new(key, message));
            }
        }
        if max < target {
            let message = format!("should be `targetMs` ({target}) or more, found {max}");
            return Err(ConfigError::new("maxMs", message));
        }
        Ok(config)
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let Some(latency) = case.latency_ms() else {
            let reason = "No latency data available";
            return match self.missing {
                Missing::Full => Ok(Score::new(1.0).reason(reason).meta(json!({"skipped": true}))),
                Missing::NotApplicable => Ok(Score::not_applicable(reason)),
                Missing::Error => Err(ScoreError::invalid_input(
                    "the case has no `latencyMs`, which this scorer needs",
                )),
            };
        };
        let (target, max) = (self.target_ms, self.max_ms);
        let mut reason = String::with_capacity(USUAL_REASON);
        push_rounded(&mut reason, latency);
        let limits: &[(&str, f64)] = if latency <= target {
            &[("ms is within target (", target)]
        } else if latency >= max {
            &[("ms exceeds max (", max)]
        } else {
            &[("ms (target: ", target), ("ms, max: ", max)]
        };
        for (words, limit) in limits {
            reason.push_str(words);
            push_rounded(&mut reason, *limit);
        }
        reason.push_str("ms)");
        Ok(Score::new(fraction(latency, target, max)).reason(reason))
    }
}

/// The score of a latency, all in milliseconds. At or below `target` it is 1, even if `max` is equal to it.
#[must_use]
pub fn fraction(latency: f64, target: f64, max: f64) -> f64 {
    if latency <= target {
        1.0
    } else if latency >= max {
        0.0
    } else {
        (1.0 - (latency - target) / (max - target)).clamp(0.0, 1.0)
    }
}

/// Half a millisecond rounds up, as `Math.round` does.
fn round_half_up(milliseconds: f64) -> f64 {
    let floor = milliseconds.floor();
    if milliseconds - floor >= 0.5 { floor + 1.0 } else { floor }
}

/// Appends whole milliseconds to a reason, shortly even if they are many.
fn push_rounded(reason: &mut String, milliseconds: f64) {
    match round_half_up(milliseconds) {
        many if many >= 1e16 => reason.push_str(&format!("{many:e}")),
        rounded => push_number(reason, rounded),
    }
}

scorebox_sdk::export!(Latency);

#[cfg(test)]
mod tests {
    use super::*;

    fn score(latency_ms: f64) -> (f64, String) {
        let scorer: Latency =
            scorebox_sdk::configure(json!({"targetMs": 1000, "maxMs": 5000})).unwrap();
        let case = Case::new(json!("x")).with_latency_ms(latency_ms);
        let score = scorer.score(&case).unwrap();
        (score.score.unwrap(), score.reason.unwrap())
    }

    fn refusal(config: serde_json::Value) -> String {
        let error = scorebox_sdk::configure::<Latency>(config).err();
        error.expect("a refusal").to_string()
    }

    #[test]
    fn within_target_scores_1() {
        assert_eq!(score(0.0), (1.0, "0ms is within target (1000ms)".into()));
        assert_eq!(score(1000.0), (1.0, "1000ms is within target (1000ms)".into()));
    }

    #[test]
    fn between_target_and_max_the_score_falls_in_a_line() {
        assert_eq!(score(2000.0), (0.75, "2000ms (target: 1000ms, max: 5000ms)".into()));
        assert_eq!(score(3000.0).0, 0.5);
        assert_eq!(score(1000.5).1, "1001ms (target: 1000ms, max: 5000ms)");
    }

    #[test]
    fn from_max_on_the_score_is_0() {
        assert_eq!(score(5000.0), (0.0, "5000ms exceeds max (5000ms)".into()));
        assert_eq!(score(1e9).0, 0.0);
    }

    #[test]
    fn where_target_and_max_are_equal_the_target_wins() {
        assert_eq!(fraction(7.0, 7.0, 7.0), 1.0);
        assert_eq!(fraction(7.1, 7.0, 7.0), 0.0);
    }

    #[test]
    fn without_latency_the_score_is_1_and_marked_as_skipped() {
        let scorer: Latency = scorebox_sdk::configure(json!({"targetMs": 1, "maxMs": 2})).unwrap();
        let score = scorer.score(&Case::new(json!("x"))).unwrap();
        assert_eq!(score.score, Some(1.0));
        assert_eq!(score.reason.as_deref(), Some("No latency data available"));
        assert_eq!(score.meta_value(), Some(json!({"skipped": true})));
    }

    #[test]
    fn a_missing_latency_may_be_an_error_or_not_applicable() {
        let of = |missing: &str| {
            let config = json!({"targetMs": 1, "maxMs": 2, "missing": missing});
            let scorer: Latency = scorebox_sdk::configure(config).unwrap();
            scorer.score(&Case::new(json!("x")))
        };
        assert_eq!(
            of("error").unwrap_err().to_string(),
            "the case has no `latencyMs`, which this scorer needs"
        );
        assert_eq!(of("not-applicable").unwrap().score, None);
        assert_eq!(of("full").unwrap().score, Some(1.0));
    }

    #[test]
    fn times_print_without_a_needless_fraction() {
        assert_eq!(round_half_up(0.499_999_999_999_999_94), 0.0);
        assert_eq!(format!("{}", round_half_up(2.5)), "3");
    }

    #[test]
    fn a_reason_rounds_limits_as_it_rounds_the_latency() {
        let config = json!({"targetMs": 0.945, "maxMs": 2000.5});
        let scorer: Latency = scorebox_sdk::configure(config).unwrap();
        let reason = |latency_ms| {
            let case = Case::new(json!("x")).with_latency_ms(latency_ms);
            scorer.score(&case).unwrap().reason.unwrap()
        };
        assert_eq!(reason(0.94), "1ms is within target (1ms)");
        assert_eq!(reason(1000.0), "1000ms (target: 1ms, max: 2001ms)");
        assert_eq!(reason(2000.6), "2001ms exceeds max (2001ms)");
    }

    #[test]
    fn a_reason_writes_many_milliseconds_in_few_characters() {
        assert_eq!(score(1e308).1, "1e308ms exceeds max (5000ms)");
    }

    #[test]
    fn wrong_limits_are_refused_by_name() {
        assert_eq!(refusal(json!({"targetMs": 1})), "`maxMs` is required");
        assert_eq!(
            refusal(json!({"targetMs": -1, "maxMs": 2})),
            "`targetMs`: should be 0 or more milliseconds, found -1"
        );
        assert_eq!(
            refusal(json!({"targetMs": 3, "maxMs": 2})),
            "`maxMs`: should be `targetMs` (3) or more, found 2"
        );
    }
}
