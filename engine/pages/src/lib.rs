//! Stored runs as HTML: a report in one file, the page of a scorer, and pages that a server shows. Reads through the
//! library's rooms, writes no SQL, computes no statistics, and prints nothing.
//!
//! - `report`: the report.
//! - `chosen`: the cases in it, as far as there is room.
//! - `card`: the page of a scorer.
//! - `server`: the pages, and who may see them.
//! - `summary`: what a run was and how it went.
//! - `comparison`: whether one run is better than another.
//! - `agreement`: how well scorers agree with labels.
//! - `case`: one case in full.
//! - `stored_case`: what the database has of it.
//! - `timeline`: what an agent did.
//! - `diff`: an output against what was expected.
//! - `alike`: whether texts look alike.
//! - `figures`: the figures of a run that are shown.
//! - `plot`: plots as SVG.
//! - `word`: words for verdicts, statuses and states.
//! - `figure`: numbers and times as people read them.
//! - `said`: text from elsewhere, made safe.
//! - `frame`: sheet, scripts and policies.
//!
//! Invariant: every text from a case, a scorer or a model goes through `said`, and so stays text.

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
