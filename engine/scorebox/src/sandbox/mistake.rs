//! Describes what is wrong with one value of a configuration or of a schema. Who made the mistake is decided elsewhere.

use scorebox_config_keys::nearest;
use serde_json::Value;

use crate::advice::Advice;

use super::{ErrorKind, ScoreError, cut, place::Place};

/// The longest message about a configuration, which may contain long keys and texts, in bytes.
const MESSAGE_BYTES: usize = 4 << 10;
/// The most bytes of a value in a message.
const VALUE_BYTES: usize = 200;
/// The most expected values that a message lists.
const MAX_LISTED: usize = 20;
/// The longest word for which the closest one is searched, in bytes.
const WORD_BYTES: usize = 64;

/// A mistake.
#[derive(Debug, PartialEq)]
pub(super) struct Mistake {
    message: String,
    /// The closest valid name.
    meant: Option<String>,
    /// The top-level key that contains the mistake.
    key: Option<String>,
}

impl Mistake {
    /// A mistake at `place`.
    pub(super) fn new(place: &Place<'_>, message: &str) -> Mistake {
        let key = place.first().map(str::to_owned);
        Mistake { message: cut(message, MESSAGE_BYTES), meant: None, key }
    }

    pub(super) fn meaning(self, meant: Option<&str>) -> Mistake {
        Mistake { meant: meant.map(str::to_owned), ..self }
    }

    /// A value of the wrong type.
    pub(super) fn of_type(place: &Place<'_>, value: &Value, expected: &str) -> Mistake {
        let (at, found) = (at(place), found(value));
        Mistake::new(place, &format!("{at}: invalid type: {found}, expected {expected}"))
    }

    /// A value of the right type that is not allowed.
    pub(super) fn of_value(place: &Place<'_>, value: &Value, expected: &str) -> Mistake {
        let (at, found) = (at(place), found(value));
        Mistake::new(place, &format!("{at}: invalid value: {found}, expected {expected}"))
    }

    /// A text or a list that is too short or too long.
    pub(super) fn of_length(place: &Place<'_>, length: usize, expected: &str) -> Mistake {
        let at = at(place);
        Mistake::new(place, &format!("{at}: invalid length {length}, expected {expected}"))
    }

    /// A value whose schema is too large to be checked.
    pub(super) fn of_too_large_a_schema(place: &Place<'_>) -> Mistake {
        let at = at(place);
        Mistake::new(place, &format!("{at}: the schema has more to check than can be checked"))
    }

    /// A value that is not among the listed ones.
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

    /// The mistake as an error in a configuration.
    pub(super) fn of_config(self) -> ScoreError {
        let config_key = self.key.clone();
        ScoreError { config_key, ..self.error(ErrorKind::InvalidConfig, "") }
    }

    /// The mistake as an error of this kind, after `prefix`.
    pub(super) fn error(self, kind: ErrorKind, prefix: &str) -> ScoreError {
        let error = ScoreError::new(kind, format!("{prefix}{}", self.message));
        match self.meant {
            Some(meant) => error.with(Advice::DidYouMean(vec![meant])),
            None => error,
        }
    }
}

/// The place that a message begins with.
fn at(place: &Place<'_>) -> String {
    match place {
        Place::Whole => "the whole".to_owned(),
        place => format!("`{place}`"),
    }
}

/// A value of a schema, as messages list it.
fn shown(value: &Value) -> String {
    cut(&value.to_string(), VALUE_BYTES)
}

/// The type and the value, as messages name them.
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
