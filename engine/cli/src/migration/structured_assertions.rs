//! Assertions that ask whether the output is JSON, XML or SQL. Reads none of these itself.

use serde_json::{Value, json};

use super::making::{Made, Making};

/// What is made of an assertion about a format; `None` for any other.
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

/// The JSON Schema, if there is one. promptfoo's is of draft 7 unless it says another.
fn schema(making: &mut Making<'_>) -> Result<(), String> {
    making.set("formats", true);
    let mut schema = match making.optional_value()? {
        None => return Ok(()),
        Some(Value::String(text)) => serde_saphyr::from_str::<Value>(&text)
            .map_err(|error| format!("its schema cannot be read: {error}"))?,
        Some(value) => value,
    };
    if let Value::Object(members) = &mut schema {
        let draft = json!("http://json-schema.org/draft-07/schema#");
        members.entry("$schema").or_insert(draft);
    }
    making.set("schema", schema);
    Ok(())
}

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
