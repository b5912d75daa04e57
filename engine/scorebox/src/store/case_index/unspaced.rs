//! The form of text in the index, for indexed text and for searches: each character of a script without spaces between
//! words is a separate word, and combining accents are omitted. It knows no dictionary.

use std::borrow::Cow;

/// Whether it belongs to a script in which a word can begin at any character: Chinese, Japanese, Thai, Lao, Khmer and
/// Burmese.
pub(super) fn is_unspaced(character: char) -> bool {
    matches!(
        character,
        '\u{e00}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{2e80}'..='\u{2fdf}'
            | '\u{3005}'..='\u{3007}'
            | '\u{3040}'..='\u{312f}'
            | '\u{31a0}'..='\u{31bf}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{a9e0}'..='\u{a9ff}'
            | '\u{aa60}'..='\u{aa7f}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ff9f}'
            | '\u{1aff0}'..='\u{1b16f}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// Whether it only changes the look of the letter before it: a combining accent, or a variation selector. Vowels and
/// tones that are combining characters, as in Thai and Hindi, are letters like others.
fn is_decoration(character: char) -> bool {
    matches!(
        character,
        '\u{300}'..='\u{36f}'
            | '\u{180b}'..='\u{180f}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fe20}'..='\u{fe2f}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

/// The text without decorations, and with spaces around each character of a script without spaces.
pub(super) fn as_indexed(text: &str) -> Cow<'_, str> {
    if !text.contains(|it| is_unspaced(it) || is_decoration(it)) {
        return Cow::Borrowed(text);
    }
    let mut indexed = String::with_capacity(text.len() * 2);
    for character in text.chars() {
        if is_unspaced(character) {
            indexed.extend([' ', character, ' ']);
        } else if !is_decoration(character) {
            indexed.push(character);
        }
    }
    Cow::Owned(indexed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_scripts_with_spaces_stay_whole() {
        assert!(matches!(as_indexed("one deux τρία 하나 हिन्दी"), Cow::Borrowed(_)));
        assert_eq!(as_indexed("v2東京"), "v2 東  京 ");
    }

    #[test]
    fn decorations_are_left_out() {
        assert_eq!(as_indexed("e\u{301}te\u{301} 1\u{fe0f}\u{20e3}"), "ete 1");
        assert_eq!(as_indexed("葛\u{e0100}飾"), " 葛  飾 ");
    }
}
