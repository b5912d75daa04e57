//! Which cases to find, and in which order: the filters, the words of a search, and the query to the index. It finds
//! nothing.

use super::{
    filling::{STATUSES, VERDICTS, status_number, verdict_number},
    itself,
    unspaced::{as_indexed, is_unspaced},
};
use crate::{
    row::Status,
    store::{RunKey, ScorerKey},
    verdict::Verdict,
};

/// How many words of a search are used.
const MAX_WORDS: usize = 16;
/// A word with at least this many letters is also found as the beginning of another one. The index of beginnings has
/// this length; almost every word has shorter beginnings in common with others.
const LEAST_BEGINNING: usize = 3;
/// The maximum length of a search in bytes.
const MAX_SEARCH_BYTES: usize = 1000;

/// Which cases of a run are selected: those that meet all conditions that are set here.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CaseQuery {
    /// The run.
    pub run: RunKey,
    /// The scorer whose rows the status and the scores below refer to; without one, the status may be that of any
    /// scorer, and the scores are the cases' own.
    pub scorer: Option<ScorerKey>,
    /// Cases with a row of this status.
    pub status: Option<Status>,
    /// Cases of this verdict.
    pub verdict: Option<Verdict>,
    /// Cases that passed with regressions (`true`), or without (`false`).
    pub regressed: Option<bool>,
    /// Scores from this one up.
    pub least: Option<f64>,
    /// Scores up to this one.
    pub most: Option<f64>,
    /// Cases that have all of these words in their id, output or reasons.
    pub words: Vec<String>,
    /// Their order.
    pub order: CaseOrder,
}

/// The order of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaseOrder {
    /// As they were read.
    #[default]
    AsRead,
    /// As they were read, the last first.
    LastFirst,
    /// The lowest score first; cases without a score are omitted.
    LowestFirst,
    /// The highest score first; cases without a score are omitted.
    HighestFirst,
}

impl CaseOrder {
    /// The same backwards.
    #[must_use]
    pub fn reversed(self) -> CaseOrder {
        match self {
            CaseOrder::AsRead => CaseOrder::LastFirst,
            CaseOrder::LastFirst => CaseOrder::AsRead,
            CaseOrder::LowestFirst => CaseOrder::HighestFirst,
            CaseOrder::HighestFirst => CaseOrder::LowestFirst,
        }
    }

    /// Whether cases are ordered by their scores, and those without a score are omitted.
    pub fn is_by_score(self) -> bool {
        matches!(self, CaseOrder::LowestFirst | CaseOrder::HighestFirst)
    }
}

/// Why a search is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WordsError {
    /// Too long.
    #[error("a search has at most {MAX_SEARCH_BYTES} bytes and {MAX_WORDS} words")]
    TooLong,
    /// It has no word that could be found.
    #[error("there is no letter or digit in the search")]
    NoWord,
}

impl CaseQuery {
    /// All cases of a run.
    pub fn of_run(run: RunKey) -> CaseQuery {
        CaseQuery {
            run,
            scorer: None,
            status: None,
            verdict: None,
            regressed: None,
            least: None,
            most: None,
            words: Vec::new(),
            order: CaseOrder::AsRead,
        }
    }

    /// The same with the words of a search: a word of three letters or more, or with a Korean syllable, matches words
    /// that begin with it; a text in quotation marks matches exactly.
    ///
    /// # Errors
    /// The search is too long, or has no word.
    pub fn with_search(mut self, search: &str) -> Result<CaseQuery, WordsError> {
        if search.len() > MAX_SEARCH_BYTES {
            return Err(WordsError::TooLong);
        }
        self.words = words(search);
        match self.words.len() {
            0 => Err(WordsError::NoWord),
            1..=MAX_WORDS => Ok(self),
            _ => Err(WordsError::TooLong),
        }
    }

    pub(super) fn verdicts(&self) -> Vec<i64> {
        let wanted = |number: &i64| match (self.verdict, self.regressed) {
            (None, None) => true,
            (None, Some(is_regressed)) => *number == i64::from(is_regressed),
            (Some(Verdict::Passed), None) => *number <= 1,
            (Some(verdict), regressed) => {
                *number == verdict_number(verdict, regressed.unwrap_or(false))
            }
        };
        (0..VERDICTS).filter(wanted).collect()
    }

