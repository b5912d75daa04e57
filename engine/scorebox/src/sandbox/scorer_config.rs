//! A scorer's configuration as the sandbox takes it. `config_check` and the scorer check its content.

use serde_json::Value;

use crate::digest::Digest;

/// A scorer's configuration: a JSON object in canonical form, so that equal configurations have equal digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScorerConfig(String);

impl Default for ScorerConfig {
    fn default() -> ScorerConfig {
        ScorerConfig("{}".to_owned())
    }
}

impl ScorerConfig {
    /// `object` as a configuration.
    pub fn new(object: &serde_json::Map<String, Value>) -> ScorerConfig {
        // serde_json keeps the keys of an object sorted.
        ScorerConfig(Value::Object(object.clone()).to_string())
    }

    /// Canonical JSON.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The digest of the canonical JSON.
    pub fn digest(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_configuration_that_is_read_again_is_the_same_one() {
        for number in [0.1 + 0.2, 1e23, 3e100, 5e-324, -0.0] {
            let config = ScorerConfig::new(json!({ "number": number }).as_object().unwrap());
            let read: Value = serde_json::from_str(config.as_str()).unwrap();
            assert_eq!(ScorerConfig::new(read.as_object().unwrap()), config);
        }
    }
}
