//! Makes an id for a run that has none. It does not look into a database.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::{SystemTime, UNIX_EPOCH},
};

use crate::store::RunId;

/// An id from the time in UTC and a few random letters, so that ids are sorted by time and differ between machines.
pub fn fresh_id() -> RunId {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let random = RandomState::new().hash_one(std::process::id());
    let suffix: String = (0..4)
        .map(|index| char::from(LETTERS[(random >> (index * 5)) as usize % LETTERS.len()]))
        .collect();
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    RunId::trusted(format!("{}-{suffix}", time(since.as_secs())))
}

/// Formats a time: `20260102-030405`.
fn time(seconds: u64) -> String {
    let (days, seconds) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

/// Year, month and day of a number of days since 1970-01-01 (H. Hinnant, chrono-Compatible Low-Level Date
/// Algorithms, `civil_from_days`).
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    // Months are counted from March, so that the leap day is the last day of a year.
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_as_date_and_time() {
        assert_eq!(time(0), "19700101-000000");
        assert_eq!(time(951_827_696), "20000229-123456");
        assert_eq!(time(1_709_251_199), "20240229-235959");
        assert_eq!(time(1_709_251_200), "20240301-000000");
        assert_eq!(time(4_102_444_799), "20991231-235959");
    }

    #[test]
    fn two_ids_differ() {
        let ids: std::collections::BTreeSet<_> = (0..20).map(|_| fresh_id().to_string()).collect();
        assert!(ids.len() > 10, "{ids:?}");
    }
}
