//! What a label is: a number or a word at a position in a case, or the score of another scorer; and which labels are
//! positive. It compares no label with a score.

use std::collections::HashMap;

use serde::Serialize;

use crate::{
    case::{Key, Pointer},
    row::{Json, Status},
    store::{LabelledCase, LabelledRow},
    verdict::Policy,
};

/// Where labels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum With<'a> {
    /// At this JSON Pointer in the metadata of the cases, among the keys that scorebox does not know, or in the ground
    /// truth: for all cases in the part in which most have a label, the first of equals.
    Label(&'a str),
    /// The scores of another scorer of the run.
    Scorer(&'a str),
}

/// The part of a case that has the labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LabelPlace {
    /// The metadata.
    Metadata,
    /// The keys that scorebox does not know.
    UnknownKeys,
    /// The ground truth.
    GroundTruth,
}

/// Which labels are positive, that is, of a case that should pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Positive<'a> {
    /// `true`, if labels are `true` and `false`. The better one, if all labels are one of two numbers: the higher, or
    /// the lower if lower scores are better. For another scorer's scores, if it has a threshold, the passing ones.
    #[default]
    Better,
    /// These: words, or numbers as text.
    These(&'a [String]),
    /// Numbers from this one on.
    From(f64),
    /// Numbers up to this one.
    To(f64),
}

/// Why a label is positive.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "rule", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum PositiveRule {
    /// It is this number, the better one of two.
    BetterOfTwo {
        /// The number.
        number: f64,
        /// Whether it is the lower one, because lower scores are better.
        lower_is_better: bool,
    },
    /// It is `true`, or 1 among labels that are `true` and `false`.
    True,
    /// It is another scorer's score, and passes.
    Passing,
    /// It is one of these, which were requested.
    Named {
        /// The labels.
        labels: Vec<String>,
    },
    /// It is at least this number.
    AtLeast {
        /// The number.
        number: f64,
    },
    /// It is at most this number.
    AtMost {
        /// The number.
        number: f64,
    },
}

/// A number or a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    /// The index of the word among all words.
    Word(usize),
}

/// Words, each once, with a number for each.
#[derive(Debug, Default)]
pub(super) struct Words {
    indices: HashMap<String, usize>,
    words: Vec<String>,
}

/// How many different words there can be; if there are more, a label or a group is free text.
const MAX_WORDS: usize = 10_000;
/// The maximum length of a word in bytes.
const MAX_BYTES: usize = 256;
/// The maximum length of a list of labels in bytes.
const MAX_LIST_BYTES: usize = 64 << 10;

/// Words are slips among numbers if at most one in this many values is a word.
const ONE_SLIP_IN: usize = 4;

/// JSON's value for nothing.
const NULL: &str = "null";

impl Words {
    /// Whether values are numbers, or words that read as numbers: all except a few slips.
    pub(super) fn are_numbers(&self, values: impl Iterator<Item = Value>) -> bool {
        let (mut all, mut slips) = (0, 0);
        for value in values {
            all += 1;
            slips += usize::from(self.number(value).is_none());
        }
        slips < all && slips * ONE_SLIP_IN <= all
    }

    /// The number that a value is or reads as: in formats like CSV, where everything is text, numbers are too.
    pub(super) fn number(&self, value: Value) -> Option<f64> {
        match value {
            Value::Number(number) => Some(number),
            Value::Word(index) => number_in(self.word(index)),
        }
    }

    /// The index of a word; `None` if it is too long, or if there are too many words.
    pub(super) fn index(&mut self, word: &str) -> Option<usize> {
        if let Some(index) = self.indices.get(word) {
            return Some(*index);
        }
        if word.len() > MAX_BYTES || self.words.len() >= MAX_WORDS {
            return None;
        }
        self.indices.insert(word.to_owned(), self.words.len());
        self.words.push(word.to_owned());
        Some(self.words.len() - 1)
    }

    pub(super) fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }
}

/// The number that a text reads as; `true` and `false` are 1 and 0.
pub(super) fn number_in(text: &str) -> Option<f64> {
    if let Some(truth) = truth_in(text) {
        return Some(f64::from(u8::from(truth)));
    }
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Whether a text is `true` or `false`.
pub(super) fn is_truth(text: &str) -> bool {
    truth_in(text).is_some()
}

fn truth_in(text: &str) -> Option<bool> {
    let is = |word| text.trim().eq_ignore_ascii_case(word);
    if is("true") { Some(true) } else { is("false").then_some(false) }
}

/// The result of looking for a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Found {
    /// A number (`true` and `false` are 1 and 0), or a word.
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

/// The same; for a list, the value of each item.
pub(super) fn all_at(pointer: &Pointer, case: &LabelledCase, words: &mut Words) -> Vec<Found> {
    let Some(raw) = raw_at(pointer, case) else { return Vec::new() };
    if !raw.starts_with('[') {
        return vec![read(raw, words)];
    }
    if raw.len() > MAX_LIST_BYTES {
        return vec![Found::Unreadable];
    }
    let items = serde_json::from_str::<Vec<serde_json::Value>>(raw).unwrap_or_default();
    items.iter().map(|item| read(&item.to_string(), words)).collect()
}

fn raw_at<'c>(pointer: &Pointer, case: &'c LabelledCase) -> Option<&'c str> {
    LOOKUPS.iter().find_map(|lookup| lookup.raw(pointer, case))
}

