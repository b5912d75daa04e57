//! What a label is: a number or a word at a place in what a case says about itself, or the score of another scorer; and which
//! labels are positive. Compares none with a score.

use std::collections::HashMap;

use serde::Serialize;

use crate::{
    case::{Key, Pointer},
    row::{Json, Status},
    store::{LabelledCase, LabelledRow},
};

/// Where labels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum With<'a> {
    /// At this JSON Pointer in the metadata of a case, or else among the keys of the case that scorebox does not know, or else in its
    /// ground truth.
    Label(&'a str),
    /// The scores of another scorer of the run.
    Scorer(&'a str),
}

/// Which labels are positive: of a case that should pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Positive<'a> {
    /// The higher one, if all labels are one of two numbers; for another scorer's scores, if it has a threshold, those that pass.
    #[default]
    Higher,
    /// These: words, or numbers as text.
    These(&'a [String]),
    /// Numbers from this one on.
    From(f64),
}

/// A number or a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    /// The place of the word among all words.
    Word(usize),
}

/// Words, each once, with a number for each.
#[derive(Debug, Default)]
pub(super) struct Words {
    places: HashMap<String, usize>,
    words: Vec<String>,
}

/// How many different words there can be; a label or a group that is one of more is free text.
const MOST_WORDS: usize = 10_000;
/// Bytes of a word.
const MOST_BYTES: usize = 256;
/// Bytes of a list of labels.
const MOST_LIST_BYTES: usize = 64 << 10;

/// Words are slips among numbers if at most one of so many values is a word.
const ONE_SLIP_IN: usize = 4;

impl Words {
    /// Whether values are numbers, or words that read as such: all, but for a few slips.
    pub(super) fn are_numbers(&self, values: impl Iterator<Item = Value>) -> bool {
        let (mut all, mut slips) = (0, 0);
        for value in values {
            all += 1;
            slips += usize::from(self.number(value).is_none());
        }
        slips < all && slips * ONE_SLIP_IN <= all
    }

    /// The number that a value is or reads as: where everything is text, as in CSV, numbers are too.
    pub(super) fn number(&self, value: Value) -> Option<f64> {
        match value {
            Value::Number(number) => Some(number),
            Value::Word(place) => number_in(self.word(place)),
        }
    }

    /// The place of a word; `None` if it is too long, or one too many.
    pub(super) fn place(&mut self, word: &str) -> Option<usize> {
        if let Some(place) = self.places.get(word) {
            return Some(*place);
        }
        if word.len() > MOST_BYTES || self.words.len() >= MOST_WORDS {
            return None;
        }
        self.places.insert(word.to_owned(), self.words.len());
        self.words.push(word.to_owned());
        Some(self.words.len() - 1)
    }

    pub(super) fn word(&self, place: usize) -> &str {
        self.words.get(place).map_or("", String::as_str)
    }
}

/// The number that a text reads as, `true` and `false` being 1 and 0.
pub(super) fn number_in(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("true") {
        return Some(1.0);
    }
    if text.eq_ignore_ascii_case("false") {
        return Some(0.0);
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// What was found where a value should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Found {
    /// A number, `true` and `false` being 1 and 0, or a word.
    Value(Value),
    /// Nothing, or `null`.
    Nothing,
    /// A list, an object, a long text, or too many different words.
    Unreadable,
}

/// The value at `pointer` in the metadata of a case, or else among its unknown keys, or else in its ground truth.
pub(super) fn at(pointer: &Pointer, case: &LabelledCase, words: &mut Words) -> Found {
    raw_at(pointer, case).map_or(Found::Nothing, |raw| read(raw, words))
}

/// The same; of a list, the value of each item.
pub(super) fn all_at(pointer: &Pointer, case: &LabelledCase, words: &mut Words) -> Vec<Found> {
    let Some(raw) = raw_at(pointer, case) else { return Vec::new() };
    if !raw.starts_with('[') {
        return vec![read(raw, words)];
    }
    if raw.len() > MOST_LIST_BYTES {
        return vec![Found::Unreadable];
    }
    let items = serde_json::from_str::<Vec<serde_json::Value>>(raw).unwrap_or_default();
    items.iter().map(|item| read(&item.to_string(), words)).collect()
}

fn raw_at<'c>(pointer: &Pointer, case: &'c LabelledCase) -> Option<&'c str> {
    let places = [&case.metadata, &case.other_keys, &case.ground_truth];
    let raw = places.into_iter().find_map(|json| within(pointer, json.as_ref()));
    raw.or_else(|| below_its_key(pointer, case)).map(str::trim)
}

