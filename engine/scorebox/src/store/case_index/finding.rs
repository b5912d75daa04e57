//! Cases are found in an index: by scorer, status, score, verdict and words, a page at a time.

use std::cmp::Ordering;

use rusqlite::{OptionalExtension as _, params, params_from_iter, types::Value};

use super::{
    CaseIndex,
    filling::{STATUSES, VERDICTS, status_number, verdict_number},
    itself,
};
use crate::{
    row::Status,
    store::{CaseKey, RunKey, ScorerKey, StoreError},
    verdict::Verdict,
};

/// Words of a search that are looked for.
const MOST_WORDS: usize = 16;
/// Letters from which on a word is also found where it begins another. So many stand in the index of beginnings; shorter
/// beginnings are those of almost all words.
const LEAST_BEGINNING: usize = 3;
/// Bytes of a search.
const MOST_SEARCH_BYTES: usize = 1000;

/// Which cases of a run are meant: those for which everything that is set here holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CaseQuery {
    /// The run.
    pub run: RunKey,
    /// Whose rows are meant by the status and the scores below; without one, the status may be that of any scorer, and
    /// the scores are the cases' own.
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
    /// Cases in whose output or reasons all of these words are.
    pub words: Vec<String>,
    /// In which order they come.
    pub order: CaseOrder,
}

/// In which order cases come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaseOrder {
    /// As they were read.
    #[default]
    AsRead,
    /// The lowest score first; cases without one are left out.
    LowestFirst,
    /// The highest score first; cases without one are left out.
    HighestFirst,
}

/// Where a page ended.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Place {
    /// The last case of the page.
    pub case: CaseKey,
    /// Its score in the order of scores.
    pub score: Option<f64>,
}

impl Place {
    /// Behind this case, which has this score.
    pub fn new(case: CaseKey, score: Option<f64>) -> Place {
        Place { case, score }
    }
}

/// A case that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FoundCase {
    /// The case.
    pub key: CaseKey,
    /// Its verdict.
    pub verdict: Verdict,
    /// Whether it passed with regressions.
    pub is_regressed: bool,
    /// The score of the scorer that is asked for, or else its own.
    pub score: Option<f64>,
}

impl FoundCase {
    /// Where a page ended whose last case this is.
    pub fn place(&self) -> Place {
        Place { case: self.key, score: self.score }
    }
}

