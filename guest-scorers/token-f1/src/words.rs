//! Parts a text into words that compare equal where people mean the same. Counting is left to others.

/// ASCII's punctuation; other marks stay in a word.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
}

/// White space as Python sees it: Unicode's, and the four separators of ASCII.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The words of a text, without the stop words (which are normalized already).
pub(crate) fn words(text: &str, stop_words: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    for token in text.split([' ', '-']) {
        let token = normalize_token(token);
        if !stop_words.contains(&token) {
            words.extend(token.split(' ').filter(|word| !word.is_empty()).map(str::to_owned));
        }
    }
    words
}

/// A token without case, punctuation and articles, its words joined by single spaces; a number as it is
/// written shortest.
pub(crate) fn normalize_token(token: &str) -> String {
    let folded = caseless::default_case_fold_str(token);
    let around = |c: char| c.is_ascii_whitespace() || c == '\u{b}' || is_punctuation(c);
    let bare = number(&folded).or_else(|| number(folded.trim_matches(around)));
    let text = match bare {
        Some(number) => return format!("{number:?}"),
        None => folded.replace(is_punctuation, ""),
    };
    match number(&text) {
        Some(number) => format!("{number:?}"),
        None => without_articles(&text),
    }
}

/// The zeros of the scripts that write numbers with ten digits of their own (Unicode 14, class Nd).
const ZEROS: [u32; 65] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6,
    0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50,
    0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50,
    0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// The ASCII digit that a digit of another script stands for; any other character as it is.
fn ascii_digit(c: char) -> char {
    let code = u32::from(c);
    let zero = ZEROS.partition_point(|zero| *zero <= code).checked_sub(1).map(|place| ZEROS[place]);
    zero.and_then(|zero| char::from_digit(code - zero, 10)).unwrap_or(c)
}

/// A finite number as Python's `float` reads it: with white space around, single underscores between
/// digits, and digits of any script.
fn number(text: &str) -> Option<f64> {
    if !text.contains(char::is_numeric) {
        return None;
    }
    let text: String = text.trim_matches(is_space).chars().map(ascii_digit).collect();
    let digit_at = |place: Option<usize>| {
        place.and_then(|place| text.as_bytes().get(place)).is_some_and(u8::is_ascii_digit)
    };
    let between_digits =
        |place: usize| digit_at(place.checked_sub(1)) && digit_at(place.checked_add(1));
    if !text.match_indices('_').all(|(place, _)| between_digits(place)) {
        return None;
    }
    text.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite())
}

fn without_articles(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut kept: Vec<String> = Vec::new();
    for piece in text.split(is_space).filter(|piece| !piece.is_empty()) {
        let mut rest = String::with_capacity(piece.len());
        for run in piece.split_inclusive(|c| !is_word(c)) {
            let word = run.trim_end_matches(|c| !is_word(c));
            if ["a", "an", "the"].contains(&word) {
                rest.push(' ');
                rest.push_str(&run[word.len()..]);
            } else {
                rest.push_str(run);
            }
        }
        kept.extend(rest.split(' ').filter(|word| !word.is_empty()).map(str::to_owned));
    }
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected forms are what `_normalize_token` of Inspect 0.3.285 gives, with numbers written
    // as Rust writes them.
    #[test]
    fn tokens_lose_case_punctuation_and_articles() {
        let normal = |token| normalize_token(token);
        assert_eq!(normal("Don't"), "dont");
        assert_eq!(normal("U.S."), "us");
        assert_eq!(normal("STRASSE"), normal("straße"));
        assert_eq!(normal("the\n\tCat"), "cat");
        assert_eq!(normal("a"), "");
        assert_eq!(normal("theory"), "theory");
        assert_eq!(normal("a—b"), "—b");
        assert_eq!(normal("«the»"), "« »");
    }

    #[test]
    fn numbers_compare_by_value() {
        for text in ["3.14", "(3.14)", "$3.14.", "+3.140", "314e-2"] {
            assert_eq!(normalize_token(text), "3.14", "{text}");
        }
        assert_eq!(normalize_token("3,000"), normalize_token("3000.0"));
        assert_eq!(normalize_token("1_000"), normalize_token("1000"));
        assert_eq!(normalize_token("1__0.5"), "105.0");
        assert_eq!(normalize_token("١٢٣"), "123.0");
        assert_eq!(normalize_token("３．５"), "３．５");
        assert_eq!(normalize_token("−５"), "−５");
        assert_eq!(normalize_token("５½"), "５½");
        assert_eq!(normalize_token("nan"), "nan");
        assert_eq!(normalize_token("Infinity"), "infinity");
    }

    #[test]
    fn a_hyphen_parts_words_and_stop_words_go() {
        assert_eq!(words("state-of-the-art", &[]), ["state", "of", "art"]);
        assert_eq!(words("Paris, Texas", &["texas".to_owned()]), ["paris"]);
    }
}
