//! Numbers, sizes and times as people read them. Computes nothing.

use jiff::Timestamp;
pub(crate) use scorebox::verdict::{
    exact, figure as score, mean_beside, percent, percent_interval, score_beside,
};

/// Below which p value a difference is shown.
const SHOWN: f64 = 0.05;

/// A difference with its sign; what is rounded to 0 has none.
pub(crate) fn difference(value: f64) -> String {
    match score(value.abs()) {
        size if size.chars().all(|it| it == '0' || it == '.') => size,
        size if value < 0.0 => format!("−{size}"),
        size => format!("+{size}"),
    }
}

/// An effect in standard deviations: `+0.20`.
pub(crate) fn effect(value: f64) -> String {
    format!("{value:+.2}").replace('-', "−")
}

/// `0.3726 to 0.4689`.
pub(crate) fn range(low: f64, high: f64) -> String {
    format!("{} to {}", score(low), score(high))
}

/// A p value: `0.0125`, `<0.0001`; never shown as the bound of what is shown, unless it is that.
pub(crate) fn chance(p: f64) -> String {
    match p < 1e-4 {
        true => "<0.0001".to_owned(),
        false => score_beside(p, SHOWN),
    }
}

/// A number at a plot's axis, as short as it can be.
pub(crate) fn tick(value: f64) -> String {
    match value.abs() {
        size if size >= 1e5 || (size > 0.0 && size < 1e-3) => format!("{value:.1e}"),
        size if size >= 100.0 => format!("{value:.0}"),
        _ => {
            let text = format!("{value:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

/// A whole number with a mark between thousands: `300,000`.
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

/// A time in milliseconds: `9.5 µs`, `12.0 ms`, `3.2 s`, `4 min 10 s`.
pub(crate) fn duration(ms: f64) -> String {
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

/// Fuel, in thousands, millions or billions: `14.2 k`.
pub(crate) fn fuel(value: f64) -> String {
    let units = ["", " k", " M", " G", " T"];
    let mut value = value;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{value:.0}"),
        _ => format!("{value:.1}{}", units[unit]),
    }
}

/// A moment, for people and for the attribute of `time`; `None` if no calendar has it.
pub(crate) fn moment(ms: i64) -> Option<(String, String)> {
    let moment = Timestamp::from_millisecond(ms).ok()?;
    let utc = moment.strftime("%Y-%m-%d %H:%M UTC").to_string();
    Some((utc, moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([score(0.5), score(165.0), score(2e9)], ["0.5000", "165.0", "2.000e9"]);
        assert_eq!([tick(0.0), tick(0.25), tick(1.0), tick(1500.0)], ["0", "0.25", "1", "1500"]);
        assert_eq!(counted(300_000, "case", "cases"), "300,000 cases");
        assert_eq!(counted(1, "case", "cases"), "1 case");
        assert_eq!(
            [difference(0.04), difference(-0.5), difference(-1e-9)],
            ["+0.0400", "−0.5000", "0.0000"]
        );
        assert_eq!([effect(0.204), effect(-0.041)], ["+0.20", "−0.04"]);
        assert_eq!([chance(0.0125), chance(1e-9)], ["0.0125", "<0.0001"]);
        assert_eq!([chance(0.04998), chance(0.05)], ["0.04998", "0.0500"]);
        assert_eq!(range(0.25, 1.0), "0.2500 to 1.0000");
        assert_eq!(
            [duration(0.012), duration(12.0), duration(250_000.0), duration(6e300)],
            ["12.0 µs", "12.0 ms", "4 min 10 s", "1.0e296 min"]
        );
        assert_eq!([fuel(900.0), fuel(14_210.0)], ["900", "14.2 k"]);
    }

    #[test]
    fn a_moment_is_in_utc() {
        let (people, machine) = moment(1_700_000_000_000).unwrap();
        assert_eq!(
            (people.as_str(), machine.as_str()),
            ("2023-11-14 22:13 UTC", "2023-11-14T22:13:20Z")
        );
        assert_eq!(moment(i64::MAX), None);
    }
}
