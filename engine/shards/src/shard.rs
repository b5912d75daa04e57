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
    output::{Output, There},
    plan::Plan,
    schema::{CREATED_BY, INPUT_KEY, PLAN_KEY},
    seal::{self, Sealing},
    shards::open_shard,
    source::{Source, SourceName},
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
    /// Whether the shard of this source is there already, scored with this plan.
    ///
    /// # Errors
    /// [`ShardError::Another`]: there is a file of this name that is something else; [`ShardError::File`]: there is a
    /// folder.
    pub fn is_there(path: &Path, plan: &Plan, source: &Source<'_>) -> Result<bool, ShardError> {
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
        let stored = seal::input_of(builder.metadata().file_metadata());
        let stored: Option<SourceName> = stored.and_then(|input| serde_json::from_str(input).ok());
        let Some(stored) = stored else {
            return Err(another("it does not say what it was made of".to_owned()));
        };
        source.difference(&stored, plan).map_or(Ok(true), |difference| Err(another(difference)))
    }

    /// Begins a shard of this source, scored with this plan. Until it is complete, it has another name in the same folder. A device or a pipe
    /// is written into as it is.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub fn create(
        path: &Path,
        schema: &SchemaRef,
        plan: &Plan,
        source: &Source<'_>,
    ) -> Result<ShardFile, ShardError> {
        let failed = |error: io::Error| ShardError::File { path: path.to_owned(), error };
        let file = Output::begin(path).map_err(failed)?;
        let source = serde_json::to_string(&source.named(plan)).unwrap_or_default();
        let writer = Results::begin(BufWriter::new(file), schema, Some(source))?;
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
    /// It cannot be written; [`ShardError::Another`]: another process was faster with another one.
    pub fn finish(self, plan: &Plan, source: &Source<'_>) -> Result<Written, ShardError> {
        let path = self.path.clone();
        let failed = |error: io::Error| ShardError::File { path: path.clone(), error };
        let out = self.writer.finish().map_err(failed)?;
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        match file.finish(false) {
            Ok(()) => Ok(Written::New),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match ShardFile::is_there(&path, plan, source)? {
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

/// Results on their way into a file, which ends with their seal.
#[derive(Debug)]
pub(crate) struct Results<W: Write + Send> {
    writer: ArrowWriter<W>,
    sealing: Sealing,
}

impl<W: Write + Send> Results<W> {
    pub(crate) fn begin(
        out: W,
        schema: &SchemaRef,
        input: Option<String>,
    ) -> Result<Results<W>, ShardError> {
        let plan = schema.metadata().get(PLAN_KEY).map_or("", String::as_str);
        let sealing = Sealing::begin(plan, input.as_deref());
        let input = input.map(|input| vec![KeyValue::new(INPUT_KEY.to_owned(), input)]);
        // The plan is in the Arrow schema, which not every program reads, and also here.
        let plan =
            schema.metadata().iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
        let mut metadata: Vec<KeyValue> = plan.chain(input.into_iter().flatten()).collect();
        metadata.sort_by(|one, other| one.key.cmp(&other.key));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(CREATED_BY.to_owned())
            .set_key_value_metadata(Some(metadata))
            .build();
        let writer = ArrowWriter::try_new(out, SchemaRef::clone(schema), Some(properties));
        let writer = writer.map_err(|error| ShardError::Write(io_error(error)))?;
        Ok(Results { writer, sealing })
    }

    pub(crate) fn put(&mut self, results: &RecordBatch) -> io::Result<()> {
        self.sealing.add(results).map_err(io::Error::other)?;
        self.writer.write(results).map_err(io_error)?;
        match self.writer.in_progress_size() > GROUP_BYTES {
            true => self.writer.flush().map_err(io_error),
            false => Ok(()),
        }
    }

    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.writer.append_key_value_metadata(self.sealing.finish().pair());
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
