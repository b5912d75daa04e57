//! Reads an answer: the JSON in it, one of several choices, or a number on a scale. What to ask if an answer cannot be
//! read is decided elsewhere.
//!
//! A judge may quote what it judges, and an output may contain a false verdict. So an answer with several verdicts that
//! differ is unreadable, and so is one whose only verdict may be a quotation or cut off: the judge is asked again, and
//! no verdict is picked.
//!
//! `said` is an answer without its draft; `values` finds JSON in it, `lines` verdicts on a line, `names` the names of
//! choices, `labels` the words before a verdict, `scale` the range that an answer states for its number, and
//! `quotations` what may be the case's words.

mod labels;
mod lines;
mod names;
mod quotations;
mod said;
mod scale;
mod values;

use std::borrow::Cow;

use scorebox_sdk::{Part, push_whole};
use serde_json::Value;

pub(crate) use self::quotations::quotations;
use self::{
    names::{are_listed, exactly, in_brackets, named},
    said::{InJson, NoVerdict, Said},
};
use crate::Answer;

/// The most bytes of an answer that are read.
pub const MAX_ANSWER_BYTES: usize = 256 << 10;
/// How much of an unknown choice is shown, in characters.
const SHOWN: usize = 120;
/// Keys under which JSON may state the scale of its score.
const RANGES: [&str; 6] = ["scale", "range", "out_of", "max", "max_score", "maximum"];
/// The message for an answer that quotes another verdict.
const SEVERAL: &str = "it has several verdicts in it that differ";

/// A verdict in JSON: the whole answer, or objects and lists that end it, begin it or follow a label, in a code fence
/// or not, and that do not occur in a text of the case. `read` turns a value into a verdict, or says what is wrong with
/// it. Text before `</think>` is not read.
///
/// # Errors
/// What is wrong with the answer, for the repair question: no verdict, or several that differ.
pub fn json<T: PartialEq>(
    answer: &Answer,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<T, String> {
    Said::of(answer)?.in_json(|value| read(value).map_err(NoVerdict::Missing))?.or_in_words(None)
}

/// The index of the chosen name: in the key `choice` of JSON, as the whole answer, on its last line, such as `Answer:
/// B`, `[RESULT] B`, `(B)`, `I choose (B)` or `B) it fits`, or alone on its first line. The words of an answer that is
/// cut off, or whose JSON is, are not a choice; nor is a name followed by another one, as in `B) not (A)`.
///
/// # Errors
/// What is wrong with the answer: no choice, or several that differ.
pub fn choice(answer: &Answer, names: &[&str]) -> Result<usize, String> {
    let said = Said::of(answer)?;
    let in_json = said.in_json(|value| chosen(value, names))?;
    let in_words = match said.words() {
        Some(text) => choice_in_words(&text, names, &in_json, said.quotations())?,
        None => None,
    };
    in_json.or_in_words(in_words)
}

/// A number on the scale: in the key `score` of JSON, as the whole answer, on its last line, such as `Score: 7`,
/// `[RESULT] 7`, `7/10` or, on a scale from 0 to 1, `70%`, or alone on its first line. The words of an answer that is
/// cut off, or whose JSON is, are not a number. If an answer says that its number is on another scale, as `Score
/// (1-10): 4` may, the number is not read.
///
/// # Errors
/// What is wrong with the answer: no number, one outside the scale or on another one, or several that differ.
pub fn number(answer: &Answer, least: f64, most: f64) -> Result<f64, String> {
    scored(answer, (least, most), false)
}

/// A number as [`number`] reads it or, if that finds none, a number off the scale under the key `score` of JSON; the
/// caller decides what that means.
///
/// # Errors
/// What [`number`] says is wrong with the answer.
pub fn number_or_beyond(answer: &Answer, least: f64, most: f64) -> Result<f64, String> {
    number(answer, least, most).or_else(|why| scored(answer, (least, most), true).map_err(|_| why))
}

/// A number on the scale; with `beyond`, JSON may have one that is off it.
fn scored(answer: &Answer, (least, most): (f64, f64), beyond: bool) -> Result<f64, String> {
    let within = |number: f64| {
        let holds = (least..=most).contains(&number);
        holds.then_some(number).ok_or_else(|| format!("the score {number} is not on the scale"))
    };
    let graded = |value: &Value| {
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => written(text, least, most),
            other => {
                let score = Part::new("score", other.to_string());
                return Err(score.should_be("a number").to_string());
            }
        };
        let number = number.filter(|number| number.is_finite());
        number.ok_or_else(|| "`score` is not a number".to_owned())
    };
    let alone = |value: &Value| match value {
        Value::Number(_) | Value::String(_) => graded(value),
        _ => Err("`score` is missing".to_owned()),
    };
    let read = |value: &Value| {
        let Some(score) = member(value, &["score"]) else {
            return alone(value).and_then(within).map_err(NoVerdict::Missing);
        };
        let range = member(value, &RANGES).unwrap_or(&Value::Null);
        let number = scale::check_value(range, (least, most)).and_then(|()| graded(score));
        number.and_then(|it| if beyond { Ok(it) } else { within(it) }).map_err(NoVerdict::Wrong)
    };
    let said = Said::of(answer)?;
    let in_json = said.in_json(read)?;
    let in_line = |line: &str| written(line, least, most);
    let in_words = match said.words() {
        Some(text) => lines::verdict(&text, &in_json, said.quotations(), (in_line, in_line))?,
        None => None,
    };
    let may_be_beyond = beyond && matches!(in_json, InJson::Own(_));
    let is_silent = said.has_no_json() && !said.is_open() && in_words.is_none();
    let number = in_json.or_in_words(in_words).map_err(|why| {
        let is_fraction = || scale::states_another(said.text(), said.quotations(), (least, most));
        if is_silent && is_fraction() { scale::ANOTHER.to_owned() } else { why }
    })?;
    scale::check(&said.outside_json(), said.quotations(), number, (least, most))?;
    if may_be_beyond { Ok(number) } else { within(number) }
}

