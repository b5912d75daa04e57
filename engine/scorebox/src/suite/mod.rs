//! The suite: which scorers run, each with its configuration, limits and grants. Loads no component.
//!
//! - `file`: the suite file as written (TOML), with the place of everything that may be wrong.
//! - `limit_overrides`: the limits that a user sets.
//! - `quantity`: sizes and times as people write them.
//! - here: the suite that a file, or the command line, resolves to.

mod file;
mod limit_overrides;
mod quantity;

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    advice::{Advice, Advised, Form, Thing},
    digest::Digest,
    input_file::InputFileError,
    registry::Reference,
    sandbox::{Grants, Limits, ScorerConfig},
};

pub use limit_overrides::{BadLimit, LimitOverrides};
pub use quantity::{NotAQuantity, parse_bytes, parse_duration, parse_memory};

/// Which scorers run.
#[derive(Clone, Debug)]
pub struct Suite {
    /// What the suite is called.
    pub name: String,
    /// The scorers, in the order of the file; no two with one name.
    pub scorers: Vec<SuiteScorer>,
}

/// One scorer of a suite.
#[derive(Clone, Debug)]
pub struct SuiteScorer {
    /// Its name in the suite: what rows and reports call it.
    pub id: ScorerId,
    /// The component.
    pub uses: Reference,
    /// A name for people, if it is not the component's own.
    pub name: Option<String>,
    /// Its configuration.
    pub config: ScorerConfig,
    /// What one of its scores may use.
    pub limits: Limits,
    /// What it may import.
    pub grants: Grants,
    /// Where the file says so.
    pub place: Option<Place>,
}

/// A place in a file, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
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

/// Why a suite cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The file cannot be read.
    #[error("cannot read the suite `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: InputFileError,
    },
    /// The file says what it may not.
    #[error("{place}: {reason}")]
    Invalid {
        /// Where.
        place: Place,
        /// What is wrong.
        reason: String,
        /// What to do about it.
        advice: Option<Advice>,
    },
    /// A scorer's name has characters that it may not have.
    #[error("`{}` cannot be a scorer's name", .0.escape_debug())]
    BadScorerId(String),
    /// Two scorers with one name.
    #[error("two scorers are called `{0}`")]
    SameId(String),
    /// A setting names a scorer that the suite does not have.
    #[error("there is no scorer `{name}` in this run")]
    NoSuchScorer {
        /// The name.
        name: String,
        /// The names nearest to it.
        nearest: Vec<String>,
    },
    /// A suite without scorers.
    #[error("no scorer is named")]
    NoScorers,
}

impl Advised for SuiteError {
    fn advice(&self) -> Option<Advice> {
        match self {
            SuiteError::Invalid { advice, .. } => advice.clone(),
            SuiteError::BadScorerId(_) => Some(Advice::Write(Form::ScorerId)),
            SuiteError::SameId(name) => {
                Some(Advice::Rename { what: Thing::ScorerOfSuite, taken: name.clone() })
            }
            SuiteError::NoSuchScorer { nearest, .. } => Advice::did_you_mean(nearest),
            SuiteError::NoScorers => Some(Advice::Name(Thing::Scorer)),
            SuiteError::Unreadable { source, .. } => source.advice(),
        }
    }
}

impl Suite {
    /// Reads a suite file.
    ///
    /// # Errors
    /// With the place of what is wrong.
    pub fn read(path: &Path) -> Result<Suite, SuiteError> {
        file::read(path)
    }

    /// Reads the text of a suite file. If it has no name, the suite is called `suite`; paths in it start
    /// at the current folder.
    ///
    /// # Errors
    /// With the place of what is wrong; the file is named `suite`.
    pub fn parse(text: &str) -> Result<Suite, SuiteError> {
        file::parse_apart(Path::new("suite"), text)
    }

    /// A suite of these scorers.
    ///
    /// # Errors
    /// If two scorers have the same name, or there are no scorers.
    pub fn new(name: String, scorers: Vec<SuiteScorer>) -> Result<Suite, SuiteError> {
        if scorers.is_empty() {
            return Err(SuiteError::NoScorers);
        }
        let mut ids = HashSet::new();
        if let Some(twice) = scorers.iter().find(|scorer| !ids.insert(&scorer.id)) {
            return Err(SuiteError::SameId(twice.id.to_string()));
        }
        Ok(Suite { name, scorers })
    }

    /// The scorer of that name.
    ///
    /// # Errors
    /// [`SuiteError::NoSuchScorer`], with the nearest names.
    pub fn scorer_mut(&mut self, name: &str) -> Result<&mut SuiteScorer, SuiteError> {
        let ids = self.scorers.iter().map(|scorer| scorer.id.as_str());
        let nearest = crate::suggest::closest(name, ids);
        self.scorers
            .iter_mut()
            .find(|scorer| scorer.id.as_str() == name)
            .ok_or_else(|| SuiteError::NoSuchScorer { name: name.to_owned(), nearest })
    }

    /// The suite as JSON, as it is stored with a run. Paths are as written; components are told
    /// apart by their digests, which are stored beside it.
    pub fn to_json(&self) -> String {
        let scorers: Vec<serde_json::Value> =
            self.scorers.iter().map(SuiteScorer::to_json).collect();
        serde_json::json!({ "version": file::VERSION, "name": self.name, "scorers": scorers })
            .to_string()
    }

    /// The digest of [`Suite::to_json`].
    pub fn digest(&self) -> Digest {
        Digest::of(self.to_json().as_bytes())
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
            name: None,
            config: ScorerConfig::default(),
            limits: Limits::default(),
            grants: Grants::NONE,
            place: None,
        }
    }

    fn to_json(&self) -> serde_json::Value {
        let uses = match &self.uses {
            Reference::Name(name) => name.clone(),
            Reference::File(path) => path.display().to_string(),
        };
        serde_json::json!({
            "id": self.id,
            "use": uses,
            "name": self.name,
            "config": serde_json::from_str::<serde_json::Value>(self.config.as_str()).ok(),
            "limits": self.limits,
            "grants": self.grants.iter().collect::<Vec<_>>(),
        })
    }
}
