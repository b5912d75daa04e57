//! The group of a pattern that the configuration names. It captures nothing.

use scorebox_sdk::{ConfigError, JsonSchema, schemars};
use serde::Deserialize;

use crate::pattern::Pattern;

/// A group of a pattern.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "should be the name or the number of a group")]
pub(crate) enum Group {
    /// Its number, from 1 on; 0 is the whole match.
    Number(usize),
    /// Its name.
    Name(String),
}

impl Group {
    /// The number of the group, if the pattern has it.
    pub(crate) fn number(&self, pattern: &Pattern) -> Result<usize, ConfigError> {
        let count = pattern.names().count();
        let found = match self {
            Group::Number(number) => Some(*number).filter(|number| *number < count),
            Group::Name(wanted) => pattern.names().position(|name| name == Some(wanted.as_str())),
        };
        found.ok_or_else(|| {
            let names: Vec<_> = pattern.names().flatten().collect();
            let names = match names.as_slice() {
                [] => "no names".to_owned(),
                names => format!("the names `{}`", names.join("`, `")),
            };
            let message = format!(
                "should be a group of the pattern, which has {} groups and {names}",
                count - 1
            );
            ConfigError::new("group", message)
        })
    }
}
