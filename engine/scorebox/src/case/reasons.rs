//! Why a task failed, and which texts are no reason at all. Reads single values; which key has them is not known here.

use super::members::each_member;
use crate::cut::cut;

/// The most bytes that are kept of why a task failed.
pub const MAX_ERROR_BYTES: usize = 4096;

/// Of a longer one, so many bytes are kept, which leaves room for the sign that it is cut: what is kept is kept whole when it is
/// read again.
const CUT_ERROR_BYTES: usize = MAX_ERROR_BYTES - 16;

/// Texts that say that a case is not to be skipped, or that its task did not fail, in capitals or not.
const NO: [&str; 6] = ["no", "n", "false", "none", "null", "nan"];

/// Whether a text gives no reason, as the cells of tables have them that say nothing or no.
pub(super) fn is_no(text: &str) -> bool {
    is_blank(text) || NO.iter().any(|no| text.trim().eq_ignore_ascii_case(no))
}

/// Why the task failed: a text, the `message` of an object, or else the JSON that it is. `null`, `false` and a text that says
/// nothing or no say that it did not.
pub(super) fn error(raw: &str) -> Option<Box<str>> {
    let text = string(raw);
    if matches!(raw, "null" | "false") || text.as_deref().is_some_and(is_no) {
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

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
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
