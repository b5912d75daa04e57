//! The suite: which scorers run, each with its configuration, limits and grants. It loads no component.
//!
//! - `file`: a suite file and those that it includes, and the suite that they resolve to.
//! - `several`: merges a file with those that it includes.
//! - `files`: where the texts of suite files are.
//! - `plan`: the suite as JSON, as it is stored with a run.
//! - `named`: the scorers and files that one file names.
//! - `entry`: the keys of one scorer in a file.
//! - `judges`: the judges that a file describes.
//! - `judge_choice`: the judge, or the jury, that an entry asks.
//! - `reading`: reads values, and collects every mistake with its location.
//! - `document`: a file as written, in TOML or JSON, with the location of every key and value.
//! - `schema.json`: the format of a file, as a JSON Schema for editors.
//! - `error`: why a suite is not valid.
//! - `selection`: which cases a scorer scores.
//! - `sampling`: which cases a scorer skips by a hash.
//! - `trust`: the requirements for published scorers.
//! - `results`: scorers that score the results of others.
//! - `limit_overrides`: the limits that a user sets.
//! - `quantity`: sizes and times as people write them.
//! - here: the suite that a file, or the command line, resolves to.

mod document;
mod entry;
mod error;
mod file;
mod files;
mod judge_choice;
mod judges;
mod limit_overrides;
mod named;
mod plan;
mod quantity;
mod reading;
mod results;
mod sampling;
mod selection;
mod several;
mod trust;

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
    sync::Arc,
};

use serde::Serialize;

use crate::{
    case::CasePointer,
    judge::JudgeChoice,
    registry::{Reference, ScorerSource},
    sandbox::{Grants, Limits, ScorerConfig},
    verdict::PolicyOverrides,
};

use entry::Uses;

pub use entry::ConfigLocation;
pub use error::{Location, Mistake, SuiteError};
pub use files::{OnDisk, SuiteFiles};
pub use judges::SuiteJudge;
pub use limit_overrides::{BadLimit, LimitOverrides};
pub use named::SuiteNames;
pub use quantity::{NotAQuantity, parse_bytes, parse_duration, parse_memory};
pub use sampling::{Draw, NotARate, Rate, Sampling};
pub use selection::{BadPattern, Nodes, Selection, Skip};
pub use trust::TrustPolicy;

/// The values of the variables that a suite file references as `${NAME}`; `None` if there is no such variable. The
/// library does not read the process environment.
pub type Environment<'e> = &'e (dyn Fn(&str) -> Option<String> + Sync);

/// The format of a suite file, as a JSON Schema (2020-12) for editors.
pub const SCHEMA: &str = include_str!("schema.json");

/// How many names of scorers an error lists.
const MAX_NAMES: usize = 20;

/// Which scorers run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Suite {
    /// The suite's name.
    pub name: String,
    /// The seed for sampling; if there is none, the name.
    pub seed: Option<String>,
    /// The language models that scorers may ask, by name.
    pub judges: BTreeMap<String, SuiteJudge>,
    /// The requirements for published scorers, from each of the suite's files: all of them apply.
    pub policies: Vec<TrustPolicy>,
    /// The scorers, in the order of the file; no two with one name.
    pub scorers: Vec<SuiteScorer>,
    /// The scorer whose results all others score, if there is one; see [`Suite::with_target`].
    pub target: Option<ScorerId>,
}

/// Which cases a scorer scores, by their content.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Condition {
    /// A jq expression over the whole case, which gives true or false; null and nothing count as false.
    pub expression: String,
    /// Its location in the file.
    pub location: Option<Location>,
}

/// One scorer of a suite.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SuiteScorer {
    /// Its name in the suite, which rows and reports use.
    pub id: ScorerId,
    /// The component.
    pub uses: Reference,
    /// The component's name in a file; ignored if `uses` has changed since.
    pub(crate) written: Option<Uses>,
    /// The component itself, if it was supplied with the suite: then nothing is looked up for `uses`.
    pub brought: Option<Brought>,
    /// A name for people, if it differs from the component's own.
    pub name: Option<String>,
    /// Its configuration.
    pub config: ScorerConfig,
    /// The position in a case of the value that it is given as the output; `None`: the case's output.
    pub output_from: Option<CasePointer>,
    /// The limits for one of its scores.
    pub limits: Limits,
    /// What it may import.
    pub grants: Grants,
    /// Which judge it asks, if it asks one.
    pub judge: JudgeChoice,
    /// Which cases it scores.
    pub selection: Selection,
    /// Which cases it scores, by their content; `None`: all of them.
    pub condition: Option<Condition>,
    /// The scorer whose results it scores, which comes before it; `None`: it scores the cases.
    pub subject: Option<ScorerId>,
    /// How its scores count, if the suite overrides the component.
    pub policy: PolicyOverrides,
    /// The part of `policy` from the scorer's own entry, not from `[defaults]`; `None`: all of it.
    pub(crate) own_policy: Option<PolicyOverrides>,
    /// Its location in the file.
    pub location: Option<Location>,
    /// The location of the component that it uses, which may be in another file than `location`.
    pub uses_location: Option<Location>,
    /// The location of its configuration.
    pub config_location: Option<ConfigLocation>,
    /// The location of the keys that decide how its scores count.
    pub policy_location: Option<Location>,
}

