//! Small runs, cases and scores for the tests of this room. It makes no assertions.

use tempfile::TempDir;

use super::{
    CaseAdded, CaseKey, NewCase, NewScore, Outcome, RunSource, RunSpec, RunWriter, ScorerSpec,
    SessionSpec, Store,
};
use crate::{
    component_bytes::ComponentBytes,
    contract::{Direction, Parts, Scale, Severity},
    digest::Digest,
};

/// A folder with a database; the folder is deleted when this value is dropped.
pub(super) fn database() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("scores.db")).unwrap();
    (folder, store)
}

pub(super) fn run(id: &str) -> RunSpec {
    RunSpec {
        id: id.parse().unwrap(),
        suite_name: Some("smoke".into()),
        suite_json: r#"{"scorers":{}}"#.into(),
        suite_digest: Digest::of(b"suite"),
        engine_version: "0.1.0".into(),
        wasmtime_version: "48.0.8".into(),
        contract_version: "0.1.0".into(),
        source: RunSource::Batch,
        seed: Some("smoke".into()),
        created_at_ms: 1_700_000_000_000,
    }
}

pub(super) fn scorer(id: &str) -> ScorerSpec {
    ScorerSpec {
        judge_json: None,
        scorer_id: id.into(),
        name: format!("Scorer {id}"),
        component_id: id.into(),
        component_version: "1.2.3".into(),
        component_digest: Digest::of(id.as_bytes()),
        component: Some(ComponentBytes::new(id.as_bytes().to_vec())),
        component_origin: "built-in".into(),
        config_json: "{}".into(),
        config_digest: Digest::of(b"{}"),
        limits_json: "{}".into(),
        grants_json: "[]".into(),
        info_json: "{}".into(),
        scale: Scale::Unit,
        direction: Direction::HigherIsBetter,
        severity: Severity::Soft,
        threshold: None,
        declared_severity: Severity::Soft,
        declared_threshold: None,
        softened: false,
        weight: 1.0,
        required: false,
        sampling_json: None,
        nodes_json: None,
        output_from: None,
        subject: None,
        condition: None,
        frozen: true,
    }
}

pub(super) fn session() -> SessionSpec {
    SessionSpec {
        engine_version: "0.1.0".into(),
        wasmtime_version: "48.0.8".into(),
        host: "x86_64-linux".into(),
        started_at_ms: 1_700_000_000_000,
    }
}

pub(super) fn case(ordinal: u64, case_id: &str) -> NewCase<'_> {
    NewCase {
        ordinal,
        case_id,
        node_id: None,
        iteration: 0,
        attempt: 0,
        source_name: "cases.jsonl",
        source_line: ordinal.saturating_add(1),
        latency_ms: None,
        digest: Digest::of(case_id.as_bytes()),
        output: r#""Paris""#,
        parts: Parts::NONE,
        workspace: None,
        other: None,
        skip: None,
        error: None,
    }
}

pub(super) fn row(outcome: Outcome<'_>) -> NewScore<'_> {
    NewScore {
        calls: &[],
        outcome,
        fuel: Some(1000),
        memory_bytes: Some(65536),
        duration_ms: 0.25,
        scored_at_ms: 1_700_000_000_001,
        log: &[],
        input_digest: None,
    }
}

pub(super) fn scored(score: f64) -> NewScore<'static> {
    row(Outcome::Scored { score, label: None, reason: None, meta: None, assertions: &[] })
}

pub(super) fn error() -> NewScore<'static> {
    row(Outcome::Error { kind: "trap", message: "unreachable", reason: None })
}

/// A writer of a new run with these scorers.
pub(super) fn writer(mut store: Store, run_id: &str, scorers: &[&str]) -> RunWriter {
    let scorers: Vec<_> = scorers.iter().map(|id| scorer(id)).collect();
    let run = store.create_run(&run(run_id), &scorers, &session()).unwrap();
    RunWriter::new(store, run)
}

/// Adds a case that must be new, and returns its key.
pub(super) fn added(writer: &mut RunWriter, case: &NewCase<'_>) -> CaseKey {
    match writer.add_case(case).unwrap() {
        CaseAdded::New(key) => key,
        other => panic!("{other:?}"),
    }
}
