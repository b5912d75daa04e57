//! A score row to store: its values in the order of its table, and the statement that inserts them. It decides neither
//! when the row is written nor whether it may be.

#![expect(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "who stores a new column must be shown by the compiler where it is to be filled in"
)]

use rusqlite::{
    ToSql, params_from_iter,
    types::{ToSqlOutput, Value},
};

use super::{
    CaseKey, ScorerKey, SessionKey, Store,
    column::{integer, json_array, optional},
    root::ROW_VALUES,
};
use crate::{
    contract::{Assertion, LogLine},
    digest::Digest,
    judge::ScoreCall,
    row::Status,
};

/// The outcome of one scorer on one case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome<'a> {
    /// A score.
    Scored {
        /// Finite, 0 or more.
        score: f64,
        /// A category that goes with it.
        label: Option<&'a str>,
        /// Why, for a person.
        reason: Option<&'a str>,
        /// The scorer's own JSON.
        meta: Option<&'a str>,
        /// The checks that it consists of.
        assertions: &'a [Assertion],
    },
    /// The scorer does not apply to this case.
    NotApplicable {
        /// A category that goes with it.
        label: Option<&'a str>,
        /// Why, for a person.
        reason: Option<&'a str>,
        /// The scorer's own JSON.
        meta: Option<&'a str>,
    },
    /// The case was skipped; nothing ran.
    Skipped {
        /// Why, for a person.
        reason: Option<&'a str>,
    },
    /// There is no score, although there should be.
    Error {
        /// The engine's word for the error, such as `out-of-fuel`.
        kind: &'a str,
        /// The message for the user.
        message: &'a str,
        /// The reason that the scorer gave nevertheless.
        reason: Option<&'a str>,
    },
}

/// One score row to write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewScore<'a> {
    /// The outcome.
    pub outcome: Outcome<'a>,
    /// The Wasm fuel that it used; `None` if nothing ran.
    pub fuel: Option<u64>,
    /// The sandbox's peak linear memory, in bytes; `None` if nothing ran.
    pub memory_bytes: Option<u64>,
    /// How long the scorer took, in milliseconds; finite, 0 or more.
    pub duration_ms: f64,
    /// When it was scored, in milliseconds since 1970 UTC.
    pub scored_at_ms: i64,
    /// What the scorer logged.
    pub log: &'a [LogLine],
    /// The digest of the scorer's input; `None` if nothing ran.
    pub input_digest: Option<Digest>,
    /// The calls of judges that it is based on.
    pub calls: &'a [ScoreCall],
}

/// `ON CONFLICT` on the key alone: `INSERT OR IGNORE` would also swallow rows that break a rule.
const INSERT: &str = "
    INSERT INTO score_rows (case_key, scorer, status, score, fuel, memory_bytes, duration_ms,
        scored_at_ms, error_kind, error_message, label, reason, meta_json, assertions_json, log_json,
        input_digest, session)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
    ON CONFLICT (case_key, scorer) DO NOTHING";

/// Inserts a row; returns whether it is new.
pub(super) fn insert(
    store: &Store,
    session: SessionKey,
    case: CaseKey,
    scorer: ScorerKey,
    values: &[ToSqlOutput<'_>; ROW_VALUES],
) -> rusqlite::Result<bool> {
    let mut statement = store.conn.prepare_cached(INSERT)?;
    let keys: [&dyn ToSql; 2] = [&case, &scorer];
    let values = values.iter().map(|value| value as &dyn ToSql);
    let session: [&dyn ToSql; 1] = [&session];
    let row = keys.into_iter().chain(values).chain(session);
    Ok(statement.execute(params_from_iter(row))? == 1)
}

/// The values of a row in the order of its table, from `status` to `input_digest`.
pub(super) fn values<'a>(new: &'a NewScore<'_>) -> rusqlite::Result<[ToSqlOutput<'a>; ROW_VALUES]> {
    let row = Columns::of(&new.outcome)?;
    let owned = |text: Option<String>| ToSqlOutput::Owned(text.map_or(Value::Null, Value::Text));
    Ok([
        row.status.as_str().into(),
        optional(row.score),
        optional(new.fuel.map(integer)),
        optional(new.memory_bytes.map(integer)),
        new.duration_ms.into(),
        new.scored_at_ms.into(),
        optional(row.error_kind),
        optional(row.error_message),
        optional(row.label),
        optional(row.reason),
        optional(row.meta),
        owned(row.assertions),
        owned(json_array(new.log)?),
        optional(new.input_digest.as_ref().map(|digest| digest.as_bytes().as_slice())),
    ])
}

/// An outcome as columns; missing values are NULL.
struct Columns<'a> {
    status: Status,
    score: Option<f64>,
    error_kind: Option<&'a str>,
    error_message: Option<&'a str>,
    label: Option<&'a str>,
    reason: Option<&'a str>,
    meta: Option<&'a str>,
    assertions: Option<String>,
}

impl<'a> Columns<'a> {
    fn of(outcome: &Outcome<'a>) -> rusqlite::Result<Columns<'a>> {
        let none = Columns {
            status: Status::Skipped,
            score: None,
            error_kind: None,
            error_message: None,
            label: None,
            reason: None,
            meta: None,
            assertions: None,
        };
        Ok(match *outcome {
            Outcome::Scored { score, label, reason, meta, assertions } => Columns {
                status: Status::Scored,
                score: Some(score),
                assertions: json_array(assertions)?,
                label,
                reason,
                meta,
                ..none
            },
            Outcome::NotApplicable { label, reason, meta } => {
                Columns { status: Status::NotApplicable, label, reason, meta, ..none }
            }
            Outcome::Skipped { reason } => Columns { reason, ..none },
            Outcome::Error { kind, message, reason } => Columns {
                status: Status::Error,
                error_kind: Some(kind),
                error_message: Some(message),
                reason,
                ..none
            },
        })
    }
}
