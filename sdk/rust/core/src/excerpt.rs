//! Cuts long values for reasons and errors. It does not quote or escape.

use std::borrow::Cow;

/// The first `characters` characters of `text` (Unicode code points), with `…` if some are left
/// out, and line breaks as spaces: fit for one line of a reason.
#[must_use]
pub fn excerpt(text: &str, characters: usize) -> Cow<'_, str> {
    let breaks = |text: &str| text.bytes().any(|byte| matches!(byte, b'\n' | b'\r'));
    // No more bytes than characters are allowed: nothing to count.
    if text.len() <= characters && !breaks(text) {
        return Cow::Borrowed(text);
    }
    let cut = text.char_indices().nth(characters).map(|(index, _)| index);
    let kept = &text[..cut.unwrap_or(text.len())];
    if cut.is_none() && !breaks(kept) {
        return Cow::Borrowed(kept);
    }
    let mut line = kept.replace(['\n', '\r'], " ");
    if cut.is_some() {
        line.push('…');
    }
    Cow::Owned(line)
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn short_text_stays_and_long_text_is_cut_between_characters() {
        assert_eq!(excerpt("añb", 3), "añb");
        assert_eq!(excerpt("añb", 2), "añ…");
        assert_eq!(excerpt("a\nb", 9), "a b");
    }
}
