//! Cases and their readers: slices JSON Lines into [`Case`]s, with one line in memory at a time. It scores nothing,
//! prints nothing, and builds no tree of what it reads.
//!
//! A case is one JSON object on one line. A scorer gets slices of that line, byte for byte as they were read; the
//! engine never parses and rewrites them.
//!
//! ```text
//! Source ──> decode (gz, zst) ──> lines (bounded) ──> line (slices) ──> checks ──> Case
//! ```
//!
//! - `source`: where bytes come from; `decode`, `gzip`: decompression; `lines`: splitting into lines; `reader`: all of
//!   these together. `stop` ends it.
//! - `follow`, `follow_position`: a file that grows, and where its reading continues.
//! - `line`: a line's keys as slices, in the spellings of `key`, or where a `mapping` points; `pointer`, `members`: how
//!   it gets there; `unmatched_rules`: mappings that find nothing.
//! - `checks`, `depth`, `reasons`: what the values must be, and what they mean.
//! - `row`: the position of a case that is a row of a table.
//! - `record`: the case; `builder`: a case from single values; `case_pointer`: a value in it; `trace_context`: the
//!   trace that it belongs to.
//! - `error`, `fault`, `excerpt`: what can be wrong with a line, where, and a quotation; `source_error`: what can be
//!   wrong with a whole source.
//!
//! The rules, in one place:
//!
//! - `output` is required and may be `null`, unless `error` states that the task failed. In every other key, `null` is
//!   the same as no key.
//! - Each key has spellings ([`Key::spellings`]): the first one that a line has wins. The others, and all unknown keys,
//!   stay in the case ([`Case::other_json`]) and reach no scorer.
//! - Values are checked to be JSON and otherwise unchanged: any number, and strings with escapes of lone surrogates,
//!   reach the scorer as they are. Keys must be Unicode.
//! - The same key twice in one line is an error, and so is nesting deeper than [`MAX_DEPTH`].
//! - A [`Mapping`] defines where else a key's value is; it wins over a key with that name, and if it points to nothing,
//!   the key is absent.
//! - Blank lines are skipped, up to a million in a row. A source with only blank lines is an error.
//! - A bad line is a [`BadCase`], and reading continues with the next line; a [`SourceError`] ends the reading.

mod builder;
mod case_pointer;
mod checks;
mod decode;
mod depth;
mod error;
mod excerpt;
mod fault;
#[cfg(feature = "store")]
mod follow;
#[cfg(feature = "store")]
mod follow_position;
mod gzip;
mod key;
mod line;
mod lines;
mod mapping;
mod members;
mod pointer;
mod reader;
mod reasons;
mod record;
mod row;
mod source;
mod source_error;
mod stop;
#[cfg(test)]
mod tests;
mod trace_context;
mod unmatched_rules;

pub use builder::CaseBuilder;
pub use case_pointer::{BadCasePointer, CasePointer};
#[cfg(feature = "store")]
pub(crate) use checks::usage_of;
pub use checks::{MAX_ID_BYTES, MAX_REPEAT};
pub use depth::MAX_DEPTH;
pub use error::{BadCase, BadCaseReason, Location, ReadError, TableRow};
#[cfg(feature = "store")]
pub use follow::Follow;
#[cfg(feature = "store")]
pub use follow_position::{FileIdentity, FollowPosition};
pub use gzip::Gzip;
pub use key::Key;
pub use line::may_be_output;
pub use mapping::{Mapping, MappingError};
#[cfg(feature = "store")]
pub(crate) use pointer::Pointer;
pub use reader::{CaseReader, DEFAULT_MAX_LINE_BYTES};
pub use reasons::MAX_ERROR_BYTES;
pub use record::Case;
pub use row::row_mark;
#[cfg(feature = "store")]
pub(crate) use source::Tally;
pub use source::{NO_CASE, Source};
pub use source_error::{Compression, SourceError};
pub use trace_context::TraceContext;
pub use unmatched_rules::{UnmatchedRule, UnmatchedRules};
