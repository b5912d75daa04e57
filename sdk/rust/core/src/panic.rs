//! Tells the engine why a scorer panicked, before the panic becomes a bare trap. It recovers nothing.

use std::panic::PanicHookInfo;
use std::sync::Once;

use crate::log;

/// The longest message, in bytes: the engine's log is bounded, and the end of it matters.
const MESSAGE_LIMIT: usize = 4096;

/// Sends every later panic to the log, at level error.
pub(crate) fn report_panics() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        std::panic::set_hook(Box::new(|panic| log::error(message(panic))));
    });
}

fn message(panic: &PanicHookInfo<'_>) -> String {
    let text = panic.payload_as_str().unwrap_or("(no message)");
    match panic.location() {
        Some(location) => one_line(&format!("panicked at {location}: {text}")),
        None => one_line(&format!("panicked: {text}")),
    }
}

/// At most [`MESSAGE_LIMIT`] bytes, cut between characters, line breaks as spaces.
fn one_line(text: &str) -> String {
    let mut line = text.replace(['\n', '\r'], " ");
    if line.len() > MESSAGE_LIMIT {
        line.truncate(line.floor_char_boundary(MESSAGE_LIMIT - '…'.len_utf8()));
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{MESSAGE_LIMIT, one_line};

    #[test]
    fn messages_are_one_bounded_line() {
        assert_eq!(one_line("left: 1\n right: 2"), "left: 1  right: 2");
        let long = one_line(&"é".repeat(MESSAGE_LIMIT));
        assert!(long.len() <= MESSAGE_LIMIT && long.ends_with('…'));
    }
}
