//! Whether a session alone has written a run: then it knows what is stored without a pass over it. Writes nothing, and
//! counts nothing but at the run's beginning.

use super::{RunKey, Store, StoreError};

/// How much of a run is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Cases.
    pub(crate) cases: u64,
    /// Score rows.
    pub(crate) rows: u64,
}

/// What is known of the other connections to the file, in this process and in others.
#[derive(Debug, Default)]
pub(super) enum Alone {
    /// Nothing: no batch was begun.
    #[default]
    NotKnown,
    /// There was nothing of the run when SQLite had this number for the changes that others make to the file.
    Since(i64),
    /// What is stored has to be counted.
    No,
}

impl Alone {
    /// Looks at what is stored when the first batch of a run begins, which keeps others from writing.
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
    /// How much of a run is stored. Takes a pass over it.
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
