//! The keys of a configuration: each must be one that the schema lists, and one in snake_case gets the
//! name that the schema has for it. Values are checked by deserializing.

use scorebox_config_keys::{Described, camel_case, nearest};
use serde_json::{Map, Value};

use crate::ConfigError;

/// Gives every key the name that the schema has for it, or refuses the first that has none.
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
    if described.takes_any_key() {
        return Ok(());
    }
    let written: Vec<String> = object.keys().cloned().collect();
    for mut key in written {
        let mut member = described.member(&key);
        if member.is_none() {
            let name = camel_case(&key);
            member = described.member(&name);
            if member.is_some() {
                if object.contains_key(&name) {
                    let (key, name) = (join(path, &key), join(path, &name));
                    return Err(ConfigError::whole(format!(
                        "`{key}` and `{name}` are the same key; give it once"
                    )));
                }
                if let Some(value) = object.remove(&key) {
                    object.insert(name.clone(), value);
                }
                key = name;
            }
        }
        let Some(member) = member else {
            return Err(unknown(&key, path, &described.names()));
        };
        if let Some(value) = object.get_mut(&key) {
            settle_value(value, &member, &join(path, &key))?;
        }
    }
    Ok(())
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
