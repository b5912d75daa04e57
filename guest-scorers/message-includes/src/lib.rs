//! message-includes: 1 if what the agent said in the whole run contains a text. To search only its last answer, see
//! contains.
//!
//! The rule is niceeval's `messageIncludes`.

use scorebox_sdk::{
    Case, Checks, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity,
    schemars,
};
use scorebox_sdk_traces::{Role, TextOrRegex, TextPattern, Trace};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Scores whether the agent's messages contain texts: the fraction of the texts that occur in all
/// of its messages together, joined by line breaks.
///
/// The texts are the configured `value` or `values`, each a text or `{"regex": …}`, or else the
/// ground truth: one text or a list. If the case has neither messages nor a trace, its output is
/// the agent's message; there is no user's message then, so `from: user` is an error. Regular
/// expressions have the syntax of regex-lite: `\d`, `\w`, `\s`, `\b` and `(?i)` are ASCII only. Equals
/// niceeval's `messageIncludes`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The text to look for, in place of the ground truth.
    #[serde(default, deserialize_with = "scorebox_sdk::not_null")]
    value: Option<TextOrRegex>,
    /// The texts to look for, in place of the ground truth.
    #[serde(default)]
    values: Option<Vec<TextOrRegex>>,
    /// How many of the texts must occur.
    #[serde(default)]
    mode: Mode,
    /// Whose messages are searched.
    #[serde(default)]
    from: From,
    /// Inverts the score: 1 if none of the texts occurs, else 0.
    #[serde(default)]
    negate: bool,
}

/// How many of the texts must be there.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// Every one of them; the score is the fraction that occurs.
    #[default]
    All,
    /// At least one of them.
    Any,
}

/// Whose messages are searched.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum From {
    /// The agent's.
    #[default]
    Assistant,
    /// The user's.
    User,
    /// Everyone's.
    Anyone,
}

/// The scorer, made from its [`Config`].
pub struct MessageIncludes {
    wanted: Vec<TextPattern>,
    mode: Mode,
    from: From,
    negate: bool,
}

impl Scorer for MessageIncludes {
    type Config = Config;

    const INFO: Info = Info::new("message-includes", "Message Includes", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE.and(Fields::GROUND_TRUTH))
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { value, values, mode, from, negate } = config;
        let wanted = TextPattern::compile_all(("value", &value), ("values", &values))?;
        Ok(Self { wanted, mode, from, negate })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let from_case = if self.wanted.is_empty() { of_ground_truth(case)? } else { Vec::new() };
        let wanted = if self.wanted.is_empty() { &from_case } else { &self.wanted };
        let said = self.said(case)?;
        let mut checks = Checks::default();
        let mut any = false;
        for text in wanted {
            let found = text.is_in(&said);
            any |= found;
            let is = if found { "is" } else { "is not" };
            let name = if self.negate { "does not say" } else { "says" };
            let reason = format!("{text} {is} in the messages");
            checks.add(format!("{name} {text}"), found != self.negate, reason);
        }
        let mut score = checks.into_score();
        match (self.mode, self.negate) {
            (Mode::Any, false) => score.score = Some(if any { 1.0 } else { 0.0 }),
            (_, true) => score.score = Some(if any { 0.0 } else { 1.0 }),
            (Mode::All, false) => {}
        }
        if self.mode == Mode::Any && any && !self.negate {
            let found = wanted.iter().find(|text| text.is_in(&said));
            score.reason = found.map(|text| format!("{text} is in the messages"));
        }
        Ok(score)
    }
}

impl MessageIncludes {
    /// Everything that was said, joined by line breaks.
    fn said(&self, case: &Case) -> Result<String, ScoreError> {
        let output = case.output();
        let may_be_said = case.trace().is_none() && self.from != From::User;
        // An output that is a text is what the agent said, even if it is JSON; it does not contain the user's words.
        if may_be_said && output.is_string() {
            return Ok(output.text()?.into_owned());
        }
        let trace = match Trace::of(case) {
            Err(_) if may_be_said => return Ok(output.text()?.into_owned()),
            trace => trace?,
        };
        let searched = |role: &Role| match self.from {
            From::Assistant => *role == Role::Assistant,
            From::User => *role == Role::User,
            From::Anyone => true,
        };
        let texts: Vec<_> =
            (trace.messages()).filter(|(role, _)| searched(role)).map(|(_, text)| text).collect();
        Ok(texts.join("\n"))
    }
}

/// The texts that the ground truth names.
fn of_ground_truth(case: &Case) -> Result<Vec<TextPattern>, ScoreError> {
    let truth = case.require_ground_truth().map_err(|missing| missing.nor_configured("`value`"))?;
    let values = match truth.value()? {
        Value::Array(values) => values,
        one => vec![one],
    };
    let text = |value: Value| match value {
        Value::String(text) if !text.is_empty() => Ok(TextPattern::Text(text)),
        Value::Number(number) => Ok(TextPattern::Text(number.to_string())),
        _ => Err(truth.should_be("a text, or a list of texts")),
    };
    let texts: Vec<_> = values.into_iter().map(text).collect::<Result<_, _>>()?;
    if texts.is_empty() {
        return Err(ScoreError::invalid_input(
            "`groundTruth` is an empty list; it should name at least one text",
        ));
    }
    Ok(texts)
}

scorebox_sdk::export!(MessageIncludes);

#[cfg(test)]
mod tests;
