//! Formats counts, sizes, times and fuel for people: the same form on a command line, on pages and in messages. Scores
//! and rates are formatted by `verdict`; programs get the full numbers as JSON.

use std::time::Duration;

/// A whole number with a separator between thousands: `300,000`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun: `1 case`, `300,000 cases`.
pub fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// How many of `number` things were done per second, if all of them took `time`.
pub fn rate(number: u64, time: Duration) -> String {
    count((number as f64 / time.as_secs_f64().max(0.001)) as u64)
}

/// Fuel, in thousands, millions or billions: `14.2 k`.
pub fn fuel(value: f64) -> String {
    scaled(value, 1000.0, &["", " k", " M", " G", " T"])
}

/// A number of bytes: `64.0 KiB`.
pub fn bytes(value: u64) -> String {
    scaled(value as f64, 1024.0, &[" B", " KiB", " MiB", " GiB", " TiB"])
}

/// A time: `9.5 µs`, `12.0 ms`, `3.2 s`, `4 min 10 s`.
pub fn duration(time: Duration) -> String {
    milliseconds(time.as_secs_f64() * 1000.0)
}

/// A time in milliseconds, in the form of [`duration`]. A stored one may be any number.
pub fn milliseconds(ms: f64) -> String {
    const MILLION_MINUTES: f64 = 6e10;
    match ms {
        _ if ms >= MILLION_MINUTES => format!("{:.1e} min", ms / 60_000.0),
        _ if ms >= 120_000.0 => {
            format!("{:.0} min {:.0} s", (ms / 60_000.0).floor(), (ms % 60_000.0 / 1000.0).floor())
        }
        _ if ms >= 1000.0 => format!("{:.1} s", ms / 1000.0),
        _ if ms >= 1.0 => format!("{ms:.1} ms"),
        _ => format!("{:.1} µs", ms * 1000.0),
    }
}

fn scaled(mut value: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while value >= step && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    match unit {
        0 => format!("{value:.0}{}", units[0]),
        _ => format!("{value:.1}{}", units[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_well() {
        assert_eq!([count(0), count(999), count(300_000)], ["0", "999", "300,000"]);
        assert_eq!(counted(1, "case", "cases"), "1 case");
        assert_eq!(counted(300_000, "case", "cases"), "300,000 cases");
        assert_eq!([fuel(900.0), fuel(14_210.0), fuel(1e10)], ["900", "14.2 k", "10.0 G"]);
        assert_eq!([bytes(10), bytes(65_536)], ["10 B", "64.0 KiB"]);
        assert_eq!(duration(Duration::from_micros(12)), "12.0 µs");
        assert_eq!(duration(Duration::from_secs(250)), "4 min 10 s");
        assert_eq!(
            [milliseconds(0.012), milliseconds(12.0), milliseconds(6e300)],
            ["12.0 µs", "12.0 ms", "1.0e296 min"]
        );
    }
}
