//! Formats a part of a whole in percent, with enough digits not to contradict the counts. It knows nothing about
//! scores.

/// How many decimals a part may have before it is shown as 0.
const MAX_DECIMALS: usize = 12;

/// A part of 1 as a percentage with one decimal: `42.0 %`. It has more decimals if one decimal would mean all or none
/// although it is only almost so: 9 999 of 10 000 are `99.99 %`, and the remaining one has as many decimals.
pub fn percent(share: f64) -> String {
    format!("{:.*} %", decimals(share), share * 100.0)
}

/// The interval of a part as percentages, with as many decimals as [`percent`] gives the part, which always lies within
/// the interval as shown: `37.3 to 46.9 %`.
pub fn percent_interval(share: f64, low: f64, high: f64) -> String {
    let decimals = decimals(share);
    format!("{:.decimals$} to {:.decimals$} %", low * 100.0, high * 100.0)
}

/// How many decimals a part has when it is shown in percent.
fn decimals(share: f64) -> usize {
    let is_all =
        |share: f64, decimals: usize| format!("{:.decimals$}", share * 100.0).parse() == Ok(100.0);
    let is_wrong = |decimals: &usize| {
        [share, 1.0 - share].iter().any(|part| *part < 1.0 && is_all(*part, *decimals))
    };
    (1..MAX_DECIMALS).find(|decimals| !is_wrong(decimals)).unwrap_or(MAX_DECIMALS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_and_none_are_said_only_of_all_and_none() {
        let said = [0.0, 1e-6, 0.0004, 0.0006, 0.4201, 0.9994, 0.9999, 1.0].map(percent);
        assert_eq!(
            said,
            ["0.0 %", "0.0001 %", "0.04 %", "0.1 %", "42.0 %", "99.9 %", "99.99 %", "100.0 %"]
        );
    }

    #[test]
    fn a_share_and_the_rest_have_as_many_decimals() {
        assert_eq!([0.99995, 0.00005].map(percent), ["99.995 %", "0.005 %"]);
    }

    #[test]
    fn a_share_is_within_its_interval_as_both_are_shown() {
        assert_eq!(percent_interval(0.42, 0.3726, 0.4689), "37.3 to 46.9 %");
        // Wilson's interval of 30,000 of 30,001.
        let rate = 30_000.0 / 30_001.0;
        assert_eq!(percent(rate), "99.997 %");
        assert_eq!(percent_interval(rate, 0.999_811_2, 0.999_994_1), "99.981 to 99.999 %");
        assert_eq!(percent_interval(1.0, 0.9912, 1.0), "99.1 to 100.0 %");
    }

    #[test]
    fn a_number_that_is_not_a_share_has_a_text_too() {
        assert_eq!([-0.5, 2.0, f64::NAN].map(percent), ["-50.0 %", "200.0 %", "NaN %"]);
    }
}
