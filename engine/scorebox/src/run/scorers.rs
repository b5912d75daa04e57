//! The suite's scorers, found, loaded and ready. It scores nothing.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::{
    case::{Case, CasePointer},
    component_bytes::ComponentBytes,
    contract::ScorerInfo,
    registry::{Origin, Reference, Registry, ScorerSource},
    row::{Answer, Row},
    sandbox::{
        ErrorKind, Grants, Limits, LoadedScorer, Sandbox, ScoreError, ScorerConfig, check_outside,
        config_mistakes,
    },
    suite::{Condition, Location, ScorerId, Selection, Suite, SuiteScorer},
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
    /// Where its bytes come from.
    pub origin: Origin,
    /// The component, as it is stored with a run.
    pub component: ComponentBytes,
    /// What it was granted.
    pub grants: Grants,
    /// Where in a case the value is that it gets as the output; `None` for the case's output.
    pub output_from: Option<CasePointer>,
    /// Which cases it applies to.
    pub selection: Selection,
    /// Decides by their content which of these cases it applies to.
    pub condition: Option<ReadyCondition>,
    /// The scorer of the suite whose results it scores; `None` if it scores the cases.
    pub subject: Option<ScorerId>,
    /// How its scores count.
    pub policy: Policy,
    /// The scorer.
    pub scorer: LoadedScorer,
}

impl ReadyScorer {
    /// Its answer about a case, as a row without the digest of its input.
    pub(super) fn row(&self, case: &Case, answer: Answer, scored_at_ms: i64) -> Row {
        Row {
            case_id: case.id().to_owned(),
            node_id: Some(case.node_id().to_owned()),
            iteration: case.iteration(),
            attempt: case.attempt(),
            scorer_id: self.id.to_string(),
            answer,
            scorer_digest: self.scorer.digest(),
            config_digest: self.scorer.config().digest(),
            input_digest: None,
            scored_at_ms,
        }
    }
}

/// The `when` of a scorer: another scorer, which gives 1 for the cases that the first one applies to.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadyCondition {
    /// The component, as it is stored with a run.
    pub component: ComponentBytes,
    /// The scorer.
    pub scorer: LoadedScorer,
}

/// The built-in scorer that evaluates conditions, and the key of its configuration for the expression.
const CONDITION: (&str, &str) = ("satisfies", "expression");

/// Loads all scorers of a suite concurrently. All are loaded before the first case is read, so that a mistake in one is
/// reported before any work is done.
///
/// # Errors
/// All scorers that do not exist or cannot be used: [`RunError::Unusable`] if there is more than one mistake.
pub async fn load_scorers(
    suite: &Suite,
    registry: &Registry,
    sandbox: &Sandbox,
) -> Result<Vec<ReadyScorer>, RunError> {
    load_scorers_watched(suite, registry, sandbox, |_| {}).await
}

/// The same as [`load_scorers`], but passes each scorer to `ready` as soon as it is loaded, so that a waiting user sees
/// progress.
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
    let registry = Arc::new(registry.clone());
    for (index, scorer) in suite.scorers.iter().cloned().enumerate() {
        let (registry, sandbox) = (Arc::clone(&registry), sandbox.clone());
        // This runs concurrently too: reading and hashing a component takes as long as loading it from the cache.
        loading.spawn(async move {
            let found = Found::of(&scorer, &registry);
            (index, load(scorer, found, &sandbox).await)
        });
    }
    let mut loaded = Vec::with_capacity(suite.scorers.len());
    while let Some(joined) = loading.join_next().await {
        let (index, scorer) = joined.map_err(|error| RunError::Broken(error.to_string()))?;
        if let Ok(scorer) = &scorer {
            ready(scorer);
        }
        loaded.push((index, scorer));
    }
    loaded.sort_by_key(|(index, _)| *index);
    let (mut scorers, mut errors) = (Vec::with_capacity(loaded.len()), Vec::new());
    for (_, loaded) in loaded {
        match loaded {
            Ok(scorer) => scorers.push(scorer),
            Err(mut wrong) => errors.append(&mut wrong),
        }
    }
    match errors.is_empty() {
        true => Ok(scorers),
        false => Err(RunError::of_all(errors)),
    }
}

/// Loads one scorer.
///
/// # Errors
/// If it does not exist or cannot be used: [`RunError::Unusable`] if there is more than one mistake.
pub async fn load_scorer(
    scorer: SuiteScorer,
    registry: &Registry,
    sandbox: &Sandbox,
) -> Result<ReadyScorer, RunError> {
    let found = Found::of(&scorer, registry);
    load(scorer, found, sandbox).await.map_err(RunError::of_all)
}

/// What a registry has for a scorer.
struct Found {
    source: Result<ScorerSource, RunError>,
    /// What the scorer reports about itself, if that is known without compiling it.
    info: Option<ScorerInfo>,
    /// The component of its condition.
    condition: Option<Result<ScorerSource, RunError>>,
}

impl Found {
    fn of(scorer: &SuiteScorer, registry: &Registry) -> Found {
        let resolved = |uses: &Reference, location: Option<&Location>| {
            let location = location.cloned();
            let suite =
                scorer.uses_location.as_ref().map(|location| location.file.as_path().into());
            registry.resolve(uses).map_err(|error| RunError::NotFound { location, suite, error })
        };
        let condition = scorer.condition.as_ref().map(|condition| {
            resolved(&Reference::Name(CONDITION.0.to_owned()), condition.location.as_ref())
        });
        let source = match &scorer.brought {
            Some(brought) => Ok(ScorerSource::clone(&brought.source)),
            None => resolved(&scorer.uses, scorer.location.as_ref()),
        };
        Found { source, info: registry.info_of(&scorer.uses), condition }
    }
}

