//! Finds the longest row of a Parquet file in a column of lists, from the levels of its pages: a page of a few bytes
//! may have a hundred million values, and the reader allocates memory for all values of a row, and keeps all of its
//! pages. Reads no value.

use std::{fs::File, sync::Arc};

use parquet::{
    basic::Encoding,
    column::page::{Page, PageReader as _},
    file::{metadata::ColumnChunkMetaData, serialized_reader::SerializedPageReader},
};

use crate::batch_rows::LongestRow;

/// The longest row in this column, whose pages were already checked. This may panic over a damaged file, as the reader
/// does.
///
/// # Errors
/// Why that cannot be determined, as a part of a sentence about the file.
pub(crate) fn longest_row(
    file: &File,
    column: &ColumnChunkMetaData,
    rows: usize,
) -> Result<LongestRow, String> {
    let file = Arc::new(file.try_clone().map_err(|error| error.to_string())?);
    let pages = SerializedPageReader::new(file, column, rows, None);
    let mut pages = pages.map_err(|error| error.to_string())?;
    let most_level = u32::from(column.column_descr().max_rep_level().unsigned_abs());
    let bits = u32::BITS - most_level.leading_zeros();
    let mut longest = Rows::default();
    while let Some(page) = pages.get_next_page().map_err(|error| error.to_string())? {
        count_page(&page, bits, &mut longest).ok_or("the levels of a page are damaged")?;
    }
    Ok(longest.most)
}

/// Counts rows by their values' levels: 0 begins a row, and any other level continues one, at this depth of its lists.
#[derive(Debug, Default)]
struct Rows {
    /// The bytes of the page.
    page: u64,
    /// The row so far.
    now: LongestRow,
    most: LongestRow,
}

impl Rows {
    /// Begins a page. The row continues in it unless its first level is 0.
    fn begin_page(&mut self, bytes: u64) {
        self.page = bytes;
        self.now.bytes = self.now.bytes.saturating_add(bytes);
    }

    fn add(&mut self, level: u64, values: u64) {
        self.now = match level {
            0 => LongestRow { values: 1, bytes: self.page },
            _ => LongestRow { values: self.now.values.saturating_add(values), ..self.now },
        };
        self.most.values = self.most.values.max(self.now.values);
        self.most.bytes = self.most.bytes.max(self.now.bytes);
    }
}

fn count_page(page: &Page, bits: u32, longest: &mut Rows) -> Option<()> {
    let (levels, values) = match page {
        Page::DataPage { buf, num_values, rep_level_encoding: Encoding::RLE, .. } => {
            let (length, rest) = buf.split_first_chunk::<4>()?;
            (rest.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)?, *num_values)
        }
        Page::DataPage { .. } => return None,
        Page::DataPageV2 { buf, num_values, rep_levels_byte_len, .. } => {
            (buf.get(..usize::try_from(*rep_levels_byte_len).ok()?)?, *num_values)
        }
        Page::DictionaryPage { .. } => return Some(()),
    };
    longest.begin_page(page.buffer().len() as u64);
    count_levels(levels, bits, values.into(), longest)
}

/// Reads levels of this many bits, in runs of one level and in groups of eight (Parquet's RLE and bit-packing hybrid).
fn count_levels(mut bytes: &[u8], bits: u32, mut values: u64, longest: &mut Rows) -> Option<()> {
    while values > 0 {
        let header = number(&mut bytes)?;
        if header & 1 == 0 {
            let (level, rest) = bytes.split_at_checked(bits.div_ceil(8) as usize)?;
            let level = level.iter().rev().fold(0, |level, byte| level << 8 | u64::from(*byte));
            let run = (header >> 1).min(values);
            if run > 0 {
                longest.add(level, run);
            }
            (bytes, values) = (rest, values - run);
            continue;
        }
        let all = usize::try_from((header >> 1).checked_mul(u64::from(bits))?).ok()?;
        // After the last value, the bytes may be missing.
        let (packed, rest) = bytes.split_at(all.min(bytes.len()));
        let run = (packed.len() as u64 * 8 / u64::from(bits)).min(values);
        (0..run).for_each(|at| longest.add(packed_level(packed, bits, at), 1));
        (bytes, values) = (rest, values - run);
    }
    Some(())
}

fn packed_level(packed: &[u8], bits: u32, at: u64) -> u64 {
    let first = at * u64::from(bits);
    let offset = usize::try_from(first / 8).unwrap_or(usize::MAX);
    let bytes = packed.iter().skip(offset).take(3).rev();
    let level = bytes.fold(0, |level, byte| level << 8 | u64::from(*byte));
    level >> (first % 8) & ((1 << bits) - 1)
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for byte_index in 0..5 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << (7 * byte_index);
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use arrow_array::{ArrayRef, Int8Array, ListArray, RecordBatch};
    use arrow_buffer::OffsetBuffer;
    use arrow_schema::{DataType, Field};
    use parquet::{
        arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
        file::properties::{WriterProperties, WriterVersion},
    };

    use super::*;

    /// A file with a column of lists with these numbers of elements, none of which has a value.
    fn written(lengths: &[usize], version: WriterVersion) -> File {
        let element = Arc::new(Field::new("element", DataType::Int8, true));
        let values = Arc::new(Int8Array::new_null(lengths.iter().sum()));
        let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
        let lists: ArrayRef = Arc::new(ListArray::new(element, offsets, values, None));
        let batch = RecordBatch::try_from_iter([("output", lists)]).unwrap();
        let properties = WriterProperties::builder().set_writer_version(version).build();
        let mut writer =
            ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&writer.into_inner().unwrap()).unwrap();
        file
    }

    #[test]
    fn the_longest_row_is_found() {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for lengths in [vec![1, 2, 3, 2, 1], vec![0, 100_000, 7], vec![5; 10_000], vec![1]] {
                let file = written(&lengths, version);
                let opened =
                    ParquetRecordBatchReaderBuilder::try_new(file.try_clone().unwrap()).unwrap();
                let column = opened.metadata().row_group(0).column(0);
                let longest = longest_row(&file, column, lengths.len()).unwrap().values;
                assert_eq!(longest, *lengths.iter().max().unwrap() as u64, "{lengths:?}");
            }
        }
    }

    #[test]
    fn a_row_has_the_bytes_of_all_pages_that_it_goes_on_in() {
        let mut rows = Rows::default();
        for (page, levels) in
            [(10, vec![0, 0, 1]), (500, vec![1]), (10, vec![1, 0]), (300, vec![0])]
        {
            rows.begin_page(page);
            levels.into_iter().for_each(|level| rows.add(level, 1));
        }
        assert_eq!(rows.most, LongestRow { values: 4, bytes: 520 });
    }

    #[test]
    fn levels_are_runs_and_groups_of_eight() {
        let longest = |bytes: &[u8], bits, values| {
            let mut longest = Rows::default();
            count_levels(bytes, bits, values, &mut longest).map(|()| longest.most.values)
        };
        // Three rows of one value, and a run of 200.
        assert_eq!(longest(&[6, 0, 0x90, 3, 1], 1, 203), Some(201));
        // 0 1 2 1 0 1 0 0 with two bits each; the last ones are padding.
        assert_eq!(longest(&[3, 0b0110_0100, 0b0000_0100], 2, 6), Some(4));
        assert_eq!(longest(&[3, 0b0110_0100], 2, 4), Some(4));
        assert_eq!(longest(&[6, 0], 1, 4), None, "it is cut off");
    }
}
