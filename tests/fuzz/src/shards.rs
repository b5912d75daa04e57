//! Shards of a run, as any program may have written them: Parquet files as they are, or rows as lines of JSON, which
//! are written with the plan of a first shard, so that the code that reads rows is reached.

use std::{
    fs::{self, File},
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use arrow_schema::SchemaRef;
use parquet::arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder};
use scorebox::case::{Case, Location, Mapping};
use scorebox_shards::{Merge, Named, ShardError, Shards, merge_into_file};
use serde_json::Value;
use tempfile::TempDir;

/// A shard of three cases and two scorers.
const FIRST: &[u8] = include_bytes!("../corpus/shards/shard");
/// Stands for the right digest in a row.
const RIGHT: &str = "=";

/// Reads the bytes as a shard, and checks that merging it gives a shard of the same cases, which merges to itself and
/// agrees with its source.
pub fn shards(data: &[u8]) {
    let (file, merged) = (folder().join("file"), folder().join("merged"));
    let Some(content) = shard_of(data) else { return };
    fs::write(&file, content).unwrap();
    let (content, cases) = match merge(&[&file]) {
        Ok(once) => once,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    fs::write(&merged, &content).unwrap();
    let (again, of_merged) = merge(&[&merged]).unwrap();
    assert_eq!((again == content, of_merged), (true, cases));
    let (_, of_both) = merge(&[&merged, &file]).unwrap();
    assert_eq!(of_both, cases);
}

/// The outcome of the bytes, as text.
#[cfg(test)]
pub(crate) fn said(data: &[u8]) -> String {
    let Some(content) = shard_of(data) else { return "no rows".to_owned() };
    let file = folder().join("said");
    fs::write(&file, content).unwrap();
    match merge(&[&file]) {
        Ok((_, cases)) => format!("{cases} cases"),
        Err(error) => error.to_string(),
    }
}

/// The Parquet file of the bytes.
fn shard_of(data: &[u8]) -> Option<Vec<u8>> {
    match data.starts_with(b"PAR1") {
        true => Some(data.to_vec()),
        false => with_rows(data),
    }
}

/// Merges shards into a file, and counts its cases.
fn merge(paths: &[&Path]) -> Result<(Vec<u8>, u64), ShardError> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
    let on = |_| ControlFlow::Continue(());
    let merge = Merge::of(Shards::open(&paths, Named::default())?, on)?;
    let mut content = Vec::new();
    let cases = merge_into_file(&merge, &mut content, on)?;
    assert_eq!(cases, merge.duplicates().cases);
    Ok((content, cases))
}

/// The first shard with these rows; `None` if they do not have its columns.
fn with_rows(lines: &[u8]) -> Option<Vec<u8>> {
    let (plan, schema) = first();
    let mut rows = Vec::new();
    for line in std::str::from_utf8(lines).ok()?.lines() {
        let mut row: Value = serde_json::from_str(line).ok()?;
        let digest = row["case"]
            .as_str()
            .and_then(|case| Case::parse(case, 0, &Mapping::NONE, Location::new("file", 1)).ok());
        let digest = digest.map(|case| case.digest().to_string());
        for (column, right) in [("plan", Some(plan)), ("case_digest", digest.as_ref())] {
            if let (Some(RIGHT), Some(right)) = (row[column].as_str(), right) {
                row[column] = right.as_str().into();
            }
        }
        rows.extend(serde_json::to_vec(&row).ok()?);
        rows.push(b'\n');
    }
    let mut reader = arrow_json::ReaderBuilder::new(schema.clone()).build(&rows[..]).ok()?;
    let mut writer = ArrowWriter::try_new(Vec::new(), schema.clone(), None).unwrap();
    reader.try_for_each(|batch| writer.write(&batch.ok()?).ok())?;
    writer.into_inner().ok()
}

/// The digest of the first shard's plan, and its columns.
fn first() -> &'static (String, SchemaRef) {
    static FIRST_SHARD: OnceLock<(String, SchemaRef)> = OnceLock::new();
    FIRST_SHARD.get_or_init(|| {
        let path = folder().join("first");
        fs::write(&path, FIRST).unwrap();
        let file = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
        let shards = Shards::open(&[path], Named::default()).unwrap();
        (shards.plan().digest().to_string(), file.schema().clone())
    })
}

/// The folder for the files: in memory if there is such a folder, because they are rewritten for every input.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let in_memory = || tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    FOLDER.get_or_init(|| in_memory().unwrap()).path()
}
