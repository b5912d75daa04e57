//! numeric-answer: 1 if the final number of a free-text answer is the expected one, else 0. It reads numbers as written
//! in English (`1,234.5`), and does not check the solution steps.
//!
//! The final number is the one after the last marker (`A:`, `####`, `answer is`, `answer:`, `\boxed{}`).
//! For GSM8K (Cobbe et al. 2021, arXiv:2110.14168) this is the number that the data set's own labels
//! compare with the key.

mod answer;
mod context;
mod decimal;
mod latex;
mod number;
mod power;

use regex_lite::Regex;
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Part, Score, ScoreError, Scorer, excerpt, schemars,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use answer::{final_answer, last_number};
pub use number::{Amount, number_in, whole_number};

/// How much wider than configured a tolerance is, as a fraction of the larger number: a few units in the last place, so
/// that rounding in the difference of two numbers does not decide.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Scores 1 if the final number of a free-text answer is the expected one, else 0.
///
/// The final number follows the last marker: `A:` at the start of a line, `####`, `answer is`, `answer:` or `\boxed{}`;
/// or it is the whole output. Currency signs and percent signs are ignored, and commas that part thousands
/// (`1,234,567`, `12,34,567`); any other comma between digits (`3,14`, `(1,2)`) leaves no number. Fractions (`3/4`, `3
/// 1/2`, `2½`), powers (`10^6`, `3×10^5`, `10³`), groups of digits (`5 000`), magnitudes (`5 million`, `5k`, `$1.2M`)
/// and `minus 5` are understood; of a chain (`3 + 4 = 7`), the last side that is a number alone counts. A minus touches
/// its number or the currency sign before it (`-5`, `-$5`); a hyphen with a space after it is a bullet or a dash
/// (`Answer: - 42` is 42), unless it begins a term (`x = - 5`, `\boxed{- 5}`, a text that is nothing but `- 5`). A
/// number that something beside it makes another one, as in `10:30`, `2^x`, `1/0`, `2\sqrt{3}`, `\frac{\pi}{2}`, `3x`,
/// `0x1F` or `1'000`, is no answer, and neither are its parts; in a box, neither is `5!`. Anything too large for a
/// number, such as the commit `3e8491f`, is skipped. The expected number is the case's ground truth or the configured
/// `value`; if there are several, any one will do. Without a tolerance, numbers written as whole ones are compared
/// exactly (up to 38 digits), all others as 64-bit floats. Agrees with the labels of GSM8K (Cobbe et al. 2021).
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// A regular expression that finds the answer in place of the markers. The last match counts:
    /// its group `answer`, or else its first group, or else all of it. The syntax is that of
    /// regex-lite: `\d`, `\w`, `\s`, `\b` and `(?i)` are ASCII only.
    #[serde(default)]
    pattern: Option<String>,
    /// What counts if nothing marks a final answer.
    #[serde(default)]
    fallback: Fallback,
    /// How far from the expected number an answer may be; 0 or more. An answer on the boundary counts:
    /// 1.1 is within 0.1 of 1, although rounding makes the distance a little larger.
    #[serde(default)]
    tolerance: f64,
    /// The same as a fraction of the expected number (0.01 is one percent); the wider one counts.
    #[serde(default)]
    relative_tolerance: f64,
    #[serde(default)]
    negate: Negate,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

/// What counts if nothing marks a final answer.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Fallback {
    /// Nothing: the score is 0.
    #[default]
    None,
    /// The last number of the output.
    LastNumber,
}

