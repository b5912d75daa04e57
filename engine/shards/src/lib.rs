//! Scores tables a batch at a time, on one machine or many, and merges what the machines wrote into runs. This crate
//! implements no scoring, prints nothing, and knows no data engine: all of them pass Arrow batches.
//!
//! ```text
//! batch ──> columns ──cases──> scorebox::run ──rows──> results ──> batch of results ──> a shard file, or a data engine
//! shards ──> duplicates ──> merging ──> one file, or a run in a database
//! ```
//!
//! - `cell`: which columns have cells that can become JSON; `columns`: which column is which part of a case, and rows
//!   as cases.
//! - `plan`: what a run is scored with; every shard of the run names it.
//! - `schema`: the columns of a batch of results; `results`: turns rows of scores into such a batch; `reading`: turns
//!   such a batch into rows; `checking`: what a result in it must be.
//! - `scorer`: turns a batch of cases into batches of results.
//! - `input`: the Parquet file that a shard is made from.
//! - `shard`: a shard as a file, which is written completely or not at all; `output`: that file, or a device or pipe.
//! - `files`: the files of shards, which may be named by their folders; `expected`: whether their number is the
//!   expected one.
//! - `shards`: the shards of one run, checked against each other, and their rows.
//! - `sorting`: sorts the names of cases in files, so that memory does not grow with them; `duplicates`: cases that are
//!   in several shards.
//! - `merging`: the rows of all shards, each case once, into one file; `database`: into a database.
//! - `error`: why something cannot be read, scored or merged.
//!
//! - **Invariant:** a shard gets its name only when it is complete.
//! - **Invariant:** a row of results names the plan that it was computed with, and rows of different plans are never
//!   merged.
//! - **Invariant:** memory is bounded by a batch of cases and their results, not by a file.

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
mod plan;
mod reading;
mod results;
mod schema;
mod scorer;
mod shard;
mod shards;
mod sorting;

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
