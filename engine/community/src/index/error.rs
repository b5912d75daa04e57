//! Defines why an index could not be fetched or published, as data. Messages contain no advice about what to type.

use std::path::PathBuf;

use super::{document::NotAnIndex, place::IndexPlace};
use crate::{
    error::{CommunityError, Failed},
    signing::Signer,
};

/// Why an index could not be fetched or published.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {failed}")]
#[non_exhaustive]
pub struct IndexError {
    /// The index's location, as the user named it.
    pub place: String,
    /// What failed.
    pub failed: IndexFailed,
}

/// What failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexFailed {
    /// The request to the server failed.
    #[error("{0}")]
    Server(Failed),
    /// There is nothing at this location.
    #[error("there is nothing there")]
    Missing,
    /// The registry contains something else there.
    #[error("its content is not an index: {0}")]
    NotAnArtifact(&'static str),
    /// The index has no signature.
    #[error("it is not signed: there is no signature beside it")]
    NotSigned,
    /// The signature is not a valid minisign signature.
    #[error("its signature is not valid")]
    BadSignature,
    /// Another key signed the index.
    #[error("another key than {0} signed it")]
    OtherSigner(Signer),
    /// The signature is for something else.
    #[error("its signature is not one of this document by {0}")]
    OtherDocument(Signer),
    /// The signed document is not an index.
    #[error("what is signed is not an index: {0}")]
    NotAnIndex(NotAnIndex),
    /// The local copy is not what its signer signed.
    #[error("the copy of it in `{}` is damaged", .0.display())]
    DamagedCopy(PathBuf),
    /// What is published is not an index that the signer of the new one signed, for this reason.
    #[error("what is published there is not replaced: {0}")]
    NotOwn(Box<IndexFailed>),
    /// The published index has other content and a serial number that is not lower.
    #[error("an index with the serial number {there} is published there, and this one has {ours}")]
    NotNewer {
        /// The serial number of the published index.
        there: u64,
        /// The serial number of the new index.
        ours: u64,
    },
}

impl IndexError {
    /// An error at this location.
    pub fn new(place: &IndexPlace, failed: IndexFailed) -> IndexError {
        IndexError { place: place.to_string(), failed }
    }
}

impl IndexFailed {
    /// Whether the server could not be reached, is busy or has failed, so that its content is unknown.
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
