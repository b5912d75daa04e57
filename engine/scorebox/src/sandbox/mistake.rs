//! What is wrong with one value of a configuration or of a schema, in words, before it is said whose fault that is.

use scorebox_config_keys::nearest;
use serde_json::Value;

use crate::advice::Advice;

use super::{ErrorKind, ScoreError, cut, place::Place};

/// Bytes of an error of a configuration, which may have long keys and texts.
const MESSAGE_BYTES: usize = 4 << 10;
/// Bytes of a value in an error.
const VALUE_BYTES: usize = 200;
/// Values that are expected and listed in an error.
const MAX_LISTED: usize = 20;
/// Bytes of a word for which the closest one is looked for.
const WORD_BYTES: usize = 64;

/// Something that is wrong.
#[derive(Debug, PartialEq)]
pub(super) struct Mistake {
    message: String,
    /// What was probably meant.
    meant: Option<String>,
    /// The key of the whole that it is in.
    key: Option<String>,
}

impl Mistake {
    /// What is wrong at `place`.
    pub(super) fn new(place: &Place<'_>, message: &str) -> Mistake {
        let key = place.first().map(str::to_owned);
        Mistake { message: cut(message, MESSAGE_BYTES), meant: None, key }
    }

    pub(super) fn meaning(self, meant: Option<&str>) -> Mistake {
        Mistake { meant: meant.map(str::to_owned), ..self }
    }

    /// A value of another type than is expected.
    pub(super) fn of_type(place: &Place<'_>, value: &Value, expected: &str) -> Mistake {
        let (at, found) = (at(place), found(value));
        Mistake::new(place, &format!("{at}: invalid type: {found}, expected {expected}"))
    }

    /// A value of a type that is right, but another than is expected.
    pub(super) fn of_value(place: &Place<'_>, value: &Value, expected: &str) -> Mistake {
        let (at, found) = (at(place), found(value));
        Mistake::new(place, &format!("{at}: invalid value: {found}, expected {expected}"))
    }

    /// A text or a list that is too short or too long.
    pub(super) fn of_length(place: &Place<'_>, length: usize, expected: &str) -> Mistake {
        let at = at(place);
        Mistake::new(place, &format!("{at}: invalid length {length}, expected {expected}"))
    }

    /// A value whose schema takes more looking at than can be done.
    pub(super) fn of_too_large_a_schema(place: &Place<'_>) -> Mistake {
        let at = at(place);
        Mistake::new(place, &format!("{at}: the schema has more to check than can be checked"))
    }

    /// A value that is not among those that are listed.
    pub(super) fn not_listed(place: &Place<'_>, value: &Value, listed: &[Value]) -> Mistake {
        let shown = listed.iter().take(MAX_LISTED).map(shown).collect::<Vec<_>>().join(", ");
        let expected = match listed.len() {
            1 => shown,
            ..=MAX_LISTED => format!("one of {shown}"),
            all => format!("one of {shown} and {} more", all - MAX_LISTED),
        };
        let word = value.as_str().filter(|word| word.len() <= WORD_BYTES);
        let meant = word.and_then(|word| nearest(word, listed.iter().filter_map(Value::as_str)));
        Mistake::of_value(place, value, &expected).meaning(meant)
    }

    /// As an error of a configuration.
    pub(super) fn of_config(self) -> ScoreError {
        let config_key = self.key.clone();
        ScoreError { config_key, ..self.error(ErrorKind::InvalidConfig, "") }
    }

    /// As an error of that kind, after `prefix`.
    pub(super) fn error(self, kind: ErrorKind, prefix: &str) -> ScoreError {
        let error = ScoreError::new(kind, format!("{prefix}{}", self.message));
        match self.meant {
            Some(meant) => error.with(Advice::DidYouMean(vec![meant])),
            None => error,
        }
    }
}

/// The key that errors begin with.
fn at(place: &Place<'_>) -> String {
    match place {
        Place::Whole => "the whole".to_owned(),
        place => format!("`{place}`"),
    }
}

/// A value of a schema, as errors list it.
fn shown(value: &Value) -> String {
    cut(&value.to_string(), VALUE_BYTES)
}

/// What a value is, as errors say it.
fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("boolean `{value}`"),
        Value::Number(number) if number.is_f64() => format!("number `{number}`"),
        Value::Number(number) => format!("integer `{number}`"),
        Value::String(text) => format!("string {:?}", cut(text, VALUE_BYTES)),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    }
}
