//! When a run began, as people read it. Reads no clock; how long something took is in `amount` of the library.

/// A time of a database in milliseconds since 1970, which may be any number: `2026-11-23 14:05:02`.
pub(crate) fn started(ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => "-".to_owned(),
    }
}
