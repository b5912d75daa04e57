//! What is stored of a case, and whether a case equals the stored one. It reads no case files and does not parse JSON.

use rusqlite::{
    CachedStatement, OptionalExtension, Row, ToSql, named_params, params_from_iter,
    types::ToSqlOutput,
};

use super::{
    CaseKey, NewCase, RunKey, ScorerKey, Store, StoreError,
    case_columns::{self, CASE_VALUES, CONTENT, INSERT},
    effort::Ascending,
    root::{self, bound, case_digest},
    size,
};
use crate::{contract::Parts, digest::Digest};

/// A case that the database already has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredCase {
    /// Its key in this database.
    pub key: CaseKey,
    /// Its ordinal in the run.
    pub ordinal: u64,
    /// Its own id.
    pub case_id: String,
    /// The task's iteration.
    pub iteration: u32,
    /// The task's attempt.
    pub attempt: u32,
    /// The file from which it was read.
    pub source_name: String,
    /// Its line there, from 1.
    pub source_line: u64,
    /// The digest of its content.
    pub digest: Digest,
    /// The scorers that already have a row for it, whatever its status; ascending.
    pub finished: Vec<ScorerKey>,
}

/// All parts of a stored case that scorers can read, as stored.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CaseContent {
    /// Its own id.
    pub case_id: String,
    /// The digest that was stored with it.
    pub digest: Digest,
    /// How long the task took, in milliseconds.
    pub latency_ms: Option<f64>,
    /// What the task produced, as JSON.
    pub output: String,
    /// The optional parts, as JSON, without the latency.
    pub parts: Parts<String>,
    /// The folder with the files that the task left; a name, not JSON.
    pub workspace: Option<String>,
    /// Why the case must not be judged; empty if no reason is given.
    pub skip: Option<String>,
    /// Why there is no output, if the task failed.
    pub error: Option<String>,
}

impl CaseContent {
    /// Whether its JSON is as readers store it: without white space around a value, because the digest does not cover
    /// it.
    pub(crate) fn is_as_read(&self) -> bool {
        let is_trimmed = |json: &str| json.trim_ascii().len() == json.len();
        is_trimmed(&self.output) && self.parts.iter().all(|(_, json)| is_trimmed(json))
    }

    /// About how much memory it uses, in bytes.
    pub fn bytes(&self) -> usize {
        let parts: usize = self.parts.iter().map(|(_, json)| json.len()).sum();
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let others = length(&self.workspace) + length(&self.skip) + length(&self.error);
        size_of::<CaseContent>() + self.output.len() + parts + others
    }
}

/// The outcome of storing a case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaseAdded {
    /// It is stored now.
    New(CaseKey),
    /// An earlier session stored exactly this case with the same ordinal.
    Known(CaseKey),
    /// Not stored: a case with this id, iteration and attempt came earlier in the run.
    Duplicate {
        /// The one that came first.
        first: StoredCase,
    },
    /// Not stored: an earlier session stored another case with this ordinal, so the cases are no longer those that the
    /// run began with.
    Changed {
        /// The case that is stored.
        stored: StoredCase,
    },
}

const BY_NAME: &str = "
    SELECT case_key, ordinal, case_id, iteration, attempt, source_name, source_line, digest
    FROM cases
    WHERE run = :run AND case_id = :case_id AND iteration = :iteration AND attempt = :attempt";

const BY_KEY: &str = "
    SELECT case_key, ordinal, case_id, iteration, attempt, source_name, source_line, digest
    FROM cases
    WHERE case_key = ?1";

