//! The JSON Schemas of answers, as text. It does not know what an answer means.
//!
//! A model that must follow a schema writes the keys of its answer in the order of the schema. So a schema keeps its
//! keys in the order in which its author wrote them: reasons before the verdict that follows from them.
//! `serde_json::Value` would sort the keys.

/// A text.
pub const TEXT: &str = r#"{"type":"string"}"#;
/// A number.
pub const NUMBER: &str = r#"{"type":"number"}"#;
/// Yes or no.
pub const FLAG: &str = r#"{"type":"boolean"}"#;

/// An object with exactly these properties, each with its schema, in this order.
#[must_use]
pub fn object(properties: &[(&str, &str)]) -> String {
    let mut schema = String::from(r#"{"type":"object","properties":{"#);
    for (place, (name, property)) in properties.iter().enumerate() {
        push_name(&mut schema, place, name);
        schema.push(':');
        schema.push_str(property);
    }
    schema.push_str(r#"},"required":["#);
    for (place, (name, _)) in properties.iter().enumerate() {
        push_name(&mut schema, place, name);
    }
    schema.push_str(r#"],"additionalProperties":false}"#);
    schema
}

/// A list whose items have this schema.
#[must_use]
pub fn list(item: &str) -> String {
    [r#"{"type":"array","items":"#, item, "}"].concat()
}

/// One of these texts.
#[must_use]
pub fn one_of(texts: &[&str]) -> String {
    let mut schema = String::from(r#"{"type":"string","enum":["#);
    for (place, text) in texts.iter().enumerate() {
        push_name(&mut schema, place, text);
    }
    schema.push_str("]}");
    schema
}

/// Appends a text in quotes, after a comma unless it is the first.
fn push_name(schema: &mut String, place: usize, name: &str) {
    if place > 0 {
        schema.push(',');
    }
    schema.push_str(&serde_json::Value::from(name).to_string());
}
