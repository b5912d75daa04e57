//! Scores that were computed before: which rows of earlier runs are reused for a case of this one, and their copies. It
//! computes no digest.

use rusqlite::{OptionalExtension, params};

use super::{CaseKey, RunHandle, ScoreCursor, ScorerKey, Store, StoreError};
use crate::{digest::Digest, row::Answer};

/// A row of an earlier run that has the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reusable {
    pub(super) case: CaseKey,
    pub(super) scorer: ScorerKey,
}

/// The error if the tables refuse a copy: another program changed the row.
pub(super) fn copy_error(error: StoreError) -> StoreError {
    match error {
        StoreError::Rejected { path, what } => {
            let what = format!("a row of an earlier run, which was to be reused: {what}");
            StoreError::Corrupt { path, what }
        }
        other => other,
    }
}

/// The rows that a run may reuse, found by scorer and input. They are in temporary files, not in memory.
#[derive(Debug)]
pub struct ReuseIndex {
    store: Store,
}

/// Equal scorers: the same component, configuration, limits and start, with the same grants. Rows: answers (no errors,
/// because a second try may succeed), of the same version of wasmtime, so that fuel is comparable. The newest of
/// several.
const FILL: &str = "
    INSERT OR IGNORE INTO temp.reusable
    SELECT mine.scorer, score_rows.input_digest, score_rows.case_key, score_rows.scorer
    FROM scorers AS mine
    JOIN scorers AS theirs ON theirs.component_digest = mine.component_digest
        AND theirs.config_digest = mine.config_digest AND theirs.limits_json = mine.limits_json
        AND theirs.frozen = mine.frozen AND theirs.grants_json = mine.grants_json
        AND theirs.run <> mine.run
    JOIN score_rows ON score_rows.case_key BETWEEN theirs.run << 40 AND ((theirs.run + 1) << 40) - 1
        AND score_rows.scorer = theirs.scorer
    JOIN sessions ON sessions.session = score_rows.session
    WHERE mine.run = ?1 AND sessions.wasmtime_version = ?2
        AND score_rows.status IN ('scored', 'not-applicable')
        AND score_rows.input_digest IS NOT NULL
    ORDER BY mine.scorer, score_rows.input_digest, theirs.run DESC";

impl ReuseIndex {
    /// Collects the rows of earlier runs in this database that `run` may reuse. It reads the rows of all runs that had
    /// the same scorers.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn new(
        store: Store,
        run: &RunHandle,
        wasmtime_version: &str,
    ) -> Result<ReuseIndex, StoreError> {
        let fill = || {
            // The store is read-only; this table is in a separate file.
            store.conn.pragma_update(None, "query_only", false)?;
            store.conn.execute_batch(
                "CREATE TEMP TABLE reusable (
                     scorer INTEGER, input_digest BLOB, from_case INTEGER, from_scorer INTEGER,
                     PRIMARY KEY (scorer, input_digest)) STRICT, WITHOUT ROWID",
            )?;
            store.conn.execute(FILL, params![run.key, wasmtime_version])?;
            store.conn.pragma_update(None, "query_only", true)
        };
        store.bounded(fill)?;
        Ok(ReuseIndex { store })
    }

    /// The answer in the row.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn answer(&self, row: Reusable) -> Result<Option<Answer>, StoreError> {
        let record = self.store.score_at(ScoreCursor::new(row.case, row.scorer))?;
        Ok(record.map(|record| record.row.answer))
    }

    /// The row with the score of this scorer for this input, if there is one.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn find(&self, scorer: ScorerKey, input: Digest) -> Result<Option<Reusable>, StoreError> {
        let read = || {
            let mut query = self.store.conn.prepare_cached(
                "SELECT from_case, from_scorer FROM temp.reusable
                 WHERE scorer = ?1 AND input_digest = ?2",
            )?;
            let row = query.query_row(params![scorer, input], |row| {
                Ok(Reusable { case: row.get(0)?, scorer: row.get(1)? })
            });
            row.optional()
        };
        self.store.explained(read())
    }
}

/// A copy of a copy names the row that was computed.
const COPY: &str = "
    INSERT INTO score_rows (case_key, scorer, status, score, fuel, memory_bytes, duration_ms,
        scored_at_ms, error_kind, error_message, label, reason, meta_json, assertions_json, log_json,
        input_digest, session, reused_case, reused_scorer)
    SELECT ?1, ?2, status, score, fuel, memory_bytes, duration_ms, scored_at_ms, error_kind,
        error_message, label, reason, meta_json, assertions_json, log_json, input_digest, session,
        coalesce(reused_case, case_key), coalesce(reused_scorer, scorer)
    FROM score_rows WHERE case_key = ?3 AND scorer = ?4
    ON CONFLICT (case_key, scorer) DO NOTHING";

pub(super) fn copy(
    store: &Store,
    case: CaseKey,
    scorer: ScorerKey,
    from: Reusable,
) -> rusqlite::Result<bool> {
    let mut statement = store.conn.prepare_cached(COPY)?;
    Ok(statement.execute(params![case, scorer, from.case, from.scorer])? == 1)
}

