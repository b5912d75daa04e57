//! Sends messages to the author who debugs a scorer: from a component to the engine, in native tests to stderr. It
//! stores nothing.
//!
//! ```
//! scorebox_sdk::log::debug(format_args!("{} tokens", 12));
//! ```
//!
//! A component that calls these functions imports the contract's `log.log`, which costs each of its scores some
//! microseconds. The SDK sends its own messages letter by letter, which costs nothing unless there is one.

use std::fmt::{self, Display, Write};

use crate::bindings::scorebox::scorer::log::Level;

/// Logs a detail for the scorer's author.
pub fn debug(message: impl Display) {
    send(Level::Debug, message);
}

/// Logs something worth knowing.
pub fn info(message: impl Display) {
    send(Level::Info, message);
}

/// Logs what is probably a mistake.
pub fn warn(message: impl Display) {
    send(Level::Warn, message);
}

/// Logs what went wrong. The last such message is added to the error of a trap, which the user reads.
pub fn error(message: impl Display) {
    send(Level::Error, message);
}

#[cfg(target_arch = "wasm32")]
fn send(level: Level, message: impl Display) {
    crate::bindings::scorebox::scorer::log::log(level, &message.to_string());
}

// In an author's own tests, no engine stores the message.
#[cfg(not(target_arch = "wasm32"))]
#[allow(clippy::print_stderr)]
fn send(level: Level, message: impl Display) {
    eprintln!("{level:?}: {message}");
}

/// The longest message of the SDK itself, in bytes, because the engine's log is bounded.
const OWN_LIMIT: usize = 4096;

/// Sends a message of the SDK itself, on one line and cut to [`OWN_LIMIT`]. It allocates nothing.
pub(crate) fn spell(level: Level, message: fmt::Arguments<'_>) {
    // It only fails if the message is cut.
    let _ = Line { room: OWN_LIMIT, letter }.write_fmt(message);
    end(level);
}

/// A line of bounded length whose letters go to a function.
struct Line<F> {
    /// The bytes that are left.
    room: usize,
    letter: F,
}

impl<F: FnMut(char)> Write for Line<F> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            // There is always room for the mark that says that the line is cut.
            match self.room.checked_sub(letter.len_utf8()) {
                Some(room) if room >= '…'.len_utf8() => self.room = room,
                _ => {
                    (self.letter)('…');
                    return Err(fmt::Error);
                }
            }
            (self.letter)(if matches!(letter, '\n' | '\r') { ' ' } else { letter });
        }
        Ok(())
    }
}

#[cfg(target_arch = "wasm32")]
use crate::bindings::scorebox::scorer::log::{end, letter};

#[cfg(not(target_arch = "wasm32"))]
#[allow(clippy::print_stderr)]
fn letter(letter: char) {
    eprint!("{letter}");
}

#[cfg(not(target_arch = "wasm32"))]
#[allow(clippy::print_stderr)]
fn end(level: Level) {
    eprintln!(" ({level:?})");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        let mut line = String::new();
        let _ = Line { room: OWN_LIMIT, letter: |letter| line.push(letter) }
            .write_fmt(format_args!("{text}"));
        line
    }

    #[test]
    fn messages_of_the_sdk_are_one_bounded_line() {
        assert_eq!(line("left: 1\n right: 2"), "left: 1  right: 2");
        let long = line(&"é".repeat(OWN_LIMIT));
        assert!(long.len() > OWN_LIMIT - 6 && long.len() <= OWN_LIMIT && long.ends_with('…'));
    }
}
