//! The root of a run: one digest of everything that the database contains of it, which can be published. It computes no
//! score and changes nothing.
//!
//! The root is the SHA-256 of the following, in this order, each value with its type and length ([`Values`]): the run;
//! its scorers, in the suite's order; its sessions; its summaries; the number of its score rows, so that a row without
//! a case counts; the number of its cases; and the root of the Merkle tree (`tree`) whose leaves are its cases, in the
//! order in which they were read, each with its score rows in the order of the scorers. Internal numbers do not count,
//! except the two that identify the row from which a reused row was copied.

use std::collections::HashMap;

use rusqlite::{
    OptionalExtension, Row, params,
    types::{ToSqlOutput, ValueRef},
};

use super::{
    CaseKey, RunKey, ScorerKey, SessionKey, SessionSpec, Store, StoreError,
    case_columns::{
        self, CASE_DIGEST, CASE_VALUES, CASE_VALUES_OF_ROOT, CASE_VALUES_OF_ROOT_1, OF_A_RUN,
    },
    effort::Ascending,
    tree::{Tree, leaf},
};
use crate::{digest::Digest, judge::ScoreCall};

/// The version of the list of values in a root. A root with an earlier version is computed as that version did.
pub(super) const VERSION: i64 = 3;

/// The first value of every root, by version.
const NAMES: [&str; 3] = ["scorebox run 1", "scorebox root 2", "scorebox root 3"];

const RUN_1: &str = "
    SELECT id, suite_name, suite_json, suite_digest, engine_version, wasmtime_version, contract_version,
        source, state, state_reason, created_at_ms, finished_at_ms
    FROM runs WHERE run = ?1";

const RUN: &str = "
    SELECT id, suite_name, suite_json, suite_digest, engine_version, wasmtime_version, contract_version,
        source, state, state_reason, created_at_ms, finished_at_ms, seed
    FROM runs WHERE run = ?1";

const SCORERS_1: &str = "
    SELECT scorer_id, name, component_id, component_version, component_digest, component_origin,
        config_json, config_digest, limits_json, info_json, scale, direction, severity, threshold, frozen,
        grants_json
    FROM scorers WHERE run = ?1 ORDER BY scorer";

const SCORERS_2: &str = "
    SELECT scorer_id, name, component_id, component_version, component_digest, component_origin,
        config_json, config_digest, limits_json, info_json, scale, direction, severity, threshold, frozen,
        grants_json, declared_severity, declared_threshold, softened, weight, required, sampling_json,
        nodes_json
    FROM scorers WHERE run = ?1 ORDER BY scorer";

const SCORERS: &str = "
    SELECT scorer_id, name, component_id, component_version, component_digest, component_origin,
        config_json, config_digest, limits_json, info_json, scale, direction, severity, threshold, frozen,
        grants_json, declared_severity, declared_threshold, softened, weight, required, sampling_json,
        nodes_json, subject, condition_digest, condition_config_json, condition_limits_json
    FROM scorers WHERE run = ?1 ORDER BY scorer";

/// Values that version 1 does not cover: none, unless someone filled in later what the migration left empty.
const RUN_SINCE_1: &str = "SELECT seed FROM runs WHERE run = ?1 AND seed IS NOT NULL";

/// Like [`RUN_SINCE_1`].
const SCORERS_SINCE_1: &str = "
    SELECT scorer_id, declared_severity, declared_threshold, softened, weight, required, sampling_json,
        nodes_json
    FROM scorers WHERE run = ?1 AND (declared_severity IS NOT NULL OR declared_threshold IS NOT NULL
        OR softened <> 0 OR weight <> 1.0 OR required <> 0 OR sampling_json IS NOT NULL
        OR nodes_json IS NOT NULL)
    ORDER BY scorer";

/// Like [`RUN_SINCE_1`], for version 2.
const SCORERS_SINCE_2: &str = "
    SELECT scorer_id, subject, condition_digest, condition_config_json, condition_limits_json
    FROM scorers WHERE run = ?1 AND (subject IS NOT NULL OR condition_digest IS NOT NULL)
    ORDER BY scorer";

/// Values that a root of any version covers in addition if they exist: they were added without a new version.
const JUDGES: &str = "
    SELECT scorer_id, judge_json FROM scorers WHERE run = ?1 AND judge_json IS NOT NULL ORDER BY scorer";

/// Like [`JUDGES`].
const OUTPUTS: &str = "
    SELECT scorer_id, output_from FROM scorers WHERE run = ?1 AND output_from IS NOT NULL ORDER BY scorer";