/// The lookups for a pointer, in their order of priority.
pub(super) const LOOKUPS: [Lookup; 5] = [
    Lookup { place: LabelPlace::Metadata, below: None },
    Lookup { place: LabelPlace::UnknownKeys, below: None },
    Lookup { place: LabelPlace::GroundTruth, below: None },
    Lookup { place: LabelPlace::GroundTruth, below: Some(Key::GroundTruth) },
    Lookup { place: LabelPlace::Metadata, below: Some(Key::Metadata) },
];

/// A way to follow a pointer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookup {
    pub(super) place: LabelPlace,
    /// The key at the beginning of the pointer, if the pointer also names the part of the case: `/groundTruth/score`,
    /// `/metadata/label`.
    below: Option<Key>,
}

impl Lookup {
    /// The JSON of the value.
    pub(super) fn raw<'c>(self, pointer: &Pointer, case: &'c LabelledCase) -> Option<&'c str> {
        let json = match self.place {
            LabelPlace::Metadata => &case.metadata,
            LabelPlace::UnknownKeys => &case.other_keys,
            LabelPlace::GroundTruth => &case.ground_truth,
        };
        let json = json.as_ref()?.get();
        let found = match self.below {
            None => pointer.find(json).ok().flatten(),
            Some(key) => pointer.find_in(key, json).ok().flatten(),
        };
        found.map(str::trim)
    }

    /// Whether it finds a value, even one that cannot be read.
    pub(super) fn finds(self, pointer: &Pointer, case: &LabelledCase) -> bool {
        self.raw(pointer, case).is_some_and(|raw| raw != NULL)
    }

    /// Whether it finds a number or a word.
    pub(super) fn finds_readable(self, pointer: &Pointer, case: &LabelledCase) -> bool {
        let read = |raw| read(raw, &mut Words::default());
        matches!(self.raw(pointer, case).map(read), Some(Found::Value(_)))
    }
}

/// The kind of a JSON value that cannot be read.
pub(super) fn what_is(raw: &str) -> &'static str {
    match raw.bytes().next() {
        Some(b'[') => "a list",
        Some(b'{') => "an object",
        Some(b'"') if raw.len() > MAX_BYTES => "a text of more than 256 bytes",
        Some(b'"') => "one text too many",
        _ => "a number that is too large",
    }
}

/// The value of a label's JSON.
pub(super) fn read(raw: &str, words: &mut Words) -> Found {
    match raw {
        NULL => Found::Nothing,
        "true" => Found::Value(Value::Number(1.0)),
        "false" => Found::Value(Value::Number(0.0)),
        // Escapes make a word at most six times as long.
        raw if raw.starts_with('"') && raw.len() <= 6 * MAX_BYTES + 2 => {
            let word = serde_json::from_str::<String>(raw).ok();
            word.and_then(|word| words.index(&word))
                .map_or(Found::Unreadable, |index| Found::Value(Value::Word(index)))
        }
        raw => match serde_json::from_str::<f64>(raw) {
            Ok(number) if number.is_finite() => Found::Value(Value::Number(number)),
            _ => Found::Unreadable,
        },
    }
}

/// The score of a row that is scored.
pub(super) fn score(row: Option<&LabelledRow>) -> Option<f64> {
    let row = row.filter(|row| row.status == Status::Scored)?;
    row.score.filter(|score| score.is_finite())
}

/// The names of keys that may have labels, for a caller who asked for one that does not exist.
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

impl PositiveRule {
    /// Whether a label is positive; `other` is the scorer whose scores the labels are. `None` if that is not known.
    pub(super) fn is(&self, label: Value, other: Option<Policy>, words: &Words) -> Option<bool> {
        match (self, label) {
            (PositiveRule::BetterOfTwo { number: better, .. }, Value::Number(number)) => {
                Some(number == *better)
            }
            (PositiveRule::True, Value::Number(number)) => Some(number == 1.0),
            (PositiveRule::Passing, Value::Number(score)) => other?.passes(score),
            (PositiveRule::AtLeast { number: least }, Value::Number(number)) => {
                Some(number >= *least)
            }
            (PositiveRule::AtMost { number: most }, Value::Number(number)) => Some(number <= *most),
            (PositiveRule::Named { labels }, Value::Word(index)) => {
                Some(labels.iter().any(|it| it == words.word(index)))
            }
            (PositiveRule::Named { labels }, Value::Number(number)) => {
                Some(labels.iter().any(|it| number_in(it) == Some(number)))
            }
            (_, Value::Word(_)) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These texts as numbers, if they are numbers.
    fn read_as_numbers(texts: &[&str]) -> Option<Vec<Option<f64>>> {
        let mut words = Words::default();
        let values: Vec<Value> =
            texts.iter().map(|text| Value::Word(words.index(text).unwrap())).collect();
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
