//! The score rows that a filter selects, page by page, and their scores in ascending order. It computes nothing from
//! them.

use std::sync::atomic::Ordering;

use rusqlite::{
    Row as SqlRow, ToSql, params_from_iter,
    types::{FromSql, Type, Value},
};
use serde::Serialize;

use super::{
    RunId, RunKey, RunSource, ScoreCursor, ScoreFilter, ScoreId, Store, StoreError,
    column::OnAScale, effort::Ascending, error::Dangling, filter::Conditions,
};
use crate::{
    contract::Severity,
    row::{Answer, AnswerError, Json, Row},
};

/// One stored row, with the facts that the database has about its run and scorer; the columns of the view `scores`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ScoreRecord {
    /// Its name, which does not depend on where and when it is computed.
    pub id: ScoreId,
    /// Its position, to request the rows after it.
    #[serde(skip)]
    pub cursor: ScoreCursor,
    /// The run.
    pub run_id: RunId,
    /// The row.
    #[serde(flatten)]
    pub row: Row,
    /// The scorer, for people.
    pub scorer_name: String,
    /// How a score on the wrong side of the threshold counts.
    pub severity: Severity,
    /// The worst score that passes, if one is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// The source of the cases.
    pub source: RunSource,
    /// How long the task took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// The version of the scorebox that computed it.
    pub engine_version: String,
    /// The version of wasmtime in that scorebox.
    pub wasmtime_version: String,
    /// The id of the row from which this one was copied, if it was not computed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reused_from: Option<String>,
}

fn count_sql(conditions: &Conditions) -> String {
    format!("SELECT count(*) FROM score_rows{}", conditions.sql())
}

/// A page ends after this many bytes of rows.
const PAGE_BYTES: usize = 16 << 20;

impl ScoreRecord {
    /// About how much memory its texts use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let origin = self.reused_from.as_ref().map_or(0, String::len);
        // The id has the names as well.
        let names = self.row.case_id.len() + self.row.scorer_id.len() + self.scorer_name.len();
        size_of::<ScoreRecord>() + self.row.bytes() + names + origin
    }
}

/// The tables in this order, so that rows come in the order of the primary key and nothing is sorted;
/// the columns in the order in which [`score_record`] takes them. A row whose case, scorer or run is not there is damage,
/// and comes without them, so that it is not left out.
const RECORDS: &str = "
    SELECT score_rows.case_key, score_rows.scorer,
        runs.id, cases.case_id, cases.node_id, cases.iteration, cases.attempt,
        scorers.scorer_id, scorers.name,
        score_rows.status, score_rows.error_kind, score_rows.error_message,
        score_rows.score, score_rows.label, score_rows.reason,
        score_rows.meta_json, score_rows.assertions_json, score_rows.log_json,
        scorers.component_digest, scorers.config_digest, score_rows.input_digest,
        score_rows.fuel, score_rows.memory_bytes,
        scorers.severity, scorers.threshold, runs.source,
        score_rows.scored_at_ms, score_rows.duration_ms, cases.latency_ms,
        coalesce(sessions.engine_version, runs.engine_version),
        coalesce(sessions.wasmtime_version, runs.wasmtime_version),
        (SELECT origin_runs.id || ':' || origin_scorers.scorer_id || ':' || origin.iteration || ':'
                || origin.attempt || ':' || origin.case_id
            FROM cases AS origin
            JOIN runs AS origin_runs ON origin_runs.run = origin.run
            JOIN scorers AS origin_scorers ON origin_scorers.scorer = score_rows.reused_scorer
            WHERE origin.case_key = score_rows.reused_case),
        scorers.judge_json IS NOT NULL
    FROM score_rows
    LEFT JOIN cases ON cases.case_key = score_rows.case_key
    LEFT JOIN scorers ON scorers.scorer = score_rows.scorer
    LEFT JOIN runs ON runs.run = cases.run
    LEFT JOIN sessions ON sessions.session = score_rows.session";