/// Like [`JUDGES`].
const BAD_CASES: &str = "SELECT cases_bad FROM runs WHERE run = ?1 AND cases_bad <> 0";

const SESSIONS: &str = "
    SELECT engine_version, wasmtime_version, host, started_at_ms
    FROM sessions WHERE run = ?1 ORDER BY session";

const SUMMARIES: &str = "
    SELECT scorers.scorer_id, summary_json, error_kind, error_message, fuel, duration_ms, log_json,
        computed_at_ms
    FROM summaries JOIN scorers ON scorers.scorer = summaries.scorer
    WHERE scorers.run = ?1 ORDER BY summaries.scorer";

/// The rows of a case as [`row_digest`] reads them; scorer and session come first.
const ROWS: &str = "
    SELECT scorer, session, status, score, fuel, memory_bytes, duration_ms, scored_at_ms, error_kind,
        error_message, label, reason, meta_json, assertions_json, log_json, input_digest, reused_case,
        reused_scorer
    FROM score_rows WHERE case_key = ?1 ORDER BY scorer";

/// How many values of a row that has, without the scorer, the session and the row from which it was copied.
pub(super) const ROW_VALUES: usize = 14;

/// Encodes values one after another, so that no two lists of values have the same bytes.
struct Values(Vec<u8>);

impl Default for Values {
    /// With room for a row, so that the buffer seldom grows.
    fn default() -> Values {
        Values(Vec::with_capacity(1 << 10))
    }
}

impl Values {
    fn add(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.0.push(0),
            ValueRef::Integer(number) => self.fixed(1, number.to_le_bytes()),
            // SQLite stores -0 as 0.
            ValueRef::Real(number) => self.fixed(2, (number + 0.0).to_bits().to_le_bytes()),
            ValueRef::Text(bytes) => self.bytes(3, bytes),
            ValueRef::Blob(bytes) => self.bytes(4, bytes),
        }
    }

    fn fixed(&mut self, kind: u8, bytes: [u8; 8]) {
        self.0.push(kind);
        self.0.extend_from_slice(&bytes);
    }

    fn bytes(&mut self, kind: u8, bytes: &[u8]) {
        self.fixed(kind, (bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(3, text.as_bytes());
    }

    fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }
}

/// The value that is bound to a statement.
pub(super) fn bound<'a>(value: &'a ToSqlOutput<'_>) -> ValueRef<'a> {
    match value {
        ToSqlOutput::Borrowed(value) => *value,
        ToSqlOutput::Owned(value) => value.into(),
        // This room makes no other kind.
        _ => ValueRef::Null,
    }
}

/// The digest of a case's row, over its values in the order of the table, for roots of this version.
pub(super) fn case_digest<'a>(
    version: i64,
    values: impl IntoIterator<Item = ValueRef<'a>>,
) -> Digest {
    let mut written = Values::default();
    let known = if version == 1 { CASE_VALUES_OF_ROOT_1 } else { CASE_VALUES_OF_ROOT };
    for (index, value) in values.into_iter().enumerate() {
        // A value that was added without a new version is left out if it is missing, so that older roots stay the same.
        if index >= known && value == ValueRef::Null {
            continue;
        }
        match case_columns::counts_by_value(index) {
            true => written.add(value),
            false => written.0.push(u8::from(value != ValueRef::Null)),
        }
    }
    written.digest()
}

/// The digest of a score row: its values in the order of the table, the digest of the session that computed it, the
/// keys of the row from which it was copied, and the calls that it is based on.
pub(super) fn row_digest<'a>(
    values: impl IntoIterator<Item = ValueRef<'a>>,
    session: Option<Digest>,
    copy_of: [ValueRef<'a>; 2],
    calls: &[ScoreCall],
) -> Digest {
    let mut written = Values::default();
    values.into_iter().for_each(|value| written.add(value));
    match &session {
        Some(digest) => written.bytes(4, digest.as_bytes()),
        None => written.add(ValueRef::Null),
    }
    copy_of.into_iter().for_each(|value| written.add(value));
    // A row without calls adds nothing here, so its digest is the same as before calls existed.
    for call in calls {
        written.bytes(4, call.digest.as_bytes());
        written.bytes(4, call.reply_digest.as_bytes());
        written.add(ValueRef::Integer(call.is_recorded.into()));
    }
    written.digest()
}

