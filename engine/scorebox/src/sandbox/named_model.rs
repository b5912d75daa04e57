//! Checks whether a scorer may ask the models that its configuration names, when the scorer is loaded instead of with
//! every case. A model that it names in another way is checked when the scorer asks.

use serde_json::Value;

use crate::{contract::ScorerInfo, judge::Asker};

use super::{ErrorKind, ScoreError, scorer_config::ScorerConfig};

/// The keys of built-in scorers that name a model, and whether each may name a model for texts. A scorer that asks only
/// for vectors has its model under `model` too.
const KEYS: [(&str, bool); 2] = [("model", true), ("embeddingModel", false)];

/// Checks the models that the configuration names.
///
/// # Errors
/// `invalid-config` at the key, if the schema declares it and the scorer may not name this model for any purpose.
pub(super) fn check(
    info: &ScorerInfo,
    config: &ScorerConfig,
    asker: &Asker,
) -> Result<(), ScoreError> {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    let schema = info.config_schema.as_deref().and_then(read).unwrap_or_default();
    let config = read(config.as_str()).unwrap_or_default();
    for (key, may_be_of_texts) in KEYS {
        let Some(named) = config[key].as_str().filter(|_| schema["properties"][key].is_object())
        else {
            continue;
        };
        let Err(error) = asker.may_name(named, may_be_of_texts) else { continue };
        if may_be_of_texts && asker.may_name(named, false).is_ok() {
            continue;
        }
        let message = format!("`{key}`: {error}");
        return Err(ScoreError {
            advice: error.advice,
            config_key: Some(key.to_owned()),
            ..ScoreError::new(ErrorKind::InvalidConfig, message)
        });
    }
    Ok(())
}
