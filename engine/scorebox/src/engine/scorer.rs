//! One scorer, for cases one at a time. It stores nothing.

use std::path::Path;

use serde_json::Value;

use crate::{
    case::Case,
    contract::{ScorerInfo, ScorerInput},
    judge::JudgeChoice,
    registry::Reference,
    run::load_scorer,
    sandbox::{Grant, Limits, LoadedScorer, Outcome, ScorerConfig},
    suite::{ScorerId, SuiteScorer},
};

use super::{Engine, EngineError};

/// A scorer that is about to be loaded. The defaults are: no configuration, the default limits, no grants.
#[derive(Clone, Debug)]
#[must_use]
pub struct ScorerLoader {
    engine: Engine,
    uses: Reference,
    config: Value,
    limits: Limits,
    grants: Vec<Grant>,
    judge: JudgeChoice,
}

impl ScorerLoader {
    pub(super) fn new(engine: Engine, uses: &str) -> ScorerLoader {
        ScorerLoader {
            engine,
            uses: Reference::parse(uses, Path::new("")),
            config: Value::Object(serde_json::Map::new()),
            limits: Limits::default(),
            grants: Vec::new(),
            judge: JudgeChoice::default(),
        }
    }

    /// Its configuration, a JSON object.
    pub fn config(self, config: Value) -> ScorerLoader {
        ScorerLoader { config, ..self }
    }

    /// What one of its scores may use.
    pub fn limits(self, limits: Limits) -> ScorerLoader {
        ScorerLoader { limits, ..self }
    }

    /// Lets it import something that scorers may not import without a grant.
    pub fn grant(mut self, grant: Grant) -> ScorerLoader {
        self.grants.push(grant);
        self
    }

    /// Lets it ask this judge of the [engine's](super::EngineBuilder::judges).
    pub fn judge(self, judge: JudgeChoice) -> ScorerLoader {
        ScorerLoader { judge, ..self }.grant(Grant::Judge)
    }

    /// Loads it: from the cache, or by compiling it.
    ///
    /// # Errors
    /// If it does not exist or cannot be used, or its configuration is not an object.
    pub async fn load(self) -> Result<Scorer, EngineError> {
        let name = self.uses.default_name();
        let Value::Object(config) = &self.config else {
            return Err(EngineError::ConfigIsNoObject { scorer: name });
        };
        let scorer = SuiteScorer {
            config: ScorerConfig::new(config),
            limits: self.limits,
            grants: self.grants.into_iter().collect(),
            judge: self.judge,
            ..SuiteScorer::new(ScorerId::new(&name)?, self.uses)
        };
        let ready = load_scorer(scorer, &self.engine.registry, &self.engine.sandbox).await?;
        Ok(Scorer(ready.scorer))
    }
}

/// Loads it, from the cache or by compiling it.
#[derive(Debug)]
pub struct Scorer(LoadedScorer);

impl Scorer {
    /// Scores one case. Waits for a sandbox first. If the case states that its task failed, nothing runs.
    pub async fn score(&self, case: &Case) -> Outcome {
        if let Some(why) = case.error() {
            return Outcome::of_failed_task(why);
        }
        let folder = case.task_folder();
        let input = case.scorer_input(self.0.info().reads);
        self.0.score(ScorerInput { workspace: folder.as_ref(), ..input }).await
    }

    /// What the scorer reports about itself.
    pub fn info(&self) -> &ScorerInfo {
        self.0.info()
    }

    /// The sandbox's scorer, which can do more.
    pub fn loaded(&self) -> &LoadedScorer {
        &self.0
    }
}
