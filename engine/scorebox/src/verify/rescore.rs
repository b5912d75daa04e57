//! A scorer of a run, loaded again with checks of everything that decides its scores; and the findings for its scores,
//! before and after they are computed. It computes and writes nothing.

use std::{sync::Arc, time::Duration};

use crate::{
    advice::{Advice, Thing},
    case::{Case, CasePointer, Key},
    component_bytes::ComponentBytes,
    contract::ScorerInfo,
    digest::Digest,
    judge::JudgeIdentity,
    row::{Answer, Row, Status},
    sandbox::{
        Grant, Limits, LoadedScorer, Outcome, Sandbox, ScorerConfig, Start, WASMTIME_VERSION,
    },
    store::{CaseContent, ScorerKey, ScorerRecord, ScorerSpec, Store, StoreError},
    suite::{Draw, Selection, Skip},
};

use super::{
    Difference, Unproved, Verdict,
    answer::{self, JsonAs},
};

/// A scorer of a run, loaded again; or why it cannot be loaded.
pub(super) struct Rescorer {
    loaded: Result<Arc<LoadedScorer>, Verdict>,
    /// Decides which cases it scores, by their content.
    condition: Option<Arc<LoadedScorer>>,
    /// The position in a case of the value that it is given as the output.
    output_from: Option<Arc<CasePointer>>,
    /// The scorer whose results it scores.
    subject: Option<ScorerKey>,
    /// Which cases it scores.
    selection: Selection,
    /// The seed for sampling; `None` if an older scorebox made the run, which drew no samples.
    seed: Option<String>,
}

impl Rescorer {
    pub(super) fn unusable(reason: String) -> Rescorer {
        Rescorer::new(Err(Verdict::not_verifiable(reason)))
    }

    pub(super) fn new(loaded: Result<Arc<LoadedScorer>, Verdict>) -> Rescorer {
        let (condition, subject, selection) = (None, None, Selection::default());
        Rescorer { loaded, condition, output_from: None, subject, selection, seed: None }
    }

    /// Loads a scorer of a run from the stored data. Samples are drawn with the run's seed.
    pub(super) async fn load(
        store: &Store,
        spec: &ScorerSpec,
        scorers: &[ScorerRecord],
        seed: Option<&str>,
        sandbox: &Sandbox,
    ) -> Result<Rescorer, StoreError> {
        let of = |id: &String| scorers.iter().find(|scorer| scorer.spec.scorer_id == *id);
        let subject = match spec.subject.as_ref().map(|id| of(id).ok_or(id)).transpose() {
            Ok(subject) => subject.map(|scorer| scorer.key),
            Err(id) => {
                let reason = format!("the scorer `{id}`, whose results it scores, is not stored");
                return Ok(Rescorer::unusable(reason));
            }
        };
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
        let seed = seed.map(str::to_owned);
        let loaded = Rescorer { subject, selection, seed, ..loaded };
        let Some(condition) = &spec.condition else { return Ok(loaded) };
        let stored = Stored {
            component: condition.component_digest,
            config_json: &condition.config_json,
            config_digest: Digest::of(condition.config_json.as_bytes()),
            limits_json: &condition.limits_json,
            grants_json: "[]",
            judge_json: None,
        };
        Ok(match stored.load(store, sandbox).await?.loaded {
            Ok(condition) => Rescorer { condition: Some(condition), ..loaded },
            Err(Verdict::NotVerifiable { reason, .. }) => {
                Rescorer::unusable(format!("its `when` cannot be asked: {reason}"))
            }
            Err(verdict) => Rescorer::new(Err(verdict)),
        })
    }

    async fn load_whole(
        store: &Store,
        spec: &ScorerSpec,
        sandbox: &Sandbox,
    ) -> Result<Rescorer, StoreError> {
        let rescorer = Stored::of(spec).load(store, sandbox).await?;
        let as_described = Rescorer::new(
            rescorer
                .loaded
                .and_then(|loaded| described_otherwise(spec, &loaded).map_or(Ok(loaded), Err)),
        );
        Ok(as_described.given_as(spec))
    }

    /// Loads another component with the configuration, the limits and the grants of a scorer of a run.
    pub(super) async fn in_place_of(
        spec: &ScorerSpec,
        component: &ComponentBytes,
        sandbox: &Sandbox,
    ) -> Rescorer {
        Stored::of(spec).load_of(component, sandbox).await.given_as(spec)
    }

    /// The same, with the input that the scorer of a run is given.
    fn given_as(self, spec: &ScorerSpec) -> Rescorer {
        match spec.output_from.as_deref().map(str::parse).transpose() {
            Ok(pointer) => Rescorer { output_from: pointer.map(Arc::new), ..self },
            Err(error) => Rescorer::unusable(format!("its `on` is damaged: {error}")),
        }
    }

