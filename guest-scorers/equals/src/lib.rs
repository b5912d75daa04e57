//! equals: 1 if the output deeply equals the expected value, else 0, naming the first place that differs. It gives no
//! partial credit: for that see json-diff, for texts with options see exact-match.

mod difference;

use difference::first_difference;
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Part, Score, ScoreError, Scorer, equal, push_whole, schemars,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Scores 1 if the output deeply equals the expected value, else 0; the reason names the first
/// difference.
///
/// Numbers are compared by value (`1` equals `1.0`), texts code point by code point, objects
/// regardless of the order of their keys, and lists in order. If one side is an object or a list
/// and the other a text that holds one as JSON, the contents are compared; if one side is a number
/// or a boolean and the other a text, the text must be written as JSON writes it (`42`, `true`):
/// see `parse`. The expected value is the case's ground truth or the configured `value`; if there
/// are several, any one will do, and a list output may also equal the whole ground-truth list. A
/// ground truth of `null` counts as absent: if `null` is right, list it in `values`, in a suite in
/// JSON or with `--config`, because TOML has no `null`.
///
/// With `parse` `never` and a `value`, scores as niceeval's `equals` does, which is a gate there;
/// here a suite makes it one. With `auto`, equals promptfoo's `equals`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// How to treat a text that holds other JSON: models often write JSON as text.
    #[serde(default)]
    parse: Parse,
    #[serde(default)]
    negate: Negate,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

/// What to do with a text that holds other JSON.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Parse {
    /// Compares its content with an object, a list, a number or a boolean.
    #[default]
    Auto,
    /// Compares it as a text.
    Never,
}

/// The scorer, made from its [`Config`].
pub struct Equals {
    parse: Parse,
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for Equals {
    type Config = Config;

    const INFO: Info =
        Info::new("equals", "Equals", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { parse, negate, value, values } = config;
        Ok(Self { parse, negate, accepted: Accepted::configured(value, values)? })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let output = case.output();
        let value = output.value()?;
        let mut expected =
            (accepted.parts().iter()).map(Part::value).collect::<Result<Vec<_>, _>>()?;
        if accepted.is_list() {
            expected.push(Value::Array(expected.clone()));
        }
        let equals = expected.iter().any(|expected| self.same(&value, expected));
        let score = self.negate.pass(equals);
        if equals {
            return Ok(score.reason([&output.excerpt(), " equals the expected value"].concat()));
        }
        match (accepted.parts(), expected.as_slice()) {
            ([_], [expected, ..]) => {
                let (left, right) = self.alike(&value, expected);
                let difference = first_difference(&left, &right);
                Ok(score.reason(difference.sentence()).meta(json!({ "path": difference.path })))
            }
            (many, _) => Ok(score.reason(format!(
                "{} equals none of {} expected values",
                output.excerpt(),
                many.len()
            ))),
        }
    }
}

impl Equals {
    fn same(&self, output: &Value, expected: &Value) -> bool {
        let (output, expected) = self.alike(output, expected);
        equal(&output, &expected)
    }

    /// Both values; a text is replaced by its content if it is compared with something else.
    fn alike(&self, output: &Value, expected: &Value) -> (Value, Value) {
        let read = |text: &Value, other: &Value| match text {
            Value::String(text) if self.parse == Parse::Auto => content(text, other),
            _ => None,
        };
        (
            read(output, expected).unwrap_or_else(|| output.clone()),
            read(expected, output).unwrap_or_else(|| expected.clone()),
        )
    }
}

/// The content of a text, if it has the same kind as the other value.
fn content(text: &str, other: &Value) -> Option<Value> {
    match other {
        Value::Object(_) | Value::Array(_) => serde_json::from_str(text).ok().filter(is_container),
        Value::Number(_) | Value::Bool(_) => (text == scalar_text(other)).then(|| other.clone()),
        Value::String(_) | Value::Null => None,
    }
}

fn is_container(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

/// A number or a boolean as JavaScript writes it in JSON: a whole number has no decimal point, even if it was written
/// with one.
fn scalar_text(value: &Value) -> String {
    match value.as_f64() {
        Some(whole) if value.is_f64() && whole.fract() == 0.0 && whole.abs() < 1e21 => {
            let mut text = String::new();
            push_whole(&mut text, whole);
            text
        }
        _ => value.to_string(),
    }
}

scorebox_sdk::export!(Equals);

#[cfg(test)]
mod tests;
