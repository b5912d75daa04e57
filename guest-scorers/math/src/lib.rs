//! math: 1 where the final answer has the expected value, else 0. It computes with numbers, roots and
//! letters within bounds; it runs no code, proves nothing and checks no working.
//!
//! Answers are found and compared as `math` in Inspect 0.3.285 does it, without a computer algebra system:
//! two expressions with letters are the same where they agree for several numbers in the letters' place.

mod answer;
mod equal;
mod expression;
mod factor;
mod parse;
mod read;
mod tokens;
mod value;

use std::borrow::Cow;

use answer::{candidates, expected_candidates};
use equal::equal;
use read::{Answer, Unreadable, first, read};
use scorebox_sdk::{
    Accepted, Case, ConfigError, Fields, Info, JsonSchema, Part, Score, ScoreError, Scorer,
    excerpt, schemars,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Scores 1 when the final answer of a solution has the expected value, else 0.
///
/// The answer is what is in the last `\boxed{}`, or else after the last "answer is", in the last formula
/// (`$…$`), the whole output, its last line or its last number, whichever can be read first. Plain
/// notation and LaTeX are read: numbers, `1,234.5`, `33.5\%` (0.335), fractions, powers, roots, `\pi`, `e`,
/// `i`, functions, factorials, variables, lists, intervals, sets, matrices, equations. `x = 2` is the
/// answer 2; degrees, currency signs and units do not count. What is no mathematics is compared as text.
///
/// Fractions are compared exactly, roots to 12 digits, decimal fractions to 10. The expected answer is the
/// case's ground truth or the configured `value`; of a list of them any one will do, and those that
/// cannot be read are passed over.
///
/// Agrees with Inspect's `math`. On purpose it finds the same value also where one side is plain and the
/// other one LaTeX, and an interval's brackets always count; it also reads units, fractions such as
/// `½`, raised digits (`10²`), a box without braces (`\boxed 3`) and what stands after "is:", which Inspect does not.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Math {
    /// Turns the score around: 1 where the answer has another value.
    #[serde(default)]
    negate: bool,
    /// The expected answer, in place of the ground truth.
    #[serde(default)]
    value: Option<Value>,
    /// The expected answers, in place of the ground truth; any one will do.
    #[serde(default)]
    values: Option<Vec<Value>>,
    #[serde(skip)]
    configured: Option<Vec<Expected>>,
}

/// An expected answer, as it is written and as it is read.
type Expected = (String, Answer);

impl Scorer for Math {
    const INFO: Info =
        Info::new("math", "Math", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        let accepted = Accepted::from_config(self.value.take(), self.values.take())?;
        let configured = accepted.as_ref().map(|accepted| expected(accepted.parts()));
        self.configured =
            configured.transpose().map_err(|(name, message)| ConfigError::new(name, message))?;
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let expected = match &self.configured {
            Some(configured) => Cow::Borrowed(configured),
            None => Cow::Owned(
                expected(Accepted::or_ground_truth(&None, case)?.at_least_one()?).map_err(
                    |(name, problem)| ScoreError::invalid_input(format!("`{name}` {problem}")),
                )?,
            ),
        };
        let output = case.output();
        let output = output.text()?;
        let (answer, right) = match judge(&candidates(&output), &expected) {
            Ok((answer, right)) => (answer, right),
            Err(problem) => {
                let reason = match problem {
                    Unreadable::Nothing => "no mathematical answer found",
                    Unreadable::Refused => "the answer is a program, or too long",
                };
                return Ok(Score::pass(self.negate).reason(reason).meta(json!({ "answer": null })));
            }
        };
        let shown = excerpt(answer, 80);
        let reason = match (right, expected.as_slice()) {
            (true, _) => format!("the answer {shown} is right"),
            (false, [(one, _)]) => format!("the answer is {shown}, expected {}", excerpt(one, 80)),
            (false, many) => {
                let list: Vec<&str> = many.iter().map(|(text, _)| text.as_str()).collect();
                format!("the answer is {shown}, expected one of {}", excerpt(&list.join("; "), 80))
            }
        };
        Ok(Score::pass(right != self.negate)
            .reason(reason)
            .meta(json!({ "answer": excerpt(answer, ANSWER_SHOWN) })))
    }
}

/// The longest answer in `meta`, in characters.
const ANSWER_SHOWN: usize = 1000;

/// The expected answers that can be read. An error names the part and says what is wrong with it.
fn expected(parts: &[Part<'_>]) -> Result<Vec<Expected>, (String, String)> {
    let mut expected = Vec::new();
    for part in parts {
        let text = part.text().map_err(|error| (part.name().to_owned(), error.to_string()))?;
        if let Ok((text, answer)) = first(&expected_candidates(&text)) {
            expected.push((text.to_owned(), answer));
        }
    }
    match (expected.is_empty(), parts) {
        (true, [part, ..]) => {
            let found = part.excerpt();
            let message = format!("should be a mathematical answer, found {found}");
            Err((part.name().to_owned(), message))
        }
        _ => Ok(expected),
    }
}

/// The answer among some candidates, and whether it is an expected one.
fn judge<'t>(candidates: &[&'t str], expected: &[Expected]) -> Result<(&'t str, bool), Unreadable> {
    let (found, answer) = first(candidates)?;
    if expected.iter().any(|(_, expected)| same(expected, &answer)) {
        return Ok((found, true));
    }
    // Words may only be around the answer: "42, because …".
    let is_right = |candidate: &&&str| is_value(candidate, expected);
    let is_text = matches!(answer, Answer::Text(_));
    let inside = candidates.iter().filter(|_| is_text).find(is_right);
    Ok(inside.map_or((found, false), |inside| (*inside, true)))
}

fn same(expected: &Answer, answer: &Answer) -> bool {
    match (expected, answer) {
        (Answer::Expression(expected), Answer::Expression(answer)) => equal(expected, answer),
        (Answer::Text(expected), Answer::Text(answer)) => expected == answer,
        _ => false,
    }
}

/// Whether a candidate is an expression with an expected value, or an expected word.
fn is_value(candidate: &str, expected: &[Expected]) -> bool {
    let Ok(answer) = read(candidate) else { return false };
    let is_sentence = matches!(&answer, Answer::Text(text) if text.contains(' '));
    !is_sentence && expected.iter().any(|(_, expected)| same(expected, &answer))
}

scorebox_sdk::export!(Math);

#[cfg(test)]
mod tests;
