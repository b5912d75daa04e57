//! Checks the page headers of a Parquet file before any page is read: a header states the decompressed size of its
//! page, and the reader allocates that much memory. Decompresses nothing.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
};

use parquet::{
    basic::Type,
    file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData},
};

use crate::{
    batch_rows::{ColumnBytes, MAX_BYTES, Page, rows_at_once},
    record::MAX_RECORD_BYTES,
    row_values::longest_row,
    thrift::Walk,
};

/// The most bytes of a decompressed page: 256 MiB. Writers end a page at about 1 MiB, or after its first value.
const MAX_PAGE_BYTES: i64 = 256 << 20;
/// How many bytes of a header are read at first, and the most of one. It may contain values of its page, as its minimum
/// and maximum.
const HEADER_BYTES: u64 = 1 << 10;
const MAX_HEADER_BYTES: u64 = 16 << 20;
/// The encoding of values that stores only the end in which each value differs from the one before.
const DELTA_BYTE_ARRAY: i64 = 7;

/// The fewest bytes of an element of a list in JSON, with its comma.
const ELEMENT_BYTES: u64 = 2;

/// Refuses a file with a page that claims more than 256 MiB, with columns that have more bytes than the file, with a
/// row whose lists have more values than fit into the limit of a row, or with a single row that takes more than 2 GiB
/// of pages and dictionaries. Returns how many of its rows are read at once.
///
/// # Errors
/// The reason, as a part of a sentence about the file.
pub(crate) fn check_pages(file: &File, metadata: &ParquetMetaData) -> Result<usize, String> {
    let in_words = |error: io::Error| error.to_string();
    let length = file.metadata().map_err(in_words)?.len();
    let columns = || metadata.row_groups().iter().flat_map(|group| group.columns());
    let ranges = columns().map(|column| {
        range(column)
            .filter(|(start, bytes)| start.checked_add(*bytes).is_some_and(|end| end <= length))
    });
    let ranges: Vec<(u64, u64)> =
        ranges.collect::<Option<_>>().ok_or("a column is not within the file")?;
    // This bounds the work by the size of the file, too.
    let all = ranges.iter().try_fold(0_u64, |sum, (_, bytes)| sum.checked_add(*bytes));
    if all.is_none_or(|all| all > length) {
        return Err("its columns have more bytes than the file".to_owned());
    }
    let mut headers = Headers { file, bytes: Vec::new() };
    let mut ranges = ranges.into_iter();
    let mut taken: Vec<ColumnBytes> = Vec::new();
    for group in metadata.row_groups() {
        let mut bytes_of_lists = 0_u64;
        for (index, (column, (start, bytes))) in group.columns().iter().zip(&mut ranges).enumerate()
        {
            if index == taken.len() {
                taken.push(ColumnBytes::new(value_bytes(column)));
            }
            let values_a_row = values_a_row(group, column);
            headers.check(start, bytes, |header| {
                let page = header.page(column);
                taken[index].add(page, values_a_row);
                bytes_of_lists = bytes_of_lists.saturating_add(list_bytes(column, page));
            })?;
        }
        // If there are fewer, no row has too many.
        if bytes_of_lists > MAX_RECORD_BYTES as u64 {
            check_longest_row(file, group, &mut taken)?;
        }
    }
    rows_at_once(&taken).map_err(|bytes| {
        format!(
            "reading one row needs {} MiB of pages and dictionaries of all {} columns, and the limit is {} MiB: write smaller \
             pages (with pyarrow, `write_batch_size=1`), or only the columns that are needed",
            bytes.div_ceil(1 << 20),
            taken.len(),
            MAX_BYTES >> 20
        )
    })
}

/// Refuses a row group whose longest row has more values than are read, as far as each column shows that on its own,
/// and records how long that row is.
fn check_longest_row(
    file: &File,
    group: &RowGroupMetaData,
    taken: &mut [ColumnBytes],
) -> Result<(), String> {
    let rows = usize::try_from(group.num_rows()).unwrap_or_default();
    let mut left = MAX_RECORD_BYTES as u64;
    for (column, taken) in group.columns().iter().zip(taken) {
        if column.column_descr().max_rep_level() == 0 {
            continue;
        }
        let longest = longest_row(file, column, rows)?;
        taken.has_row_of(longest);
        left = left.checked_sub(element_bytes(column, longest.values)).ok_or_else(|| {
            format!(
                "a row has {} values in a list, which are more than {} MiB, the most that is read of a row",
                longest.values,
                MAX_RECORD_BYTES >> 20
            )
        })?;
    }
    Ok(())
}

/// The fewest bytes of this many elements of lists, in memory or as JSON; 0 for a column without lists.
fn element_bytes(column: &ColumnChunkMetaData, values: u64) -> u64 {
    match column.column_descr().max_rep_level() {
        0 => 0,
        _ => value_bytes(column).max(ELEMENT_BYTES).saturating_mul(values),
    }
}

/// The most bytes that a row of lists takes from a page, as far as its header shows; 0 for a column without lists.
fn list_bytes(column: &ColumnChunkMetaData, page: Page) -> u64 {
    if column.column_descr().max_rep_level() == 0 {
        return 0;
    }
    let copies = if page.shares_beginnings { page.values } else { 1 };
    page.bytes.saturating_mul(copies).max(element_bytes(column, page.values))
}

