//! Shortens long values for reasons and errors. It does not quote or escape.

use std::borrow::Cow;

/// The first `characters` characters of `text` (Unicode code points), with `…` if some are left out and line breaks
/// replaced by spaces, so that it fits on one line of a reason.
#[must_use]
pub fn excerpt(text: &str, characters: usize) -> Cow<'_, str> {
    let breaks = |text: &str| [b'\n', b'\r'].iter().any(|end| text.as_bytes().contains(end));
    // A text has at most as many characters as bytes, so there is nothing to count.
    if text.len() <= characters && !breaks(text) {
        return Cow::Borrowed(text);
    }
    let cut = match text.as_bytes().get(..characters) {
        // In ASCII each byte is a character, so there is nothing to count here either.
        Some(start) if start.is_ascii() => Some(characters).filter(|end| *end < text.len()),
        _ => text.char_indices().nth(characters).map(|(index, _)| index),
    };
    let kept = &text[..cut.unwrap_or(text.len())];
    if cut.is_none() && !breaks(kept) {
        return Cow::Borrowed(kept);
    }
    let end = if cut.is_some() { "…" } else { "" };
    // Few texts have line breaks, and replacing takes longer than checking for one.
    Cow::Owned(match breaks(kept) {
        true => [&kept.replace(['\n', '\r'], " "), end].concat(),
        false => [kept, end].concat(),
    })
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn short_text_stays_and_long_text_is_cut_between_characters() {
        assert_eq!(excerpt("añb", 3), "añb");
        assert_eq!(excerpt("añb", 2), "añ…");
        assert_eq!(excerpt("a\nb", 9), "a b");
        assert_eq!(excerpt("a\r\nb", 3), "a  …");
        assert_eq!(excerpt("abñ", 2), "ab…");
        assert_eq!(excerpt("abc", 3), "abc");
    }
}