/// The digest that represents a session in the rows that it computed.
pub(super) fn session_digest(session: &SessionSpec) -> Digest {
    let mut written = Values::default();
    for text in [&session.engine_version, &session.wasmtime_version, &session.host] {
        written.text(text);
    }
    written.add(ValueRef::Integer(session.started_at_ms));
    written.digest()
}

impl Store {
    /// The root of a run as the database has it now. `content_digest` computes the digest of each case's content, so
    /// that the stored one is not trusted; it may also report progress.
    ///
    /// # Errors
    /// Read errors; the errors of `content_digest`.
    pub fn run_root(
        &self,
        run: RunKey,
        mut content_digest: impl FnMut(&Store, CaseKey) -> Result<Digest, StoreError>,
    ) -> Result<Digest, StoreError> {
        self.snapshot(|store| {
            let version = store.root_version(run)?;
            let tree = store.cases_root(run, version, |key, _| content_digest(store, key))?;
            store.root_over(run, version, store.row_count(run)?, tree)
        })
    }

    /// The root of a run as the database has it now, with the stored digests of the contents of cases, which are not
    /// computed again.
    ///
    /// # Errors
    /// Read errors.
    pub fn root_as_stored(&self, run: RunKey) -> Result<Digest, StoreError> {
        self.snapshot(|store| {
            let version = store.root_version(run)?;
            let tree = store.cases_root(run, version, |_, stored| Ok(stored))?;
            store.root_over(run, version, store.row_count(run)?, tree)
        })
    }

    /// The version of the root that is stored with a run; the newest if none is stored, or an unknown one.
    fn root_version(&self, run: RunKey) -> Result<i64, StoreError> {
        let sql = "SELECT root_version FROM runs WHERE run = ?1";
        let read = || self.conn.query_row(sql, [run], |row| row.get::<_, Option<i64>>(0));
        let version = self.brief(|| read().optional())?.flatten();
        Ok(version.filter(|version| (1..=VERSION).contains(version)).unwrap_or(VERSION))
    }

    /// The root of a run with `rows` score rows, from the number of its cases and the root of their tree.
    pub(super) fn root_over(
        &self,
        run: RunKey,
        version: i64,
        rows: u64,
        (cases, tree): (u64, Digest),
    ) -> Result<Digest, StoreError> {
        let mut written = Values::default();
        let (name, tables) = match version {
            1 => (
                NAMES[0],
                &[
                    ("run", RUN_1),
                    ("scorer", SCORERS_1),
                    ("session", SESSIONS),
                    ("summary", SUMMARIES),
                    ("run", RUN_SINCE_1),
                    ("scorer", SCORERS_SINCE_1),
                    ("scorer", SCORERS_SINCE_2),
                ][..],
            ),
            2 => (
                NAMES[1],
                &[
                    ("run", RUN),
                    ("scorer", SCORERS_2),
                    ("session", SESSIONS),
                    ("summary", SUMMARIES),
                    ("scorer", SCORERS_SINCE_2),
                ][..],
            ),
            _ => (
                NAMES[2],
                &[("run", RUN), ("scorer", SCORERS), ("session", SESSIONS), ("summary", SUMMARIES)]
                    [..],
            ),
        };
        written.text(name);
        let added = [("judge", JUDGES), ("output", OUTPUTS), ("bad cases", BAD_CASES)];
        for (table, sql) in tables.iter().chain(&added) {
            self.bounded(|| {
                let mut query = self.conn.prepare_cached(sql)?;
                let columns = query.column_count();
                let mut rows = query.query([run])?;
                while let Some(row) = rows.next()? {
                    written.text(table);
                    values(row, 0..columns)?.into_iter().for_each(|value| written.add(value));
                }
                Ok(())
            })?;
        }
        for number in [rows, cases] {
            written.add(ValueRef::Integer(super::column::integer(number)));
        }
        written.bytes(4, tree.as_bytes());
        Ok(written.digest())
    }

