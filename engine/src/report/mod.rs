//! From data to text: pure functions. Prints nothing, knows no SQL and no wasmtime.
//!
//! - `table`: tables for people.
//! - `number`: numbers, sizes and times as people read them.
//! - `sparkline`: a distribution in eight characters.
//! - `text`: text that came from elsewhere, made safe for a terminal.

mod number;
mod sparkline;
mod table;
mod text;

pub use number::{bytes, count, counted, duration, fuel, score};
pub use sparkline::sparkline;
pub use table::{Align, Table};
pub use text::{one_line, printable, printable_json};
