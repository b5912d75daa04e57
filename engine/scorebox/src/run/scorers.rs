//! The suite's scorers, found, loaded and ready. Scores nothing.

use std::borrow::Cow;

use tokio::task::JoinSet;

use crate::{
    registry::{Origin, Registry, ScorerSource},
    sandbox::{Grants, LoadedScorer, Sandbox, ScoreError, check_config},
    suite::{ScorerId, Selection, Suite, SuiteScorer},
    verdict::Policy,
};

use super::RunError;

/// A scorer of a suite that can score.
#[derive(Debug)]
pub struct ReadyScorer {
    /// Its name in the suite.
    pub id: ScorerId,
    /// Its name for people.
    pub name: String,
    /// Where its bytes are from.
    pub origin: Origin,
    /// The component's bytes, as they are stored with a run.
    pub component: Cow<'static, [u8]>,
    /// What it was granted.
    pub grants: Grants,
    /// Which cases it is for.
    pub selection: Selection,
    /// How its scores count.
    pub policy: Policy,
    /// The scorer.
    pub scorer: LoadedScorer,
}

/// Loads all scorers of a suite, side by side. All are loaded before the first case is read, so that
/// what is wrong with one is known before any work is done.
///
/// # Errors
/// The first scorer that is not there, or cannot be used.
pub async fn load_scorers(
    suite: &Suite,
    registry: &Registry,
    sandbox: &Sandbox,
) -> Result<Vec<ReadyScorer>, RunError> {
    load_scorers_watched(suite, registry, sandbox, |_| {}).await
}

/// [`load_scorers`], which hands each scorer to `ready` as soon as it is loaded, so that a user who waits sees progress.
///
/// # Errors
/// As [`load_scorers`].
pub async fn load_scorers_watched(
    suite: &Suite,
    registry: &Registry,
    sandbox: &Sandbox,
    mut ready: impl FnMut(&ReadyScorer),
) -> Result<Vec<ReadyScorer>, RunError> {
    let mut loading = JoinSet::new();
    for (place, scorer) in suite.scorers.iter().enumerate() {
        let source = source_of(scorer, registry)?;
        let (scorer, sandbox) = (scorer.clone(), sandbox.clone());
        loading.spawn(async move { (place, load(scorer, source, &sandbox).await) });
    }
    let mut loaded = Vec::with_capacity(suite.scorers.len());
    while let Some(joined) = loading.join_next().await {
        let (place, scorer) = joined.map_err(|error| RunError::Broken(error.to_string()))?;
        if let Ok(scorer) = &scorer {
            ready(scorer);
        }
        loaded.push((place, scorer));
    }
    loaded.sort_by_key(|(place, _)| *place);
    loaded.into_iter().map(|(_, ready)| ready).collect()
}

/// Loads one scorer.
///
/// # Errors
/// Where it is not there, or cannot be used.
pub async fn load_scorer(
    scorer: SuiteScorer,
    registry: &Registry,
    sandbox: &Sandbox,
) -> Result<ReadyScorer, RunError> {
    let source = source_of(&scorer, registry)?;
    load(scorer, source, sandbox).await
}

/// The component's bytes, if nothing is wrong with the configuration that is known without compiling it.
fn source_of(scorer: &SuiteScorer, registry: &Registry) -> Result<ScorerSource, RunError> {
    let source = registry.resolve(&scorer.uses);
    let source =
        source.map_err(|error| RunError::NotFound { place: scorer.place.clone(), error })?;
    if let Some(info) = registry.info_of(&scorer.uses) {
        check_config(&info, &scorer.config)
            .map_err(|error| unusable(scorer, source.origin.clone(), error))?;
    }
    Ok(source)
}

fn unusable(scorer: &SuiteScorer, origin: Origin, error: ScoreError) -> RunError {
    let (id, place) = (scorer.id.clone(), scorer.place.clone());
    RunError::Scorer { id, origin, place, error: Box::new(error) }
}

async fn load(
    scorer: SuiteScorer,
    source: ScorerSource,
    sandbox: &Sandbox,
) -> Result<ReadyScorer, RunError> {
    let loaded = sandbox.load(&source.bytes, &scorer.config, &scorer.limits, scorer.grants).await;
    let loaded = loaded.map_err(|error| unusable(&scorer, source.origin.clone(), error))?;
    let info = loaded.info();
    let declared = Policy::declared(info.severity, info.threshold, info.direction, info.scale);
    let policy = declared.overridden(&scorer.policy).map_err(|error| {
        let place = scorer.policy_place.clone().or(scorer.place.clone());
        RunError::Policy { id: scorer.id.clone(), place, error }
    })?;
    Ok(ReadyScorer {
        id: scorer.id,
        name: scorer.name.unwrap_or_else(|| loaded.info().name.clone()),
        origin: source.origin,
        component: source.bytes,
        grants: scorer.grants,
        selection: scorer.selection,
        policy,
        scorer: loaded,
    })
}
