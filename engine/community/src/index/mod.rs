//! Indexes of scorers: signed documents that say which published scorers there are. Finds nothing in them, and trusts
//! no key that its caller does not name.
//!
//! - `place`: where an index is: on a web server or in a registry.
//! - `document`: the document: a name, a serial number, and entries; `entry`: what it says about one scorer.
//! - `signed`: a document whose signature was checked.
//! - `fetch`: a signed document from its place; `publish`: one to a registry; `artifact`: how a registry keeps it.
//! - `kept`: the folder of documents that were fetched, so that none is taken that is older.
//! - `error`: why there is none.

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
