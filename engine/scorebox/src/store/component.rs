//! The components of runs, each stored once. It does not look inside them.

use rusqlite::{OptionalExtension, Transaction, params};

use super::{Store, StoreError};
use crate::{component_bytes::ComponentBytes, digest::Digest};

impl Store {
    /// The bytes of the component with this digest, as stored; the caller must check whether they still have that
    /// digest.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn component(&self, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
        let read = || {
            let mut query =
                self.conn.prepare_cached("SELECT bytes FROM components WHERE digest = ?1")?;
            query.query_row([digest], |row| row.get(0)).optional()
        };
        self.brief(read)
    }
}

/// Stores a component unless it is already stored, which is the case for a spec that was read.
pub(super) fn keep(
    change: &Transaction<'_>,
    component: Option<&ComponentBytes>,
) -> rusqlite::Result<()> {
    let Some(component) = component else { return Ok(()) };
    let is_stored = "SELECT 1 FROM components WHERE digest = ?1";
    if change.prepare_cached(is_stored)?.exists([component.digest()])? {
        return Ok(());
    }
    let bytes =
        component.bytes().map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let insert = "INSERT INTO components (digest, bytes) VALUES (?1, ?2)";
    change.execute(insert, params![component.digest(), bytes]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::super::sample::*;

    #[test]
    fn a_component_is_stored_once_however_many_scorers_and_runs_use_it() {
        let (_folder, mut store) = database();
        for run_id in ["one", "two"] {
            let twice =
                [scorer("a"), crate::store::ScorerSpec { scorer_id: "b".into(), ..scorer("a") }];
            store.create_run(&run(run_id), &twice, &session()).unwrap();
        }
        let count = "SELECT count(*) FROM components";
        assert_eq!(store.conn.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
        let bytes = store.component(scorer("a").component_digest).unwrap();
        assert_eq!(bytes.as_deref(), Some(&b"a"[..]));
        assert_eq!(store.component(crate::digest::Digest::of(b"other")).unwrap(), None);
    }
}
