//! Parquet and Arrow as cases: a row for each case, one at a time, because each may be large. Cells are JSON in `cells`, rows are
//! lines in `table`.

use std::{fmt::Display, fs::File, io::Read};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::ArrowError;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::{
    cells::{Cells, RowTooLarge},
    emit::{Emit, next_is_too_large},
    format::Format,
    parquet_file,
    place::Place,
    problem::Problem,
    table::{Columns, RowPlace, line_of_object},
};

/// Bytes that are taken from an Arrow file at once.
const BYTES_AT_ONCE: usize = 256 << 10;
/// The most bytes of a batch of an Arrow file, which must be whole in memory: 1 GiB.
const MOST_BATCH_BYTES: u64 = 1 << 30;

/// What the rows of a file say of where they came from, and how many there were.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    pub format: Format,
    pub file: &'a str,
    pub name: &'a str,
    pub split: Option<&'a str>,
    pub columns: Columns,
    pub count: u64,
}

impl<'a> Rows<'a> {
    fn of(place: &'a Place, format: Format) -> Rows<'a> {
        let columns = Columns::of(&place.mapping);
        Rows { format, file: &place.file, name: place.stem(), split: None, columns, count: 0 }
    }

    /// Hands over the rows of a batch.
    fn put(&mut self, batch: &RecordBatch, emit: &mut Emit) -> Result<(), Problem> {
        let mut columns = named_cells(batch)?;
        let mut object = Vec::new();
        for row in 0..batch.num_rows() {
            self.count += 1;
            object.clear();
            if write_object(&mut object, &mut columns, row).is_err() {
                return Err(next_is_too_large());
            }
            let at = RowPlace {
                format: self.format,
                file: self.file,
                name: self.name,
                split: self.split,
                row: self.count,
            };
            emit.line(&line_of_object(&object, &self.columns, at)?)?;
        }
        Ok(())
    }

    /// Hands over the rows of a Parquet file.
    pub(crate) fn put_parquet(&mut self, file: File, emit: &mut Emit) -> Result<(), Problem> {
        let reader = open_parquet(file)?.build();
        let reader = reader.map_err(|error| parquet_problem(&error))?;
        for batch in reader {
            self.put(&batch.map_err(|error| arrow_problem(&error))?, emit)?;
        }
        Ok(())
    }

    /// Hands over the rows of an Arrow file or stream.
    pub(crate) fn put_arrow(&mut self, mut file: File, emit: &mut Emit) -> Result<(), Problem> {
        let start = skip_magic(&mut file)?;
        let mut decoder = StreamDecoder::new();
        // Bytes since the last batch.
        let mut waiting = 0;
        let mut bytes = start;
        loop {
            let mut piece = arrow_buffer::Buffer::from(std::mem::take(&mut bytes));
            waiting += piece.len() as u64;
            while !piece.is_empty() {
                match decoder.decode(&mut piece) {
                    Ok(Some(batch)) => {
                        waiting = 0;
                        self.put(&batch, emit)?;
                    }
                    Ok(None) => break,
                    // A file has its table of contents behind the end of its stream.
                    Err(ArrowError::IpcError(message)) if message == "Unexpected EOS" => {
                        return Ok(());
                    }
                    Err(error) => return Err(arrow_problem(&error)),
                }
            }
            if waiting > MOST_BATCH_BYTES {
                return Err(Problem::content(
                    "a batch has more than 1 GiB, the most that is read: write it in smaller batches",
                ));
            }
            (&mut file).take(BYTES_AT_ONCE as u64).read_to_end(&mut bytes)?;
            if bytes.is_empty() {
                return decoder.finish().map_err(|error| arrow_problem(&error));
            }
        }
    }
}

/// The cells of each column, and before them its name, as in a JSON object.
fn named_cells(batch: &RecordBatch) -> Result<Vec<(Vec<u8>, Cells<'_>)>, Problem> {
    let columns = batch.schema_ref().fields().iter().zip(batch.columns());
    let named = columns.map(|(field, column)| {
        let mut name = serde_json::to_vec(field.name())
            .map_err(|error| Problem::content(error.to_string()))?;
        name.push(b':');
        let cells = Cells::of(field, column).map_err(|why| {
            Problem::content(format!("the column `{}` cannot be read: {why}", field.name()))
        })?;
        Ok((name, cells))
    });
    named.collect()
}

fn write_object(
    object: &mut Vec<u8>,
    columns: &mut [(Vec<u8>, Cells<'_>)],
    row: usize,
) -> Result<(), RowTooLarge> {
    object.push(b'{');
    for (name, cells) in columns {
        if object.len() > 1 {
            object.push(b',');
        }
        object.extend_from_slice(name);
        cells.write(object, row)?;
    }
    object.push(b'}');
    Ok(())
}

/// The first bytes of the stream, without the mark of an Arrow file before it.
fn skip_magic(file: &mut File) -> Result<Vec<u8>, Problem> {
    let mut start = Vec::new();
    file.take(8).read_to_end(&mut start)?;
    if start.starts_with(b"ARROW1") {
        start.clear();
    }
    Ok(start)
}

/// Whether the file has what its readers need.
pub(crate) fn check_parquet(place: &Place) -> Result<(), Problem> {
    open_parquet(File::open(&place.path)?).map(drop)
}

fn open_parquet(file: File) -> Result<ParquetRecordBatchReaderBuilder<File>, Problem> {
    parquet_file::open_parquet(file).map_err(|why| parquet_problem(&why))
}

pub(crate) fn read_parquet(place: &Place, emit: &mut Emit) -> Result<(), Problem> {
    Rows::of(place, Format::Parquet).put_parquet(File::open(&place.path)?, emit)
}

pub(crate) fn read_arrow(place: &Place, emit: &mut Emit) -> Result<(), Problem> {
    Rows::of(place, Format::Arrow).put_arrow(File::open(&place.path)?, emit)
}

fn parquet_problem(error: &dyn Display) -> Problem {
    Problem::content(format!("the Parquet file cannot be read: {error}"))
}

fn arrow_problem(error: &ArrowError) -> Problem {
    // What decompresses a buffer allocates whatever length the buffer claims, so that is left out.
    if error.to_string().contains("IPC decompression requires") {
        return Problem::content(
            "its buffers are compressed, which is not read: write it uncompressed, or as Parquet",
        );
    }
    Problem::content(format!("the table cannot be read: {error}"))
}