/// Why a search is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WordsError {
    /// Too long.
    #[error("a search has at most {MOST_SEARCH_BYTES} bytes and {MOST_WORDS} words")]
    TooLong,
    /// Nothing that could be found.
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

    /// The same with the words of a search: a word of three letters or more matches what begins
    /// with it, a text in quotation marks as it is.
    ///
    /// # Errors
    /// The search is too long, or has no word.
    pub fn with_search(mut self, search: &str) -> Result<CaseQuery, WordsError> {
        if search.len() > MOST_SEARCH_BYTES {
            return Err(WordsError::TooLong);
        }
        self.words = words(search);
        match self.words.len() {
            0 => Err(WordsError::NoWord),
            1..=MOST_WORDS => Ok(self),
            _ => Err(WordsError::TooLong),
        }
    }

    fn verdicts(&self) -> Vec<i64> {
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

    fn statuses(&self) -> Vec<i64> {
        match self.status {
            Some(status) => vec![status_number(status)],
            // A score is of a scored row.
            None if self.has_scores() => vec![status_number(Status::Scored)],
            None => (0..STATUSES).collect(),
        }
    }

    /// Whether cases are found by their words and marks, and not by one combination: a status may be that of any scorer.
    fn needs_words(&self) -> bool {
        !self.words.is_empty() || (self.scorer.is_none() && self.status.is_some())
    }

    fn has_scores(&self) -> bool {
        self.least.is_some() || self.most.is_some() || self.order != CaseOrder::AsRead
    }

    /// Each combination of a scorer, a verdict and a status that is wanted.
    fn combinations(&self) -> Vec<(i64, i64, i64)> {
        let (scorer, statuses) = match self.scorer {
            Some(scorer) => (scorer.0, self.statuses()),
            // A case itself stands under one status.
            None => (itself(self.run), vec![status_number(Status::Scored)]),
        };
        let of_verdict = |verdict| statuses.iter().map(move |status| (scorer, verdict, *status));
        self.verdicts().into_iter().flat_map(of_verdict).collect()
    }

    /// What FTS5 looks for: every word among what is said, and the combination among the marks. The words are quoted, so
    /// none of them is an operator.
    fn expression(&self) -> String {
        let quoted = |word: &String| match word.strip_suffix('*') {
            Some(begins) => format!("\"{begins}\" *"),
            None => format!("\"{word}\""),
        };
        let said: Vec<String> = self.words.iter().map(quoted).collect();
        let any = |marks: Vec<String>| format!("({})", marks.join(" OR "));
        let mut marks = vec![format!("r{}", self.run.0)];
        if self.verdict.is_some() || self.regressed.is_some() {
            marks.push(any(self.verdicts().iter().map(|it| format!("v{it}")).collect()));
        }
        match (self.scorer, self.status) {
            (Some(scorer), Some(status)) => {
                marks.push(format!("s{}t{}", scorer.0, status_number(status)));
            }
            (Some(scorer), None) => marks.push(format!("s{}", scorer.0)),
            (None, Some(status)) => marks.push(format!("t{}", status_number(status))),
            (None, None) => {}
        }
        let marks = format!("marks : ({})", marks.join(" AND "));
        match said.is_empty() {
            true => marks,
            false => format!("said : ({}) AND {marks}", said.join(" AND ")),
        }
    }
}

/// The words of a search, without what FTS5 would take for more than a word; one that may go on ends with `*`.
fn words(search: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (place, part) in search.split('"').enumerate() {
        let has_word = |text: &str| text.chars().any(char::is_alphanumeric);
        match place % 2 {
            1 if has_word(part) => words.push(part.replace('\0', " ")),
            1 => {}
            _ => words.extend(
                part.split(|it: char| it.is_whitespace() || it == '\0')
                    .filter(|word| has_word(word))
                    .map(|word| {
                        let word = word.trim_end_matches('*');
                        let letters = word.chars().filter(|it| it.is_alphanumeric()).count();
                        let mark = if letters >= LEAST_BEGINNING { "*" } else { "" };
                        format!("{word}{mark}")
                    }),
            ),
        }
    }
    words
}

