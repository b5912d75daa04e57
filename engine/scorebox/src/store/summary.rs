//! The scorers' summaries of a run: the rows that they are given, and their answers. It calls no scorer.

#![expect(
    clippy::exhaustive_structs,
    reason = "who stores a new column must be shown by the compiler where it is to be filled in"
)]

use rusqlite::{Row, named_params, params};
use serde::Serialize;

use super::{
    CaseKey, RunKey, ScorerKey, Store, StoreError,
    column::{OnAScale, integer, json_array},
};
use crate::contract::{LogLine, ScoredRow};

/// A summary to store.
#[derive(Clone, Copy, Debug)]
pub struct NewSummary<'a> {
    /// The scorer's JSON, or the kind and message of the error.
    pub result: Result<&'a str, (&'a str, &'a str)>,
    /// The Wasm fuel that it used, if known.
    pub fuel: Option<u64>,
    /// How long it took, in milliseconds; finite, 0 or more.
    pub duration_ms: f64,
    /// When it was computed, in milliseconds since 1970 UTC.
    pub computed_at_ms: i64,
    /// What the scorer logged.
    pub log: &'a [LogLine],
}

/// A stored summary.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SummaryRecord {
    /// The suite's key for the scorer.
    pub scorer_id: String,
    /// The scorer's JSON, as text; `None` if there is an error.
    pub summary_json: Option<String>,
    /// The engine's word for the error.
    pub error_kind: Option<String>,
    /// The message for the user.
    pub error_message: Option<String>,
    /// The Wasm fuel that it used, if known.
    pub fuel: Option<u64>,
    /// What the scorer logged, as a JSON array; `None` if it logged nothing.
    pub log_json: Option<String>,
}

impl Store {
    /// Calls `take` with the scored and not applicable rows of a scorer, in the order of the cases, until it returns
    /// false.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn for_each_scored_row(
        &self,
        run: RunKey,
        scorer: ScorerKey,
        mut take: impl FnMut(ScoredRow) -> bool,
    ) -> Result<(), StoreError> {
        let (first, last) = CaseKey::bounds(run);
        self.bounded(|| {
            let mut query = self.conn.prepare_cached(
                "SELECT cases.case_id, score_rows.score, score_rows.label, score_rows.meta_json
                 FROM score_rows CROSS JOIN cases ON cases.case_key = score_rows.case_key
                 WHERE score_rows.case_key BETWEEN ?1 AND ?2 AND score_rows.scorer = ?3
                     AND score_rows.status IN ('scored', 'not-applicable')
                 ORDER BY score_rows.case_key",
            )?;
            let mut rows = query.query(params![first, last, scorer])?;
            while let Some(row) = rows.next()? {
                if !take(scored_row(row)?) {
                    break;
                }
            }
            Ok(())
        })
    }

    /// The summaries of a run, in the suite's order.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn summaries(&self, run: RunKey) -> Result<Vec<SummaryRecord>, StoreError> {
        self.brief(|| {
            let mut query = self.conn.prepare_cached(
                "SELECT scorers.scorer_id, summary_json, error_kind, error_message, fuel,
                     log_json
                 FROM summaries JOIN scorers ON scorers.scorer = summaries.scorer
                 WHERE scorers.run = ?1 ORDER BY summaries.scorer",
            )?;
            let record = |row: &Row<'_>| {
                Ok(SummaryRecord {
                    scorer_id: row.get(0)?,
                    summary_json: row.get(1)?,
                    error_kind: row.get(2)?,
                    error_message: row.get(3)?,
                    fuel: row.get::<_, Option<i64>>(4)?.map(i64::unsigned_abs),
                    log_json: row.get(5)?,
                })
            };
            query.query_map([run], record)?.collect()
        })
    }

    /// Deletes the summaries of a run that is resumed: they do not cover the rows that follow.
    pub(super) fn forget_summaries(&self, run: RunKey) -> Result<(), StoreError> {
        let sql =
            "DELETE FROM summaries WHERE scorer IN (SELECT scorer FROM scorers WHERE run = ?1)";
        self.explained(self.conn.execute(sql, [run])).map(drop)
    }

    /// Stores a summary, replacing that of an earlier session, because the new one covers all rows.
    pub(super) fn put_summary(
        &self,
        scorer: ScorerKey,
        summary: &NewSummary<'_>,
    ) -> Result<(), StoreError> {
        let put = || {
            self.conn.execute(
                "INSERT OR REPLACE INTO summaries (scorer, summary_json, error_kind, error_message,
                     fuel, duration_ms, log_json, computed_at_ms)
                 VALUES (:scorer, :summary, :kind, :message, :fuel, :duration, :log, :computed_at)",
                named_params! {
                    ":scorer": scorer,
                    ":summary": summary.result.ok(),
                    ":kind": summary.result.err().map(|(kind, _)| kind),
                    ":message": summary.result.err().map(|(_, message)| message),
                    ":fuel": summary.fuel.map(integer),
                    ":duration": summary.duration_ms,
                    ":log": json_array(summary.log)?,
                    ":computed_at": summary.computed_at_ms,
                },
            )
        };
        self.explained(put()).map(drop)
    }
}

