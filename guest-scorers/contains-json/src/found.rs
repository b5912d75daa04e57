//! Finds the outermost objects and, if requested, lists of JSON in a text, in order. It does not judge them.

use scorebox_sdk::ScoreError;
use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// How often each byte of a text may be read, on average, because every brace may begin JSON that never ends.
const READINGS: usize = 64;

/// Bytes that may be read in addition, so that a short text is always searched to its end.
const LEAST_BUDGET: usize = 16 << 20;

/// Finds the JSON in a text, one value after the other.
pub(crate) struct Found<'t> {
    text: &'t str,
    opening: &'static [char],
    start: usize,
    next: usize,
    budget: usize,
}

impl<'t> Found<'t> {
    /// Searches a text; with `lists`, for lists as well.
    pub(crate) fn new(text: &'t str, lists: bool) -> Self {
        let opening: &[char] = if lists { &['{', '['] } else { &['{'] };
        let budget = text.len().saturating_mul(READINGS).saturating_add(LEAST_BUDGET);
        Self { text, opening, start: 0, next: 0, budget }
    }

    /// The next object or list.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if a text opens so many braces that searching it would cost its
    /// length squared.
    pub(crate) fn next(&mut self) -> Result<Option<&'t str>, ScoreError> {
        while let Some(offset) = self.text[self.next..].find(self.opening) {
            self.start = self.next + offset;
            let rest = &self.text[self.start..];
            // Skipping a value has no limit of nesting.
            let mut reader = Deserializer::from_str(rest).into_iter::<IgnoredAny>();
            let (read, json) = match reader.next() {
                Some(Ok(IgnoredAny)) => (reader.byte_offset(), Some(&rest[..reader.byte_offset()])),
                Some(Err(error)) => (place(rest, error.line(), error.column()), None),
                None => (rest.len(), None),
            };
            self.budget = self.budget.checked_sub(read).ok_or_else(|| {
                ScoreError::invalid_input(
                    "`output` has too many unclosed braces and brackets to search it for JSON",
                )
            })?;
            self.next = self.start + json.map_or(1, str::len);
            if json.is_some() {
                return Ok(json);
            }
        }
        Ok(None)
    }

    /// The start of the JSON that was found last, in bytes.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Continues inside the JSON that was found last.
    pub(crate) fn look_inside(&mut self) {
        self.next = self.start + 1;
    }
}

/// The byte offset of a line and column, both counted from 1.
fn place(text: &str, line: usize, column: usize) -> usize {
    let lines_before = text.split_inclusive('\n').take(line.saturating_sub(1));
    let before: usize = lines_before.map(str::len).sum();
    (before + column).min(text.len())
}