/// The scorer, or all mistakes in it.
async fn load(
    scorer: SuiteScorer,
    found: Found,
    sandbox: &Sandbox,
) -> Result<ReadyScorer, Vec<RunError>> {
    let Found { source, info, condition } = found;
    let condition = match (&scorer.condition, condition) {
        (Some(condition), Some(source)) => {
            Some(load_condition(&scorer, condition, source, sandbox).await)
        }
        _ => None,
    };
    let loaded = match source {
        Ok(source) => load_component(&scorer, source, info, sandbox).await,
        Err(error) => Err(vec![error]),
    };
    match (loaded, condition.transpose()) {
        (Ok((source, loaded, policy)), Ok(condition)) => Ok(ReadyScorer {
            id: scorer.id,
            name: scorer.name.unwrap_or_else(|| loaded.info().name.clone()),
            origin: source.origin,
            component: source.component,
            grants: scorer.grants,
            output_from: scorer.output_from,
            selection: scorer.selection,
            condition,
            subject: scorer.subject,
            policy,
            scorer: loaded,
        }),
        (loaded, condition) => {
            Err(loaded.err().into_iter().flatten().chain(condition.err()).collect())
        }
    }
}

/// The loaded component, and how its scores count; or all mistakes in them.
async fn load_component(
    scorer: &SuiteScorer,
    source: ScorerSource,
    info: Option<ScorerInfo>,
    sandbox: &Sandbox,
) -> Result<(ScorerSource, LoadedScorer, Policy), Vec<RunError>> {
    let mut errors = Vec::new();
    // Anything that can be checked without compiling comes first, so that a wrong key costs no time.
    if let Some(info) = &info {
        errors.extend(config_mistakes(info, &scorer.config));
        if !errors.is_empty() {
            errors.extend(check_outside(&source.component, scorer.grants).err());
        }
    }
    let mut described = info;
    let mut loaded = None;
    if errors.is_empty() {
        match load_with_judge(scorer, &source, sandbox).await {
            Ok(scorer) => {
                described = Some(scorer.info().clone());
                loaded = Some(scorer);
            }
            Err(error) => errors.push(error),
        }
    }
    let is_config_wrong = |error: &ScoreError| error.kind == ErrorKind::InvalidConfig;
    if described.is_none() && errors.first().is_some_and(is_config_wrong) {
        let (limits, grants) = (&scorer.limits, scorer.grants);
        match sandbox.describe(&source.component, limits, grants).await {
            Ok(info) => {
                // A script reports only the first wrong key that it finds.
                let mut mistakes = config_mistakes(&info, &scorer.config);
                mistakes.retain(|mistake| !errors.contains(mistake));
                errors.append(&mut mistakes);
                described = Some(info);
            }
            Err(error) if !errors.contains(&error) => errors.push(error),
            Err(_) => {}
        }
    }
    let mut errors: Vec<RunError> =
        errors.into_iter().map(|error| unusable(scorer, source.origin.clone(), error)).collect();
    let policy = described.map(|info| policy(scorer, &info)).transpose();
    match (loaded, policy) {
        (Some(loaded), Ok(Some(policy))) => Ok((source, loaded, policy)),
        (_, policy) => {
            errors.extend(policy.err());
            Err(errors)
        }
    }
}

async fn load_with_judge(
    scorer: &SuiteScorer,
    source: &ScorerSource,
    sandbox: &Sandbox,
) -> Result<LoadedScorer, ScoreError> {
    let SuiteScorer { config, limits, grants, .. } = scorer;
    let loaded = sandbox.load(&source.component, config, limits, *grants).await?;
    match loaded.asks_judge() {
        true => {
            let mut choice = scorer.judge.clone();
            choice.scorer = Some(scorer.id.to_string());
            loaded.with_judge(choice)
        }
        false => Ok(loaded),
    }
}

fn policy(scorer: &SuiteScorer, info: &ScorerInfo) -> Result<Policy, RunError> {
    let declared = Policy::declared(info.severity, info.threshold, info.direction, info.scale);
    declared.overridden(&scorer.policy).map_err(|error| {
        let location = scorer.policy_location.clone().or(scorer.location.clone());
        RunError::Policy { id: scorer.id.clone(), location, error }
    })
}

fn unusable(scorer: &SuiteScorer, origin: Origin, error: ScoreError) -> RunError {
    let (id, location) = (scorer.id.clone(), location_of(scorer, &error).cloned());
    RunError::Scorer { id, origin, location, error: Box::new(error) }
}

/// Where the suite has the mistake: the key of the configuration, if that is wrong.
fn location_of<'s>(scorer: &'s SuiteScorer, error: &ScoreError) -> Option<&'s Location> {
    let config = scorer.config_location.as_ref().filter(|_| error.kind == ErrorKind::InvalidConfig);
    let key = error.config_key.as_ref().zip(config).and_then(|(key, config)| config.keys.get(key));
    key.or(config.map(|config| &config.whole)).or(scorer.location.as_ref())
}

async fn load_condition(
    scorer: &SuiteScorer,
    condition: &Condition,
    source: Result<ScorerSource, RunError>,
    sandbox: &Sandbox,
) -> Result<ReadyCondition, RunError> {
    let source = source?;
    let mut config = serde_json::Map::new();
    config.insert(CONDITION.1.to_owned(), condition.expression.as_str().into());
    let config = ScorerConfig::new(&config);
    let loaded = sandbox.load(&source.component, &config, &Limits::default(), Grants::NONE).await;
    let scorer = loaded.map_err(|error| RunError::Condition {
        id: scorer.id.clone(),
        location: condition.location.clone().or(scorer.location.clone()),
        error: Box::new(error),
    })?;
    Ok(ReadyCondition { component: source.component, scorer })
}
