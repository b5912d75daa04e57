//! Arguments about a scorer that several commands share: limits, configuration, grants.

use std::{path::Path, time::Duration};

use scorebox::{
    component_bytes::ComponentBytes,
    contract::ScorerInfo,
    registry::Reference,
    sandbox::{
        Anatomy, ErrorKind, Grant, Grants, Limits, LoadedScorer, Sandbox, ScoreError, ScorerConfig,
        check_config,
    },
    suite::{LimitOverrides, ScorerId, SuiteScorer, parse_duration, parse_memory},
};

use super::{completing, configuration::parse_config};
use crate::{
    failure::Failure,
    locked, setup,
    waiting::{COMPILING, Waiting},
};

/// Limits of a score.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Limits of one score")]
pub(crate) struct LimitArguments {
    /// Fuel, about one for each Wasm instruction [default: 10000000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    fuel: Option<u64>,

    /// Memory, such as `64MiB` [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    memory: Option<u64>,

    /// Wall-clock time of computing, such as `5s`, at most `720h` [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,

    /// Any limit: `fuel`, `memory`, `timeout`, `host-timeout`, `reason`, `meta`, `assertions`, `log`
    #[arg(long, value_name = "NAME=VALUE")]
    limit: Vec<String>,
}

impl LimitArguments {
    /// `limits`, with the user's values in their place.
    pub(crate) fn apply(&self, limits: Limits) -> Result<Limits, Failure> {
        let mut overrides = LimitOverrides::default()
            .with_fuel(self.fuel)
            .with_memory(self.memory)
            .with_timeout(self.timeout);
        for written in &self.limit {
            overrides.set(written)?;
        }
        Ok(overrides.apply(limits))
    }
}

/// One scorer, named on the command line.
#[derive(Debug, clap::Args)]
pub(crate) struct ScorerArguments {
    /// A built-in scorer's name, or the path of a .wasm file or a script (.js, .mjs, .ts, .mts, .py)
    #[arg(add = completing::scorers())]
    pub scorer: String,

    /// Its configuration: a JSON object, or @FILE
    #[arg(long, short, value_name = "JSON", add = completing::text_or_file(), help_heading = "Scorer")]
    config: Option<String>,

    /// Grant an import: `wasi` (an empty WASI: no files, network or clock), `workspace` (the files of the
    /// case; see --workspace) or `judge` (questions to a language model)
    #[arg(long, value_name = "WHAT", help_heading = "Scorer")]
    grant: Vec<Grant>,

    #[command(flatten)]
    limits: LimitArguments,
}

impl ScorerArguments {
    /// The component and its origin.
    pub(crate) fn source(&self) -> Result<scorebox::registry::ScorerSource, Failure> {
        let reference = Reference::parse(&self.scorer, Path::new(""));
        let scorers = match &reference {
            Reference::Published(_) => vec![self.of_a_suite()?],
            _ => Vec::new(),
        };
        Ok(setup::registry_of(&scorers)?.resolve(&reference)?)
    }

    /// Whether the user gives it this grant.
    pub(crate) fn grants(&self, grant: Grant) -> bool {
        self.grant.contains(&grant)
    }

    /// The scorer as a suite's scorer, with only its grants.
    pub(crate) fn of_a_suite(&self) -> Result<SuiteScorer, Failure> {
        let reference = Reference::parse(&self.scorer, Path::new(""));
        let id = ScorerId::new(&reference.default_name())?;
        let grants = self.grant.iter().copied().collect();
        Ok(SuiteScorer::new(id, reference).with_grants(grants))
    }

    /// The same with its configuration and its limits.
    pub(crate) fn configured(&self) -> Result<SuiteScorer, Failure> {
        let config = self.config.as_deref().map(parse_config).transpose()?.unwrap_or_default();
        let limits = self.limits.apply(Limits::default())?;
        Ok(self.of_a_suite()?.with_config(config).with_limits(limits))
    }

    /// What the scorer reports about itself without a configuration.
    pub(crate) async fn describe(
        &self,
        sandbox: &Sandbox,
        component: &ComponentBytes,
        anatomy: &Anatomy,
    ) -> Result<ScorerInfo, ScoreError> {
        let grants = self.grant.iter().copied().collect();
        let limits = self.limits.apply(Limits::default()).unwrap_or_default();
        described(sandbox, component, anatomy, &limits, grants).await
    }

    /// Whether the user wrote a configuration.
    pub(crate) fn is_configured(&self) -> bool {
        self.config.is_some()
    }

    /// The grants that it needs and does not have.
    pub(crate) fn missing_grants(&self, anatomy: &Anatomy) -> Vec<Grant> {
        anatomy.grants().iter().filter(|grant| !self.grant.contains(grant)).collect()
    }

    /// How long reading the files for one score may take.
    pub(crate) fn host_timeout(&self) -> Result<Duration, Failure> {
        Ok(self.limits.apply(Limits::default())?.host_timeout)
    }

    /// Loads the scorer.
    pub(crate) async fn load(
        &self,
        sandbox: &Sandbox,
        component: &ComponentBytes,
    ) -> Result<LoadedScorer, Failure> {
        let config = self.config.as_deref().map(parse_config).transpose()?.unwrap_or_default();
        let grants: Grants = self.grant.iter().copied().collect();
        let limits = self.limits.apply(Limits::default())?;
        let reference = Reference::parse(&self.scorer, Path::new(""));
        let known = setup::registry().info_of(&reference);
        let checked = known.map_or(Ok(()), |info| check_config(&info, &config));
        let loaded = match checked {
            Ok(()) => {
                let _waiting = Waiting::on(COMPILING);
                sandbox.load(component, &config, &limits, grants).await
            }
            Err(error) => Err(error),
        };
        setup::say_what_is_not_cached(sandbox);
        if let (Reference::Published(_), Ok(loaded)) = (&reference, &loaded) {
            let outside = (loaded.anatomy(), component);
            locked::must_be_this(&self.of_a_suite()?, loaded.info(), outside)?;
        }
        loaded.map_err(|error| {
            let failure = Failure::from(error);
            Failure { message: format!("scorer `{}`: {}", self.scorer, failure.message), ..failure }
        })
    }
}

/// What a component reports about itself without a configuration. A script with a mistake is refused: only `configure`
/// reports the mistake, and without it the description would be the script's file name.
pub(crate) async fn described(
    sandbox: &Sandbox,
    component: &ComponentBytes,
    anatomy: &Anatomy,
    limits: &Limits,
    grants: Grants,
) -> Result<ScorerInfo, ScoreError> {
    if anatomy.script.is_some() {
        match sandbox.load(component, &ScorerConfig::default(), limits, grants).await {
            Ok(loaded) => return Ok(loaded.info().clone()),
            Err(error) if error.kind == ErrorKind::InvalidConfig => {}
            Err(error) => return Err(error),
        }
    }
    sandbox.describe(component, limits, grants).await
}

/// A number that scores can be compared with.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| "not a number".to_owned())
}

/// `NAME=REST`, split.
pub(crate) fn split_named(option: &str, written: &str) -> Result<(String, String), Failure> {
    match written.split_once('=') {
        Some((name, rest)) if !name.is_empty() => Ok((name.to_owned(), rest.to_owned())),
        _ => Err(Failure::new(format!("--{option} needs the scorer's name: NAME={written}"))
            .hint("NAME is the scorer's name in this run")),
    }
}
