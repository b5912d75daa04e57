//! Whether only one session has written a run: then it knows what is stored without reading all of it. It writes
//! nothing, and counts only at the run's beginning.

use super::{RunKey, Store, StoreError};

/// How much of a run is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Cases.
    pub(crate) cases: u64,
    /// Score rows.
    pub(crate) rows: u64,
}

/// What is known about the other connections to the file, in this process and in others.
#[derive(Debug, Default)]
pub(super) enum Alone {
    /// Nothing: no batch has begun.
    #[default]
    NotKnown,
    /// Nothing of the run was stored when SQLite had this number for the changes by others.
    Since(i64),
    /// What is stored must be counted.
    No,
}

impl Alone {
    /// Looks at what is stored when the first batch of a run begins; the batch keeps others from writing.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn begin(&mut self, store: &Store, run: RunKey) -> Result<(), StoreError> {
        if let Alone::NotKnown = self {
            *self = match store.stored(run)? == Stored::default() {
                true => Alone::Since(store.changes_of_others()?),
                false => Alone::No,
            };
        }
        Ok(())
    }

    /// Whether no other connection has written to the file since the first batch began.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn is_certain(&self, store: &Store) -> Result<bool, StoreError> {
        match self {
            Alone::Since(changes) => Ok(store.changes_of_others()? == *changes),
            Alone::NotKnown | Alone::No => Ok(false),
        }
    }
}

impl Store {
    /// How much of a run is stored. It reads the keys of all its cases and rows.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn stored(&self, run: RunKey) -> Result<Stored, StoreError> {
        Ok(Stored { cases: self.case_count(run)?, rows: self.row_count(run)? })
    }

    /// A number that SQLite changes whenever another connection has changed the file.
    fn changes_of_others(&self) -> Result<i64, StoreError> {
        let read = self.conn.pragma_query_value(None, "data_version", |row| row.get(0));
        self.explained(read)
    }
}