    /// How many cases a run has, and the root of the tree over them. `content_digest` maps the stored digest of a
    /// case's content to the one that counts.
    pub(super) fn cases_root(
        &self,
        run: RunKey,
        version: i64,
        mut content_digest: impl FnMut(CaseKey, Digest) -> Result<Digest, StoreError>,
    ) -> Result<(u64, Digest), StoreError> {
        let scorers: Vec<ScorerKey> =
            self.scorers(run)?.into_iter().map(|scorer| scorer.key).collect();
        let (first, last) = CaseKey::bounds(run);
        let mut sessions = Sessions::default();
        let (mut tree, mut cases, mut failure) = (Tree::default(), 0, None);
        self.bounded(|| {
            let mut query = self.conn.prepare_cached(&OF_A_RUN)?;
            let mut rows = query.query(params![first, last, run])?;
            let mut keys = Ascending::after(None);
            while let Some(row) = rows.next()? {
                let key: CaseKey = row.get(0)?;
                keys.note(key)?;
                let mut of_case = values(row, 1..1 + CASE_VALUES)?;
                let digest = match content_digest(key, row.get(1 + CASE_DIGEST)?) {
                    Ok(digest) => digest,
                    Err(error) => {
                        failure = Some(error);
                        break;
                    }
                };
                of_case[CASE_DIGEST] = ValueRef::Blob(digest.as_bytes());
                let rows = self.row_digests(key, &scorers, &mut sessions)?;
                tree.add(cases, leaf(case_digest(version, of_case), rows));
                cases += 1;
            }
            Ok(())
        })?;
        if let Some(error) = failure {
            return Err(error);
        }
        // Every position up to the last was added.
        let root = tree.root(cases).unwrap_or_else(|| Digest::of(b""));
        Ok((cases, root))
    }

    /// The digests of a case's rows: one for each of the run's scorers, then those of rows of other scorers.
    fn row_digests(
        &self,
        case: CaseKey,
        scorers: &[ScorerKey],
        sessions: &mut Sessions,
    ) -> rusqlite::Result<Vec<Option<Digest>>> {
        let mut digests = vec![None; scorers.len()];
        let has_calls = self.has_calls(case)?;
        let mut query = self.conn.prepare_cached(ROWS)?;
        let mut rows = query.query([case])?;
        let mut keys = Ascending::after(None);
        while let Some(row) = rows.next()? {
            keys.note(row.get::<_, ScorerKey>(0)?)?;
            let session = sessions.digest(self, row.get(1)?)?;
            let copy_of = [row.get_ref(2 + ROW_VALUES)?, row.get_ref(3 + ROW_VALUES)?];
            let calls = match has_calls {
                true => self.score_calls(case, row.get(0)?)?,
                false => Vec::new(),
            };
            let values = values(row, 2..2 + ROW_VALUES)?;
            let digest = Some(row_digest(values, session, copy_of, &calls));
            match scorers.binary_search(&row.get(0)?) {
                Ok(index) => digests[index] = digest,
                Err(_) => digests.push(digest),
            }
        }
        Ok(digests)
    }

    /// The digest of one stored row.
    pub(super) fn row_digest_of(
        &self,
        case: CaseKey,
        scorer: ScorerKey,
    ) -> rusqlite::Result<Option<Digest>> {
        let digests = self.row_digests(case, &[scorer], &mut Sessions::default())?;
        Ok(digests.into_iter().next().flatten())
    }

    /// The root that was stored when the run last ended.
    pub(super) fn stored_root(&self, run: RunKey) -> Result<Option<Digest>, StoreError> {
        let sql = "SELECT root FROM runs WHERE run = ?1 AND root_version BETWEEN 1 AND ?2";
        let root = self.conn.query_row(sql, params![run, VERSION], |row| row.get(0));
        self.explained(root.optional()).map(Option::flatten)
    }

    /// Stores the figures over the whole content of a run: its root, and its size in bytes.
    pub(super) fn put_root(&self, run: RunKey, root: Digest, size: u64) -> Result<(), StoreError> {
        let sql = "UPDATE runs SET root = ?2, root_version = ?3, size_bytes = ?4 WHERE run = ?1";
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        self.explained(self.conn.execute(sql, params![run, root, VERSION, size])).map(drop)
    }
}

fn values<'r>(
    row: &'r Row<'_>,
    columns: std::ops::Range<usize>,
) -> rusqlite::Result<Vec<ValueRef<'r>>> {
    columns.map(|column| row.get_ref(column)).collect()
}

/// The digests of sessions, each computed once.
#[derive(Default)]
struct Sessions(HashMap<SessionKey, Option<Digest>>);

impl Sessions {
    fn digest(
        &mut self,
        store: &Store,
        session: Option<SessionKey>,
    ) -> rusqlite::Result<Option<Digest>> {
        let Some(key) = session else { return Ok(None) };
        if let Some(known) = self.0.get(&key) {
            return Ok(*known);
        }
        let digest = super::session::read(&store.conn, key)?.map(|spec| session_digest(&spec));
        self.0.insert(key, digest);
        Ok(digest)
    }
}

#[cfg(test)]
mod tests;