impl CaseIndex {
    /// The cases that a query names, at most `limit`, beginning after `after`, where the page before ended.
    ///
    /// # Errors
    /// Troubles of reading.
    pub fn cases(
        &self,
        query: &CaseQuery,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<FoundCase>, StoreError> {
        match query.needs_words() {
            true => self.with_words(query, after, limit),
            false => self.merged(query, after, limit),
        }
    }

    /// How many cases a query names, counted up to `most`.
    ///
    /// # Errors
    /// Troubles of reading.
    pub fn count(&self, query: &CaseQuery, most: u64) -> Result<u64, StoreError> {
        let limit = i64::try_from(most).unwrap_or(i64::MAX);
        if query.needs_words() {
            let count = || {
                let (sql, mut values) = match query.has_scores() {
                    true => matching(query),
                    // The marks alone say it.
                    false => {
                        let words = Value::Text(query.expression());
                        ("FROM words WHERE words MATCH ?".to_owned(), vec![words])
                    }
                };
                values.push(Value::Integer(limit));
                let mut counted = self
                    .conn
                    .prepare_cached(&format!("SELECT count(*) FROM (SELECT 1 {sql} LIMIT ?)"))?;
                counted.query_row(params_from_iter(values), |row| row.get::<_, i64>(0))
            };
            return self.explained(count()).map(i64::unsigned_abs);
        }
        let mut all = 0;
        for (scorer, verdict, status) in query.combinations() {
            let count = || {
                let (sql, mut values) = range(query, scorer, verdict, status, None);
                values.push(Value::Integer(limit));
                let mut counted = self
                    .conn
                    .prepare_cached(&format!("SELECT count(*) FROM (SELECT 1 {sql} LIMIT ?)"))?;
                counted.query_row(params_from_iter(values), |row| row.get::<_, i64>(0))
            };
            all += self.explained(count())?.unsigned_abs();
            if all >= most {
                return Ok(most);
            }
        }
        Ok(all)
    }

    /// The verdict and the score of a case; `None` if it is not indexed.
    ///
    /// # Errors
    /// Troubles of reading.
    pub fn case(&self, run: RunKey, key: CaseKey) -> Result<Option<FoundCase>, StoreError> {
        let read = || {
            let mut query = self.conn.prepare_cached(
                "SELECT verdict, score FROM entries WHERE scorer = ?1 AND case_key = ?2",
            )?;
            let of = params![itself(run), key];
            query.query_row(of, |row| Ok(found(key, row.get(0)?, row.get(1)?))).optional()
        };
        self.explained(read())
    }

    /// A page, merged from the beginnings of all combinations.
    fn merged(
        &self,
        query: &CaseQuery,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<FoundCase>, StoreError> {
        let mut all: Vec<FoundCase> = Vec::new();
        for (scorer, verdict, status) in query.combinations() {
            let read = || {
                let (sql, mut values) = range(query, scorer, verdict, status, after);
                let order = match query.order {
                    CaseOrder::AsRead => "case_key",
                    CaseOrder::LowestFirst => "score, case_key",
                    CaseOrder::HighestFirst => "score DESC, case_key DESC",
                };
                values.push(Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX)));
                let sql = format!("SELECT case_key, score {sql} ORDER BY {order} LIMIT ?");
                let mut cases = self.conn.prepare_cached(&sql)?;
                let cases = cases.query_map(params_from_iter(values), |row| {
                    Ok(found(row.get(0)?, verdict, row.get(1)?))
                })?;
                cases.collect::<rusqlite::Result<Vec<_>>>()
            };
            all.extend(self.explained(read())?);
        }
        all.sort_by(|one, other| compared(query.order, one, other));
        all.dedup_by_key(|case| case.key);
        all.truncate(limit);
        Ok(all)
    }

