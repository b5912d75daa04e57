//! Writes a shard as a file: the results of one input, in its order, with the plan. It gets its name when it is
//! complete; an existing shard that is the same is kept. Scores nothing.

use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    errors::ParquetError,
    file::{metadata::KeyValue, properties::WriterProperties},
};

use crate::{
    error::ShardError,
    input::{Input, InputName},
    output::{Output, There},
    plan::Plan,
    schema::INPUT_KEY,
    shards::open_shard,
};

/// The number of bytes after which a row group ends: it is in memory until then.
const GROUP_BYTES: usize = 32 << 20;

/// How the writing of a shard ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Written {
    /// The shard was written.
    New,
    /// Another process was faster, and wrote the same shard.
    Meanwhile,
}

/// A shard that is being written.
#[derive(Debug)]
pub struct ShardFile {
    path: PathBuf,
    writer: Results<BufWriter<Output>>,
}

impl ShardFile {
    /// Whether the shard of this input, scored with this plan, exists already.
    ///
    /// # Errors
    /// [`ShardError::Another`]: a different file has this name; [`ShardError::File`]: a folder has this name.
    pub fn is_there(path: &Path, plan: &Plan, input: &Input) -> Result<bool, ShardError> {
        let there = There::at(path);
        if there.map_err(|error| ShardError::File { path: path.to_owned(), error })? != There::File
        {
            return Ok(false);
        }
        let another =
            |difference: String| ShardError::Another { path: path.to_owned(), difference };
        let (there, builder) = match open_shard(path) {
            Ok(shard) => shard,
            Err(error @ ShardError::File { .. }) => return Err(error),
            Err(error) => return Err(another(error.to_string())),
        };
        if let Some(difference) = there.difference(plan) {
            return Err(another(difference));
        }
        let metadata = builder.metadata().file_metadata().key_value_metadata();
        let stored = metadata.into_iter().flatten().find(|pair| pair.key == INPUT_KEY);
        let stored: Option<InputName> = stored
            .and_then(|pair| serde_json::from_str(pair.value.as_deref().unwrap_or_default()).ok());
        match stored {
            Some(stored) if stored.digest == input.named().digest => Ok(true),
            Some(stored) => {
                Err(another(format!("it was made of `{}` with other content", stored.name)))
            }
            None => Err(another("it does not say what it was made of".to_owned())),
        }
    }

    /// Begins a shard of this input. Until it is complete, it has another name in the same folder. A device or a pipe
    /// is written to directly.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub fn create(path: &Path, schema: &SchemaRef, input: &Input) -> Result<ShardFile, ShardError> {
        let failed = |error: io::Error| ShardError::File { path: path.to_owned(), error };
        let file = Output::begin(path).map_err(failed)?;
        let input = serde_json::to_string(input.named()).unwrap_or_default();
        let writer = Results::begin(BufWriter::new(file), schema, Some(input))?;
        Ok(ShardFile { path: path.to_owned(), writer })
    }

    /// Adds results.
    ///
    /// # Errors
    /// The results cannot be written.
    pub fn put(&mut self, results: &RecordBatch) -> Result<(), ShardError> {
        self.writer.put(results).map_err(|error| self.failed(error))
    }

    /// Writes what is left, and gives the shard its name, unless another process was faster with the same shard.
    ///
    /// # Errors
    /// The shard cannot be written; [`ShardError::Another`]: another process was faster with a different one.
    pub fn finish(self, plan: &Plan, input: &Input) -> Result<Written, ShardError> {
        let path = self.path.clone();
        let failed = |error: io::Error| ShardError::File { path: path.clone(), error };
        let out = self.writer.finish().map_err(failed)?;
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        match file.finish(false) {
            Ok(()) => Ok(Written::New),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match ShardFile::is_there(&path, plan, input)? {
                    true => Ok(Written::Meanwhile),
                    false => Err(failed(error)),
                }
            }
            Err(error) => Err(failed(error)),
        }
    }

    fn failed(&self, error: io::Error) -> ShardError {
        ShardError::File { path: self.path.clone(), error }
    }
}

/// Writes results into a file.
#[derive(Debug)]
pub(crate) struct Results<W: Write + Send> {
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> Results<W> {
    pub(crate) fn begin(
        out: W,
        schema: &SchemaRef,
        input: Option<String>,
    ) -> Result<Results<W>, ShardError> {
        let input = input.map(|input| vec![KeyValue::new(INPUT_KEY.to_owned(), input)]);
        // The plan is in the Arrow schema, which not every program reads, and also here.
        let plan =
            schema.metadata().iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
        let mut metadata: Vec<KeyValue> = plan.chain(input.into_iter().flatten()).collect();
        metadata.sort_by(|one, other| one.key.cmp(&other.key));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by("scorebox".to_owned())
            .set_key_value_metadata(Some(metadata))
            .build();
        let writer = ArrowWriter::try_new(out, SchemaRef::clone(schema), Some(properties));
        Ok(Results { writer: writer.map_err(|error| ShardError::Write(io_error(error)))? })
    }

    pub(crate) fn put(&mut self, results: &RecordBatch) -> io::Result<()> {
        self.writer.write(results).map_err(io_error)?;
        match self.writer.in_progress_size() > GROUP_BYTES {
            true => self.writer.flush().map_err(io_error),
            false => Ok(()),
        }
    }

    pub(crate) fn finish(self) -> io::Result<W> {
        let mut out = self.writer.into_inner().map_err(io_error)?;
        out.flush()?;
        Ok(out)
    }
}

/// Results have the writer's schema, so only writing can fail.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        other => io::Error::other(other),
    }
}