impl Store {
    /// The stored case with this name, and which scorers already have a row for it. A resumed run asks this before it
    /// scores a case again.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn stored_case(
        &self,
        run: RunKey,
        case_id: &str,
        iteration: u32,
        attempt: u32,
    ) -> Result<Option<StoredCase>, StoreError> {
        let read = |store: &Store| {
            let mut query = store.conn.prepare_cached(BY_NAME)?;
            let name = named_params! {
                ":run": run, ":case_id": case_id, ":iteration": iteration, ":attempt": attempt,
            };
            let Some(mut case) = query.query_row(name, stored_case).optional()? else {
                return Ok(None);
            };
            case.finished = store.finished(case.key)?;
            Ok(Some(case))
        };
        self.snapshot(|store| store.brief(|| read(store)))
    }

    /// Whether a case with this ordinal is stored in the run.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn has_case_at(&self, run: RunKey, ordinal: u64) -> Result<bool, StoreError> {
        match CaseKey::new(run, ordinal) {
            Some(key) => Ok(self.case_at(key)?.is_some()),
            None => Ok(false),
        }
    }

    /// The parts of a stored case that scorers can be given.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if there is no such case; the database cannot be read.
    pub fn case_content(&self, key: CaseKey) -> Result<CaseContent, StoreError> {
        let read = || {
            let mut query = self.conn.prepare_cached(&CONTENT)?;
            query.query_row([key], case_content).optional()
        };
        self.brief(read)?.ok_or_else(|| {
            let what = format!("the case with key {} is missing", key.0);
            StoreError::Corrupt { path: self.path.clone(), what }
        })
    }

    /// Stores the case unless its name or ordinal is taken. If it is new, returns the digest and the bytes of its row
    /// too.
    pub(super) fn add_case(
        &self,
        run: RunKey,
        case: &NewCase<'_>,
    ) -> Result<(CaseAdded, Option<(Digest, u64)>), StoreError> {
        let Some(key) = CaseKey::new(run, case.ordinal) else {
            let what = format!("a run holds at most 2^40 cases, this is number {}", case.ordinal);
            return Err(StoreError::Rejected { path: self.path.clone(), what });
        };
        let values = case_columns::values(case);
        let insert = || insert(&mut self.conn.prepare_cached(&INSERT)?, run, key, &values);
        if self.explained(insert())? {
            let digest = case_digest(root::VERSION, values.iter().map(bound));
            let bytes = size::of_values(values.iter().map(bound));
            return Ok((CaseAdded::New(key), Some((digest, bytes))));
        }
        match self.already_there(run, case)? {
            Some(there) => Ok((there, None)),
            None => {
                let what = "a case was refused for no conflict".into();
                Err(StoreError::Corrupt { path: self.path.clone(), what })
            }
        }
    }

    /// The outcome for a case that is not written because its ordinal or its name is taken. It writes nothing.
    pub(super) fn already_there(
        &self,
        run: RunKey,
        case: &NewCase<'_>,
    ) -> Result<Option<CaseAdded>, StoreError> {
        let at_its_place = match CaseKey::new(run, case.ordinal) {
            Some(key) => self.case_at(key)?,
            None => None,
        };
        if let Some(stored) = at_its_place {
            let same_name = stored.case_id == case.case_id
                && stored.iteration == case.iteration
                && stored.attempt == case.attempt;
            return Ok(Some(match same_name && stored.digest == case.digest {
                true => CaseAdded::Known(stored.key),
                false => CaseAdded::Changed { stored },
            }));
        }
        let first = self.stored_case(run, case.case_id, case.iteration, case.attempt)?;
        Ok(first.map(|first| CaseAdded::Duplicate { first }))
    }

    fn case_at(&self, key: CaseKey) -> Result<Option<StoredCase>, StoreError> {
        let read = || {
            let mut query = self.conn.prepare_cached(BY_KEY)?;
            let Some(mut case) = query.query_row([key], stored_case).optional()? else {
                return Ok(None);
            };
            case.finished = self.finished(key)?;
            Ok(Some(case))
        };
        self.brief(read)
    }

    fn finished(&self, case: CaseKey) -> rusqlite::Result<Vec<ScorerKey>> {
        let mut query = self
            .conn
            .prepare_cached("SELECT scorer FROM score_rows WHERE case_key = ?1 ORDER BY scorer")?;
        let mut keys = Ascending::after(None);
        let scorer = |row: &Row<'_>| {
            let key: ScorerKey = row.get(0)?;
            keys.note(key)?;
            Ok(key)
        };
        query.query_map([case], scorer)?.collect()
    }
}

