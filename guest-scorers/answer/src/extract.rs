//! Finds the answer after `ANSWER:`. It compares nothing.
//!
//! The last marker counts: a model may correct itself.

/// A single letter.
pub(crate) fn letter(text: &str) -> Option<&str> {
    let after = text[markers(text).last()?.1..].trim_start();
    let (letter, rest) = after.split_at_checked(1)?;
    let ends_word = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (letter.starts_with(|c: char| c.is_ascii_alphabetic()) && ends_word).then_some(letter)
}

/// A word with nothing after it on its line.
pub(crate) fn word(text: &str) -> Option<&str> {
    let after = text[markers(text).last()?.1..].trim_start();
    let run = after.split_whitespace().next()?;
    let rest = &after[run.len()..];
    let blank = &rest[..rest.len() - rest.trim_start().len()];
    let ends_line = blank.contains('\n') || blank.len() == rest.len();
    let bare = run.strip_suffix(['.', ',', ';', ':', '!', '?']);
    ends_line.then(|| bare.filter(|bare| !bare.is_empty()).unwrap_or(run))
}

/// A line with nothing after it; of several markers in it, the first.
pub(crate) fn line(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let last_line = text.rfind('\n').map_or(0, |end| end + 1);
    markers(text).find_map(|(_, after)| {
        let answer = text[after..].trim_start();
        (text.len() - answer.len() >= last_line && !answer.is_empty()).then_some(answer)
    })
}

/// The start and the end of each `ANSWER:`.
fn markers(text: &str) -> impl Iterator<Item = (usize, usize)> {
    const WORD: &[u8] = b"answer";
    let bytes = text.as_bytes();
    let is_word = |window: &[u8]| window.eq_ignore_ascii_case(WORD);
    let places = bytes.windows(WORD.len()).enumerate().filter(move |(_, window)| is_word(window));
    places.filter_map(|(place, _)| {
        let after = text[place + WORD.len()..].trim_start();
        let after = after.strip_prefix(':')?;
        Some((place, text.len() - after.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // The answers are those of the patterns of `answer` in Inspect 0.3.285.

    #[test]
    fn a_letter_is_not_part_of_a_word() {
        let cases = [
            ("ANSWER: B", Some("B")),
            ("answer :\n b) Paris", Some("b")),
            ("ANSWER: A\nNo.\nANSWER: C.", Some("C")),
            ("ANSWER: A ANSWER: none", None),
            ("ANSWER: Yes", None),
            ("ANSWER: B_", None),
            ("ANSWER: Bé", None),
            ("ANSWER: é", None),
            ("ANSWER: 1", None),
            ("ANSWER:", None),
            ("B", None),
        ];
        for (text, answer) in cases {
            assert_eq!(letter(text), answer, "{text}");
        }
    }

    #[test]
    fn a_word_ends_its_line() {
        let cases = [
            ("ANSWER: Yes", Some("Yes")),
            ("ANSWER: Yes.  \nThat is all.", Some("Yes")),
            ("ANSWER: 42,\n", Some("42")),
            ("ANSWER: 3.14", Some("3.14")),
            ("ANSWER: 3.14..", Some("3.14.")),
            ("ANSWER: .", Some(".")),
            ("ANSWER: No, because reasons", None),
            ("ANSWER: Yes\nANSWER: No, because", None),
            ("ANSWER:\nYes", Some("Yes")),
            ("ANSWER:", None),
        ];
        for (text, answer) in cases {
            assert_eq!(word(text), answer, "{text}");
        }
    }

    #[test]
    fn a_line_is_the_last_one() {
        let cases = [
            ("ANSWER: New York \n\n", Some("New York")),
            ("ANSWER:\nThis is a whole new line", Some("This is a whole new line")),
            ("the answer: some stuff\n\nNo.\n\nANSWER: 0.1\n", Some("0.1")),
            ("ANSWER: New York\nThat is all.", None),
            ("ANSWER: a ANSWER: b", Some("a ANSWER: b")),
            ("ANSWER: \n", None),
        ];
        for (text, answer) in cases {
            assert_eq!(line(text), answer, "{text}");
        }
    }

    #[test]
    fn a_model_that_loops_costs_no_more_than_its_length() {
        for piece in ["ANSWER:", "answer ", "ANSWER: a ", "ANSWER \n", "ANSWER: b\n"] {
            let text = piece.repeat(100_000);
            let _ = (letter(&text), word(&text), line(&text));
        }
    }
}
