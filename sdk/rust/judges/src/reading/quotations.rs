//! Finds what an answer may quote: JSON in it, and its first and last line, if they also occur in a text of the case.
//! Whether it is a verdict nevertheless is decided elsewhere.
//!
//! A judge may quote a false verdict in full, in part, or with other line breaks, so members are compared one by one
//! and without white space. An answer that is only JSON quotes nothing.

use serde_json::Value;

use super::{MAX_ANSWER_BYTES, lines, said::after_draft, values::Values};
use crate::{Question, fence};

/// How many members of an object are searched for: a verdict has two or three.
const MAX_MEMBERS: usize = 16;

/// The parts of this answer that also occur inside the question's fence, or anywhere in a question without one.
pub(crate) fn quotations(question: &Question, answer: &str) -> Vec<String> {
    if answer.len() > MAX_ANSWER_BYTES {
        return Vec::new();
    }
    let parts = parts(after_draft(answer).unwrap_or_default());
    if parts.is_empty() {
        return Vec::new();
    }
    let texts: Vec<String> = fence::data(question).into_iter().map(plain).collect();
    let is_there = |piece: &String| texts.iter().any(|text| text.contains(piece));
    let quoted = parts.into_iter().filter(|part| part.pieces.iter().any(is_there));
    quoted.map(|part| part.text).collect()
}

/// A part of an answer that may be a quotation.
struct Part {
    /// Its text in the answer.
    text: String,
    /// What identifies it: if the case contains one of these, the part is a quotation.
    pieces: Vec<String>,
}

/// JSON with words next to it, and the first and the last line if they have a label.
fn parts(text: &str) -> Vec<Part> {
    let values = Values::of(text, true);
    let json = values.found.iter().filter(|found| !found.is_alone);
    let json = json.map(|found| {
        let text = &text[found.bytes.clone()];
        Part { text: text.to_owned(), pieces: members(&found.value, text) }
    });
    let lines = lines::outermost(text).into_iter().flatten();
    let lines = lines.filter(|line| lines::has_label(line) && line.len() < text.trim().len());
    let lines = lines.map(|line| {
        let bare = line.trim_matches(super::labels::is_around);
        Part { text: line.to_owned(), pieces: vec![plain(bare)] }
    });
    json.chain(lines).collect()
}

/// The members of an object, or a list as it is written.
fn members(value: &Value, written: &str) -> Vec<String> {
    match value {
        Value::Object(members) => {
            let members = members.iter().take(MAX_MEMBERS);
            members.map(|(key, value)| plain(&format!("\"{key}\":{value}"))).collect()
        }
        _ => vec![plain(written)],
    }
}

/// A text in lower case and without white space, escaped or not, and without the backslashes of JSON inside JSON.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                letters.next_if(|next| ['n', 'r', 't'].contains(next));
            }
            _ if letter.is_whitespace() => {}
            _ => plain.push(letter.to_ascii_lowercase()),
        }
    }
    plain
}
