//! Opens the shards of one run, checks their plans against each other, and reads their rows one at a time. It leaves to
//! `duplicates` what happens to a case that is in two of them.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use scorebox::{case::Location, digest::Digest};

use crate::{
    error::ShardError,
    input::{Rows, open_parquet},
    plan::Plan,
    reading::{Batch, Checked},
    schema::{CREATED_BY, INPUT_KEY, PLAN_KEY, SCHEMA_VERSION, VERSION_KEY},
    seal::{self, Seal, Sealing},
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
    /// Whether it was put together from other shards.
    is_merged: bool,
    /// The plan that they must name: one that counts as that of the others, which may call a component otherwise.
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
            of.push(OfFile { is_merged: is_merged(&builder), plan: own.digest(), is_named });
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

    /// Those that were put together from other shards: each counts as one, whatever it is made of.
    pub fn merged(&self) -> impl Iterator<Item = &Path> {
        let all = self.paths.iter().zip(&self.of);
        all.filter(|(_, of)| of.is_merged).map(|(path, _)| path.as_path())
    }

    /// All of them, by their numbers.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The shard of this number.
    pub(crate) fn path(&self, shard: u32) -> &Path {
        &self.paths[shard as usize]
    }

    pub(crate) fn plan_digest(&self) -> Digest {
        self.plan_digest
    }

    /// Hands over all rows, shard by shard, until `take` refuses one. Whether a shard has its seal is known after its
    /// last row.
    pub(crate) fn for_each(
        &self,
        mut take: impl FnMut(At, Checked) -> Result<(), ShardError>,
    ) -> Result<(), ShardError> {
        for ((shard, path), of) in (0..).zip(&self.paths).zip(&self.of) {
            let name = path.display().to_string();
            let builder = open_parquet(path)?;
            let mut seal = Unsealing::begin(&builder);
            let mut before = 0;
            for batch in Rows::of(path, builder)? {
                let batch = batch?;
                seal.add(&batch);
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
            if !seal.holds() {
                return Err(ShardError::BrokenSeal { path: path.clone() });
            }
        }
        Ok(())
    }
}

/// The seal of a file, and what its rows say so far; `None` if it has none.
struct Unsealing(Option<(Seal, Sealing)>);

impl Unsealing {
    fn begin(builder: &ParquetRecordBatchReaderBuilder<File>) -> Unsealing {
        let file = builder.metadata().file_metadata();
        let plan = value(builder, PLAN_KEY).unwrap_or_default();
        let sealing = || Sealing::begin(plan, seal::input_of(file));
        Unsealing(Seal::of(file).map(|seal| (seal, sealing())))
    }

    fn add(&mut self, batch: &RecordBatch) {
        if let Some((_, sealing)) = &mut self.0 {
            // What is not results is refused as such.
            let _ = sealing.add(batch);
        }
    }

    fn holds(self) -> bool {
        self.0.is_none_or(|(seal, sealing)| sealing.finish() == seal)
    }
}

/// Holds the plan that a shard names against what is said of it.
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

/// Whether scorebox wrote the file, and not from an input of cases.
fn is_merged(builder: &ParquetRecordBatchReaderBuilder<File>) -> bool {
    let metadata = builder.metadata().file_metadata();
    let mut keys = metadata.key_value_metadata().into_iter().flatten().map(|pair| &pair.key);
    metadata.created_by() == Some(CREATED_BY) && !keys.any(|key| key == INPUT_KEY)
}

/// The plan that a file names; `None` if it names none.
fn plan_of(
    path: &Path,
    builder: &ParquetRecordBatchReaderBuilder<File>,
) -> Result<Option<Plan>, ShardError> {
    let refused = |why: String| ShardError::NotAShard { path: path.to_owned(), why };
    let Some(plan) = value(builder, PLAN_KEY) else { return Ok(None) };
    let version = value(builder, VERSION_KEY).unwrap_or_default();
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

/// What a file says under this key, in its own metadata or in that of its Arrow schema.
fn value<'b>(builder: &'b ParquetRecordBatchReaderBuilder<File>, key: &str) -> Option<&'b str> {
    let pairs = builder.metadata().file_metadata().key_value_metadata();
    let stored = pairs.into_iter().flatten().find(|pair| pair.key == key);
    let stored = stored.and_then(|pair| pair.value.as_deref());
    stored.or_else(|| builder.schema().metadata().get(key).map(String::as_str))
}
