//! [`LoadedScorer`]: what is known of a loaded scorer, and its access to a judge. It loads and scores nothing.

use std::{fmt, time::Duration};

use wasmtime::component::ComponentExportIndex;

use crate::{
    advice::{Advice, Thing},
    contract::ScorerInfo,
    digest::Digest,
    judge::{Asker, JudgeChoice, JudgeIdentity, Judges},
};

use super::{
    Anatomy, ErrorKind, Grant, Grants, Limits, Sandbox, ScoreError, core_call::Trust, image::Image,
    named_model, scorer_config::ScorerConfig,
};

/// Where every score of a scorer starts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is frozen, or it is not")]
pub enum Start {
    /// From the memory that `configure` left.
    Frozen,
    /// Without an image: `configure` runs in every sandbox.
    ConfigureEachTime {
        /// Why it could not be frozen.
        reason: String,
    },
}

/// A scorer that is compiled, described, configured and ready to score.
pub struct LoadedScorer {
    pub(super) sandbox: Sandbox,
    pub(super) image: Image,
    pub(super) configure_each_time: Option<String>,
    pub(super) info: ScorerInfo,
    pub(super) limits: Limits,
    /// The function `summarize`, if the scorer has it.
    pub(super) summarize: Option<ComponentExportIndex>,
    /// Whether `score` is called without the component, if that is possible.
    pub(super) trust: Trust,
    /// The grants that its imports need.
    pub(super) needs: Grants,
    /// Whether its clocks and random numbers must be derived from the case.
    pub(super) seeded: bool,
    /// Its access to a judge.
    pub(super) asker: Option<Asker>,
    pub(super) anatomy: Anatomy,
    pub(super) digest: Digest,
    pub(super) config: ScorerConfig,
    pub(super) start: Start,
    pub(super) own_code: Option<String>,
    pub(super) cached: bool,
    pub(super) load_time: Duration,
}

impl fmt::Debug for LoadedScorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedScorer")
            .field("id", &self.info.id)
            .field("digest", &self.digest)
            .field("config", &self.config)
            .field("limits", &self.limits)
            .field("start", &self.start)
            .field("cached", &self.cached)
            .finish_non_exhaustive()
    }
}

impl LoadedScorer {
    /// What the scorer reports about itself.
    pub fn info(&self) -> &ScorerInfo {
        &self.info
    }

    /// The digest of the component as it was given, before it was frozen.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The component as seen from outside.
    pub fn anatomy(&self) -> &Anatomy {
        &self.anatomy
    }

    /// The configuration.
    pub fn config(&self) -> &ScorerConfig {
        &self.config
    }

    /// What one score may use.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether it also summarizes a run as a whole.
    pub fn summarizes(&self) -> bool {
        self.summarize.is_some()
    }

    /// Whether it reads the files that a task left.
    pub fn reads_workspace(&self) -> bool {
        self.needs.contains(Grant::Workspace)
    }

    /// Whether it asks a judge.
    pub fn asks_judge(&self) -> bool {
        self.needs.contains(Grant::Judge)
    }

    /// This scorer, with access to the judge of its sandbox that `choice` names. Without access, a scorer that asks a
    /// judge has no score.
    ///
    /// # Errors
    /// There is no such judge, or the scorer's configuration names a model that it may not name.
    pub fn with_judge(self, choice: JudgeChoice) -> Result<LoadedScorer, ScoreError> {
        let judges = self.sandbox.capabilities().judges();
        let is_there = |name: &&str| judges.names().any(|known| known == *name);
        let missing = choice.names().into_iter().find(|name| !is_there(name));
        let name = missing.unwrap_or(choice.name()).to_owned();
        let Some(asker) = judges.asker(choice) else {
            let names: Vec<String> = judges.names().map(str::to_owned).collect();
            let message = format!("the scorer asks the judge `{name}`, which is not configured");
            return Err(ScoreError::new(ErrorKind::MissingGrant, message)
                .with(Advice::Choose { what: Thing::Judge, names }));
        };
        named_model::check(&self.info, &self.config, &asker)?;
        Ok(LoadedScorer { asker: Some(asker), ..self })
    }

    /// This scorer, with access to a judge like that one, which has only the answers that are given with a case. `None`
    /// if such a judge is impossible.
    pub fn with_recorded_judge(self, judge: &JudgeIdentity) -> Option<LoadedScorer> {
        Some(LoadedScorer { asker: Some(judge.of_recordings()?), ..self })
    }

    /// The judges of its sandbox.
    pub fn judges(&self) -> &Judges {
        self.sandbox.capabilities().judges()
    }

    /// What decides the answers of its judge; `None` if it has no access to one.
    pub fn judge(&self) -> Option<&JudgeIdentity> {
        self.asker.as_ref().map(Asker::identity)
    }

    /// The grants that its imports need but for which its sandbox has no capability: the scorer loads and scores, but
    /// its requests are refused.
    pub fn lacks(&self) -> impl Iterator<Item = Grant> {
        let capabilities = self.sandbox.capabilities();
        self.needs.iter().filter(|grant| !capabilities.has(*grant))
    }

    /// Whether a score may wait: for files, or in a host call.
    pub fn can_wait(&self) -> bool {
        // WASI's clocks and streams can be waited for, and so can granted imports.
        self.seeded || self.needs != Grants::NONE
    }

    /// Where every score starts.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// Why this configuration has separate compiled code, so that the next one must be compiled again. `None` if one
    /// compiled code serves all configurations.
    pub fn own_code(&self) -> Option<&str> {
        self.own_code.as_deref()
    }

    /// Whether the compiled code came from the cache.
    pub fn cached(&self) -> bool {
        self.cached
    }

    /// How long loading took: compiling, configuring and freezing, or reading the cache.
    pub fn load_time(&self) -> Duration {
        self.load_time
    }
}
