//! Writes Parquet, for data engines: texts, 64-bit integers and floating-point numbers; JSON is text. It leaves the
//! choice of columns to `columns`.

use std::{
    io::{self, Write},
    sync::Arc,
};

use arrow_array::{
    ArrayRef, RecordBatch,
    builder::{Float64Builder, Int64Builder, StringBuilder},
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    errors::ParquetError,
    file::properties::WriterProperties,
};

use crate::{
    Rows,
    columns::{COLUMNS, Cell, Kind, Scored},
};

/// How many rows, or bytes of their texts, are handed to the writer at once.
const BATCH_ROWS: usize = 1024;
const BATCH_BYTES: usize = 4 << 20;
/// The number of bytes after which a row group ends: it is in memory until then.
const GROUP_BYTES: usize = 32 << 20;

/// A file that is being written.
pub(crate) struct File<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    columns: Vec<Building>,
    rows: usize,
    bytes: usize,
}

/// Values of a column that are not yet written.
enum Building {
    Text(StringBuilder),
    Integer(Int64Builder),
    Number(Float64Builder),
}

impl Building {
    fn of(kind: Kind) -> Building {
        match kind {
            Kind::Text | Kind::Json => Building::Text(StringBuilder::new()),
            Kind::Integer => Building::Integer(Int64Builder::new()),
            Kind::Number => Building::Number(Float64Builder::new()),
        }
    }

    /// Adds a value; returns how many bytes it has.
    fn put(&mut self, cell: &Cell<'_>) -> usize {
        match (self, cell) {
            (Building::Text(builder), cell) => {
                let text = cell.to_text();
                builder.append_option(text.as_deref());
                text.map_or(0, |text| text.len())
            }
            (Building::Integer(builder), Cell::Integer(number)) => {
                builder.append_value(*number);
                8
            }
            (Building::Number(builder), Cell::Number(number)) => {
                builder.append_value(*number);
                8
            }
            (Building::Integer(builder), _) => {
                builder.append_null();
                8
            }
            (Building::Number(builder), _) => {
                builder.append_null();
                8
            }
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Building::Text(builder) => Arc::new(builder.finish()),
            Building::Integer(builder) => Arc::new(builder.finish()),
            Building::Number(builder) => Arc::new(builder.finish()),
        }
    }
}

impl<W: Write + Send> File<W> {
    pub(crate) fn begin(out: W) -> io::Result<File<W>> {
        let field = |(name, kind)| {
            let of = match kind {
                Kind::Text | Kind::Json => DataType::Utf8,
                Kind::Integer => DataType::Int64,
                Kind::Number => DataType::Float64,
            };
            Field::new(name, of, true)
        };
        let columns = COLUMNS.iter().map(|column| (column.name, column.kind));
        let schema = Arc::new(Schema::new(columns.map(field).collect::<Vec<_>>()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by("scorebox".to_owned())
            .build();
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties));
        let columns = COLUMNS.iter().map(|column| Building::of(column.kind)).collect();
        Ok(File { writer: writer.map_err(io_error)?, schema, columns, rows: 0, bytes: 0 })
    }

    fn hand_over(&mut self) -> io::Result<()> {
        let columns = self.columns.iter_mut().map(Building::finish).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let batch = batch.map_err(io::Error::other)?;
        (self.rows, self.bytes) = (0, 0);
        self.writer.write(&batch).map_err(io_error)?;
        match self.writer.in_progress_size() > GROUP_BYTES {
            true => self.writer.flush().map_err(io_error),
            false => Ok(()),
        }
    }
}

impl<W: Write + Send> Rows for File<W> {
    fn put(&mut self, scored: &Scored<'_>, halves: &mut u64) -> io::Result<()> {
        for (column, building) in COLUMNS.iter().zip(&mut self.columns) {
            self.bytes += building.put(&column.cell(scored, halves));
        }
        self.rows += 1;
        match self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
            true => self.hand_over(),
            false => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if self.rows > 0 {
            self.hand_over()?;
        }
        self.writer.close().map(drop).map_err(io_error)
    }
}

/// Values fit their columns, so only writing can fail.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        other => io::Error::other(other),
    }
}
