//! Finds cases in an index: by scorer, status, score, verdict and words, a page at a time. `filling` writes the index.

use std::cmp::Ordering;

use rusqlite::{OptionalExtension as _, Row, params, params_from_iter, types::Value};

use super::{
    CaseIndex,
    filling::verdict_number,
    itself,
    matches::Matches,
    query::{CaseOrder, CaseQuery},
};
use crate::{
    store::{CaseKey, RunKey, StoreError},
    verdict::Verdict,
};

/// Up to how many cases with the words of a search are looked up one by one. If there are more, a page in the order of
/// scores is found faster by going through the scores until it is full.
const FEW: u64 = 10_000;

/// The position at which a page ended.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CaseCursor {
    /// The last case of the page.
    pub case: CaseKey,
    /// Its score, in an order by scores.
    pub score: Option<f64>,
}

impl CaseCursor {
    /// The position after this case, which has this score.
    pub fn new(case: CaseKey, score: Option<f64>) -> CaseCursor {
        CaseCursor { case, score }
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
    /// The score of the requested scorer, or else its own.
    pub score: Option<f64>,
}

impl FoundCase {
    /// The position after a page that ends with this case.
    pub fn cursor(&self) -> CaseCursor {
        CaseCursor { case: self.key, score: self.score }
    }
}

/// The cases that a query selects, to count them or read them in pages.
#[derive(Debug)]
pub struct Finding<'i> {
    index: &'i CaseIndex,
    query: CaseQuery,
    /// The cases with the words, if they are many and scores matter: then entries are read in order.
    matches: Option<Matches>,
}

impl CaseIndex {
    /// The cases that a query selects.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn finding(&self, query: &CaseQuery) -> Result<Finding<'_>, StoreError> {
        let many = match query.needs_words() && query.has_scores() {
            true => self.explained(self.matches(query))?,
            false => None,
        };
        Ok(Finding { index: self, query: query.clone(), matches: many })
    }

    /// The cases with the words of a query, if they are many.
    fn matches(&self, query: &CaseQuery) -> rusqlite::Result<Option<Matches>> {
        let (first, last) = CaseKey::bounds(query.run);
        let mut matches = Matches::default();
        let mut words = self.conn.prepare_cached(
            "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?",
        )?;
        let mut rows = words.query(params![query.expression(true), first, last])?;
        while let Some(row) = rows.next()? {
            matches.add(row.get(0)?);
        }
        Ok((matches.count() > FEW).then_some(matches))
    }

    /// The cases that a query selects, at most `limit`, beginning after `after`, where the page before ended.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn cases(
        &self,
        query: &CaseQuery,
        after: Option<CaseCursor>,
        limit: usize,
    ) -> Result<Vec<FoundCase>, StoreError> {
        self.finding(query)?.cases(after, limit)
    }

    /// The verdict and the score of a case; `None` if it is not indexed.
    ///
    /// # Errors
    /// The database cannot be read.
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
}

