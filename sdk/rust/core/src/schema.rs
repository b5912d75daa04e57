//! Derives the JSON Schema of a scorer's configuration. It only describes; configurations are checked elsewhere.

use serde_json::{Map, Value};

use crate::JsonSchema;

/// The schema of `T`, closed so that no other keys are allowed.
pub(crate) fn config_schema<T: JsonSchema>() -> Value {
    let mut schema = schemars::schema_for!(T).to_value();
    join_descriptions(&mut schema);
    if let Some(root) = schema.as_object_mut() {
        // The title is the name of a Rust type, which users do not know.
        root.remove("title");
        close(root);
    }
    schema
}

/// Doc comments are wrapped for an editor, but readers have other widths.
fn join_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::String(text) if key == "description" => *text = join_lines(text),
                    member => join_descriptions(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(join_descriptions),
        _ => {}
    }
}

/// Puts each paragraph on one line; lists, tables, headings and quotes keep their lines.
fn join_lines(text: &str) -> String {
    let starts_anew = |line: &str| {
        let line = line.trim_start();
        let marks = ["- ", "* ", "| ", "# ", "> ", "1. "];
        line.is_empty() || marks.iter().any(|mark| line.starts_with(mark))
    };
    if text.contains("```") {
        return text.to_owned();
    }
    let mut joined = String::with_capacity(text.len());
    let mut paragraph_open = false;
    for line in text.lines() {
        let continues = paragraph_open && !starts_anew(line);
        if !joined.is_empty() {
            joined.push(if continues { ' ' } else { '\n' });
        }
        joined.push_str(if continues { line.trim_start() } else { line });
        paragraph_open = !line.trim().is_empty();
    }
    joined
}

/// Says in the schema that unknown keys are refused, so that editors can report them early. A schema that is composed
/// of others is left open, because `additionalProperties` only sees the properties next to it.
fn close(schema: &mut Map<String, Value>) {
    let composed = ["$ref", "allOf", "anyOf", "oneOf", "additionalProperties"];
    if !composed.iter().any(|keyword| schema.contains_key(*keyword)) {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

/// The type's doc comment, as the schema contains it; empty if there is none.
pub(crate) fn description(schema: &str) -> String {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    schema["description"].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::join_lines;

    #[test]
    fn a_paragraph_is_one_line_and_a_list_is_not() {
        assert_eq!(
            join_lines("One\ntwo.\n\nThree:\n- four\n- five\n  and on"),
            "One two.\n\nThree:\n- four\n- five and on"
        );
        assert_eq!(join_lines("```\na\nb\n```"), "```\na\nb\n```");
    }
}
