//! Removes from a text what does not matter in an answer, as SQuAD and Inspect do. It compares nothing.

use crate::python::{float, is_space};

/// A text normalized as SQuAD does it: in lower case, without ASCII punctuation, without the articles a, an, the, and
/// with single spaces.
///
/// `normalize_answer` of SQuAD's evaluation script, version 1.1 (Rajpurkar et al. 2016,
/// arXiv:1606.05250).
///
/// ```
/// assert_eq!(scorebox_sdk_texts::normal::squad("The Cat, a  cat!"), "cat cat");
/// ```
#[must_use]
pub fn squad(text: &str) -> String {
    single_spaces(&without_articles(&without_punctuation(&text.to_lowercase())))
}

/// A word normalized as Inspect does it: a number in its shortest form, anything else without ASCII punctuation,
/// without the articles a, an, the, and with single spaces. The result may be empty.
///
/// `folded` is the word after case folding, which is left to the caller. `_normalize` and `_normalize_token` of Inspect
/// 0.3.285, with numbers written as Rust writes them (`1e16`).
///
/// ```
/// # use scorebox_sdk_texts::normal::inspect_word;
/// assert_eq!(inspect_word("($1,000.)"), "1000.0");
/// assert_eq!(inspect_word("don't"), "dont");
/// assert_eq!(inspect_word("the"), "");
/// ```
#[must_use]
pub fn inspect_word(folded: &str) -> String {
    // By far the most words: it is not a number, and contains no punctuation or white space.
    if folded.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return if is_article(folded) { String::new() } else { folded.to_owned() };
    }
    let around = |c: char| is_punctuation(c) || c.is_ascii_whitespace() || c == '\u{b}';
    let bare = folded.trim_matches(around);
    let plain = without_punctuation(folded);
    match [folded, bare, &plain].into_iter().find_map(float) {
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

/// Python's `string.punctuation`; other marks stay.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
}

/// Replaces each article with a space; an article is a whole run of letters and digits.
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

    // The values on the right are from `normalize_answer` of SQuAD's evaluation script, version 1.1.
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

    // The values on the right are from `_normalize_token` of Inspect 0.3.285, with numbers as Rust writes them.
    #[test]
    fn a_word_is_a_number_where_inspect_reads_one() {
        let cases = [
            ("(3.14)", "3.14"),
            ("+3.140", "3.14"),
            ("-5", "-5.0"),
            ("1__0.5", "105.0"),
            ("u.s.", "us"),
            ("nan", "nan"),
            ("３．５", "３．５"),
            ("the\n\tcat", "cat"),
            ("a—b", "—b"),
            ("«the»", "« »"),
            ("", ""),
        ];
        for (word, expected) in cases {
            assert_eq!(inspect_word(word), expected, "{word}");
        }
    }
}
