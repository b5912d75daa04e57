//! Cases that are rows of a table: where such a row is in its file, and which column a finding is in. It reads no
//! tables.

use super::{
    error::{BadCase, TableRow},
    members::{each_member, offset_of},
};

/// Marks both ends of a row's line number at the beginning of its line.
const MARK: char = '\u{19}';

/// The beginning of a line that was made from a row of a table, in a
/// [`Source::reader_with_reasons`](super::Source::reader_with_reasons); `line` is the line where the row begins in its
/// file, from 1, if the file has lines. Messages then name the row and the column instead of the line that was made
/// from it.
pub fn row_mark(line: Option<u64>) -> String {
    let line = line.map(|line| line.to_string()).unwrap_or_default();
    format!("{MARK}{line}{MARK}")
}

/// A line without its [`row_mark`].
pub(super) struct Marked<'b> {
    /// The line where the row begins in its file, if the file has lines.
    pub line: Option<u64>,
    /// What follows the mark.
    pub rest: &'b [u8],
}

/// Removes the mark; `None` if there is none.
pub(super) fn marked(bytes: &[u8]) -> Option<Marked<'_>> {
    let mark = u8::try_from(MARK).ok()?;
    let inside = bytes.strip_prefix(&[mark])?;
    let end = inside.iter().position(|byte| *byte == mark)?;
    let line = std::str::from_utf8(&inside[..end]).ok()?;
    let line = if line.is_empty() { None } else { Some(line.parse().ok()?) };
    Some(Marked { line, rest: &inside[end + 1..] })
}

/// The finding in the line `bytes`, which was made from row `number` (from 1), with its position in the table.
pub(super) fn in_row(bad: BadCase, bytes: &[u8], number: u64, line: Option<u64>) -> BadCase {
    // The bytes after the finding need not be text.
    let text = String::from_utf8_lossy(bytes);
    let column = bad.column.and_then(|column| column_at(&text, column));
    let row = Some(Box::new(TableRow { number, column }));
    BadCase { line: line.unwrap_or(0), column: None, row, ..bad }
}

/// The name of the member whose value contains this character of an object, counted from 1.
fn column_at(object: &str, character: u64) -> Option<String> {
    let before = usize::try_from(character).ok()?.checked_sub(1)?;
    let offset = object.char_indices().nth(before).map_or(object.len(), |(offset, _)| offset);
    let mut found = None;
    // An error ends the pass, and with it the search.
    let _ = each_member(object, |key, value| {
        let start = offset_of(object, value);
        match (start..=start + value.len()).contains(&offset) {
            true => {
                found = Some(key.into_owned());
                Err(())
            }
            false => Ok(()),
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_taken_off() {
        let read = |text: &str| {
            marked(text.as_bytes())
                .map(|it| (it.line, String::from_utf8_lossy(it.rest).into_owned()))
        };
        assert_eq!(read(&format!("{}{{}}", row_mark(Some(7)))), Some((Some(7), "{}".to_owned())));
        assert_eq!(read(&format!("{}x", row_mark(None))), Some((None, "x".to_owned())));
        for other in ["{}", "", "\u{19}", "\u{19}7", "\u{19}x\u{19}{}"] {
            assert_eq!(read(other), None, "{other:?}");
        }
    }

    #[test]
    fn the_column_is_the_member_around_a_character() {
        let object = r#"{"é":"ä","b":{"c":1},"d":2}"#;
        let at = |part: &str| {
            let before = object[..object.find(part).unwrap()].chars().count() as u64;
            column_at(object, before + 1)
        };
        assert_eq!(at("\"ä\"").as_deref(), Some("é"));
        assert_eq!(at("1}").as_deref(), Some("b"));
        assert_eq!(at("2}").as_deref(), Some("d"));
        assert_eq!(column_at("{\"a\":\"x\u{fffd}", 7), None);
        assert_eq!(column_at("no object", 1), None);
    }
}
