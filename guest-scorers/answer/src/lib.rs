//! answer: 1 where what a model wrote after `ANSWER:` is the expected answer, else 0. It reads one
//! letter, word or line; for several letters see choice, for numbers by value numeric-answer and match.
//!
//! The rule is that of `answer` in Inspect 0.3.285.

mod extract;

use extract::{letter, line, word};
use scorebox_sdk::{
    Accepted, Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, excerpt,
    schemars,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Scores 1 when the answer after `ANSWER:` is the expected one, else 0.
///
/// `ANSWER:` is found in any case, with white space before and after the colon; the last one counts. An
/// output without an answer of the right form scores 0, and the reason says so. The expected answer is
/// the case's ground truth or the configured `value`; of a list of them any one will do.
///
/// Equals Inspect's `answer`. On purpose, white space around an answer does not count, where Inspect
/// keeps the spaces at the end of a line.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// What an answer is.
    pattern: Pattern,
    /// Compares without regard to upper and lower case.
    #[serde(default = "yes")]
    ignore_case: bool,
    /// Turns the score around: 1 where the answer is none of the expected ones.
    #[serde(default)]
    negate: bool,
    /// The expected answer, in place of the ground truth.
    #[serde(default)]
    value: Option<Value>,
    /// The expected answers, in place of the ground truth; any one will do.
    #[serde(default)]
    values: Option<Vec<Value>>,
    #[serde(skip)]
    accepted: Option<Accepted<'static>>,
}

/// What an answer is.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Pattern {
    /// One letter from A to Z, no part of a word: `ANSWER: B) Paris`.
    Letter,
    /// One word, the last of its line; `.`, `,`, `;`, `:`, `!` or `?` after it does not count.
    Word,
    /// The rest of the line, or else the next line, after which nothing may come.
    Line,
}

/// The longest answer in `meta`, in characters.
const ANSWER_SHOWN: usize = 1000;

fn yes() -> bool {
    true
}

impl Scorer for Answer {
    const INFO: Info =
        Info::new("answer", "Answer", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        self.accepted = Accepted::from_config(self.value.take(), self.values.take())?;
        Ok(())
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
        Ok(Score::pass(right != self.negate).reason(reason).meta(json!({ "answer": answer })))
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
