//! The names of choices in a line or a text: alone, at its beginning, or in parentheses. JSON is read elsewhere.

/// The name that a text is, without what surrounds it, or that it begins with.
pub(super) fn named(text: &str, names: &[&str]) -> Option<usize> {
    exactly(text, names).or_else(|| beginning(text, names))
}

/// The name that a text is, as it is or without what surrounds it.
pub(super) fn exactly(text: &str, names: &[&str]) -> Option<usize> {
    let is_around = |letter: char| letter.is_whitespace() || "*_`\"'“”.,:;!()[]".contains(letter);
    place(text.trim(), names).or_else(|| place(text.trim_matches(is_around), names))
}

/// The name that a text begins with, before `)`, `.` or `:`, unless another one stands in parentheses.
pub(super) fn beginning(text: &str, names: &[&str]) -> Option<usize> {
    let (first, rest) = text.split_once([')', '.', ':'])?;
    // `1.5` does not begin with the choice 1.
    if rest.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let other = in_parentheses(rest, names);
    exactly(first, names).filter(|place| other.is_none_or(|other| other == *place))
}

/// Whether lines of a text begin with different names, as those of a list do: then none of them is a verdict.
pub(super) fn are_listed(text: &str, names: &[&str]) -> bool {
    let mut places = text.lines().filter_map(|line| beginning(line, names));
    let first = places.next();
    places.any(|place| Some(place) != first)
}

/// The only name that stands in parentheses or brackets.
pub(super) fn in_parentheses(line: &str, names: &[&str]) -> Option<usize> {
    let mut found = None;
    for piece in line.split(['(', '[']).skip(1) {
        let Some((inner, _)) = piece.split_once([')', ']']) else { continue };
        match (place(inner.trim(), names), found) {
            (Some(place), Some(other)) if place != other => return None,
            (Some(place), _) => found = Some(place),
            (None, _) => {}
        }
    }
    found
}

/// The name that this is; one in the same case comes first.
fn place(word: &str, names: &[&str]) -> Option<usize> {
    let exact = names.iter().position(|name| name.trim() == word);
    exact.or_else(|| names.iter().position(|name| name.trim().eq_ignore_ascii_case(word)))
}
