//! Stores the rows of shards as a run in a database, with the components of the plan. Contains no SQL, and computes
//! only the summaries of scorers over all rows of a run.

use std::{
    collections::{BinaryHeap, HashSet},
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use scorebox::{
    case::Case,
    component_bytes::ComponentBytes,
    contract::{Assertion, LogLine},
    digest::Digest,
    now::now_ms,
    registry::{Reference, Registry},
    row::{Json, Status},
    run::{case_to_store, summary_to_store},
    sandbox::{Grant, Limits, Sandbox, ScorerConfig},
    store::{
        CaseAdded, NewScore, Outcome, RunId, RunState, RunWriter, ScorerSpec, SessionSpec, Store,
        StoreError,
    },
};

use crate::{
    error::{ShardError, unless_stopped},
    merging::Merge,
    plan::Plan,
    results::{ScorerResult, WideRow},
};

/// The number of rows after which a transaction is committed, because others may be waiting to write.
const BATCH_ROWS: u64 = 10_000;

/// A run that was merged from shards.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MergedRun {
    /// The run's id.
    pub id: RunId,
    /// How many cases the run has.
    pub cases: u64,
    /// One digest of everything that is stored of the run.
    pub root: Digest,
    /// The scorers that summarized the run.
    pub summarized: Vec<String>,
}

