//! Reads an untrusted Arrow file (Feather) through its footer, which is checked before memory is allocated for what it
//! names. Knows nothing of cases.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    sync::Arc,
    vec,
};

use arrow_array::RecordBatch;
use arrow_buffer::MutableBuffer;
use arrow_ipc::{Block, convert::fb_to_schema, reader::FileDecoder, root_as_footer};
use arrow_schema::ArrowError;

use crate::problem::Problem;

/// The most bytes of a batch, which must be completely in memory: 1 GiB.
pub(crate) const MAX_BATCH_BYTES: u64 = 1 << 30;
/// The most bytes of a footer: 32 MiB, as for Parquet.
const MAX_FOOTER_BYTES: u64 = 32 << 20;
/// The magic bytes of a file.
pub(crate) const MARK: &[u8] = b"ARROW1";
/// The bytes before the first message: the magic bytes, padded.
const BEGINNING_BYTES: u64 = 8;
/// The bytes after the footer: its length, and the magic bytes.
const END_BYTES: u64 = 10;
/// The fewest bytes of a message before its body: its length is stored there.
const LENGTH_BYTES: u64 = 8;

/// The batches of a file, in order.
#[derive(Debug)]
pub(crate) struct ArrowFile {
    file: File,
    decoder: FileDecoder,
    dictionaries: vec::IntoIter<Block>,
    batches: vec::IntoIter<Block>,
}

impl ArrowFile {
    /// Reads the footer.
    pub(crate) fn open(mut file: File) -> Result<ArrowFile, Problem> {
        let (footer, start) = footer_of(&mut file)?;
        let footer = root_as_footer(&footer).map_err(|error| damaged(&error.to_string()))?;
        let schema = footer.schema().ok_or_else(|| damaged("it has no schema"))?;
        if !schema.endianness().equals_to_target_endianness() {
            return Err(damaged("its numbers have another order of bytes than this machine's"));
        }
        let decoder = FileDecoder::new(Arc::new(fb_to_schema(schema)), footer.version());
        let dictionaries: Vec<Block> =
            footer.dictionaries().into_iter().flatten().copied().collect();
        let batches: Vec<Block> = footer.recordBatches().into_iter().flatten().copied().collect();
        check_blocks(dictionaries.iter().chain(&batches), start)?;
        let (dictionaries, batches) = (dictionaries.into_iter(), batches.into_iter());
        Ok(ArrowFile { file, decoder, dictionaries, batches })
    }

    fn read(&mut self, block: &Block) -> Result<arrow_buffer::Buffer, Problem> {
        let (offset, bytes) = extent_of(block)?;
        self.file.seek(SeekFrom::Start(offset))?;
        let bytes = usize::try_from(bytes).map_err(|_| batch_too_large())?;
        let mut buffer = MutableBuffer::from_len_zeroed(bytes);
        self.file.read_exact(&mut buffer)?;
        Ok(buffer.into())
    }

    /// The next batch; `None` at the end.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, Problem> {
        while let Some(block) = self.dictionaries.next() {
            let bytes = self.read(&block)?;
            let read = self.decoder.read_dictionary(&block, &bytes);
            read.map_err(|error| arrow_problem(&error))?;
        }
        while let Some(block) = self.batches.next() {
            let bytes = self.read(&block)?;
            let batch = self.decoder.read_record_batch(&block, &bytes);
            if let Some(batch) = batch.map_err(|error| arrow_problem(&error))? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }
}

/// The footer, and where it starts.
fn footer_of(file: &mut File) -> Result<(Vec<u8>, u64), Problem> {
    let length = file.seek(SeekFrom::End(0))?;
    let Some(end) = length.checked_sub(END_BYTES) else { return Err(cut_off()) };
    let mut mark = Vec::new();
    file.seek(SeekFrom::Start(end))?;
    file.take(END_BYTES).read_to_end(&mut mark)?;
    let bytes = match mark.split_first_chunk::<4>() {
        Some((bytes, MARK)) => u64::from(u32::from_le_bytes(*bytes)),
        _ => return Err(cut_off()),
    };
    if bytes > MAX_FOOTER_BYTES {
        return Err(damaged(&format!("it has {bytes} bytes, and {MAX_FOOTER_BYTES} are read")));
    }
    let start = end.checked_sub(bytes).filter(|start| *start >= BEGINNING_BYTES);
    let start = start.ok_or_else(|| damaged("it begins before the file does"))?;
    let mut footer = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(bytes).read_to_end(&mut footer)?;
    Ok((footer, start))
}

