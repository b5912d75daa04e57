//! Splits a text into words, normalized so that words that people consider the same are equal. Counting is left to
//! others.

use scorebox_sdk_texts::normal::inspect_word;

/// The words of a text, without the stop words (which are already normalized).
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

/// A token without case, punctuation and articles, its words joined by single spaces; a number in its shortest form.
pub(crate) fn normalize_token(token: &str) -> String {
    inspect_word(&caseless::default_case_fold_str(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected forms are the results of `_normalize_token` in Inspect 0.3.285, with numbers written as Rust writes
    // them.
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
