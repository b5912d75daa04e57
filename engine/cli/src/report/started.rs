//! Formats the time at which a run began. It reads no clock; the library's `amount` formats durations.

/// A time from a database in milliseconds since 1970, which may be any number: `2026-11-23 14:05:02`.
pub(crate) fn started(ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => "-".to_owned(),
    }
}
