//! Decides how many rows of a Parquet file are read at once, so that memory depends neither on the length of its texts
//! nor on how often one is repeated. Reads nothing: `pages` reports the pages.

/// How many rows may be read at once, the most first.
const CHOICES: [u64; 7] = [4096, 1024, 256, 64, 16, 4, 1];
/// The usual limit for the bytes of pages in memory at once: 64 MiB, or twice as many as reading single rows takes.
const USUAL_BYTES: u64 = 64 << 20;
/// The most bytes of the pages and dictionaries of all columns in memory at once: 2 GiB. Writers end pages and
/// dictionaries at about 1 MiB each, so this is enough for some five hundred text columns that each have a full page
/// and a full dictionary.
pub(crate) const MAX_BYTES: u64 = 2 << 30;
/// The memory that a value takes in addition to the bytes of its page: a view of them, or a number.
const VALUE_BYTES: u64 = 16;

/// A page, as its header describes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// How many values the page has; 0 for a dictionary, because it belongs to the pages after it.
    pub values: u64,
    /// The decompressed bytes of the page; for a dictionary, with the additional memory of its values.
    pub bytes: u64,
    /// Whether a value may share its beginning with the one before, and so have more bytes than are written for it.
    pub shares_beginnings: bool,
}

/// The largest row of a column of lists.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LongestRow {
    /// The number of values of the row with the most values.
    pub values: u64,
    /// The decompressed bytes of all pages that one row spans, for the row with the most.
    pub bytes: u64,
}

/// The memory that reading a column takes, for each of [`CHOICES`].
#[derive(Clone, Debug)]
pub(crate) struct ColumnBytes {
    blocks: [Blocks; CHOICES.len()],
    /// The bytes of a single value, if all values have the same size.
    value: u64,
    /// The highest number of values in a row.
    values_a_row: u64,
    /// The most bytes of the pages of a row, if that is known.
    row_bytes: u64,
    /// The largest page whose values share their beginnings.
    shared: u64,
    /// The largest dictionary.
    dictionary: u64,
}

/// The pages of a column, cut into blocks of at least this many values: this many successive values are always within
/// two successive blocks, and a single value is in one.
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
            let before = if values_of_a_block > 1 { self.bytes } else { 0 };
            *self = Blocks { before, most: self.most, ..Blocks::default() };
        }
    }
}

impl ColumnBytes {
    /// A column without pages yet; each of its values has this many bytes, or the bytes in its page.
    pub(crate) fn new(value_bytes: u64) -> ColumnBytes {
        let value = value_bytes.max(VALUE_BYTES);
        let blocks = [Blocks::default(); CHOICES.len()];
        ColumnBytes { blocks, value, values_a_row: 1, row_bytes: 0, shared: 0, dictionary: 0 }
    }

    /// Adds the next page, whose rows have about this many values each.
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
            let values = rows.saturating_mul(values_a_row);
            // A single value uses one dictionary, which is counted separately.
            if values > 1 || page.values > 0 {
                blocks.add(page, values);
            }
        }
    }

    /// Records that no row of a group is longer than this one.
    pub(crate) fn has_row_of(&mut self, longest: LongestRow) {
        self.values_a_row = self.values_a_row.max(longest.values);
        self.row_bytes = self.row_bytes.max(longest.bytes);
    }

    /// The memory for this many rows if their lists have the average length.
    fn usual_bytes(&self, choice: usize) -> u64 {
        self.bytes_with(choice, self.blocks[choice].most)
    }

    /// The memory for this many rows if each is as long as the longest known row.
    fn max_bytes(&self, choice: usize) -> u64 {
        let of_longest = CHOICES[choice].saturating_mul(self.row_bytes);
        self.bytes_with(choice, self.blocks[choice].most.max(of_longest))
    }

    fn bytes_with(&self, choice: usize, of_pages: u64) -> u64 {
        let values = CHOICES[choice].saturating_mul(self.values_a_row);
        let of_values = values.saturating_mul(self.value.saturating_add(self.shared));
        of_pages.saturating_add(of_values).saturating_add(self.dictionary)
    }
}

