//! Messages for whoever debugs a scorer: to the engine from a component, to stderr in native tests.
//! Nothing is kept here.
//!
//! ```
//! scorebox_sdk::log::debug(format_args!("{} tokens", 12));
//! ```

use std::fmt::Display;

use crate::bindings::scorebox::scorer::log::Level;

/// For the scorer's author.
pub fn debug(message: impl Display) {
    send(Level::Debug, message);
}

/// Good to know.
pub fn info(message: impl Display) {
    send(Level::Info, message);
}

/// Probably not meant so.
pub fn warn(message: impl Display) {
    send(Level::Warn, message);
}

/// What went wrong; the last one stands beside a trap in the error that the user reads.
pub fn error(message: impl Display) {
    send(Level::Error, message);
}

#[cfg(target_arch = "wasm32")]
fn send(level: Level, message: impl Display) {
    crate::bindings::scorebox::scorer::log::log(level, &message.to_string());
}

// In an author's own tests there is no engine that would keep the message.
#[cfg(not(target_arch = "wasm32"))]
#[allow(clippy::print_stderr)]
fn send(level: Level, message: impl Display) {
    eprintln!("{level:?}: {message}");
}
