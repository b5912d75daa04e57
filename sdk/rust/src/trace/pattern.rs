//! Matches texts and arguments with what a configuration asks for. Its language is niceeval's: deep
//! partial equality, with regular expressions in it.

use std::cell::OnceCell;
use std::fmt;

use regex_lite::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{ConfigError, equal};

/// A text, or `{"regex": …}`: a regular expression that is searched for. In the syntax of
/// regex-lite: `\d`, `\w`, `\s`, `\b` and `(?i)` know ASCII only.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "should be a text, or {\"regex\": \"…\"}")]
pub enum TextOrRegex {
    /// The text itself.
    Text(String),
    /// A regular expression.
    Regex {
        /// The regular expression, which has to match somewhere.
        regex: String,
    },
}

/// A [`TextOrRegex`] that is ready to match.
#[derive(Debug, Clone)]
pub enum TextPattern {
    /// The text itself.
    Text(String),
    /// A regular expression that is searched for.
    Regex(Regex),
}

impl TextPattern {
    /// Prepares what stands in a configuration under `key`.
    ///
    /// # Errors
    /// A [`ConfigError`] at `key` where the text is empty, or no regular expression.
    pub fn compile(key: &str, written: &TextOrRegex) -> Result<Self, ConfigError> {
        match written {
            TextOrRegex::Text(text) if text.is_empty() => {
                Err(ConfigError::new(key, "is an empty text; say what to look for"))
            }
            TextOrRegex::Text(text) => Ok(Self::Text(text.clone())),
            TextOrRegex::Regex { regex } => compile(key, regex).map(Self::Regex),
        }
    }

    /// Prepares one text under one key, or a list of them under another; none where neither is set.
    ///
    /// # Errors
    /// A [`ConfigError`] where both are set, the list is empty, or a text is refused.
    pub fn compile_all(
        one: (&str, &Option<TextOrRegex>),
        many: (&str, &Option<Vec<TextOrRegex>>),
    ) -> Result<Vec<Self>, ConfigError> {
        match (one.1, many.1) {
            (Some(_), Some(_)) => {
                let message = format!("give either `{}` or `{}`, not both", one.0, many.0);
                Err(ConfigError::new(many.0, message))
            }
            (Some(written), None) => Ok(vec![Self::compile(one.0, written)?]),
            (None, Some(all)) if all.is_empty() => {
                Err(ConfigError::new(many.0, "is an empty list; name at least one"))
            }
            (None, Some(all)) => (all.iter().enumerate())
                .map(|(index, written)| Self::compile(&format!("{}[{index}]", many.0), written))
                .collect(),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// Whether `text` is this text, or the expression matches in it.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        match self {
            Self::Text(wanted) => wanted == text,
            Self::Regex(regex) => regex.is_match(text),
        }
    }

    /// Whether this text is in `text`, or the expression matches in it.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Text(wanted) => text.contains(wanted.as_str()),
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

impl fmt::Display for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "`{}`", crate::excerpt(text, 80)),
            Self::Regex(regex) => write!(f, "`{}` (a regex)", crate::excerpt(regex.as_str(), 80)),
        }
    }
}

fn compile(key: &str, regex: &str) -> Result<Regex, ConfigError> {
    Regex::new(regex)
        .map_err(|error| ConfigError::new(key, format!("is no regular expression: {error}")))
}

/// What arguments have to look like.
///
/// An object matches one that has all its keys, whatever else that has; an array, one of the same
/// length, item by item; `{"regex": …}`, a text that the expression matches in, or else the whole
/// arguments as JSON text (without spaces, keys sorted), so that a path is found wherever it hides.
/// All else matches what equals it.
#[derive(Debug, Clone)]
pub struct ArgumentPattern {
    node: Node,
    written: Value,
    exact: bool,
}

#[derive(Debug, Clone)]
enum Node {
    Regex(Regex),
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
    Equal(Value),
}

impl ArgumentPattern {
    /// Prepares what stands in a configuration under `key`. `exact`: the arguments have to equal
    /// it, and nothing in it is a pattern.
    ///
    /// # Errors
    /// A [`ConfigError`] that names the place of what is no regular expression.
    pub fn compile(key: &str, written: Value, exact: bool) -> Result<Self, ConfigError> {
        let node = if exact { Node::Equal(written.clone()) } else { node(key, &written)? };
        Ok(Self { node, written, exact })
    }

    /// Arguments that are expected as they stand: nothing in them is an expression. Partly, as
    /// [`ArgumentPattern`] says, or `exact`.
    #[must_use]
    pub fn literal(written: Value, exact: bool) -> Self {
        let node = if exact { Node::Equal(written.clone()) } else { literal(&written) };
        Self { node, written, exact }
    }

    /// Whether arguments match.
    #[must_use]
    pub fn matches(&self, arguments: &Value) -> bool {
        if self.exact {
            return equal(arguments, &self.written);
        }
        let root = Root { value: arguments, text: OnceCell::new() };
        self.node.matches(Some(arguments), &root)
    }

    /// The pattern as it is written.
    #[must_use]
    pub fn written(&self) -> &Value {
        &self.written
    }
}

/// The whole arguments, and their text once somebody asks for it.
struct Root<'v> {
    value: &'v Value,
    text: OnceCell<String>,
}

fn node(key: &str, written: &Value) -> Result<Node, ConfigError> {
    Ok(match written {
        Value::Object(object) => match (object.get("regex"), object.len()) {
            (Some(Value::String(regex)), 1) => Node::Regex(compile(key, regex)?),
            _ => Node::Object(
                (object.iter())
                    .map(|(name, value)| Ok((name.clone(), node(&format!("{key}.{name}"), value)?)))
                    .collect::<Result<_, ConfigError>>()?,
            ),
        },
        Value::Array(items) => Node::Array(
            (items.iter().enumerate())
                .map(|(index, item)| node(&format!("{key}[{index}]"), item))
                .collect::<Result<_, ConfigError>>()?,
        ),
        other => Node::Equal(other.clone()),
    })
}

fn literal(written: &Value) -> Node {
    match written {
        Value::Object(object) => {
            Node::Object(object.iter().map(|(key, found)| (key.clone(), literal(found))).collect())
        }
        Value::Array(items) => Node::Array(items.iter().map(literal).collect()),
        other => Node::Equal(other.clone()),
    }
}

impl Node {
    fn matches(&self, actual: Option<&Value>, root: &Root<'_>) -> bool {
        match self {
            Self::Regex(regex) => {
                actual.and_then(Value::as_str).is_some_and(|text| regex.is_match(text))
                    || regex.is_match(root.text.get_or_init(|| root.value.to_string()))
            }
            Self::Object(wanted) => actual.and_then(Value::as_object).is_some_and(|object| {
                wanted.iter().all(|(key, node)| node.matches(object.get(key), root))
            }),
            Self::Array(wanted) => actual.and_then(Value::as_array).is_some_and(|items| {
                items.len() == wanted.len()
                    && wanted.iter().zip(items).all(|(node, item)| node.matches(Some(item), root))
            }),
            Self::Equal(wanted) => actual.is_some_and(|actual| equal(actual, wanted)),
        }
    }
}
