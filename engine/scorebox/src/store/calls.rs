//! What scorers ask judges: each call once with its answer, and which calls a score is based on. Asks nobody.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
};

use rusqlite::{Connection, OptionalExtension as _, Row, named_params, params};
use tokio::sync::oneshot;

use super::{CaseKey, RunKey, ScoreCursor, ScorerKey, Store, StoreError, column::integer};
use crate::{
    digest::Digest,
    judge::{BoxFuture, Recording, Recordings, RecordingsError, ScoreCall, TokenUsage},
};

/// Recordings that wait to be written.
const MOST_WAITING: usize = 4096;
/// Recordings of one transaction.
const MOST_AT_ONCE: usize = 256;
/// The calls of one row that are read with it: far more than a score makes, and no more than memory has if the file was
/// tampered with.
const MOST_SHOWN: i64 = 65_536;

const COLUMNS: &str = "digest, call_json, reply_json, model, input_tokens, output_tokens, cost_usd,
    latency_ms, attempts, answered_at_ms";

/// The recordings of a database file. Answers are written by a separate thread as soon as they are there, many in one
/// transaction.
#[derive(Debug)]
pub struct CallStore {
    reading: Mutex<Store>,
    /// `None` once it ends.
    writes: Option<mpsc::SyncSender<Answered>>,
    writing: Option<thread::JoinHandle<()>>,
}

/// A recording to be written, and who waits for that.
#[derive(Debug)]
struct Answered {
    recording: Arc<Recording>,
    written: oneshot::Sender<Result<(), RecordingsError>>,
}

impl CallStore {
    /// The recordings of the database at `path`, which is created if it does not exist.
    ///
    /// # Errors
    /// The file cannot be opened to be written.
    pub fn open(path: &Path) -> Result<CallStore, StoreError> {
        let writer = Store::open(path)?;
        let reading = Mutex::new(Store::open_read_only(path)?);
        let (writes, answers) = mpsc::sync_channel(MOST_WAITING);
        let writing = thread::Builder::new()
            .name("scorebox-calls".into())
            .spawn(move || write(&writer, &answers))
            .map_err(|error| StoreError::Rejected {
                path: PathBuf::from(path),
                what: format!("no thread to write what judges answer: {error}"),
            })?;
        Ok(CallStore { reading, writes: Some(writes), writing: Some(writing) })
    }

    /// The recordings of the database at `path`, to be read only.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open_read_only(path: &Path) -> Result<CallStore, StoreError> {
        let reading = Mutex::new(Store::open_read_only(path)?);
        Ok(CallStore { reading, writes: None, writing: None })
    }
}

impl Recordings for CallStore {
    fn find(&self, call: Digest) -> Result<Option<Arc<Recording>>, RecordingsError> {
        let found = lock(&self.reading).recording(call);
        found.map(|found| found.map(Arc::new)).map_err(|error| RecordingsError(error.to_string()))
    }

    fn find_reply(
        &self,
        call: Digest,
        reply: Digest,
    ) -> Result<Option<Arc<Recording>>, RecordingsError> {
        let found = lock(&self.reading).recording_of(call, reply);
        found.map(|found| found.map(Arc::new)).map_err(|error| RecordingsError(error.to_string()))
    }

    fn keep(&self, recording: Arc<Recording>) -> BoxFuture<'_, Result<(), RecordingsError>> {
        Box::pin(async {
            let Some(writes) = &self.writes else {
                return Err(RecordingsError("the database is open for reading only".into()));
            };
            let ended = || RecordingsError("what writes them ended".into());
            let (written, is_written) = oneshot::channel();
            // Waits if thousands are in the queue, which holds up the caller that asks so fast.
            writes.send(Answered { recording, written }).map_err(|_| ended())?;
            is_written.await.map_err(|_| ended())?
        })
    }
}

impl Drop for CallStore {
    /// Waits until everything is written.
    fn drop(&mut self) {
        self.writes = None;
        if let Some(writing) = self.writing.take() {
            let _ = writing.join();
        }
    }
}

/// What is behind these locks is consistent after every statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes recordings as they come: all that wait in one transaction.
fn write(store: &Store, answers: &mpsc::Receiver<Answered>) {
    while let Ok(first) = answers.recv() {
        let mut batch = vec![first];
        batch.extend(answers.try_iter().take(MOST_AT_ONCE - 1));
        let recordings: Vec<Arc<Recording>> =
            batch.iter().map(|answered| Arc::clone(&answered.recording)).collect();
        let kept = store.keep_recordings(&recordings);
        let kept = kept.map_err(|error| RecordingsError(error.to_string()));
        for answered in batch {
            // A score that is no longer waited for does not listen.
            let _ = answered.written.send(kept.clone());
        }
    }
}

/// A call of a run, with the score that is based on it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallRecord {
    /// The call's digest.
    pub digest: Digest,
    /// The call and its answer; `None` if it is not recorded.
    pub recording: Option<Recording>,
    /// The case's id.
    pub case_id: String,
    /// The case's iteration.
    pub iteration: u32,
    /// The case's attempt.
    pub attempt: u32,
    /// The scorer that asked.
    pub scorer_id: String,
    /// Whether the answer was recorded before this score asked.
    pub is_recorded: bool,
}

