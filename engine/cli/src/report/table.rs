//! Tables for people: aligned columns, no frames, so that they also read well in a pipe. Which characters are safe is
//! in `text`.

use unicode_width::UnicodeWidthStr as _;

use super::{printable, within};

/// The spaces between two columns.
const GAP: usize = 2;
/// The least width of a last column, in columns of the terminal: the terminal wraps a line that is too long with it.
const LEAST: usize = 20;

/// The side on which the text of a column starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table with a header.
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Table {
        let columns = columns.iter().map(|(title, align)| ((*title).to_owned(), *align)).collect();
        Table { columns, rows: Vec::new() }
    }

    /// Adds a row. Control characters are made visible, whatever their source.
    pub(crate) fn row<Cell: Into<String>>(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let safe = |cell: Cell| printable(&cell.into()).replace(['\n', '\t'], " ");
        self.rows.push(cells.into_iter().map(safe).collect());
    }

    /// Removes those of these columns that have no value in any row: only `-`, or nothing.
    pub(crate) fn without_unsaid(&mut self, titles: &[&str]) {
        let is_unsaid = |index: usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(index));
            cells.all(|cell| matches!(cell.as_str(), "" | "-"))
        };
        let titles_with_index = self.columns.iter().enumerate();
        let keeps: Vec<bool> = titles_with_index
            .map(|(index, (title, _))| !(titles.contains(&title.as_str()) && is_unsaid(index)))
            .collect();
        let mut of_column = keeps.iter();
        self.columns.retain(|_| of_column.next() == Some(&true));
        for row in &mut self.rows {
            let mut of_cell = keeps.iter();
            row.retain(|_| of_cell.next() == Some(&true));
        }
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Takes the rows so far as a table, and leaves this one without rows.
    pub(crate) fn take(&mut self) -> Table {
        Table { columns: self.columns.clone(), rows: std::mem::take(&mut self.rows) }
    }

    /// Cuts the texts of the last column so that a line fits a terminal of `width` columns.
    pub(crate) fn fit(&mut self, width: usize) {
        let Some(last) = self.columns.len().checked_sub(1) else { return };
        let others = (0..last).map(|column| self.width_of(column) + GAP);
        let room = width.saturating_sub(others.sum()).max(LEAST);
        self.cut_last(last, room);
    }

    /// The same, but no text continues on another line of the terminal, where untrusted text could look like a row.
    pub(crate) fn fit_in_lines(&mut self, width: usize) {
        let Some(last) = self.columns.len().checked_sub(1) else { return };
        let others = (0..last).map(|column| self.width_of(column) + GAP);
        let room = room_after(others.sum(), width);
        self.cut_last(last, room);
    }

    fn cut_last(&mut self, last: usize, room: usize) {
        for text in self.rows.iter_mut().filter_map(|row| row.get_mut(last)) {
            *text = within(text, room);
        }
    }

    fn width_of(&self, column: usize) -> usize {
        let texts = self.rows.iter().filter_map(|row| row.get(column)).map(|text| text.width());
        texts.fold(self.columns[column].0.width(), usize::max)
    }

    /// Writes a line of these cells. Nothing is added after its last text, which may be large.
    fn write_line(
        &self,
        f: &mut std::fmt::Formatter<'_>,
        cells: &[String],
        widths: &[usize],
    ) -> std::fmt::Result {
        let (mut line, mut spaces) = (String::new(), 0);
        for ((cell, width), (_, align)) in cells.iter().zip(widths).zip(&self.columns) {
            let beside = width.saturating_sub(cell.width());
            let (before, behind) = match align {
                Align::Left => (0, beside),
                Align::Right => (beside, 0),
            };
            if !cell.is_empty() {
                line.extend(std::iter::repeat_n(' ', spaces + before));
                line.push_str(cell);
                spaces = 0;
            } else {
                spaces += before;
            }
            spaces += behind + GAP;
        }
        writeln!(f, "{}", line.trim_end())
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let widths: Vec<usize> =
            (0..self.columns.len()).map(|column| self.width_of(column)).collect();
        let titles: Vec<String> = self.columns.iter().map(|(title, _)| title.clone()).collect();
        self.write_line(f, &titles, &widths)?;
        self.rows.iter().try_for_each(|row| self.write_line(f, row, &widths))
    }
}

/// The columns that remain for the last text after `others` columns, on a terminal of `width`.
fn room_after(others: usize, width: usize) -> usize {
    let (left, width) = (width.saturating_sub(others), width.max(1));
    match left >= LEAST {
        true => left,
        false => (width - others % width).min(LEAST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_text_continues_on_no_line_of_a_terminal() {
        for width in [40, 80, 100] {
            for others in 0..300 {
                let room = room_after(others, width);
                assert!(others % width + room <= width, "{others} of {width}: {room}");
            }
        }
        assert_eq!((room_after(20, 80), room_after(70, 80), room_after(90, 80)), (60, 10, 20));
    }

    #[test]
    fn a_cell_stays_in_its_row() {
        let mut table = Table::new(&[("scorer", Align::Left)]);
        table.row(["a\u{1b}[2J\nerror: forged"]);
        assert_eq!(table.to_string(), "scorer\na\\u{1b}[2J error: forged\n");
    }

    #[test]
    fn the_last_column_has_what_the_others_leave_and_never_less_than_a_word_or_two() {
        let lines = |width: usize| {
            let mut table = Table::new(&[("case", Align::Left), ("reason", Align::Left)]);
            table.row(["a case with 24 columns..", "one two three four five six"]);
            table.row(["b", "short"]);
            table.fit(width);
            table.to_string()
        };
        let whole = "case                      reason\n\
                     a case with 24 columns..  one two three four five six\n\
                     b                         short\n";
        assert_eq!(lines(53), whole);
        assert_eq!(lines(52), whole.replace("five six", "five s…"));
        assert_eq!(lines(46), whole.replace("four five six", "four …"));
        assert_eq!(lines(10), lines(46));
    }

    #[test]
    fn a_large_text_makes_no_other_line_long() {
        let mut table = Table::new(&[("n", Align::Right), ("text", Align::Left)]);
        table.row(["1", ""]);
        table.row(["10", &"x".repeat(1000)]);
        assert_eq!(table.to_string(), format!(" n  text\n 1\n10  {}\n", "x".repeat(1000)));
    }

    #[test]
    fn a_column_that_may_be_left_out_is_there_if_a_row_says_something_in_it() {
        let mut table = Table::new(&["scorer", "on", "when", "use"].map(|it| (it, Align::Left)));
        table.row(["a", "-", "-", ""]);
        table.row(["b", "-", ".x", ""]);
        table.without_unsaid(&["on", "when"]);
        assert_eq!(table.to_string(), "scorer  when  use\na       -\nb       .x\n");
    }

    #[test]
    fn wide_characters_take_the_columns_that_they_have_on_a_terminal() {
        let mut table = Table::new(&[("case", Align::Left), ("reason", Align::Left)]);
        table.row(["日本", "日本日本日本日本日本日本"]);
        table.fit(4 + 2 + 22);
        assert_eq!(table.to_string(), "case  reason\n日本  日本日本日本日本日本…\n");
    }
}
