//! Turns a configuration's JSON into a prepared scorer, or into an error that its author can act on.

use serde_json::Value;

use crate::part::in_words;
use crate::schema::config_schema;
use crate::unknown_key::{nearest, refuse_unknown_keys};
use crate::{ConfigError, Scorer};

/// A scorer from its configuration: checked, deserialized and prepared, as the engine does it. In
/// unit tests, `configure(json!({}))`.
///
/// # Errors
/// A [`ConfigError`] that names the key: unknown (with the name that was probably meant), missing,
/// of a wrong type, or refused by [`Scorer::prepare`].
pub fn configure<S: Scorer>(config: Value) -> Result<S, ConfigError> {
    if !config.is_object() {
        let found = kind(&config);
        return Err(ConfigError::whole(format!(
            "the configuration should be a JSON object, found {found}"
        )));
    }
    refuse_unknown_keys(&config, &config_schema::<S>())?;
    let mut scorer: S = serde_path_to_error::deserialize(config).map_err(explain)?;
    scorer.prepare()?;
    Ok(scorer)
}

/// [`configure`], from JSON text.
pub(crate) fn configure_text<S: Scorer>(config: &str) -> Result<S, ConfigError> {
    let value = serde_json::from_str(config)
        .map_err(|error| ConfigError::whole(format!("the configuration is not JSON: {error}")))?;
    configure(value)
}

/// serde's message, with the place before it and the probable meaning behind it.
fn explain(error: serde_path_to_error::Error<serde_json::Error>) -> ConfigError {
    let path = match error.path().to_string() {
        path if path == "." => String::new(),
        path => path,
    };
    let message = error.into_inner().to_string();
    let message = in_words(&message);
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