/// What an answer says in words in addition to its verdict.
pub(crate) fn beside_verdict(answer: &Answer) -> Option<&str> {
    lines::beside_verdict(Said::of(answer).ok()?.text())
}

/// The index of the choice that a value names: a text, or an object with a key for it.
fn chosen(value: &Value, names: &[&str]) -> Result<usize, NoVerdict> {
    let written = match value {
        Value::String(_) => Some(value),
        _ => member(value, &["choice", "answer", "verdict", "label"]),
    };
    let written = written.and_then(word).ok_or_else(|| missing("choice"))?;
    named(&written, names).ok_or_else(|| {
        let written = scorebox_sdk::excerpt(&written, SHOWN);
        let why = format!("`choice` is \"{written}\", which is not one of the choices");
        // Other keys may hold something other than the verdict.
        match member(value, &["choice"]) {
            Some(_) => NoVerdict::Wrong(why),
            None => NoVerdict::Missing(why),
        }
    })
}

fn missing(key: &str) -> NoVerdict {
    NoVerdict::Missing(format!("`{key}` is missing"))
}

/// The choice in words. A name at the beginning of the text counts only if JSON has no choice.
fn choice_in_words(
    text: &str,
    names: &[&str],
    in_json: &InJson<usize>,
    quotations: &[String],
) -> Result<Option<usize>, String> {
    let is_list = are_listed(text, names);
    let alone = |line: &str| exactly(line, names);
    let last = |line: &str| match is_list {
        true => exactly(line, names),
        false => named(line, names).or_else(|| in_brackets(line, names)),
    };
    let in_line = lines::verdict(text, in_json, quotations, (alone, last))?;
    if matches!(in_json, InJson::Own(_)) {
        return Ok(in_line);
    }
    match (in_line, named(text, names).filter(|_| !is_list)) {
        (Some(place), Some(other)) if place != other => Err(SEVERAL.to_owned()),
        (place, other) => Ok(place.or(other)),
    }
}

/// The text under one of these keys, in any case; other values as JSON, and lists of texts as lines.
#[must_use]
pub fn text(value: &Value, keys: &[&str]) -> Option<String> {
    match member(value, keys)? {
        Value::Null => None,
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let lines: Vec<_> = items.iter().filter_map(Value::as_str).collect();
            Some(lines.join("\n")).filter(|text| !text.is_empty())
        }
        other => Some(other.to_string()),
    }
}

/// A choice as a model writes it in JSON: a text, or a number if the choices are numbers.
fn word(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => match number.as_f64() {
            // `2.0` is the choice 2.
            Some(whole) if whole.fract() == 0.0 => {
                let mut text = String::new();
                push_whole(&mut text, whole);
                Some(Cow::Owned(text))
            }
            _ => Some(Cow::Owned(number.to_string())),
        },
        _ => None,
    }
}

/// A yes or no under one of these keys: a boolean, 0 or 1, or a word for it.
#[must_use]
pub fn flag(value: &Value, keys: &[&str]) -> Option<bool> {
    match member(value, keys)? {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) if number.as_f64() == Some(0.0) => Some(false),
        Value::Number(number) if number.as_f64() == Some(1.0) => Some(true),
        Value::String(word) => match word.trim().to_ascii_lowercase().as_str() {
            "yes" | "y" | "true" | "1" => Some(true),
            "no" | "n" | "false" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The value under the first of these keys that is present, in any case.
#[must_use]
pub fn member<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    let members = value.as_object()?;
    let find = |key: &&str| members.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
    keys.iter().find_map(find).map(|(_, value)| value)
}

/// A number as people write scores: `7`, `7/10` if the scale ends at 10, `70%` on a scale from 0 to 1.
fn written(text: &str, least: f64, most: f64) -> Option<f64> {
    let is_around = |letter: char| letter.is_whitespace() || "*_`\"'“”,;!()[]".contains(letter);
    let text = text.trim_matches(is_around);
    let text = text.strip_suffix('.').map_or(text, |text| text.trim_end_matches(is_around));
    if let Some((number, of)) = text.split_once('/') {
        let of: f64 = of.trim().parse().ok()?;
        return number.trim().parse().ok().filter(|_| of == most);
    }
    if let Some(percent) = text.strip_suffix('%') {
        let percent: f64 = percent.trim().parse().ok()?;
        return ((least, most) == (0.0, 1.0)).then_some(percent / 100.0);
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}
