//! Converts assertions that the output is JSON, XML or SQL. It parses none of these itself.

use serde_json::{Value, json};

use super::making::{Made, Making};

/// Converts an assertion about a format; `None` for any other.
pub(super) fn of_structures(making: &mut Making<'_>, kind: &str) -> Option<Made> {
    Some(match kind {
        "is-json" => {
            making.set("scalars", true);
            schema(making).map(|()| ("json-valid", None))
        }
        "contains-json" => schema(making).map(|()| ("contains-json", None)),
        "is-xml" | "contains-xml" => {
            making.set("at", if kind == "is-xml" { "whole" } else { "anywhere" });
            required_elements(making).map(|()| ("xml-valid", None))
        }
        "is-sql" | "contains-sql" => sql(making, kind),
        _ => return None,
    })
}

fn sql(making: &mut Making<'_>, kind: &str) -> Made {
    if making.assertion.contains_key("value") {
        return Err("its list of tables and columns, or its database, has no equivalent".to_owned());
    }
    making.set("at", if kind == "is-sql" { "whole" } else { "fenced" });
    Ok(("sql-valid", None))
}

/// The JSON Schema, if there is one. promptfoo reads it as draft 7 unless it names another draft.
fn schema(making: &mut Making<'_>) -> Result<(), String> {
    making.set("formats", true);
    let mut schema = match making.optional_value()? {
        None => return Ok(()),
        Some(Value::String(text)) => serde_saphyr::from_str::<Value>(&text)
            .map_err(|error| format!("its schema cannot be read: {error}"))?,
        Some(value) => value,
    };
    allow_null(&mut schema);
    if let Value::Object(members) = &mut schema {
        let draft = json!("http://json-schema.org/draft-07/schema#");
        members.entry("$schema").or_insert(draft);
    }
    making.set("schema", schema);
    Ok(())
}

/// Replaces `nullable: true` by the type `null`. Ajv, which promptfoo uses, takes the key from OpenAPI; no draft of
/// JSON Schema has it.
fn allow_null(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(allow_null),
        Value::Object(members) => {
            if members.get("nullable") == Some(&Value::Bool(true))
                && let Some(types) = members.get_mut("type")
            {
                let mut all = match types.take() {
                    Value::Array(all) => all,
                    only => vec![only],
                };
                if !all.iter().any(|it| it == "null") {
                    all.push("null".into());
                }
                *types = all.into();
                members.remove("nullable");
            }
            for (key, value) in members {
                match value {
                    _ if VALUES.contains(&key.as_str()) => {}
                    Value::Object(schemas) if NAMED_SCHEMAS.contains(&key.as_str()) => {
                        schemas.values_mut().for_each(allow_null);
                    }
                    schema => allow_null(schema),
                }
            }
        }
        _ => {}
    }
}

/// Keys of a schema whose values are not schemas, even if they look like schemas.
const VALUES: [&str; 4] = ["const", "default", "enum", "examples"];
/// Keys of a schema whose members are schemas, whatever their names are.
const NAMED_SCHEMAS: [&str; 5] =
    ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

fn required_elements(making: &mut Making<'_>) -> Result<(), String> {
    let elements = match making.optional_value()? {
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
    making.set("requiredElements", elements);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nullable_may_be_null() {
        let mut schema = json!({
            "type": "object",
            "properties": {
                "a": {"type": "string", "nullable": true},
                "enum": {"type": ["number", "null"], "nullable": true, "enum": [1, null]},
                "nullable": {"type": "boolean", "nullable": false},
                "c": {"const": {"type": "string", "nullable": true}},
            },
            "anyOf": [{"items": {"type": "integer", "nullable": true}}],
        });
        allow_null(&mut schema);
        let expected = json!({
            "type": "object",
            "properties": {
                "a": {"type": ["string", "null"]},
                "enum": {"type": ["number", "null"], "enum": [1, null]},
                "nullable": {"type": "boolean", "nullable": false},
                "c": {"const": {"type": "string", "nullable": true}},
            },
            "anyOf": [{"items": {"type": ["integer", "null"]}}],
        });
        assert_eq!(schema, expected);
    }
}
