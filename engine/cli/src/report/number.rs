//! Numbers, sizes and times as people read them. For programs, JSON has them in full.

use std::time::Duration;

/// A whole number with a thin mark between thousands: `300,000`.
pub(crate) fn count(value: u64) -> String {
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

/// A number of things: `1 case`, `300,000 cases`.
pub(crate) fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// How many of `number` things there are in a second, if all of them took `time`.
pub(crate) fn rate(number: u64, time: Duration) -> String {
    count((number as f64 / time.as_secs_f64().max(0.001)) as u64)
}

/// Fuel, in thousands, millions or billions: `14.2 k`.
pub(crate) fn fuel(value: f64) -> String {
    scaled(value, 1000.0, &["", " k", " M", " G", " T"])
}

/// A number of bytes: `64.0 KiB`.
pub(crate) fn bytes(value: u64) -> String {
    scaled(value as f64, 1024.0, &[" B", " KiB", " MiB", " GiB", " TiB"])
}

/// A time: `9.5 µs`, `12.0 ms`, `3.2 s`, `4 min 10 s`.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        _ if seconds >= 120.0 => format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60),
        _ if seconds >= 1.0 => format!("{seconds:.1} s"),
        _ if seconds >= 1e-3 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{:.1} µs", seconds * 1e6),
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
    fn numbers_read_well() {
        assert_eq!([count(0), count(999), count(300_000)], ["0", "999", "300,000"]);
        assert_eq!([fuel(900.0), fuel(14_210.0), fuel(1e10)], ["900", "14.2 k", "10.0 G"]);
        assert_eq!([bytes(10), bytes(65_536)], ["10 B", "64.0 KiB"]);
        assert_eq!(duration(Duration::from_micros(12)), "12.0 µs");
        assert_eq!(duration(Duration::from_secs(250)), "4 min 10 s");
    }
}