/// The scorer, made from its [`Config`].
pub struct NumericAnswer {
    pattern: Option<Regex>,
    fallback: Fallback,
    tolerance: f64,
    relative_tolerance: f64,
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for NumericAnswer {
    type Config = Config;

    const INFO: Info = Info::new("numeric-answer", "Numeric Answer", env!("CARGO_PKG_VERSION"))
        .reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { pattern, fallback, tolerance, relative_tolerance, negate, value, values } =
            config;
        for (key, value) in [("tolerance", tolerance), ("relativeTolerance", relative_tolerance)] {
            if !value.is_finite() || value < 0.0 {
                return Err(ConfigError::new(key, format!("should be 0 or more, found {value}")));
            }
        }
        let pattern = pattern.map(|pattern| Regex::new(&pattern)).transpose().map_err(|error| {
            ConfigError::new("pattern", format!("is not a valid regular expression: {error}"))
        })?;
        let accepted = Accepted::configured(value, values)?;
        for part in accepted.iter().flat_map(|accepted| accepted.parts()) {
            expected_number(part).map_err(|problem| ConfigError::new(part.name(), problem))?;
        }
        Ok(Self { pattern, fallback, tolerance, relative_tolerance, negate, accepted })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let expected = accepted.at_least_one()?.iter().map(|part| {
            let problem = |problem| format!("`{}` {problem}", part.name());
            expected_number(part).map_err(|it| ScoreError::invalid_input(problem(it)))
        });
        let expected = expected.collect::<Result<Vec<Amount>, _>>()?;
        let output = case.output();
        let Some(answer) = self.answer(&output.text()?) else {
            return Ok(self
                .negate
                .pass(false)
                .reason(self.no_answer())
                .meta(json!({ "answer": null, "expected": expected[0].to_json() })));
        };
        let hit = expected.iter().find(|expected| self.agrees(answer, **expected));
        let reason = match (hit, expected.as_slice()) {
            (Some(hit), _) if hit.equals(answer) => format!("the answer {answer} is right"),
            (Some(hit), _) => format!("the answer {answer} is close enough to {hit}"),
            (None, [expected]) => format!("the answer is {answer}, expected {expected}"),
            (None, many) => {
                let list: Vec<_> = many.iter().map(Amount::to_string).collect();
                let list = list.join(", ");
                format!("the answer is {answer}, expected one of {}", excerpt(&list, 80))
            }
        };
        let shown = *hit.unwrap_or(&expected[0]);
        Ok(self
            .negate
            .pass(hit.is_some())
            .reason(reason)
            .meta(json!({ "answer": answer.to_json(), "expected": shown.to_json() })))
    }
}

impl NumericAnswer {
    fn answer(&self, output: &str) -> Option<Amount> {
        let marked = match &self.pattern {
            Some(pattern) => last_match(pattern, output)
                .and_then(|text| whole_number(text).or_else(|| number_in(text))),
            None => final_answer(output).or_else(|| whole_number(output)),
        };
        marked.or_else(|| match self.fallback {
            Fallback::None => None,
            Fallback::LastNumber => last_number(output),
        })
    }

    fn agrees(&self, answer: Amount, expected: Amount) -> bool {
        let tolerance = self.tolerance.max(self.relative_tolerance * expected.value.abs());
        if tolerance == 0.0 {
            return answer.equals(expected);
        }
        let (answer, expected) = (answer.value, expected.value);
        let rounding = ROUNDING * answer.abs().max(expected.abs());
        (answer - expected).abs() <= tolerance + rounding
    }

    fn no_answer(&self) -> String {
        let sought = match self.pattern {
            Some(_) => "a number where `pattern` matches",
            None => "a number after `A:`, `####`, `answer is`, `answer:` or in `\\boxed{}`",
        };
        let hint = match self.fallback {
            Fallback::None => {
                "; `fallback = \"last-number\"` would take the last number of the text"
            }
            Fallback::LastNumber => ", nor any other number",
        };
        format!("no final answer found: the output does not have {sought}{hint}")
    }
}

fn last_match<'t>(pattern: &Regex, text: &'t str) -> Option<&'t str> {
    let captures = pattern.captures_iter(text).last()?;
    let group = captures.name("answer").or_else(|| captures.get(1));
    Some(group.or_else(|| captures.get(0))?.as_str())
}

/// A number, a text that is one, or a text that marks one (as GSM8K's solutions do); else what is wrong with the part.
fn expected_number(part: &Part<'_>) -> Result<Amount, String> {
    let number = if part.is_string() {
        part.text().ok().and_then(|text| whole_number(&text).or_else(|| final_answer(&text)))
    } else {
        part.value().ok().and_then(|number| {
            let whole = number.as_i64().map(i128::from);
            let whole = whole.or_else(|| number.as_u64().map(i128::from));
            Some(Amount { value: number.as_f64()?, whole })
        })
    };
    number.ok_or_else(|| {
        format!("should be a number, or text that states one; found {}", part.excerpt())
    })
}

scorebox_sdk::export!(NumericAnswer);

#[cfg(test)]
mod tests;
