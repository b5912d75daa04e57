//! Opens an untrusted Parquet file: checks what it claims before a reader allocates memory for it, and turns a reader's
//! panic over a damaged file into an error. Reads no row.

use std::{fs::File, io, sync::Arc, thread};

use arrow_schema::{DataType, Field, FieldRef, Schema};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};

use crate::{footer::check_footer, pages::check_pages, stream::READERS_NAME};

/// The message for a reader that panicked.
const DAMAGED: &str = "the file is damaged";

/// Opens a Parquet file whose footer has at most 32 MiB, and each page at most 256 MiB, decompressed.
///
/// Texts are views of the file's pages, so that a text that many rows share is in memory once. The rows that are read
/// at once have 64 MiB of pages together, or twice as many as reading single rows takes, and at most 2 GiB. What a list
/// repeats counts as in an average row, and in row groups with more than 64 MiB of lists as in the longest row.
///
/// # Errors
/// Why the file cannot be read, as a part of a sentence about it.
pub fn open_parquet(file: File) -> Result<ParquetRecordBatchReaderBuilder<File>, String> {
    check_footer(&file)?;
    let pages = file.try_clone().map_err(|error| error.to_string())?;
    let opened = without_panic(|| ParquetRecordBatchReaderBuilder::try_new(file));
    let opened = opened.map_err(|error| type_not_read(&pages).unwrap_or(error.to_string()))?;
    let opened = opened.map_err(|error| error.to_string())?;
    let metadata = opened.metadata();
    let rows = without_panic(|| check_pages(&pages, metadata));
    let rows = rows.map_err(|error| error.to_string())??;
    Ok(with_views(opened, pages).with_batch_size(rows))
}

/// Which type prevents reading a file that could be read without its Arrow schema, whose reader panics over 128-bit
/// integers; `None` if the file is damaged.
fn type_not_read(file: &File) -> Option<String> {
    let file = file.try_clone().ok()?;
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let opened =
        without_panic(|| ParquetRecordBatchReaderBuilder::try_new_with_options(file, options));
    let opened = opened.ok()?.ok()?;
    let fields = opened.schema().fields().iter();
    let has_16_bytes = |field: &&FieldRef| *field.data_type() == DataType::FixedSizeBinary(16);
    let names: Vec<String> =
        fields.filter(has_16_bytes).map(|field| format!("`{}`", field.name())).collect();
    let columns = match &names[..] {
        [] => "a column has".to_owned(),
        [name] => format!("the column {name} has"),
        names => format!("one of the columns {} has", names.join(", ")),
    };
    Some(format!("{columns} a type that is not read, such as Int128: write it as another type"))
}

/// The same schema with texts as views; unchanged if that is not possible.
fn with_views(
    opened: ParquetRecordBatchReaderBuilder<File>,
    file: File,
) -> ParquetRecordBatchReaderBuilder<File> {
    let fields = opened.schema().fields().iter().map(field_with_views);
    let metadata = opened.schema().metadata().clone();
    let schema = Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), metadata));
    let options = ArrowReaderOptions::new().with_schema(schema);
    let metadata = opened.metadata().clone();
    let read = without_panic(move || ArrowReaderMetadata::try_new(metadata, options));
    match read {
        Ok(Ok(metadata)) => ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata),
        _ => opened,
    }
}

fn field_with_views(field: &FieldRef) -> FieldRef {
    let kind = kind_with_views(field.data_type());
    Arc::new(Field::clone(field).with_data_type(kind))
}

fn kind_with_views(kind: &DataType) -> DataType {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::Dictionary(_, values) => match kind_with_views(values) {
            views @ (DataType::Utf8View | DataType::BinaryView) => views,
            _ => kind.clone(),
        },
        DataType::List(element) => DataType::List(field_with_views(element)),
        DataType::LargeList(element) => DataType::LargeList(field_with_views(element)),
        DataType::FixedSizeList(element, count) => {
            DataType::FixedSizeList(field_with_views(element), *count)
        }
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field_with_views).collect()),
        DataType::Map(entries, sorted) => DataType::Map(field_with_views(entries), *sorted),
        other => other.clone(),
    }
}