/// Stores all cases, each once, as a run of the database, which is created if it does not exist. An interrupted merge
/// is continued. Scorers that summarize a run are called at the end, in `sandbox`. `progress` receives how many cases
/// have been stored so far, and may stop the merge: the next merge then continues it.
///
/// # Errors
/// [`ShardError::Different`]; [`ShardError::NoCases`]; [`ShardError::Stopped`]; [`ShardError::NoComponent`] and
/// [`ShardError::AnotherComponent`]: the components are stored with the run, and one is not here; [`ShardError::OtherRun`]; [`StoreError::Finished`]: another
/// merge finished the run meanwhile, and its root stays; troubles of reading and writing.
pub async fn merge_into_database(
    merge: &Merge,
    database: &Path,
    registry: &Registry,
    sandbox: &Sandbox,
    progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<MergedRun, ShardError> {
    merge.must_agree()?;
    if merge.duplicates.cases == 0 {
        return Err(ShardError::NoCases { shards: merge.shards.count() });
    }
    let plan = merge.shards.plan();
    let specs = with_components(plan, registry)?;
    let id = run_id(plan)?;
    let mut writer = open(database, &id, plan, &specs)?.until_finished();
    let cases = write(&mut writer, &id, progress, |take| merge.for_each(take))?;
    must_be_all(&writer, &id, cases)?;
    writer.commit()?;
    for name in &plan.summaries {
        let index = specs.iter().position(|spec| spec.scorer_id == *name);
        if let Some(index) = index {
            summarize(&mut writer, index, &specs[index], sandbox).await?;
        }
    }
    // Another merge may have added cases of other shards in the meantime.
    writer.hold()?;
    must_be_all(&writer, &id, cases)?;
    let root = writer.finish(RunState::Finished, None, now_ms())?;
    Ok(MergedRun { id, cases, root, summarized: plan.summaries.clone() })
}

/// Stores a random sample of this many cases as a run of a new database, which is not a complete run; returns its id. A
/// case with several rows is in it once, as in a merge.
///
/// # Errors
/// The same as for [`merge_into_database`].
pub fn sample_of_shards(
    merge: &Merge,
    cases: u64,
    seed: u64,
    database: &Path,
    registry: &Registry,
) -> Result<RunId, ShardError> {
    merge.must_agree()?;
    let plan = merge.shards.plan();
    let specs = with_components(plan, registry)?;
    let sample = sample(merge, cases, seed)?;
    let id = run_id(plan)?;
    let mut writer = open(database, &id, plan, &specs)?;
    write(
        &mut writer,
        &id,
        |_| ControlFlow::Continue(()),
        |take| {
            merge.for_each(|row, case| match sample.contains(&drawn(row, seed)) {
                true => take(row, case),
                false => Ok(()),
            })
        },
    )?;
    writer.finish(RunState::Interrupted, None, now_ms())?;
    Ok(id)
}

/// The digests of the cases of a sample: the smallest ones of all.
fn sample(merge: &Merge, cases: u64, seed: u64) -> Result<HashSet<[u8; 32]>, ShardError> {
    let mut taken: BinaryHeap<[u8; 32]> = BinaryHeap::new();
    merge.for_each(|row, _| {
        taken.push(drawn(row, seed));
        if taken.len() as u64 > cases {
            taken.pop();
        }
        Ok(())
    })?;
    Ok(taken.into_iter().collect())
}

/// The digest of a case's name with the seed, which decides whether the case is in the sample.
fn drawn(row: &WideRow, seed: u64) -> [u8; 32] {
    let (seed, iteration) = (seed.to_le_bytes(), u64::from(row.iteration).to_le_bytes());
    let attempt = row.attempt.to_le_bytes();
    *Digest::of_parts([&seed[..], row.id.as_bytes(), &iteration, &attempt]).as_bytes()
}

fn must_be_all(writer: &RunWriter, id: &RunId, cases: u64) -> Result<(), ShardError> {
    let stored = writer.store().case_count(writer.run().key)?;
    if stored == cases {
        return Ok(());
    }
    let why = format!("it has {stored} cases, and the shards have {cases}");
    Err(ShardError::OtherRun { run: id.to_string(), why })
}

fn run_id(plan: &Plan) -> Result<RunId, ShardError> {
    Ok(plan.run_id.parse::<RunId>()?)
}

/// The scorers with their components, which are built in or in the same files as when the shards were made.
fn with_components(plan: &Plan, registry: &Registry) -> Result<Vec<ScorerSpec>, ShardError> {
    let found = |spec: &ScorerSpec, digest: Digest, origin: &str| {
        let (scorer, origin_text) = (spec.scorer_id.clone(), origin.to_owned());
        match component(registry, origin, digest) {
            Some(component) if component.digest() == digest => Ok(component),
            Some(other) => Err(ShardError::AnotherComponent {
                scorer,
                origin: origin_text,
                digest: digest.to_string(),
                there: other.digest().to_string(),
            }),
            None => Err(ShardError::NoComponent {
                scorer,
                origin: origin_text,
                digest: digest.to_string(),
            }),
        }
    };
    let with = |spec: &ScorerSpec| {
        let mut spec = spec.clone();
        let component = found(&spec, spec.component_digest, &spec.component_origin)?;
        spec.component = Some(component);
        if let Some(digest) = spec.condition.as_ref().map(|it| it.component_digest) {
            let component = found(&spec, digest, "built-in")?;
            if let Some(condition) = &mut spec.condition {
                condition.component = Some(component);
            }
        }
        Ok(spec)
    };
    plan.scorers.iter().map(with).collect()
}

/// The component of this digest, or else the one that its file has now.
fn component(registry: &Registry, origin: &str, digest: Digest) -> Option<ComponentBytes> {
    if let Some(known) = registry.built_in(digest).or_else(|| registry.fetched(digest)) {
        return Some(known.component);
    }
    // A shard may come from a stranger, so its path may name a pipe, and opening a pipe would wait for a writer.
    let file = Some(PathBuf::from(origin)).filter(|path| path.is_file())?;
    Some(registry.resolve(&Reference::File(file)).ok()?.component)
}

/// Opens a writer of the run: a new one, or one that continues an interrupted merge.
fn open(
    database: &Path,
    id: &RunId,
    plan: &Plan,
    specs: &[ScorerSpec],
) -> Result<RunWriter, ShardError> {
    let mut store = Store::open(database)?;
    let session = SessionSpec {
        engine_version: plan.engine_version.clone(),
        wasmtime_version: plan.wasmtime_version.clone(),
        host: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        started_at_ms: now_ms(),
    };
    let there = match store.run(id.as_str()) {
        Ok(there) => there,
        Err(StoreError::NoSuchRun { .. }) => {
            let run = store.create_run(&plan.run_spec(id.clone(), now_ms()), specs, &session)?;
            return Ok(RunWriter::new(store, run));
        }
        Err(error) => return Err(error.into()),
    };
    if there.state == RunState::Finished {
        let (path, id) = (store.path().to_owned(), id.to_string());
        return Err(StoreError::RunExists { path, id }.into());
    }
    let other = |why: String| ShardError::OtherRun { run: id.to_string(), why };
    let mut stored = plan.clone();
    stored.suite_json.clone_from(&there.spec.suite_json);
    stored.suite_digest = there.spec.suite_digest;
    stored.engine_version = there.spec.engine_version;
    stored.wasmtime_version = there.spec.wasmtime_version;
    stored.contract_version = there.spec.contract_version;
    stored.scorers = store.scorers(there.key)?.into_iter().map(|scorer| scorer.spec).collect();
    if let Some(difference) = stored.difference(plan) {
        return Err(other(difference));
    }
    let run = store.resume_run(id.as_str(), &session)?;
    Ok(RunWriter::new(store, run))
}

/// A function that takes a row with its case.
type Take<'a> = &'a mut dyn FnMut(&WideRow, &Case) -> Result<(), ShardError>;

/// Stores the rows that `each` passes on; returns how many there were.
fn write(
    writer: &mut RunWriter,
    id: &RunId,
    mut progress: impl FnMut(u64) -> ControlFlow<()>,
    each: impl FnOnce(Take<'_>) -> Result<(), ShardError>,
) -> Result<u64, ShardError> {
    let (mut cases, mut rows) = (0, 0);
    each(&mut |row, case| {
        put(writer, id, cases, row, case)?;
        cases += 1;
        rows += 1 + row.results.len() as u64;
        if rows >= BATCH_ROWS {
            writer.commit()?;
            rows = 0;
        }
        unless_stopped(progress(cases))
    })?;
    Ok(cases)
}

fn put(
    writer: &mut RunWriter,
    id: &RunId,
    ordinal: u64,
    row: &WideRow,
    case: &Case,
) -> Result<(), ShardError> {
    let added = writer.add_case(&case_to_store(case, ordinal, row.case_digest))?;
    let key = match added {
        CaseAdded::New(key) | CaseAdded::Known(key) => key,
        _ => {
            let why = format!("the case `{}` is not in its place there", case.id());
            return Err(ShardError::OtherRun { run: id.to_string(), why });
        }
    };
    for (index, result) in row.results.iter().enumerate() {
        let scorer = writer.run().scorers[index];
        with_score(result, case, |score| writer.add_score(key, scorer, score))?;
    }
    Ok(())
}

/// Passes the result on in the form that is stored.
fn with_score<T>(
    result: &ScorerResult,
    case: &Case,
    store: impl FnOnce(&NewScore<'_>) -> Result<T, StoreError>,
) -> Result<T, ShardError> {
    let answer = &result.answer;
    let damaged = |what: &str, error: serde_json::Error| ShardError::DamagedRow {
        path: case.source().into(),
        row: case.line(),
        why: format!("{what} of `{}`: {error}", result.scorer),
    };
    let assertions: Vec<Assertion> =
        answer.assertions().map_err(|error| damaged("the assertions", error))?;
    let log: Vec<LogLine> = answer.log().map_err(|error| damaged("the log", error))?;
    let (label, reason) = (answer.label.as_deref(), answer.reason.as_deref());
    let meta = answer.meta.as_ref().map(Json::get);
    let outcome = match (answer.status, answer.score, &answer.error) {
        (Status::Scored, Some(score), _) => {
            Outcome::Scored { score, label, reason, meta, assertions: &assertions }
        }
        (Status::Error, _, Some(error)) => {
            Outcome::Error { kind: &error.kind, message: &error.message, reason }
        }
        (Status::Skipped, ..) => Outcome::Skipped { reason },
        // The reader has refused all others.
        _ => Outcome::NotApplicable { label, reason, meta },
    };
    Ok(store(&NewScore {
        outcome,
        fuel: answer.fuel,
        memory_bytes: answer.memory_bytes,
        duration_ms: answer.duration_ms.unwrap_or_default(),
        scored_at_ms: result.scored_at_ms,
        log: &log,
        input_digest: result.input_digest,
        calls: &[],
    })?)
}

/// Has a scorer summarize all rows, and stores the summary.
async fn summarize(
    writer: &mut RunWriter,
    index: usize,
    spec: &ScorerSpec,
    sandbox: &Sandbox,
) -> Result<(), ShardError> {
    let damaged = |what: &str, error: serde_json::Error| ShardError::OtherRun {
        run: spec.scorer_id.clone(),
        why: format!("{what} cannot be read: {error}"),
    };
    let config = serde_json::from_str(&spec.config_json);
    let config = ScorerConfig::new(&config.map_err(|error| damaged("its configuration", error))?);
    let limits: Limits =
        serde_json::from_str(&spec.limits_json).map_err(|error| damaged("its limits", error))?;
    let grants: Vec<Grant> =
        serde_json::from_str(&spec.grants_json).map_err(|error| damaged("its grants", error))?;
    let component = spec.component.as_ref().ok_or_else(|| ShardError::NoComponent {
        scorer: spec.scorer_id.clone(),
        origin: spec.component_origin.clone(),
        digest: spec.component_digest.to_string(),
    })?;
    let loaded = sandbox.load(component, &config, &limits, grants.into_iter().collect());
    let loaded = loaded.await.map_err(|error| ShardError::Summary {
        scorer: spec.scorer_id.clone(),
        error: Box::new(error),
    })?;
    let mut rows = loaded.summary_rows();
    let (run, scorer) = (writer.run().key, writer.run().scorers[index]);
    writer.store().for_each_scored_row(run, scorer, |row| rows.add(row))?;
    let Some(summary) = loaded.summarize(&rows).await else { return Ok(()) };
    writer.put_summary(scorer, &summary_to_store(&summary))?;
    Ok(writer.commit()?)
}
