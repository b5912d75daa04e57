//! The calls of judges: each call once with its answer, and which calls a score is based on. It asks no judge.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, Row, named_params, params};

use super::{
    Altered, CaseKey, Part, RunKey, ScoreCursor, ScorerKey, Store, StoreError, Unrecorded,
    call_check::{checked, unreadable},
    column::integer,
};
use crate::{
    digest::Digest,
    judge::{Recording, ScoreCall, TokenUsage},
};

/// How many calls are read with one row: far more than a score makes, and few enough for memory if the file was
/// tampered with.
const MAX_SHOWN: i64 = 65_536;

pub(super) const COLUMNS: &str =
    "digest, reply_digest, call_json, reply_json, model, input_tokens, output_tokens,
    cost_usd, latency_ms, attempts, answered_at_ms";

/// The current time, in milliseconds since 1970 UTC.
macro_rules! now {
    () => {
        "CAST(round(unixepoch('subsec') * 1000) AS INTEGER)"
    };
}

/// The latest answer first. An answer from a clock that is ahead comes last, because otherwise it would be the latest
/// forever.
const LATEST: &str = concat!("answered_at_ms <= ", now!(), " DESC, answered_at_ms DESC, call DESC");

/// A call of a run, and the score that is based on it.
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
    /// Read errors; [`StoreError::Corrupt`] if it does not match its digests.
    pub fn recording(&self, call: Digest) -> Result<Option<Recording>, StoreError> {
        self.brief(|| {
            let sql =
                format!("SELECT {COLUMNS} FROM calls WHERE digest = ?1 ORDER BY {LATEST} LIMIT 1");
            self.conn.prepare_cached(&sql)?.query_row([call], recording).optional()
        })
    }

    /// The recording of a call whose answer has this digest; if there is none, the latest one of the call. It is
    /// returned as it is stored: the caller must check whether it matches its digests.
    ///
    /// # Errors
    /// Read errors; [`StoreError::Corrupt`] if it cannot be read.
    pub fn recording_of(
        &self,
        call: Digest,
        reply: Digest,
    ) -> Result<Option<Recording>, StoreError> {
        self.brief(|| {
            let sql = format!(
                "SELECT {COLUMNS} FROM calls WHERE digest = ?1
                 ORDER BY reply_digest = ?2 DESC, {LATEST} LIMIT 1"
            );
            self.conn.prepare_cached(&sql)?.query_row([call, reply], as_it_stands).optional()
        })
    }

    /// Stores recordings in one transaction. Later reads find the latest one of a call.
    ///
    /// # Errors
    /// Write errors.
    pub fn keep_recordings(&self, recordings: &[Arc<Recording>]) -> Result<(), StoreError> {
        self.keep_answers(recordings.iter().map(|recording| (&**recording, None)))
    }

    /// Calls `take` with each call that the scores of a run are based on, in the order of cases and scorers; if `score`
    /// names one, only with the calls of that score.
    ///
    /// # Errors
    /// Read errors; [`StoreError::Corrupt`] if a recording does not match its digests.
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
                "SELECT score_calls.digest, score_calls.reply_digest, call_json, reply_json, calls.model,
                     input_tokens, output_tokens, cost_usd, calls.latency_ms, attempts, answered_at_ms,
                     cases.case_id, cases.iteration, cases.attempt, scorers.scorer_id, is_recorded,
                     calls.digest IS NOT NULL
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
                    recording: row.get::<_, bool>(16)?.then(|| recording(row)).transpose()?,
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

    /// The recordings that a score is based on, in the order in which they were asked, or else which of them are
    /// missing or changed.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn recordings_of(
        &self,
        cursor: ScoreCursor,
    ) -> Result<Result<Vec<Recording>, Unrecorded>, StoreError> {
        self.brief(|| {
            let calls = self.score_calls(cursor.case, cursor.scorer)?;
            let sql =
                format!("SELECT {COLUMNS} FROM calls WHERE digest = ?1 AND reply_digest = ?2");
            let mut query = self.conn.prepare_cached(&sql)?;
            let mut recordings = Vec::with_capacity(calls.len());
            let mut unrecorded = Unrecorded::default();
            for call in calls {
                let found = query.query_row([call.digest, call.reply_digest], stored).optional()?;
                match found {
                    Some(Ok(found)) => recordings.push(found),
                    Some(Err(altered)) => unrecorded.altered.push(altered),
                    None => unrecorded.missing.push(call.digest),
                }
            }
            let is_whole = unrecorded == Unrecorded::default();
            Ok(if is_whole { Ok(recordings) } else { Err(unrecorded) })
        })
    }

    /// The first recordings of a run's scores that do not match their digests, at most `most`. A missing recording does
    /// not count.
    pub(crate) fn altered_recordings(
        &self,
        run: RunKey,
        most: usize,
    ) -> Result<Vec<Altered>, StoreError> {
        let (first, last) = CaseKey::bounds(run);
        let mut all = Vec::new();
        self.bounded(|| {
            let sql = format!(
                "SELECT {COLUMNS} FROM calls WHERE EXISTS (
                     SELECT 1 FROM score_calls WHERE score_calls.case_key BETWEEN ?1 AND ?2
                         AND score_calls.digest = calls.digest
                         AND score_calls.reply_digest = calls.reply_digest)"
            );
            let mut query = self.conn.prepare_cached(&sql)?;
            let mut rows = query.query(params![first, last])?;
            while let Some(row) = rows.next()? {
                if let Err(altered) = stored(row)? {
                    all.push(altered);
                }
                if all.len() == most {
                    break;
                }
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// Whether a score of the case is based on a call.
    pub(super) fn has_calls(&self, case: CaseKey) -> rusqlite::Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM score_calls WHERE case_key = ?1)";
        self.conn.prepare_cached(sql)?.query_row([case], |row| row.get(0))
    }

    /// The calls of a score that is read to be shown, or included in a receipt.
    pub(super) fn shown_calls(&self, score: ScoreCursor) -> rusqlite::Result<Vec<ScoreCall>> {
        self.some_score_calls(score.case, score.scorer, MAX_SHOWN)
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
    for (index, call) in calls.iter().enumerate() {
        let mut statement = conn.prepare_cached(
            "INSERT INTO score_calls (case_key, scorer, place, digest, reply_digest, is_recorded)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        let index = integer(index as u64);
        let ScoreCall { digest, reply_digest, is_recorded, .. } = call;
        statement.execute(params![case, scorer, index, digest, reply_digest, is_recorded])?;
    }
    Ok(())
}

pub(super) fn insert(conn: &Connection, recording: &Recording) -> rusqlite::Result<()> {
    let json = |value: Result<String, serde_json::Error>| {
        value.map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
    };
    // An answer with a time in the future is from a clock that is ahead.
    let mut statement = conn.prepare_cached(concat!(
        "INSERT INTO calls (digest, reply_digest, call_json, reply_json, model, input_tokens,
             output_tokens, cost_usd, latency_ms, attempts, answered_at_ms)
         VALUES (:digest, :reply_digest, :call, :reply, :model, :input, :output, :cost, :latency,
             :attempts, min(:answered, ",
        now!(),
        "))
         ON CONFLICT (digest, reply_digest) DO UPDATE SET answered_at_ms = excluded.answered_at_ms,
             latency_ms = excluded.latency_ms, attempts = excluded.attempts
         WHERE excluded.answered_at_ms >= min(calls.answered_at_ms, ",
        now!(),
        ")"
    ))?;
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

/// The recording of a row with [`COLUMNS`], which must be what its digests say.
pub(super) fn recording(row: &Row<'_>) -> rusqlite::Result<Recording> {
    stored(row)?.map_err(damage)
}

/// The recording of a row with [`COLUMNS`], whether or not it matches its digests.
fn as_it_stands(row: &Row<'_>) -> rusqlite::Result<Recording> {
    read(row)?.map_err(damage)
}

fn damage(altered: Altered) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Blob, Box::new(altered))
}

/// The recording of a row with [`COLUMNS`], if it matches its digests.
fn stored(row: &Row<'_>) -> rusqlite::Result<Result<Recording, Altered>> {
    let (call, reply) = (row.get(0)?, row.get(1)?);
    Ok(read(row)?.and_then(|recording| checked(recording, call, reply)))
}

/// The recording of a row with [`COLUMNS`], if its texts are valid.
fn read(row: &Row<'_>) -> rusqlite::Result<Result<Recording, Altered>> {
    let (call, reply): (Digest, Digest) = (row.get(0)?, row.get(1)?);
    let question = serde_json::from_str(&row.get::<_, String>(2)?);
    let Ok(question) = question else { return Ok(Err(unreadable(call, reply, Part::Question))) };
    let answer = serde_json::from_str(&row.get::<_, String>(3)?);
    let Ok(answer) = answer else { return Ok(Err(unreadable(call, reply, Part::Answer))) };
    let tokens: [Option<i64>; 2] = [row.get(5)?, row.get(6)?];
    if tokens.iter().flatten().any(|tokens| *tokens < 0) {
        return Ok(Err(unreadable(call, reply, Part::Answer)));
    }
    let [input_tokens, output_tokens] = tokens.map(|tokens| tokens.map(i64::unsigned_abs));
    let recording = Recording::new(question, answer, row.get(4)?)
        .with_usage(TokenUsage { input_tokens, output_tokens })
        .with_cost_usd(row.get(7)?)
        .with_latency_ms(row.get(8)?)
        .with_attempts(row.get(9)?)
        .answered_at(row.get(10)?);
    Ok(Ok(recording))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Call, Generation, Question, Reply};

    /// An answer to the one call, with this time and number of attempts.
    fn said(text: &str, answered_at_ms: i64, attempts: u32) -> Arc<Recording> {
        let call = Call {
            provider: "openai".into(),
            place: "http://a/v1".into(),
            question: Question::Generate(Generation::default()),
            iteration: 0,
            attempt: 0,
        };
        let reply = Reply::Text { text: text.into(), truncated: false };
        let recording = Recording::new(call, reply, "m".into());
        Arc::new(recording.with_attempts(attempts).answered_at(answered_at_ms))
    }

    /// The text, time and attempts of the answer that is found after these were stored, one after another.
    fn found_after(kept: &[Arc<Recording>]) -> (String, i64, u32) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("a.db")).unwrap();
        for recording in kept {
            store.keep_recordings(std::slice::from_ref(recording)).unwrap();
        }
        let found = store.recording(kept[0].call.digest()).unwrap().unwrap();
        let Reply::Text { text, .. } = found.reply else { panic!("a text was kept") };
        (text, found.answered_at_ms, found.attempts)
    }

    #[test]
    fn the_answer_that_was_given_last_is_found_whenever_older_copies_are_kept() {
        let both = [said("a", 5000, 1), said("b", 3000, 1)];
        assert_eq!(found_after(&both), ("a".into(), 5000, 1));
        let [a, b] = both;
        assert_eq!(found_after(&[a, b, said("a", 1000, 1)]), ("a".into(), 5000, 1));
    }

    #[test]
    fn the_same_answer_once_more_has_the_attempts_of_the_last_time() {
        assert_eq!(found_after(&[said("a", 1, 3), said("a", 2, 1)]), ("a".into(), 2, 1));
        assert_eq!(found_after(&[said("a", 2, 3), said("a", 1, 1)]), ("a".into(), 2, 3));
    }

    #[test]
    fn an_answer_of_a_clock_that_is_ahead_is_not_the_last_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("a.db")).unwrap();
        let (early, now) = (said("early", i64::MAX, 1), said("now", 1000, 1));
        let call = early.call.digest();
        let found = || store.recording(call).unwrap().unwrap();
        store.keep_recordings(&[Arc::clone(&early)]).unwrap();
        assert!(found().answered_at_ms < i64::MAX);
        // As if a machine with a wrong clock had written it.
        store.conn.execute("UPDATE calls SET answered_at_ms = ?1", [i64::MAX]).unwrap();
        assert_eq!(found().reply, early.reply);
        store.keep_recordings(&[Arc::clone(&now)]).unwrap();
        assert_eq!(found().reply, now.reply);
    }
}