impl Store {
    /// The latest recording of a call.
    ///
    /// # Errors
    /// Troubles of reading.
    pub fn recording(&self, call: Digest) -> Result<Option<Recording>, StoreError> {
        self.brief(|| {
            let sql = format!(
                "SELECT {COLUMNS} FROM calls WHERE digest = ?1
                 ORDER BY answered_at_ms DESC, call DESC LIMIT 1"
            );
            self.conn.prepare_cached(&sql)?.query_row([call], recording).optional()
        })
    }

    /// The recording of a call whose answer has this digest; if there is none, the latest one of the call.
    ///
    /// # Errors
    /// Troubles of reading.
    pub fn recording_of(
        &self,
        call: Digest,
        reply: Digest,
    ) -> Result<Option<Recording>, StoreError> {
        self.brief(|| {
            let sql = format!(
                "SELECT {COLUMNS} FROM calls WHERE digest = ?1
                 ORDER BY reply_digest = ?2 DESC, answered_at_ms DESC, call DESC LIMIT 1"
            );
            self.conn.prepare_cached(&sql)?.query_row([call, reply], recording).optional()
        })
    }

    /// Calls `take` with each recording of the file, oldest first.
    ///
    /// # Errors
    /// Troubles of reading.
    pub fn for_each_recording(&self, mut take: impl FnMut(Recording)) -> Result<(), StoreError> {
        self.bounded(|| {
            let sql = format!("SELECT {COLUMNS} FROM calls ORDER BY call");
            let mut query = self.conn.prepare_cached(&sql)?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                take(recording(row)?);
            }
            Ok(())
        })
    }

    /// Keeps recordings in one transaction. The latest one of a call is found.
    ///
    /// # Errors
    /// Troubles of writing.
    pub fn keep_recordings(&self, recordings: &[Arc<Recording>]) -> Result<(), StoreError> {
        let keep = || {
            let change = self.conn.unchecked_transaction()?;
            for recording in recordings {
                insert(&change, recording)?;
            }
            change.commit()
        };
        self.explained(keep())
    }

    /// Calls `take` with each call that the scores of a run are based on, in the order of cases and scorers; only those of
    /// one score if `score` names one.
    ///
    /// # Errors
    /// Troubles of reading.
    pub fn for_each_call(
        &self,
        run: RunKey,
        score: Option<ScoreCursor>,
        mut take: impl FnMut(CallRecord),
    ) -> Result<(), StoreError> {
        let (first, last) = match score {
            Some(score) => (score.case.0, score.case.0),
            None => CaseKey::bounds(run),
        };
        let scorer = score.map(|score| score.scorer);
        self.bounded(|| {
            let mut query = self.conn.prepare_cached(
                "SELECT score_calls.digest, calls.digest IS NOT NULL, call_json, reply_json, calls.model,
                     input_tokens, output_tokens, cost_usd, calls.latency_ms, attempts, answered_at_ms,
                     cases.case_id, cases.iteration, cases.attempt, scorers.scorer_id, is_recorded
                 FROM score_calls
                 JOIN cases ON cases.case_key = score_calls.case_key
                 JOIN scorers ON scorers.scorer = score_calls.scorer
                 LEFT JOIN calls ON calls.digest = score_calls.digest
                     AND calls.reply_digest = score_calls.reply_digest
                 WHERE score_calls.case_key BETWEEN ?1 AND ?2 AND (?3 IS NULL OR score_calls.scorer = ?3)
                 ORDER BY score_calls.case_key, score_calls.scorer, score_calls.place",
            )?;
            let mut rows = query.query(params![first, last, scorer])?;
            while let Some(row) = rows.next()? {
                take(CallRecord {
                    digest: row.get(0)?,
                    recording: row.get::<_, bool>(1)?.then(|| recording_at(row, 2)).transpose()?,
                    case_id: row.get(11)?,
                    iteration: row.get(12)?,
                    attempt: row.get(13)?,
                    scorer_id: row.get(14)?,
                    is_recorded: row.get(15)?,
                });
            }
            Ok(())
        })
    }

    /// The recordings that a score is based on, in the order in which they were asked; or else the digests of the calls whose
    /// recording is missing or is not the one that the score is based on.
    ///
    /// # Errors
    /// Troubles of reading.
    pub fn recordings_of(
        &self,
        cursor: ScoreCursor,
    ) -> Result<Result<Vec<Recording>, Vec<Digest>>, StoreError> {
        self.brief(|| {
            let calls = self.score_calls(cursor.case, cursor.scorer)?;
            let sql =
                format!("SELECT {COLUMNS} FROM calls WHERE digest = ?1 AND reply_digest = ?2");
            let mut query = self.conn.prepare_cached(&sql)?;
            let mut recordings = Vec::with_capacity(calls.len());
            let mut missing = Vec::new();
            for call in calls {
                let found =
                    query.query_row([call.digest, call.reply_digest], recording).optional()?;
                let is_it = |found: &Recording| {
                    found.call.digest() == call.digest && found.reply_digest() == call.reply_digest
                };
                match found.filter(is_it) {
                    Some(found) => recordings.push(found),
                    None => missing.push(call.digest),
                }
            }
            Ok(if missing.is_empty() { Ok(recordings) } else { Err(missing) })
        })
    }

    /// Whether a score of the case is based on a call.
    pub(super) fn has_calls(&self, case: CaseKey) -> rusqlite::Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM score_calls WHERE case_key = ?1)";
        self.conn.prepare_cached(sql)?.query_row([case], |row| row.get(0))
    }

    /// The calls of a score that is read to be shown, or named in a receipt.
    pub(super) fn shown_calls(&self, score: ScoreCursor) -> rusqlite::Result<Vec<ScoreCall>> {
        self.some_score_calls(score.case, score.scorer, MOST_SHOWN)
    }

    /// The calls that one score is based on.
    pub(super) fn score_calls(
        &self,
        case: CaseKey,
        scorer: ScorerKey,
    ) -> rusqlite::Result<Vec<ScoreCall>> {
        self.some_score_calls(case, scorer, i64::MAX)
    }

    fn some_score_calls(
        &self,
        case: CaseKey,
        scorer: ScorerKey,
        most: i64,
    ) -> rusqlite::Result<Vec<ScoreCall>> {
        let mut query = self.conn.prepare_cached(
            "SELECT digest, reply_digest, is_recorded FROM score_calls WHERE case_key = ?1 AND scorer = ?2
             ORDER BY place LIMIT ?3",
        )?;
        let calls = query.query_map(params![case, scorer, most], |row| {
            Ok(ScoreCall::new(row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        calls.collect()
    }
}

/// Stores the calls that a score is based on.
pub(super) fn keep(
    conn: &Connection,
    case: CaseKey,
    scorer: ScorerKey,
    calls: &[ScoreCall],
) -> rusqlite::Result<()> {
    for (place, call) in calls.iter().enumerate() {
        let mut statement = conn.prepare_cached(
            "INSERT INTO score_calls (case_key, scorer, place, digest, reply_digest, is_recorded)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        let place = integer(place as u64);
        let ScoreCall { digest, reply_digest, is_recorded, .. } = call;
        statement.execute(params![case, scorer, place, digest, reply_digest, is_recorded])?;
    }
    Ok(())
}

fn insert(conn: &Connection, recording: &Recording) -> rusqlite::Result<()> {
    let json = |value: Result<String, serde_json::Error>| {
        value.map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
    };
    let mut statement = conn.prepare_cached(
        "INSERT INTO calls (digest, reply_digest, call_json, reply_json, model, input_tokens,
             output_tokens, cost_usd, latency_ms, attempts, answered_at_ms)
         VALUES (:digest, :reply_digest, :call, :reply, :model, :input, :output, :cost, :latency,
             :attempts, :answered)
         ON CONFLICT (digest, reply_digest) DO UPDATE SET answered_at_ms = excluded.answered_at_ms",
    )?;
    statement.execute(named_params! {
        ":digest": recording.call.digest(),
        ":reply_digest": recording.reply_digest(),
        ":call": json(serde_json::to_string(&recording.call))?,
        ":reply": json(serde_json::to_string(&recording.reply))?,
        ":model": recording.model,
        ":input": recording.usage.input_tokens.map(integer),
        ":output": recording.usage.output_tokens.map(integer),
        ":cost": recording.cost_usd,
        ":latency": recording.latency_ms,
        ":attempts": recording.attempts,
        ":answered": recording.answered_at_ms,
    })?;
    Ok(())
}

fn recording(row: &Row<'_>) -> rusqlite::Result<Recording> {
    recording_at(row, 1)
}

/// The recording whose columns begin with the call at `first`.
fn recording_at(row: &Row<'_>, first: usize) -> rusqlite::Result<Recording> {
    let text = |column: usize| row.get::<_, String>(column);
    let broken = |column: usize, error: serde_json::Error| {
        let kind = rusqlite::types::Type::Text;
        rusqlite::Error::FromSqlConversionFailure(column, kind, Box::new(error))
    };
    let tokens = |column: usize| {
        row.get::<_, Option<i64>>(column).map(|tokens| tokens.map(i64::unsigned_abs))
    };
    Ok(Recording::new(
        serde_json::from_str(&text(first)?).map_err(|error| broken(first, error))?,
        serde_json::from_str(&text(first + 1)?).map_err(|error| broken(first + 1, error))?,
        row.get(first + 2)?,
    )
    .with_usage(TokenUsage { input_tokens: tokens(first + 3)?, output_tokens: tokens(first + 4)? })
    .with_cost_usd(row.get(first + 5)?)
    .with_latency_ms(row.get(first + 6)?)
    .with_attempts(row.get(first + 7)?)
    .answered_at(row.get(first + 8)?))
}
