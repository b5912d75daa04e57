//! Reads Parquet and Arrow as cases: a row for each case, one at a time, because each may be large. It leaves cells to
//! `cells`, and lines to `table`.

use std::{
    collections::BTreeSet,
    fmt::Display,
    fs::File,
    io::{Read, Seek},
};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamDecoder;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::{
    arrow_file::{
        self, ArrowFile, BROTLI, MAX_BATCH_BYTES, arrow_problem, batch_too_large, is_of_brotli,
    },
    cells::{CellError, Cells},
    emit::{Emit, next_is_too_large},
    format::Format,
    parquet_file,
    problem::Problem,
    source_file::SourceFile,
    table::{Columns, RowLocation, line_of_no_case, line_of_object},
};

/// How many bytes are taken from an Arrow stream at once.
const BYTES_AT_ONCE: usize = 256 << 10;

/// The reason for leaving out a column that is not the key of a case.
const NOT_JSON: &str = "columns of a type that JSON does not have";
const NAMED_TWICE: &str = "columns with the name of another column";
const NO_TEXT: &str = "cells of other columns with bytes that are not text";

/// The origin of the rows of a file, and how many there were.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    format: Format,
    file: &'a str,
    name: &'a str,
    split: Option<&'a str>,
    columns: Columns,
    count: u64,
    /// The names of the columns that are left out.
    left_out: BTreeSet<String>,
}

/// A column of a batch.
struct Column<'a> {
    name: &'a str,
    /// Its name and a colon, as in a JSON object.
    member: Vec<u8>,
    cells: Cells<'a>,
    is_key: bool,
}

/// Why a row cannot be written.
enum RowError<'a> {
    TooLarge,
    /// The column of a key contains bytes that are not text.
    NoText(&'a str),
}

impl<'a> Rows<'a> {
    /// No rows yet; `name` begins the ids of rows without one.
    pub(crate) fn new(
        source: &'a SourceFile,
        format: Format,
        name: &'a str,
        split: Option<&'a str>,
    ) -> Rows<'a> {
        let columns = Columns::of(&source.mapping);
        let left_out = BTreeSet::new();
        Rows { format, file: &source.file, name, split, columns, count: 0, left_out }
    }

    /// Passes on the rows of a batch.
    fn put(&mut self, batch: &RecordBatch, emit: &mut Emit) -> Result<(), Problem> {
        let mut columns = self.columns_of(batch, emit)?;
        let mut object = Vec::new();
        for row in 0..batch.num_rows() {
            self.count += 1;
            object.clear();
            let line = match write_object(&mut object, &mut columns, row, emit) {
                Ok(()) => line_of_object(&object, &self.columns, self.location())?,
                Err(RowError::NoText(column)) => {
                    line_of_no_case(&format!("bytes, not text, in `{column}`"))
                }
                Err(RowError::TooLarge) => return Err(next_is_too_large()),
            };
            emit.row(None, &line)?;
        }
        Ok(())
    }

    fn location(&self) -> RowLocation<'a> {
        let Rows { format, file, name, split, count, .. } = *self;
        RowLocation { format, file, name, split, row: count }
    }

    /// The columns that are read.
    fn columns_of<'b>(
        &mut self,
        batch: &'b RecordBatch,
        emit: &Emit,
    ) -> Result<Vec<Column<'b>>, Problem> {
        let fields = batch.schema_ref().fields();
        let firsts = self.columns.firsts(fields.iter().map(|field| field.name().as_str()))?;
        let mut columns = Vec::new();
        for ((field, column), is_first) in fields.iter().zip(batch.columns()).zip(firsts) {
            let name = field.name().as_str();
            let is_key = self.columns.is_key(name);
            match Cells::of(field, column) {
                Ok(cells) if is_first => {
                    let member = member(name)?;
                    columns.push(Column { name, member, cells, is_key });
                }
                Ok(_) => self.leave_out(name, NAMED_TWICE, emit),
                Err(why) if is_key => {
                    let why = format!("the column `{name}` cannot be read: {why}");
                    return Err(Problem::content(why));
                }
                Err(_) => self.leave_out(name, NOT_JSON, emit),
            }
        }
        Ok(columns)
    }

    /// Leaves a column out, which is counted once for all batches.
    fn leave_out(&mut self, column: &str, why: &'static str, emit: &Emit) {
        if self.left_out.insert(column.to_owned()) {
            emit.leave_out(why);
        }
    }

    /// Passes on the rows of a Parquet file.
    pub(crate) fn put_parquet(&mut self, file: File, emit: &mut Emit) -> Result<(), Problem> {
        let reader = open_parquet(file)?.build();
        let reader = reader.map_err(|error| parquet_problem(&error))?;
        for batch in reader {
            self.put(&batch.map_err(|error| arrow_problem(&error))?, emit)?;
        }
        Ok(())
    }

    /// Passes on the rows of an Arrow file or stream.
    pub(crate) fn put_arrow(&mut self, mut file: File, emit: &mut Emit) -> Result<(), Problem> {
        if !is_arrow_file(&mut file)? {
            return self.put_stream(file, emit);
        }
        let mut file = ArrowFile::open(file)?;
        while let Some(batch) = file.next_batch()? {
            self.put(&batch, emit)?;
        }
        Ok(())
    }

    fn put_stream(&mut self, mut file: File, emit: &mut Emit) -> Result<(), Problem> {
        let mut decoder = StreamDecoder::new();
        // The number of bytes since the last batch.
        let mut waiting = 0;
        loop {
            let mut bytes = Vec::new();
            (&mut file).take(BYTES_AT_ONCE as u64).read_to_end(&mut bytes)?;
            if bytes.is_empty() {
                return decoder.finish().map_err(|error| arrow_problem(&error));
            }
            let mut piece = arrow_buffer::Buffer::from(bytes);
            waiting += piece.len() as u64;
            while !piece.is_empty() {
                let batch = decoder.decode(&mut piece).map_err(|error| arrow_problem(&error))?;
                let Some(batch) = batch else { break };
                waiting = 0;
                self.put(&batch, emit)?;
            }
            if waiting > MAX_BATCH_BYTES {
                return Err(batch_too_large());
            }
        }
    }
}

