//! Writes a case as the line that `scorebox::case` reads, with its origin. It leaves checks to the case reader.

use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};

use crate::format::Format;

/// The most bytes of one record and of its line: 64 MiB, as for a line of cases.
pub(crate) const MAX_RECORD_BYTES: usize = 64 << 20;

/// The metadata key of a case that contains its origin.
pub(crate) const ORIGIN: &str = "origin";

/// A value of a case: built, or copied as it was written.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Part {
    Value(Value),
    Raw(Box<RawValue>),
}

impl From<Value> for Part {
    fn from(value: Value) -> Part {
        Part::Value(value)
    }
}

impl From<String> for Part {
    fn from(text: String) -> Part {
        Part::Value(text.into())
    }
}

impl From<Box<RawValue>> for Part {
    fn from(raw: Box<RawValue>) -> Part {
        Part::Raw(on_one_line(raw))
    }
}

/// The same value on one line, without white space between its parts.
pub(crate) fn on_one_line(raw: Box<RawValue>) -> Box<RawValue> {
    if !raw.get().contains(['\n', '\r']) {
        return raw;
    }
    let (mut in_text, mut escaped) = (false, false);
    let kept = raw.get().chars().filter(|character| {
        match (in_text, *character) {
            (true, _) if escaped => escaped = false,
            (true, '\\') => escaped = true,
            (_, '"') => in_text = !in_text,
            (false, ' ' | '\t' | '\n' | '\r') => return false,
            _ => {}
        }
        true
    });
    // JSON without the white space between its parts is still JSON.
    RawValue::from_string(kept.collect()).unwrap_or(raw)
}

/// A case.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<String>,
    #[serde(skip_serializing_if = "is_zero")]
    pub attempt: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Part>,
    /// `null` if the task produced nothing.
    pub output: Option<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ground_truth: Option<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub metadata: Map<String, Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Record {
    /// A case with this id and this origin.
    pub(crate) fn new(id: String, origin: Origin) -> Record {
        Record {
            id,
            node_id: None,
            attempt: 0,
            input: None,
            output: None,
            ground_truth: None,
            trace: None,
            usage: None,
            latency_ms: None,
            error: None,
            metadata: Map::from_iter([(ORIGIN.to_owned(), Value::Object(origin.0))]),
        }
    }

    /// Adds the record's own metadata; the case's own origin stays.
    pub(crate) fn with_metadata(mut self, members: Map<String, Value>) -> Record {
        self.metadata.extend(members);
        self
    }
}

/// The origin of a case: `metadata.origin`.
#[derive(Clone, Debug)]
pub(crate) struct Origin(pub(crate) Map<String, Value>);

impl Origin {
    /// The record at this position in the file, from 1.
    pub(crate) fn new(format: Format, file: &str, record: u64) -> Origin {
        let members: [(String, Value); 3] = [
            ("format".to_owned(), format.name().into()),
            ("file".to_owned(), file.into()),
            ("record".to_owned(), record.into()),
        ];
        Origin(Map::from_iter(members))
    }

    /// The same with another member, unless its value is empty.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Origin {
        let value = value.into();
        let says_nothing = match &value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        if !says_nothing {
            self.0.insert(key.to_owned(), value);
        }
        self
    }
}

/// `{"inputTokens": …, "outputTokens": …, "totalTokens": …, "costUsd": …}` with what is known; `None` if nothing is.
pub(crate) fn usage(
    input: Option<u64>,
    output: Option<u64>,
    total: Option<u64>,
    cost: Option<f64>,
) -> Option<Value> {
    let mut usage = Map::new();
    let tokens = [("inputTokens", input), ("outputTokens", output), ("totalTokens", total)];
    usage.extend(tokens.into_iter().filter_map(|(key, it)| Some((key.to_owned(), it?.into()))));
    usage.extend(cost.map(|cost| ("costUsd".to_owned(), cost.into())));
    (!usage.is_empty()).then_some(Value::Object(usage))
}

/// Replaces a list that has one element by the element.
pub(crate) fn single(value: Value) -> Value {
    match value {
        Value::Array(mut items) if items.len() == 1 => items.remove(0),
        other => other,
    }
}

/// Why a case has no answer, if its log contains no other reason.
pub(crate) const NO_ANSWER: &str = "the model gave no answer";

/// What happened, and because of which error.
pub(crate) fn because(what: &str, message: &str) -> String {
    match first_line(message) {
        line if line.is_empty() => what.to_owned(),
        line => format!("{what}: {line}"),
    }
}

/// Why a sample has no answer: the error that ended it.
pub(crate) fn error_of_sample(message: &str) -> String {
    match first_line(message) {
        line if line.is_empty() => "the sample ended with an error".to_owned(),
        line => line,
    }
}

/// The first line of an error, short enough for a table.
fn first_line(message: &str) -> String {
    const MAX_CHARACTERS: usize = 200;
    let line = message.trim().lines().next().unwrap_or_default();
    line.chars().filter(|it| !it.is_control()).take(MAX_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(own: Value) -> Value {
        let Value::Object(own) = own else { panic!() };
        let origin = Origin::new(Format::Csv, "a.csv", 3).with("task", "").with("model", "m");
        let record = Record::new("a:3".to_owned(), origin);
        serde_json::to_value(record.with_metadata(own)).unwrap()
    }

    #[test]
    fn what_a_record_has_as_metadata_stays_beside_the_origin() {
        assert_eq!(
            line(json!({"topic": "x"})),
            json!({"id": "a:3", "output": null, "metadata": {
                "origin": {"format": "csv", "file": "a.csv", "record": 3, "model": "m"}, "topic": "x"
            }})
        );
    }

    #[test]
    fn what_a_record_says_of_its_origin_stays() {
        assert_eq!(
            line(json!({"origin": "elsewhere", "topic": "x"}))["metadata"],
            json!({"origin": "elsewhere", "topic": "x"})
        );
    }

    #[test]
    fn a_value_over_several_lines_is_put_on_one() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let pretty = "{\n  \"a b\": [1,\r\n\t2, \"x \\\" y\\\\\"] }";
        assert_eq!(on_one_line(raw(pretty)).get(), r#"{"a b":[1,2,"x \" y\\"]}"#);
        assert_eq!(on_one_line(raw(r#"{"a": 1}"#)).get(), r#"{"a": 1}"#);
    }

    #[test]
    fn a_reason_is_one_short_line() {
        assert_eq!(because("it failed", ""), "it failed");
        assert_eq!(because("it failed", "\nToo slow\x1b\n  at x"), "it failed: Too slow");
        assert_eq!(because("x", &"é".repeat(1000)).chars().count(), 203);
        assert_eq!(error_of_sample("Timeout()\nat x"), "Timeout()");
        assert_eq!(error_of_sample(" "), "the sample ended with an error");
    }
}