/// Whether the row was written.
fn insert(
    statement: &mut CachedStatement<'_>,
    run: RunKey,
    key: CaseKey,
    values: &[ToSqlOutput<'_>; CASE_VALUES],
) -> rusqlite::Result<bool> {
    let keys: [&dyn ToSql; 2] = [&key, &run];
    let values = values.iter().map(|value| value as &dyn ToSql);
    let written = statement.execute(params_from_iter(keys.into_iter().chain(values)))?;
    Ok(written == 1)
}

/// The row without `finished`, which is in another table.
fn stored_case(row: &Row<'_>) -> rusqlite::Result<StoredCase> {
    Ok(StoredCase {
        key: row.get("case_key")?,
        ordinal: row.get::<_, i64>("ordinal")?.unsigned_abs(),
        case_id: row.get("case_id")?,
        iteration: row.get("iteration")?,
        attempt: row.get("attempt")?,
        source_name: row.get("source_name")?,
        source_line: row.get::<_, i64>("source_line")?.unsigned_abs(),
        digest: row.get("digest")?,
        finished: Vec::new(),
    })
}

fn case_content(row: &Row<'_>) -> rusqlite::Result<CaseContent> {
    let mut parts = Parts::NONE;
    for (name, field) in case_columns::parts() {
        parts.set(field, row.get(name)?);
    }
    Ok(CaseContent {
        case_id: row.get("case_id")?,
        digest: row.get("digest")?,
        latency_ms: row.get("latency_ms")?,
        output: row.get("output")?,
        parts,
        workspace: row.get("workspace")?,
        skip: row.get("skip_reason")?,
        error: row.get("error")?,
    })
}

#[cfg(test)]
mod tests {
    use super::{super::sample::*, *};
    use crate::{contract::Field, store::RunWriter};

    #[test]
    fn a_case_is_stored_once_with_every_field_as_it_was_given() {
        let (_folder, store) = database();
        let mut writer = writer(store, "r", &["a"]);
        let full = NewCase {
            node_id: Some("node"),
            iteration: 3,
            attempt: 2,
            latency_ms: Some(1.5),
            output: "[ 1,2 ]",
            parts: Parts::NONE
                .with(Field::Input, r#"{"q" : 1}"#)
                .with(Field::GroundTruth, "1")
                .with(Field::Context, "2")
                .with(Field::OutputSchema, "3")
                .with(Field::Trace, "4")
                .with(Field::Usage, "5")
                .with(Field::Metadata, "6")
                .with(Field::Baseline, "7"),
            workspace: Some("run/9"),
            other: Some(r#"{"x":8}"#),
            skip: Some("flaky"),
            error: Some("Timeout"),
            ..case(9, "'; DROP TABLE cases; --")
        };
        let key = added(&mut writer, &full);
        let row = writer.store().conn.query_row(
            "SELECT concat_ws('|', case_id, node_id, iteration, attempt, source_name, source_line,
                 latency_ms, input, output, ground_truth, context, output_schema, trace, usage,
                 metadata, baseline, other_json, workspace, skip_reason, error)
             FROM cases WHERE case_key = ?1",
            [key],
            |row| row.get::<_, String>(0),
        );
        let expected = r#"'; DROP TABLE cases; --|node|3|2|cases.jsonl|10|1.5|{"q" : 1}|[ 1,2 ]|1|2|3|4|5|6|7|{"x":8}|run/9|flaky|Timeout"#;
        assert_eq!(row.unwrap(), expected);
    }

    #[test]
    fn a_second_case_of_the_same_name_is_a_duplicate_and_says_where_the_first_is() {
        let (_folder, store) = database();
        let mut writer = writer(store, "r", &["a"]);
        added(&mut writer, &case(0, "x"));
        added(&mut writer, &NewCase { attempt: 1, ..case(1, "x") });
        added(&mut writer, &NewCase { iteration: 1, ..case(2, "x") });
        let CaseAdded::Duplicate { first } = writer.add_case(&case(3, "x")).unwrap() else {
            panic!("a duplicate was accepted");
        };
        assert_eq!(
            (first.ordinal, first.source_name.as_str(), first.source_line),
            (0, "cases.jsonl", 1)
        );
    }

    #[test]
    fn a_resumed_run_knows_its_cases_and_notices_that_they_changed() {
        let (folder, store) = database();
        let mut first = writer(store, "r", &["a", "b"]);
        let key = added(&mut first, &case(0, "x"));
        added(&mut first, &case(1, "y"));
        let run = first.run().clone();
        first.add_score(key, run.scorers[1], &scored(1.0)).unwrap();
        drop(first);

        let store = Store::open(folder.path().join("scores.db")).unwrap();
        let stored = store.stored_case(run.key, "x", 0, 0).unwrap().unwrap();
        assert_eq!(stored.finished, [run.scorers[1]]);
        assert_eq!(store.stored_case(run.key, "x", 0, 1).unwrap(), None);

        let resumed = store.resume_run("r", &session()).unwrap();
        assert_eq!((resumed.key, &resumed.scorers), (run.key, &run.scorers));
        assert_eq!(store.row_count(run.key).unwrap(), 1);
        let mut again = RunWriter::new(store, resumed);
        assert_eq!(again.add_case(&case(0, "x")).unwrap(), CaseAdded::Known(key));
        let edited = NewCase { digest: Digest::of(b"edited"), ..case(1, "y") };
        assert!(matches!(again.add_case(&edited).unwrap(), CaseAdded::Changed { .. }));
        let inserted = again.add_case(&case(1, "new")).unwrap();
        assert!(matches!(inserted, CaseAdded::Changed { stored } if stored.case_id == "y"));
    }

    #[test]
    fn a_case_that_can_not_be_stored_is_refused_with_the_rule() {
        let (_folder, store) = database();
        let mut writer = writer(store, "r", &["a"]);
        for bad in [case(0, ""), case(1 << 40, "far"), case(u64::MAX, "farther")] {
            assert!(matches!(writer.add_case(&bad), Err(StoreError::Rejected { .. })), "{bad:?}");
        }
    }
}
