//! Splits an answer into words as DROP's evaluation does. It compares nothing.

use caseless::default_case_fold_str;
use scorebox_sdk_texts::normal::inspect_word;
use scorebox_sdk_texts::python::is_space;

/// DROP's words: they are between spaces and hyphens, each normalized as in SQuAD, except that a number stays a number.
/// An answer of only articles and punctuation (`A`, `+`) stays as it is, or all such answers would be the same.
pub(crate) fn words(text: &str) -> String {
    let folded =
        if text.is_ascii() { text.to_ascii_lowercase() } else { default_case_fold_str(text) };
    let words = folded.split([' ', '-']).map(inspect_word).filter(|word| !word.is_empty());
    let words = words.collect::<Vec<_>>().join(" ");
    if words.is_empty() { folded.trim_matches(is_space).to_owned() } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The values on the right are from `_normalize` of Inspect 0.3.285, with its `1e+16` written as `1e16`.
    #[test]
    fn words_are_parted_by_hyphens_and_numbers_are_numbers() {
        let cases = [
            ("The well-known Cat!", "well known cat"),
            ("(3.14)", "3.14"),
            ("3.14.", "3.14"),
            ("3", "3.0"),
            ("$1,000.", "1000.0"),
            ("$40.00", "40.0"),
            ("1_000 1e16 _1", "1000.0 1e16 1.0"),
            ("-5", "5.0"),
            ("U.S.", "us"),
            ("nan inf", "nan inf"),
            ("١٢٣ 𝟗 ३.१४", "123.0 9.0 3.14"),
            ("３．５ −５ ５½ ²", "３．５ −５ ５½ ²"),
            ("(\u{b}7\u{1d})", "7.0"),
            ("the\ncat", "cat"),
            ("Straße", "strasse"),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    // Inspect leaves nothing of these.
    #[test]
    fn an_answer_without_other_words_stays_as_it_is() {
        let cases = [(" A\n", "a"), ("the a-an", "the a-an"), ("+", "+"), (" \t", "")];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text}");
        }
    }
}
