//! Takes from a text what does not matter in an answer. It compares nothing.

use caseless::default_case_fold_str;
use scorebox_sdk::python::{float, is_space};

/// SQuAD's: lower case, without ASCII punctuation, without articles, with single spaces.
pub(crate) fn squad(text: &str) -> String {
    single_spaces(&without_articles(&without_punctuation(&text.to_lowercase())))
}

/// DROP's: the words between spaces and hyphens, each like SQuAD's, but a number as a number.
pub(crate) fn words(text: &str) -> String {
    let folded =
        if text.is_ascii() { text.to_ascii_lowercase() } else { default_case_fold_str(text) };
    let words = folded.split([' ', '-']).map(word).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn word(word: &str) -> String {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return if is_article(word) { String::new() } else { word.to_owned() };
    }
    let around = |c: char| is_punctuation(c) || c.is_ascii_whitespace() || c == '\u{b}';
    let bare = word.trim_matches(around);
    let plain = without_punctuation(word);
    match [word, bare, &plain].into_iter().find_map(float) {
        Some(number) => format!("{number:?}"),
        None => single_spaces(&without_articles(&plain)),
    }
}

fn is_article(word: &str) -> bool {
    matches!(word, "a" | "an" | "the")
}

fn without_punctuation(text: &str) -> String {
    text.chars().filter(|c| !is_punctuation(*c)).collect()
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
}

/// Every article becomes a space; an article is a whole run of letters and digits.
fn without_articles(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        kept.push_str(if is_article(run) { " " } else { run });
        let next = after.find(char::is_alphanumeric).unwrap_or(after.len());
        let (between, after) = after.split_at(next);
        kept.push_str(between);
        rest = after;
    }
    kept
}

fn single_spaces(text: &str) -> String {
    let words = text.split(is_space).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    // The values on the right: `normalize_answer` of SQuAD's evaluation script, version 1.1.
    #[test]
    fn squad_keeps_what_matters_in_an_answer() {
        let cases = [
            ("The Cat, a  cat\tand AN \"ant\"!", "cat cat and ant"),
            ("well-known", "wellknown"),
            ("3.14", "314"),
            ("U.S.A.", "usa"),
            ("don't", "dont"),
            ("theatre an_d", "theatre and"),
            ("a\u{2019}s end", "\u{2019}s end"),
            ("A", ""),
            ("", ""),
            ("ΟΔΟΣ – Ä", "οδος – ä"),
            ("one\u{1f}two\u{1c}", "one two"),
        ];
        for (text, expected) in cases {
            assert_eq!(squad(text), expected, "{text}");
        }
    }

    // The values on the right: `_normalize` of Inspect 0.3.285, with its `1e+16` as `1e16`.
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
            ("the a-an", ""),
            ("the\ncat", "cat"),
            ("Straße", "strasse"),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text}");
        }
    }
}
