//! Why there is no suite: every mistake of its files, with its location. Only the words.

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

/// Something that a suite file says and may not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mistake {
    /// Where.
    pub location: Location,
    /// What is wrong, in one line.
    pub reason: String,
    /// What to do about it.
    pub advice: Option<Advice>,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.reason)
    }
}

/// Why there is no suite.
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
    /// The file, or one that it includes, says what it may not.
    #[error("{}", lines(mistakes))]
    Invalid {
        /// All that is wrong, at least one; file by file, in the order of the lines.
        mistakes: Vec<Mistake>,
        /// What is clear all the same, without the scorers of which it is not known what they are. It is not to be run:
        /// it is there so that the mistakes that only loading finds are reported together with these.
        clear: Box<Suite>,
    },
    /// A scorer's name has characters that it may not have.
    #[error("`{}` cannot be a scorer's name", .0.escape_debug())]
    BadScorerId(String),
    /// Two scorers with one name.
    #[error("two scorers are called `{0}`")]
    SameId(String),
    /// Something is said about a scorer that the suite does not have.
    #[error("there is no scorer `{name}` in this run")]
    NoSuchScorer {
        /// The name.
        name: String,
        /// The names closest to it.
        nearest: Vec<String>,
        /// The names that there are, at most twenty of them.
        names: Vec<String>,
    },
    /// A scorer that scores the results of no scorer before it.
    #[error("`{scorer}` scores the results of `{subject}`, which is not a scorer before it")]
    NoSubject {
        /// The scorer.
        scorer: String,
        /// Whose results it is to score.
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
