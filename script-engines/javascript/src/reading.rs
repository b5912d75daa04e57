//! Finds the JSON of a model's answer: the only one in it, outside drafts and quotations. It reads an answer as the
//! built-in scorers do (`sdk/rust/judges/src/reading`); `python/asking.py` has the same rules.
//!
//! A judge may quote what it judges, and an output may contain a false verdict. So if there are several values, none is
//! picked, and one that may be a quotation is not read. What a value means is up to the script.

use std::{borrow::Cow, ops::Range};

use serde_json::Value;

/// The most bytes of an answer that are read.
const MAX_ANSWER_BYTES: usize = 256 << 10;
/// How many positions of an answer are tried as the beginning of JSON.
const MAX_STARTS: usize = 64;
/// The tags between which a model drafts its answer.
const DRAFTS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];
/// The start of a tag that is left if the draft cannot be separated from the answer.
const TAGS: [&str; 2] = ["<think", "</think"];
/// How the words before a value end if they announce it, such as `My verdict:`.
const LABELS: [&str; 14] = [
    "answer",
    "choice",
    "choose",
    "conclusion",
    "decision",
    "grade",
    "judgement",
    "judgment",
    "label",
    "rating",
    "result",
    "score",
    "verdict",
    "winner",
];
/// The only other words that may be in a label.
const LEADS: [&str; 15] = [
    "final",
    "hence",
    "here",
    "i",
    "in",
    "is",
    "my",
    "our",
    "overall",
    "s",
    "so",
    "the",
    "therefore",
    "thus",
    "total",
];
/// The longest label, in bytes.
const MAX_LABEL: usize = 80;

const DRAFT: &str = "the answer is a draft";
const NO_JSON: &str = "the answer has none";
const QUOTED: &str = "that of the answer stands within or between sentences, as a quotation does";
const REPEATED: &str = "that of the answer has a key twice in an object";
const SEVERAL: &str = "the answer has several values in it that differ";
const TOO_MANY: &str = "the answer has too many brackets in it";
const UNFINISHED: &str = "that of the answer is not closed";

/// A value, and its text as strict JSON.
struct Json<'a> {
    value: Value,
    text: Cow<'a, str>,
}

impl Json<'_> {
    /// Whether an object in it has a key twice: it is unclear which of the two counts.
    fn has_key_twice(&self) -> bool {
        keys(&self.value) != keys_written(&self.text)
    }
}

/// A value in an answer.
struct Found<'a> {
    json: Json<'a>,
    /// Its position.
    bytes: Range<usize>,
    /// Whether it is set apart, and not within a sentence or other brackets.
    stands_apart: bool,
}

/// The text of the only JSON in an answer; `is_whole` says that the answer was not cut off.
///
/// # Errors
/// Why there is none.
pub(crate) fn only_json(answer: &str, is_whole: bool) -> Result<Cow<'_, str>, String> {
    let bytes = answer.len();
    if bytes > MAX_ANSWER_BYTES {
        return Err(format!("the answer has {bytes} bytes; the limit is {MAX_ANSWER_BYTES}"));
    }
    let text = after_draft(answer).ok_or(DRAFT)?;
    let found = match whole(text, is_whole) {
        Some(json) => vec![Found { json, bytes: 0..text.len(), stands_apart: true }],
        None => outermost(text)?,
    };
    match has_tag_beside(text, &found) {
        true => Err(DRAFT.to_owned()),
        false => Ok(only(found)?),
    }
}

/// The text after the draft of an answer, if there is one. Some servers leave out the opening tag.
fn after_draft(answer: &str) -> Option<&str> {
    let mut text = answer.trim();
    let mut has_draft = false;
    while let Some((open, close)) = DRAFTS.iter().find(|(open, _)| text.starts_with(open)) {
        text = text.get(open.len()..)?.split_once(close)?.1.trim_start();
        has_draft = true;
    }
    // JSON may contain the tags as text.
    if has_draft || text.starts_with(['{', '[', '`']) {
        return Some(text);
    }
    let rest = DRAFTS.iter().find_map(|(_, close)| text.split_once(close));
    Some(rest.map_or(text, |(_, rest)| rest.trim_start()))
}

