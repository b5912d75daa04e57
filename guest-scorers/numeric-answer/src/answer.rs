//! Finds the final answer of a worked solution. Reading the number itself is left to `number`.

use std::iter;

use crate::latex::without_latex;
use crate::number::{Amount, find, read};

/// How many markers are examined, from the last one back, because a model that loops writes thousands.
const MARKER_LIMIT: usize = 100;

/// The mark that GSM8K writes before a result.
const HASHES: &str = "####";

/// The number after the last marker that a number follows; `None` if that number is not understood.
#[must_use]
pub fn final_answer(text: &str) -> Option<Amount> {
    latest_markers(text).take(MARKER_LIMIT).find_map(|marker| marker.number(text))?
}

/// The last number of a text that is understood, anywhere in it.
#[must_use]
pub fn last_number(text: &str) -> Option<Amount> {
    let text = without_latex(text);
    let mut last = None;
    let mut from = 0;
    while let Some(found) = find(&text, from) {
        last = found.value.or(last);
        from = found.end;
    }
    last
}

/// The mark of a final answer, and the byte after it.
struct Marker {
    kind: Kind,
    after: usize,
}

enum Kind {
    /// `\boxed{…}`, LaTeX's mark for a result.
    Box,
    /// `#### 42`, GSM8K's mark for a result.
    Hashes,
    /// Words before a number: `A: 42`, `the answer is 42`.
    Words,
}

impl Marker {
    /// The number after the marker, if there is one; the inner `None` means that it is not understood.
    fn number(&self, text: &str) -> Option<Option<Amount>> {
        let answer = self.answer(text)?;
        let found = read(answer)?;
        // In a box, `5!` is a factorial and not an exclamation.
        let is_factorial =
            matches!(self.kind, Kind::Box) && answer.trim_end_matches([' ', '$']).ends_with('!');
        Some(found.value.filter(|_| !is_factorial))
    }

    /// The text that contains the number.
    fn answer<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self.kind {
            // Includes the brace, after which a hyphen is a minus.
            Kind::Box => {
                let inside = inside_braces(&text[self.after..]);
                Some(&text[self.after - 1..self.after + inside.len()])
            }
            Kind::Words => Some(rest_of_line(text, self.after)),
            Kind::Hashes => {
                let line = rest_of_line(text, self.after);
                let answer =
                    line.trim_start_matches(|c: char| c.is_whitespace() || "#*_".contains(c));
                // A heading made of words is not an answer.
                answer.starts_with(|c: char| !c.is_alphabetic()).then_some(answer)
            }
        }
    }
}

/// The markers of a text, from the last one back.
fn latest_markers(text: &str) -> impl Iterator<Item = Marker> {
    // Searching for each kind of marker separately would take longer than everything else.
    let may_be_one = |byte: &u8| matches!(byte, b'\\' | b'#' | b'A' | b'a');
    let mut rest = text.len();
    iter::from_fn(move || {
        loop {
            let place = text.as_bytes()[..rest].iter().rposition(may_be_one)?;
            rest = place;
            let marker = match text.as_bytes()[place] {
                b'\\' => boxed(text, place),
                b'#' => hashes(text, place).inspect(|_| rest -= HASHES.len() - 1),
                _ => answer_line(text, place).or_else(|| answer_words(text, place)),
            };
            if marker.is_some() {
                return marker;
            }
        }
    })
}

fn boxed(text: &str, place: usize) -> Option<Marker> {
    let marker = "\\boxed{";
    text[place..]
        .starts_with(marker)
        .then_some(Marker { kind: Kind::Box, after: place + marker.len() })
}

/// Hashes that end at `place`.
fn hashes(text: &str, place: usize) -> Option<Marker> {
    let after = place + 1;
    text[..after].ends_with(HASHES).then_some(Marker { kind: Kind::Hashes, after })
}

/// `A: 42` at the start of a line.
fn answer_line(text: &str, place: usize) -> Option<Marker> {
    let marker = "A:";
    if !text[place..].starts_with(marker) {
        return None;
    }
    let before = text[..place].trim_end_matches([' ', '\t', '*', '_', '>']);
    (before.is_empty() || before.ends_with(['\n', '\r']))
        .then_some(Marker { kind: Kind::Words, after: place + marker.len() })
}

/// `answer is 42`, `Answer: 42`, `**Answer**: 42`.
fn answer_words(text: &str, place: usize) -> Option<Marker> {
    let joint = without_prefix(&text[place..], "answer")?.trim_start_matches([' ', '*', '_']);
    let is = |rest: &&str| !rest.starts_with(char::is_alphanumeric);
    let rest = joint.strip_prefix(':').or_else(|| without_prefix(joint, "is").filter(is))?;
    (!text[..place].ends_with(char::is_alphanumeric))
        .then_some(Marker { kind: Kind::Words, after: text.len() - rest.len() })
}

