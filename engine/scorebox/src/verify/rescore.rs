//! A scorer of a run, loaded again with everything checked that it is made of; and the findings for its
//! scores before they are computed and after. Computes and writes nothing.

use std::{sync::Arc, time::Duration};

use crate::{
    advice::{Advice, Thing},
    case::{Case, Key},
    contract::ScorerInfo,
    digest::Digest,
    row::{Answer, Row, Status},
    sandbox::{Grant, Limits, LoadedScorer, Sandbox, ScorerConfig, Start, WASMTIME_VERSION},
    store::{CaseContent, ScorerSpec, Store, StoreError},
    suite::{Draw, Selection, Skip},
};

use super::{
    Difference, Unproved, Verdict,
    answer::{self, JsonAs},
};

/// A scorer of a run, loaded again; or why that cannot be.
pub(super) struct Rescorer {
    loaded: Result<Arc<LoadedScorer>, Verdict>,
    /// Which cases it is for.
    selection: Selection,
    /// What samples are drawn with; `None` if an older scorebox made the run, and nothing was drawn.
    seed: Option<String>,
}

impl Rescorer {
    pub(super) fn unusable(reason: String) -> Rescorer {
        Rescorer::new(Err(Verdict::not_verifiable(reason)))
    }

    fn new(loaded: Result<Arc<LoadedScorer>, Verdict>) -> Rescorer {
        Rescorer { loaded, selection: Selection::default(), seed: None }
    }

    /// Loads what a run stored of a scorer. Samples are drawn with the run's seed.
    pub(super) async fn load(
        store: &Store,
        spec: &ScorerSpec,
        seed: Option<&str>,
        sandbox: &Sandbox,
    ) -> Result<Rescorer, StoreError> {
        let selection =
            Selection::from_json(spec.sampling_json.as_deref(), spec.nodes_json.as_deref());
        let selection = match selection {
            Ok(selection) => selection,
            Err(reason) => {
                let reason = format!("which cases its scorer is for is damaged: {reason}");
                return Ok(Rescorer::unusable(reason));
            }
        };
        let loaded = Rescorer::load_whole(store, spec, sandbox).await?;
        Ok(Rescorer { selection, seed: seed.map(str::to_owned), ..loaded })
    }

    async fn load_whole(
        store: &Store,
        spec: &ScorerSpec,
        sandbox: &Sandbox,
    ) -> Result<Rescorer, StoreError> {
        let Some(component) = store.component(spec.component_digest)? else {
            return Ok(Rescorer::unusable("its component is not in the database".into()));
        };
        let actual = Digest::of(&component);
        if actual != spec.component_digest {
            return Ok(Rescorer::new(Err(Verdict::different(
                "component",
                spec.component_digest.to_string(),
                actual.to_string(),
            ))));
        }
        let actual = Digest::of(spec.config_json.as_bytes());
        if actual != spec.config_digest {
            return Ok(Rescorer::new(Err(Verdict::different(
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
        Ok(Rescorer::new(
            rescorer
                .loaded
                .and_then(|loaded| described_otherwise(spec, &loaded).map_or(Ok(loaded), Err)),
        ))
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
            Ok(loaded) => Rescorer::new(Ok(Arc::new(loaded))),
            Err(error) => Rescorer::unusable(format!("its scorer cannot be loaded: {error}")),
        }
    }

    /// The scorer; or the finding for all that it scored.
    pub(super) fn scorer(&self) -> Result<&Arc<LoadedScorer>, &Verdict> {
        self.loaded.as_ref()
    }

    /// What is to be said of a row without computing its score: that the scorer skips the case as it should be, or
    /// that it should be and is not. `None` if the score is to be computed. `skip` is why the case is not to be judged.
    pub(super) fn of_skipped(&self, row: &Row, skip: Option<&str>) -> Option<Verdict> {
        let draw = Draw {
            seed: self.seed.as_deref().unwrap_or_default(),
            case_id: &row.case_id,
            iteration: row.iteration,
            attempt: row.attempt,
            scorer_id: &row.scorer_id,
        };
        let node = row.node_id.as_deref().unwrap_or(&row.case_id);
        let why = match skip {
            Some(_) => Some(Skip::Case),
            None => self.selection.skips(node, &draw),
        };
        let is_skipped = row.answer.status == Status::Skipped;
        let expected = match why {
            Some(why) => Answer {
                reason: Some(why.reason(skip).into_owned()),
                ..Answer::new(Status::Skipped)
            },
            None if !is_skipped => return None,
            None if self.seed.is_none() => {
                return Some(Verdict::not_verifiable("it was skipped: nothing ran"));
            }
            None => {
                let status = Status::Skipped.as_str().to_owned();
                return Some(Verdict::different("status", status, "not skipped".to_owned()));
            }
        };
        let mut differences = answer::differences(&row.answer, &expected, JsonAs::Text, true);
        if let Some(digest) = row.input_digest {
            differences.push(Difference::of("input", Some(digest.to_string()), None));
        }
        Some(Verdict::of(differences))
    }

    /// The scorer, if the score can be computed again.
    ///
    /// # Errors
    /// The finding for the score without computing it.
    pub(super) fn for_score(
        &self,
        case: &Case,
        stored: &Answer,
    ) -> Result<&Arc<LoadedScorer>, Verdict> {
        if answer::is_a_time_out(stored) {
            return Err(Verdict::not_verifiable("it timed out, which depends on the machine"));
        }
        let scorer = self.scorer().map_err(Verdict::clone)?;
        if case.workspace().is_some() && scorer.lacks().any(|grant| grant == Grant::Workspace) {
            return Err(Verdict::NotVerifiable {
                reason: "it looked at files, which are not stored".to_owned(),
                advice: Some(Advice::Name(Thing::Workspaces)),
            });
        }
        Ok(scorer)
    }
}

/// A score as it is stored or in a receipt.
pub(super) struct StoredScore<'a> {
    pub(super) answer: &'a Answer,
    pub(super) json_as: JsonAs,
    pub(super) input_digest: Option<Digest>,
    pub(super) wasmtime_version: &'a str,
}

impl StoredScore<'_> {
    /// Compares with what was computed of an input with the digest `actual`.
    pub(super) fn compared_with(&self, computed: &Answer, actual: Digest) -> Verdict {
        // If the time was over while the files were read, there is no digest of them to compare.
        if answer::is_a_time_out(computed) {
            return Verdict::not_verifiable("computing it again timed out");
        }
        let Some(expected) = self.input_digest else {
            return Verdict::not_verifiable("the digest of its input is not stored");
        };
        if actual != expected {
            return Verdict::different("input", expected.to_string(), actual.to_string());
        }
        let same_wasmtime = self.wasmtime_version == WASMTIME_VERSION;
        Verdict::of(answer::differences(self.answer, computed, self.json_as, same_wasmtime))
    }
}

/// What of a row that this version of wasmtime computed is not compared.
pub(super) fn unproved_of(wasmtime_version: &str) -> &'static [Unproved] {
    match wasmtime_version == WASMTIME_VERSION {
        true => &[],
        false => &Unproved::UNDER_ANOTHER_WASMTIME,
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

/// What is stored of a scorer is what the component says about itself: it decides whether a score passes.
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
        ("severity", text(spec.declared_severity.as_str()), text(info.severity.as_str())),
        ("threshold", threshold(spec.declared_threshold), threshold(info.threshold)),
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
        ("host-timeout", limits.host_timeout > MOST_TIME),
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
