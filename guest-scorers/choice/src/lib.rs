//! choice: 1 if the choices that a model marks after `ANSWER:` are exactly the right ones, else 0. It gives no partial
//! credit, and does not read the texts of the choices.
//!
//! The marks are read as `multiple_choice` of Inspect 0.3.285 reads them, and compared as its `choice`
//! does.

mod marks;

use std::borrow::Cow;
use std::collections::BTreeSet;

use marks::marks;
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Score, ScoreError, Scorer, excerpt, schemars,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Scores 1 if the choices marked after `ANSWER:` are exactly the right ones, else 0.
///
/// Choices are named A to Z, and 1, 2, 3 … from the 27th on. `ANSWER: A, C`, `ANSWER: AC`, `ANSWER: A and C` and
/// `**ANSWER**: (A), (C)` are understood, in any case; the last line that begins with `ANSWER:` and has nothing else on
/// it counts, or else the last `ANSWER:`. If there is none, or a choice does not exist, nothing is marked. The right
/// choices are the case's ground truth or the configured `value` or `values`, all of them together: `AC`, `A, C` or a
/// list. An empty text means that nothing should be marked.
///
/// Equals Inspect's `choice` after `multiple_choice`, for multiple answers and for a single answer
/// whose target is one letter. Deliberate differences: `ANSWERS:` is understood too, and a repeated
/// letter counts once.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The choices, or how many there are.
    #[serde(default)]
    choices: Choices,
    #[serde(default)]
    negate: Negate,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

/// The choices.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "should be a list of choices, or how many there are")]
enum Choices {
    /// How many there are.
    Count(usize),
    /// Their texts, in order; only their number matters.
    List(Vec<Value>),
}

impl Default for Choices {
    fn default() -> Self {
        Choices::Count(26)
    }
}

/// The scorer, made from its [`Config`].
pub struct Choice {
    /// How many choices there are.
    count: usize,
    /// The indices of the right choices, if they are configured.
    right: Option<BTreeSet<usize>>,
    negate: Negate,
}

impl Scorer for Choice {
    type Config = Config;

    const INFO: Info =
        Info::new("choice", "Choice", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { choices, negate, value, values } = config;
        let count = match choices {
            Choices::Count(count) => count,
            Choices::List(list) => list.len(),
        };
        if count == 0 {
            return Err(ConfigError::new("choices", "should be at least one, found none"));
        }
        let right = match Accepted::configured(value, values)? {
            Some(accepted) => Some(
                right(&accepted, count)
                    .map_err(|(name, message)| ConfigError::new(name, message))?,
            ),
            None => None,
        };
        Ok(Self { count, right, negate })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let right = match &self.right {
            Some(right) => Cow::Borrowed(right),
            None => {
                Cow::Owned(right(&*Accepted::or_ground_truth(&None, case)?, self.count).map_err(
                    |(name, message)| ScoreError::invalid_input(format!("`{name}` {message}")),
                )?)
            }
        };
        let output = case.output();
        let marked = marks(&output.text()?, self.count);
        let (marked_names, right_names) = (names(&marked), names(&right));
        let reason = match (marked.is_empty(), marked == *right) {
            (false, true) => format!("marked {marked_names}"),
            (false, false) => format!("marked {marked_names}, right is {right_names}"),
            (true, true) => "nothing is marked, and nothing should be".to_owned(),
            (true, false) => {
                format!("no choice found after `ANSWER:`; right is {right_names}")
            }
        };
        let score = self
            .negate
            .pass(marked == *right)
            .reason(reason)
            .meta(json!({ "marked": list(&marked), "right": list(&right) }));
        // The excerpt keeps the label short.
        let label = excerpt(&marked_names, 50);
        Ok(if marked.is_empty() { score } else { score.label(label) })
    }
}

/// The indices of the right choices; an error names the part, and says what is wrong with it.
fn right(accepted: &Accepted<'_>, count: usize) -> Result<BTreeSet<usize>, (String, String)> {
    let mut right = BTreeSet::new();
    for part in accepted.parts() {
        let places = part.text().ok().and_then(|text| named(&text, count));
        right.extend(places.ok_or_else(|| {
            let last = name(count - 1);
            let found = part.excerpt();
            let message = format!("should name choices from A to {last}, found {found}");
            (part.name().to_owned(), message)
        })?);
    }
    Ok(right)
}

/// The indices of the choices that a text names: one for a number, else one for each character.
fn named(text: &str, count: usize) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    for token in text.split(|c: char| c == ',' || c.is_whitespace()) {
        if token.bytes().all(|byte| byte.is_ascii_digit()) && !token.is_empty() {
            places.push(place(token)?);
        } else {
            for c in token.chars() {
                places.push(place(c.encode_utf8(&mut [0; 4]))?);
            }
        }
    }
    places.iter().all(|place| *place < count).then_some(places)
}

/// The index of a choice, by its name.
fn place(name: &str) -> Option<usize> {
    match name.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => {
            Some(usize::from(letter.to_ascii_uppercase() - b'A'))
        }
        _ => name.parse().ok().filter(|number: &usize| *number > 0)?.checked_add(25),
    }
}

/// The name of a choice, by its index.
fn name(place: usize) -> String {
    match u8::try_from(place) {
        Ok(place) if place < 26 => char::from(b'A' + place).to_string(),
        _ => (place - 25).to_string(),
    }
}

fn list(places: &BTreeSet<usize>) -> Vec<String> {
    places.iter().map(|place| name(*place)).collect()
}

fn names(places: &BTreeSet<usize>) -> String {
    if places.is_empty() { "none".to_owned() } else { list(places).join(", ") }
}

scorebox_sdk::export!(Choice);

#[cfg(test)]
mod tests;
