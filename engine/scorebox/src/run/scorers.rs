//! The suite's scorers, found, loaded and ready. Scores nothing.

use std::borrow::Cow;

use tokio::task::JoinSet;

use crate::{
    registry::{Origin, Reference, Registry, ScorerSource},
    sandbox::{Grants, Limits, LoadedScorer, Sandbox, ScoreError, ScorerConfig, check_config},
    suite::{Condition, ScorerId, Selection, Suite, SuiteScorer},
    verdict::Policy,
};

use super::RunError;

/// A scorer of a suite that can score.
#[derive(Debug)]
#[non_exhaustive]
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
    /// What decides for which of them, by what they hold.
    pub condition: Option<ReadyCondition>,
    /// The scorer of the suite whose results it scores; `None`: it scores the cases.
    pub subject: Option<ScorerId>,
    /// How its scores count.
    pub policy: Policy,
    /// The scorer.
    pub scorer: LoadedScorer,
}

/// The `when` of a scorer: a scorer that gives 1 for the cases that the other is for.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadyCondition {
    /// The component's bytes, as they are stored with a run.
    pub component: Cow<'static, [u8]>,
    /// The scorer.
    pub scorer: LoadedScorer,
}

/// The built-in scorer that conditions are, and the key of its configuration that holds the expression.
const CONDITION: (&str, &str) = ("satisfies", "expression");

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
        let source = Sources::of(scorer, registry)?;
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
    let source = Sources::of(&scorer, registry)?;
    load(scorer, source, sandbox).await
}

/// Where the components of a scorer are from.
struct Sources {
    scorer: ScorerSource,
    condition: Option<ScorerSource>,
}

impl Sources {
    fn of(scorer: &SuiteScorer, registry: &Registry) -> Result<Sources, RunError> {
        let condition = scorer.condition.as_ref().map(|condition| {
            let uses = Reference::Name(CONDITION.0.to_owned());
            let place = condition.place.clone();
            registry.resolve(&uses).map_err(|error| RunError::NotFound { place, error })
        });
        Ok(Sources { scorer: source_of(scorer, registry)?, condition: condition.transpose()? })
    }
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
    sources: Sources,
    sandbox: &Sandbox,
) -> Result<ReadyScorer, RunError> {
    let Sources { scorer: source, condition } = sources;
    let loaded = sandbox.load(&source.bytes, &scorer.config, &scorer.limits, scorer.grants).await;
    let loaded = loaded.map_err(|error| unusable(&scorer, source.origin.clone(), error))?;
    let loaded = match loaded.asks_judge() {
        true => loaded
            .with_judge(scorer.judge.clone())
            .map_err(|error| unusable(&scorer, source.origin.clone(), error))?,
        false => loaded,
    };
    let info = loaded.info();
    let declared = Policy::declared(info.severity, info.threshold, info.direction, info.scale);
    let policy = declared.overridden(&scorer.policy).map_err(|error| {
        let place = scorer.policy_place.clone().or(scorer.place.clone());
        RunError::Policy { id: scorer.id.clone(), place, error }
    })?;
    let condition = match (&scorer.condition, condition) {
        (Some(condition), Some(source)) => {
            Some(load_condition(&scorer, condition, source, sandbox).await?)
        }
        _ => None,
    };
    Ok(ReadyScorer {
        id: scorer.id,
        name: scorer.name.unwrap_or_else(|| loaded.info().name.clone()),
        origin: source.origin,
        component: source.bytes,
        grants: scorer.grants,
        selection: scorer.selection,
        condition,
        subject: scorer.subject,
        policy,
        scorer: loaded,
    })
}

async fn load_condition(
    scorer: &SuiteScorer,
    condition: &Condition,
    source: ScorerSource,
    sandbox: &Sandbox,
) -> Result<ReadyCondition, RunError> {
    let mut config = serde_json::Map::new();
    config.insert(CONDITION.1.to_owned(), condition.expression.as_str().into());
    let config = ScorerConfig::new(&config);
    let loaded = sandbox.load(&source.bytes, &config, &Limits::default(), Grants::NONE).await;
    let scorer = loaded.map_err(|error| RunError::Condition {
        id: scorer.id.clone(),
        place: condition.place.clone().or(scorer.place.clone()),
        error: Box::new(error),
    })?;
    Ok(ReadyCondition { component: source.bytes, scorer })
}
