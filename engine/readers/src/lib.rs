//! Readers of what other evaluation tools write: each file becomes lines of cases, which `scorebox::case` reads like
//! any others, so that every check of a case stays there. Scores nothing, prints nothing, and opens nothing but files.
//!
//! ```text
//! file ──> detect ──> a reader on a thread ──lines of cases──> scorebox::case::Source
//! ```
//!
//! - `format`: the formats and their names; `detect`: which of them a file has, by its content.
//! - `open`: a file to a [`Source`](scorebox::case::Source).
//! - `source_file`: the file that a reader reads.
//! - `stream`: a reader's lines as bytes, within bounds; `emit`: what a reader hands over.
//! - `problem`: why a file cannot be read; `left_out`: what of it is no case, counted.
//! - `text`: the text of a file, decompressed, with a bound on each record; `lenient_json`: what JSON lacks, such as
//!   NaN.
//! - `walk`: the elements of large JSON documents, one at a time.
//! - `record`: a case as a line; `window`: parts of a case that are not side by side, put together.
//! - `inspect`, `inspect_document`, `inspect_archive`, `promptfoo`, `lm_eval`, `openai_evals`, `spans`: what the tools
//!   write. `inspect_events`: what Inspect's events say and its messages do not; `span` is one span, `spans_failure`
//!   whether the run of a trace failed.
//! - `parquet_file`: a Parquet file, opened; `footer`, `pages`: whether it claims no more than it has, which `thrift`
//!   finds out; `batch_rows`: how many rows are read at once; `row_values`: how many values the longest row has;
//!   `arrow_file`: an Arrow file, opened likewise; `cells`: cells as JSON; `nested_cells`: those that hold many values.
//! - `promptfoo_expected`: the output that a test of promptfoo expects; `promptfoo_repeats`: which results are of one
//!   test.
//! - `quotes`: whether a quoted cell of CSV ends; `table`: a row as a line; `separated` (CSV), `columns` (Parquet and
//!   Arrow) and `dataset` (folders) have rows.
//!
//! - **Invariant:** the same file gives the same lines, with the same ids, on every reading.
//! - **Invariant:** memory is bounded by the largest record (64 MiB) or batch of rows, not by the file; of a million
//!   results of promptfoo, a few bytes each are kept.
//! - **Invariant:** what is left out is counted, with the reason.

#![warn(missing_debug_implementations)]

mod arrow_file;
mod batch_rows;
mod cells;
mod columns;
mod dataset;
mod detect;
mod emit;
mod footer;
mod format;
mod inspect;
mod inspect_archive;
mod inspect_document;
mod inspect_events;
mod left_out;
mod lenient_json;
mod lm_eval;
mod nested_cells;
mod open;
mod openai_evals;
mod pages;
mod parquet_file;
mod problem;
mod promptfoo;
mod promptfoo_expected;
mod promptfoo_repeats;
mod quotes;
mod record;
mod row_values;
mod separated;
mod source_file;
mod span;
mod spans;
mod spans_failure;
mod stream;
mod table;
mod text;
mod thrift;
mod walk;
mod window;

pub use cells::{CellError, Cells};
pub use detect::detect;
pub use format::{Format, UnknownFormat};
pub use left_out::LeftOut;
pub use open::{Opened, Settings, open};
pub use parquet_file::{open_parquet, without_panic};
pub use problem::{MissingColumn, ReaderError};
pub use stream::READERS_NAME;
pub use table::{has_json, json_of_text};
