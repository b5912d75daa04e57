//! exact-match: 1 where the output equals the expected answer as JSON, else 0. It judges equality
//! only; for likeness see levenshtein, for numbers in prose numeric-answer.

use scorebox_sdk::{
    Accepted, Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, equal,
    excerpt, schemars,
};
use serde::Deserialize;
use serde_json::Value;

/// Scores 1 when the output equals the expected answer, else 0.
///
/// Equality is deep JSON equality: numbers by value (`1` equals `1.0`), strings code point by code
/// point, objects whatever the order of their keys. A string never equals what its content would parse
/// to. The expected answer is the case's ground truth or the configured `value`; a list of them means
/// that any one will do, and a list output may also equal the whole ground-truth list.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExactMatch {
    /// Compares strings (not the keys of objects) without regard to upper and lower case.
    #[serde(default)]
    ignore_case: bool,
    /// Compares strings without the white space around them.
    #[serde(default)]
    trim: bool,
    /// Turns the score around: 1 when the output equals none of the expected answers.
    #[serde(default)]
    negate: bool,
    /// The expected answer, in place of the ground truth. For JSON `null`, use `values`.
    #[serde(default)]
    value: Option<Value>,
    /// The expected answers, in place of the ground truth; any one will do.
    #[serde(default)]
    values: Option<Vec<Value>>,
    #[serde(skip)]
    accepted: Option<Accepted<'static>>,
}

impl Scorer for ExactMatch {
    const INFO: Info = Info::new("exact-match", "Exact Match", env!("CARGO_PKG_VERSION"))
        .reads(Fields::GROUND_TRUTH);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        self.accepted = Accepted::from_config(self.value.take(), self.values.take())?;
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let output = self.normalize(case.output().value()?);
        let mut equals = false;
        let mut all = Vec::new();
        for part in accepted.parts() {
            let expected = self.normalize(part.value()?);
            equals = equals || equal(&output, &expected);
            all.push(expected);
        }
        equals = equals || accepted.is_list() && equal(&output, &Value::Array(all));
        Ok(Score::pass(equals != self.negate).reason(reason(case, &accepted, equals)))
    }
}

impl ExactMatch {
    /// Applies the options to every string of a value.
    fn normalize(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.normalize_text(text)),
            Value::Array(items) => {
                Value::Array(items.into_iter().map(|item| self.normalize(item)).collect())
            }
            Value::Object(members) => Value::Object(
                (members.into_iter()).map(|(key, member)| (key, self.normalize(member))).collect(),
            ),
            other => other,
        }
    }

    fn normalize_text(&self, text: String) -> String {
        let text = if self.trim { text.trim().to_owned() } else { text };
        if self.ignore_case { text.to_lowercase() } else { text }
    }
}

fn reason(case: &Case, accepted: &Accepted<'_>, equals: bool) -> String {
    let output = case.output();
    let output = output.excerpt();
    if equals {
        return format!("{output} equals the expected answer");
    }
    match accepted.parts() {
        [one] => format!("{output} does not equal {}", one.excerpt()),
        many => {
            let list: Vec<_> = many.iter().map(|part| part.json()).collect();
            let list = list.join(", ");
            format!("{output} equals none of {}", excerpt(&list, 80))
        }
    }
}

scorebox_sdk::export!(ExactMatch);

#[cfg(test)]
mod tests;
