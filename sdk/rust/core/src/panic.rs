//! Reports to the engine why a scorer panicked, before the panic becomes a trap without a message. It does not recover.

use std::panic::PanicHookInfo;
use std::sync::Once;

use crate::bindings::scorebox::scorer::log::Level;
use crate::log;

/// Logs every later panic at level error.
pub(crate) fn report_panics() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| std::panic::set_hook(Box::new(report)));
}

fn report(panic: &PanicHookInfo<'_>) {
    let text = panic.payload_as_str().unwrap_or("(no message)");
    match panic.location() {
        Some(location) => {
            log::spell(Level::Error, format_args!("panicked at {location}: {text}"));
        }
        None => log::spell(Level::Error, format_args!("panicked: {text}")),
    }
}
