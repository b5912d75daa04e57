//! Writes scores, differences, probabilities and times in the format for people; the library writes counts and
//! durations. Computes nothing.

use jiff::Timestamp;
pub(crate) use scorebox::{
    amount::{count, counted, fuel, milliseconds as duration},
    verdict::{exact, figure as score, mean_beside, percent, percent_interval, score_beside},
};

/// The p value below which a difference is shown as one.
const SHOWN: f64 = 0.05;

/// A difference with its sign; a difference that is rounded to 0 has no sign.
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

/// A p value: `0.0125`, `<0.0001`; a value that only rounds to the limit `SHOWN` is not shown as the limit.
pub(crate) fn chance(p: f64) -> String {
    match p < 1e-4 {
        true => "<0.0001".to_owned(),
        false => score_beside(p, SHOWN),
    }
}

/// A sum of money: `$0.01250`. A stored one may be any number.
pub(crate) fn dollars(cost: f64) -> String {
    const MILLION: f64 = 1e6;
    match cost >= MILLION {
        true => format!("${cost:.2e}"),
        false => format!("${cost:.5}"),
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

/// A time, for people and for the attribute of `time`; `None` if it is not in any calendar.
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
        assert_eq!(
            [difference(0.04), difference(-0.5), difference(-1e-9)],
            ["+0.0400", "−0.5000", "0.0000"]
        );
        assert_eq!([effect(0.204), effect(-0.041)], ["+0.20", "−0.04"]);
        assert_eq!([chance(0.0125), chance(1e-9)], ["0.0125", "<0.0001"]);
        assert_eq!([chance(0.04998), chance(0.05)], ["0.04998", "0.0500"]);
        assert_eq!(range(0.25, 1.0), "0.2500 to 1.0000");
        assert_eq!([dollars(0.0125), dollars(1.7e308)], ["$0.01250", "$1.70e308"]);
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
