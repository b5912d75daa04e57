//! Matches texts and arguments against a configured pattern. The pattern language is niceeval's: deep partial equality,
//! with regular expressions inside.

use std::cell::OnceCell;
use std::fmt;

use regex_lite::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::expression::compile;
use crate::written::Written;
use scorebox_sdk::{ConfigError, equal};

/// A text, or `{"regex": …}`: a regular expression that is searched for. The syntax is that of
/// regex-lite: `\d`, `\w`, `\s`, `\b` and `(?i)` are ASCII only, so `(?i)` is refused beside other
/// letters that have case.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "should be a text, or {\"regex\": \"…\"}")]
pub enum TextOrRegex {
    /// The text itself.
    Text(String),
    /// A regular expression.
    Regex {
        /// The regular expression, which must match somewhere.
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
    /// Prepares the value that a configuration has under `key`.
    ///
    /// # Errors
    /// A [`ConfigError`] at `key` if the text is empty, or the regular expression is not valid.
    pub fn compile(key: &str, written: &TextOrRegex) -> Result<Self, ConfigError> {
        match written {
            TextOrRegex::Text(text) if text.is_empty() => {
                Err(ConfigError::new(key, "is an empty text; say what to look for"))
            }
            TextOrRegex::Text(text) => Ok(Self::Text(text.clone())),
            TextOrRegex::Regex { regex } => compile(key, regex).map(Self::Regex),
        }
    }

    /// Prepares one text under one key, or a list of texts under another; `None` if neither is set.
    ///
    /// # Errors
    /// A [`ConfigError`] if both are set, the list is empty, or a text is refused.
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

    /// Whether `text` equals this text, or the expression matches in it.
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
            Self::Text(text) => write!(f, "`{}`", scorebox_sdk::excerpt(text, 80)),
            Self::Regex(regex) => {
                write!(f, "`{}` (a regex)", scorebox_sdk::excerpt(regex.as_str(), 80))
            }
        }
    }
}

/// A pattern for arguments.
///
/// An object matches an object that has all of its keys, whatever other keys that has. An array matches an array that
/// begins with matching items; in a [literal](ArgumentPattern::literal), it must also have the same length. `{"regex":
/// …}` matches a text in which the expression matches. For any other value, the expression is searched for in the
/// object or array around it, as JSON text (without spaces, keys sorted or, with [`Written`], as in the trace), so that
/// it may also match neighbouring values and keys. Anything else matches an equal value.
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
    Array {
        items: Vec<Node>,
        /// Whether further items may follow.
        open: bool,
    },
    Equal(Value),
}

impl ArgumentPattern {
    /// Prepares the value that a configuration has under `key`. `exact`: the arguments must equal it, and nothing in it
    /// is a pattern.
    ///
    /// # Errors
    /// A [`ConfigError`] that names the place of a regular expression that is not valid.
    pub fn compile(key: &str, written: Value, exact: bool) -> Result<Self, ConfigError> {
        let node = if exact { Node::Equal(written.clone()) } else { node(key, &written)? };
        Ok(Self { node, written, exact })
    }

    /// Expected arguments, in which nothing is an expression. They match partially, as [`ArgumentPattern`] says, or
    /// must be equal if `exact`.
    #[must_use]
    pub fn literal(written: Value, exact: bool) -> Self {
        let node = if exact { Node::Equal(written.clone()) } else { literal(&written) };
        Self { node, written, exact }
    }

    /// Whether arguments match, with their keys sorted.
    #[must_use]
    pub fn matches(&self, arguments: &Value) -> bool {
        self.matches_with(arguments, None)
    }

    /// Whether arguments match, with their keys sorted or in the order in which the trace has them.
    #[must_use]
    pub fn matches_as_written(&self, arguments: &Value, written: &Written<'_>) -> bool {
        self.matches_with(arguments, Some(written))
    }

    fn matches_with(&self, arguments: &Value, written: Option<&Written<'_>>) -> bool {
        if self.exact {
            return equal(arguments, &self.written);
        }
        self.node.matches(Some(arguments), &Around::new(arguments, written))
    }

    /// The pattern as it is written.
    #[must_use]
    pub fn written(&self) -> &Value {
        &self.written
    }
}

/// The value around another one, and its text once it is needed.
struct Around<'v> {
    value: &'v Value,
    text: OnceCell<String>,
    written: Option<&'v Written<'v>>,
}

impl<'v> Around<'v> {
    fn new(value: &'v Value, written: Option<&'v Written<'v>>) -> Self {
        Self { value, text: OnceCell::new(), written }
    }

    fn matches(&self, regex: &Regex) -> bool {
        let sorted = self.text.get_or_init(|| self.value.to_string());
        let mut written = self.written.into_iter().flat_map(|written| written.texts(sorted));
        regex.is_match(sorted) || written.any(|text| regex.is_match(text))
    }
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
        Value::Array(items) => Node::Array {
            items: (items.iter().enumerate())
                .map(|(index, item)| node(&format!("{key}[{index}]"), item))
                .collect::<Result<_, ConfigError>>()?,
            open: true,
        },
        other => Node::Equal(other.clone()),
    })
}

/// As in promptfoo's `trajectory:tool-args-match`, where arrays must have the same length.
fn literal(written: &Value) -> Node {
    match written {
        Value::Object(object) => {
            Node::Object(object.iter().map(|(key, found)| (key.clone(), literal(found))).collect())
        }
        Value::Array(items) => {
            Node::Array { items: items.iter().map(literal).collect(), open: false }
        }
        other => Node::Equal(other.clone()),
    }
}

impl Node {
    /// As in niceeval's `deepPartial`, which treats an array like an object with indices as keys.
    fn matches(&self, actual: Option<&Value>, around: &Around<'_>) -> bool {
        match (self, actual) {
            (Self::Regex(regex), actual) => {
                actual.and_then(Value::as_str).is_some_and(|text| regex.is_match(text))
                    || around.matches(regex)
            }
            (Self::Object(wanted), Some(actual @ Value::Object(object))) => {
                let around = Around::new(actual, around.written);
                wanted.iter().all(|(key, node)| node.matches(object.get(key), &around))
            }
            (Self::Array { items: wanted, open }, Some(actual @ Value::Array(items))) => {
                let around = Around::new(actual, around.written);
                let mut pairs = wanted.iter().zip(items);
                let fits = items.len() == wanted.len() || *open && items.len() > wanted.len();
                fits && pairs.all(|(node, item)| node.matches(Some(item), &around))
            }
            (Self::Equal(wanted), Some(actual)) => equal(actual, wanted),
            _ => false,
        }
    }
}
