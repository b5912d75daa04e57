//! Turns a configuration's JSON into a scorer, or into an error that its author can act on.

mod typed;

use scorebox_config_keys::nearest;
use serde_json::Value;

use self::typed::{Found, What};
use crate::keys::settle;
use crate::part::in_words;
use crate::schema::config_schema;
use crate::{ConfigError, Scorer};

/// Makes a scorer from its configuration, as the engine does. In unit tests, `configure(json!({}))`.
///
/// # Errors
/// A [`ConfigError`] that names the key: unknown (with the name that was probably meant), missing,
/// of a wrong type, or refused by [`Scorer::new`].
pub fn configure<S: Scorer>(config: Value) -> Result<S, ConfigError> {
    scorer(settled(config, &config_schema::<S::Config>()))
}

/// Makes a scorer from a configuration whose keys were settled.
pub(crate) fn scorer<S: Scorer>(settled: Result<Value, ConfigError>) -> Result<S, ConfigError> {
    S::new(typed::read(&settled?).map_err(explain)?)
}

/// The configuration with its keys named as in the schema. Not generic: what does not depend on the scorer's type would
/// otherwise be compiled again in the scorer's crate, with everything that it calls.
pub(crate) fn settled(mut config: Value, schema: &Value) -> Result<Value, ConfigError> {
    if !config.is_object() {
        let found = kind(&config);
        return Err(ConfigError::whole(format!(
            "the configuration should be a JSON object, found {found}"
        )));
    }
    settle(&mut config, schema)?;
    Ok(config)
}

/// As [`settled`], from the text of the configuration.
pub(crate) fn settled_text(config: &str, schema: &Value) -> Result<Value, ConfigError> {
    let config = serde_json::from_str(config)
        .map_err(|error| ConfigError::whole(format!("the configuration is not JSON: {error}")))?;
    settled(config, schema)
}

/// As [`settled_text`], with the schema as text too.
pub(crate) fn settled_texts(config: &str, schema: &str) -> Result<Value, ConfigError> {
    let schema =
        serde_json::from_str(schema).map_err(|error| ConfigError::whole(error.to_string()))?;
    settled_text(config, &schema)
}

/// The error of a value that does not fit its type.
fn explain(misfit: typed::Misfit) -> ConfigError {
    let Found { path, what } = misfit.found();
    let message = match what {
        What::Missing(key) => {
            let dot = if path.is_empty() { "" } else { "." };
            return ConfigError::new([&path, dot, key].concat(), "is required");
        }
        What::UnknownName(name, known) => unknown_name(&name, known),
        What::Other(message) => in_words(&message),
    };
    if path.is_empty() { ConfigError::whole(message) } else { ConfigError::new(path, message) }
}

/// The error for a name that is not a variant; suggests the one that was probably meant.
fn unknown_name(name: &str, known: &[&str]) -> String {
    let mut message = format!("unknown variant `{name}`, ");
    match known {
        [] => message.push_str("there are no variants"),
        [only] => message.extend(["expected `", only, "`"]),
        [one, other] => message.extend(["expected `", one, "` or `", other, "`"]),
        all => {
            message.push_str("expected one of ");
            for (index, name) in all.iter().enumerate() {
                message.extend([if index == 0 { "`" } else { ", `" }, name, "`"]);
            }
        }
    }
    if let Some(meant) = nearest(name, known.iter().copied()) {
        message.extend(["; did you mean `", meant, "`?"]);
    }
    message
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