/// A component that was supplied with a suite.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Brought {
    /// The component, and its origin. It is not checked here.
    pub source: Arc<ScorerSource>,
    /// The lock that was supplied with a published scorer, in the format of the program that keeps locks.
    pub lock: Option<Arc<str>>,
}

impl Brought {
    /// A component that was supplied without a lock.
    pub fn new(source: ScorerSource) -> Brought {
        Brought { source: Arc::new(source), lock: None }
    }

    /// The same with this [`lock`](Brought::lock).
    #[must_use]
    pub fn with_lock(mut self, lock: impl Into<Option<Arc<str>>>) -> Brought {
        self.lock = lock.into();
        self
    }
}

/// A scorer's name within a suite: 1 to 64 of letters, digits, `-`, `_`, `.`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ScorerId(String);

impl ScorerId {
    /// Checks a name.
    ///
    /// # Errors
    /// [`SuiteError::BadScorerId`].
    pub fn new(name: &str) -> Result<ScorerId, SuiteError> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        match (1..=64).contains(&name.len()) && name.bytes().all(allowed) {
            true => Ok(ScorerId(name.to_owned())),
            false => Err(SuiteError::BadScorerId(name.to_owned())),
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ScorerId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Suite {
    /// Reads a suite file, in TOML or JSON, and the files that it includes. No variable has a value.
    ///
    /// # Errors
    /// All mistakes, with their locations.
    pub fn read(path: &Path) -> Result<Suite, SuiteError> {
        Suite::read_with(path, &|_| None)
    }

    /// The requirements for published scorers in the file and those that it includes, whatever else is wrong or missing
    /// in them.
    ///
    /// # Errors
    /// The mistakes in these requirements, with their locations; or a file that cannot be read.
    pub fn policies_of(
        path: &Path,
        environment: Environment<'_>,
    ) -> Result<Vec<TrustPolicy>, SuiteError> {
        file::policies(path, &OnDisk, environment)
    }

    /// The judges that the file and those that it includes describe. Unlike a suite to run, it may have no scorer.
    ///
    /// # Errors
    /// All mistakes, with their locations.
    pub fn judges_of(
        path: &Path,
        environment: Environment<'_>,
    ) -> Result<BTreeMap<String, SuiteJudge>, SuiteError> {
        file::judges(path, &OnDisk, environment)
    }

    /// Like [`Suite::read`], with the values of variables from this environment.
    ///
    /// # Errors
    /// All mistakes, with their locations.
    pub fn read_with(path: &Path, environment: Environment<'_>) -> Result<Suite, SuiteError> {
        Suite::read_from(path, &OnDisk, environment)
    }

    /// Like [`Suite::read_with`], with the texts of the files from elsewhere.
    ///
    /// # Errors
    /// All mistakes, with their locations.
    pub fn read_from(
        path: &Path,
        files: &dyn SuiteFiles,
        environment: Environment<'_>,
    ) -> Result<Suite, SuiteError> {
        file::read(path, files, environment)
    }

    /// Reads the text of a suite file. If it does not name the suite, the name is `suite`; paths in it start at the
    /// current folder; no variable has a value.
    ///
    /// # Errors
    /// All mistakes, with their locations; the file is called `suite`.
    pub fn parse(text: &str) -> Result<Suite, SuiteError> {
        file::parse_apart(Path::new("suite"), text, &OnDisk, &|_| None)
    }

    /// A suite of these scorers.
    ///
    /// # Errors
    /// If two scorers have the same name, there are no scorers, or one comes before the scorer whose results it scores.
    pub fn new(name: String, scorers: Vec<SuiteScorer>) -> Result<Suite, SuiteError> {
        Suite::without_scorers(&name).of_scorers(scorers)
    }

    fn without_scorers(name: &str) -> Suite {
        let (judges, policies, scorers) = Default::default();
        Suite { name: name.to_owned(), seed: None, judges, policies, scorers, target: None }
    }

    /// The same suite with these scorers instead of its own.
    fn of_scorers(self, scorers: Vec<SuiteScorer>) -> Result<Suite, SuiteError> {
        if scorers.is_empty() {
            return Err(SuiteError::NoScorers);
        }
        let mut ids = HashSet::new();
        if let Some(twice) = scorers.iter().find(|scorer| !ids.insert(&scorer.id)) {
            return Err(SuiteError::SameId(twice.id.to_string()));
        }
        for (index, scorer) in scorers.iter().enumerate() {
            let Some(subject) = &scorer.subject else { continue };
            if !scorers[..index].iter().any(|before| before.id == *subject) {
                let (scorer, subject) = (scorer.id.to_string(), subject.to_string());
                return Err(SuiteError::NoSubject { scorer, subject });
            }
        }
        Ok(Suite { scorers, ..self })
    }

    /// The scorer with this name. A scorer of results may also be named without its subjects (`judge` for
    /// `target.judge`), if that is unambiguous.
    ///
    /// # Errors
    /// [`SuiteError::NoSuchScorer`], with the closest names.
    pub fn scorer_mut(&mut self, name: &str) -> Result<&mut SuiteScorer, SuiteError> {
        let exact = self.scorers.iter().position(|scorer| scorer.id.as_str() == name);
        let short: Vec<usize> = (0..self.scorers.len())
            .filter(|index| self.scorers[*index].is_called_without_subjects(name))
            .collect();
        let index = match (exact, &short[..]) {
            (Some(index), _) | (None, &[index]) => index,
            (None, several) => {
                let ids = |indices: &[usize]| {
                    indices.iter().map(|index| self.scorers[*index].id.to_string()).collect()
                };
                let all = self.scorers.iter().map(|scorer| scorer.id.as_str());
                let names = all.clone().take(MAX_NAMES).map(str::to_owned).collect();
                let nearest = match several {
                    [] => crate::suggest::closest(name, all),
                    several => ids(several),
                };
                return Err(SuiteError::NoSuchScorer { name: name.to_owned(), nearest, names });
            }
        };
        Ok(&mut self.scorers[index])
    }

    /// The files that it consists of, some more than once: those that have its scorers, and their components.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.scorers.iter().flat_map(|scorer| {
            let written = scorer.location.as_ref().map(|location| location.file.as_path());
            let component = match &scorer.uses {
                Reference::File(path) if scorer.brought.is_none() => Some(path.as_path()),
                Reference::File(_) | Reference::Name(_) | Reference::Published(_) => None,
            };
            written.into_iter().chain(component)
        })
    }

    /// The seed for sampling.
    pub fn seed(&self) -> &str {
        self.seed.as_deref().unwrap_or(&self.name)
    }
}

