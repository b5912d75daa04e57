//! Why there is no page. Shows nothing.

use scorebox::store::StoreError;

/// Why there is no page.
#[derive(Debug)]
pub(super) enum Trouble {
    /// What the URL names does not exist.
    Missing(String),
    /// The URL asks for something that cannot be.
    Refused(String),
    /// The server has too many requests to answer this one.
    Busy(String),
    /// The database.
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
