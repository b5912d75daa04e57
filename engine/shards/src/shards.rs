//! Opens the shards of one run, checks their plans against each other, and reads their rows one at a time. It leaves to
//! `duplicates` what happens to a case that is in two of them.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use scorebox::{case::Location, digest::Digest};

use crate::{
    error::ShardError,
    input::{Rows, open_parquet},
    plan::Plan,
    reading::{Batch, Checked},
    schema::{PLAN_KEY, SCHEMA_VERSION, VERSION_KEY},
};

/// What a user states about shards; anything else is read from them.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "callers make it")]
pub struct Named<'a> {
    /// The plan of files that a data engine wrote without one; files that have a plan must have one of the same suite,
    /// whatever its seed is.
    pub plan: Option<&'a Plan>,
    /// The run that the shards belong to.
    pub run: Option<&'a str>,
    /// The seed of their sampling.
    pub seed: Option<&'a str>,
}

/// The shards of one run.
#[derive(Debug)]
pub struct Shards {
    paths: Vec<PathBuf>,
    /// What the rows of each file belong to.
    of: Vec<OfFile>,
    plan: Plan,
    plan_digest: Digest,
    rows: u64,
}

/// What the rows of a file belong to.
#[derive(Clone, Copy, Debug)]
struct OfFile {
    /// The plan that the rows must name: it counts as the same as the plan of the other files, but may name a component
    /// differently.
    plan: Digest,
    /// Whether the file itself contains the plan.
    is_named: bool,
}

/// The position of a row: the number of the shard, and that of the row in it, both from 0.
pub(crate) type At = (u32, u64);

impl Shards {
    /// Opens shards, in this order.
    ///
    /// # Errors
    /// [`ShardError::NoShards`]; one cannot be read, is cut off or is not a shard; [`ShardError::Mixed`]: they do not
    /// belong to one run; [`ShardError::NotThePlan`]: they do not match what the user states.
    pub fn open(paths: &[PathBuf], named: Named<'_>) -> Result<Shards, ShardError> {
        let mut first: Option<(PathBuf, Plan)> = None;
        let (mut rows, mut of) = (0, Vec::with_capacity(paths.len()));
        for path in paths {
            let builder = open_parquet(path)?;
            rows +=
                u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or_default();
            let own = plan_of(path, &builder)?;
            let is_named = own.is_some();
            let own = match (own, named.plan) {
                (Some(own), _) => {
                    must_be(path, &own, named)?;
                    own
                }
                (None, Some(given)) => given.clone(),
                (None, None) => {
                    let why = "it does not name the plan that it was scored with".to_owned();
                    return Err(ShardError::NotAShard { path: path.clone(), why });
                }
            };
            of.push(OfFile { plan: own.digest(), is_named });
            match &first {
                None => first = Some((path.clone(), own)),
                Some((one, known)) => {
                    if let Some(difference) = known.difference(&own) {
                        let (one, other) = (one.clone(), path.clone());
                        return Err(ShardError::Mixed { one, other, difference });
                    }
                }
            }
        }
        let (_, plan) = first.ok_or(ShardError::NoShards)?;
        let plan_digest = plan.digest();
        Ok(Shards { paths: paths.to_vec(), of, plan, plan_digest, rows })
    }

    /// The plan that the shards were scored with.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The number of rows that the shards state, with repeated cases counted each time.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of shards.
    pub fn count(&self) -> usize {
        self.paths.len()
    }

    /// The path of the shard with this number.
    pub(crate) fn path(&self, shard: u32) -> &Path {
        &self.paths[shard as usize]
    }

    pub(crate) fn plan_digest(&self) -> Digest {
        self.plan_digest
    }

    /// Passes on all rows, shard by shard, until `take` returns an error.
    pub(crate) fn for_each(
        &self,
        mut take: impl FnMut(At, Checked) -> Result<(), ShardError>,
    ) -> Result<(), ShardError> {
        for ((shard, path), of) in (0..).zip(&self.paths).zip(&self.of) {
            let name = path.display().to_string();
            let builder = open_parquet(path)?;
            let mut before = 0;
            for batch in Rows::of(path, builder)? {
                let batch = batch?;
                let rows = Batch::of(&batch, &self.plan, of.plan)
                    .map_err(|why| ShardError::NotAShard { path: path.clone(), why })?;
                for index in 0..batch.num_rows() {
                    let row = before + index as u64;
                    if let (false, Some(difference)) = (of.is_named, rows.difference_of_plan(index))
                    {
                        return Err(ShardError::NotThePlan { path: path.clone(), difference });
                    }
                    let checked = rows.row(index, Location::new(name.as_str(), row + 1));
                    let checked = checked.map_err(|why| ShardError::DamagedRow {
                        path: path.clone(),
                        row: row + 1,
                        why,
                    })?;
                    take((shard, row), checked)?;
                }
                before += batch.num_rows() as u64;
            }
        }
        Ok(())
    }
}

/// Compares the plan of a shard with what the user states.
fn must_be(path: &Path, own: &Plan, named: Named<'_>) -> Result<(), ShardError> {
    let own_seed = own.seed.as_deref().unwrap_or_default();
    let run = named.run.filter(|run| *run != own.run_id);
    let seed = named.seed.filter(|seed| *seed != own_seed);
    let difference = match (run, seed) {
        (Some(run), _) => Some(format!("the run is `{}`, not `{run}`", own.run_id)),
        (None, Some(seed)) => Some(format!("the seed is `{own_seed}`, not `{seed}`")),
        (None, None) => named.plan.and_then(|plan| plan.difference_of_suite(own)),
    };
    let refused = |difference| ShardError::NotThePlan { path: path.to_owned(), difference };
    difference.map(refused).map_or(Ok(()), Err)
}

/// Opens a shard, and reads its plan.
pub(crate) fn open_shard(
    path: &Path,
) -> Result<(Plan, ParquetRecordBatchReaderBuilder<File>), ShardError> {
    let builder = open_parquet(path)?;
    match plan_of(path, &builder)? {
        Some(plan) => Ok((plan, builder)),
        None => {
            let why = "it does not name the plan that it was scored with".to_owned();
            Err(ShardError::NotAShard { path: path.to_owned(), why })
        }
    }
}

/// The plan that a file contains; `None` if it contains none.
fn plan_of(
    path: &Path,
    builder: &ParquetRecordBatchReaderBuilder<File>,
) -> Result<Option<Plan>, ShardError> {
    let refused = |why: String| ShardError::NotAShard { path: path.to_owned(), why };
    let pairs = builder.metadata().file_metadata().key_value_metadata();
    let value = |key: &str| {
        let stored = pairs.into_iter().flatten().find(|pair| pair.key == key);
        let stored = stored.and_then(|pair| pair.value.as_deref());
        stored.or_else(|| builder.schema().metadata().get(key).map(String::as_str))
    };
    let Some(plan) = value(PLAN_KEY) else { return Ok(None) };
    let version = value(VERSION_KEY).unwrap_or_default();
    if version != SCHEMA_VERSION.to_string() {
        return Err(refused(format!(
            "its schema has the version `{version}`, and this scorebox reads {SCHEMA_VERSION}"
        )));
    }
    let plan: Plan = serde_json::from_str(plan)
        .map_err(|error| refused(format!("its plan cannot be read: {error}")))?;
    match plan.fault() {
        Some(why) => Err(refused(why)),
        None => Ok(Some(plan)),
    }
}
