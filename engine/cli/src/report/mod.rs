//! From data to text: pure functions. Prints nothing, knows no SQL and no wasmtime.
//!
//! - `config_keys`: a configuration's JSON Schema as keys for people.
//! - `table`: tables for people.
//! - `number`: numbers, sizes and times as people read them.
//! - `sparkline`: a distribution in eight characters.
//! - `text`: text that came from elsewhere, made safe for a terminal.

mod config_keys;
mod number;
mod sparkline;
mod table;
mod text;

pub use config_keys::{Choice, ConfigKey, config_keys};
pub use number::{bytes, count, counted, duration, fuel, score};
pub use sparkline::sparkline;
pub use table::{Align, Table};
pub use text::{one_line, printable};