/// The whole text as JSON, in a fence or not. A number or a text that is cut off is JSON too, so these count only if
/// the answer is complete.
fn whole(text: &str, is_whole: bool) -> Option<Json<'_>> {
    let json = parsed(text).or_else(|| parsed(unfenced(text)?))?;
    Some(json).filter(|json| is_whole || json.value.is_object() || json.value.is_array())
}

/// The content of a fence that encloses the whole text.
fn unfenced(text: &str) -> Option<&str> {
    let block = text.strip_prefix("```")?.strip_suffix("```")?;
    // The first line of a block may name its language.
    let is_language = |line: &str| line.trim().chars().all(char::is_alphanumeric);
    Some(match block.split_once('\n') {
        Some((first, rest)) if is_language(first) && !rest.is_empty() => rest,
        _ => block,
    })
}

/// The outermost objects and lists in a text, in their order.
fn outermost(text: &str) -> Result<Vec<Found<'_>>, &'static str> {
    let mut found = Vec::new();
    let (mut at, mut within) = (0, 0);
    for _ in 0..MAX_STARTS {
        let Some(start) = next_bracket(text, at) else { return Ok(found) };
        let rest = text.get(start..).unwrap_or_default();
        let closed = balanced(rest);
        let end = start + closed.map_or(0, str::len);
        if let Some(json) = closed.and_then(parsed) {
            let stands_apart = start >= within && stands_apart(text, &(start..end));
            found.push(Found { json, bytes: start..end, stands_apart });
            at = end;
        } else if closed.is_none() && begins_json(rest) {
            return Err(UNFINISHED);
        } else {
            within = within.max(end);
            at = start + 1;
        }
    }
    next_bracket(text, at).map_or(Ok(found), |_| Err(TOO_MANY))
}

fn next_bracket(text: &str, from: usize) -> Option<usize> {
    text.get(from..)?.find(['{', '[']).map(|offset| from + offset)
}

/// The text from the opening bracket to the one that closes it.
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
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return text.get(..=at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether a text begins as JSON with content does; brackets in prose do not.
fn begins_json(text: &str) -> bool {
    let (is_list, inside) = (text.starts_with('['), text.get(1..).unwrap_or_default().trim_start());
    inside.starts_with('"') || (is_list && inside.starts_with(['{', '[']))
}

/// The text as JSON; models often write line breaks inside strings, where JSON requires `
/// `.
fn parsed(text: &str) -> Option<Json<'_>> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some(Json { value, text: Cow::Borrowed(text) });
    }
    if !text.contains(['\n', '\r', '\t']) {
        return None;
    }
    let text = with_escaped_breaks(text);
    let value = serde_json::from_str(&text).ok()?;
    Some(Json { value, text: Cow::Owned(text) })
}

fn with_escaped_breaks(text: &str) -> String {
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
    escaping
}

/// Whether a text contains the tag of a draft outside its values: JSON may contain the tags as text.
fn has_tag_beside(text: &str, found: &[Found<'_>]) -> bool {
    let starts = found.iter().map(|found| found.bytes.start).chain([text.len()]);
    let ends = [0].into_iter().chain(found.iter().map(|found| found.bytes.end));
    let mut between = ends.zip(starts).filter_map(|(from, to)| text.get(from..to));
    between.any(|words| TAGS.iter().any(|tag| words.contains(tag)))
}

/// The only value. Brackets around numbers, such as `[1]`, are a mark in prose if there is another value.
fn only(found: Vec<Found<'_>>) -> Result<Cow<'_, str>, &'static str> {
    let is_mark = |found: &Found<'_>| !found.json.text.contains(['{', '"']);
    let (marks, values): (Vec<_>, Vec<_>) = found.into_iter().partition(is_mark);
    if values.iter().any(|found| found.json.has_key_twice()) {
        return Err(REPEATED);
    }
    let mut values = if values.is_empty() { marks } else { values }.into_iter();
    let only = values.next().ok_or(NO_JSON)?;
    let mut stands_apart = only.stands_apart;
    for other in values {
        if other.json.value != only.json.value {
            return Err(SEVERAL);
        }
        stands_apart |= other.stands_apart;
    }
    stands_apart.then_some(only.json.text).ok_or(QUOTED)
}

/// The number of keys in the objects of a value.
fn keys(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(keys).sum(),
        Value::Object(members) => members.len() + members.values().map(keys).sum::<usize>(),
        _ => 0,
    }
}

/// The number of keys that JSON contains as written: the colons outside its texts.
fn keys_written(json: &str) -> usize {
    let (mut keys, mut in_text, mut escaped) = (0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b':' if !in_text => keys += 1,
            _ => {}
        }
    }
    keys
}