    /// A page of the cases that have the words and the marks. In the order of scores, all of them are looked at.
    fn with_words(
        &self,
        query: &CaseQuery,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<FoundCase>, StoreError> {
        let (mut sql, mut values) = matching(query);
        let order = match (query.order, after) {
            (CaseOrder::AsRead, None) => "words.rowid",
            (CaseOrder::AsRead, Some(after)) => {
                sql.push_str(" AND words.rowid > ?");
                values.push(Value::Integer(after.case.0));
                "words.rowid"
            }
            (CaseOrder::LowestFirst, after) => {
                if let Some(after) = after {
                    sql.push_str(" AND (entries.score, words.rowid) > (?, ?)");
                    let score = Value::Real(after.score.unwrap_or(0.0));
                    values.extend([score, Value::Integer(after.case.0)]);
                }
                "entries.score, words.rowid"
            }
            (CaseOrder::HighestFirst, after) => {
                if let Some(after) = after {
                    sql.push_str(" AND (entries.score, words.rowid) < (?, ?)");
                    let score = Value::Real(after.score.unwrap_or(0.0));
                    values.extend([score, Value::Integer(after.case.0)]);
                }
                "entries.score DESC, words.rowid DESC"
            }
        };
        values.push(Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX)));
        let read = || {
            let sql = format!(
                "SELECT words.rowid, entries.verdict, entries.score {sql} ORDER BY {order} LIMIT ?"
            );
            let mut cases = self.conn.prepare_cached(&sql)?;
            let cases = cases.query_map(params_from_iter(values), |row| {
                Ok(found(row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
            cases.collect()
        };
        self.explained(read())
    }
}

fn found(key: CaseKey, verdict: i64, score: Option<f64>) -> FoundCase {
    let is_regressed = verdict == verdict_number(Verdict::Passed, true);
    let verdict = match verdict {
        0 | 1 => Verdict::Passed,
        2 => Verdict::Failed,
        3 => Verdict::Errored,
        _ => Verdict::Skipped,
    };
    FoundCase { key, verdict, is_regressed, score }
}

/// Which of two cases comes first in an order.
fn compared(order: CaseOrder, one: &FoundCase, other: &FoundCase) -> Ordering {
    let scores = || {
        let of = |case: &FoundCase| case.score.unwrap_or(f64::NEG_INFINITY);
        of(one).total_cmp(&of(other)).then(one.key.cmp(&other.key))
    };
    match order {
        CaseOrder::AsRead => one.key.cmp(&other.key),
        CaseOrder::LowestFirst => scores(),
        CaseOrder::HighestFirst => scores().reverse(),
    }
}

/// `FROM words CROSS JOIN entries … WHERE …` of the words and marks of a query, each case once, with the verdict and the score
/// of the scorer that is asked for, or else its own.
fn matching(query: &CaseQuery) -> (String, Vec<Value>) {
    let scorer = query.scorer.map_or(itself(query.run), |scorer| scorer.0);
    let mut sql = String::from(
        "FROM words CROSS JOIN entries ON entries.scorer = ? AND entries.case_key = words.rowid
         WHERE words MATCH ?",
    );
    let mut values = vec![Value::Integer(scorer), Value::Text(query.expression())];
    if query.has_scores() {
        sql.push_str(" AND entries.score IS NOT NULL");
    }
    if let Some(least) = query.least {
        sql.push_str(" AND entries.score >= ?");
        values.push(Value::Real(least));
    }
    if let Some(most) = query.most {
        sql.push_str(" AND entries.score <= ?");
        values.push(Value::Real(most));
    }
    (sql, values)
}

/// `FROM entries WHERE …` of one combination, within the scores of a query and behind a place.
fn range(
    query: &CaseQuery,
    scorer: i64,
    verdict: i64,
    status: i64,
    after: Option<Place>,
) -> (String, Vec<Value>) {
    let (first, last) = CaseKey::bounds(query.run);
    let mut sql = String::from("FROM entries WHERE scorer = ? AND verdict = ? AND status = ?");
    let mut values = vec![Value::Integer(scorer), Value::Integer(verdict), Value::Integer(status)];
    if query.has_scores() {
        sql.push_str(" AND score IS NOT NULL");
    }
    if let Some(least) = query.least {
        sql.push_str(" AND score >= ?");
        values.push(Value::Real(least));
    }
    if let Some(most) = query.most {
        sql.push_str(" AND score <= ?");
        values.push(Value::Real(most));
    }
    match (query.order, after) {
        (CaseOrder::AsRead, after) => {
            sql.push_str(" AND case_key BETWEEN ? AND ?");
            let first = after.map_or(first, |after| after.case.0.saturating_add(1));
            values.extend([Value::Integer(first), Value::Integer(last)]);
        }
        (_, None) => {}
        (order, Some(after)) => {
            let is_lowest = order == CaseOrder::LowestFirst;
            sql.push_str(match is_lowest {
                true => " AND score >= ? AND (score, case_key) > (?, ?)",
                false => " AND score <= ? AND (score, case_key) < (?, ?)",
            });
            let score = after.score.unwrap_or(0.0);
            values.extend([Value::Real(score), Value::Real(score), Value::Integer(after.case.0)]);
        }
    }
    (sql, values)
}
