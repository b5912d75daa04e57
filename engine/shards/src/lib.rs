//! Scores tables a batch at a time, on one machine or many, and merges what the machines wrote into runs. This crate
//! implements no scoring, prints nothing, and knows no data engine: all of them pass Arrow batches.
//!
//! ```text
//! batch ──> columns ──cases──> scorebox::run ──rows──> results ──> batch of results ──> a shard file, or a data engine
//! shards ──> duplicates ──> merging ──> one file, or a run in a database
//! ```
//!
//! - `cell`: which columns have cells that are JSON; `columns`: which column is which part of a case, and rows as
//!   cases.
//! - `plan`: what a run is scored with, which every shard of it names.
//! - `schema`: the columns of a batch of results; `results`: rows of scores as such a batch; `reading`: such a batch as
//!   rows; `checking`: what a result in it must be.
//! - `scorer`: a batch of cases to batches of results.
//! - `input`: the Parquet file that a shard is made of; `source`: with what else decides its rows.
//! - `shard`: a shard as a file, written as a whole or not at all; `output`: that file, or a device or pipe.
//! - `files`: the files of shards, which folders may name; `expected`: whether they are as many as they should be;
//!   `owning`: which of them have a case that no other one has.
//! - `seal`: a digest of all that a shard says, by which a file that was damaged on its way is noticed.
//! - `shards`: the shards of one run, checked against each other, and their rows.
//! - `sorting`: sorts the names of cases in files, so that memory does not grow with them; `duplicates`: cases that are
//!   in several shards.
//! - `merging`: the rows of all shards, each case once, into one file; `database`: into a database.
//! - `error`: why something cannot be read, scored or merged.
//!
//! - **Invariant:** a shard has its name when it is complete, and not before.
//! - **Invariant:** a row of results names the plan that it was computed with, and rows of two plans are never put
//!   together.
//! - **Invariant:** of a shard that scorebox wrote, no row is handed on to its end if a byte that counts is another one.
//! - **Invariant:** memory is bounded by a batch of cases and their results, and not by a file.

#![warn(missing_debug_implementations)]

mod cell;
mod checking;
mod columns;
mod database;
mod duplicates;
mod error;
mod expected;
mod files;
mod input;
mod merging;
mod output;
mod owning;
mod plan;
mod reading;
mod results;
mod schema;
mod scorer;
mod seal;
mod shard;
mod shards;
mod sorting;
mod source;

pub use cell::{push_float, push_text};
pub use columns::{Columns, RowCase, TableError};
pub use database::{MergedRun, merge_into_database, sample_of_shards};
pub use duplicates::{Difference, Duplicates};
pub use error::ShardError;
pub use expected::{MAX_EXPECTED_SHARDS, must_be_all};
pub use files::shard_files;
pub use input::Input;
pub use merging::{Merge, merge_into_file, merge_into_new_file};
pub use plan::Plan;
pub use schema::{RESULT_FIELDS, ROW_FIELDS, SCHEMA_VERSION};
pub use scorer::{BatchScorer, Scoring};
pub use shard::{ShardFile, Written};
pub use shards::{Named, Shards};
pub use source::{Source, TaskFiles};
