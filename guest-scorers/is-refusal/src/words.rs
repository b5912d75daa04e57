//! Cuts the beginning of a text into plain words. It knows no phrases.

use std::ops::Range;

/// How many words are looked at: a refusal comes first.
const WORD_LIMIT: usize = 100;

/// The first words of a text, with contractions written out (`can't` is `can not`). A sentence's end is
/// a separate word, `.`.
pub(crate) struct Words<'t> {
    text: &'t str,
    words: Vec<String>,
    /// Where each word stands in the text.
    places: Vec<Range<usize>>,
}

impl<'t> Words<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let mut words = Self { text, words: Vec::new(), places: Vec::new() };
        let is_part = |c: char| c.is_alphanumeric() || is_apostrophe(c);
        let mut from = 0;
        while words.words.len() < WORD_LIMIT && from < text.len() {
            let rest = &text[from..];
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            if end > 0 {
                words.push(&rest[..end], from..from + end);
                from += end;
                continue;
            }
            let next = rest.find(is_part).unwrap_or(rest.len());
            if rest[..next].contains(['.', '!', '?', '\n']) {
                words.add(".", from..from);
            }
            from += next;
        }
        words
    }

    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// The text of some of the words.
    pub(crate) fn text(&self, words: Range<usize>) -> &'t str {
        let (Some(first), Some(last)) =
            (self.places.get(words.start), self.places.get(words.end - 1))
        else {
            return "";
        };
        &self.text[first.start..last.end]
    }

    fn add(&mut self, word: &str, place: Range<usize>) {
        self.words.push(word.to_owned());
        self.places.push(place);
    }

    fn push(&mut self, word: &str, place: Range<usize>) {
        let word: String = word.chars().map(|c| if is_apostrophe(c) { '\'' } else { c }).collect();
        let word = word.trim_matches('\'').to_lowercase();
        let whole = match word.as_str() {
            "can't" | "cant" | "cannot" => "can not".to_owned(),
            "won't" | "wont" => "will not".to_owned(),
            "i'm" | "im" => "i am".to_owned(),
            _ => match word.split_once('\'') {
                Some((start, "t")) => format!("{} not", start.trim_end_matches('n')),
                Some((start, "m")) => format!("{start} am"),
                Some((start, "re")) => format!("{start} are"),
                Some((start, "s")) => format!("{start} is"),
                Some((start, "d")) => format!("{start} would"),
                Some((start, "ll")) => format!("{start} will"),
                Some((start, "ve")) => format!("{start} have"),
                _ => word,
            },
        };
        for word in whole.split_whitespace() {
            self.add(word, place.clone());
        }
    }
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '‘' | 'ʼ' | '`')
}