/// Whether a value ends the text, or is on separate lines and begins the text or follows a label. Between other words
/// it may be a quotation that they introduce and comment on.
fn stands_apart(text: &str, bytes: &Range<usize>) -> bool {
    let before = text.get(..bytes.start).unwrap_or_default();
    let after = text.get(bytes.end..).unwrap_or_default();
    let is_emphasis = |letter: char| letter.is_whitespace() || "*_".contains(letter);
    if after.trim_matches(is_emphasis).is_empty() {
        return true;
    }
    let line = before.rsplit('\n').next().unwrap_or_default().trim_matches(is_mark);
    let begins_line = line.is_empty() || line.eq_ignore_ascii_case("json") || ends_in_label(line);
    let ends_line = after.split('\n').next().unwrap_or_default().trim_matches(is_mark).is_empty();
    let words = before_fence(before);
    let is_own = words.is_empty() || ends_in_label(words) || after.trim_matches(is_mark).is_empty();
    begins_line && ends_line && is_own
}

/// Whether a character is one of Markdown's marks around words.
fn is_mark(letter: char) -> bool {
    letter.is_whitespace() || "*_`#-.".contains(letter)
}

/// The words before a value, without those of a code fence.
fn before_fence(before: &str) -> &str {
    let words = before.trim_end_matches(is_mark);
    let at = words.len().saturating_sub("json".len());
    match words.split_at_checked(at) {
        Some((words, fence)) if fence.eq_ignore_ascii_case("json") && words.ends_with('`') => {
            words.trim_end_matches(is_mark)
        }
        _ => words.trim_start_matches(is_mark),
    }
}

/// Whether the last line of words is a label.
fn ends_in_label(words: &str) -> bool {
    let line = words.rsplit('\n').next().unwrap_or_default();
    line.trim_matches(is_mark).strip_suffix(':').is_some_and(is_label)
}

/// Whether words announce a value: a heading, a short sentence, or one that ends a longer text.
fn is_label(words: &str) -> bool {
    let is_around = |letter: char| letter.is_whitespace() || "*_`#".contains(letter);
    let Some(words) = last_sentence(words.trim_end_matches(is_around)) else { return false };
    // `Score (1-5)`
    let words = match words.strip_suffix(')').and_then(|words| words.rsplit_once('(')) {
        Some((words, scale)) if scale.contains(|letter: char| letter.is_ascii_digit()) => words,
        _ => words,
    };
    let is_any = |of: &[&str], word: &str| of.iter().any(|known| known.eq_ignore_ascii_case(word));
    let words = words.split(|letter: char| !letter.is_alphanumeric());
    let mut last = "";
    for word in words.filter(|word| !word.is_empty()) {
        if !is_any(&LABELS, word) && !is_any(&LEADS, word) {
            return false;
        }
        if !word.eq_ignore_ascii_case("is") {
            last = word;
        }
    }
    is_any(&LABELS, last)
}

/// The text after the last end of a sentence, unless it is too long for a label.
fn last_sentence(words: &str) -> Option<&str> {
    let end = [". ", "! ", "? "].into_iter().filter_map(|end| words.rfind(end)).max();
    let sentence = end.map_or(Some(words), |end| words.get(end + 2..))?;
    Some(sentence).filter(|sentence| sentence.len() <= MAX_LABEL)
}
