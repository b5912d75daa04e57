//! Tables for people: aligned columns, no frames, so that they also read well in a pipe.

use comfy_table::{CellAlignment, ContentArrangement, presets};

use super::printable;

/// The side on which the text of a column starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table with a header.
pub(crate) struct Table(comfy_table::Table);

impl Table {
    /// An empty table with these columns.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Table {
        let mut table = comfy_table::Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(columns.iter().map(|(title, _)| *title));
        for (index, (_, align)) in columns.iter().enumerate() {
            if let Some(column) = table.column_mut(index) {
                column.set_padding((0, 2)).set_cell_alignment(match align {
                    Align::Left => CellAlignment::Left,
                    Align::Right => CellAlignment::Right,
                });
            }
        }
        Table(table)
    }

    /// Adds a row. What a terminal would act on is made visible, no matter who wrote it.
    pub(crate) fn row<Cell: Into<String>>(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let safe = |cell: Cell| printable(&cell.into()).replace(['\n', '\t'], " ");
        self.0.add_row(cells.into_iter().map(safe));
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.lines().try_for_each(|line| writeln!(f, "{}", line.trim_end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stays_in_its_row() {
        let mut table = Table::new(&[("scorer", Align::Left)]);
        table.row(["a\u{1b}[2J\nerror: forged"]);
        assert_eq!(table.to_string(), "scorer\na\\u{1b}[2J error: forged\n");
    }
}
