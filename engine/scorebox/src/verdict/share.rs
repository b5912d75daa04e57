//! A share in percent, in as few digits as do not contradict what it is the share of. Says nothing of scores.

/// Decimals of the smallest share that is not shown as 0.
const MOST_DECIMALS: usize = 12;

/// A share of 1 as a percentage with one decimal: `42.0 %`. It has more decimals where one would say all or none of what is
/// only almost so: 9 999 of 10 000 are `99.99 %`.
pub fn percent(share: f64) -> String {
    let with = |decimals: usize| format!("{:.decimals$} %", share * 100.0);
    let is_wrong = |text: &String| {
        let digits = text.trim_end_matches(" %").trim_end_matches('0').trim_end_matches('.');
        (share < 1.0 && digits == "100") || (share > 0.0 && ["0", ""].contains(&digits))
    };
    (1..MOST_DECIMALS).map(with).find(|text| !is_wrong(text)).unwrap_or_else(|| with(MOST_DECIMALS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_and_none_are_said_only_of_all_and_none() {
        let said = [0.0, 1e-6, 0.0004, 0.0005, 0.4201, 0.9994, 0.9999, 1.0].map(percent);
        assert_eq!(
            said,
            ["0.0 %", "0.0001 %", "0.04 %", "0.1 %", "42.0 %", "99.9 %", "99.99 %", "100.0 %"]
        );
    }

    #[test]
    fn what_is_no_share_has_a_text_all_the_same() {
        assert_eq!([-0.5, 2.0, f64::NAN].map(percent), ["-50.0 %", "200.0 %", "NaN %"]);
    }
}
