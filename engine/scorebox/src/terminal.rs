//! The characters that a terminal acts on instead of showing them. Changes no text.

/// Whether a terminal acts on it: control characters, and the marks of bidirectional text (Unicode TR 9).
pub fn acts(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}'
        )
}