/// The memory that each value of a dictionary takes in addition to its page: as a view of it, or as a number. Values of
/// a fixed length stay in the page.
fn entry_bytes(column: &ColumnChunkMetaData) -> u64 {
    match column.column_type() {
        Type::BOOLEAN => 1,
        Type::INT32 | Type::FLOAT => 4,
        Type::INT64 | Type::DOUBLE => 8,
        Type::INT96 => 12,
        Type::BYTE_ARRAY => 16,
        Type::FIXED_LEN_BYTE_ARRAY => 0,
    }
}

/// The size of each value, if all have the same size.
fn value_bytes(column: &ColumnChunkMetaData) -> u64 {
    let is_fixed = column.column_type() == Type::FIXED_LEN_BYTE_ARRAY;
    let length = is_fixed.then(|| u64::try_from(column.column_descr().type_length()).ok());
    length.flatten().unwrap_or_default()
}

/// About how many values a row has: more than one only in lists.
fn values_a_row(group: &RowGroupMetaData, column: &ColumnChunkMetaData) -> u64 {
    if column.column_descr().max_rep_level() == 0 {
        return 1;
    }
    let count = |number: i64| u64::try_from(number).unwrap_or_default();
    count(column.num_values()).div_ceil(count(group.num_rows()).max(1))
}

/// Where the pages of a column are, and how many bytes they have.
fn range(column: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    Some((u64::try_from(start).ok()?, u64::try_from(column.compressed_size()).ok()?))
}

/// Reads headers.
struct Headers<'a> {
    file: &'a File,
    bytes: Vec<u8>,
}

impl Headers<'_> {
    /// Checks the pages of a column, one after another, and passes on what the header of each states.
    fn check(
        &mut self,
        mut start: u64,
        mut left: u64,
        mut take: impl FnMut(&Header),
    ) -> Result<(), String> {
        while left > 0 {
            let header = self.header(start, left).map_err(|error| error.to_string())?;
            let header = header.ok_or("the header of a page is damaged")?;
            if header.decompressed > MAX_PAGE_BYTES {
                return Err(format!(
                    "a page claims to have {} bytes, and {MAX_PAGE_BYTES} are read: write smaller pages",
                    header.decompressed
                ));
            }
            take(&header);
            let page = u64::try_from(header.compressed).ok();
            let page = page.and_then(|bytes| bytes.checked_add(header.bytes));
            let page =
                page.filter(|bytes| *bytes <= left).ok_or("a page is not within its column")?;
            start += page;
            left -= page;
        }
        Ok(())
    }

    /// The header of the page at `start` of a column with this many bytes left; `None` if it is damaged.
    fn header(&mut self, start: u64, left: u64) -> io::Result<Option<Header>> {
        let mut most = HEADER_BYTES;
        loop {
            self.bytes.clear();
            self.file.seek(SeekFrom::Start(start))?;
            self.file.take(most.min(left)).read_to_end(&mut self.bytes)?;
            if let Some(header) = Header::read(&self.bytes) {
                return Ok(Some(header));
            }
            if most >= left.min(MAX_HEADER_BYTES) {
                return Ok(None);
            }
            most *= 16;
        }
    }
}

/// The content of a header.
#[derive(Debug, Default, PartialEq)]
struct Header {
    /// The size of the header.
    bytes: u64,
    /// The size of the page, decompressed and as stored.
    decompressed: i64,
    compressed: i64,
    /// How many values the page has; 0 for a dictionary.
    values: i64,
    /// How many values a dictionary has.
    entries: i64,
    encoding: i64,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Header> {
        let (mut walk, mut decompressed, mut compressed) = (Walk::of(bytes), None, None);
        let (mut values, mut entries, mut encoding) = (0, 0, 0);
        walk.structure(|fields, number| match fields {
            [2] => decompressed = Some(number),
            [3] => compressed = Some(number),
            // The headers of data pages contain these, in either version.
            [5 | 8, 1] => values = number,
            [5, 2] | [8, 4] => encoding = number,
            [7, 1] => entries = number,
            _ => {}
        })?;
        let own = bytes.len() - walk.left();
        let (decompressed, compressed) = (decompressed?, compressed?);
        Some(Header { bytes: own as u64, decompressed, compressed, values, entries, encoding })
    }

    fn page(&self, column: &ColumnChunkMetaData) -> Page {
        let count = |number: i64| u64::try_from(number).unwrap_or_default();
        let of_entries = count(self.entries).saturating_mul(entry_bytes(column));
        Page {
            values: count(self.values),
            bytes: count(self.decompressed).saturating_add(of_entries),
            shares_beginnings: self.encoding == DELTA_BYTE_ARRAY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_says_how_long_it_and_its_page_are() {
        // Fields 1, 2 and 3: the kind, 300 and 20 bytes; in field 5 five values with the encoding 7; the end.
        let header = [
            0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0x28, 0x2c, 0x15, 0x0a, 0x15, 0x0e, 0x00, 0x00,
            0xff,
        ];
        let read = Header {
            bytes: 14,
            decompressed: 300,
            compressed: 20,
            values: 5,
            entries: 0,
            encoding: 7,
        };
        assert_eq!(Header::read(&header), Some(read));
        // Field 7 contains the 16 values of a dictionary.
        let dictionary =
            [0x15, 0x04, 0x15, 0xd8, 0x04, 0x15, 0x28, 0x4c, 0x15, 0x20, 0x15, 0x00, 0x00, 0x00];
        assert_eq!(Header::read(&dictionary).map(|header| header.entries), Some(16));
        assert_eq!(Header::read(&header[..13]), None, "it is cut off");
        assert_eq!(Header::read(&[0x15, 0x00, 0x00]), None, "it lacks the sizes");
    }
}
