//! How many rows of a Parquet file are read at once, so that memory depends neither on how long its texts are nor on how often one
//! is repeated. Reads nothing: `pages` tells it which pages there are.

/// How many rows may be read at once, the most first.
const CHOICES: [u64; 7] = [4096, 1024, 256, 64, 16, 4, 1];
/// Bytes of pages that are in memory at once: 64 MiB, or twice as many as the reading of single rows takes.
const MOST_BYTES: u64 = 64 << 20;
/// What a value takes beside the bytes of its page: a view of them, or a number.
const VALUE_BYTES: u64 = 16;

/// A page, as its header has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// How many values it has; of a dictionary none, because it belongs to the pages behind it.
    pub values: u64,
    /// Its bytes, decompressed.
    pub bytes: u64,
    /// Whether a value may begin as the one before it, and so have more bytes than are written of it.
    pub shares_beginnings: bool,
}

/// What the reading of a column takes, for each of [`CHOICES`].
#[derive(Clone, Debug)]
pub(crate) struct ColumnBytes {
    blocks: [Blocks; CHOICES.len()],
    /// Of a single value, if it has the same bytes each time.
    value: u64,
    /// The most values a row.
    values_a_row: u64,
    /// The largest page whose values share their beginnings.
    shared: u64,
    /// The largest dictionary.
    dictionary: u64,
}

/// Pages of a column, cut into blocks of at least so many rows: any such rows are in two of them that follow each other.
#[derive(Clone, Copy, Debug, Default)]
struct Blocks {
    values: u64,
    bytes: u64,
    before: u64,
    most: u64,
}

impl Blocks {
    fn add(&mut self, page: Page, values_of_a_block: u64) {
        self.values = self.values.saturating_add(page.values);
        self.bytes = self.bytes.saturating_add(page.bytes);
        self.most = self.most.max(self.before.saturating_add(self.bytes));
        if self.values >= values_of_a_block {
            *self = Blocks { before: self.bytes, most: self.most, ..Blocks::default() };
        }
    }
}

impl ColumnBytes {
    /// A column without pages, each of whose values has so many bytes, or bytes of its page.
    pub(crate) fn new(value_bytes: u64) -> ColumnBytes {
        let value = value_bytes.max(VALUE_BYTES);
        let blocks = [Blocks::default(); CHOICES.len()];
        ColumnBytes { blocks, value, values_a_row: 1, shared: 0, dictionary: 0 }
    }

    /// Adds the next page, whose rows have about so many values each.
    pub(crate) fn add(&mut self, page: Page, values_a_row: u64) {
        let values_a_row = values_a_row.max(1);
        self.values_a_row = self.values_a_row.max(values_a_row);
        if page.values == 0 {
            self.dictionary = self.dictionary.max(page.bytes);
        }
        if page.shares_beginnings {
            self.shared = self.shared.max(page.bytes);
        }
        for (blocks, rows) in self.blocks.iter_mut().zip(CHOICES) {
            blocks.add(page, rows.saturating_mul(values_a_row));
        }
    }

    /// A row has so many values.
    pub(crate) fn has_row_of(&mut self, values: u64) {
        self.values_a_row = self.values_a_row.max(values);
    }

    fn bytes_of(&self, choice: usize) -> u64 {
        let values = CHOICES[choice].saturating_mul(self.values_a_row);
        let of_values = values.saturating_mul(self.value.saturating_add(self.shared));
        self.blocks[choice].most.saturating_add(of_values).saturating_add(self.dictionary)
    }
}

/// How many rows of a file with these columns are read at once.
pub(crate) fn rows_at_once(columns: &[ColumnBytes]) -> usize {
    let bytes = |choice: usize| {
        columns.iter().fold(0_u64, |sum, column| sum.saturating_add(column.bytes_of(choice)))
    };
    let most = bytes(CHOICES.len() - 1).saturating_mul(2).max(MOST_BYTES);
    let chosen = (0..CHOICES.len()).find(|choice| bytes(*choice) <= most);
    usize::try_from(CHOICES[chosen.unwrap_or(CHOICES.len() - 1)]).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A column of so many pages of this kind.
    fn column(pages: usize, values: u64, bytes: u64) -> ColumnBytes {
        let mut column = ColumnBytes::new(0);
        let page = Page { values, bytes, shares_beginnings: false };
        (0..pages).for_each(|_| column.add(page, 1));
        column
    }

    #[test]
    fn many_short_rows_are_read_at_once_and_few_long_ones() {
        assert_eq!(rows_at_once(&[]), 4096);
        assert_eq!(rows_at_once(&vec![column(50, 20_000, MIB); 10]), 4096);
        // Pages of one value.
        assert_eq!(rows_at_once(&[column(50, 1, 5 * MIB)]), 4);
        assert_eq!(rows_at_once(&[column(50, 1, 200 * MIB)]), 1);
    }

    #[test]
    fn a_dictionary_is_there_once_however_many_rows_name_its_texts() {
        let mut column = ColumnBytes::new(0);
        column.add(Page { values: 0, bytes: 30 * MIB, shares_beginnings: false }, 1);
        column.add(Page { values: 60, bytes: 10, shares_beginnings: false }, 1);
        assert_eq!(rows_at_once(&[column]), 4096);
        // One for each row is as much as a text for each row.
        let mut column = ColumnBytes::new(0);
        for _ in 0..60 {
            column.add(Page { values: 0, bytes: 30 * MIB, shares_beginnings: false }, 1);
            column.add(Page { values: 1, bytes: 10, shares_beginnings: false }, 1);
        }
        assert_eq!(rows_at_once(&[column]), 1);
    }

    #[test]
    fn values_that_share_their_beginnings_may_each_be_as_long_as_a_page() {
        let mut column = ColumnBytes::new(0);
        column.add(Page { values: 20_000, bytes: MIB, shares_beginnings: true }, 1);
        assert_eq!(rows_at_once(&[column]), 16);
    }

    #[test]
    fn values_of_a_fixed_length_and_lists_count_as_what_they_take() {
        let mut fixed = ColumnBytes::new(MIB);
        fixed.add(Page { values: 5000, bytes: 10, shares_beginnings: false }, 1);
        assert_eq!(rows_at_once(&[fixed]), 16);
        let mut lists = ColumnBytes::new(0);
        lists.add(Page { values: 10_000_000, bytes: 10, shares_beginnings: false }, 10_000);
        assert_eq!(rows_at_once(&[lists.clone()]), 256);
        lists.has_row_of(1_000_000);
        assert_eq!(rows_at_once(&[lists]), 4);
    }
}