    /// Loads a component that is known to be the right one.
    pub(super) async fn of(
        component: &ComponentBytes,
        config: &str,
        judge: Option<&JudgeIdentity>,
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
            Ok(loaded) if loaded.asks_judge() => {
                match judge.and_then(|judge| loaded.with_recorded_judge(judge)) {
                    Some(loaded) => Rescorer::new(Ok(Arc::new(loaded))),
                    None => Rescorer::unusable("which judge it asked is not known".into()),
                }
            }
            Ok(loaded) => Rescorer::new(Ok(Arc::new(loaded))),
            Err(error) => Rescorer::unusable(format!("its scorer cannot be loaded: {error}")),
        }
    }

    /// Whether the scorer asks a judge.
    pub(super) fn asks_judge(&self) -> bool {
        self.loaded.as_ref().is_ok_and(|loaded| loaded.asks_judge())
    }

    /// The scorer; or the finding for all of its scores.
    pub(super) fn scorer(&self) -> Result<&Arc<LoadedScorer>, &Verdict> {
        self.loaded.as_ref()
    }

    /// The scorer that decides which cases it scores.
    pub(super) fn condition(&self) -> Option<&Arc<LoadedScorer>> {
        self.condition.as_ref()
    }

    /// The position in a case of the value that it is given as the output.
    pub(super) fn output_from(&self) -> Option<&Arc<CasePointer>> {
        self.output_from.as_ref()
    }

    /// The scorer whose results it scores.
    pub(super) fn subject(&self) -> Option<ScorerKey> {
        self.subject
    }

    /// The finding for a row without computing its score: the scorer skips the case, or did not run as it should, or
    /// the reverse. `None` if something must be computed. `skip` is why the case must not be judged, `failure` why
    /// there is no output to score because the task failed.
    pub(super) fn of_unscored(
        &self,
        row: &Row,
        skip: Option<&str>,
        failure: Option<&str>,
    ) -> Option<Verdict> {
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
        // The condition is not evaluated for a missing result. A scorer that could not be loaded has no seed, and its
        // condition is not known.
        let is_clear = self.seed.is_some() && (self.condition.is_none() || self.subject.is_some());
        let expected = match (why, failure) {
            (Some(why), _) => skipped(why, skip),
            (None, Some(failure)) if is_clear => Outcome::of_failed_task(failure).into(),
            // Whether it scores the case must be computed, or follows from another row.
            _ if !is_skipped || self.condition.is_some() || self.subject.is_some() => {
                return None;
            }
            _ if self.seed.is_none() => {
                return Some(Verdict::not_verifiable("it was skipped: nothing ran"));
            }
            _ => {
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

    /// The scorer, if the score can be computed again for a case with or without files.
    ///
    /// # Errors
    /// The finding for the score if it cannot be computed.
    pub(super) fn for_score(
        &self,
        names_files: bool,
        stored: &Answer,
    ) -> Result<&Arc<LoadedScorer>, Verdict> {
        if answer::is_a_time_out(stored) {
            return Err(Verdict::not_verifiable("it timed out, which depends on the machine"));
        }
        let scorer = self.scorer().map_err(Verdict::clone)?;
        // A scorer that asks no judge always has an answer.
        if self.asks_judge() && answer::is_without_a_judge(stored) {
            return Err(Verdict::not_verifiable(
                "a judge had no answer, which another time it may have",
            ));
        }
        if names_files && scorer.lacks().any(|grant| grant == Grant::Workspace) {
            return Err(Verdict::NotVerifiable {
                reason: "it looked at files, which are not stored".to_owned(),
                advice: Some(Advice::Name(Thing::Workspaces)),
            });
        }
        Ok(scorer)
    }
}

/// The stored data of a component to load again.
struct Stored<'s> {
    component: Digest,
    config_json: &'s str,
    config_digest: Digest,
    limits_json: &'s str,
    grants_json: &'s str,
    judge_json: Option<&'s str>,
}

impl<'s> Stored<'s> {
    fn of(spec: &'s ScorerSpec) -> Stored<'s> {
        Stored {
            component: spec.component_digest,
            config_json: &spec.config_json,
            config_digest: spec.config_digest,
            limits_json: &spec.limits_json,
            grants_json: &spec.grants_json,
            judge_json: spec.judge_json.as_deref(),
        }
    }

    async fn load(&self, store: &Store, sandbox: &Sandbox) -> Result<Rescorer, StoreError> {
        let Some(component) = store.component(self.component)?.map(ComponentBytes::new) else {
            return Ok(Rescorer::unusable("its component is not in the database".into()));
        };
        let of = |text: &str| Digest::of(text.as_bytes());
        let digests = [
            ("component", self.component, component.digest()),
            ("configuration", self.config_digest, of(self.config_json)),
        ];
        if let Some((what, stored, actual)) = digests.into_iter().find(|(_, a, b)| a != b) {
            let verdict = Verdict::different(what, stored.to_string(), actual.to_string());
            return Ok(Rescorer::new(Err(verdict)));
        }
        Ok(self.load_of(&component, sandbox).await)
    }

    async fn load_of(&self, component: &ComponentBytes, sandbox: &Sandbox) -> Rescorer {
        let (limits, grants) = match (parse(self.limits_json), parse(self.grants_json)) {
            (Ok(limits), Ok(grants)) => (limits, grants),
            (Err(reason), _) | (_, Err(reason)) => return Rescorer::unusable(reason),
        };
        let judge = match self.judge_json.map(parse).transpose() {
            Ok(judge) => judge,
            Err(reason) => return Rescorer::unusable(reason),
        };
        Rescorer::of(component, self.config_json, judge.as_ref(), &limits, grants, sandbox).await
    }
}

/// A score from the database or from a receipt.
pub(super) struct StoredScore<'a> {
    pub(super) answer: &'a Answer,
    pub(super) json_as: JsonAs,
    pub(super) input_digest: Option<Digest>,
    pub(super) wasmtime_version: &'a str,
}

impl StoredScore<'_> {
    /// Compares with the answer of a scorer that was given no input.
    pub(super) fn compared_without_input(&self, computed: &Answer) -> Verdict {
        if let Some(why) = answer::not_computed(computed) {
            return Verdict::not_verifiable(why);
        }
        let same_wasmtime = self.wasmtime_version == WASMTIME_VERSION;
        let mut found = answer::differences(self.answer, computed, self.json_as, same_wasmtime);
        if let Some(digest) = self.input_digest {
            found.push(Difference::of("input", Some(digest.to_string()), None));
        }
        Verdict::of(found)
    }

    /// Compares with the answer that was computed from an input with the digest `actual`.
    pub(super) fn compared_with(&self, computed: &Answer, actual: Digest) -> Verdict {
        // If the time was over while the files were read, there is no digest of them to compare.
        if let Some(why) = answer::not_computed(computed) {
            return Verdict::not_verifiable(why);
        }
        let Some(expected) = self.input_digest else {
            if self.answer.status == Status::Skipped || self.answer.is_of_failed_task() {
                return self.compared_without_input(computed);
            }
            return Verdict::not_verifiable("the digest of its input is not stored");
        };
        if actual != expected {
            return Verdict::different("input", expected.to_string(), actual.to_string());
        }
        let same_wasmtime = self.wasmtime_version == WASMTIME_VERSION;
        Verdict::of(answer::differences(self.answer, computed, self.json_as, same_wasmtime))
    }
}

