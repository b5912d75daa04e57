//! Sessions: one process's work on a run. Knows no rows.

use rusqlite::{Transaction, params};
use serde::Serialize;

use super::{RunKey, SessionKey};

/// What computes the scores of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionSpec {
    /// Version of scorebox.
    pub engine_version: String,
    /// Version of wasmtime in it; fuel is only comparable within one.
    pub wasmtime_version: String,
    /// Processor and operating system, such as `x86_64-linux`.
    pub host: String,
    /// Milliseconds since 1970 UTC.
    pub started_at_ms: i64,
}

pub(super) fn begin(
    change: &Transaction<'_>,
    run: RunKey,
    session: &SessionSpec,
) -> rusqlite::Result<SessionKey> {
    change.execute(
        "INSERT INTO sessions (run, engine_version, wasmtime_version, host, started_at_ms)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            run,
            session.engine_version,
            session.wasmtime_version,
            session.host,
            session.started_at_ms
        ],
    )?;
    Ok(SessionKey(change.last_insert_rowid()))
}
