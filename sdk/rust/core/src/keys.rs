//! Checks the keys of a configuration: each must be one that the schema lists, and a key in snake_case is renamed to
//! the name in the schema. Values are checked by deserializing.

use scorebox_config_keys::{Described, nearest};
use serde_json::{Map, Value};

use crate::ConfigError;

/// Renames every key to its name in the schema, or refuses the first one that the schema does not list.
pub(crate) fn settle(config: &mut Value, schema: &Value) -> Result<(), ConfigError> {
    settle_value(config, &Described::by(schema), "")
}

fn settle_value(
    value: &mut Value,
    described: &Described<'_>,
    path: &str,
) -> Result<(), ConfigError> {
    match value {
        Value::Object(object) => settle_object(object, described, path),
        Value::Array(items) => items.iter_mut().enumerate().try_for_each(|(index, item)| {
            settle_value(item, &described.item(index), &format!("{path}[{index}]"))
        }),
        _ => Ok(()),
    }
}

fn settle_object(
    object: &mut Map<String, Value>,
    described: &Described<'_>,
    path: &str,
) -> Result<(), ConfigError> {
    // Nothing is known about the value.
    if described.schemas().is_empty() {
        return Ok(());
    }
    let written: Vec<String> = object.keys().cloned().collect();
    // Builds a new map, because the code that removes a member from a map would be the largest part of this function in
    // a component.
    for (key, mut value) in std::mem::take(object) {
        let (name, member) = settled_name(key, &written, described, path)?;
        settle_value(&mut value, &member, &join(path, &name))?;
        object.insert(name, value);
    }
    Ok(())
}

/// The name of a key in the schema, and what the schema says about its value.
fn settled_name<'s>(
    key: String,
    written: &[String],
    described: &Described<'s>,
    path: &str,
) -> Result<(String, Described<'s>), ConfigError> {
    let name = match described.renamed(&key) {
        Some(name) if written.contains(&name) => {
            let (key, name) = (join(path, &key), join(path, &name));
            let message = format!("`{key}` and `{name}` are the same key; give it once");
            return Err(ConfigError::whole(message));
        }
        Some(name) => name,
        None => key,
    };
    match described.member(&name) {
        Some(member) => Ok((name, member)),
        None => Err(unknown(&name, path, &described.names())),
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn unknown(key: &str, path: &str, names: &[&str]) -> ConfigError {
    let whole = join(path, key);
    let known = || names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let hint = match nearest(key, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if names.is_empty() => "no keys are known here".to_owned(),
        None => format!("known here: {}", known()),
    };
    ConfigError::whole(format!("unknown key `{whole}`; {hint}"))
}
