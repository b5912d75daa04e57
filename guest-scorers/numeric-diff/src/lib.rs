//! numeric-diff: how close the output is to the expected number, relative to both. It does not look for numbers in
//! prose; for that see numeric-answer.
//!
//! score = 1 - |expected - output| / (|expected| + |output|); two zeros score 1
//!
//! The rule is autoevals' `NumericDiff`.

use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Part, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_texts::similarity::of_numbers;
use serde::Deserialize;
use serde_json::json;

/// Scores how close the output is to the expected number: 1 - |expected - output| / (|expected| +
/// |output|), and 1 if both are 0.
///
/// Numbers of opposite signs score 0. The output is a number, or a text that is nothing but a
/// number. The expected number is the case's ground truth or the configured `value`; if there are
/// several, the closest one counts.
///
/// Equals autoevals' `NumericDiff`, which does not read texts, and takes `true` for 1 and `false`
/// for 0.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    #[serde(default)]
    negate: Negate,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

/// The scorer, made from its [`Config`].
pub struct NumericDiff {
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for NumericDiff {
    type Config = Config;

    const INFO: Info = Info::new("numeric-diff", "Numeric Diff", env!("CARGO_PKG_VERSION"))
        .reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { negate, value, values } = config;
        let accepted = Accepted::configured(value, values)?;
        for part in accepted.iter().flat_map(|accepted| accepted.parts()) {
            number(part).map_err(|error| ConfigError::whole(error.message()))?;
        }
        Ok(Self { negate, accepted })
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
        Ok(self
            .negate
            .score(closeness)
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
