//! regex: 1 where a regular expression matches the output, or what it catches is the expected text,
//! else 0. It takes linear time in the length of the output, and so knows no look-around and no back
//! references.
//!
//! Without an expected text the rule is that of promptfoo's `regex`, with one that of Inspect's
//! `pattern` (0.3.285).

mod group;
mod judge;
mod pattern;

use std::borrow::Cow;

use group::Group;
use judge::{Judge, quoted};
use pattern::Pattern;
use scorebox_sdk::{
    Accepted, Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, excerpt,
    schemars,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Scores 1 when a regular expression matches the output, or what it catches is the expected text, else
/// 0.
///
/// Where there is an expected text (the case's ground truth, or the configured `value`), the first match
/// is compared with it: its groups, or all of it where the pattern has none. One group that equals an
/// expected text will do; with `matchAll` all have to, apart from groups that take no part. Where there is
/// none, matching is enough. `compare` settles this for all cases.
///
/// The syntax is that of Rust's regex crate: Unicode, `(?<name>…)` and `(?P<name>…)`, no look-around, no
/// back references. `\w`, `\d`, `\b` and `.` go by Unicode (in JavaScript by ASCII, and `.` may take
/// half of a character); `[0-9]` and `(?-u:\w)` are ASCII's.
///
/// Equals promptfoo's `regex`, niceeval's `includes` with a regular expression, and Inspect's `pattern`
/// (which ignores case unless told; here `ignoreCase` says so). On purpose, `$` without `multiLine` is
/// the very end of the output, as in JavaScript; Python's is also before a last line break: write
/// `\n?$` for that.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Regex {
    /// The regular expression; at most 10000 bytes.
    pattern: String,
    /// Where in the output it has to match.
    #[serde(default)]
    mode: Mode,
    /// Whether what was caught is compared with the expected text: always, never, or, where it is not
    /// set, in the cases that have a ground truth.
    #[serde(default)]
    compare: Option<bool>,
    /// The group that is compared, by its name or number (0 is the whole match), in place of all.
    #[serde(default)]
    group: Option<Group>,
    /// All groups have to equal an expected text; otherwise one will do.
    #[serde(default)]
    match_all: bool,
    /// Matches and compares without regard to upper and lower case.
    #[serde(default)]
    ignore_case: bool,
    /// `^` and `$` are also the start and the end of a line.
    #[serde(default)]
    multi_line: bool,
    /// `.` is also a line break.
    #[serde(default)]
    dot_all: bool,
    /// Turns the score around: 1 where the pattern does not match, or catches something else.
    #[serde(default)]
    negate: bool,
    /// The expected text, in place of the ground truth.
    #[serde(default)]
    value: Option<Value>,
    /// The expected texts, in place of the ground truth; any one will do.
    #[serde(default)]
    values: Option<Vec<Value>>,
    #[serde(skip)]
    accepted: Option<Accepted<'static>>,
    #[serde(skip)]
    compiled: Option<Pattern>,
    /// The group's number.
    #[serde(skip)]
    compared: Option<usize>,
}

/// Where in the output a pattern has to match.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// Anywhere.
    #[default]
    Search,
    /// The whole output, from its start to its end.
    Full,
}

impl Scorer for Regex {
    const INFO: Info = Info::new("regex", "Regular Expression", env!("CARGO_PKG_VERSION"))
        .reads(Fields::GROUND_TRUTH);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        let flags = pattern::Flags {
            ignore_case: self.ignore_case,
            multi_line: self.multi_line,
            dot_all: self.dot_all,
            full: self.mode == Mode::Full,
        };
        let compiled = Pattern::new(&self.pattern, &flags)
            .map_err(|message| ConfigError::new("pattern", message))?;
        self.compared = match &self.group {
            None => None,
            Some(group) => Some(group.number(&compiled)?),
        };
        if self.match_all && self.group.is_some() {
            let message = "is for several groups; give either `group` or `matchAll`";
            return Err(ConfigError::new("matchAll", message));
        }
        self.compiled = Some(compiled);
        self.accepted = Accepted::from_config(self.value.take(), self.values.take())?;
        let compares = [
            ("value", self.accepted.is_some()),
            ("group", self.group.is_some()),
            ("matchAll", self.match_all),
        ];
        if let Some((key, _)) = compares.into_iter().find(|(_, is_set)| *is_set) {
            if self.compare == Some(false) {
                let message = format!("is of no use where `{key}` is set, which compares");
                return Err(ConfigError::new("compare", message));
            }
            self.compare = Some(true);
        }
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let Some(pattern) = &self.compiled else {
            return Err(ScoreError::failed("the pattern was never compiled"));
        };
        let compares = self.compare.unwrap_or_else(|| case.ground_truth().is_some());
        let expected = if compares { Some(self.expected(case)?) } else { None };
        let output = case.output();
        let output = output.text()?;
        let Some(caught) = pattern.catch(&output) else {
            return Ok(Score::pass(self.negate)
                .reason("the pattern does not match")
                .meta(json!({ "match": null, "groups": [] })));
        };
        let (right, reason) = match expected {
            Some(expected) => {
                let Self { compared, match_all, ignore_case, .. } = *self;
                Judge { group: compared, match_all, ignore_case }.judge(&caught, &expected)
            }
            None => (true, format!("the pattern matches {}", quoted(caught[0]))),
        };
        let shown: Vec<_> =
            caught.iter().map(|text| text.map(|text| excerpt(text, GROUP_SHOWN))).collect();
        Ok(Score::pass(right != self.negate)
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
