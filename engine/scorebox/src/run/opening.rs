//! The beginning of a run: the first case, the database, the results of earlier sessions and runs. It scores nothing.

use std::{path::Path, sync::Arc};

use crate::{
    contract::CONTRACT_VERSION,
    now::now_ms,
    sandbox::{Start, WASMTIME_VERSION},
    store::{
        ConditionSpec, OnlyWriter, ReuseIndex, RunHandle, RunId, RunSource, RunSpec, RunState,
        RunWriter, ScorerSpec, SessionSpec, Store,
    },
    suite::Suite,
};

use super::{
    Control, ENGINE_VERSION, Event, OnBadCase, ReadyScorer, RunError, Started, WhichRun,
    case_source::CaseSource,
    event::Sinks,
    gathering::Gathered,
    json,
    keeping::{Keeper, Unstored},
    message::RunScorers,
    reading::Cases,
    reuse::{Given, Reuse},
    same_plan::must_be_the_same,
    selecting::Selecting,
    waiting::Waiting,
};

/// The parts that are opened.
pub(super) struct Opening {
    pub(super) cases: CaseSource,
    pub(super) source: RunSource,
    pub(super) database: Option<std::path::PathBuf>,
    pub(super) which: WhichRun,
    pub(super) suite: Suite,
    pub(super) reuse: bool,
    pub(super) waiting: Option<Waiting>,
    pub(super) on_bad_case: OnBadCase,
    pub(super) sinks: Sinks,
    pub(super) scorers: RunScorers,
    /// Collects the rows, if no database is named and a program wants all of them.
    pub(super) gathered: Option<Gathered>,
}

/// A run that has begun.
pub(super) struct Opened {
    pub(super) cases: Cases,
    pub(super) keeper: Keeper,
    pub(super) sinks: Sinks,
    /// The state that the run had before, if it existed.
    pub(super) state_before: Option<RunState>,
}

impl Opening {
    /// Reads up to the first case, opens the database, and reports that the run has begun. Blocks the thread.
    pub(super) fn open(mut self, control: &Arc<Control>) -> Result<Opened, RunError> {
        self.must_fit()?;
        let selecting = Selecting::new(self.suite.seed(), &self.scorers);
        let (source, on_bad_case, run_id) = (self.cases, self.on_bad_case, self.which.id());
        let scorers = &self.scorers;
        let mut cases = Cases::begin(
            source,
            on_bad_case,
            selecting,
            scorers,
            run_id,
            control,
            &mut self.sinks,
        )?;
        if !self.sinks.is_empty() {
            cases.note_beginnings(self.scorers.len());
        }
        let is_resumed = matches!(self.which, WhichRun::Resume(_));
        let (keeper, state_before) = match &self.database {
            None if is_resumed => {
                return Err(RunError::NothingToResume { run: self.which.id().clone() });
            }
            None => match self.gathered {
                Some(rows) => (Keeper::Program(rows), None),
                None => (Keeper::Memory(Unstored::new(&self.scorers)), None),
            },
            Some(database) => {
                let mut store = Store::open(database)?;
                // A process that hands over cases one by one waits already; a batch can be started again.
                let (live, batch) = match self.source {
                    RunSource::Live => (self.waiting, None),
                    RunSource::Batch => (None, self.waiting),
                };
                live.into_iter().for_each(|waiting| waiting.begin(&mut store, control));
                let spec = run_spec(self.which.id(), &self.suite, self.source);
                let only = is_resumed.then(|| OnlyWriter::take(database, self.which.id()));
                let (run, state) =
                    open_run(&mut store, &self.which, spec, &self.suite, &self.scorers)?;
                // If the id of a new run is already in use, that error must come first.
                let only = only.unwrap_or_else(|| OnlyWriter::take(database, self.which.id()))?;
                batch.into_iter().for_each(|waiting| waiting.begin(&mut store, control));
                if is_resumed {
                    cases.skip_finished(Store::open_read_only(database)?, run.clone());
                }
                if self.reuse {
                    cases.reuse(reuse(database, &run, &self.scorers)?);
                }
                (Keeper::Database(Box::new(RunWriter::new(store, run).alone(only))), state)
            }
        };
        let started = Event::Started(Started {
            run_id: self.which.id().clone(),
            is_resumed,
            scorer_ids: self.scorers.iter().map(|ready| ready.id.clone()).collect(),
            scorers_cached: self.scorers.iter().filter(|it| it.scorer.cached()).count(),
            at_ms: now_ms(),
        });
        self.sinks.take(&started, control);
        Ok(Opened { cases, keeper, sinks: self.sinks, state_before })
    }

