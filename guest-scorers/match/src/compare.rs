//! Decides whether an expected text is at its place in an output. Reading numbers is left to `number`.

use std::borrow::Cow;
use std::cell::OnceCell;

use caseless::default_case_fold_str;
use scorebox_sdk_texts::python::{decimal, is_space};

use crate::Location;
use crate::number::{number, strictly};

/// An output, and how to search it.
pub(crate) struct Output<'t> {
    text: Cow<'t, str>,
    location: Location,
    ignore_case: bool,
    numeric: bool,
    folded: OnceCell<String>,
    /// The numbers at the place that counts, and their text with five significant digits; computed on demand.
    numbers: OnceCell<Vec<(f64, String)>>,
}

impl<'t> Output<'t> {
    pub(crate) fn new(
        text: Cow<'t, str>,
        location: Location,
        ignore_case: bool,
        numeric: bool,
    ) -> Self {
        let (folded, numbers) = (OnceCell::new(), OnceCell::new());
        Self { text, location, ignore_case, numeric, folded, numbers }
    }

    /// Whether `expected` is at its place.
    pub(crate) fn matches(&self, expected: &str) -> bool {
        let expected = self.fold(expected.trim_matches(is_space));
        if !self.numeric {
            return self.has(&expected);
        }
        let plain = plain(&expected);
        match number(&plain) {
            Some(number) => {
                let number = five_digits(number);
                // As a whole output, `(42)` is not a number, but it is the expected text if that is `(42)`.
                self.numbers().iter().any(|(_, found)| *found == number)
                    || self.location == Location::Exact && self.folded() == expected
            }
            // A mark of numbers may also be part of a text: `Paris, Texas`.
            None => self.has(&plain) || self.has(&expected),
        }
    }

    /// Whether a text is at its place.
    fn has(&self, expected: &str) -> bool {
        let (output, expected) = (without_edges(self.folded()), without_edges(expected));
        match self.location {
            Location::Begin => output.starts_with(expected),
            Location::End => output.ends_with(expected),
            Location::Any => output.contains(expected),
            Location::Exact => output == expected,
        }
    }

    /// The number to compare with, if the expected text is one and numbers were compared.
    pub(crate) fn number(&self) -> Option<f64> {
        match self.numbers.get()?.as_slice() {
            [(number, _)] if self.location != Location::Any => Some(*number),
            _ => None,
        }
    }

    fn numbers(&self) -> &[(f64, String)] {
        self.numbers.get_or_init(|| {
            let text = plain(self.folded());
            let mut words = text.split(is_space).filter(|word| !word.is_empty());
            let found: Vec<f64> = match self.location {
                Location::Begin => words.find_map(number).into_iter().collect(),
                Location::End => words.rev().find_map(number).into_iter().collect(),
                Location::Any => words.filter_map(number).collect(),
                Location::Exact => strictly(&text).into_iter().collect(),
            };
            found.into_iter().map(|number| (number, five_digits(number))).collect()
        })
    }

    fn folded(&self) -> &str {
        self.folded.get_or_init(|| self.fold(self.text.trim_matches(is_space)))
    }

    fn fold(&self, text: &str) -> String {
        match (self.ignore_case, text.is_ascii()) {
            (false, _) => text.to_owned(),
            (true, true) => text.to_ascii_lowercase(),
            (true, false) => default_case_fold_str(text),
        }
    }
}

fn five_digits(number: f64) -> String {
    format!("{number:.4e}")
}

/// The text without surrounding white space and ASCII punctuation.
fn without_edges(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_ascii_punctuation() || c.is_ascii_whitespace() || c == '\u{b}')
}

/// The text without marks of currency, thousands and emphasis (nor LaTeX's backslash before one), and without points
/// that are not followed by a digit.
fn plain(text: &str) -> String {
    const MARKS: [char; 6] = ['$', ',', '£', '€', '*', '_'];
    let mut kept = Vec::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let escapes = c == '\\' && rest.peek().is_some_and(|next| MARKS.contains(next));
        if !escapes && !MARKS.contains(&c) {
            kept.push(c);
        }
    }
    let digit_follows = |place: usize| kept.get(place + 1).is_some_and(|c| decimal(*c).is_some());
    let points_kept =
        kept.iter().enumerate().filter(|(place, c)| **c != '.' || digit_follows(*place));
    points_kept.map(|(_, c)| *c).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // The values are from `strip_numeric_punctuation` of Inspect 0.3.285.
    #[test]
    fn marks_and_full_stops_are_not_part_of_a_number() {
        assert_eq!(plain("$1,234.50."), "1234.50");
        assert_eq!(plain("\\$20, **7** _8_ £9 €10"), "20 7 8 9 10");
        assert_eq!(plain("5. Then .5 and a.b 1.a"), "5 Then .5 and ab 1a");
        assert_eq!(plain("60%"), "60%");
        assert_eq!(plain("x.٣"), "x.٣");
    }

    #[test]
    fn edges_are_ascii() {
        assert_eq!(without_edges(" (\"Paris!\")\n"), "Paris");
        assert_eq!(without_edges("«Paris»"), "«Paris»");
    }
}