/// Checks that each block is before `end`, and that all together are no larger than that: naming the same block a
/// thousand times would claim more than the file contains.
fn check_blocks<'a>(blocks: impl Iterator<Item = &'a Block>, end: u64) -> Result<(), Problem> {
    let mut left = end;
    for block in blocks {
        let (offset, bytes) = extent_of(block)?;
        let is_inside = offset.checked_add(bytes).is_some_and(|block_end| block_end <= end);
        left = match left.checked_sub(bytes) {
            Some(left) if is_inside => left,
            _ => return Err(damaged("it names more than the file has")),
        };
    }
    Ok(())
}

/// Where a block begins, and how many bytes it has.
fn extent_of(block: &Block) -> Result<(u64, u64), Problem> {
    let offset = u64::try_from(block.offset());
    let head = u64::try_from(block.metaDataLength());
    let body = u64::try_from(block.bodyLength());
    match (offset, head, body) {
        (Ok(offset), Ok(head @ LENGTH_BYTES..), Ok(body)) => {
            let bytes = head.saturating_add(body);
            if bytes > MAX_BATCH_BYTES { Err(batch_too_large()) } else { Ok((offset, bytes)) }
        }
        _ => Err(damaged("it names a batch that cannot be one")),
    }
}

fn cut_off() -> Problem {
    Problem::content(
        "the table cannot be read: it is cut off, or not an Arrow file: the mark at its end is missing",
    )
}

fn damaged(why: &str) -> Problem {
    Problem::content(format!("the table of contents of the Arrow file is damaged: {why}"))
}

/// The problem of a batch with more bytes than are read.
pub(crate) fn batch_too_large() -> Problem {
    Problem::content(
        "a batch has more than 1 GiB, the most that is read: write it in smaller batches",
    )
}

/// What to do about Parquet pages that are compressed with Brotli.
pub(crate) const BROTLI: &str =
    "its pages are compressed with Brotli, which is not read: write them with zstd, Snappy or gzip";

/// Whether the readers report that they were built without Brotli.
pub(crate) fn is_of_brotli(error: &str) -> bool {
    error.contains("Disabled feature at compile time: brotli")
}

/// The message of the Arrow reader.
pub(crate) fn arrow_problem(error: &ArrowError) -> Problem {
    // A decompressor allocates whatever length a buffer claims, so decompression is left out of the build.
    if error.to_string().contains("IPC decompression requires") {
        return Problem::content(
            "its buffers are compressed, which is not read: write it uncompressed, or as Parquet",
        );
    }
    if is_of_brotli(&error.to_string()) {
        return Problem::content(BROTLI);
    }
    Problem::content(format!("the table cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use arrow_array::{DictionaryArray, types::Int32Type};
    use arrow_ipc::writer::FileWriter;

    use super::*;

    /// A file of two batches with a dictionary.
    fn written() -> Vec<u8> {
        let column: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
        let batch = RecordBatch::try_from_iter([("output", Arc::new(column) as _)]).unwrap();
        let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    }

    fn rows(bytes: &[u8]) -> Result<usize, String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let mut file = ArrowFile::open(file).map_err(|problem| problem.to_string())?;
        let mut rows = 0;
        while let Some(batch) = file.next_batch().map_err(|problem| problem.to_string())? {
            rows += batch.num_rows();
        }
        Ok(rows)
    }

    #[test]
    fn all_batches_are_read() {
        assert_eq!(rows(&written()), Ok(6));
    }

    #[test]
    fn what_polars_writes_is_read() {
        // Messages in this file are not aligned as in a stream.
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/readers/polars.arrow");
        assert_eq!(rows(&fs::read(file).unwrap()), Ok(3));
    }

    #[test]
    fn a_file_that_is_cut_off_anywhere_is_refused() {
        let whole = written();
        for length in 0..whole.len() {
            assert!(rows(&whole[..length]).is_err(), "{length}");
        }
        assert!(rows(&whole[..whole.len() - 1]).unwrap_err().contains("it is cut off"));
    }

    #[test]
    fn blocks_are_inside_of_the_file_and_together_no_more_than_it() {
        let said = |blocks: &[Block]| {
            check_blocks(blocks.iter(), 1000).map_err(|problem| problem.to_string())
        };
        assert_eq!(said(&[Block::new(8, 100, 300), Block::new(408, 100, 300)]), Ok(()));
        for blocks in [
            vec![Block::new(900, 100, 8)],
            vec![Block::new(8, 100, 500); 2],
            vec![Block::new(-8, 100, 8)],
            vec![Block::new(8, 4, 8)],
            vec![Block::new(8, 100, -1)],
            vec![Block::new(i64::MAX, 100, 8)],
        ] {
            assert!(said(&blocks).unwrap_err().contains("is damaged"), "{blocks:?}");
        }
        assert!(said(&[Block::new(8, 100, 2 << 30)]).unwrap_err().contains("more than 1 GiB"));
    }
}
