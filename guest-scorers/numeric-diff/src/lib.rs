//! numeric-diff: how close the output is to the expected number, in proportion to both. It finds no
//! number in prose; for that see numeric-answer.
//!
//! score = 1 - |expected - output| / (|expected| + |output|); two zeros score 1
//!
//! The rule is autoevals' `NumericDiff`.

use scorebox_sdk::{
    Accepted, Case, ConfigError, Fields, Info, JsonSchema, Part, Score, ScoreError, Scorer,
    schemars,
};
use scorebox_sdk_texts::likeness::of_numbers;
use serde::Deserialize;
use serde_json::{Value, json};

/// Scores how close the output is to the expected number: 1 - |expected - output| / (|expected| +
/// |output|), and 1 where both are 0.
///
/// Numbers of opposite signs score 0. The output is a number, or a text that is nothing but one. The
/// expected number is the case's ground truth or the configured `value`; of a list of them the closest
/// counts.
///
/// Equals autoevals' `NumericDiff`, which reads no texts, and takes `true` for 1 and `false` for 0.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NumericDiff {
    /// Turns the score around: 1 when the output is as far from the expected number as it can be.
    #[serde(default)]
    negate: bool,
    /// The expected number, in place of the ground truth.
    #[serde(default)]
    value: Option<Value>,
    /// The expected numbers, in place of the ground truth; the closest counts.
    #[serde(default)]
    values: Option<Vec<Value>>,
    #[serde(skip)]
    accepted: Option<Accepted<'static>>,
}

impl Scorer for NumericDiff {
    const INFO: Info = Info::new("numeric-diff", "Numeric Diff", env!("CARGO_PKG_VERSION"))
        .reads(Fields::GROUND_TRUTH);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        self.accepted = Accepted::from_config(self.value.take(), self.values.take())?;
        if let Some(accepted) = &self.accepted {
            for part in accepted.parts() {
                number(part).map_err(|error| ConfigError::whole(error.message()))?;
            }
        }
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let output = number(&case.output())?;
        let mut best: Option<(f64, f64)> = None;
        for part in accepted.at_least_one()? {
            let expected = number(part)?;
            let closeness = of_numbers(output, expected);
            best = match best {
                Some(best) if best.0 >= closeness => Some(best),
                _ => Some((closeness, expected)),
            };
        }
        let (closeness, expected) = best.unwrap_or_default();
        let reason = match (expected - output).abs() {
            0.0 => format!("{} is the expected number", plain(output)),
            distance if distance.is_infinite() => {
                format!("{} is too far from {} to say how far", plain(output), plain(expected))
            }
            distance => {
                format!("{} is {} away from {}", plain(output), plain(distance), plain(expected))
            }
        };
        Ok(Score::new(if self.negate { 1.0 - closeness } else { closeness })
            .reason(reason)
            .meta(json!({ "output": output, "expected": expected })))
    }
}

/// A finite number, or a text that is one and nothing else.
fn number(part: &Part<'_>) -> Result<f64, ScoreError> {
    let number = if part.is_string() {
        part.text()?.trim().parse::<f64>().ok()
    } else {
        part.value()?.as_f64()
    };
    number.filter(|number| number.is_finite()).ok_or_else(|| {
        ScoreError::invalid_input(format!(
            "`{}` should be a number, or text that is one; found {} (for a number inside a text there \
             is the scorer numeric-answer)",
            part.name(),
            part.excerpt()
        ))
    })
}

/// Whole numbers without `.0`, as people write them; very large ones with an exponent.
fn plain(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        format!("{}", number as i64)
    } else {
        format!("{number:?}")
    }
}

scorebox_sdk::export!(NumericDiff);

#[cfg(test)]
mod tests;
