//! The suite's scorers, found, loaded and ready. Scores nothing.

use crate::{
    registry::{Origin, Registry},
    sandbox::{LoadedScorer, Sandbox},
    suite::{ScorerId, Suite, SuiteScorer},
};

use super::RunError;

/// A scorer of a suite that can score.
pub struct ReadyScorer {
    /// Its name in the suite.
    pub id: ScorerId,
    /// Its name for people.
    pub name: String,
    /// Where its bytes are from.
    pub origin: Origin,
    /// The scorer.
    pub scorer: LoadedScorer,
}

/// Loads all scorers of a suite, in its order. All are loaded before the first case is read, so that
/// what is wrong with one is known before any work is done.
///
/// # Errors
/// The first scorer that is not there, or cannot be used.
pub async fn load_scorers(
    suite: &Suite,
    registry: &Registry,
    sandbox: &Sandbox,
) -> Result<Vec<ReadyScorer>, RunError> {
    let mut ready = Vec::with_capacity(suite.scorers.len());
    for scorer in &suite.scorers {
        ready.push(load(scorer, registry, sandbox).await?);
    }
    Ok(ready)
}

async fn load(
    scorer: &SuiteScorer,
    registry: &Registry,
    sandbox: &Sandbox,
) -> Result<ReadyScorer, RunError> {
    let source = registry
        .resolve(&scorer.uses)
        .map_err(|error| RunError::NotFound { place: scorer.place.clone(), error })?;
    let loaded = sandbox
        .load(&source.bytes, &scorer.config, &scorer.limits, scorer.grants)
        .await
        .map_err(|error| RunError::Scorer {
        id: scorer.id.clone(),
        origin: source.origin.clone(),
        place: scorer.place.clone(),
        error: Box::new(error),
    })?;
    Ok(ReadyScorer {
        id: scorer.id.clone(),
        name: scorer.name.clone().unwrap_or_else(|| loaded.info().name.clone()),
        origin: source.origin,
        scorer: loaded,
    })
}
