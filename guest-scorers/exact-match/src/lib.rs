//! exact-match: 1 if the output equals the expected answer, else 0. It judges equality only; for
//! similarity see levenshtein, for numbers in prose numeric-answer and match.
//!
//! `mode: normalized` is the exact match of SQuAD (Rajpurkar et al. 2016, arXiv:1606.05250), `mode: words`
//! that of DROP (Dua et al. 2019, arXiv:1903.00161), which Inspect's `exact` uses.

mod normal;

use normal::words;
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Part, Score, ScoreError, Scorer, equal, excerpt, schemars,
};
use scorebox_sdk_texts::normal::squad;
use scorebox_sdk_texts::python::is_space;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Scores 1 if the output equals the expected answer, else 0.
///
/// With `mode: strict`, equality is deep JSON equality: numbers by value (`1` equals `1.0`),
/// strings code point by code point, objects regardless of the order of their keys. A string never
/// equals the value that its content would parse to, unless `parseJson` is set. The other modes
/// compare texts after removing what does not matter in an answer. The expected answer is the
/// case's ground truth or the configured `value`; if there are several, any one will do, and a list
/// output may also equal the whole ground-truth list. A ground truth of `null` counts as absent: if
/// `null` is right, list it in `values`.
///
/// `normalized` equals SQuAD's exact match. `words` equals Inspect's `exact`, except for
/// expected answers of nothing but articles and punctuation, which nothing equals there: here, each equals itself
/// alone. `strict` with `parseJson` equals autoevals'
/// `ExactMatch`, except that the order of keys never matters, that a number equals a string by
/// value (`1` equals `"1.0"`), that booleans and `null` equal no string, and that any one item of a
/// ground-truth list will do (autoevals compares with the whole list).
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// How answers are compared.
    #[serde(default)]
    mode: Mode,
    /// Compares an object, a list or a number with the JSON that a string holds.
    #[serde(default)]
    parse_json: bool,
    /// Ignores upper and lower case in strings (not in the keys of objects).
    #[serde(default)]
    ignore_case: bool,
    /// Ignores white space around strings.
    #[serde(default)]
    trim: bool,
    #[serde(default)]
    negate: Negate,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

/// How answers are compared.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// As JSON values.
    #[default]
    Strict,
    /// As lower-case texts without ASCII punctuation and without `a`, `an` and `the`, with every
    /// run of white space as one space.
    Normalized,
    /// The same word by word: a hyphen separates words, and a number keeps its decimal point and is
    /// compared by value (`1.0` is `1`). An answer of nothing but articles and punctuation (`A`,
    /// `+`) is compared as it is, without case and the white space around it; an empty expected
    /// answer equals no output.
    Words,
}

/// The scorer, made from its [`Config`].
pub struct ExactMatch {
    mode: Mode,
    parse_json: bool,
    ignore_case: bool,
    trim: bool,
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for ExactMatch {
    type Config = Config;

    const INFO: Info = Info::new("exact-match", "Exact Match", env!("CARGO_PKG_VERSION"))
        .reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { mode, parse_json, ignore_case, trim, negate, value, values } = config;
        Ok(Self {
            mode,
            parse_json,
            ignore_case,
            trim,
            negate,
            accepted: Accepted::configured(value, values)?,
        })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let output = self.read(&case.output())?;
        let mut equals = false;
        let mut all = Vec::new();
        for part in accepted.parts() {
            let expected = self.read(part)?;
            equals = equals || self.same(&output, &expected);
            if accepted.is_list() {
                all.push(expected.value);
            }
        }
        if accepted.is_list() {
            let whole = Answer { value: Value::Array(all), parsed: None };
            equals = equals || self.same(&output, &whole);
        }
        Ok(self.negate.pass(equals).reason(reason(case, &accepted, equals)))
    }
}

/// An answer, prepared for comparison.
struct Answer {
    value: Value,
    /// The object, list or number that the answer contains as text.
    parsed: Option<Value>,
}

impl ExactMatch {
    fn read(&self, part: &Part<'_>) -> Result<Answer, ScoreError> {
        let value = part.value()?;
        let parsed = match &value {
            // Read like a part of a case, because that code is in the component anyway.
            Value::String(text) if self.parse_json => {
                Part::new(part.name(), text.as_str()).value().ok()
            }
            _ => None,
        };
        let counts = |value: &Value| is_structure(value) || value.is_number();
        let parsed = parsed.filter(counts).map(|value| self.normalize(value));
        // All modes except strict compare texts, so that `42` is the same as `"42"`.
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
        if self.mode == Mode::Strict && !self.trim && !self.ignore_case {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.normalize_text(text)),
            Value::Array(items) => {
                Value::Array(items.into_iter().map(|item| self.normalize(item)).collect())
            }
            Value::Object(mut members) => {
                for member in members.values_mut() {
                    *member = self.normalize(member.take());
                }
                Value::Object(members)
            }
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
    // Built without the formatting machinery, which would take longer than comparing.
    if equals {
        return [&output, " equals the expected answer"].concat();
    }
    match accepted.parts() {
        [one] => [&output, " does not equal ", &one.excerpt()].concat(),
        many => {
            let list: Vec<_> = many.iter().map(|part| part.json()).collect();
            let list = list.join(", ");
            [&output, " equals none of ", &excerpt(&list, 80)].concat()
        }
    }
}

scorebox_sdk::export!(ExactMatch);

#[cfg(test)]
mod tests;
