//! Why there is no index, as data. Says in no message what a user should type.

use std::path::PathBuf;

use super::{document::NotAnIndex, place::IndexPlace};
use crate::{
    error::{CommunityError, Failed},
    signing::Signer,
};

/// Why an index could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {failed}")]
#[non_exhaustive]
pub struct IndexError {
    /// Its place, as the user named it.
    pub place: String,
    /// What failed.
    pub failed: IndexFailed,
}

/// What failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexFailed {
    /// The server did not do what it was asked.
    #[error("{0}")]
    Server(Failed),
    /// There is nothing at its place.
    #[error("there is nothing there")]
    Missing,
    /// What the registry has there is something else.
    #[error("its content is not an index: {0}")]
    NotAnArtifact(&'static str),
    /// There is no signature.
    #[error("it is not signed: there is no signature beside it")]
    NotSigned,
    /// The signature is not one of minisign.
    #[error("its signature is not valid")]
    BadSignature,
    /// Another key signed it.
    #[error("another key than {0} signed it")]
    OtherSigner(Signer),
    /// The signature is of something else.
    #[error("its signature is not one of this document by {0}")]
    OtherDocument(Signer),
    /// What is signed is not an index.
    #[error("what is signed is not an index: {0}")]
    NotAnIndex(NotAnIndex),
    /// The copy of what was fetched before is not what its signer signed.
    #[error("the copy of it in `{}` is damaged", .0.display())]
    DamagedCopy(PathBuf),
    /// What is published is not an index that the signer of the new one signed, and this is why not.
    #[error("what is published there is not replaced: {0}")]
    NotOwn(Box<IndexFailed>),
    /// What is published has a serial number that is not lower, and says something else.
    #[error("an index with the serial number {there} is published there, and this one has {ours}")]
    NotNewer {
        /// The number of the one that is there.
        there: u64,
        /// The number of the one that is to be published.
        ours: u64,
    },
}

impl IndexError {
    /// This failed at that place.
    pub fn new(place: &IndexPlace, failed: IndexFailed) -> IndexError {
        IndexError { place: place.to_string(), failed }
    }
}

impl IndexFailed {
    /// Whether the server could not be reached, is busy or has broken down, so that what it has is not known.
    pub fn is_passing(&self) -> bool {
        matches!(self, IndexFailed::Server(failed) if failed.is_passing())
    }
}

impl From<Failed> for IndexFailed {
    fn from(failed: Failed) -> IndexFailed {
        match failed {
            Failed::Missing { .. } => IndexFailed::Missing,
            other => IndexFailed::Server(other),
        }
    }
}

impl From<CommunityError> for IndexFailed {
    fn from(error: CommunityError) -> IndexFailed {
        error.failed.into()
    }
}
