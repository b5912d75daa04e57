//! How an answer of a given form is asked for: the schema itself, and in words. Enforces nothing.

use serde_json::{Value, value::RawValue};

/// The name that a form goes by in requests.
pub(crate) const NAME: &str = "answer";

/// Keywords that the strict mode of OpenAI and its hosts takes. With any other one, a schema is sent without that mode:
/// some hosts refuse bounds and patterns.
const STRICT: [&str; 12] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "description",
    "enum",
    "items",
    "properties",
    "required",
    "title",
    "type",
];

/// The keywords of which a schema has at least one in that mode.
const SAYS_WHAT: [&str; 5] = ["$ref", "anyOf", "const", "enum", "type"];

/// The form of an answer, in the order of keys that its author chose: models answer in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form<'a> {
    pub(crate) schema: &'a RawValue,
    /// Whether it is of objects, the only forms that servers enforce.
    pub(crate) is_of_objects: bool,
    /// Whether it is one that OpenAI's strict mode takes.
    pub(crate) is_strict: bool,
}

/// How a form is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// With the schema, which the server enforces.
    Schema,
    /// As the call of a tool.
    Tool,
    /// In words.
    Prompt,
}

impl<'a> Form<'a> {
    /// The form with this schema; `None` if it is not a JSON object.
    pub(crate) fn of(schema: &'a str) -> Option<Form<'a>> {
        let raw: &RawValue = serde_json::from_str(schema).ok()?;
        let value: Value = serde_json::from_str(schema).ok()?;
        let is_of_objects = value.as_object()?.get("type").is_some_and(|it| it == "object");
        Some(Form { schema: raw, is_of_objects, is_strict: is_strict(&value) })
    }

    /// The system prompt with the form in words behind it.
    pub(crate) fn in_words(&self, system: Option<&str>) -> String {
        let words = format!(
            "Answer with a single JSON value that is valid against the JSON Schema below, and with nothing else: no text \
             before or after it, and no code fence.\n\n{}",
            self.schema.get()
        );
        match system {
            Some(system) => format!("{system}\n\n{words}"),
            None => words,
        }
    }
}

/// Whether all objects of a schema are closed, have no optional properties, and no keyword is unusual.
fn is_strict(schema: &Value) -> bool {
    let Some(object) = schema.as_object() else { return false };
    let is_usual = object.keys().all(|key| STRICT.contains(&key.as_str()))
        && SAYS_WHAT.iter().any(|key| object.contains_key(*key));
    let properties = object.get("properties").and_then(Value::as_object);
    let is_closed = match object.get("type").is_some_and(|it| it == "object") {
        true => {
            let required = object.get("required").and_then(Value::as_array);
            object.get("additionalProperties") == Some(&Value::Bool(false))
                && properties.is_some_and(|properties| {
                    let is_required = |name: &String| {
                        required.is_some_and(|all| all.iter().any(|it| it == name.as_str()))
                    };
                    properties.keys().all(is_required)
                })
        }
        false => properties.is_none(),
    };
    let maps = ["$defs", "properties"].into_iter();
    let maps = maps.filter_map(|key| object.get(key)?.as_object()).flat_map(|map| map.values());
    let list = object.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    is_usual && is_closed && maps.chain(list).chain(object.get("items")).all(is_strict)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_strict_if_its_objects_are_closed_and_nothing_is_optional() {
        let strict = |schema: &str| Form::of(schema).unwrap().is_strict;
        assert!(strict(
            r#"{"type": "object", "properties": {"why": {"type": "string"}, "marks": {"type": "array",
                "items": {"anyOf": [{"type": "number"}, {"type": "null"}]}}},
                "required": ["why", "marks"], "additionalProperties": false}"#
        ));
        for open in [
            r#"{"type": "object"}"#,
            r#"{"type": "object", "properties": {"a": {}}, "additionalProperties": false}"#,
            r#"{"type": "object", "properties": {"a": {}}, "required": ["a"]}"#,
            r#"{"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": false}"#,
            r#"{"type": "object", "properties": {"a": {"type": "number", "minimum": 0}}, "required": ["a"], "additionalProperties": false}"#,
            r#"{"type": "object", "properties": {"a": {"not": {}}}, "required": ["a"], "additionalProperties": false}"#,
            r#"{"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a"], "additionalProperties": false}"#,
        ] {
            assert!(!strict(open), "{open}");
        }
    }

    #[test]
    fn a_form_keeps_the_order_of_its_keys_and_says_whether_it_is_of_objects() {
        let text = r#"{"type": "object", "properties": {"why": {}, "mark": {}, "a": {}}}"#;
        let form = Form::of(text).unwrap();
        assert!(form.is_of_objects);
        assert_eq!(form.schema.get(), text);
        assert!(form.in_words(Some("Be brief.")).starts_with("Be brief.\n\nAnswer with"));
        assert!(form.in_words(None).ends_with(text));
        assert!(!Form::of(r#"{"enum": ["A", "B"]}"#).unwrap().is_of_objects);
        assert!(Form::of("[]").is_none());
        assert!(Form::of("{").is_none());
    }
}