    /// Refuses scorers other than those of the resumed run, before the first case, which may take long to come.
    fn must_fit(&self) -> Result<(), RunError> {
        let (WhichRun::Resume(id), Some(database)) = (&self.which, &self.database) else {
            return Ok(());
        };
        let store = Store::open(database)?;
        let run = store.run(id.as_str())?;
        must_be_the_same(&run, &store.scorers(run.key)?, self.suite.seed(), &self.scorers)
    }
}

fn reuse(database: &Path, run: &RunHandle, scorers: &RunScorers) -> Result<Reuse, RunError> {
    let reader = Store::open_read_only(database)?;
    let index = ReuseIndex::new(reader, run, WASMTIME_VERSION)?;
    // The content of a folder is known only when it is read for scoring.
    let reads = scorers.iter().zip(&run.scorers).enumerate();
    // A result is known only when it exists, and whether a scorer applies to a case only after its condition was
    // evaluated. A judge's answers are recorded, so computing such a score again asks no judge.
    let reads = reads.filter(|(_, (ready, _))| {
        !(ready.scorer.reads_workspace() || ready.scorer.asks_judge())
            && ready.subject.is_none()
            && ready.condition.is_none()
    });
    let reads = reads.map(|(index, (ready, scorer))| Given {
        index,
        scorer: *scorer,
        output_from: ready.output_from.clone(),
        reads: ready.scorer.info().reads,
    });
    Ok(Reuse::new(index, reads.collect()))
}

/// The run to write, and the state that it had if it existed before.
fn open_run(
    store: &mut Store,
    which: &WhichRun,
    spec: RunSpec,
    suite: &Suite,
    scorers: &[ReadyScorer],
) -> Result<(RunHandle, Option<RunState>), RunError> {
    match which {
        WhichRun::New(_) => {
            let specs: Vec<ScorerSpec> = scorers.iter().map(scorer_spec).collect();
            Ok((store.create_run(&spec, &specs, &session_spec())?, None))
        }
        WhichRun::Resume(id) => {
            let run = store.run(id.as_str())?;
            must_be_the_same(&run, &store.scorers(run.key)?, suite.seed(), scorers)?;
            Ok((store.resume_run(id.as_str(), &session_spec())?, Some(run.state)))
        }
    }
}

pub(super) fn run_spec(id: &RunId, suite: &Suite, source: RunSource) -> RunSpec {
    RunSpec {
        id: id.clone(),
        suite_name: Some(suite.name.clone()),
        suite_json: suite.to_json(),
        suite_digest: suite.digest(),
        engine_version: ENGINE_VERSION.to_owned(),
        wasmtime_version: WASMTIME_VERSION.to_owned(),
        contract_version: CONTRACT_VERSION.to_owned(),
        source,
        seed: Some(suite.seed().to_owned()),
        created_at_ms: now_ms(),
    }
}

fn session_spec() -> SessionSpec {
    SessionSpec {
        engine_version: ENGINE_VERSION.to_owned(),
        wasmtime_version: WASMTIME_VERSION.to_owned(),
        host: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        started_at_ms: now_ms(),
    }
}

pub(super) fn scorer_spec(ready: &ReadyScorer) -> ScorerSpec {
    let info = ready.scorer.info();
    ScorerSpec {
        scorer_id: ready.id.to_string(),
        name: ready.name.clone(),
        component_id: info.id.clone(),
        component_version: info.version.clone(),
        component_digest: ready.scorer.digest(),
        component: Some(ready.component.clone()),
        component_origin: ready.origin.to_string(),
        config_json: ready.scorer.config().as_str().to_owned(),
        config_digest: ready.scorer.config().digest(),
        limits_json: json(ready.scorer.limits()),
        grants_json: json(&ready.grants.iter().collect::<Vec<_>>()),
        info_json: json(info),
        scale: info.scale,
        direction: info.direction,
        severity: ready.policy.severity(),
        threshold: ready.policy.threshold(),
        declared_severity: info.severity,
        declared_threshold: info.threshold,
        softened: ready.policy.softens_assertions(),
        weight: ready.policy.weight(),
        required: ready.policy.is_required(),
        sampling_json: ready.selection.sampling_json(),
        nodes_json: ready.selection.nodes_json(),
        output_from: ready.output_from.as_ref().map(ToString::to_string),
        subject: ready.subject.as_ref().map(ToString::to_string),
        condition: ready.condition.as_ref().map(|condition| ConditionSpec {
            component_digest: condition.scorer.digest(),
            component: Some(condition.component.clone()),
            config_json: condition.scorer.config().as_str().to_owned(),
            limits_json: json(condition.scorer.limits()),
        }),
        judge_json: ready.scorer.judge().map(json),
        frozen: *ready.scorer.start() == Start::Frozen,
    }
}
