//! Finds the names of choices on a line or in a text: alone, at its beginning, or in brackets after a label. JSON is
//! read elsewhere.

use super::labels::is_label;

/// The name that a text consists of, without surrounding marks, or begins with.
pub(super) fn named(text: &str, names: &[&str]) -> Option<usize> {
    exactly(text, names).or_else(|| {
        let (place, rest) = beginning(text, names)?;
        (!names_another(rest, names, place)).then_some(place)
    })
}

/// The name that a text consists of, as it is or without surrounding marks.
pub(super) fn exactly(text: &str, names: &[&str]) -> Option<usize> {
    let is_around = |letter: char| letter.is_whitespace() || "*_`\"'“”.,:;!()[]".contains(letter);
    place(text.trim(), names).or_else(|| place(text.trim_matches(is_around), names))
}

/// The name in parentheses or brackets directly after a label, as in `I choose (B) because it fits`. Elsewhere,
/// brackets may contain what the verdict is not.
pub(super) fn in_brackets(line: &str, names: &[&str]) -> Option<usize> {
    let (label, bracketed) = line.split_once(['(', '['])?;
    let (inner, rest) = bracketed.split_once([')', ']'])?;
    let place = place(inner.trim(), names).filter(|_| is_label(label))?;
    (!names_another(rest, names, place)).then_some(place)
}

/// Whether lines of a text begin with different names, as in a list: then none of them is a verdict.
pub(super) fn are_listed(text: &str, names: &[&str]) -> bool {
    let mut places = text.lines().filter_map(|line| Some(beginning(line, names)?.0));
    let first = places.next();
    places.any(|place| Some(place) != first)
}

/// The name that a text begins with, before `)`, `.` or `:`, and what follows.
fn beginning<'t>(text: &'t str, names: &[&str]) -> Option<(usize, &'t str)> {
    let (first, rest) = text.split_once([')', '.', ':'])?;
    // `1.5` does not begin with the choice 1.
    if rest.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    Some((exactly(first, names)?, rest))
}

/// Whether a text names a choice other than this one: it may say there what the verdict is, or what it is not.
fn names_another(text: &str, names: &[&str], place: usize) -> bool {
    let lower = text.to_ascii_lowercase();
    let others = names.iter().enumerate().filter(|(other, _)| *other != place);
    others.map(|(_, name)| name.trim()).any(|name| is_word(text, &lower, name))
}

/// Whether a name is a word of a text, which is given in lower case too. In another case, and followed by a space, it
/// is an ordinary word: `Yes. There is no problem` does not name `No`, nor `B. It is a good answer` the choice `A`.
fn is_word(text: &str, lower: &str, name: &str) -> bool {
    // Lowering ASCII keeps every byte in place.
    lower.match_indices(&name.to_ascii_lowercase()).any(|(at, _)| {
        let (before, found) = text.split_at(at);
        let (found, after) = found.split_at(name.len());
        let is_apart =
            !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
        is_apart && (found == name || !after.starts_with(' '))
    })
}

/// The index of the name that equals this word; one in the same case comes first.
fn place(word: &str, names: &[&str]) -> Option<usize> {
    let exact = names.iter().position(|name| name.trim() == word);
    exact.or_else(|| names.iter().position(|name| name.trim().eq_ignore_ascii_case(word)))
}
