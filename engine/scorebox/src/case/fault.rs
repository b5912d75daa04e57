//! A finding inside one line, before the file and the line's number are added to it. It turns the parser's errors and
//! byte offsets into messages and columns.

use crate::advice::{Advice, Conversion, Form};

use super::{
    error::{BadCase, BadCaseReason, Location},
    excerpt::{describe, excerpt},
    members::offset_of,
};

/// The byte order mark that some editors put at the start of a file, and that is in the middle of one if files were
/// joined.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What is wrong with a text, and where in it.
#[derive(Debug)]
pub(super) struct Fault {
    /// Where, in bytes from the start of the text; `None` if it concerns the whole text.
    pub offset: Option<usize>,
    /// What is wrong.
    pub reason: BadCaseReason,
    /// What to do about it.
    pub advice: Option<Advice>,
}

impl Fault {
    /// A fault of the whole text.
    pub(super) fn whole(reason: BadCaseReason) -> Fault {
        Fault { offset: None, reason, advice: None }
    }

    /// A fault at `part`, a slice of `text`.
    pub(super) fn at(text: &str, part: &str, reason: BadCaseReason) -> Fault {
        Fault { offset: Some(offset_of(text, part)), reason, advice: None }
    }

    /// `key`, unescaped, appears twice; the second is at `part`.
    pub(super) fn duplicate(text: &str, part: &str, key: &str) -> Fault {
        Fault::at(text, part, BadCaseReason::DuplicateKey { key: excerpt(key) })
    }

    /// The JSON value `raw`, a slice of `text`, is not valid for `key`.
    pub(super) fn field(text: &str, raw: &str, key: &'static str, expected: &'static str) -> Fault {
        let found = describe(raw).into();
        Fault::at(text, raw, BadCaseReason::BadField { key, expected, found })
    }

    /// `text` is not JSON.
    pub(super) fn json(text: &str, error: &serde_json::Error) -> Fault {
        let offset = error_offset(text, error);
        let rest = text.get(offset..).unwrap_or("");
        let message = error.to_string();
        let message = match rest.starts_with(BYTE_ORDER_MARK) {
            // The mark itself is invisible.
            true => "there is a byte order mark (U+FEFF)",
            false => message.rsplit_once(" at line ").map_or(message.as_str(), |(words, _)| words),
        };
        Fault {
            offset: Some(offset),
            reason: BadCaseReason::NotJson { message: message.to_owned() },
            advice: json_advice(rest, error),
        }
    }

    /// The same fault with advice.
    pub(super) fn with_advice(self, advice: Advice) -> Fault {
        Fault { advice: Some(advice), ..self }
    }

    /// The same fault relative to `text`; it was found in `part`, a slice of `text`.
    pub(super) fn within(self, text: &str, part: &str) -> Fault {
        let base = offset_of(text, part);
        Fault { offset: Some(base + self.offset.unwrap_or(0)), ..self }
    }

    /// The fault of case `ordinal`, whose `text` starts at `location`.
    pub(super) fn into_bad_case(self, text: &[u8], location: &Location, ordinal: u64) -> BadCase {
        let (line, column) = match self.offset {
            Some(offset) if location.line > 0 => {
                let (lines, column) = position(text, offset);
                (location.line + lines, Some(column))
            }
            _ => (location.line, None),
        };
        BadCase {
            source: location.source.clone(),
            line,
            column,
            row: None,
            ordinal,
            reason: self.reason,
            advice: self.advice.map(Box::new),
        }
    }
}

/// How many line feeds are in `text` before byte `offset`, and the column of that byte: from 1, in
/// characters.
fn position(text: &[u8], offset: usize) -> (u64, u64) {
    let before = text.get(..offset).unwrap_or(text);
    let lines = before.iter().filter(|byte| **byte == b'\n').count();
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |index| index + 1);
    let characters = before[line_start..].iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    (lines as u64, characters as u64 + 1)
}

/// Where in `text` the parser stopped, in bytes.
fn error_offset(text: &str, error: &serde_json::Error) -> usize {
    let lines_before = error.line().saturating_sub(1);
    let line_start: usize = text.split_inclusive('\n').take(lines_before).map(str::len).sum();
    let mut offset = (line_start + error.column().saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The usual fix for a parser's error; `rest` starts where the parser stopped.
fn json_advice(rest: &str, error: &serde_json::Error) -> Option<Advice> {
    if error.is_eof() {
        return Some(Advice::Convert(Conversion::DocumentToLine));
    }
    let starts = |words: &[&str]| words.iter().any(|word| rest.starts_with(word));
    if starts(&["NaN", "Infinity", "-Infinity"]) {
        Some(Advice::Write(Form::NullForNan))
    } else if starts(&["None", "True", "False"]) {
        Some(Advice::Convert(Conversion::PythonToJson))
    } else if starts(&["'"]) {
        Some(Advice::Write(Form::DoubleQuotes))
    } else if rest.starts_with(BYTE_ORDER_MARK) {
        Some(Advice::Convert(Conversion::WithoutMarks))
    } else {
        None
    }
}