fn scored_row(row: &Row<'_>) -> rusqlite::Result<ScoredRow> {
    Ok(ScoredRow {
        case_id: row.get(0)?,
        score: OnAScale::of(row.get(1)?),
        label: row.get(2)?,
        meta: row.get(3)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Outcome, RunState, RunWriter, sample::*};
    use super::*;

    #[test]
    fn a_summary_is_stored_with_the_run_and_a_later_one_takes_its_place() {
        let (_folder, store) = database();
        let mut writer = writer(store, "r", &["a", "b"]);
        let scorers = writer.run().scorers.clone();
        let said = |result| NewSummary {
            result,
            fuel: Some(7),
            duration_ms: 0.5,
            computed_at_ms: 1,
            log: &[],
        };
        writer.put_summary(scorers[1], &said(Err(("trap", "unreachable")))).unwrap();
        writer.put_summary(scorers[1], &said(Ok("{}"))).unwrap();
        writer.put_summary(scorers[0], &said(Err(("failed", "no rows")))).unwrap();
        let stored = writer.store().summaries(writer.run().key).unwrap();
        let ids: Vec<&str> = stored.iter().map(|summary| summary.scorer_id.as_str()).collect();
        assert_eq!(ids, ["a", "b"]);
        assert_eq!(stored[0].error_message.as_deref(), Some("no rows"));
        assert_eq!(stored[1].summary_json.as_deref(), Some("{}"));
    }

    #[test]
    fn a_session_that_adds_to_a_run_forgets_what_was_said_of_it_before() {
        let (_folder, store) = database();
        let mut first = writer(store, "r", &["a"]);
        let of_nothing = NewSummary {
            result: Ok("{}"),
            fuel: None,
            duration_ms: 0.5,
            computed_at_ms: 1,
            log: &[],
        };
        first.put_summary(first.run().scorers[0], &of_nothing).unwrap();
        first.finish(RunState::Interrupted, None, 2).unwrap();
        let store = Store::open(first.store().path()).unwrap();
        let run = store.resume_run("r", &session()).unwrap();
        let mut second = RunWriter::new(store, run);
        assert_eq!(second.store().summaries(second.run().key).unwrap().len(), 1);
        added(&mut second, &case(0, "x"));
        assert_eq!(second.store().summaries(second.run().key).unwrap(), []);
    }

    #[test]
    fn a_scorer_is_handed_what_it_answered_in_the_order_of_the_cases() {
        let (_folder, store) = database();
        let mut writer = writer(store, "r", &["a", "b"]);
        let scorers = writer.run().scorers.clone();
        let none = Outcome::NotApplicable { label: Some("none"), reason: None, meta: Some("[]") };
        for (ordinal, row) in [scored(0.5), error(), row(none)].iter().enumerate() {
            let key = added(&mut writer, &case(ordinal as u64, &format!("c{ordinal}")));
            writer.add_score(key, scorers[0], row).unwrap();
            writer.add_score(key, scorers[1], &scored(1.0)).unwrap();
        }
        let mut rows = Vec::new();
        let take = |row| {
            rows.push(row);
            true
        };
        writer.store().for_each_scored_row(writer.run().key, scorers[0], take).unwrap();
        let row = |id: &str, score, label: Option<&str>, meta: Option<&str>| ScoredRow {
            case_id: id.into(),
            score,
            label: label.map(Into::into),
            meta: meta.map(Into::into),
        };
        assert_eq!(
            rows,
            [row("c0", Some(0.5), None, None), row("c2", None, Some("none"), Some("[]"))]
        );
    }
}