/// How many rows of a file with these columns are read at once.
///
/// # Errors
/// The memory for a single row, if it exceeds [`MAX_BYTES`].
pub(crate) fn rows_at_once(columns: &[ColumnBytes]) -> Result<usize, u64> {
    let sum = |bytes: &dyn Fn(&ColumnBytes) -> u64| {
        columns.iter().map(bytes).fold(0_u64, u64::saturating_add)
    };
    let usual = |choice: usize| sum(&|column| column.usual_bytes(choice));
    let most = |choice: usize| sum(&|column| column.max_bytes(choice));
    let single = CHOICES.len() - 1;
    if most(single) > MAX_BYTES {
        return Err(most(single));
    }
    let aim = usual(single).saturating_mul(2).max(USUAL_BYTES);
    let fits = |choice: &usize| usual(*choice) <= aim && most(*choice) <= MAX_BYTES;
    let chosen = (0..CHOICES.len()).find(fits).unwrap_or(single);
    Ok(usize::try_from(CHOICES[chosen]).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A column with this many pages of this kind.
    fn column(pages: usize, values: u64, bytes: u64) -> ColumnBytes {
        let mut column = ColumnBytes::new(0);
        let page = Page { values, bytes, shares_beginnings: false };
        (0..pages).for_each(|_| column.add(page, 1));
        column
    }

    #[test]
    fn many_short_rows_are_read_at_once_and_few_long_ones() {
        assert_eq!(rows_at_once(&[]), Ok(4096));
        assert_eq!(rows_at_once(&vec![column(50, 20_000, MIB); 10]), Ok(4096));
        // Each page has one value.
        assert_eq!(rows_at_once(&[column(50, 1, 5 * MIB)]), Ok(4));
        assert_eq!(rows_at_once(&[column(50, 1, 200 * MIB)]), Ok(1));
    }

    #[test]
    fn all_columns_together_have_a_bound() {
        // One page of each column is in memory at once.
        assert_eq!(rows_at_once(&vec![column(2, 280, 140 * MIB); 14]), Ok(1));
        let refused = rows_at_once(&vec![column(2, 280, 140 * MIB); 15]);
        assert!(refused.is_err_and(|bytes| bytes >= 15 * 140 * MIB), "{refused:?}");
        // A wide table whose pages and dictionaries have the usual sizes.
        let mut wide = ColumnBytes::new(0);
        wide.add(Page { values: 0, bytes: 2 * MIB, shares_beginnings: false }, 1);
        (0..20).for_each(|_| {
            wide.add(Page { values: 1000, bytes: MIB, shares_beginnings: false }, 1);
        });
        assert!(rows_at_once(&vec![wide; 500]).is_ok());
    }

    #[test]
    fn a_row_that_is_far_longer_than_the_average_counts_as_what_it_takes() {
        let mut lists = column(50, 2_000_000, 4 * MIB);
        assert_eq!(rows_at_once(&[lists.clone()]), Ok(4096));
        lists.has_row_of(LongestRow { values: 3, bytes: 100 * MIB });
        assert_eq!(rows_at_once(&[lists.clone()]), Ok(16));
        lists.has_row_of(LongestRow { values: 3, bytes: 3000 * MIB });
        assert!(rows_at_once(&[lists]).is_err());
    }

    #[test]
    fn a_dictionary_is_there_once_however_many_rows_name_its_texts() {
        let mut column = ColumnBytes::new(0);
        column.add(Page { values: 0, bytes: 30 * MIB, shares_beginnings: false }, 1);
        column.add(Page { values: 60, bytes: 10, shares_beginnings: false }, 1);
        assert_eq!(rows_at_once(&[column]), Ok(4096));
        // A text for each row takes as much as one value for each row.
        let mut column = ColumnBytes::new(0);
        for _ in 0..60 {
            column.add(Page { values: 0, bytes: 30 * MIB, shares_beginnings: false }, 1);
            column.add(Page { values: 1, bytes: 10, shares_beginnings: false }, 1);
        }
        assert_eq!(rows_at_once(&[column]), Ok(1));
    }

    #[test]
    fn values_that_share_their_beginnings_may_each_be_as_long_as_a_page() {
        let mut column = ColumnBytes::new(0);
        column.add(Page { values: 20_000, bytes: MIB, shares_beginnings: true }, 1);
        assert_eq!(rows_at_once(&[column]), Ok(16));
    }

    #[test]
    fn values_of_a_fixed_length_and_lists_count_as_what_they_take() {
        let mut fixed = ColumnBytes::new(MIB);
        fixed.add(Page { values: 5000, bytes: 10, shares_beginnings: false }, 1);
        assert_eq!(rows_at_once(&[fixed]), Ok(16));
        let mut lists = ColumnBytes::new(0);
        lists.add(Page { values: 10_000_000, bytes: 10, shares_beginnings: false }, 10_000);
        assert_eq!(rows_at_once(&[lists.clone()]), Ok(256));
        lists.has_row_of(LongestRow { values: 1_000_000, bytes: 10 });
        assert_eq!(rows_at_once(&[lists]), Ok(4));
    }
}
