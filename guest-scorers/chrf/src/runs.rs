//! Runs of characters and of words of a text, and how many of them two texts share. It folds no case.

use std::borrow::Cow;
use std::hash::Hash;

use scorebox_sdk_texts::python::is_space;
use scorebox_sdk_texts::similarity::shared;

/// A text, prepared for splitting into runs.
pub(crate) struct RunsOf<'t> {
    text: Cow<'t, str>,
    /// The start of each character, and the end of the last one.
    bounds: Vec<usize>,
    words: Vec<&'t str>,
}

impl<'t> RunsOf<'t> {
    pub(crate) fn new(text: &'t str, whitespace: bool) -> Self {
        let words = words(text);
        let text = match whitespace {
            true => Cow::Borrowed(text),
            false => Cow::Owned(text.split(is_space).collect()),
        };
        let starts = text.char_indices().map(|(start, _)| start);
        let bounds = starts.chain([text.len()]).collect();
        Self { text, bounds, words }
    }

    /// All runs of `length` characters, in order.
    pub(crate) fn characters(&self, length: usize) -> Vec<&str> {
        let ends = self.bounds.iter().skip(length);
        self.bounds.iter().zip(ends).map(|(start, end)| &self.text[*start..*end]).collect()
    }

    /// All runs of `length` words, in order.
    pub(crate) fn words(&self, length: usize) -> Vec<&[&str]> {
        self.words.windows(length).collect()
    }
}

/// The words, with a single punctuation mark before or after each as a separate word.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        let mark = |c: &char| c.is_ascii_punctuation();
        let last = word.chars().next_back().filter(mark).map_or(0, char::len_utf8);
        let first = word.chars().next().filter(mark).map_or(0, char::len_utf8);
        let place = if last > 0 { word.len() - last } else { first };
        let (left, right) = word.split_at(place);
        words.extend([left, right].into_iter().filter(|part| !part.is_empty()));
    }
    words
}

/// How many runs two texts have, and how many they share.
#[derive(Debug, PartialEq)]
pub(crate) struct Runs {
    pub(crate) shared: usize,
    pub(crate) output: usize,
    pub(crate) reference: usize,
}

/// Counts the shared runs. A repeated run counts as often as in the text that has fewer of it.
pub(crate) fn compare<R: Eq + Hash>(output: &[R], reference: &[R]) -> Runs {
    let shared = shared(output, reference);
    Runs { shared, output: output.len(), reference: reference.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_beside_a_word_is_a_word() {
        // As `_remove_punctuation` of sacrebleu does, which splits off one mark, preferably the last.
        assert_eq!(words("(hi) there! ... !"), ["(hi", ")", "there", "!", "..", ".", "!"]);
        assert_eq!(words("(hi naïve「x」"), ["(", "hi", "naïve「x」"]);
    }

    #[test]
    fn runs_of_characters_leave_white_space_out_or_not() {
        assert_eq!(RunsOf::new("a ñb", false).characters(2), ["añ", "ñb"]);
        assert_eq!(RunsOf::new("a ñ", true).characters(2), ["a ", " ñ"]);
        assert!(RunsOf::new("a", false).characters(2).is_empty());
        assert_eq!(RunsOf::new("a b c", false).words(2), [["a", "b"], ["b", "c"]]);
    }
}
