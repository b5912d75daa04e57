//! Turns a configuration's JSON into a scorer, or into an error that its author can act on.

use serde_json::Value;

use crate::keys::{nearest, settle};
use crate::part::in_words;
use crate::schema::config_schema;
use crate::{ConfigError, Scorer};

/// A scorer from its configuration, as the engine makes it. In unit tests, `configure(json!({}))`.
///
/// # Errors
/// A [`ConfigError`] that names the key: unknown (with the name that was probably meant), missing,
/// of a wrong type, or refused by [`Scorer::new`].
pub fn configure<S: Scorer>(config: Value) -> Result<S, ConfigError> {
    with_schema(config, &config_schema::<S::Config>())
}

/// [`configure`], with the schema of the configuration.
pub(crate) fn with_schema<S: Scorer>(mut config: Value, schema: &Value) -> Result<S, ConfigError> {
    if !config.is_object() {
        let found = kind(&config);
        return Err(ConfigError::whole(format!(
            "the configuration should be a JSON object, found {found}"
        )));
    }
    settle(&mut config, schema)?;
    S::new(serde_path_to_error::deserialize(config).map_err(explain)?)
}

/// A configuration from its text.
pub(crate) fn read(config: &str) -> Result<Value, ConfigError> {
    serde_json::from_str(config)
        .map_err(|error| ConfigError::whole(format!("the configuration is not JSON: {error}")))
}

/// serde's message, with the place before it and the probable meaning behind it.
fn explain(error: serde_path_to_error::Error<serde_json::Error>) -> ConfigError {
    let path = match error.path().to_string() {
        path if path == "." => String::new(),
        path => path,
    };
    let message = error.into_inner().to_string();
    let (path, message) = match flattened_key(&message) {
        Some((key, message)) if path.is_empty() => (key.to_owned(), message),
        _ => (path, message.as_str()),
    };
    let message = in_words(message);
    if let Some(key) = quoted(&message, "missing field `") {
        let key = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        return ConfigError::new(key, "is missing, and has no default");
    }
    let message = match meant_variant(&message) {
        Some(name) => format!("{message}; did you mean `{name}`?"),
        None => message,
    };
    if path.is_empty() { ConfigError::whole(message) } else { ConfigError::new(path, message) }
}

/// The key that a flattened type's error begins with, and the error. serde loses the path there.
fn flattened_key(message: &str) -> Option<(&str, &str)> {
    message.strip_prefix('`')?.split_once("`: ")
}

/// serde lists the variants in back ticks after the one that it does not know.
fn meant_variant(message: &str) -> Option<&str> {
    let given = quoted(message, "unknown variant `")?;
    let (_, expected) = message.split_once(", expected ")?;
    nearest(given, expected.split('`').skip(1).step_by(2))
}

fn quoted<'m>(message: &'m str, prefix: &str) -> Option<&'m str> {
    message.strip_prefix(prefix)?.split('`').next()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
