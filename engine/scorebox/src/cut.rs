//! Cuts text to a number of bytes. It does not make text safe for a terminal.

/// The text, or as much of it as fits into this many bytes, with a note that it is cut.
pub(crate) fn cut(text: &str, max_bytes: usize) -> String {
    match text.len() <= max_bytes {
        true => text.to_owned(),
        false => format!("{}… (cut)", &text[..text.floor_char_boundary(max_bytes)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_says_so() {
        assert_eq!(cut("ab", 2), "ab");
        assert_eq!(cut("aé", 2), "a… (cut)");
        assert_eq!(cut("aé", 0), "… (cut)");
    }
}
