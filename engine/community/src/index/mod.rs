//! Indexes of scorers: signed documents that say which published scorers there are. Finds nothing in them.
//!
//! - `place`: where an index is: on a web server or in a registry.

mod place;

pub use place::{IndexPlace, NotAnIndexPlace, WebPlace};