/// The text after a prefix of ASCII letters, in upper or lower case.
fn without_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// The text up to the closing brace; braces may nest.
fn inside_braces(text: &str) -> &str {
    let mut depth = 1_usize;
    let end = text.find(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    &text[..end.unwrap_or(text.len())]
}

/// The rest of the line from a byte on; if that is only punctuation, the next line that is not empty.
fn rest_of_line(text: &str, from: usize) -> &str {
    let says_something = |line: &&str| line.contains(char::is_alphanumeric);
    text[from..].lines().find(says_something).unwrap_or("")
}

#[cfg(test)]
mod tests {
    fn final_answer(text: &str) -> Option<f64> {
        super::final_answer(text).map(|number| number.value)
    }

    fn last_number(text: &str) -> Option<f64> {
        super::last_number(text).map(|number| number.value)
    }

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
    fn a_line_of_hashes_is_passed_over_as_one_that_says_nothing() {
        let line = "#".repeat(320);
        assert_eq!(final_answer(&format!("#### 7\n{line}\nThat is all.")), Some(7.0));
        assert_eq!(final_answer(&format!("#### 7\n{line} 8")), Some(8.0));
    }

    #[test]
    fn a_model_that_loops_costs_no_more_than_its_length() {
        let loops = ["answer: ", "A:", "\\boxed{", "#### ", "\\boxed{\\frac{1"];
        for text in loops {
            assert_eq!(final_answer(&text.repeat(200_000)), final_answer(text));
        }
        let numbers = [
            "1 ",
            "1 000 ",
            "1 / x",
            "1^",
            "1:2 ",
            "½ ",
            "2¹",
            "3 x 10",
            "1 million ",
            "1**",
            "1=",
            "1,2",
        ];
        for text in numbers {
            assert!(last_number(&text.repeat(50_000)).is_none_or(f64::is_finite), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_marker_is_not_one() {
        assert_eq!(final_answer("Plan A: 5 steps"), None);
        assert_eq!(final_answer("#### Step 2: divide"), None);
        assert_eq!(final_answer("answered 5 questions"), None);
        assert_eq!(final_answer("answer isolated 5"), None);
        assert_eq!(final_answer("5 apples"), None);
    }

    #[test]
    fn in_a_box_an_exclamation_mark_is_a_factorial() {
        assert_eq!(final_answer("\\boxed{5!}"), None);
        assert_eq!(final_answer("The answer is 5!"), Some(5.0));
    }

    #[test]
    fn a_number_that_is_not_understood_hides_those_of_earlier_markers() {
        assert_eq!(final_answer("The answer is 7. No: \\boxed{2\\sqrt{3}}"), None);
        assert_eq!(final_answer("A: 7\nA: 3,14"), None);
        assert_eq!(final_answer("A: 7\n\\boxed{5!}"), None);
        assert_eq!(final_answer("A: 7\n\\boxed{x}"), Some(7.0));
    }

    #[test]
    fn a_hyphen_that_stands_apart_is_a_bullet_or_a_dash() {
        let texts = [
            "The answer is:\n- 42",
            "Answer: - 42",
            "Answer: -  42",
            "#### - 42",
            "A:\n- $42",
            "The answer is 42 - 5",
            "The answer is – 42",
        ];
        for text in texts {
            assert_eq!(final_answer(text), Some(42.0), "{text}");
        }
        for (text, number) in [
            ("Distance - 30 km", 30.0),
            ("pages 3 - 5", 5.0),
            ("pages 3 − 5", 5.0),
            ("- 3 apples", 3.0),
            ("Eggs:\n- 12\n- 24", 24.0),
            ("10 - 3 = - 7", -7.0),
        ] {
            assert_eq!(last_number(text), Some(number), "{text}");
        }
    }

    #[test]
    fn a_minus_touches_its_number_or_begins_a_term() {
        let texts = [
            "Answer: -5",
            "#### -5",
            "#### −5",
            "#### − 5",
            "#### –5",
            "A:\n-5",
            "The answer is -$5",
            "The answer is $-5",
            "The answer is -$ 5",
            "The answer is $- 5$",
            "The answer is x = - 5",
            "\\boxed{- 5}",
            "\\boxed{-5}",
            "\\boxed{-\\frac{10}{2}}",
            "The answer is 10 / - 2",
        ];
        for text in texts {
            assert_eq!(final_answer(text), Some(-5.0), "{text}");
        }
    }

    #[test]
    fn the_last_number_stands_anywhere() {
        assert_eq!(last_number("5 apples and 6.5 pears."), Some(6.5));
        assert_eq!(last_number("16-3=<<16-3=13>>13 marbles"), Some(13.0));
        assert_eq!(last_number("none"), None);
        assert_eq!(last_number("an area of 5 m^2"), Some(5.0));
        assert_eq!(last_number("1e999 ".repeat(100_000).as_str()), None);
    }
}
