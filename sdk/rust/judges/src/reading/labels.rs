//! The words before a verdict that announce it. What the verdict is, is read elsewhere.

/// What the words before a verdict end with, such as `Score: 7` or `The final answer is B`.
const LABELS: [&str; 14] = [
    "answer",
    "choice",
    "choose",
    "conclusion",
    "decision",
    "grade",
    "judgement",
    "judgment",
    "label",
    "rating",
    "result",
    "score",
    "verdict",
    "winner",
];
/// The only other words that may be in a label. With any other word, as in `Style score: 2` or `it says that the score
/// is`, the verdict may be about something else, or someone else's.
const LEADS: [&str; 15] = [
    "final",
    "hence",
    "here",
    "i",
    "in",
    "is",
    "my",
    "our",
    "overall",
    "s",
    "so",
    "the",
    "therefore",
    "thus",
    "total",
];
/// The longest label, in bytes: longer text is not searched.
const MAX_LABEL: usize = 80;

/// Whether words announce a verdict: a heading, a short sentence, or one that ends a longer text.
pub(super) fn is_label(words: &str) -> bool {
    let Some(words) = last_sentence(words.trim_end_matches(is_around)) else { return false };
    let words = range_in(words).map_or(words, |(words, _)| words);
    let is_any = |of: &[&str], word: &str| of.iter().any(|known| known.eq_ignore_ascii_case(word));
    let words = words.split(|letter: char| !letter.is_alphanumeric());
    let mut last = "";
    for word in words.filter(|word| !word.is_empty()) {
        if !is_any(&LABELS, word) && !is_any(&LEADS, word) {
            return false;
        }
        if !word.eq_ignore_ascii_case("is") {
            last = word;
        }
    }
    is_any(&LABELS, last)
}

/// The range in parentheses at the end of a label, as in `Score (1-5)`, and the words before it.
pub(super) fn range_in(label: &str) -> Option<(&str, &str)> {
    let words = label.trim_end_matches(is_around);
    let (words, range) = words.strip_suffix(')')?.rsplit_once('(')?;
    range.contains(|letter: char| letter.is_ascii_digit()).then_some((words, range))
}

/// The text after the last end of a sentence, unless it is too long for a label.
fn last_sentence(words: &str) -> Option<&str> {
    let from = words.len().saturating_sub(MAX_LABEL);
    let from = (from..=words.len()).find(|at| words.is_char_boundary(*at))?;
    let ends = [". ", "! ", "? "].into_iter().filter_map(|end| words[from..].rfind(end));
    match ends.max() {
        Some(end) => Some(&words[from + end + 2..]),
        None => Some(words).filter(|_| from == 0),
    }
}

/// What may surround words: spaces, and Markdown's marks of emphasis.
pub(super) fn is_around(letter: char) -> bool {
    letter.is_whitespace() || "*_`#".contains(letter)
}
