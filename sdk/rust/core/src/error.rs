//! Why a case got no score, and what is wrong with a configuration. Nothing here formats for a
//! terminal: the engine does.

use std::fmt;

/// Why a case got no score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScoreError {
    /// The case lacks what the scorer needs, or has it in a form that the scorer cannot read.
    InvalidInput(String),
    /// Anything else that went wrong inside the scorer.
    Failed(String),
}

impl ScoreError {
    /// The case lacks something, or has it in the wrong form; name the field, and what was found.
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::InvalidInput(message.into())
    }

    /// The scorer itself could not do its work.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// Extends the error of a case that lacks a part: says that the configuration has no replacement either. `keys` are
    /// the keys that could take the part's place, worded so that they can follow "has no": "`names` or `value`".
    ///
    /// ```
    /// # use scorebox_sdk::Case;
    /// # let case = Case::default();
    /// let missing = case.require_input().unwrap_err().nor_configured("`source`");
    /// assert_eq!(
    ///     missing.message(),
    ///     "the case has no `input`, which this scorer needs, and the configuration has no `source` in its place"
    /// );
    /// ```
    #[must_use]
    pub fn nor_configured(self, keys: &str) -> Self {
        match self {
            Self::InvalidInput(missing) => Self::InvalidInput(
                [&missing, ", and the configuration has no ", keys, " in its place"].concat(),
            ),
            other => other,
        }
    }

    /// The message, without the kind.
    #[must_use]
    pub fn message(&self) -> &str {
        match self {
            Self::InvalidInput(message) | Self::Failed(message) => message,
        }
    }
}

impl fmt::Display for ScoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for ScoreError {}

/// JSON that a scorer cannot read is the case's fault, not the scorer's.
impl From<serde_json::Error> for ScoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::InvalidInput(error.to_string())
    }
}

impl From<String> for ScoreError {
    fn from(message: String) -> Self {
        Self::Failed(message)
    }
}

impl From<&str> for ScoreError {
    fn from(message: &str) -> Self {
        Self::Failed(message.to_owned())
    }
}

/// What is wrong with a configuration, for the user who wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    key: Option<String>,
    message: String,
}

impl ConfigError {
    /// An error at one key. `key` is its full path as the user wrote it (`limits.max`, `values[2]`); `message` says
    /// what was found and what is allowed. A message that begins with `is` continues a sentence that begins with the
    /// key.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: Some(key.into()), message: message.into() }
    }

    /// An error of the configuration as a whole.
    pub fn whole(message: impl Into<String>) -> Self {
        Self { key: None, message: message.into() }
    }

    /// The path of the wrong key; `None` for an error of the whole configuration.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            // The key is the subject of the message: `max` is required.
            Some(key) if self.message.starts_with("is ") => write!(f, "`{key}` {}", self.message),
            Some(key) => write!(f, "`{key}`: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ConfigError {}
