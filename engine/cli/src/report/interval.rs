//! Formats intervals, differences and p values for cells and messages. The library's `stats` computes them.

use scorebox::stats::{Interval, IntervalMethod, Rate};

use super::{score, score_beside};

/// The p value below which a difference is shown.
const SHOWN: f64 = 0.05;

/// `0.3725 to 0.4688`; `-` if there is none.
pub(crate) fn interval(interval: Option<Interval>) -> String {
    interval.map_or_else(|| "-".to_owned(), |it| between(it.low, it.high))
}

/// `0.3725 to 0.4688`: the interval of a rate.
pub(crate) fn of_rate(rate: Rate) -> String {
    between(rate.low, rate.high)
}

/// Two numbers as a range.
pub(crate) fn between(low: f64, high: f64) -> String {
    format!("{} to {}", score(low), score(high))
}

/// A difference with its sign: `+0.0400`.
pub(crate) fn difference(value: f64) -> String {
    // A difference that rounds to 0 has no sign.
    match score(value.abs()) {
        size if size.chars().all(|it| it == '0' || it == '.') => size,
        size if value < 0.0 => format!("-{size}"),
        size => format!("+{size}"),
    }
}

/// A p value: `0.0125`, `<0.0001`; it is shown as the limit [`SHOWN`] only if it is exactly that.
pub(crate) fn chance(p: f64) -> String {
    match p < 1e-4 {
        true => "<0.0001".to_owned(),
        false => score_beside(p, SHOWN),
    }
}

/// How the intervals of a table were computed, in a line; `None` if there are none.
pub(crate) fn methods(intervals: impl IntoIterator<Item = Option<Interval>>) -> Option<String> {
    let mut used: Vec<IntervalMethod> = Vec::new();
    for interval in intervals.into_iter().flatten() {
        if !used.contains(&interval.method) {
            used.push(interval.method);
        }
    }
    let words = |method: &IntervalMethod| match method {
        IntervalMethod::Wilson => "Wilson's for rates",
        IntervalMethod::ClusteredWilson => {
            "Wilson's for rates, with each case as a cluster of its attempts"
        }
        IntervalMethod::StudentT => "Student's t",
        IntervalMethod::ClusteredT => "Student's t with each case as a cluster of its attempts",
        IntervalMethod::Bootstrap => "drawn again from fewer than 30 cases",
    };
    let used: Vec<&str> = used.iter().map(words).collect();
    (!used.is_empty())
        .then(|| format!("intervals are right about 95 times of 100: {}", used.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_a_sign_and_a_small_chance_is_a_bound() {
        assert_eq!([difference(0.04), difference(-0.5)], ["+0.0400", "-0.5000"]);
        assert_eq!([difference(0.0), difference(-0.0), difference(-1e-9)], ["0.0000"; 3]);
        assert_eq!(difference(-1234.5), "-1234.5");
        assert_eq!([chance(0.0125), chance(1e-9), chance(1.0)], ["0.0125", "<0.0001", "1.0000"]);
        assert_eq!(
            [chance(0.04998), chance(0.05), chance(0.050_001)],
            ["0.04998", "0.0500", "0.050001"]
        );
    }
}
