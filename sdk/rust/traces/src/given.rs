//! Refuses `null` for a configuration key that is a requirement: it would silently drop the requirement.

use serde::{Deserialize, Deserializer, de};

/// Reads a key that must have a value if it is present: `#[serde(default, deserialize_with =
/// "scorebox_sdk_traces::given")]`.
///
/// # Errors
/// If the value is `null` or not a `T`.
pub fn given<'de, D, T>(given: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    match Option::deserialize(given)? {
        None => Err(de::Error::custom("is null, which asks for nothing; leave the key out")),
        value => Ok(value),
    }
}
