//! math: 1 if the final answer has the expected value, else 0. It computes with numbers, roots and variables within
//! bounds; it runs no code, proves nothing, and does not check the solution steps.
//!
//! Answers are found and compared as in `math` of Inspect 0.3.285, but without a computer algebra system: two
//! expressions with variables are the same if they agree for several values of the variables.

mod answer;
mod equal;
mod expression;
mod factor;
mod parse;
mod parser;
mod read;
mod tokens;
mod value;

use std::borrow::Cow;

use answer::{candidates, expected_answer};
use equal::equal;
use read::{Answer, Unreadable, as_written, first, is_formula, read};
use scorebox_sdk::{
    Accepted, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Part, Score, ScoreError, Scorer, excerpt, schemars,
};
use serde::Deserialize;
use serde_json::json;

/// Scores 1 if the final answer of a solution has the expected value, else 0.
///
/// The answer is in the last `\boxed{}`, or else follows the last "answer is", or is the last formula (`$…$`), the
/// whole output, its last line or its last number, whichever can be parsed first. The bullet of a line below others (`-
/// 42`) is no minus. If it is words ("42, because …"), the others may be right too, but not a number that stands inside
/// a formula. Plain notation and LaTeX are understood: numbers, `1,234.5`, `33.5\%` (0.335), fractions, powers, roots,
/// `\pi`, `e`, `i`, functions, factorials, variables, lists, intervals, sets, matrices, equations. `x = 2` is the
/// answer 2; degrees, currency signs and units are ignored. A unit of one letter counts as a variable (`5 m` is 5·m),
/// unless it is a text (`5\text{ m}`). Anything else is compared as text: words, and formulas with other commands (`A
/// \subset B`) or none that are understood (`C(5,2)`).
///
/// Fractions are compared exactly, roots to 12 digits, decimal fractions to 10. The expected answer
/// is the case's ground truth or the configured `value`; if there are several, any one will do, and
/// programs and texts over 4,096 bytes are skipped.
///
/// Agrees with Inspect's `math`. Deliberate differences: it also finds equal values if one side is
/// plain and the other LaTeX, and `x=1, y=2` is the answer `(1,2)`; the brackets of an interval
/// always matter, `f'` is not `f`, `1/2x` is a half of `x`, `\sqrt16` is 4, `3+4\%` is 3.04, and a
/// small number that is written out is not 0 (`1e-12`). It also understands units, fractions such as
/// `½`, superscript digits (`10²`), digits that repeat (`0.\overline{3}`, `0.1(6)`), "minus 5", "5
/// million" (which is not 5), `\bmod`, a box without braces (`\boxed 3`) and text after "is:", which
/// Inspect does not.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    #[serde(default)]
    negate: Negate,
    #[serde(default)]
    value: ExpectedValue,
    #[serde(default)]
    values: ExpectedValues,
}

/// An expected answer: its text, and how it was read.
type Expected = (String, Answer);

/// The scorer, made from its [`Config`].
pub struct Math {
    negate: Negate,
    configured: Option<Vec<Expected>>,
}

impl Scorer for Math {
    type Config = Config;

    const INFO: Info =
        Info::new("math", "Math", env!("CARGO_PKG_VERSION")).reads(Fields::GROUND_TRUTH);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { negate, value, values } = config;
        let accepted = Accepted::configured(value, values)?;
        let configured = accepted.as_ref().map(|accepted| expected(accepted.parts()));
        let configured =
            configured.transpose().map_err(|(name, message)| ConfigError::new(name, message))?;
        Ok(Self { negate, configured })
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
                return Ok(self.negate.pass(false).reason(reason).meta(json!({ "answer": null })));
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
        Ok(self
            .negate
            .pass(right)
            .reason(reason)
            .meta(json!({ "answer": excerpt(answer, ANSWER_SHOWN) })))
    }
}

/// The longest answer in `meta`, in characters.
const ANSWER_SHOWN: usize = 1000;

/// The expected answers, without programs. An answer that cannot be read is compared as text. The error names the part,
/// and says what is wrong with it.
fn expected(parts: &[Part<'_>]) -> Result<Vec<Expected>, (String, String)> {
    let refused = |part: &Part<'_>| {
        let message = format!("should be a mathematical answer, found {}", part.excerpt());
        (part.name().to_owned(), message)
    };
    let mut expected = Vec::new();
    for part in parts {
        // It fails for an escape that is not a valid character.
        let text = part.text().map_err(|_| refused(part))?;
        let Some(text) = expected_answer(&text) else { continue };
        match read(text) {
            Ok(answer) => expected.push((text.to_owned(), answer)),
            Err(Unreadable::Nothing) => expected.push((text.to_owned(), as_written(text))),
            Err(Unreadable::Refused) => {}
        }
    }
    match (expected.is_empty(), parts) {
        (true, [part, ..]) => Err(refused(part)),
        _ => Ok(expected),
    }
}

/// The answer among some candidates, and whether it is one of the expected answers.
fn judge<'t>(candidates: &[&'t str], expected: &[Expected]) -> Result<(&'t str, bool), Unreadable> {
    let is_written = |candidate: &str| {
        read(candidate) == Err(Unreadable::Nothing) && is_right(&as_written(candidate), expected)
    };
    let found = first(candidates);
    // A less likely candidate is only used because the most likely one cannot be read.
    if let Some(likeliest) = candidates.first()
        && !found.as_ref().is_ok_and(|(found, _)| found == likeliest)
        && is_written(likeliest)
    {
        return Ok((likeliest, true));
    }
    let (found, answer) = found?;
    if expected.iter().any(|(_, expected)| same(expected, &answer)) {
        return Ok((found, true));
    }
    let Answer::Text(text) = &answer else { return Ok((found, false)) };
    // Only words may surround the answer: "42, because …". A formula is one answer, and nothing inside it is another
    // one.
    let mut formulas: Vec<&str> = Vec::from_iter(is_formula(text).then_some(found));
    for candidate in candidates {
        if formulas.iter().any(|formula| is_inside(candidate, formula)) {
            continue;
        }
        match read(candidate) {
            Ok(answer) if is_right(&answer, expected) => return Ok((candidate, true)),
            Ok(Answer::Expression(_)) => formulas.push(candidate),
            Ok(Answer::Text(text)) if is_formula(&text) => formulas.push(candidate),
            _ if is_written(candidate) => return Ok((candidate, true)),
            _ => {}
        }
    }
    Ok((found, false))
}

/// Whether a part of the output is inside another one.
fn is_inside(part: &str, whole: &str) -> bool {
    let (part, whole) = (part.as_bytes().as_ptr_range(), whole.as_bytes().as_ptr_range());
    whole.start <= part.start && part.end <= whole.end
}

fn same(expected: &Answer, answer: &Answer) -> bool {
    match (expected, answer) {
        (Answer::Expression(expected), Answer::Expression(answer)) => equal(expected, answer),
        (Answer::Text(expected), Answer::Text(answer)) => expected == answer,
        _ => false,
    }
}

/// Whether an answer is an expression with an expected value, or an expected word.
fn is_right(answer: &Answer, expected: &[Expected]) -> bool {
    let is_sentence = matches!(answer, Answer::Text(text) if text.contains(' '));
    !is_sentence && expected.iter().any(|(_, expected)| same(expected, answer))
}

scorebox_sdk::export!(Math);

#[cfg(test)]
mod tests;
