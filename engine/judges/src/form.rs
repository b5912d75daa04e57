//! Asks for an answer of a given form: with the schema itself, and as text. Enforces nothing.

use serde_json::{Value, value::RawValue};

/// The name of a form in requests.
pub(crate) const NAME: &str = "answer";

/// The keywords that the strict mode of OpenAI and compatible servers accepts. A schema with any other keyword is sent
/// without that mode, because some servers refuse bounds and patterns.
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

/// The keywords of which each schema needs at least one in strict mode.
const SAYS_WHAT: [&str; 5] = ["$ref", "anyOf", "const", "enum", "type"];

/// The form of an answer, with keys in the order that its author chose, because models answer in that order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form<'a> {
    pub(crate) schema: &'a RawValue,
    /// Whether the form describes objects, the only forms that servers enforce.
    pub(crate) is_of_objects: bool,
    /// Whether OpenAI's strict mode accepts the form.
    pub(crate) is_strict: bool,
}

/// How a request asks for a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// With the schema, which the server enforces.
    Schema,
    /// As the call of a tool.
    Tool,
    /// As text in the prompt.
    Prompt,
}

impl<'a> Form<'a> {
    /// The form with this schema; `None` if the schema is not a JSON object.
    pub(crate) fn of(schema: &'a str) -> Option<Form<'a>> {
        let raw: &RawValue = serde_json::from_str(schema).ok()?;
        let value: Value = serde_json::from_str(schema).ok()?;
        let is_of_objects = value.as_object()?.get("type").is_some_and(|it| it == "object");
        Some(Form { schema: raw, is_of_objects, is_strict: is_strict(&value) })
    }

    /// The system prompt, followed by the form as text.
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

/// Whether all objects of a schema are closed, all properties are required, and all keywords are in `STRICT`.
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
