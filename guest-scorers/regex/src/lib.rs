//! regex: 1 if a regular expression matches the output, or captures the expected text, else 0. It takes linear time in
//! the length of the output, and therefore supports neither look-around nor back references.
//!
//! Without an expected text, the rule is that of promptfoo's `regex`; with one, it is that of Inspect's `pattern`
//! (0.3.285).

mod group;
mod judge;
mod pattern;

use std::borrow::Cow;

use group::Group;
use judge::{Judge, quoted};
use pattern::Pattern;
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Score, ScoreError, Scorer, excerpt, schemars,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Scores 1 if a regular expression matches the output, or captures the expected text, else 0.
///
/// If there is an expected text (the case's ground truth or the configured `value`), the first
/// match is compared with it: its groups, or all of it if the pattern has none. It is enough that
/// one group equals an expected text; with `matchAll` all groups must, except those that do not
/// take part in the match. Without an expected text, matching is enough. `compare` decides this for
/// all cases.
///
/// The syntax is that of Rust's regex crate: Unicode, `(?<name>…)` and `(?P<name>…)`, no
/// look-around, no back references. `\w`, `\d`, `\b` and `.` follow Unicode (in JavaScript ASCII,
/// and `.` may match half a character); without `dotAll`, `.` matches all but `\n` (in JavaScript neither `\r`,
/// `\u2028` nor `\u2029`); `[0-9]` and `(?-u:\w)` are ASCII.
///
/// Equals promptfoo's `regex` and Inspect's `pattern` (which ignores case by default; here
/// `ignoreCase` does). Scores as niceeval's `includes` does with a regular expression, which is a
/// gate there; here a suite makes it one. Deliberate difference: `$` without `multiLine` is the
/// very end of the output, as in JavaScript; in Python it is also before a final line break, which
/// is `\n?$` here. A pattern without groups compares its whole match with the expected text.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The regular expression; at most 10000 bytes.
    pattern: String,
    /// Where in the output it must match.
    #[serde(default)]
    mode: Mode,
    /// Whether the captured text is compared with the expected text: always, never or, by default,
    /// in the cases that have a ground truth.
    #[serde(default)]
    compare: Option<bool>,
    /// The group to compare, by name or number (0 is the whole match), in place of all groups.
    #[serde(default)]
    group: Option<Group>,
    /// Requires all groups to equal an expected text; by default one is enough.
    #[serde(default)]
    match_all: bool,
    /// Ignores upper and lower case in matching and comparing.
    #[serde(default)]
    ignore_case: bool,
    /// Lets `^` and `$` also match at the start and the end of a line.
    #[serde(default)]
    multi_line: bool,
    /// Lets `.` also match a line break.
    #[serde(default)]
    dot_all: bool,
    #[serde(default)]
    negate: Negate,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

/// Where in the output a pattern must match.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// Anywhere.
    #[default]
    Search,
    /// The whole output, from start to end.
    Full,
}

/// The scorer, made from its [`Config`].
pub struct Regex {
    pattern: Pattern,
    /// Whether the captured text is compared; `None`: in the cases that have a ground truth.
    compare: Option<bool>,
    judge: Judge,
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for Regex {
    type Config = Config;

    const INFO: Info = Info::new("regex", "Regular Expression", env!("CARGO_PKG_VERSION"))
        .reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { pattern, mode, mut compare, group, match_all, negate, value, values, .. } =
            config;
        let flags = pattern::Flags {
            ignore_case: config.ignore_case,
            multi_line: config.multi_line,
            dot_all: config.dot_all,
            full: mode == Mode::Full,
        };
        let pattern = Pattern::new(&pattern, &flags)
            .map_err(|message| ConfigError::new("pattern", message))?;
        let group = group.map(|group| group.number(&pattern)).transpose()?;
        if match_all && group.is_some() {
            let message = "applies to several groups; give either `group` or `matchAll`";
            return Err(ConfigError::new("matchAll", message));
        }
        let accepted = Accepted::configured(value, values)?;
        let compares =
            [("value", accepted.is_some()), ("group", group.is_some()), ("matchAll", match_all)];
        if let Some((key, _)) = compares.into_iter().find(|(_, is_set)| *is_set) {
            if compare == Some(false) {
                let message = format!("cannot be `false` while `{key}` is set, which compares");
                return Err(ConfigError::new("compare", message));
            }
            compare = Some(true);
        }
        let judge = Judge { group, match_all, ignore_case: config.ignore_case };
        Ok(Self { pattern, compare, judge, negate, accepted })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let compares = self.compare.unwrap_or_else(|| case.ground_truth().is_some());
        let expected = if compares { Some(self.expected(case)?) } else { None };
        let output = case.output();
        let output = output.text()?;
        let Some(caught) = self.pattern.catch(&output) else {
            return Ok(self
                .negate
                .pass(false)
                .reason("the pattern does not match")
                .meta(json!({ "match": null, "groups": [] })));
        };
        let (right, reason) = match expected {
            Some(expected) => self.judge.judge(&caught, &expected),
            None => (true, format!("the pattern matches {}", quoted(caught[0]))),
        };
        let shown: Vec<_> =
            caught.iter().map(|text| text.map(|text| excerpt(text, GROUP_SHOWN))).collect();
        Ok(self
            .negate
            .pass(right)
            .reason(reason)
            .meta(json!({ "match": shown[0], "groups": shown[1..] })))
    }
}

/// The longest text of a group in `meta`, in characters.
const GROUP_SHOWN: usize = 100;

impl Regex {
    fn expected(&self, case: &Case) -> Result<Vec<String>, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let parts = accepted.at_least_one()?.iter();
        parts.map(|part| part.text().map(Cow::into_owned)).collect()
    }
}

scorebox_sdk::export!(Regex);

#[cfg(test)]
mod tests;
