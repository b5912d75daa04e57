//! Why a task failed, and which texts are not a reason. This reads single values; it does not know which key has them.

use super::members::each_member;
use crate::cut::cut;

/// The most bytes that are kept of the reason why a task failed.
pub const MAX_ERROR_BYTES: usize = 4096;

/// A longer reason is cut to this many bytes, which leaves room for the note that it is cut: so a reason that was kept
/// is not cut again when it is read again.
const CUT_ERROR_BYTES: usize = MAX_ERROR_BYTES - 16;

/// Texts that mean that a case is not skipped, or that its task did not fail, in any case of letters.
const NO: [&str; 10] = ["no", "n", "false", "none", "null", "nil", "nan", "na", "n/a", "-"];

/// A text that means that a task did not fail, in any case of letters. It has no meaning for skipping.
const SUCCEEDED: &str = "ok";

/// Whether a text gives no reason, like cells of tables that are empty, no or zero.
pub(super) fn is_no(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || is_zero(text) || NO.iter().any(|no| text.eq_ignore_ascii_case(no))
}

/// Why the task failed: a text, the `message` of an object, or otherwise the JSON value itself. A value that is empty,
/// no or zero means that the task did not fail.
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

/// The member `message` of the object `raw`, if it is a text with a reason.
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

/// Whether a text is the number zero, as exit codes and flags are if nothing failed.
fn is_zero(text: &str) -> bool {
    text.parse() == Ok(0.0)
}

/// Whether the JSON value `raw` is an empty list or object.
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
