//! answer: 1 if what a model wrote after `ANSWER:` is the expected answer, else 0. It reads one letter, word or line;
//! for several letters see choice, for numbers that are compared by value see numeric-answer and match.
//!
//! The rule is that of `answer` in Inspect 0.3.285.

mod extract;

use extract::{letter, line, word};
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Score, ScoreError, Scorer, excerpt, schemars,
};
use serde::Deserialize;
use serde_json::json;

/// Scores 1 if the answer after `ANSWER:` is the expected one, else 0.
///
/// `ANSWER:` is matched in any case, with optional white space around the colon; the last one
/// counts. An output without an answer of the right form scores 0, and the reason says so. The
/// expected answer is the case's ground truth or the configured `value`; if there are several, any
/// one will do.
///
/// Equals Inspect's `answer`. Deliberate difference: surrounding white space is ignored; Inspect
/// keeps the spaces at the end of a line.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// What form the answer has.
    pattern: Pattern,
    /// Ignores upper and lower case.
    #[serde(default = "yes")]
    ignore_case: bool,
    #[serde(default)]
    negate: Negate,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

/// What an answer is.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Pattern {
    /// A single letter from A to Z that is not part of a word: `ANSWER: B) Paris`.
    Letter,
    /// A single word at the end of its line; a `.`, `,`, `;`, `:`, `!` or `?` after it is ignored.
    Word,
    /// The rest of the line, or else the next line; nothing may follow it.
    Line,
}

/// The longest answer in `meta`, in characters.
const ANSWER_SHOWN: usize = 1000;

fn yes() -> bool {
    true
}

/// The scorer, made from its [`Config`].
pub struct Answer {
    pattern: Pattern,
    ignore_case: bool,
    negate: Negate,
    accepted: Option<Accepted<'static>>,
}

impl Scorer for Answer {
    type Config = Config;

    const INFO: Info =
        Info::new("answer", "Answer", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { pattern, ignore_case, negate, value, values } = config;
        Ok(Self { pattern, ignore_case, negate, accepted: Accepted::configured(value, values)? })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let accepted = Accepted::or_ground_truth(&self.accepted, case)?;
        let output = case.output();
        let output = output.text()?;
        let (answer, form) = match self.pattern {
            Pattern::Letter => (letter(&output), "a letter"),
            Pattern::Word => (word(&output), "one word"),
            Pattern::Line => (line(&output), "a last line"),
        };
        let mut right = false;
        let mut expected = Vec::new();
        for part in accepted.at_least_one()? {
            let text = part.text()?;
            right = right || answer.is_some_and(|answer| self.same(answer, &text));
            expected.push(text.into_owned());
        }
        let reason = match (answer, expected.as_slice()) {
            (None, _) => format!("no answer found: the output does not have `ANSWER:` with {form}"),
            (Some(answer), _) if right => format!("the answer is \"{}\"", excerpt(answer, 80)),
            (Some(answer), [one]) => format!(
                "the answer is \"{}\", expected \"{}\"",
                excerpt(answer, 80),
                excerpt(one, 80)
            ),
            (Some(answer), many) => format!(
                "the answer is \"{}\", expected one of \"{}\"",
                excerpt(answer, 80),
                excerpt(&many.join("\", \""), 80)
            ),
        };
        let answer = answer.map(|answer| excerpt(answer, ANSWER_SHOWN));
        Ok(self.negate.pass(right).reason(reason).meta(json!({ "answer": answer })))
    }
}

impl Answer {
    fn same(&self, answer: &str, expected: &str) -> bool {
        let expected = expected.trim();
        if self.ignore_case {
            answer.to_lowercase() == expected.to_lowercase()
        } else {
            answer == expected
        }
    }
}

scorebox_sdk::export!(Answer);

#[cfg(test)]
mod tests;
