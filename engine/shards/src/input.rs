//! Reads the Parquet file that a shard is made from: its schema, its rows in batches, and the digest of its bytes.
//! Knows nothing of cases.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _},
    path::{Path, PathBuf},
};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::{
    ProjectionMask,
    arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder},
};
use scorebox::digest::Digest;
use scorebox_readers::without_panic;
use serde::{Deserialize, Serialize};

use crate::error::ShardError;

/// The number of bytes of a block of the digest.
const BLOCK_BYTES: u64 = 1 << 20;

/// Identifies the content of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InputName {
    /// The file's name, without its folder.
    pub name: String,
    pub bytes: u64,
    /// The digest of the digests of its blocks.
    pub digest: Digest,
}

/// A Parquet file that contains cases.
#[derive(Debug)]
pub struct Input {
    path: PathBuf,
    name: InputName,
    schema: SchemaRef,
    rows: u64,
}

impl Input {
    /// Opens the file, and reads it once for its digest.
    ///
    /// # Errors
    /// The file cannot be read, or is not Parquet.
    pub fn open(path: &Path) -> Result<Input, ShardError> {
        let failed = |error: io::Error| ShardError::File { path: path.to_owned(), error };
        let file = File::open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            let error = io::Error::other("it is not a file, and a shard is made of a Parquet file");
            return Err(failed(error));
        }
        must_be_parquet(path, &file)?;
        let (bytes, digest) = digest(&file).map_err(failed)?;
        let builder = open_parquet(path).map_err(as_input)?;
        let rows = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or_default();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Input {
            path: path.to_owned(),
            name: InputName { name, bytes, digest },
            schema: builder.schema().clone(),
            rows,
        })
    }

    /// The file's columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The number of rows that the file states.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The file's name in messages: without its folder.
    pub fn name(&self) -> &str {
        &self.name.name
    }

    pub(crate) fn named(&self) -> &InputName {
        &self.name
    }

    /// The file's rows, with only the columns at these indices.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn batches(
        &self,
        indices: &[usize],
    ) -> Result<impl Iterator<Item = Result<RecordBatch, ShardError>> + Send + use<>, ShardError>
    {
        let builder = open_parquet(&self.path).map_err(as_input)?;
        let mask = ProjectionMask::roots(builder.parquet_schema(), indices.iter().copied());
        let rows = Rows::of(&self.path, builder.with_projection(mask)).map_err(as_input)?;
        Ok(rows.map(|batch| batch.map_err(as_input)))
    }
}

/// Refuses a file that is not Parquet, and reports its kind.
fn must_be_parquet(path: &Path, mut file: &File) -> Result<(), ShardError> {
    let failed = |error: io::Error| ShardError::File { path: path.to_owned(), error };
    let mut start = Vec::new();
    file.take(4).read_to_end(&mut start).map_err(failed)?;
    file.rewind().map_err(failed)?;
    match start.starts_with(b"PAR1") || start.starts_with(b"PARE") {
        true => Ok(()),
        false => Err(ShardError::InputOfAnotherKind { path: path.to_owned() }),
    }
}

/// Turns an error about a shard into one about the input, which is read in the same way.
fn as_input(error: ShardError) -> ShardError {
    match error {
        ShardError::NotParquet { path, why } => ShardError::InputNotParquet { path, why },
        other => other,
    }
}

/// The batches of a file.
pub(crate) struct Rows {
    /// `None` after an error.
    reader: Option<ParquetRecordBatchReader>,
    path: PathBuf,
}

impl Rows {
    /// All batches of a reader.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn of(
        path: &Path,
        builder: ParquetRecordBatchReaderBuilder<File>,
    ) -> Result<Rows, ShardError> {
        let reader = without_panic(|| builder.build())
            .map_err(|error| ShardError::NotParquet {
                path: path.to_owned(),
                why: error.to_string(),
            })?
            .map_err(|error| ShardError::of_parquet(path, &error))?;
        Ok(Rows { reader: Some(reader), path: path.to_owned() })
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, ShardError>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.reader.as_mut()?;
        let why = match without_panic(|| reader.next()) {
            Ok(None) => return None,
            Ok(Some(Ok(batch))) => return Some(Ok(batch)),
            Ok(Some(Err(error))) => error.to_string(),
            Err(error) => error.to_string(),
        };
        self.reader = None;
        Some(Err(ShardError::NotParquet { path: self.path.clone(), why }))
    }
}

/// A Parquet file whose footer has been read.
pub(crate) fn open_parquet(
    path: &Path,
) -> Result<ParquetRecordBatchReaderBuilder<File>, ShardError> {
    let file =
        File::open(path).map_err(|error| ShardError::File { path: path.to_owned(), error })?;
    scorebox_readers::open_parquet(file)
        .map_err(|why| ShardError::NotParquet { path: path.to_owned(), why })
}

/// The length of a file, and the digest of the digests of its blocks.
fn digest(file: &File) -> io::Result<(u64, Digest)> {
    let (mut bytes, mut block, mut digests) = (0, Vec::new(), Vec::new());
    loop {
        block.clear();
        let read = file.take(BLOCK_BYTES).read_to_end(&mut block)?;
        if read == 0 {
            let all = digests.iter().map(|digest: &Digest| digest.as_bytes().as_slice());
            return Ok((bytes, Digest::of_parts(all)));
        }
        bytes += read as u64;
        digests.push(Digest::of(&block));
    }
}
