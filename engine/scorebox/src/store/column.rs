//! How this crate's own types are stored in a column: words as text, digests as 32 bytes, keys as integers.
//! Any other value is damage, and becomes an error.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Value, ValueRef};
use serde::{
    Deserialize, Serialize,
    de::value::{Error as NotAWord, StrDeserializer},
};

use super::{CaseKey, RunId, RunKey, RunSource, RunState, ScorerKey, SessionKey, error::OnNoScale};
use crate::{
    contract::{Direction, Scale, Severity},
    digest::Digest,
    row::Status,
};

/// For enums whose `as_str` returns the same words as serde.
macro_rules! stored_as_words {
    ($($name:ty),*) => {$(
        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<$name> {
                let word = StrDeserializer::<NotAWord>::new(value.as_str()?);
                <$name>::deserialize(word).map_err(FromSqlError::other)
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.as_str().into())
            }
        }
    )*};
}

stored_as_words!(Direction, RunSource, RunState, Scale, Severity, Status);

macro_rules! stored_as_integers {
    ($($name:ident),*) => {$(
        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<$name> {
                value.as_i64().map($name)
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.0.into())
            }
        }
    )*};
}

stored_as_integers!(CaseKey, RunKey, ScorerKey, SessionKey);

impl FromSql for Digest {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Digest> {
        <[u8; 32]>::column_result(value).map(Digest::from)
    }
}

impl ToSql for Digest {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_bytes().as_slice().into())
    }
}

impl FromSql for RunId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<RunId> {
        RunId::stored(value.as_str()?).map_err(FromSqlError::other)
    }
}

impl ToSql for RunId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

/// A score as it is read: a finite number of 0 or more, as on every scale. SQLite would accept others as well.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnAScale(pub(super) f64);

impl FromSql for OnAScale {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<OnAScale> {
        match value.as_f64()? {
            number if number >= 0.0 && number.is_finite() => Ok(OnAScale(number)),
            number => Err(FromSqlError::other(OnNoScale(number))),
        }
    }
}

impl OnAScale {
    /// The number, if there is one.
    pub(super) fn of(read: Option<OnAScale>) -> Option<f64> {
        read.map(|OnAScale(number)| number)
    }
}

/// A value to bind; NULL for `None`.
pub(super) fn optional<'a, T>(value: Option<T>) -> ToSqlOutput<'a>
where
    ToSqlOutput<'a>: From<T>,
{
    value.map_or(ToSqlOutput::Owned(Value::Null), ToSqlOutput::from)
}

/// A number in SQLite's integer type, which ends at 2^63 - 1; no fuel, memory or line number is that large.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A list as JSON; NULL if it is empty.
pub(super) fn json_array<T: Serialize>(items: &[T]) -> rusqlite::Result<Option<String>> {
    if items.is_empty() {
        return Ok(None);
    }
    serde_json::to_string(items)
        .map(Some)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}