#[cfg(test)]
mod tests {
    use super::super::{NewScore, RunWriter, ScoreFilter, ScorerSpec, sample::*};
    use super::*;

    fn input(name: &str) -> Option<Digest> {
        Some(Digest::of(name.as_bytes()))
    }

    /// A run of the scorer, with one scored case for each input.
    fn scored_run(path: &std::path::Path, id: &str, scorer: &ScorerSpec, inputs: &[&str]) {
        let mut store = Store::open(path).unwrap();
        let run = store.create_run(&run(id), std::slice::from_ref(scorer), &session()).unwrap();
        let mut writer = RunWriter::new(store, run);
        for (ordinal, name) in inputs.iter().enumerate() {
            let key = added(&mut writer, &case(ordinal as u64, name));
            let scorer = writer.run().scorers[0];
            let score = NewScore { input_digest: input(name), ..scored(0.25) };
            writer.add_score(key, scorer, &score).unwrap();
        }
    }

    fn index(
        path: &std::path::Path,
        scorer: &ScorerSpec,
        wasmtime: &str,
    ) -> (RunWriter, ReuseIndex) {
        let mut store = Store::open(path).unwrap();
        let run = store.create_run(&run("new"), std::slice::from_ref(scorer), &session()).unwrap();
        let reader = Store::open_read_only(path).unwrap();
        let index = ReuseIndex::new(reader, &run, wasmtime).unwrap();
        (RunWriter::new(store, run), index)
    }

    #[test]
    fn a_row_is_reused_where_component_configuration_limits_and_input_are_the_same() {
        let (folder, _) = database();
        let path = folder.path().join("scores.db");
        let mine = scorer("a");
        scored_run(&path, "old", &mine, &["x", "y"]);
        scored_run(&path, "newer", &mine, &["x"]);
        let limited = ScorerSpec { limits_json: r#"{"fuel":1}"#.into(), ..scorer("a") };
        scored_run(&path, "limited", &limited, &["limits"]);
        let configured = ScorerSpec { config_digest: Digest::of(b"other"), ..scorer("a") };
        scored_run(&path, "configured", &configured, &["configuration"]);
        scored_run(&path, "component", &scorer("b"), &["component"]);

        let (mut writer, index) = index(&path, &mine, "48.0.8");
        let scorer = writer.run().scorers[0];
        for other in ["z", "limits", "configuration", "component"] {
            assert_eq!(index.find(scorer, input(other).unwrap()).unwrap(), None, "{other}");
        }
        for (ordinal, name) in ["x", "y"].into_iter().enumerate() {
            let from = index.find(scorer, input(name).unwrap()).unwrap().unwrap();
            let key = added(&mut writer, &case(ordinal as u64, name));
            assert!(writer.reuse_score(key, scorer, from).unwrap());
            assert!(!writer.reuse_score(key, scorer, from).unwrap(), "once");
        }
        let filter = ScoreFilter { run: Some("new".into()), ..ScoreFilter::default() };
        let rows = writer.store().scores(&filter, None, 9).unwrap();
        assert_eq!(rows[0].reused_from.as_deref(), Some("newer:a:0:0:x"), "the newest");
        assert_eq!(rows[1].reused_from.as_deref(), Some("old:a:0:0:y"));
        let answer = &rows[0].row.answer;
        assert_eq!((answer.score, answer.fuel), (Some(0.25), Some(1000)));
        assert_eq!(writer.store().counts(&filter).unwrap()[0].reused, 2);
    }

    #[test]
    fn a_row_that_another_program_put_out_of_range_is_the_damage_of_the_file() {
        let (folder, _) = database();
        let path = folder.path().join("scores.db");
        scored_run(&path, "old", &scorer("a"), &["x"]);
        let other = rusqlite::Connection::open(&path).unwrap();
        other.pragma_update(None, "ignore_check_constraints", true).unwrap();
        other.execute("UPDATE score_rows SET score = -1", []).unwrap();
        let (mut writer, index) = index(&path, &scorer("a"), "48.0.8");
        let mine = writer.run().scorers[0];
        let from = index.find(mine, input("x").unwrap()).unwrap().unwrap();
        let key = added(&mut writer, &case(0, "x"));
        let error = writer.reuse_score(key, mine, from).unwrap_err();
        let StoreError::Corrupt { what, .. } = error else { panic!("{error:?}") };
        assert!(what.contains("which was to be reused: CHECK constraint failed"), "{what}");
    }

    #[test]
    fn rows_of_another_wasmtime_are_not_reused() {
        let (folder, _) = database();
        let path = folder.path().join("scores.db");
        scored_run(&path, "old", &scorer("a"), &["x"]);
        let (writer, index) = index(&path, &scorer("a"), "48.0.9");
        assert_eq!(index.find(writer.run().scorers[0], input("x").unwrap()).unwrap(), None);
    }
}