/// A column's name as in a JSON object, before a value.
fn member(name: &str) -> Result<Vec<u8>, Problem> {
    let mut member =
        serde_json::to_vec(name).map_err(|error| Problem::content(error.to_string()))?;
    member.push(b':');
    Ok(member)
}

/// In a column without a key, bytes that are not text become `null`, and are counted.
fn write_object<'b>(
    object: &mut Vec<u8>,
    columns: &mut [Column<'b>],
    row: usize,
    emit: &Emit,
) -> Result<(), RowError<'b>> {
    object.push(b'{');
    for column in columns {
        if object.len() > 1 {
            object.push(b',');
        }
        object.extend_from_slice(&column.member);
        match column.cells.write(object, row) {
            Ok(()) => {}
            Err(CellError::RowTooLarge) => return Err(RowError::TooLarge),
            Err(CellError::NoText) if column.is_key => return Err(RowError::NoText(column.name)),
            Err(CellError::NoText) => emit.leave_out(NO_TEXT),
        }
    }
    object.push(b'}');
    Ok(())
}

/// Whether it begins with the magic bytes of a file, and so is not a stream. The position is reset to the beginning.
fn is_arrow_file(file: &mut File) -> Result<bool, Problem> {
    let mut start = Vec::new();
    file.take(arrow_file::MARK.len() as u64).read_to_end(&mut start)?;
    file.rewind()?;
    Ok(start == arrow_file::MARK)
}

/// Checks whether the file contains what its readers need.
pub(crate) fn check_parquet(source: &SourceFile) -> Result<(), Problem> {
    let opened = open_parquet(File::open(&source.path)?)?;
    let names = opened.schema().fields().iter().map(|field| field.name().as_str());
    Columns::of(&source.mapping).firsts(names).map(drop)
}

/// Checks whether the file contains what its readers need. A stream is checked only when it is read.
pub(crate) fn check_arrow(source: &SourceFile) -> Result<(), Problem> {
    let mut file = File::open(&source.path)?;
    match is_arrow_file(&mut file)? {
        true => parquet_file::without_panic(move || ArrowFile::open(file).map(drop))?,
        false => Ok(()),
    }
}

fn open_parquet(file: File) -> Result<ParquetRecordBatchReaderBuilder<File>, Problem> {
    parquet_file::open_parquet(file).map_err(|why| parquet_problem(&why))
}

pub(crate) fn read_parquet(source: &SourceFile, emit: &mut Emit) -> Result<(), Problem> {
    let mut rows = Rows::new(source, Format::Parquet, source.stem(), None);
    rows.put_parquet(File::open(&source.path)?, emit)
}

pub(crate) fn read_arrow(source: &SourceFile, emit: &mut Emit) -> Result<(), Problem> {
    let mut rows = Rows::new(source, Format::Arrow, source.stem(), None);
    rows.put_arrow(File::open(&source.path)?, emit)
}

