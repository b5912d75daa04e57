//! The characters that a terminal acts on instead of showing them. Changes no text.

/// Control characters, and the marks of bidirectional text (Unicode TR 9).
pub(crate) fn acts(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}'
        )
}
