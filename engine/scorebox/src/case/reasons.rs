//! Why a task failed, and which texts are no reason at all. Reads single values; which key has them is not known here.

use super::members::each_member;
use crate::cut::cut;

/// The most bytes that are kept of why a task failed.
pub const MAX_ERROR_BYTES: usize = 4096;

/// Of a longer one, so many bytes are kept, which leaves room for the sign that it is cut: what is kept is kept whole
/// when it is read again.
const CUT_ERROR_BYTES: usize = MAX_ERROR_BYTES - 16;

/// Texts that say that a case is not to be skipped, or that its task did not fail, in capitals or not.
const NO: [&str; 10] = ["no", "n", "false", "none", "null", "nil", "nan", "na", "n/a", "-"];

/// A text that says that a task did not fail, in capitals or not. It says nothing about skipping.
const SUCCEEDED: &str = "ok";

/// Whether a text gives no reason, as the cells of tables have them that say nothing, no or zero.
pub(super) fn is_no(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || is_zero(text) || NO.iter().any(|no| text.eq_ignore_ascii_case(no))
}

/// Why the task failed: a text, the `message` of an object, or else the JSON that it is. What says nothing, no or zero
/// says that it did not.
pub(super) fn error(raw: &str) -> Option<Box<str>> {
    let text = string(raw);
    let is_none = match &text {
        Some(text) => is_no(text) || text.trim().eq_ignore_ascii_case(SUCCEEDED),
        None => matches!(raw, "null" | "false") || is_zero(raw) || is_empty(raw),
    };
    if is_none {
        return None;
    }
    let text = text.or_else(|| message(raw));
    let why = text.as_deref().map_or(raw, str::trim);
    Some(if why.len() <= MAX_ERROR_BYTES { why.into() } else { cut(why, CUT_ERROR_BYTES).into() })
}

/// The member `message` of the object `raw`, if it is a text that says something.
fn message(raw: &str) -> Option<Box<str>> {
    let mut found = None;
    let read = each_member(raw, |key, value| {
        if key == "message" {
            found = string(value).filter(|text| !is_no(text));
        }
        Ok::<(), ()>(())
    });
    read.ok().and(found)
}

/// Whether a text is a number, and it is zero, as exit codes and flags are where nothing failed.
fn is_zero(text: &str) -> bool {
    text.parse() == Ok(0.0)
}

/// Whether the JSON value `raw` is a list or an object without anything in it.
fn is_empty(raw: &str) -> bool {
    let inside = |open, close| raw.strip_prefix(open)?.strip_suffix(close);
    let inside = inside('[', ']').or_else(|| inside('{', '}'));
    inside.is_some_and(|inside| inside.trim().is_empty())
}

/// The content of the JSON string `raw`; `None` if it is not a string, or not Unicode.
pub(super) fn string(raw: &str) -> Option<Box<str>> {
    let plain = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match plain {
        Some(plain) if !plain.contains('\\') => Some(plain.into()),
        Some(_) => serde_json::from_str(raw).ok(),
        None => None,
    }
}
