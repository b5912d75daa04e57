//! One score computed anew, with everything checked that it is made of. Writes nothing.

use std::{sync::Arc, time::Duration};

use crate::{
    case::{Case, Key},
    contract::{ScorerInfo, ScorerInput},
    digest::Digest,
    row::{Answer, Status},
    sandbox::{Grant, Limits, LoadedScorer, Sandbox, ScorerConfig, Start, WASMTIME_VERSION},
    store::{CaseContent, ScoreRecord, ScorerSpec, Store, StoreError},
};

use super::{
    Difference, Finding, Unproved, Verdict,
    answer::{self, JsonAs},
};

/// A scorer of a run, loaded again; or why that cannot be.
pub(super) struct Rescorer(Result<LoadedScorer, Verdict>);

impl Rescorer {
    pub(super) fn unusable(reason: String) -> Rescorer {
        Rescorer(Err(Verdict::NotVerifiable { reason }))
    }

    /// Loads what a run stored of a scorer.
    pub(super) async fn load(
        store: &Store,
        spec: &ScorerSpec,
        sandbox: &Sandbox,
    ) -> Result<Rescorer, StoreError> {
        let Some(component) = store.component(spec.component_digest)? else {
            return Ok(Rescorer::unusable("its component is not in the database".into()));
        };
        let actual = Digest::of(&component);
        if actual != spec.component_digest {
            return Ok(Rescorer(Err(Verdict::different(
                "component",
                spec.component_digest.to_string(),
                actual.to_string(),
            ))));
        }
        let actual = Digest::of(spec.config_json.as_bytes());
        if actual != spec.config_digest {
            return Ok(Rescorer(Err(Verdict::different(
                "configuration",
                spec.config_digest.to_string(),
                actual.to_string(),
            ))));
        }
        let (limits, grants) = match (parse(&spec.limits_json), parse(&spec.grants_json)) {
            (Ok(limits), Ok(grants)) => (limits, grants),
            (Err(reason), _) | (_, Err(reason)) => return Ok(Rescorer::unusable(reason)),
        };
        let rescorer = Rescorer::of(&component, &spec.config_json, &limits, grants, sandbox).await;
        Ok(match rescorer.0 {
            Ok(loaded) => Rescorer(described_otherwise(spec, &loaded).map_or(Ok(loaded), Err)),
            unusable => Rescorer(unusable),
        })
    }

    /// Loads a component that is the right one.
    pub(super) async fn of(
        component: &[u8],
        config: &str,
        limits: &Limits,
        grants: Vec<Grant>,
        sandbox: &Sandbox,
    ) -> Rescorer {
        if let Some(reason) = beyond_reason(limits) {
            return Rescorer::unusable(reason);
        }
        let config = match serde_json::from_str(config) {
            Ok(object) => ScorerConfig::new(&object),
            Err(error) => {
                return Rescorer::unusable(format!("its configuration is not an object: {error}"));
            }
        };
        let loaded = sandbox.load(component, &config, limits, grants.into_iter().collect()).await;
        match loaded {
            Ok(loaded) => Rescorer(Ok(loaded)),
            Err(error) => Rescorer::unusable(format!("its scorer cannot be loaded: {error}")),
        }
    }

    /// The scorer; or what is to be said of all that it scored.
    pub(super) fn scorer(&self) -> Result<&LoadedScorer, &Verdict> {
        self.0.as_ref()
    }

    /// Scores the case and compares.
    pub(super) async fn verdict(
        &self,
        case: &Case,
        input_digest: Option<Digest>,
        stored: &Answer,
        json_as: JsonAs,
        wasmtime_version: &str,
    ) -> Verdict {
        if stored.status == Status::Skipped {
            return Verdict::NotVerifiable { reason: "it was skipped: nothing ran".into() };
        }
        if answer::is_a_time_out(stored) {
            let reason = "it timed out, which depends on the machine".into();
            return Verdict::NotVerifiable { reason };
        }
        let scorer = match &self.0 {
            Ok(scorer) => scorer,
            Err(verdict) => return verdict.clone(),
        };
        let folder = case.task_folder();
        if folder.is_some() && scorer.lacks().any(|grant| grant == Grant::Workspace) {
            let reason =
                "it looked at files, which are not stored, and no folder with them is named";
            return Verdict::NotVerifiable { reason: reason.into() };
        }
        let input = case.scorer_input(scorer.info().reads);
        let input = ScorerInput { workspace: folder.as_ref(), ..input };
        let outcome = scorer.score(input).await;
        let actual = input.digest(outcome.files);
        let computed = Answer::from(outcome);
        // Where the time was over while the files were read, there is no digest of them to compare.
        if answer::is_a_time_out(&computed) {
            return Verdict::NotVerifiable { reason: "computing it again timed out".into() };
        }
        let Some(expected) = input_digest else {
            return Verdict::NotVerifiable {
                reason: "the digest of its input is not stored".into(),
            };
        };
        if actual != expected {
            return Verdict::different("input", expected.to_string(), actual.to_string());
        }
        let same_wasmtime = wasmtime_version == WASMTIME_VERSION;
        Verdict::of(answer::differences(stored, &computed, json_as, same_wasmtime))
    }
}