fn parquet_problem(error: &dyn Display) -> Problem {
    if is_of_brotli(&error.to_string()) {
        return Problem::content(BROTLI);
    }
    Problem::content(format!("the Parquet file cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        Array, ArrayRef, BinaryArray, Int64Array, StringArray, TimestampSecondArray,
        builder::{Int64Builder, MapBuilder, StringBuilder},
    };
    use arrow_ipc::writer::StreamWriter;
    use arrow_schema::{Field, Schema};
    use scorebox::case::{CaseReader, Mapping};

    use super::*;
    use crate::{Settings, open};

    /// The cases of a table with these columns, without their metadata, or what is wrong with it; and what is left out.
    fn read(
        columns: Vec<(&str, ArrayRef)>,
        rules: &[&str],
    ) -> (Vec<String>, Vec<(&'static str, u64)>) {
        let field =
            |(name, column): &(&str, ArrayRef)| Field::new(*name, column.data_type().clone(), true);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
        let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
        // Left-out columns are counted once for the file, however many batches it has.
        writer.write(&batch.slice(0, 1)).unwrap();
        writer.write(&batch.slice(1, batch.num_rows() - 1)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.arrows");
        std::fs::write(&path, writer.into_inner().unwrap()).unwrap();
        let mapping = Mapping::parse(rules).unwrap();
        let opened = open(&path, &Settings::new().with_mapping(mapping.clone())).unwrap();
        let cases = CaseReader::open(vec![opened.source], mapping).unwrap();
        let cases = cases.map(|case| match case {
            Ok(case) => {
                let json = case.json();
                json[..json.rfind(",\"metadata\"").unwrap()].to_owned()
            }
            Err(error) => error.to_string().rsplit('/').next().unwrap_or_default().to_owned(),
        });
        (cases.collect(), opened.left_out.counts())
    }

    fn texts(texts: [&str; 2]) -> ArrayRef {
        Arc::new(StringArray::from(texts.to_vec()))
    }

    fn bytes() -> ArrayRef {
        Arc::new(BinaryArray::from(vec![&b"a"[..], b"\xff"]))
    }

    /// A map with numbers as keys, which JSON does not support.
    fn map() -> ArrayRef {
        let mut map = MapBuilder::new(None, Int64Builder::new(), StringBuilder::new());
        map.append(true).unwrap();
        map.append(true).unwrap();
        Arc::new(map.finish())
    }

    #[test]
    fn a_column_that_is_neither_a_key_nor_json_is_left_out() {
        let times = TimestampSecondArray::from(vec![0, i64::MAX]).with_timezone("UTC");
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("output", texts(["x", "y"])),
            ("at", Arc::new(times)),
            ("by number", map()),
            ("n", Arc::new(Int64Array::from(vec![1, 2]))),
            ("n", Arc::new(Int64Array::from(vec![3, 4]))),
        ];
        let (cases, left_out) = read(columns, &[]);
        assert_eq!(
            cases,
            [
                r#"{"id":"t:1","output":"x","at":"1970-01-01T00:00:00Z","n":1"#,
                r#"{"id":"t:2","output":"y","n":2"#,
            ]
        );
        assert_eq!(left_out, [(NOT_JSON, 1), (NAMED_TWICE, 1)]);
    }

    #[test]
    fn a_key_that_is_not_json_ends_the_table() {
        let (cases, _) = read(vec![("output", map())], &[]);
        assert!(cases[0].contains("the column `output` cannot be read"), "{cases:?}");
        let (cases, _) = read(vec![("answer", map())], &["output=/answer"]);
        assert!(cases[0].contains("the column `answer` cannot be read"), "{cases:?}");
    }

    #[test]
    fn bytes_that_are_no_text_are_no_value_of_a_key_and_left_out_elsewhere() {
        let (cases, left_out) = read(vec![("output", texts(["x", "y"])), ("image", bytes())], &[]);
        assert_eq!(
            cases,
            [r#"{"id":"t:1","output":"x","image":"a""#, r#"{"id":"t:2","output":"y""#]
        );
        assert_eq!(left_out, [(NO_TEXT, 1)]);
        let (cases, left_out) = read(vec![("output", bytes())], &[]);
        assert_eq!(
            cases,
            [r#"{"id":"t:1","output":"a""#, "t.arrows: row 2: bytes, not text, in `output`",]
        );
        assert_eq!(left_out, []);
    }
}
