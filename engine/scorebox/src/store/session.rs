//! Sessions: one process's work on a run. It knows no rows.

#![expect(
    clippy::exhaustive_structs,
    reason = "who stores a new column must be shown by the compiler where it is to be filled in"
)]

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use super::{RunKey, SessionKey};

/// The program and machine that compute the scores of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionSpec {
    /// The version of scorebox.
    pub engine_version: String,
    /// The version of wasmtime in it; fuel is only comparable within one version.
    pub wasmtime_version: String,
    /// Processor and operating system, such as `x86_64-linux`.
    pub host: String,
    /// Milliseconds since 1970 UTC.
    pub started_at_ms: i64,
}

pub(super) fn begin(
    conn: &Connection,
    run: RunKey,
    session: &SessionSpec,
) -> rusqlite::Result<SessionKey> {
    conn.execute(
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
    Ok(SessionKey(conn.last_insert_rowid()))
}

/// The session with this key.
pub(super) fn read(
    conn: &Connection,
    session: SessionKey,
) -> rusqlite::Result<Option<SessionSpec>> {
    let mut query = conn.prepare_cached(
        "SELECT engine_version, wasmtime_version, host, started_at_ms FROM sessions
         WHERE session = ?1",
    )?;
    let spec = |row: &rusqlite::Row<'_>| {
        Ok(SessionSpec {
            engine_version: row.get(0)?,
            wasmtime_version: row.get(1)?,
            host: row.get(2)?,
            started_at_ms: row.get(3)?,
        })
    };
    query.query_row([session], spec).optional()
}
