//! Finds the final answer of a worked solution. Reading the number itself is left to `number`.

use crate::number::{find, number_in};

/// The number after the last marker that a number follows.
#[must_use]
pub fn final_answer(text: &str) -> Option<f64> {
    let mut markers = Vec::new();
    markers.extend(boxes(text));
    markers.extend(hashes(text));
    markers.extend(answer_lines(text));
    markers.extend(answer_words(text));
    markers.sort_by_key(|(place, _)| *place);
    markers.iter().rev().find_map(|(_, answer)| number_in(answer))
}

/// The last number of a text, wherever it stands.
#[must_use]
pub fn last_number(text: &str) -> Option<f64> {
    let mut last = None;
    let mut from = 0;
    while let Some(found) = find(text, from) {
        last = Some(found.value);
        from = found.end;
    }
    last
}

/// Where a marker stands, and the text in which its number is.
type Marker<'t> = (usize, &'t str);

/// `\boxed{…}`, as LaTeX marks a result; braces may nest.
fn boxes(text: &str) -> impl Iterator<Item = Marker<'_>> {
    text.match_indices("\\boxed{").map(|(place, marker)| {
        let inside = &text[place + marker.len()..];
        let mut depth = 1_usize;
        let end = inside.find(|c| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        (place, &inside[..end.unwrap_or(inside.len())])
    })
}

/// `#### 42`, as GSM8K marks a result. A heading of words is none.
fn hashes(text: &str) -> impl Iterator<Item = Marker<'_>> {
    text.match_indices("####").filter_map(|(place, marker)| {
        let line = rest_of_line(text, place + marker.len());
        let answer = line.trim_start_matches(|c: char| c.is_whitespace() || "#*_".contains(c));
        let wordless = answer.starts_with(|c: char| !c.is_alphabetic());
        wordless.then_some((place, answer))
    })
}

/// `A: 42` at the start of a line.
fn answer_lines(text: &str) -> impl Iterator<Item = Marker<'_>> {
    text.match_indices("A:").filter_map(|(place, marker)| {
        let line = text[..place].rfind('\n').map_or(0, |index| index + 1);
        let blank = |c: char| c.is_whitespace() || "*_>".contains(c);
        let starts_line = text[line..place].chars().all(blank);
        starts_line.then(|| (place, rest_of_line(text, place + marker.len())))
    })
}

/// `answer is 42`, `Answer: 42`, `**Answer**: 42`.
fn answer_words(text: &str) -> impl Iterator<Item = Marker<'_>> {
    const WORD: &str = "answer";
    let lower = text.to_ascii_lowercase();
    let places: Vec<usize> = lower.match_indices(WORD).map(|(place, _)| place).collect();
    places.into_iter().filter_map(move |place| {
        let inside_word = text[..place].chars().next_back().is_some_and(char::is_alphanumeric);
        let after = &lower[place + WORD.len()..];
        let joint = after.trim_start_matches(|c: char| c == ' ' || "*_".contains(c));
        let is = |rest: &&str| !rest.starts_with(char::is_alphanumeric);
        let rest = joint.strip_prefix(':').or_else(|| joint.strip_prefix("is").filter(is))?;
        // Lowering ASCII keeps every byte in its place.
        let from = text.len() - rest.len();
        (!inside_word).then(|| (place, rest_of_line(text, from)))
    })
}

/// The line from a byte on; where nothing but punctuation is left of it, the next line that says
/// something.
fn rest_of_line(text: &str, from: usize) -> &str {
    let says_something = |line: &&str| line.contains(char::is_alphanumeric);
    text[from..].lines().find(says_something).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_marker_is_known() {
        let texts = [
            "3 + 4 = 7\nA: 42",
            "A:42",
            "**A:** 42",
            "7 apples\n#### 42",
            "So the answer is 42.",
            "The final answer is: **42**",
            "ANSWER: $42.00",
            "**Answer**: 42 apples",
            "**Answer:**\n\n42\n",
            "Hence \\boxed{42}.",
            "\\boxed{\\text{about } 42\\%}",
            "The answer is $\\boxed{42}$, not 43",
        ];
        for text in texts {
            assert_eq!(final_answer(text), Some(42.0), "{text}");
        }
    }

    #[test]
    fn the_last_marker_counts_that_a_number_follows() {
        assert_eq!(final_answer("A: 1\nA: 2"), Some(2.0));
        assert_eq!(final_answer("The answer is 1. No:\nA: 2"), Some(2.0));
        assert_eq!(final_answer("A: 2\nThe answer is above."), Some(2.0));
    }

    #[test]
    fn what_only_looks_like_a_marker_is_none() {
        assert_eq!(final_answer("Plan A: 5 steps"), None);
        assert_eq!(final_answer("#### Step 2: divide"), None);
        assert_eq!(final_answer("answered 5 questions"), None);
        assert_eq!(final_answer("answer isolated 5"), None);
        assert_eq!(final_answer("5 apples"), None);
    }

    #[test]
    fn the_last_number_stands_anywhere() {
        assert_eq!(last_number("5 apples and 6.5 pears."), Some(6.5));
        assert_eq!(last_number("16-3=<<16-3=13>>13 marbles"), Some(13.0));
        assert_eq!(last_number("none"), None);
    }
}
