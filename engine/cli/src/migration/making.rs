//! What an assertion says, read into the configuration of a scorer. Which scorer it is, is for `assertion` to say.

use serde_json::{Map, Value, json};

use super::template;

/// A scorer in the making.
pub(super) struct Making<'a> {
    pub assertion: &'a Map<String, Value>,
    /// What stands in the places of variables in its value; `None` leaves the value as it is written.
    pub variables: Option<&'a Map<String, Value>>,
    pub config: Map<String, Value>,
    pub negated: bool,
}

/// The scorer and the score that passes, where it is not the scorer's own.
pub(super) type Made = Result<(&'static str, Option<f64>), String>;

const NO_TEXT: &str = "its value is not text";
const NO_NAMES: &str = "its tools are not listed by name";

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

    /// The same, or `None` if it has none.
    fn optional_value(&self) -> Result<Option<Value>, String> {
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

    /// The same, with the numbers in a list as the texts that promptfoo looks for.
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

    /// A value that is one text, whatever is in it.
    pub(super) fn one_text(&self) -> Result<String, String> {
        match self.value()? {
            Value::String(text) => Ok(text),
            _ => Err(NO_TEXT.to_owned()),
        }
    }

    pub(super) fn text(&self) -> Result<String, String> {
        match self.value()? {
            Value::String(text) if !text.trim().is_empty() => Ok(text),
            Value::Array(items) if items.iter().all(Value::is_string) => {
                let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                Ok(texts.join("\n"))
            }
            _ => Err(NO_TEXT.to_owned()),
        }
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

    /// Names in a list, or in one text with commas between them.
    pub(super) fn names(&self) -> Result<Vec<String>, String> {
        let names = match self.value()? {
            Value::String(text) => text.split(',').map(|name| name.trim().to_owned()).collect(),
            Value::Array(items) => texts(&items)?,
            _ => Vec::new(),
        };
        match names.is_empty() {
            true => Err(NO_NAMES.to_owned()),
            false => Ok(names),
        }
    }

    pub(super) fn ignores_case(&mut self, kind: &str) {
        if kind.starts_with('i') {
            self.set("ignoreCase", true);
        }
    }

    /// The JSON Schema, if there is one. promptfoo's is of draft 7 unless it says another.
    pub(super) fn schema(&mut self) -> Result<(), String> {
        self.set("formats", true);
        let mut schema = match self.optional_value()? {
            None => return Ok(()),
            Some(Value::String(text)) => serde_saphyr::from_str::<Value>(&text)
                .map_err(|error| format!("its schema cannot be read: {error}"))?,
            Some(value) => value,
        };
        if let Value::Object(members) = &mut schema {
            let draft = json!("http://json-schema.org/draft-07/schema#");
            members.entry("$schema").or_insert(draft);
        }
        self.set("schema", schema);
        Ok(())
    }

    pub(super) fn required_elements(&mut self) -> Result<(), String> {
        let elements = match self.optional_value()? {
            None => return Ok(()),
            Some(Value::String(text)) => text.split(',').map(|it| it.trim().to_owned()).collect(),
            Some(Value::Object(members)) => match members.get("requiredElements") {
                Some(Value::Array(items)) => {
                    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                }
                _ => return Ok(()),
            },
            Some(Value::Array(items)) => {
                items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            Some(_) => return Err("its value is not a list of elements".to_owned()),
        };
        let elements: Vec<String> = elements;
        self.set("requiredElements", elements);
        Ok(())
    }

    pub(super) fn length(&mut self, unit: &str) -> Made {
        self.set("unit", unit);
        self.set("outside", "zero");
        let bounds = match self.value()? {
            Value::Object(bounds) => (bounds.get("min").cloned(), bounds.get("max").cloned()),
            exact => (Some(exact.clone()), Some(exact)),
        };
        let bound = |bound: Option<Value>| match bound {
            None => Ok(None),
            Some(Value::String(text)) => text
                .trim()
                .parse::<u64>()
                .map(Some)
                .map_err(|_| "its value is not a number".to_owned()),
            Some(other) => {
                other.as_u64().map(Some).ok_or_else(|| "its value is not a whole number".to_owned())
            }
        };
        for (key, value) in [("min", bound(bounds.0)?), ("max", bound(bounds.1)?)] {
            if let Some(value) = value {
                self.set(key, value);
            }
        }
        match self.config.contains_key("min") || self.config.contains_key("max") {
            true => Ok(("length", None)),
            false => Err("it has neither `min` nor `max`".to_owned()),
        }
    }

    /// Tools by their names: a name, a list of names, or an object with one of these.
    pub(super) fn tools(&mut self, uses: &'static str) -> Made {
        let names = match self.value()? {
            Value::String(name) => vec![name],
            Value::Array(names) => texts(&names)?,
            Value::Object(members) => {
                if let Some(mode) = members.get("mode").and_then(Value::as_str) {
                    match (uses, mode) {
                        ("tool-order", "exact") => self.set("mode", "exact"),
                        ("tool-order", "in_order" | "in-order" | "subsequence") => {}
                        _ => return Err(format!("its mode `{mode}` is not known")),
                    }
                }
                for (theirs, ours) in [("min", "min"), ("max", "max")] {
                    if let Some(count) = members.get(theirs).and_then(Value::as_u64) {
                        self.set(ours, count);
                    }
                }
                let found = ["steps", "tools", "names", "name", "tool"]
                    .iter()
                    .find_map(|key| members.get(*key));
                match found {
                    Some(Value::String(name)) => vec![name.clone()],
                    Some(Value::Array(names)) => texts(names)?,
                    _ => return Err(NO_NAMES.to_owned()),
                }
            }
            _ => return Err(NO_NAMES.to_owned()),
        };
        // A name with stars is a pattern of promptfoo's.
        if self.negated && names.len() > 1 {
            return Err("none of several tools: write an assertion for each".to_owned());
        }
        let names: Vec<Value> = names.iter().map(|name| pattern(name)).collect();
        self.set("names", names);
        Ok((uses, None))
    }
}

fn texts(items: &[Value]) -> Result<Vec<String>, String> {
    let text =
        |item: &Value| item.as_str().or_else(|| item.get("name")?.as_str()).map(str::to_owned);
    let all: Option<Vec<String>> = items.iter().map(text).collect();
    all.ok_or_else(|| NO_NAMES.to_owned())
}

/// A name, or the pattern that one with `*` is.
fn pattern(name: &str) -> Value {
    match name.contains('*') {
        false => name.into(),
        true => {
            let escaped: Vec<String> = name.split('*').map(escaped).collect();
            json!({"regex": format!("^{}$", escaped.join(".*"))})
        }
    }
}

fn escaped(text: &str) -> String {
    let escape = |it: char| {
        if it.is_alphanumeric() || it == '_' { it.to_string() } else { format!("\\{it}") }
    };
    text.chars().map(escape).collect()
}
