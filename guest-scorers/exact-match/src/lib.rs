//! exact-match: 1 where the output equals the expected answer, else 0. It judges equality only; for
//! likeness see levenshtein, for numbers in prose numeric-answer and match.
//!
//! `mode: normalized` is the exact match of SQuAD (Rajpurkar et al. 2016, arXiv:1606.05250), `mode: words`
//! that of DROP (Dua et al. 2019, arXiv:1903.00161), which Inspect's `exact` uses.

mod normal;

use normal::words;
use scorebox_sdk::{
    Accepted, Case, ConfigError, Fields, Info, JsonSchema, Part, Score, ScoreError, Scorer, equal,
    excerpt, schemars,
};
use scorebox_sdk_texts::normal::squad;
use scorebox_sdk_texts::python::is_space;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Scores 1 when the output equals the expected answer, else 0.
///
/// With `mode: strict` equality is deep JSON equality: numbers by value (`1` equals `1.0`), strings code
/// point by code point, objects whatever the order of their keys. A string never equals what its content
/// would parse to, unless `parseJson` says so. The other modes compare texts without what does not matter
/// in an answer. The expected answer is the case's ground truth or the configured `value`; a list of them
/// means that any one will do, and a list output may also equal the whole ground-truth list. A ground
/// truth of `null` counts as absent: where `null` is right, say so in `values`.
///
/// `normalized` equals SQuAD's exact match, `words` Inspect's `exact`. `strict` with `parseJson` equals
/// autoevals' `ExactMatch`, except that the order of keys never counts, that a number equals a string by
/// value (`1` equals `"1.0"`), and that booleans and `null` equal no string.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExactMatch {
    /// How answers are compared.
    #[serde(default)]
    mode: Mode,
    /// Compares an object, a list or a number with the JSON that a string holds.
    #[serde(default)]
    parse_json: bool,
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

/// How answers are compared.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// As JSON values.
    #[default]
    Strict,
    /// As texts in lower case, without ASCII punctuation, without `a`, `an` and `the`, with one space
    /// for any white space.
    Normalized,
    /// The same word by word: a hyphen parts words, a number keeps its point and is compared by value
    /// (`1.0` is `1`), and an expected answer of which nothing is left equals nothing.
    Words,
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
        let output = self.read(&case.output())?;
        let mut equals = false;
        let mut all = Vec::new();
        for part in accepted.parts() {
            let expected = self.read(part)?;
            equals = equals || self.same(&output, &expected);
            all.push(expected.value);
        }
        let whole = Answer { value: Value::Array(all), parsed: None };
        equals = equals || accepted.is_list() && self.same(&output, &whole);
        Ok(Score::pass(equals != self.negate).reason(reason(case, &accepted, equals)))
    }
}

/// An answer as it is compared.
struct Answer {
    value: Value,
    /// The object, list or number that the answer holds as a string.
    parsed: Option<Value>,
}

impl ExactMatch {
    fn read(&self, part: &Part<'_>) -> Result<Answer, ScoreError> {
        let value = part.value()?;
        let parsed = match &value {
            Value::String(text) if self.parse_json => serde_json::from_str(text).ok(),
            _ => None,
        };
        let counts = |value: &Value| is_structure(value) || value.is_number();
        let parsed = parsed.filter(counts).map(|value| self.normalize(value));
        // All modes but strict compare texts, so that `42` is the same as `"42"`.
        let value = if self.mode == Mode::Strict || is_structure(&value) {
            value
        } else {
            Value::String(part.text()?.into_owned())
        };
        Ok(Answer { value: self.normalize(value), parsed })
    }

    fn same(&self, output: &Answer, expected: &Answer) -> bool {
        if self.mode == Mode::Words && expected.value == "" {
            return false;
        }
        let holds = |string: &Answer, other: &Answer| {
            string.parsed.as_ref().is_some_and(|parsed| equal(parsed, &other.value))
        };
        equal(&output.value, &expected.value) || holds(output, expected) || holds(expected, output)
    }

    /// Applies mode and options to every string of a value.
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
        match self.mode {
            Mode::Normalized => return squad(&text),
            Mode::Words => return words(&text),
            Mode::Strict => {}
        }
        let text = if self.trim { text.trim_matches(is_space).to_owned() } else { text };
        if self.ignore_case { text.to_lowercase() } else { text }
    }
}

fn is_structure(value: &Value) -> bool {
    value.is_array() || value.is_object()
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
