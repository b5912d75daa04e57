//! Finds what is in quotation marks. It does not determine who says it.

use std::ops::Range;

/// The ranges of a text that are in quotation marks, with the marks, if they open before `end`. A double mark need not
/// be closed: the paragraphs of a long quotation are not.
///
/// A mark opens after a character that is not a letter or digit and before one that is not a space, and closes the
/// other way round, so apostrophes and inch signs do not count. Inside a quotation, other kinds of marks are ignored.
pub(crate) fn find(text: &str, end: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(char, usize)> = None;
    let mut before = None;
    let mut characters = text.char_indices().peekable();
    while let Some((at, mark)) = characters.next() {
        let after = characters.peek().map(|(_, next)| *next);
        let after_word = before.is_some_and(char::is_alphanumeric);
        let before_space = after.is_none_or(char::is_whitespace);
        let before_word = after.is_some_and(char::is_alphanumeric);
        let after_space = before.is_none_or(char::is_whitespace);
        match (open, closing(mark)) {
            (Some((close, from)), _) if mark == close && !after_space && !before_word => {
                found.push(from..at + mark.len_utf8());
                open = None;
            }
            (None, Some(close)) if !after_word && !before_space => open = Some((close, at)),
            // The single mark that seemed to open a quotation was an apostrophe.
            (Some((SINGLE | SINGLE_CURLY, _)), Some(close))
                if is_double(close) && !after_word && !before_space =>
            {
                open = Some((close, at));
            }
            _ => {}
        }
        before = Some(mark);
        if at >= end && open.is_none() {
            break;
        }
    }
    let open = open.filter(|(close, _)| is_double(*close));
    found.extend(open.map(|(_, from)| from..text.len()));
    found
}

const SINGLE: char = '\'';
const SINGLE_CURLY: char = '’';

/// The mark that closes a quotation that this mark opens.
fn closing(mark: char) -> Option<char> {
    Some(match mark {
        '"' => '"',
        '“' | '„' => '”',
        '\'' => SINGLE,
        '‘' => SINGLE_CURLY,
        _ => return None,
    })
}

fn is_double(closing: char) -> bool {
    matches!(closing, '"' | '”')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str) -> Vec<&str> {
        find(text, text.len()).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn double_marks_and_single_ones_quote() {
        assert_eq!(quoted("He said, \"I can't.\" And she: “No.”"), ["\"I can't.\"", "“No.”"]);
        assert_eq!(quoted("'I can't,' he said; ‘nor can’t I’."), ["'I can't,'", "‘nor can’t I’"]);
        assert_eq!(quoted("{\"a\":\"b c\",\"d\":1}"), ["\"a\"", "\"b c\"", "\"d\""]);
        assert_eq!(quoted("“I read ‘no’ there”"), ["“I read ‘no’ there”"]);
        assert_eq!(quoted("He wrote: “I can't"), ["“I can't"]);
    }

    #[test]
    fn apostrophes_and_inches_do_not() {
        for text in
            ["a 5\" pipe, I can't", "'tis so", "the dogs' house, and the cats' one", "\" \""]
        {
            assert_eq!(quoted(text), Vec::<&str>::new(), "{text}");
        }
        assert_eq!(quoted("'tis \"so\""), ["\"so\""]);
    }
}
