//! Splits the beginning of a text into plain words. It knows no phrases.

use std::ops::Range;

use crate::quotations;

/// How many words are examined: a refusal comes first.
const WORD_LIMIT: usize = 100;

/// The first words of a text, with contractions written out (`can't` as `can not`). The end of a sentence is a separate
/// word, `.`.
pub(crate) struct Words<'t> {
    text: &'t str,
    words: Vec<String>,
    /// The position of each word in the text.
    places: Vec<Range<usize>>,
    /// The ranges of the text that are in quotation marks.
    quotations: Vec<Range<usize>>,
}

impl<'t> Words<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let quotations = Vec::new();
        let mut words = Self { text, words: Vec::new(), places: Vec::new(), quotations };
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
            if ends_sentence(&rest[..next], &rest[next..]) {
                words.add(".", from..from);
            }
            from += next;
        }
        words.quotations = quotations::find(text, from);
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

    /// Whether the text ends after a word, or a mark separates it from the next one.
    pub(crate) fn is_before_pause(&self, word: usize) -> bool {
        let rest = self.places.get(word).map_or("", |place| &self.text[place.end..]);
        match rest.trim_start().chars().next() {
            None => true,
            // Without a space after it, a hyphen joins two words: no-one.
            Some('-') => rest.starts_with(char::is_whitespace),
            Some(next) => !next.is_alphanumeric() || rest.starts_with('\n'),
        }
    }

    /// The words of the quotation that contains all of `words`.
    pub(crate) fn quotation(&self, words: &Range<usize>) -> Option<Range<usize>> {
        let (first, last) = (self.places.get(words.start)?, self.places.get(words.end - 1)?);
        let encloses = |range: &&Range<usize>| range.start <= first.start && last.end <= range.end;
        let range = self.quotations.iter().find(encloses)?;
        let before = |place: usize| self.places.partition_point(|word| word.start < place);
        Some(before(range.start)..before(range.end))
    }

    /// Whether a word begins with a lower-case letter.
    pub(crate) fn is_small(&self, word: usize) -> bool {
        let place = self.places.get(word).map_or("", |place| &self.text[place.clone()]);
        place.starts_with(char::is_lowercase)
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

/// Whether a sentence ends between two words. A line break alone does not end one before a lower-case letter, because
/// the line may just be wrapped; a blank line does, and so does the mark of a list.
fn ends_sentence(between: &str, next: &str) -> bool {
    let Some((_, indent)) = between.rsplit_once('\n') else {
        return between.contains(['.', '!', '?']);
    };
    let continues = between.matches('\n').count() == 1
        && next.starts_with(char::is_lowercase)
        && indent.chars().all(|c| c.is_whitespace() || c == '>');
    !continues || between.contains(['.', '!', '?'])
}

pub(crate) fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '‘' | 'ʼ' | '`')
}
