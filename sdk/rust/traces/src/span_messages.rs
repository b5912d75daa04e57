//! Finds the messages in a span: in its attributes, under numbered keys, in its events. What a span means is decided
//! elsewhere.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::fields::{Object, list, take, word};
use crate::spans::{any_value, attributes};

/// A list in attributes, as it is or as text.
pub(super) fn messages(attributes: &mut Object, key: &str) -> Vec<Value> {
    match attributes.remove(key).map(parsed) {
        Some(Value::Array(items)) => items,
        Some(Value::String(text)) => vec![json!({"type": "text", "content": text})],
        Some(item @ Value::Object(_)) => vec![item],
        _ => Vec::new(),
    }
}

/// The value that a text contains, if it looks like an object or a list.
pub(super) fn parsed(value: Value) -> Value {
    match &value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            serde_json::from_str(text).unwrap_or(value)
        }
        _ => value,
    }
}

/// Messages under numbered keys, as OpenLLMetry writes them: `gen_ai.prompt.0.role`,
/// `gen_ai.completion.0.tool_calls.0.name`.
pub(super) fn indexed(attributes: &mut Object, prefix: &str) -> Vec<Value> {
    let keys: Vec<String> =
        attributes.keys().filter(|key| key.starts_with(prefix)).cloned().collect();
    let mut found: BTreeMap<usize, (Object, BTreeMap<usize, Object>)> = BTreeMap::new();
    for key in keys {
        let Some(value) = attributes.remove(&key) else {
            continue;
        };
        let mut path = key[prefix.len()..].split('.');
        let Some(Ok(number)) = path.next().map(str::parse) else {
            continue;
        };
        let message = found.entry(number).or_default();
        match (path.next(), path.next(), path.next()) {
            (Some("tool_calls"), Some(call), Some(field)) => {
                if let Ok(call) = call.parse() {
                    message.1.entry(call).or_default().insert(field.to_owned(), value);
                }
            }
            (Some(field), None, None) => {
                message.0.insert(field.to_owned(), value);
            }
            _ => {}
        }
    }
    let message = |(mut message, calls): (Object, BTreeMap<usize, Object>)| {
        if !calls.is_empty() {
            let calls = calls.into_values().map(Value::Object).collect();
            message.insert("tool_calls".to_owned(), calls);
        }
        if let Some(Value::String(content)) = message.get("content")
            && content.starts_with('[')
            && let Ok(parts @ Value::Array(_)) = serde_json::from_str(content)
        {
            message.insert("content".to_owned(), parts);
        }
        Value::Object(message)
    };
    found.into_values().map(message).collect()
}

/// Messages under numbered keys, as OpenInference writes them: `llm.output_messages.0.message.role`,
/// `llm.output_messages.0.message.tool_calls.0.tool_call.function.name`.
pub(super) fn of_openinference(attributes: &mut Object, prefix: &str) -> Vec<Value> {
    let mut found: BTreeMap<usize, (Object, BTreeMap<usize, Object>)> = BTreeMap::new();
    let keys: Vec<String> =
        attributes.keys().filter(|key| key.starts_with(prefix)).cloned().collect();
    for key in keys {
        let Some(value) = attributes.remove(&key) else {
            continue;
        };
        let path = key[prefix.len()..].split_once(".message.");
        let Some((Ok(number), path)) = path.map(|(number, path)| (number.parse(), path)) else {
            continue;
        };
        let (message, calls) = found.entry(number).or_default();
        let Some(path) = path.strip_prefix("tool_calls.") else {
            message.insert(path.to_owned(), value);
            continue;
        };
        let path = path.split_once(".tool_call.");
        if let Some((Ok(call), field)) = path.map(|(call, field)| (call.parse(), field)) {
            let field = field.strip_prefix("function.").unwrap_or(field);
            calls.entry(call).or_default().insert(field.to_owned(), value);
        }
    }
    let message = |(mut message, calls): (Object, BTreeMap<usize, Object>)| {
        // A text in parts has a key for each part.
        if !message.contains_key("content") {
            let texts = message.iter().filter(|(key, _)| key.ends_with(".message_content.text"));
            let texts: Vec<_> = texts.filter_map(|(_, text)| text.as_str()).collect();
            let text = texts.concat();
            message.insert("content".to_owned(), text.into());
        }
        if !calls.is_empty() {
            let calls = calls.into_values().map(Value::Object).collect();
            message.insert("tool_calls".to_owned(), calls);
        }
        // The older form in which OpenAI's models called functions.
        let name = take(&mut message, &["function_call_name"]).filter(|name| name != "");
        if let Some(name) = name {
            let arguments = take(&mut message, &["function_call_arguments_json"]);
            let call = json!({ "name": name, "arguments": arguments });
            message.insert("function_call".to_owned(), call);
        }
        Value::Object(message)
    };
    found.into_values().map(message).collect()
}

/// The name of an event: its own or, in log records, among the attributes too.
pub(super) fn event_name(event: &Object) -> Option<&str> {
    let own = ["event_name", "eventName", "name"].iter().find_map(|key| word(event, key));
    own.filter(|name| !name.is_empty()).or_else(|| match event.get("attributes")? {
        Value::Object(attributes) => word(attributes, "event.name"),
        Value::Array(pairs) => {
            let named = pairs.iter().find(|pair| pair.get("key") == Some(&"event.name".into()))?;
            named.pointer("/value/stringValue")?.as_str()
        }
        _ => None,
    })
}

/// Whether this is the name of an event that contains messages.
pub(super) fn is_message_event(name: &str) -> bool {
    matches!(name, "gen_ai.choice" | "gen_ai.client.inference.operation.details")
        || name.starts_with("gen_ai.") && name.ends_with(".message")
}

/// The messages in a span's events, as the first versions of the conventions had them.
pub(super) fn from_event(mut event: Object, asked: &mut Vec<Value>, said: &mut Vec<Value>) {
    let name = event_name(&event).unwrap_or_default().to_owned();
    let mut attributes = attributes(take(&mut event, &["attributes"]));
    if name == "gen_ai.client.inference.operation.details" {
        asked.extend(messages(&mut attributes, "gen_ai.input.messages"));
        said.extend(messages(&mut attributes, "gen_ai.output.messages"));
        return;
    }
    let mut body = match take(&mut event, &["body"]).map(|body| parsed(any_value(Some(body)))) {
        Some(Value::Object(body)) => body,
        _ => attributes,
    };
    if let Some(calls) = list(&mut body, &["tool_calls"]).or_else(|| {
        match take(&mut body, &["tool_calls"]).map(parsed) {
            Some(Value::Array(calls)) => Some(calls),
            _ => None,
        }
    }) {
        body.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    let role = match name.as_str() {
        "gen_ai.choice" => {
            let message = take(&mut body, &["message"]).map(parsed);
            let reason = take(&mut body, &["finish_reason"]);
            let mut message = match message {
                Some(Value::Object(message)) => message,
                Some(text) => {
                    let mut message = Object::new();
                    message.insert("content".to_owned(), text);
                    message
                }
                None => body,
            };
            message.entry("role").or_insert_with(|| "assistant".into());
            message.extend(reason.map(|reason| ("finish_reason".to_owned(), reason)));
            return said.push(Value::Object(message));
        }
        name => name.strip_prefix("gen_ai.").and_then(|name| name.strip_suffix(".message")),
    };
    if let Some(role) = role {
        if role == "tool"
            && let Some(id) = take(&mut body, &["id"])
        {
            body.insert("tool_call_id".to_owned(), id);
        }
        body.insert("role".to_owned(), role.into());
        asked.push(Value::Object(body));
    }
}
