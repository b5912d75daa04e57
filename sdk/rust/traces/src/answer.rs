//! Finds the trace in an answer that is a text: all of it may be JSON, or lines of it may be calls, as programs print
//! content blocks. It reads no steps.

use serde_json::{Map, Value, json};

use crate::part_types;

/// What a text contains that may be a trace: its JSON, or its calls with the words around them. `None` for other texts.
pub(super) fn in_text(text: &str) -> Option<Value> {
    let text = without_mark(text);
    if text.trim_start().starts_with(['{', '['])
        && let Ok(value @ (Value::Array(_) | Value::Object(_))) = serde_json::from_str(text)
    {
        return Some(value);
    }
    let mut items = Vec::new();
    let mut said: Vec<&str> = Vec::new();
    let mut has_call = false;
    for line in text.lines() {
        match call(line) {
            Some(call) => {
                items.extend(message(&mut said));
                items.push(Value::Object(call));
                has_call = true;
            }
            None => said.push(line),
        }
    }
    items.extend(message(&mut said));
    has_call.then_some(Value::Array(items))
}

/// A text without the byte order mark that some programs begin a file with; JSON does not allow it.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// A line that is a call, by its `type`.
fn call(line: &str) -> Option<Map<String, Value>> {
    let line = line.trim();
    // Skips parsing for a line that cannot be a JSON object with a type.
    if !line.starts_with('{') || !line.ends_with('}') || !line.contains("\"type\"") {
        return None;
    }
    let object: Map<String, Value> = serde_json::from_str(line).ok()?;
    let kind = object.get("type").and_then(Value::as_str);
    kind.is_some_and(part_types::is_call).then_some(object)
}

/// The lines so far, as one text part of the model's message.
fn message(said: &mut Vec<&str>) -> Option<Value> {
    let text = std::mem::take(said).join("\n");
    let text = text.trim();
    (!text.is_empty()).then(|| json!({ "type": "text", "text": text }))
}