impl Finding<'_> {
    /// A page, at most `limit` cases, beginning after `after`, where the page before ended.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn cases(
        &self,
        after: Option<CaseCursor>,
        limit: usize,
    ) -> Result<Vec<FoundCase>, StoreError> {
        let found = match self.query.needs_words() && self.matches.is_none() {
            true => self.with_words(after, limit),
            false => self.merged(after, limit),
        };
        self.index.explained(found)
    }

    /// The same cases in the opposite order: the page before another one begins after its first case.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.query.order = self.query.order.reversed();
        self
    }

    /// How many cases there are, counted up to `most`.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn count(&self, most: u64) -> Result<u64, StoreError> {
        let count = match (&self.matches, self.query.needs_words()) {
            (None, true) => self.counted_with_words(most),
            _ => self.counted(most),
        };
        self.index.explained(count)
    }

    fn counted_with_words(&self, most: u64) -> rusqlite::Result<u64> {
        let query = &self.query;
        let (sql, values) = match query.has_scores() {
            true => matching(query),
            // The marks alone are enough.
            false => {
                let (first, last) = CaseKey::bounds(query.run);
                let sql = "FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?".to_owned();
                let words = Value::Text(query.expression(false));
                (sql, vec![words, Value::Integer(first), Value::Integer(last)])
            }
        };
        self.limited_count(&sql, values, most)
    }

    fn counted(&self, most: u64) -> rusqlite::Result<u64> {
        let mut all = 0;
        for (scorer, verdict, status) in self.query.combinations() {
            let (sql, values) = range(&self.query, scorer, verdict, status, None);
            all += match &self.matches {
                None => self.limited_count(&sql, values, most - all)?,
                Some(matches) => {
                    let mut count = 0;
                    self.each(&format!("SELECT case_key {sql}"), values, |row| {
                        count += u64::from(matches.contains(row.get(0)?));
                        Ok(all + count < most)
                    })?;
                    count
                }
            };
            if all >= most {
                return Ok(most);
            }
        }
        Ok(all)
    }

    fn limited_count(&self, sql: &str, mut values: Vec<Value>, most: u64) -> rusqlite::Result<u64> {
        values.push(Value::Integer(i64::try_from(most).unwrap_or(i64::MAX)));
        let sql = format!("SELECT count(*) FROM (SELECT 1 {sql} LIMIT ?)");
        let mut counted = self.index.conn.prepare_cached(&sql)?;
        counted.query_row(params_from_iter(values), |row| row.get(0)).map(i64::unsigned_abs)
    }

    /// Calls `take` with rows until it returns false.
    fn each(
        &self,
        sql: &str,
        values: Vec<Value>,
        mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<bool>,
    ) -> rusqlite::Result<()> {
        let mut query = self.index.conn.prepare_cached(sql)?;
        let mut rows = query.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            if !take(row)? {
                break;
            }
        }
        Ok(())
    }

    /// A page, merged from the beginnings of all combinations; only cases with the words, if these were searched.
    fn merged(&self, after: Option<CaseCursor>, limit: usize) -> rusqlite::Result<Vec<FoundCase>> {
        let mut all: Vec<FoundCase> = Vec::new();
        let order = match self.query.order {
            CaseOrder::AsRead => "case_key",
            CaseOrder::LastFirst => "case_key DESC",
            CaseOrder::LowestFirst => "score, case_key",
            CaseOrder::HighestFirst => "score DESC, case_key DESC",
        };
        for (scorer, verdict, status) in self.query.combinations() {
            let (sql, values) = range(&self.query, scorer, verdict, status, after);
            let sql = format!("SELECT case_key, score {sql} ORDER BY {order}");
            let mut room = limit;
            if room == 0 {
                break;
            }
            self.each(&sql, values, |row| {
                let key: CaseKey = row.get(0)?;
                if self.matches.as_ref().is_none_or(|matches| matches.contains(key.0)) {
                    all.push(found(key, verdict, row.get(1)?));
                    room -= 1;
                }
                Ok(room > 0)
            })?;
        }
        all.sort_by(|one, other| compared(self.query.order, one, other));
        all.dedup_by_key(|case| case.key);
        all.truncate(limit);
        Ok(all)
    }

    /// A page of the cases that have the words and the marks. In an order by scores, all of them are looked up.
    fn with_words(
        &self,
        after: Option<CaseCursor>,
        limit: usize,
    ) -> rusqlite::Result<Vec<FoundCase>> {
        let (mut sql, mut values) = matching(&self.query);
        let order = match (self.query.order, after) {
            (CaseOrder::AsRead, None) => "words.rowid",
            (CaseOrder::LastFirst, None) => "words.rowid DESC",
            (CaseOrder::LastFirst, Some(after)) => {
                sql.push_str(" AND words.rowid < ?");
                values.push(Value::Integer(after.case.0));
                "words.rowid DESC"
            }
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
        let sql = format!(
            "SELECT words.rowid, entries.verdict, entries.score {sql} ORDER BY {order} LIMIT ?"
        );
        let mut cases = self.index.conn.prepare_cached(&sql)?;
        let cases = cases.query_map(params_from_iter(values), |row| {
            Ok(found(row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        cases.collect()
    }
}

fn found(key: CaseKey, verdict: i64, score: Option<f64>) -> FoundCase {
    let is_regressed = verdict == verdict_number(Verdict::Passed, true);
    let verdict = match verdict {
        0 | 1 => Verdict::Passed,
        2 => Verdict::Failed,
        3 => Verdict::Errored,
        4 => Verdict::Skipped,
        _ => Verdict::Undecided,
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
        CaseOrder::LastFirst => other.key.cmp(&one.key),
        CaseOrder::LowestFirst => scores(),
        CaseOrder::HighestFirst => scores().reverse(),
    }
}

/// `FROM words CROSS JOIN entries … WHERE …` for the words and marks of a query, each case once, with the verdict and
/// the score of the requested scorer, or else its own.
fn matching(query: &CaseQuery) -> (String, Vec<Value>) {
    let scorer = query.scorer.map_or(itself(query.run), |scorer| scorer.0);
    let mut sql = String::from(
        "FROM words CROSS JOIN entries ON entries.scorer = ? AND entries.case_key = words.rowid
         WHERE words MATCH ? AND words.rowid BETWEEN ? AND ?",
    );
    let (first, last) = CaseKey::bounds(query.run);
    let words = Value::Text(query.expression(false));
    let mut values =
        vec![Value::Integer(scorer), words, Value::Integer(first), Value::Integer(last)];
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

/// `FROM entries WHERE …` for one combination, within the scores of a query and after a cursor.
fn range(
    query: &CaseQuery,
    scorer: i64,
    verdict: i64,
    status: i64,
    after: Option<CaseCursor>,
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
        (CaseOrder::LastFirst, after) => {
            sql.push_str(" AND case_key BETWEEN ? AND ?");
            let last = after.map_or(last, |after| after.case.0.saturating_sub(1));
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