impl Store {
    /// The rows that `filter` selects, ordered by run, case and scorer: at most `limit`, beginning after `after`, the
    /// last row of the page before. There are fewer if they are large: a page ends with the row that makes it larger
    /// than 16 MiB. It is empty only if no row is left.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; the database cannot be read.
    pub fn scores(
        &self,
        filter: &ScoreFilter,
        after: Option<ScoreCursor>,
        limit: usize,
    ) -> Result<Vec<ScoreRecord>, StoreError> {
        let run = self.run_of(filter)?;
        let mut conditions = Conditions::of(filter, run, after);
        let order = "ORDER BY score_rows.case_key, score_rows.scorer LIMIT ?";
        let sql = format!("{RECORDS}{} {order}", conditions.sql());
        conditions.values.push(Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX)));
        let (mut records, mut bytes) = (Vec::new(), 0);
        let mut keys = Ascending::after(after);
        self.each_until(&sql, &conditions, |row| {
            let record = self.score_record(row)?;
            keys.note(record.cursor)?;
            bytes += record.bytes();
            records.push(record);
            Ok(bytes <= PAGE_BYTES)
        })?;
        Ok(records)
    }

    /// The row of this cursor.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn score_at(&self, cursor: ScoreCursor) -> Result<Option<ScoreRecord>, StoreError> {
        let mut conditions = Conditions::default();
        let key = [Value::Integer(cursor.case.0), Value::Integer(cursor.scorer.0)];
        conditions.add("score_rows.case_key = ? AND score_rows.scorer = ?", key);
        let sql = format!("{RECORDS}{}", conditions.sql());
        let mut record = None;
        self.each(&sql, &conditions, |row| {
            record = Some(self.score_record(row)?);
            Ok(())
        })?;
        Ok(record)
    }

    /// The score with this name in a run.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn score(&self, run: RunKey, id: &ScoreId) -> Result<Option<ScoreRecord>, StoreError> {
        let scorers = self.scorers(run)?;
        let scorer = scorers.iter().find(|scorer| scorer.spec.scorer_id == id.scorer_id);
        let case = self.stored_case(run, &id.case_id, id.iteration, id.attempt)?;
        match (scorer, case) {
            (Some(scorer), Some(case)) => {
                self.score_at(ScoreCursor { case: case.key, scorer: scorer.key })
            }
            _ => Ok(None),
        }
    }

    /// The cursors of the rows at these indices (ascending) among the rows that `filter` selects. It reads the keys of
    /// all of these.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; the database cannot be read.
    pub fn cursors_at(
        &self,
        filter: &ScoreFilter,
        indices: &[u64],
    ) -> Result<Vec<ScoreCursor>, StoreError> {
        let conditions = Conditions::of(filter, self.run_of(filter)?, None);
        let sql = format!(
            "SELECT case_key, scorer FROM score_rows{} ORDER BY case_key, scorer",
            conditions.sql()
        );
        let mut wanted = indices.iter().copied().peekable();
        let (mut index, mut cursors) = (0, Vec::with_capacity(indices.len()));
        self.each(&sql, &conditions, |row| {
            if wanted.next_if_eq(&index).is_some() {
                cursors.push(ScoreCursor { case: row.get(0)?, scorer: row.get(1)? });
            }
            index += 1;
            Ok(())
        })?;
        Ok(cursors)
    }

    /// How many rows `filter` selects.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; the database cannot be read.
    pub fn score_count(&self, filter: &ScoreFilter) -> Result<u64, StoreError> {
        let conditions = Conditions::of(filter, self.run_of(filter)?, None);
        let mut count = 0;
        self.each(&count_sql(&conditions), &conditions, |row| {
            count = row.get::<_, i64>(0)?.unsigned_abs();
            Ok(())
        })?;
        Ok(count)
    }

    /// Calls `take` with every score that `filter` selects, of the scorer with this id, in ascending order. Memory use
    /// stays constant: scores that do not fit are sorted in temporary files.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; the database cannot be read.
    pub fn for_each_score_sorted(
        &self,
        filter: &ScoreFilter,
        scorer_id: &str,
        mut take: impl FnMut(f64),
    ) -> Result<(), StoreError> {
        if filter.scorer.as_deref().is_some_and(|wanted| wanted != scorer_id) {
            return Ok(());
        }
        let filter = ScoreFilter { scorer: Some(scorer_id.to_owned()), ..filter.clone() };
        let mut conditions = Conditions::of(&filter, self.run_of(&filter)?, None);
        conditions.add("score_rows.status = 'scored'", []);
        let sql = format!("SELECT score FROM score_rows{} ORDER BY score", conditions.sql());
        self.each(&sql, &conditions, |row| {
            take(row.get::<_, OnAScale>(0)?.0);
            Ok(())
        })
    }

    /// The record of a row, with the judge calls that it is based on.
    fn score_record(&self, row: &SqlRow<'_>) -> rusqlite::Result<ScoreRecord> {
        let (mut record, asks_judge) = score_record(row)?;
        if asks_judge {
            record.row.answer.calls = self.shown_calls(record.cursor)?;
        }
        Ok(record)
    }

    pub(super) fn run_of(&self, filter: &ScoreFilter) -> Result<Option<RunKey>, StoreError> {
        filter.run.as_deref().map(|id| self.run(id).map(|run| run.key)).transpose()
    }

    /// Runs a query of this room with the values of `conditions`, row by row.
    pub(super) fn each(
        &self,
        sql: &str,
        conditions: &Conditions,
        mut take: impl FnMut(&SqlRow<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        self.each_until(sql, conditions, |row| take(row).map(|()| true))
    }

    /// Like `each`, until `take` returns false.
    fn each_until(
        &self,
        sql: &str,
        conditions: &Conditions,
        mut take: impl FnMut(&SqlRow<'_>) -> rusqlite::Result<bool>,
    ) -> Result<(), StoreError> {
        let values = params_from_iter(conditions.values.iter().map(|value| value as &dyn ToSql));
        self.bounded(|| {
            let mut query = self.conn.prepare_cached(sql)?;
            let mut rows = query.query(values)?;
            while let Some(row) = rows.next()? {
                self.rows_read.fetch_add(1, Ordering::Relaxed);
                if !take(row)? {
                    break;
                }
            }
            Ok(())
        })
    }
}

/// The record, and whether its scorer asks a judge.
fn score_record(row: &SqlRow<'_>) -> rusqlite::Result<(ScoreRecord, bool)> {
    let mut cells = Cells { row, next: 0 };
    // The order of these lines is the order of the columns.
    let cursor = ScoreCursor { case: cells.take()?, scorer: cells.take()? };
    let run_id: RunId = cells.named("case or its run")?;
    let case_id: String = cells.take()?;
    let node_id = cells.take()?;
    let (iteration, attempt) = (cells.take()?, cells.take()?);
    let scorer_id: String = cells.named("scorer")?;
    let scorer_name = cells.take()?;
    let status = cells.take()?;
    let error = row_error(cells.take()?, cells.take()?);
    // Unchanged, because verifying the row reports it.
    let (score, label, reason) = (cells.take()?, cells.take()?, cells.take()?);
    let (meta, assertions, log) = (cells.json()?, cells.json()?, cells.json()?);
    let (scorer_digest, config_digest, input_digest) =
        (cells.take()?, cells.take()?, cells.take()?);
    let (fuel, memory_bytes) = (cells.count()?, cells.count()?);
    let (severity, threshold, source) = (cells.take()?, cells.take()?, cells.take()?);
    let (scored_at_ms, duration_ms, latency_ms) = (cells.take()?, cells.take()?, cells.take()?);
    let (engine_version, wasmtime_version) = (cells.take()?, cells.take()?);
    let (reused_from, asks_judge) = (cells.take()?, cells.take()?);
    let id = ScoreId {
        run_id: run_id.clone(),
        scorer_id: scorer_id.clone(),
        iteration,
        attempt,
        case_id: case_id.clone(),
    };
    let answer = Answer {
        score,
        label,
        reason,
        meta,
        assertions,
        error,
        fuel,
        memory_bytes,
        duration_ms,
        log,
        ..Answer::new(status)
    };
    let row = Row {
        case_id,
        node_id,
        iteration,
        attempt,
        scorer_id,
        answer,
        scorer_digest,
        config_digest,
        input_digest,
        scored_at_ms,
    };
    let record = ScoreRecord {
        id,
        cursor,
        run_id,
        row,
        scorer_name,
        severity,
        threshold,
        source,
        latency_ms,
        engine_version,
        wasmtime_version,
        reused_from,
    };
    Ok((record, asks_judge))
}

/// The error of a row. It has both columns or neither, unless the database was tampered with.
fn row_error(kind: Option<String>, message: Option<String>) -> Option<AnswerError> {
    let some = kind.is_some() || message.is_some();
    some.then(|| AnswerError::new(kind.unwrap_or_default(), message.unwrap_or_default()))
}

/// The cells of a row, from left to right: finding each of 32 columns by its name would take most of the time of a
/// page.
struct Cells<'r> {
    row: &'r SqlRow<'r>,
    next: usize,
}

impl Cells<'_> {
    fn take<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let cell = self.row.get(self.next);
        self.next += 1;
        cell
    }

    /// What is in every row, unless what the row belongs to is missing.
    fn named<T: FromSql>(&mut self, what: &'static str) -> rusqlite::Result<T> {
        let place = self.next;
        let missing = || {
            let why = Box::new(Dangling(what));
            rusqlite::Error::FromSqlConversionFailure(place, Type::Null, why)
        };
        self.take::<Option<T>>()?.ok_or_else(missing)
    }

    fn json(&mut self) -> rusqlite::Result<Option<Json>> {
        Ok(self.take::<Option<String>>()?.map(Json::from))
    }

    fn count(&mut self) -> rusqlite::Result<Option<u64>> {
        Ok(self.take::<Option<i64>>()?.map(i64::unsigned_abs))
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
