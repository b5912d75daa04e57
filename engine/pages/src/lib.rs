//! Shows stored runs as HTML: a report in one file, the page of a scorer, and the pages of a server. Reads through the
//! library's modules, contains no SQL, computes no statistics, and prints nothing.
//!
//! - `report`: the report.
//! - `chosen`: the cases of a report, as far as there is room.
//! - `card`: the page of a scorer.
//! - `server`: the pages of the server, and who may see them.
//! - `summary`: what a run was, and its outcome.
//! - `comparison`: whether one run is better than another.
//! - `agreement`: how well scorers agree with labels.
//! - `case`: one case in full.
//! - `stored_case`: what the database contains of a case.
//! - `timeline`: what an agent did.
//! - `diff`: how an output differs from what was expected.
//! - `alike`: whether texts look alike.
//! - `figures`: the figures of a run that pages show.
//! - `plot`: plots as SVG.
//! - `word`: the names of verdicts, statuses and states.
//! - `figure`: numbers and times in the format for people.
//! - `said`: text from elsewhere, made safe.
//! - `frame`: the style sheet, scripts and policies.
//!
//! Invariant: every text from a case, a scorer or a model goes through `said`, so that it is shown only as text.

#![warn(missing_debug_implementations, clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod agreement;
mod alike;
mod card;
mod case;
mod chosen;
mod comparison;
mod diff;
mod figure;
mod figures;
mod frame;
mod plot;
mod report;
mod said;
mod server;
mod stored_case;
mod summary;
mod timeline;
mod word;

pub use card::{
    Card, CardAnswers, CardCommand, CardComponent, CardError, CardExample, CardFile, CardKey,
    CardScored, CardWritten,
};
pub use report::{HtmlReport, ReportError};
pub use server::{Pages, ServeError};