/// The result of `work`, which reads a file with a parser that was not written for hostile files. It runs on a thread
/// with the name [`READERS_NAME`].
///
/// # Errors
/// `work` panicked, or no thread can be started.
pub fn without_panic<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name(READERS_NAME.to_owned());
        let done = thread.spawn_scoped(scope, work)?.join();
        done.map_err(|_| io::Error::other(DAMAGED))
    })
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, sync::Arc};

    use arrow_array::{
        ArrayRef, FixedSizeBinaryArray, Int8Array, Int64Array, ListArray, RecordBatch, StringArray,
    };
    use arrow_buffer::OffsetBuffer;
    use parquet::{
        arrow::{ArrowWriter, arrow_writer::ArrowWriterOptions},
        basic::{Compression, Encoding},
        file::{
            metadata::{KeyValue, ParquetMetaDataReader, ParquetMetaDataWriter},
            properties::{EnabledStatistics, WriterProperties},
        },
    };

    use super::*;

    /// A Parquet file with one page, which has `texts`.
    fn written(texts: &[&str]) -> Vec<u8> {
        written_columns(1, texts)
    }

    /// A Parquet file with this many columns, each with one page, which has `texts`.
    fn written_columns(count: usize, texts: &[&str]) -> Vec<u8> {
        let column: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
        let columns = (0..count).map(|number| (format!("c{number}"), Arc::clone(&column)));
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .build();
        let mut writer =
            ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    }

    /// The same file, except for a number in the headers of all first pages: `claim` replaces the number after the
    /// bytes `before`.
    fn claiming(file: &[u8], before: &[u8], claim: &[u8]) -> Vec<u8> {
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes_of(file)).unwrap();
        let mut changed = file[..4].to_vec();
        let columns = metadata.row_group(0).columns().iter().map(|column| {
            let start = changed.len();
            let (from, length) = column.byte_range();
            let (from, length) = (usize::try_from(from).unwrap(), usize::try_from(length).unwrap());
            let pages = &file[from..from + length];
            let at = pages.windows(before.len()).position(|bytes| bytes == before).unwrap();
            let at = at + before.len();
            let end = at + pages[at..].iter().position(|byte| *byte < 0x80).unwrap() + 1;
            [&pages[..at], claim, &pages[end..]]
                .iter()
                .for_each(|it| changed.extend_from_slice(it));
            let offset = |number: usize| i64::try_from(number).unwrap();
            let more = offset(changed.len() - start - length);
            let dictionary = column.dictionary_page_offset().map(|_| offset(start));
            let data = offset(start) + column.data_page_offset() - offset(from);
            let data = if dictionary.is_some() { data + more } else { data };
            let column = column.clone().into_builder().set_dictionary_page_offset(dictionary);
            let size = offset(length) + more;
            column.set_data_page_offset(data).set_total_compressed_size(size).build().unwrap()
        });
        let columns = columns.collect();
        let group = metadata.row_group(0).clone().into_builder().set_column_metadata(columns);
        let metadata = metadata.clone().into_builder();
        let metadata = metadata.set_row_groups(vec![group.build().unwrap()]).build();
        ParquetMetaDataWriter::new(&mut changed, &metadata).finish().unwrap();
        changed
    }

    /// The bytes before the decompressed size of a page: its kind, and the field.
    const BEFORE_SIZE: &[u8] = &[0x15, 0x00, 0x15];
    /// One byte less than two gigabytes, and 250 MiB.
    const TWO_GIGABYTES: &[u8] = &[0xfe, 0xff, 0xff, 0xff, 0x0f];
    const QUARTER_GIGABYTE: &[u8] = &[0x80, 0x80, 0x80, 0xfa, 0x01];

    fn bytes_of(content: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file
    }

    fn refused(content: &[u8]) -> String {
        open_parquet(bytes_of(content)).map(drop).unwrap_err()
    }

    #[test]
    fn a_page_that_claims_more_than_is_read_is_refused() {
        let file = written(&["a", "b"]);
        let mut rows = open_parquet(bytes_of(&file)).unwrap().build().unwrap();
        assert_eq!(rows.next().unwrap().unwrap().num_rows(), 2);
        assert_eq!(
            refused(&claiming(&file, BEFORE_SIZE, TWO_GIGABYTES)),
            "a page claims to have 2147483647 bytes, and 268435456 are read: write smaller pages"
        );
    }

    #[test]
    fn a_table_may_have_thousands_of_columns() {
        let wide = written_columns(3000, &["a"]);
        assert_eq!(open_parquet(bytes_of(&wide)).map(drop), Ok(()));
    }

    #[test]
    fn pages_that_are_too_large_together_are_refused() {
        let claiming = |columns| {
            claiming(&written_columns(columns, &["a", "b"]), BEFORE_SIZE, QUARTER_GIGABYTE)
        };
        assert_eq!(open_parquet(bytes_of(&claiming(8))).map(drop), Ok(()));
        assert_eq!(
            refused(&claiming(9)),
            "reading one row needs 2251 MiB of pages and dictionaries of all 9 columns, and the limit is 2048 MiB: \
             write smaller pages (with pyarrow, `write_batch_size=1`), or only the columns that are needed"
        );
    }

    #[test]
    fn a_dictionary_that_claims_more_values_than_are_read_is_refused() {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![7, 7]));
        let batch = RecordBatch::try_from_iter([("output", numbers)]).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let file = writer.into_inner().unwrap();
        // The header of the dictionary, with its number of values.
        let said = refused(&claiming(&file, &[0x4c, 0x15], TWO_GIGABYTES));
        assert!(
            said.starts_with("reading one row needs 16385 MiB of pages and dictionaries"),
            "{said}"
        );
    }

    #[test]
    fn each_text_of_a_list_counts_as_its_page_if_it_may_begin_as_the_text_before_it() {
        let written = |lengths: &[usize]| {
            let mut texts = vec!["x"; lengths.iter().sum()];
            let long = "x".repeat(8 << 20);
            texts[0] = &long;
            let element = Arc::new(Field::new("element", DataType::Utf8, true));
            let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
            let texts = Arc::new(StringArray::from(texts));
            let lists: ArrayRef = Arc::new(ListArray::new(element, offsets, texts, None));
            let batch = RecordBatch::try_from_iter([("output", lists)]).unwrap();
            let properties = WriterProperties::builder()
                .set_dictionary_enabled(false)
                .set_encoding(Encoding::DELTA_BYTE_ARRAY)
                .set_data_page_size_limit(16 << 20)
                .set_statistics_enabled(EnabledStatistics::None)
                .build();
            let mut writer =
                ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
            writer.write(&batch).unwrap();
            writer.into_inner().unwrap()
        };
        assert_eq!(open_parquet(bytes_of(&written(&[10; 300]))).map(drop), Ok(()));
        // The average is as low, but one row has most of the texts.
        let mut lengths = [1; 300];
        lengths[100] = 300;
        let said = refused(&written(&lengths));
        assert!(said.starts_with("reading one row needs 24"), "{said}");
    }

    #[test]
    fn a_text_that_many_rows_share_is_in_memory_once() {
        let text = "x".repeat(100_000);
        let texts: ArrayRef = Arc::new(StringArray::from(vec![text.as_str(); 1000]));
        let batch = RecordBatch::try_from_iter([("output", texts)]).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let file = bytes_of(&writer.into_inner().unwrap());
        let batches = open_parquet(file).unwrap().build().unwrap();
        let batches: Vec<RecordBatch> = batches.map(Result::unwrap).collect();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 1000);
        let bytes: usize = batches.iter().map(RecordBatch::get_array_memory_size).sum();
        assert!(bytes < 500_000, "{bytes}");
    }

    /// A file with a column of lists with these numbers of elements, none of which has a value.
    fn written_lists(lengths: &[usize]) -> File {
        let element = Arc::new(Field::new("element", DataType::Int8, true));
        let values = Arc::new(Int8Array::new_null(lengths.iter().sum()));
        let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
        let lists: ArrayRef = Arc::new(ListArray::new(element, offsets, values, None));
        let batch = RecordBatch::try_from_iter([("output", lists)]).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        bytes_of(&writer.into_inner().unwrap())
    }

    #[test]
    fn a_row_of_more_values_than_are_read_is_refused_before_room_is_made_for_them() {
        let mut lengths = vec![1; 1000];
        assert!(open_parquet(written_lists(&lengths)).is_ok());
        lengths[500] = 34 << 20;
        let refused = open_parquet(written_lists(&lengths));
        assert_eq!(
            refused.map(drop).unwrap_err(),
            "a row has 35651584 values in a list, which are more than 64 MiB, the most that is read of a row"
        );
        // As many in total, but in many rows.
        let many = written_lists(&vec![34; 1 << 20]);
        assert!(open_parquet(many).is_ok());
    }

    #[test]
    fn a_page_whose_header_is_damaged_is_refused() {
        let mut file = written(&["a", "b"]);
        file[4] = 0x1f;
        assert_eq!(refused(&file), "the header of a page is damaged");
    }

    /// The schema is what polars 2.1 writes of a text `output` and an integer `n` of 128 bits.
    #[test]
    fn a_sound_file_with_a_type_that_is_not_read_is_not_said_to_be_damaged() {
        const SCHEMA: &str = concat!(
            "/////6cAAAAEAAAA8v///xQAAAAEAAEAAAAKAAsACAAKAAQA+P///wwAAAAIAAgAAAAEAAIAAAA8AAAABAAAALj///8oAAAAEAAAAAgA",
            "AAABAgAAAAAAAPT///+AAAAAAQAAAAgACQAEAAgAAQAAAG4AAADs////LAAAACAAAAAYAAAAARQAABAAEgAEABAAEQAIAAAADAAAAAAA",
            "/P///wQABAAGAAAAb3V0cHV0AA==",
        );
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["4"]));
        let numbers: ArrayRef =
            Arc::new(FixedSizeBinaryArray::try_from_iter([[0_u8; 16]].iter()).unwrap());
        let batch = RecordBatch::try_from_iter([("output", texts), ("n", numbers)]).unwrap();
        let schema = KeyValue::new("ARROW:schema".to_owned(), SCHEMA.to_owned());
        let properties =
            WriterProperties::builder().set_key_value_metadata(Some(vec![schema])).build();
        let options =
            ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let mut writer =
            ArrowWriter::try_new_with_options(Vec::new(), batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        let file = writer.into_inner().unwrap();
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let why = refused(&file);
        std::panic::set_hook(hook);
        let said =
            "the column `n` has a type that is not read, such as Int128: write it as another type";
        assert_eq!(why, said);
    }

    #[test]
    fn what_panics_is_an_error() {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let error = without_panic(|| panic!("of a parser")).map(|(): ()| ()).unwrap_err();
        std::panic::set_hook(hook);
        assert_eq!(error.to_string(), DAMAGED);
        assert_eq!(without_panic(|| 5).unwrap(), 5);
    }
}
