//! The pages of a Parquet file, whose headers are looked at before any is read: a header says how many bytes its page has once it
//! is decompressed, and the reader makes room for as many. Decompresses nothing.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
};

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use crate::thrift::Walk;

/// The most bytes of a page, decompressed: 256 MiB. Writers end a page at about 1 MiB, or after its first value.
const MOST_PAGE_BYTES: i64 = 256 << 20;
/// Bytes of a header that are read at first, and the most of one. It may have values of its page, which tell its range.
const HEADER_BYTES: u64 = 1 << 10;
const MOST_HEADER_BYTES: u64 = 16 << 20;

/// Refuses a file with a page that claims more than 256 MiB, and one whose columns have more bytes than the file.
///
/// # Errors
/// Why, within a sentence about the file.
pub(crate) fn check_pages(file: &File, metadata: &ParquetMetaData) -> Result<(), String> {
    let in_words = |error: io::Error| error.to_string();
    let length = file.metadata().map_err(in_words)?.len();
    let columns = || metadata.row_groups().iter().flat_map(|group| group.columns());
    let ranges = columns().map(|column| {
        range(column)
            .filter(|(start, bytes)| start.checked_add(*bytes).is_some_and(|end| end <= length))
    });
    let ranges: Vec<(u64, u64)> =
        ranges.collect::<Option<_>>().ok_or("a column is not within the file")?;
    // So the work is bounded by the file, too.
    let all = ranges.iter().try_fold(0_u64, |sum, (_, bytes)| sum.checked_add(*bytes));
    if all.is_none_or(|all| all > length) {
        return Err("its columns have more bytes than the file".to_owned());
    }
    let mut headers = Headers { file, bytes: Vec::new() };
    ranges.into_iter().try_for_each(|(start, bytes)| headers.check(start, bytes))
}

/// Where the pages of a column are, and how many bytes they have.
fn range(column: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    Some((u64::try_from(start).ok()?, u64::try_from(column.compressed_size()).ok()?))
}

/// What is read of headers.
struct Headers<'a> {
    file: &'a File,
    bytes: Vec<u8>,
}

impl Headers<'_> {
    /// Looks at the pages of a column, one after another.
    fn check(&mut self, mut start: u64, mut left: u64) -> Result<(), String> {
        while left > 0 {
            let header = self.header(start, left).map_err(|error| error.to_string())?;
            let header = header.ok_or("the header of a page is damaged")?;
            if header.decompressed > MOST_PAGE_BYTES {
                return Err(format!(
                    "a page claims to have {} bytes, and {MOST_PAGE_BYTES} are read: write smaller pages",
                    header.decompressed
                ));
            }
            let page = u64::try_from(header.compressed).ok();
            let page = page.and_then(|bytes| bytes.checked_add(header.bytes));
            let page =
                page.filter(|bytes| *bytes <= left).ok_or("a page is not within its column")?;
            start += page;
            left -= page;
        }
        Ok(())
    }

    /// The header of the page at `start`, of whose column so many bytes are left; `None` if it is damaged.
    fn header(&mut self, start: u64, left: u64) -> io::Result<Option<Header>> {
        let mut most = HEADER_BYTES;
        loop {
            self.bytes.clear();
            self.file.seek(SeekFrom::Start(start))?;
            self.file.take(most.min(left)).read_to_end(&mut self.bytes)?;
            if let Some(header) = Header::read(&self.bytes) {
                return Ok(Some(header));
            }
            if most >= left.min(MOST_HEADER_BYTES) {
                return Ok(None);
            }
            most *= 16;
        }
    }
}

/// What a header says.
#[derive(Debug, Default, PartialEq)]
struct Header {
    /// Its own bytes.
    bytes: u64,
    /// The page's bytes, decompressed and as they are.
    decompressed: i64,
    compressed: i64,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Header> {
        let (mut walk, mut decompressed, mut compressed) = (Walk::of(bytes), None, None);
        walk.structure(|field, number| match field {
            2 => decompressed = Some(number),
            3 => compressed = Some(number),
            _ => {}
        })?;
        let own = bytes.len() - walk.left();
        Some(Header { bytes: own as u64, decompressed: decompressed?, compressed: compressed? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_says_how_long_it_and_its_page_are() {
        // Fields 1, 2 and 3: the kind, 300 and 20 bytes; a structure of one number; the end.
        let header = [0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0x28, 0x2c, 0x15, 0x0a, 0x00, 0x00, 0xff];
        let read = Header { bytes: 12, decompressed: 300, compressed: 20 };
        assert_eq!(Header::read(&header), Some(read));
        assert_eq!(Header::read(&header[..11]), None, "it is cut off");
        assert_eq!(Header::read(&[0x15, 0x00, 0x00]), None, "it lacks the sizes");
    }
}
