//! Converts data to text. It prints nothing, and knows neither SQL nor wasmtime.
//!
//! - `case`: a case's name.
//! - `config_keys`: a configuration's JSON Schema as a list of keys for people.
//! - `interval`: intervals, differences and probabilities.
//! - `judge`: what judges did.
//! - `summaries`: the scorers' summaries of a run, each about all its cases together.
//! - `repeats`: the figures of several attempts at the same cases.
//! - `scorer`: what a scorer reports about itself.
//! - `table`: tables for people.
//! - `started`: when a run began.
//! - `sparkline`: a distribution in eight characters.
//! - `shell`: quotes an argument for a shell.
//! - `verdict`: verdicts as text.
//! - `not_whole`: runs of which only a part is stored.
//! - `text`: text from outside, made safe for a terminal.
//! - `ci_commands`: the same for the log of a CI runner, which executes commands in it.

mod case;
mod ci_commands;
mod config_keys;
pub(crate) mod interval;
pub(crate) mod judge;
mod not_whole;
pub(crate) mod repeats;
mod scorer;
mod shell;
mod sparkline;
mod started;
pub(crate) mod summaries;
mod table;
mod text;
pub(crate) mod verdict;

pub(crate) use case::case_name;
pub(crate) use config_keys::{Choice, ConfigKey, config_keys};
pub(crate) use not_whole::{not_whole, without_lines};
pub(crate) use scorebox::{
    amount::{bytes, count, counted, duration, fuel, rate},
    verdict::{figure as score, score_beside},
};
pub(crate) use scorer::{reads, reads_briefly, scale, severity};
pub(crate) use shell::shell_word;
pub(crate) use sparkline::sparkline;
pub(crate) use started::started;
pub(crate) use table::{Align, Table};
pub(crate) use text::{
    halves_replaced, one_line, pretty, printable, printable_json, printable_json_line, within,
};
