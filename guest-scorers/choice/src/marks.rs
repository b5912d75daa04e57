//! Finds the choices that a model marks after `ANSWER:`. Which ones are right is decided elsewhere.

use std::collections::BTreeSet;

use crate::place;

/// The indices of the marked choices, of `count`.
pub(crate) fn marks(text: &str, count: usize) -> BTreeSet<usize> {
    let text = without_brackets(&unwrapped(&unwrapped(text, "$"), "**"));
    let markers: Vec<Marker> = markers(&text).collect();
    let alone = markers.iter().rev().find_map(|marker| marker.alone(&text));
    let answer = alone.or_else(|| last_anywhere(&text, &markers));
    answer.map_or_else(BTreeSet::new, |answer| read(answer, count))
}

/// The answer after the last marker that is not part of the answer to an earlier one: in `ANSWER: A, ANSWER: B` the
/// first.
fn last_anywhere<'t>(text: &'t str, markers: &[Marker]) -> Option<&'t str> {
    let mut last = None;
    let mut from = 0;
    for marker in markers {
        if marker.start >= from
            && let Some((answer, end)) = marker.anywhere(text)
        {
            (last, from) = (Some(answer), end);
        }
    }
    last
}

/// Reads `A, C`, `A and C` or `AC`; the result is empty if one of them does not exist.
fn read(answer: &str, count: usize) -> BTreeSet<usize> {
    let answer = answer.trim().to_ascii_uppercase().replace(" AND ", ",").replace(' ', "");
    let exists = |name: &str| place(name).filter(|place| *place < count);
    let names = answer.split(',').filter(|name| !name.is_empty());
    let characters = answer.chars().map(|c| exists(c.encode_utf8(&mut [0; 4])));
    names.map(exists).collect::<Option<_>>().or_else(|| characters.collect()).unwrap_or_default()
}

/// The start and the end of an `ANSWER:`.
struct Marker {
    start: usize,
    end: usize,
}

fn markers(text: &str) -> impl Iterator<Item = Marker> {
    const WORD: &[u8] = b"answer";
    let windows = text.as_bytes().windows(WORD.len()).enumerate();
    let places = windows.filter(|(_, window)| window.eq_ignore_ascii_case(WORD));
    places.filter_map(|(start, _)| {
        let after = &text[start + WORD.len()..];
        let after = after.strip_prefix(['s', 'S']).unwrap_or(after);
        let after = after.trim_start().strip_prefix(':')?;
        Some(Marker { start, end: text.len() - after.len() })
    })
}

impl Marker {
    /// The answer, if the marker begins a line and nothing but a full stop comes after the answer.
    fn alone<'t>(&self, text: &'t str) -> Option<&'t str> {
        let begins_line = self.start == 0 || text[..self.start].ends_with('\n');
        let (answer, rest) = self.answer(text)?;
        (begins_line && (ends_line(rest) || rest.trim_start().starts_with('.'))).then_some(answer)
    }

    /// The answer, up to the end of a word, and where it ends.
    fn anywhere<'t>(&self, text: &'t str) -> Option<(&'t str, usize)> {
        let (answer, rest) = self.answer(text)?;
        let end = text.len() - rest.len();
        if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            let length = answer.rfind([' ', ','])?;
            return Some((&answer[..length], end - answer.len() + length));
        }
        Some((answer, end))
    }

    /// The letters, digits, spaces and commas after the marker, and what comes after them. If there is only a space,
    /// the answer is empty.
    fn answer<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let after = &text[self.end..];
        let start = after.trim_start();
        let end = start.find(|c| !is_part(c)).unwrap_or(start.len());
        if end > 0 {
            return Some(start.split_at(end));
        }
        let space = after[..after.len() - start.len()].find(' ')?;
        Some(("", &after[space + 1..]))
    }
}

/// Whether a character may be part of an answer.
fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == ' ' || c == ','
}

/// Whether nothing else is on the line.
fn ends_line(text: &str) -> bool {
    let rest = text.trim_start();
    rest.is_empty() || text[..text.len() - rest.len()].contains('\n')
}

