//! Parses a scorer's configuration as the user types it: JSON, or the name of a JSON file.

use std::{collections::HashSet, fmt};

use scorebox::{input_file::MAX_CONFIGURATION_BYTES, sandbox::ScorerConfig};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::text_or_file::read_if_file;
use crate::failure::Failure;

/// Parses a configuration: a JSON object, or `@FILE`.
pub(crate) fn parse_config(written: &str) -> Result<ScorerConfig, Failure> {
    let text = read_if_file(written, MAX_CONFIGURATION_BYTES)?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| {
        Failure::new(format!("the configuration is not JSON: {error}"))
            .hint("a configuration is a JSON object, such as '{\"ignoreCase\": true}'")
    })?;
    // If a key occurs twice, the parser would silently take its last value.
    serde_json::from_str::<EachKeyOnce>(&text).map_err(|error| {
        Failure::new(format!("the configuration: {error}")).hint("leave one of the two out")
    })?;
    match value {
        serde_json::Value::Object(object) => Ok(ScorerConfig::new(&object)),
        other => Err(Failure::new(format!("the configuration is not a JSON object: {other}"))
            .hint("a configuration is a JSON object, such as '{\"ignoreCase\": true}'")),
    }
}

/// JSON whose objects have each key once.
#[derive(Debug)]
struct EachKeyOnce;

impl<'de> Deserialize<'de> for EachKeyOnce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EachKeyOnce, D::Error> {
        deserializer.deserialize_any(EachKeyOnce)
    }
}

impl<'de> Visitor<'de> for EachKeyOnce {
    type Value = EachKeyOnce;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<EachKeyOnce, M::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = members.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(M::Error::custom(format!("duplicate key `{}`", key.escape_debug())));
            }
            members.next_value::<EachKeyOnce>()?;
            keys.insert(key);
        }
        Ok(EachKeyOnce)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<EachKeyOnce, S::Error> {
        while items.next_element::<EachKeyOnce>()?.is_some() {}
        Ok(EachKeyOnce)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }

    fn visit_unit<E: Error>(self) -> Result<EachKeyOnce, E> {
        Ok(EachKeyOnce)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_there_twice_is_refused_with_its_place() {
        let refused = |text: &str| parse_config(text).unwrap_err().message;
        assert_eq!(
            refused(r#"{"max":1,"max":5}"#),
            "the configuration: duplicate key `max` at line 1 column 14"
        );
        assert_eq!(
            refused("{\"a\": [{\"b\": 1,\n\"\\u0062\": 1}]}"),
            "the configuration: duplicate key `b` at line 2 column 8"
        );
        assert!(parse_config(r#"{"a": {"x": [null, 1.5, -1, true, "x"]}, "x": 1}"#).is_ok());
    }

    #[test]
    fn what_is_no_object_is_refused() {
        let refused = |text: &str| parse_config(text).unwrap_err().message;
        assert!(refused("{").starts_with("the configuration is not JSON: EOF"));
        assert_eq!(refused("[1]"), "the configuration is not a JSON object: [1]");
    }
}