/// The answer of a scorer that skips a case. `of_case` is the reason in the case, if there is one.
pub(super) fn skipped(skip: Skip, of_case: Option<&str>) -> Answer {
    Answer { reason: Some(skip.reason(of_case).into_owned()), ..Answer::new(Status::Skipped) }
}

/// The parts of a row that are not compared, given the version of wasmtime that computed it.
pub(super) fn unproved_of(wasmtime_version: &str) -> &'static [Unproved] {
    match wasmtime_version == WASMTIME_VERSION {
        true => &[],
        false => &Unproved::UNDER_ANOTHER_WASMTIME,
    }
}

/// The case, as scorers see it, from its stored parts.
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
    if let Some(why) = &content.error {
        builder = builder.text(Key::Error, why);
    }
    builder.build().map_err(|error| error.to_string())
}

/// The difference, if the stored description of a scorer is not what the component declares: it decides whether a score
/// passes.
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

/// The state from which every score starts, in a word.
fn start(frozen: bool) -> Option<String> {
    Some(if frozen { "frozen" } else { "configured each time" }.to_owned())
}

/// Why limits in a stranger's file are refused: this machine must not compute for longer, or keep larger texts, than
/// these limits.
fn beyond_reason(limits: &Limits) -> Option<String> {
    const MAX_TIME: Duration = Duration::from_secs(600);
    const MAX_BYTES: usize = 64 << 20;
    const MAX_ITEMS: usize = 100_000;
    let over = [
        ("timeout", limits.timeout > MAX_TIME),
        ("host-timeout", limits.host_timeout > MAX_TIME),
        ("reason", limits.reason_bytes > MAX_BYTES),
        ("meta", limits.meta_bytes > MAX_BYTES),
        ("log", limits.log_bytes > MAX_BYTES),
        ("assertions", limits.assertions > MAX_ITEMS),
        ("log lines", limits.log_lines > MAX_ITEMS),
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