/// The value at a pointer that names the part of the case too: `/groundTruth/score`, `/metadata/label`.
fn below_its_key<'c>(pointer: &Pointer, case: &'c LabelledCase) -> Option<&'c str> {
    let parts = [(Key::GroundTruth, &case.ground_truth), (Key::Metadata, &case.metadata)];
    parts.into_iter().find_map(|(key, json)| {
        let json = json.as_ref()?;
        pointer.find_in(key, json.get()).ok().flatten()
    })
}

fn read(raw: &str, words: &mut Words) -> Found {
    match raw {
        "null" => Found::Nothing,
        "true" => Found::Value(Value::Number(1.0)),
        "false" => Found::Value(Value::Number(0.0)),
        // Escapes make a word at most six times as long as it is.
        raw if raw.starts_with('"') && raw.len() <= 6 * MOST_BYTES + 2 => {
            let word = serde_json::from_str::<String>(raw).ok();
            word.and_then(|word| words.place(&word))
                .map_or(Found::Unreadable, |place| Found::Value(Value::Word(place)))
        }
        raw => match serde_json::from_str::<f64>(raw) {
            Ok(number) if number.is_finite() => Found::Value(Value::Number(number)),
            _ => Found::Unreadable,
        },
    }
}

fn within<'j>(pointer: &Pointer, json: Option<&'j Json>) -> Option<&'j str> {
    pointer.find(json?.get()).ok().flatten()
}

/// The score of a row that is scored.
pub(super) fn score(row: Option<&LabelledRow>) -> Option<f64> {
    let row = row.filter(|row| row.status == Status::Scored)?;
    row.score.filter(|score| score.is_finite())
}

/// The names of what labels may be at, for a caller who asked for one that is not there.
pub(super) fn keys_of(case: &LabelledCase) -> Vec<String> {
    const MOST: usize = 20;
    let keys = |json: &Option<Json>| {
        let json = json.as_ref().filter(|json| json.get().len() < 1 << 20)?;
        let object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(json.get()).ok()?;
        Some(object.into_iter().map(|(key, _)| key).take(MOST).collect::<Vec<_>>())
    };
    let mut found = keys(&case.metadata).unwrap_or_default();
    found.extend(keys(&case.other_keys).unwrap_or_default());
    let of_ground_truth = keys(&case.ground_truth)
        .or(case.ground_truth.as_ref().map(|_| vec!["groundTruth".to_owned()]));
    found.extend(of_ground_truth.unwrap_or_default());
    found.truncate(MOST);
    found
}

impl Positive<'_> {
    /// Whether a label is positive. `higher` is the higher one of two numbers, if there are two. `None` if that is not known.
    pub(super) fn is(self, label: Value, higher: Option<f64>, words: &Words) -> Option<bool> {
        match (self, label) {
            (Positive::Higher, Value::Number(number)) => higher.map(|higher| number >= higher),
            (Positive::From(least), Value::Number(number)) => Some(number >= least),
            (Positive::These(these), Value::Word(place)) => {
                Some(these.iter().any(|it| it == words.word(place)))
            }
            (Positive::These(these), Value::Number(number)) => {
                Some(these.iter().any(|it| number_in(it) == Some(number)))
            }
            (Positive::Higher | Positive::From(_), Value::Word(_)) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether these texts are numbers, and which.
    fn read_as_numbers(texts: &[&str]) -> Option<Vec<Option<f64>>> {
        let mut words = Words::default();
        let values: Vec<Value> =
            texts.iter().map(|text| Value::Word(words.place(text).unwrap())).collect();
        let are_numbers = words.are_numbers(values.iter().copied());
        are_numbers.then(|| values.iter().map(|value| words.number(*value)).collect())
    }

    #[test]
    fn texts_that_read_as_numbers_are_numbers() {
        let found = read_as_numbers(&["1", " 0.50", "-2e1", "true", "False"]);
        let numbers = [1.0, 0.5, -20.0, 1.0, 0.0];
        assert_eq!(found, Some(numbers.map(Some).to_vec()));
        for words in [&["good", "bad"][..], &["NaN", "inf"], &["1e999"], &[""], &[]] {
            assert_eq!(read_as_numbers(words), None, "{words:?}");
        }
    }

    #[test]
    fn a_word_among_numbers_is_a_slip_if_at_most_one_in_four_is() {
        let found = read_as_numbers(&["1", "2", "n/a", "3"]);
        assert_eq!(found, Some(vec![Some(1.0), Some(2.0), None, Some(3.0)]));
        assert_eq!(read_as_numbers(&["1", "2", "n/a"]), None);
    }
}
