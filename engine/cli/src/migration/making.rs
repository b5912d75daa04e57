//! Reads the parts that assertions of several types share into the configuration of a scorer. The types choose the
//! scorer.

use serde_json::{Map, Value};

use super::template;

/// A scorer that is being made.
pub(super) struct Making<'a> {
    pub assertion: &'a Map<String, Value>,
    /// The values of variables in the assertion's value; `None` leaves the value as written.
    pub variables: Option<&'a Map<String, Value>>,
    pub config: Map<String, Value>,
    pub negated: bool,
}

/// The scorer, and the passing score if it is not the scorer's own.
pub(super) type Made = Result<(&'static str, Option<f64>), String>;

/// The worst passing score for assertions whose every score passes in promptfoo (0.121) unless they have a threshold.
pub(super) const ANY_SCORE: f64 = 0.0;

const NO_TEXT: &str = "its value is not text";

/// This value, if it is a text that is not empty.
pub(super) fn text_of(value: Value) -> Result<String, String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Ok(text),
        _ => Err(NO_TEXT.to_owned()),
    }
}

impl Making<'_> {
    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.config.insert(key.to_owned(), value.into());
    }

    pub(super) fn threshold(&self) -> Option<f64> {
        self.assertion.get("threshold").and_then(Value::as_f64).filter(|it| it.is_finite())
    }

    /// The assertion's value, which must be in the configuration itself.
    pub(super) fn value(&self) -> Result<Value, String> {
        self.optional_value()?.ok_or_else(|| "it has no `value`".to_owned())
    }

    /// The same, or `None` if the assertion has no value.
    pub(super) fn optional_value(&self) -> Result<Option<Value>, String> {
        let value = match self.assertion.get("value") {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) if text.starts_with("file://") => {
                return Err(format!("its value is in `{text}`: put it into the configuration"));
            }
            Some(value) => value,
        };
        let is_file = |it: &Value| it.as_str().is_some_and(|text| text.starts_with("file://"));
        if value.as_array().is_some_and(|items| items.iter().any(is_file)) {
            return Err(
                "a part of its value is in a file: put it into the configuration".to_owned()
            );
        }
        match self.variables {
            Some(variables) => template::rendered(value, variables).map(Some),
            None => Ok(Some(value.clone())),
        }
    }

    /// The same, with numbers in a list as texts, which promptfoo looks for.
    pub(super) fn value_with_numbers_as_texts(&self) -> Result<Value, String> {
        let text = |item: Value| match item {
            Value::Number(number) => template::as_javascript(&number).into(),
            other => other,
        };
        Ok(match self.value()? {
            Value::Array(items) => items.into_iter().map(text).collect(),
            other => other,
        })
    }

    /// A value that is one text, which may be empty.
    pub(super) fn one_text(&self) -> Result<String, String> {
        match self.value()? {
            Value::String(text) => Ok(text),
            _ => Err(NO_TEXT.to_owned()),
        }
    }

    /// A value that is one text and not empty.
    pub(super) fn text(&self) -> Result<String, String> {
        text_of(self.value()?)
    }

    /// One expected text; `contains` also has numbers.
    pub(super) fn expecting(&mut self, uses: &'static str, threshold: Option<f64>) -> Made {
        match self.value()? {
            Value::Number(number) if uses == "contains" => {
                self.set("value", template::as_javascript(&number));
            }
            Value::String(text) => self.set("value", text),
            _ => return Err(NO_TEXT.to_owned()),
        }
        Ok((uses, threshold))
    }

    /// One expected text or a list of them, of which the best match counts.
    pub(super) fn expecting_any(&mut self, uses: &'static str, threshold: Option<f64>) -> Made {
        match self.value()? {
            Value::String(text) => self.set("value", text),
            Value::Array(items) if items.iter().all(Value::is_string) => self.set("values", items),
            _ => return Err("its value is neither text nor a list of texts".to_owned()),
        }
        Ok((uses, threshold))
    }
}