impl std::str::FromStr for Suite {
    type Err = SuiteError;

    /// Like [`Suite::parse`].
    fn from_str(text: &str) -> Result<Suite, SuiteError> {
        Suite::parse(text)
    }
}

impl SuiteScorer {
    /// A scorer with default configuration, limits and grants.
    pub fn new(id: ScorerId, uses: Reference) -> SuiteScorer {
        SuiteScorer {
            id,
            uses,
            written: None,
            brought: None,
            name: None,
            config: ScorerConfig::default(),
            output_from: None,
            limits: Limits::default(),
            grants: Grants::NONE,
            judge: JudgeChoice::default(),
            selection: Selection::default(),
            condition: None,
            subject: None,
            policy: PolicyOverrides::default(),
            own_policy: None,
            location: None,
            uses_location: None,
            config_location: None,
            policy_location: None,
        }
    }

    /// The same, with the component's name in a file.
    fn written_as(mut self, uses: Uses) -> SuiteScorer {
        self.written = Some(uses);
        self
    }

    /// The same with this [`brought`](SuiteScorer::brought).
    #[must_use]
    pub fn with_brought(mut self, brought: impl Into<Option<Brought>>) -> SuiteScorer {
        self.brought = brought.into();
        self
    }

    /// The same with this [`name`](SuiteScorer::name).
    #[must_use]
    pub fn with_name(mut self, name: impl Into<Option<String>>) -> SuiteScorer {
        self.name = name.into();
        self
    }

    /// The same with this [`config`](SuiteScorer::config).
    #[must_use]
    pub fn with_config(mut self, config: ScorerConfig) -> SuiteScorer {
        self.config = config;
        self.config_location = None;
        self
    }

    /// The same with this [`output_from`](SuiteScorer::output_from).
    #[must_use]
    pub fn with_output_from(mut self, output_from: impl Into<Option<CasePointer>>) -> SuiteScorer {
        self.output_from = output_from.into();
        self
    }

    /// The same with this [`limits`](SuiteScorer::limits).
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> SuiteScorer {
        self.limits = limits;
        self
    }

    /// The same with this [`grants`](SuiteScorer::grants).
    #[must_use]
    pub fn with_grants(mut self, grants: Grants) -> SuiteScorer {
        self.grants = grants;
        self
    }

    /// The same with this [`selection`](SuiteScorer::selection).
    #[must_use]
    pub fn with_selection(mut self, selection: Selection) -> SuiteScorer {
        self.selection = selection;
        self
    }

    /// The same with this [`condition`](SuiteScorer::condition).
    #[must_use]
    pub fn with_condition(mut self, condition: impl Into<Option<Condition>>) -> SuiteScorer {
        self.condition = condition.into();
        self
    }

    /// The same with this [`subject`](SuiteScorer::subject).
    #[must_use]
    pub fn with_subject(mut self, subject: impl Into<Option<ScorerId>>) -> SuiteScorer {
        self.subject = subject.into();
        self
    }

    /// The same with this [`policy`](SuiteScorer::policy).
    #[must_use]
    pub fn with_policy(mut self, policy: PolicyOverrides) -> SuiteScorer {
        self.policy = policy;
        self.own_policy = None;
        self
    }

    /// The same with this [`judge`](SuiteScorer::judge).
    #[must_use]
    pub fn with_judge(mut self, judge: JudgeChoice) -> SuiteScorer {
        self.judge = judge;
        self
    }
}
