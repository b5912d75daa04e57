//! Defines why a page cannot be shown. Shows nothing.

use scorebox::store::StoreError;

/// Why a page cannot be shown.
#[derive(Debug)]
pub(super) enum Trouble {
    /// What the URL names does not exist.
    Missing(String),
    /// The URL requests something that is not possible.
    Refused(String),
    /// The server has too many requests to answer this one.
    Busy(String),
    /// The database cannot be read.
    Store(StoreError),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Trouble {
        match error {
            StoreError::NoSuchRun { id, .. } => {
                Trouble::Missing(format!("There is no run `{id}` in this database."))
            }
            error => Trouble::Store(error),
        }
    }
}
