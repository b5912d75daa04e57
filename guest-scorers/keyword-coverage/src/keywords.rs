//! Splits an input into words as the peer does, and decides which words are keywords. It counts nothing.

use std::collections::BTreeSet;

/// Characters that are removed from anywhere in a word.
const PUNCTUATION: &[char] = &['.', ',', ';', '!', '?', '(', ')', ':', '"', '“', '”', '‘', '’'];

/// The words of a text in lower case, without HTML tags and punctuation. Web addresses stay as they are.
pub(crate) fn words(text: &str) -> Vec<String> {
    without_tags(text).split_whitespace().map(word).filter(|word| !word.is_empty()).collect()
}

/// The words that are not numbers to the peer: after its splitting, not only digits.
pub(crate) fn without_numbers(mut words: Vec<String>) -> Vec<String> {
    words.retain(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
    words
}

/// The words that are not in `stop_words`, in order and without repetition.
pub(crate) fn extract(words: Vec<String>, stop_words: &BTreeSet<String>) -> Vec<String> {
    let is_keyword = |word: &String| !stop_words.contains(&word.to_lowercase());
    let mut seen = BTreeSet::new();
    let keywords = words.into_iter().filter(is_keyword);
    keywords.filter(|word| seen.insert(word.clone())).collect()
}

fn word(word: &str) -> String {
    if word.contains(':') && (word.contains("http://") || word.contains("https://")) {
        return word.to_owned();
    }
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return word.to_ascii_lowercase();
    }
    let bare = word.strip_prefix('\'').unwrap_or(word);
    let bare = bare.strip_suffix('\'').unwrap_or(bare).replace(PUNCTUATION, "");
    // A mark alone is not a word.
    if matches!(bare.as_str(), "_" | "@" | "&" | "#" | "·" | "-") {
        return String::new();
    }
    bare.to_lowercase()
}

/// Removes everything from a `<` to the next `>`, if there is something between them.
fn without_tags(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let Some(length) = rest[start + 1..].find('>') else { break };
        let end = if length == 0 { start + 1 } else { start };
        kept.push_str(&rest[..end]);
        rest = if length == 0 { &rest[end..] } else { &rest[start + length + 2..] };
    }
    kept + rest
}
