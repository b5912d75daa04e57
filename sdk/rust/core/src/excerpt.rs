//! Cuts long values for reasons and errors. It does not quote or escape.

use std::borrow::Cow;

/// The first `characters` characters of `text` (Unicode code points), with `…` where some are left
/// out, and line breaks as spaces: fit for one line of a reason.
#[must_use]
pub fn excerpt(text: &str, characters: usize) -> Cow<'_, str> {
    let cut = text.char_indices().nth(characters).map(|(index, _)| index);
    let kept = &text[..cut.unwrap_or(text.len())];
    if cut.is_none() && !kept.contains(['\n', '\r']) {
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