/// The verdicts of a group of rows, in their order, `jobs` at once.
pub(super) async fn all(
    group: Vec<(Arc<Rescorer>, ScoreRecord, CaseContent)>,
    jobs: usize,
) -> Vec<Finding> {
    let turns = Arc::new(tokio::sync::Semaphore::new(jobs.max(1)));
    let tasks: Vec<_> = group
        .into_iter()
        .map(|(rescorer, record, content)| {
            let turns = Arc::clone(&turns);
            let score_id = record.id.to_string();
            let unproved = unproved_of(&record.wasmtime_version);
            let task = tokio::spawn(async move {
                let _turn = turns.acquire().await;
                verdict_of_row(&rescorer, &record, &content).await
            });
            (score_id, unproved, task)
        })
        .collect();
    let mut findings = Vec::with_capacity(tasks.len());
    for (score_id, unproved, task) in tasks {
        let verdict = task.await.unwrap_or_else(|error| Verdict::NotVerifiable {
            reason: format!("computing it broke: {error}"),
        });
        findings.push(Finding::new(score_id, verdict).leaving(unproved.iter().copied()));
    }
    findings
}

/// What of a row that this version of wasmtime computed is not compared.
pub(super) fn unproved_of(wasmtime_version: &str) -> &'static [Unproved] {
    match wasmtime_version == WASMTIME_VERSION {
        true => &[],
        false => &Unproved::UNDER_ANOTHER_WASMTIME,
    }
}

async fn verdict_of_row(
    rescorer: &Rescorer,
    record: &ScoreRecord,
    content: &CaseContent,
) -> Verdict {
    let unreadable = |reason: String| Verdict::NotVerifiable { reason };
    let case = match rebuilt(content) {
        Ok(case) => case,
        Err(reason) => return unreadable(format!("its case cannot be read: {reason}")),
    };
    let actual = case.digest();
    if actual != content.digest {
        return Verdict::different("case", content.digest.to_string(), actual.to_string());
    }
    match answer::stored(record) {
        Ok(stored) => {
            let (input, wasmtime) = (record.row.input_digest, &record.wasmtime_version);
            rescorer.verdict(&case, input, &stored, JsonAs::Text, wasmtime).await
        }
        Err(reason) => unreadable(reason),
    }
}

/// The case, as scorers see it, from what is stored of it.
pub(super) fn rebuilt(content: &CaseContent) -> Result<Case, String> {
    let mut builder = Case::builder().json(Key::Output, &content.output);
    for (field, json) in content.parts.iter() {
        builder = builder.json(field.into(), json);
    }
    if let Some(latency) = content.latency_ms {
        builder = builder.json(Key::LatencyMs, latency.to_string());
    }
    if let Some(folder) = &content.workspace {
        builder = builder.text(Key::Workspace, folder);
    }
    builder.build().map_err(|error| error.to_string())
}

/// What is stored of a scorer is what the component says of itself: it decides whether a score passes.
fn described_otherwise(spec: &ScorerSpec, loaded: &LoadedScorer) -> Option<Verdict> {
    let info = loaded.info();
    let threshold = |threshold: Option<f64>| threshold.map(|it| (it + 0.0).to_string());
    let text = |text: &str| Some(text.to_owned());
    let stored_info = serde_json::from_str::<ScorerInfo>(&spec.info_json).ok();
    let compared = [
        ("component id", text(&spec.component_id), text(&info.id)),
        ("component version", text(&spec.component_version), text(&info.version)),
        ("scale", text(spec.scale.as_str()), text(info.scale.as_str())),
        ("direction", text(spec.direction.as_str()), text(info.direction.as_str())),
        ("severity", text(spec.severity.as_str()), text(info.severity.as_str())),
        ("threshold", threshold(spec.threshold), threshold(info.threshold)),
        ("start", start(spec.frozen), start(*loaded.start() == Start::Frozen)),
    ];
    let other = compared.into_iter().filter(|(_, stored, computed)| stored != computed);
    let mut differences: Vec<_> =
        other.map(|(what, stored, computed)| Difference::of(what, stored, computed)).collect();
    if stored_info.as_ref() != Some(info) && differences.is_empty() {
        let computed = serde_json::to_string(info).unwrap_or_default();
        differences.push(Difference::new("description", spec.info_json.clone(), computed));
    }
    (!differences.is_empty()).then_some(Verdict::Different { differences })
}

/// Where every score starts, in a word.
fn start(frozen: bool) -> Option<String> {
    Some(if frozen { "frozen" } else { "configured each time" }.to_owned())
}

/// Why limits that stand in a stranger's file are not taken: this machine is to work, and to hold texts, no
/// longer and no larger than this.
fn beyond_reason(limits: &Limits) -> Option<String> {
    const MOST_TIME: Duration = Duration::from_secs(600);
    const MOST_BYTES: usize = 64 << 20;
    const MOST_ITEMS: usize = 100_000;
    let over = [
        ("timeout", limits.timeout > MOST_TIME),
        ("reason", limits.reason_bytes > MOST_BYTES),
        ("meta", limits.meta_bytes > MOST_BYTES),
        ("log", limits.log_bytes > MOST_BYTES),
        ("assertions", limits.assertions > MOST_ITEMS),
        ("log lines", limits.log_lines > MOST_ITEMS),
    ];
    let (name, _) = over.into_iter().find(|(_, over)| *over)?;
    Some(format!(
        "its limit `{name}` is beyond what is computed again: 10 minutes, 64 MiB of text, 100000 assertions"
    ))
}

fn parse<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, String> {
    serde_json::from_str(json)
        .map_err(|error| format!("what is stored of its scorer is damaged: {error}"))
}
