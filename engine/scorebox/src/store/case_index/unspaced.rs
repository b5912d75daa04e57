//! Scripts that set no spaces between words: each character stands for itself, in what is indexed as in what is looked for. Knows
//! no word.

use std::borrow::Cow;

/// Whether it is of a script in which a word can begin at any character: Chinese, Japanese, Thai, Lao, Khmer and Burmese.
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

/// The text with spaces around each character of these scripts.
pub(super) fn spaced(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unspaced) {
        return Cow::Borrowed(text);
    }
    let mut spaced = String::with_capacity(text.len() * 2);
    for character in text.chars() {
        if is_unspaced(character) {
            spaced.extend([' ', character, ' ']);
        } else {
            spaced.push(character);
        }
    }
    Cow::Owned(spaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_scripts_with_spaces_stay_whole() {
        assert!(matches!(spaced("one deux τρία 하나"), Cow::Borrowed(_)));
        assert_eq!(spaced("v2東京"), "v2 東  京 ");
    }
}
