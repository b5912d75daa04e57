//! Reads the files of other evaluation tools: turns each file into lines of cases, which `scorebox::case` reads like
//! any others and checks. Scores nothing, prints nothing, and opens nothing but files.
//!
//! ```text
//! file ──> detect ──> a reader on a thread ──lines of cases──> scorebox::case::Source
//! ```
//!
//! - `format`: the formats and their names; `detect`: finds the format of a file from its content.
//! - `open`: turns a file into a [`Source`](scorebox::case::Source).
//! - `source_file`: the file that a reader reads.
//! - `stream`: a reader's lines as bytes, within limits; `emit`: what a reader passes on.
//! - `problem`: why a file cannot be read; `left_out`: counts what is not part of a case.
//! - `text`: the text of a file, decompressed, with a limit on each record; `lenient_json`: replaces what is not valid
//!   JSON, such as NaN.
//! - `walk`: the elements of large JSON documents, one at a time.
//! - `record`: a case as a line; `window`: combines parts of a case that are not next to each other.
//! - `inspect`, `inspect_document`, `inspect_archive`, `promptfoo`, `lm_eval`, `openai_evals`, `spans`: the formats of
//!   the tools. `inspect_events`: what Inspect's events contain and its messages do not; `span`: one span;
//!   `spans_failure`: whether the run of a trace failed.
//! - `parquet_file`: opens a Parquet file; `footer`, `pages`: check that it claims no more than it contains, with the
//!   help of `thrift`; `batch_rows`: how many rows are read at once; `row_values`: how many values the longest row has;
//!   `arrow_file`: opens an Arrow file in the same way; `cells`: cells as JSON; `nested_cells`: cells that contain many
//!   values.
//! - `promptfoo_expected`: the output that a promptfoo test expects; `promptfoo_repeats`: which results belong to the
//!   same test.
//! - `quotes`: whether a quoted CSV cell ends; `table`: a row as a line; `separated` (CSV), `columns` (Parquet and
//!   Arrow) and `dataset` (folders) read rows.
//!
//! - **Invariant:** the same file always produces the same lines, with the same ids.
//! - **Invariant:** memory is bounded by the largest record (64 MiB) or batch of rows, not by the file; for a million
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
