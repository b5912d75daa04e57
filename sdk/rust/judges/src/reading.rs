//! Reads an answer: JSON anywhere in it, one of several choices, or a number on a scale. What to ask if it cannot be
//! read is decided elsewhere.
//!
//! A judge may quote what it judges, and an output may hold a false verdict. So an answer in which several verdicts
//! stand that are not the same is unreadable: it is asked again, and no verdict is picked.

use std::borrow::Cow;

use scorebox_sdk::push_whole;
use serde_json::Value;

/// The most bytes of an answer that are read.
pub const MOST_ANSWER_BYTES: usize = 256 << 10;
/// How many places of an answer are tried as the beginning of JSON.
const MOST_STARTS: usize = 64;
/// How much of a choice that is not one is shown, in characters.
const SHOWN: usize = 120;
/// Words before a verdict that stands alone in its line, such as `Score: 7`.
const LABELS: [&str; 8] =
    ["answer", "choice", "final answer", "grade", "rating", "result", "score", "verdict"];
/// What is before the verdict of judges that were trained to say it so, such as Prometheus: `[RESULT] 4`.
const RESULT: &str = "[result]";
/// What is wrong with an answer that quotes another verdict.
const SEVERAL: &str = "it has several verdicts in it that differ";

/// A verdict in JSON: the whole answer, or objects and lists in it, in a code fence or not. `read` turns a value into a
/// verdict, or says what is wrong with it.
///
/// # Errors
/// What is wrong with the answer, for the repair question: no verdict, or several that differ.
pub fn json<T: PartialEq>(
    answer: &str,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<T, String> {
    bounded(answer)?;
    let mut wrong = None;
    let mut verdict: Option<T> = None;
    for value in values(answer.trim()) {
        match (read(&value), &verdict) {
            (Ok(found), None) => verdict = Some(found),
            (Ok(found), Some(first)) if found == *first => {}
            (Ok(_), Some(_)) => return Err(SEVERAL.to_owned()),
            (Err(why), _) => wrong = Some(why),
        }
    }
    verdict.ok_or_else(|| wrong.unwrap_or_else(|| "it has no JSON in it".to_owned()))
}

/// The place of the chosen name: in the key `choice` of JSON, as the whole answer, in its last line, such as
/// `Answer: B`, `[RESULT] B`, `(B)` or `B) it fits`, or alone in its first line.
///
/// # Errors
/// What is wrong with the answer: no choice, or several that differ.
pub fn choice(answer: &str, names: &[&str]) -> Result<usize, String> {
    let read = |value: &Value| {
        let written = member(value, &["choice", "answer", "verdict", "label"]);
        let written = written.and_then(word).ok_or("`choice` is missing")?;
        let written = &*written;
        named(written, names).ok_or_else(|| {
            let written = scorebox_sdk::excerpt(written, SHOWN);
            format!("`choice` is \"{written}\", which is not one of the choices")
        })
    };
    let last = last_line(answer);
    let in_line = named(last, names).or_else(|| named(after_mark(last), names));
    let alone = alone_in_first_line(answer, |line| exactly(line, names));
    match json(answer, read) {
        Ok(place) => same(same(place, in_line)?, alone),
        Err(why) if why == SEVERAL || answer.len() > MOST_ANSWER_BYTES => Err(why),
        Err(wrong) => {
            let in_line = in_line.or_else(|| in_parentheses(last, names));
            let place = named(answer, names).or(in_line).or(alone).ok_or(wrong)?;
            same(same(place, in_line)?, alone)
        }
    }
}

/// A number of the scale: in the key `score` of JSON, as the whole answer, in its last line, such as `Score: 7`,
/// `[RESULT] 7`, `7/10` or, on a scale from 0 to 1, `70%`, or alone in its first line.
///
/// # Errors
/// What is wrong with the answer: no number, one outside the scale, or several that differ.
pub fn number(answer: &str, least: f64, most: f64) -> Result<f64, String> {
    let within = |number: f64| {
        let holds = (least..=most).contains(&number);
        holds.then_some(number).ok_or_else(|| format!("the score {number} is not on the scale"))
    };
    let read = |value: &Value| match member(value, &["score"]).unwrap_or(value) {
        Value::Number(number) => within(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => within(written(text, least, most).ok_or("`score` is not a number")?),
        _ => Err("`score` is missing".to_owned()),
    };
    let last = last_line(answer);
    let in_line = written(last, least, most).or_else(|| written(after_mark(last), least, most));
    let alone = alone_in_first_line(answer, |line| written(line, least, most));
    match (json(answer, read), in_line.or(alone)) {
        (Ok(number), _) => same(same(number, in_line)?, alone),
        (Err(why), _) if why == SEVERAL || answer.len() > MOST_ANSWER_BYTES => Err(why),
        (Err(_), Some(number)) => same(within(number)?, alone),
        (Err(wrong), None) => Err(wrong),
    }
}

/// What an answer says in words in addition to its verdict: what comes after a first line that is a
/// verdict alone, or else what comes before the last line.
pub(crate) fn beside_verdict(answer: &str) -> Option<&str> {
    let answer = answer.trim();
    let (first, after) = answer.split_once('\n')?;
    let (before, _) = answer.rsplit_once('\n')?;
    // A verdict is a word or two; where it is not, this is the beginning of the reasons.
    let is_verdict = |line: &str| unlabelled(line).split_whitespace().count() == 1;
    Some(if is_verdict(first) && !is_verdict(last_line(answer)) { after } else { before })
}

/// What `read` makes of the first of several lines, if that is a verdict and nothing else, with or without a label.
fn alone_in_first_line<T>(answer: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
    let (first, rest) = answer.trim().split_once('\n')?;
    if rest.trim().is_empty() {
        return None;
    }
    read(unlabelled(first))
}

/// A line without the label before its verdict.
fn unlabelled(line: &str) -> &str {
    let is_around = |letter: char| letter.is_whitespace() || "*_`#".contains(letter);
    let line = line.trim_matches(is_around);
    if let Some((_, verdict)) = after_result(line).filter(|(before, _)| before.is_empty()) {
        return verdict;
    }
    match line.split_once(':') {
        Some((label, verdict)) => {
            let label = label.trim_matches(is_around);
            let is_label = LABELS.iter().any(|known| known.eq_ignore_ascii_case(label));
            if is_label { verdict.trim_matches(is_around) } else { line }
        }
        None => line,
    }
}

/// What is before the last `[RESULT]` of a line, and what is after it.
fn after_result(line: &str) -> Option<(&str, &str)> {
    // Lower case of ASCII has the same bytes in the same places.
    let at = line.to_ascii_lowercase().rfind(RESULT)?;
    Some((&line[..at], &line[at + RESULT.len()..]))
}

/// The verdict, unless a line has another one.
fn same<T: PartialEq>(verdict: T, in_line: Option<T>) -> Result<T, String> {
    match in_line {
        Some(other) if other != verdict => Err(SEVERAL.to_owned()),
        _ => Ok(verdict),
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

/// A choice as a model writes it in JSON: a text, or a number where the choices are numbered.
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

/// The value under the first of these keys that is there, in any case.
#[must_use]
pub fn member<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    let members = value.as_object()?;
    let find = |key: &&str| members.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
    keys.iter().find_map(find).map(|(_, value)| value)
}

fn bounded(answer: &str) -> Result<(), String> {
    match answer.len() > MOST_ANSWER_BYTES {
        true => Err(format!("it has {} bytes; the limit is {MOST_ANSWER_BYTES}", answer.len())),
        false => Ok(()),
    }
}

/// The whole text if it is JSON; else the outermost objects and lists in it.
fn values(text: &str) -> Vec<Value> {
    if let Some(whole) = parsed(text) {
        return vec![whole];
    }
    let mut found = Vec::new();
    let mut at = 0;
    for _ in 0..MOST_STARTS {
        let Some(start) = text[at..].find(['{', '[']).map(|offset| at + offset) else { break };
        let value = balanced(&text[start..]).and_then(|json| Some((json.len(), parsed(json)?)));
        at = match value {
            Some((bytes, value)) => {
                found.push(value);
                start + bytes
            }
            None => start + 1,
        };
    }
    found
}

/// From the bracket at the beginning to the one that closes it.
fn balanced(text: &str) -> Option<&str> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[..=at]);
                }
            }
            _ => {}
        }
    }
    None
}

