//! Reads declarations of tools in the formats of OpenAI, Anthropic, Google, Bedrock and MCP. It checks no schema.

use super::gemini;
use scorebox_sdk::excerpt;
use serde_json::{Map, Value, json};

/// A tool, and the schema of its arguments.
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) schema: Value,
}

/// The tools that a list declares, or an object of tools by name. The error says what is wrong.
pub(crate) fn declarations(tools: &Value) -> Result<Vec<Declared>, String> {
    match tools {
        Value::Array(items) => {
            let mut declared = Vec::new();
            for (index, item) in items.iter().enumerate() {
                read(item, &mut declared).map_err(|error| format!("tool {index} {error}"))?;
            }
            Ok(declared)
        }
        Value::Object(object) => match google(object) {
            Some(functions) => declarations_of_google(functions),
            None => Ok((object.iter())
                .map(|(name, schema)| Declared { name: name.clone(), schema: schema_of(schema) })
                .collect()),
        },
        _ => Err("should be a list of tools, or an object of schemas by tool name".to_owned()),
    }
}

/// Google puts a list of functions into each tool.
fn google(object: &Map<String, Value>) -> Option<&Value> {
    object.get("functionDeclarations").or_else(|| object.get("function_declarations"))
}

/// Google's schemas are Gemini's, or JSON Schema under another key.
fn declarations_of_google(functions: &Value) -> Result<Vec<Declared>, String> {
    let mut declared = declarations(functions)?;
    declared.iter_mut().for_each(|tool| gemini::to_json_schema(&mut tool.schema));
    Ok(declared)
}

fn read(item: &Value, into: &mut Vec<Declared>) -> Result<(), String> {
    let Some(object) = item.as_object() else {
        return Err("is not an object".to_owned());
    };
    if let Some(functions) = google(object) {
        into.extend(declarations_of_google(functions)?);
        return Ok(());
    }
    // Bedrock marks the end of what it caches among its tools.
    if object.contains_key("cachePoint") {
        return Ok(());
    }
    // A namespace of the Responses API declares the tools inside it.
    if let (Some("namespace"), Some(tools)) =
        (object.get("type").and_then(Value::as_str), object.get("tools"))
    {
        into.extend(declarations(tools)?);
        return Ok(());
    }
    let inner =
        ["function", "custom", "toolSpec", "systemTool"].iter().find_map(|key| object.get(*key));
    let object = inner.and_then(Value::as_object).unwrap_or(object);
    match object.get("name").and_then(Value::as_str) {
        Some(name) => {
            let mut schema = schema_in(object);
            if gemini::is_gemini(&schema) {
                gemini::to_json_schema(&mut schema);
            }
            into.push(Declared { name: name.to_owned(), schema });
            Ok(())
        }
        // A tool of the service itself, such as `{"type": "web_search"}`, accepts any arguments.
        None => match object.get("type").and_then(Value::as_str) {
            Some(kind) if object.get("parameters").is_none() => {
                into.push(Declared { name: kind.to_owned(), schema: json!(true) });
                Ok(())
            }
            _ => Err(format!("has no `name`; found {}", excerpt(&item.to_string(), 80))),
        },
    }
}

/// The schema in a declaration; a tool without one accepts anything.
fn schema_in(object: &Map<String, Value>) -> Value {
    let keys = ["parameters", "input_schema", "inputSchema", "parametersJsonSchema", "schema"];
    let found = keys.iter().find_map(|key| object.get(*key).filter(|found| !found.is_null()));
    match found {
        // Bedrock wraps it once more.
        Some(Value::Object(wrapped)) if wrapped.len() == 1 && wrapped.contains_key("json") => {
            wrapped["json"].clone()
        }
        Some(schema) => schema.clone(),
        None => json!(true),
    }
}

/// An object of tools by name has their schemas, or their whole declarations.
fn schema_of(value: &Value) -> Value {
    let object = value.as_object();
    let declares = |key: &&str| object.is_some_and(|object| object.contains_key(*key));
    let declaration = ["parameters", "input_schema", "inputSchema"].iter().any(declares);
    match object {
        Some(object) if declaration && !object.contains_key("properties") => schema_in(object),
        _ => value.clone(),
    }
}