/// Removes the marks around what may be an answer: `**B**`, `$A, C$`.
fn unwrapped(text: &str, mark: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(mark) {
        kept.push_str(&rest[..place]);
        let inside = rest[place + mark.len()..].trim_start();
        let end = inside.find(|c| !is_part(c)).unwrap_or(inside.len());
        let closing = inside[end..].trim_start().strip_prefix(mark);
        match closing.filter(|_| inside.starts_with(|c: char| c.is_ascii_alphanumeric())) {
            Some(after) => {
                kept.push_str(inside[..end].trim_end());
                rest = after;
            }
            None => {
                kept.push_str(&mark[..1]);
                rest = &rest[place + 1..];
            }
        }
    }
    kept + rest
}

/// Replaces `(A)` with `A`, if it comes after a colon, a comma or nothing, and before a comma, a full stop or the end
/// of the line.
fn without_brackets(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for (place, _) in text.match_indices('(') {
        let inside = &text[place + 1..];
        let is_one = inside.starts_with(|c: char| c.is_ascii_alphanumeric());
        if !is_one || inside.as_bytes().get(1) != Some(&b')') {
            continue;
        }
        let (before, after) = (text[..place].trim_end(), &inside[2..]);
        let listed = before.is_empty() || before.ends_with([':', ',']);
        if listed && (ends_line(after) || after.trim_start().starts_with([',', '.'])) {
            kept.push_str(&text[from..place]);
            kept.push_str(&inside[..1]);
            from = place + 3;
        }
    }
    kept + &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> Vec<usize> {
        marks(text, 4).into_iter().collect()
    }

    // The expected marks are from `parse_answers` of Inspect 0.3.285, with `multiple_correct`.
    #[test]
    fn marks_are_written_in_many_ways() {
        let cases: &[(&str, &[usize])] = &[
            ("ANSWER: A", &[0]),
            ("ANSWER: A, C", &[0, 2]),
            ("answer : c,a.", &[0, 2]),
            ("ANSWER: AC", &[0, 2]),
            ("ANSWER: A C", &[0, 2]),
            ("ANSWER: A, B, and C", &[0, 1, 2]),
            ("ANSWER: A and B", &[0, 1]),
            ("ANSWER:\nD", &[3]),
            ("ANSWER: A) Paris", &[0]),
            ("ANSWER: (A)", &[0]),
            ("ANSWER: (A), (B)", &[0, 1]),
            ("**ANSWER**: **B**", &[1]),
            ("**ANSWER: B**", &[1]),
            ("ANSWER: $B$", &[1]),
            ("So ANSWER: B", &[1]),
            ("ANSWER: A\nNo.\nANSWER: C", &[2]),
            ("ANSWER: A\nSo ANSWER: B", &[0]),
            ("So ANSWER: A. No, ANSWER: B", &[1]),
        ];
        for (text, places) in cases {
            assert_eq!(marked(text), *places, "{text}");
        }
    }

    #[test]
    fn what_is_not_a_choice_marks_nothing() {
        let texts = [
            "ANSWER: E",
            "ANSWER: A, E",
            "ANSWER: Paris",
            "ANSWER: 1",
            "ANSWER: (Paris)",
            "ANSWER: A because",
            "ANSWER: A, ANSWER: B",
            "ANSWER: Bé",
            "ANSWER: B\n\nANSWER: ",
            "ANSWER:",
            "A",
            "",
        ];
        for text in texts {
            assert!(marked(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn the_plural_is_read_as_well() {
        assert_eq!(marked("ANSWERS: A, B"), [0, 1]);
    }

    #[test]
    fn from_the_27th_on_choices_are_numbers() {
        assert_eq!(marks("ANSWER: Z, 2", 30).into_iter().collect::<Vec<_>>(), [25, 27]);
        assert!(marks("ANSWER: 5", 30).is_empty());
        assert!(marks("ANSWER: 0", 30).is_empty());
    }

    #[test]
    fn a_model_that_loops_costs_no_more_than_its_length() {
        for piece in
            ["ANSWER:", "ANSWER: A ", "$", "**", "$A ", "** A", "(A)", ",(A", "answer\n", "( "]
        {
            let _ = marks(&piece.repeat(50_000), 4);
        }
    }
}
