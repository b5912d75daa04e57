//! Why a suite is not valid: every mistake in its files, with its location. It contains only the errors.

use std::{fmt, path::PathBuf};

use crate::{
    advice::{Advice, Advised, Form, Thing},
    input_file::InputFileError,
};

use super::Suite;

/// A location in a file, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a location is a file, a line and a column")]
pub struct Location {
    /// The file.
    pub file: PathBuf,
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// A mistake in a suite file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mistake {
    /// Its location.
    pub location: Location,
    /// What is wrong, in one line.
    pub reason: String,
    /// How to fix it.
    pub advice: Option<Advice>,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.reason)
    }
}

/// Why a suite is not valid.
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
    /// The file, or one that it includes, is not valid.
    #[error("{}", lines(mistakes))]
    Invalid {
        /// All mistakes, at least one; file by file, in the order of the lines.
        mistakes: Vec<Mistake>,
        /// The valid part, without the scorers that are not fully known. It must not be run: it allows reporting
        /// mistakes that only loading finds together with these.
        clear: Box<Suite>,
    },
    /// A scorer's name has characters that it may not have.
    #[error("`{}` cannot be a scorer's name", .0.escape_debug())]
    BadScorerId(String),
    /// Two scorers with one name.
    #[error("two scorers are called `{0}`")]
    SameId(String),
    /// Something refers to a scorer that the suite does not have.
    #[error("there is no scorer `{name}` in this run")]
    NoSuchScorer {
        /// The name.
        name: String,
        /// The names closest to it.
        nearest: Vec<String>,
        /// The existing names, at most twenty.
        names: Vec<String>,
    },
    /// A scorer of results, whose subject does not come before it.
    #[error("`{scorer}` scores the results of `{subject}`, which is not a scorer before it")]
    NoSubject {
        /// The scorer.
        scorer: String,
        /// The scorer whose results it should score.
        subject: String,
    },
    /// A suite without scorers.
    #[error("no scorer is named")]
    NoScorers,
}

fn lines(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(Mistake::to_string).collect::<Vec<_>>().join("\n")
}

impl Advised for SuiteError {
    fn advice(&self) -> Option<Advice> {
        match self {
            SuiteError::Invalid { mistakes, .. } => mistakes.first()?.advice.clone(),
            SuiteError::BadScorerId(_) => Some(Advice::Write(Form::ScorerId)),
            SuiteError::SameId(name) => {
                Some(Advice::Rename { what: Thing::ScorerOfSuite, taken: name.clone() })
            }
            SuiteError::NoSuchScorer { nearest, names, .. } => {
                let what = Thing::ScorerOfSuite;
                let choose = || Advice::Choose { what, names: names.clone() };
                Some(Advice::did_you_mean(nearest).unwrap_or_else(choose))
            }
            SuiteError::NoScorers => Some(Advice::Name(Thing::Scorer)),
            SuiteError::NoSubject { .. } => None,
            SuiteError::Unreadable { source, .. } => source.advice(),
        }
    }

    fn each(&self) -> Vec<(String, Option<Advice>)> {
        match self {
            SuiteError::Invalid { mistakes, .. } => {
                let each = |mistake: &Mistake| (mistake.to_string(), mistake.advice.clone());
                mistakes.iter().map(each).collect()
            }
            one => vec![(one.to_string(), one.advice())],
        }
    }
}