/// The text as JSON; models often break lines inside of strings, where JSON wants `\n`.
fn parsed(text: &str) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    if !text.contains(['\n', '\r', '\t']) {
        return None;
    }
    let (mut in_text, mut escaped) = (false, false);
    let mut escaping = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = in_text,
            '"' => in_text = !in_text,
            '\n' | '\r' | '\t' if in_text => {
                escaping.push_str(match letter {
                    '\n' => "\\n",
                    '\r' => "\\r",
                    _ => "\\t",
                });
                continue;
            }
            _ => {}
        }
        escaping.push(letter);
    }
    serde_json::from_str(&escaping).ok()
}

/// The name that a text is, without what surrounds it, or that it begins with, before `)`, `.` or `:`.
fn named(text: &str, names: &[&str]) -> Option<usize> {
    exactly(text, names).or_else(|| {
        let (first, rest) = text.split_once([')', '.', ':'])?;
        let other = in_parentheses(rest, names);
        exactly(first, names).filter(|place| other.is_none_or(|other| other == *place))
    })
}

/// The name that a text is, without what surrounds it.
fn exactly(text: &str, names: &[&str]) -> Option<usize> {
    let text = text.trim_matches(|letter: char| {
        letter.is_whitespace() || "*_`\"'“”.,:;!()[]".contains(letter)
    });
    names.iter().position(|name| name.eq_ignore_ascii_case(text))
}

/// The only name that stands in parentheses or brackets.
fn in_parentheses(line: &str, names: &[&str]) -> Option<usize> {
    let mut found = None;
    for piece in line.split(['(', '[']).skip(1) {
        let Some((inner, _)) = piece.split_once([')', ']']) else { continue };
        match (names.iter().position(|name| name.eq_ignore_ascii_case(inner.trim())), found) {
            (Some(place), Some(other)) if place != other => return None,
            (Some(place), _) => found = Some(place),
            (None, _) => {}
        }
    }
    found
}

fn last_line(text: &str) -> &str {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// What follows the last `:`, `=`, ` is ` or `[RESULT]`.
fn after_mark(line: &str) -> &str {
    let marks = [line.rfind(':').map(|at| at + 1), line.rfind('=').map(|at| at + 1)];
    let word = line.rfind(" is ").map(|at| at + 4);
    let result = after_result(line).map(|(_, after)| line.len() - after.len());
    let at = marks.into_iter().chain([word, result]).flatten().max().unwrap_or(line.len());
    &line[at..]
}

/// A number as people write scores: `7`, `7/10` if the scale ends there, `70%` of a scale from 0 to 1.
fn written(text: &str, least: f64, most: f64) -> Option<f64> {
    let text = text
        .trim_matches(|letter: char| letter.is_whitespace() || "*_`\"'“”,;!()[]".contains(letter));
    let text = text.strip_suffix('.').unwrap_or(text);
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
