//! contains: 1 if the output contains the expected texts, else 0. It matches plain text; it knows no patterns (see
//! regex) and no words (see keyword-coverage).
//!
//! The rules are those of promptfoo's `contains` family and of `includes` in Inspect.

mod list;

use std::borrow::Cow;

use caseless::default_case_fold_str;
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonObject,
    JsonSchema, Negate, Score, ScoreError, Scorer, excerpt, schemars,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most texts that each list of `meta` has.
const SHOWN: usize = 100;

/// How much of a text `meta` shows, in characters.
const SHOWN_LENGTH: usize = 80;

/// The initial capacity of a reason, in bytes: enough for most.
const USUAL_REASON: usize = 64;

/// Scores 1 if the output contains the expected texts, else 0.
///
/// The texts are the configured `value` or `values`, or else the case's ground truth: one text or a
/// list. `mode` says how many of them must occur, and `at` says where. An output that is not a
/// string is searched as its compact JSON text. Every output contains the empty text.
///
/// Equals promptfoo's `contains`, `contains-any` and `contains-all` (`mode`), `icontains…`
/// (`ignoreCase`), `starts-with` (`at`) and `not-…` (`negate`), and Inspect's
/// `includes` with `ignoreCase`. Scores as niceeval's `includes` does, which is a gate there; here
/// a suite makes it one. Deliberate difference: a list without any text is refused, where
/// promptfoo's `…-any` scores 0 and its `…-all` 1. `ignoreCase` folds case as Unicode says (`ß` is `ss`);
/// promptfoo only lowers it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// How many of the texts must occur.
    #[serde(default)]
    mode: Mode,
    /// Where in the output they must occur.
    #[serde(default)]
    at: At,
    /// Ignores upper and lower case (Unicode full case folding).
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    negate: Negate,
    /// The text to look for, in place of the ground truth; not empty, and not a list. For a list of texts use `values`;
    /// a list inside `values` is searched for as its JSON text.
    #[serde(default)]
    value: ExpectedValue,
    /// The texts to look for, in place of the ground truth: a list, or one text with commas between
    /// them (`red, "dark, blue"`), as promptfoo writes them.
    #[serde(default)]
    values: Option<Texts>,
}

/// The scorer, made from its [`Config`].
pub struct Contains {
    mode: Mode,
    at: At,
    ignore_case: bool,
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

/// Texts to look for.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "should be a list of texts, or one text with commas between them")]
enum Texts {
    /// One by one.
    List(Vec<Value>),
    /// Separated by commas, with double quotes around a text that contains a comma.
    Separated(String),
}

/// How many of the texts must be there.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// At least one of them.
    #[default]
    Any,
    /// Every one of them.
    All,
    /// None of them.
    None,
}

/// Where in the output a text must be.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum At {
    /// Anywhere.
    #[default]
    Anywhere,
    /// At the very start, including white space.
    Start,
    /// At the very end, including white space.
    End,
}

impl Scorer for Contains {
    type Config = Config;
    const INFO: Info =
        Info::new("contains", "Contains", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { mode, at, ignore_case, negate, value, values } = config;
        if value.0.as_ref().and_then(Value::as_str) == Some("") {
            return Err(ConfigError::new("value", "is empty, and would be in every output"));
        }
        if value.0.as_ref().is_some_and(Value::is_array) {
            let message = "is a list, which would be looked for as one JSON text; for several texts, use `values`";
            return Err(ConfigError::new("value", message));
        }
        let values = match values {
            None => None,
            Some(Texts::List(values)) => Some(values),
            Some(Texts::Separated(text)) => {
                Some(list::split(&text).map_err(|problem| ConfigError::new("values", problem))?)
            }
        };
        let accepted = Accepted::configured(value, ExpectedValues(values))?;
        Ok(Self { mode, at, ignore_case, negate, accepted })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let output = case.output();
        let output = self.fold(output.text()?);
        let parts = accepted.at_least_one()?;
        let list = || Vec::with_capacity(parts.len());
        let (mut found, mut missing) = (list(), list());
        for part in parts {
            let text = part.text()?;
            let here = self.at.holds(&output, &self.fold(Cow::Borrowed(&text)));
            let list = if here { &mut found } else { &mut missing };
            list.push(text);
        }
        let meta =
            JsonObject::new().texts("found", shown(&found)).texts("missing", shown(&missing));
        Ok(self
            .negate
            .pass(self.mode.passes(&found, &missing))
            .reason(reason(&found, &missing))
            .meta(meta))
    }
}

impl Contains {
    fn fold<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        if !self.ignore_case {
            return text;
        }
        match text.is_ascii() {
            true => Cow::Owned(text.to_ascii_lowercase()),
            false => Cow::Owned(default_case_fold_str(&text)),
        }
    }
}

impl Mode {
    fn passes(self, found: &[Cow<'_, str>], missing: &[Cow<'_, str>]) -> bool {
        match self {
            Mode::Any => !found.is_empty(),
            Mode::All => missing.is_empty(),
            Mode::None => found.is_empty(),
        }
    }
}

impl At {
    fn holds(self, output: &str, text: &str) -> bool {
        match self {
            At::Anywhere => output.contains(text),
            At::Start => output.starts_with(text),
            At::End => output.ends_with(text),
        }
    }
}

fn shown<'t>(texts: &'t [Cow<'_, str>]) -> impl Iterator<Item = Cow<'t, str>> {
    texts.iter().take(SHOWN).map(|text| excerpt(text, SHOWN_LENGTH))
}

fn reason(found: &[Cow<'_, str>], missing: &[Cow<'_, str>]) -> String {
    // Built without the formatting machinery, which would take longer than the search.
    let mut reason = String::with_capacity(USUAL_REASON);
    for (title, texts) in [("found ", found), ("missing ", missing)] {
        if texts.is_empty() {
            continue;
        }
        reason.push_str(if reason.is_empty() { "" } else { "; " });
        reason.push_str(title);
        let start = reason.len();
        for (index, text) in texts.iter().enumerate() {
            reason.push_str(if index == 0 { "\"" } else { ", \"" });
            reason.push_str(text);
            reason.push('"');
        }
        if let Cow::Owned(cut) = excerpt(&reason[start..], 80) {
            reason.truncate(start);
            reason.push_str(&cut);
        }
    }
    reason
}

scorebox_sdk::export!(Contains);

#[cfg(test)]
mod tests;
