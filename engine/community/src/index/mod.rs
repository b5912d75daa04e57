//! Indexes of scorers: signed documents that list published scorers. Does not search in them, and trusts only keys that
//! its caller names.
//!
//! - `place`: the location of an index: on a web server or in a registry.
//! - `document`: the document: a name, a serial number, and entries; `entry`: its content for one scorer.
//! - `signed`: a document whose signature was checked.
//! - `fetch`: fetches a signed document; `publish`: publishes one to a registry; `artifact`: how a registry stores it.
//! - `kept`: the folder of fetched documents, so that no older one is accepted.
//! - `error`: why an index could not be fetched or published.

mod artifact;
mod document;
mod entry;
mod error;
mod fetch;
mod kept;
mod place;
mod publish;
mod signed;

pub use document::{Index, MAX_ENTRIES, MAX_INDEX_BYTES, NotAnIndex};
pub use entry::IndexEntry;
pub use error::{IndexError, IndexFailed};
pub use fetch::fetch_index;
pub use kept::{KeptIndex, KeptIndexes, Refused, Taken};
pub use place::{IndexPlace, NotAnIndexPlace, WebPlace, is_web_address};
pub use publish::{InPlaceOf, publish_index};
pub use signed::SignedIndex;
