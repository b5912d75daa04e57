//! Merges the rows of all shards, each case once, in the order of the shards, into one file, which is a shard of the
//! same run. It leaves to `duplicates` which row of a case is kept.

use std::{
    io::{self, BufWriter, Write},
    ops::ControlFlow,
    path::Path,
};

use scorebox::case::Case;

use crate::{
    duplicates::Duplicates,
    error::{ShardError, unless_stopped},
    expected::must_be_all_but,
    output::{Output, There},
    results::{WideRow, batches},
    shard::Results,
    shards::Shards,
};

/// The number of rows that are written at a time.
const ROWS_AT_ONCE: usize = 256;

/// Shards whose cases were compared, ready to be merged.
#[derive(Debug)]
pub struct Merge {
    pub(crate) shards: Shards,
    pub(crate) duplicates: Duplicates,
}

impl Merge {
    /// Compares the cases of the shards. `progress` receives how many rows have been read so far, and may stop it.
    ///
    /// # Errors
    /// The same as for [`Duplicates::find`].
    pub fn of(
        shards: Shards,
        progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Merge, ShardError> {
        let duplicates = Duplicates::find(&shards, progress)?;
        Ok(Merge { shards, duplicates })
    }

    /// The shards.
    pub fn shards(&self) -> &Shards {
        &self.shards
    }

    /// The cases that are in several rows.
    pub fn duplicates(&self) -> &Duplicates {
        &self.duplicates
    }

    /// Refuses another number of shards than `expected`, as [`must_be_all`](crate::must_be_all) does, where shards of
    /// which others have every case count as none: one that was copied, or merged into another.
    ///
    /// # Errors
    /// [`ShardError::NotAll`].
    pub fn must_be_all(&self, expected: u64) -> Result<(), ShardError> {
        must_be_all_but(self.shards.paths(), &self.duplicates.without_own, expected)
    }

    /// Refuses to choose between results that differ.
    pub(crate) fn must_agree(&self) -> Result<(), ShardError> {
        match self.duplicates.different {
            0 => Ok(()),
            count => Err(ShardError::Different {
                count,
                in_one_shard: self.duplicates.differ_in_one_shard(),
            }),
        }
    }

    /// Passes on the rows that are kept.
    pub(crate) fn for_each(
        &self,
        mut take: impl FnMut(&WideRow, &Case) -> Result<(), ShardError>,
    ) -> Result<(), ShardError> {
        self.shards.for_each(|at, checked| match self.duplicates.kept(at, &checked.row) {
            Some(row) => take(row, &checked.case),
            None => Ok(()),
        })
    }
}

/// Writes all cases, each once, as one shard; returns how many there are. `progress` receives how many cases have been
/// written so far, and may stop it.
///
/// # Errors
/// [`ShardError::Different`]; [`ShardError::Stopped`]; a shard cannot be read, or the output cannot be written.
pub fn merge_into_file(
    merge: &Merge,
    out: &mut (dyn Write + Send),
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<u64, ShardError> {
    merge.must_agree()?;
    let (schema, plan) = (merge.shards.plan().schema(), merge.shards.plan_digest());
    let mut results = Results::begin(out, &schema, None)?;
    let (mut rows, mut count) = (Vec::with_capacity(ROWS_AT_ONCE), 0);
    let mut put = |rows: &mut Vec<WideRow>| {
        for batch in batches(&schema, plan, rows)? {
            results.put(&batch).map_err(ShardError::Write)?;
        }
        rows.clear();
        Ok(())
    };
    merge.for_each(|row, _| {
        rows.push(row.clone());
        count += 1;
        unless_stopped(progress(count))?;
        match rows.len() {
            ROWS_AT_ONCE => put(&mut rows),
            _ => Ok(()),
        }
    })?;
    put(&mut rows)?;
    results.finish().map_err(ShardError::Write)?;
    Ok(count)
}

/// The same into the file with this name, which it gets when it is complete. Unless `replaces` is set, an existing file
/// with that name is kept. A device or a pipe is written to directly.
///
/// # Errors
/// The same as for [`merge_into_file`]; [`ShardError::File`]: the file exists, or cannot be written.
pub fn merge_into_new_file(
    merge: &Merge,
    path: &Path,
    replaces: bool,
    progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<u64, ShardError> {
    let failed = |error: io::Error| ShardError::File { path: path.to_owned(), error };
    if !replaces && There::at(path).map_err(failed)? == There::File {
        return Err(failed(io::ErrorKind::AlreadyExists.into()));
    }
    let mut out = BufWriter::new(Output::begin(path).map_err(failed)?);
    let count = merge_into_file(merge, &mut out, progress)?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.finish(replaces).map_err(failed)?;
    Ok(count)
}