    pub(super) fn statuses(&self) -> Vec<i64> {
        match self.status {
            Some(status) => vec![status_number(status)],
            // Only scored rows have a score.
            None if self.has_scores() => vec![status_number(Status::Scored)],
            None => (0..STATUSES).collect(),
        }
    }

    /// Whether cases are found by their words and marks, and not by one combination: a status may be that of any
    /// scorer.
    pub(super) fn needs_words(&self) -> bool {
        !self.words.is_empty() || (self.scorer.is_none() && self.status.is_some())
    }

    pub(super) fn has_scores(&self) -> bool {
        self.least.is_some() || self.most.is_some() || self.order.is_by_score()
    }

    /// Each combination of a scorer, a verdict and a status that is wanted.
    pub(super) fn combinations(&self) -> Vec<(i64, i64, i64)> {
        let (scorer, statuses) = match self.scorer {
            Some(scorer) => (scorer.0, self.statuses()),
            // The case itself has one status.
            None => (itself(self.run), vec![status_number(Status::Scored)]),
        };
        let of_verdict = |verdict| statuses.iter().map(move |status| (scorer, verdict, *status));
        self.verdicts().into_iter().flat_map(of_verdict).collect()
    }

    /// The FTS5 query: every word in the text, and the combination among the marks. With `entries`, the combination is
    /// looked up there, and the marks have only the rest. The words are quoted, so that none of them is an operator.
    pub(super) fn expression(&self, with_entries: bool) -> String {
        let quoted = |word: &String| match word.strip_suffix('*') {
            Some(begins) => format!("\"{}\" *", as_indexed(begins)),
            None => format!("\"{}\"", as_indexed(word)),
        };
        let said: Vec<String> = self.words.iter().map(quoted).collect();
        let any = |marks: Vec<String>| format!("({})", marks.join(" OR "));
        let mut marks = Vec::new();
        if !with_entries && (self.verdict.is_some() || self.regressed.is_some()) {
            marks.push(any(self.verdicts().iter().map(|it| format!("v{it}")).collect()));
        }
        match (self.scorer, self.status) {
            (Some(_), _) if with_entries => {}
            (Some(scorer), Some(status)) => {
                marks.push(format!("s{}t{}", scorer.0, status_number(status)));
            }
            (Some(scorer), None) => marks.push(format!("s{}", scorer.0)),
            (None, Some(status)) => marks.push(format!("t{}", status_number(status))),
            (None, None) => {}
        }
        let mut all = Vec::new();
        if !said.is_empty() {
            all.push(format!("said : ({})", said.join(" AND ")));
        }
        if !marks.is_empty() {
            all.push(format!("marks : ({})", marks.join(" AND ")));
        }
        all.join(" AND ")
    }
}

/// Whether it is a Korean syllable, which has two or more letters in one character. Particles are attached to Korean
/// words, most of which have two syllables.
fn is_syllable(character: char) -> bool {
    matches!(character, '\u{ac00}'..='\u{d7a3}')
}

/// The words of a search, without characters that have a meaning in FTS5; a word that may be the beginning of another
/// one ends with `*`.
fn words(search: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in search.split('"').enumerate() {
        let has_word = |text: &str| text.chars().any(char::is_alphanumeric);
        match index % 2 {
            1 if has_word(part) => words.push(part.replace('\0', " ")),
            1 => {}
            _ => words.extend(
                part.split(|it: char| it.is_whitespace() || it == '\0')
                    .filter(|word| has_word(word))
                    .map(|word| {
                        let word = word.trim_end_matches('*');
                        let letters = word.chars().filter(|it| it.is_alphanumeric()).count();
                        let may_begin = letters >= LEAST_BEGINNING || word.contains(is_syllable);
                        // If each character is a word, it cannot be the beginning of another one.
                        let is_whole = !may_begin || word.ends_with(is_unspaced);
                        let mark = if is_whole { "" } else { "*" };
                        format!("{word}{mark}")
                    }),
            ),
        }
    }
    words
}
