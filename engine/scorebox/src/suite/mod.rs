//! The suite: which scorers run, each with its configuration, limits and grants. Loads no component.
//!
//! - `file`: a suite file and those that it includes, and the suite that they resolve to.
//! - `several`: what a file says together with those that it includes.
//! - `files`: where the texts of suite files are.
//! - `plan`: the suite as JSON, as it is stored with a run.
//! - `named`: what one file names by itself.
//! - `entry`: what a file says about one scorer.
//! - `judges`: the judges that a file describes.
//! - `judge_choice`: the judge, or the jury, that an entry asks.
//! - `reading`: values as what a suite is made of, and every mistake with its location.
//! - `document`: a file as written, in TOML or JSON, with the location of every key and value.
//! - `schema.json`: what a file may say, as a JSON Schema for editors.
//! - `error`: why there is no suite.
//! - `selection`: which cases a scorer is for.
//! - `sampling`: which cases a scorer skips by a hash.
//! - `trust`: what published scorers must be.
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

/// The values of the variables that a suite file names as `${NAME}`; `None` if there is no such variable. The library
/// reads no environment.
pub type Environment<'e> = &'e (dyn Fn(&str) -> Option<String> + Sync);

/// What a suite file may say, as a JSON Schema (2020-12) for editors.
pub const SCHEMA: &str = include_str!("schema.json");

/// Names of scorers that an error lists.
const MAX_NAMES: usize = 20;

/// Which scorers run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Suite {
    /// What the suite is called.
    pub name: String,
    /// What sampling is drawn with; if there is none, the name.
    pub seed: Option<String>,
    /// The language models that scorers may ask, by name.
    pub judges: BTreeMap<String, SuiteJudge>,
    /// What published scorers must be, by the files that it is made of: all of it.
    pub policies: Vec<TrustPolicy>,
    /// The scorers, in the order of the file; no two with one name.
    pub scorers: Vec<SuiteScorer>,
    /// The scorer whose results all others score, if there is one; see [`Suite::with_target`].
    pub target: Option<ScorerId>,
}

/// Which cases a scorer is for, by what they hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Condition {
    /// A jq expression over the whole case, which gives true or false; null and nothing count as false.
    pub expression: String,
    /// Where the file says so.
    pub location: Option<Location>,
}

/// One scorer of a suite.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SuiteScorer {
    /// Its name in the suite: what rows and reports call it.
    pub id: ScorerId,
    /// The component.
    pub uses: Reference,
    /// How a file names that component; without effect if `uses` is another one by now.
    pub(crate) written: Option<Uses>,
    /// The component itself, if the suite came with it: then nothing is looked up for `uses`.
    pub brought: Option<Brought>,
    /// A name for people, if it is not the component's own.
    pub name: Option<String>,
    /// Its configuration.
    pub config: ScorerConfig,
    /// Where in a case the value is that it is given as the output; none: the case's output.
    pub output_from: Option<CasePointer>,
    /// What one of its scores may use.
    pub limits: Limits,
    /// What it may import.
    pub grants: Grants,
    /// Which judge it asks, if it asks one.
    pub judge: JudgeChoice,
    /// Which cases it is for.
    pub selection: Selection,
    /// Which cases it is for, by what they hold; none: all of them.
    pub condition: Option<Condition>,
    /// The scorer whose results it scores, which comes before it; none: it scores the cases.
    pub subject: Option<ScorerId>,
    /// How its scores count, if its component does not decide it.
    pub policy: PolicyOverrides,
    /// What of `policy` a file says about this scorer, and not in its `[defaults]`; `None`: all of it.
    pub(crate) own_policy: Option<PolicyOverrides>,
    /// Where the file names it.
    pub location: Option<Location>,
    /// Where a file says which component it uses, which may be another file than that of `location`.
    pub uses_location: Option<Location>,
    /// Where a file has its configuration.
    pub config_location: Option<ConfigLocation>,
    /// Where the file says how its scores count.
    pub policy_location: Option<Location>,
}

/// A component that a suite came with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Brought {
    /// The component, and where it is from. It is not checked here.
    pub source: Arc<ScorerSource>,
    /// The lock that a published scorer came with, as the program that keeps locks writes one.
    pub lock: Option<Arc<str>>,
}

impl Brought {
    /// A component that came without a lock.
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
    /// All that is wrong, with its locations.
    pub fn read(path: &Path) -> Result<Suite, SuiteError> {
        Suite::read_with(path, &|_| None)
    }

    /// What the file and those that it includes say that published scorers must be, whatever else is wrong or missing
    /// in them.
    ///
    /// # Errors
    /// What is wrong with that, with its locations; and if a file cannot be read.
    pub fn policies_of(
        path: &Path,
        environment: Environment<'_>,
    ) -> Result<Vec<TrustPolicy>, SuiteError> {
        file::policies(path, &OnDisk, environment)
    }

    /// The judges that the file and those that it includes describe. Unlike a suite that is run, it may name no scorer.
    ///
    /// # Errors
    /// All that is wrong, with its locations.
    pub fn judges_of(
        path: &Path,
        environment: Environment<'_>,
    ) -> Result<BTreeMap<String, SuiteJudge>, SuiteError> {
        file::judges(path, &OnDisk, environment)
    }

    /// As [`Suite::read`], with the values of this environment for variables.
    ///
    /// # Errors
    /// All that is wrong, with its locations.
    pub fn read_with(path: &Path, environment: Environment<'_>) -> Result<Suite, SuiteError> {
        Suite::read_from(path, &OnDisk, environment)
    }

    /// As [`Suite::read_with`], with the texts of the files from elsewhere.
    ///
    /// # Errors
    /// All that is wrong, with its locations.
    pub fn read_from(
        path: &Path,
        files: &dyn SuiteFiles,
        environment: Environment<'_>,
    ) -> Result<Suite, SuiteError> {
        file::read(path, files, environment)
    }

    /// Reads the text of a suite file. If it has no name of its own, the suite is called `suite`; paths in it start
    /// at the current folder; no variable has a value.
    ///
    /// # Errors
    /// All that is wrong, with its locations; the file is named `suite`.
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

    /// The same suite with these scorers in place of its own.
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

    /// The scorer of that name. A scorer of results may also be named without its subjects (`judge` for
    /// `target.judge`), if there is one such scorer.
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

    /// The files that it is made of, some more than once: those in which its scorers are written, and their components.
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

    /// What sampling is drawn with.
    pub fn seed(&self) -> &str {
        self.seed.as_deref().unwrap_or(&self.name)
    }
}

impl std::str::FromStr for Suite {
    type Err = SuiteError;

    /// As [`Suite::parse`].
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

    /// The same, of a file that names its component so.
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
