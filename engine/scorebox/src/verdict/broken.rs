//! A requirement of a run that is not met, in numbers and in words. It decides nothing.

use std::fmt;

use serde::Serialize;

use super::{apart, figure, percent};
use crate::amount::{count, counted};

/// A requirement that is not met.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "requirement")]
#[non_exhaustive]
pub enum Broken {
    /// Cases failed.
    #[serde(rename_all = "camelCase")]
    Cases {
        /// Cases with a failed gate.
        failed: u64,
        /// Cases in which a gate or a required scorer has no score.
        errored: u64,
        /// Errored cases in which another gate fails.
        errored_and_failed: u64,
    },
    /// The mean of a scorer is worse than required.
    #[serde(rename_all = "camelCase")]
    Mean {
        /// The scorer.
        scorer_id: String,
        /// The mean; `None` if nothing was scored.
        mean: Option<f64>,
        /// The worst mean that passes.
        worst: f64,
    },
    /// Fewer cases passed than required.
    #[serde(rename_all = "camelCase")]
    PassRate {
        /// The rate; `None` if no case was judged.
        rate: Option<f64>,
        /// The least rate that passes.
        least: f64,
    },
    /// A scorer that decides whether a case passes decided none: it skips them all, or applies to none.
    #[serde(rename_all = "camelCase")]
    NothingDecided {
        /// The scorer.
        scorer_id: String,
        /// The number of cases for it, without those that have `skip`.
        cases: u64,
    },
    /// Errors are allowed, a scorer decides whether a case passes, and all that it has are errors.
    #[serde(rename_all = "camelCase")]
    OnlyErrors {
        /// The scorer.
        scorer_id: String,
        /// How many.
        errors: u64,
    },
    /// A rate of passing cases is required, and no scorer decides whether a case passes.
    #[serde(rename_all = "camelCase")]
    NothingDecides {
        /// The least rate that passes.
        least: f64,
    },
    /// More rows have no score than allowed.
    #[serde(rename_all = "camelCase")]
    Errors {
        /// The number of such rows.
        errors: u64,
        /// The largest allowed number.
        most: u64,
    },
}

impl Broken {
    /// The requirement, in a few words.
    pub fn what(&self) -> String {
        match self {
            Broken::Cases { .. } => "all cases".to_owned(),
            Broken::Mean { scorer_id, .. } => format!("mean of {scorer_id}"),
            Broken::PassRate { .. } | Broken::NothingDecides { .. } => "pass rate".to_owned(),
            Broken::NothingDecided { scorer_id, .. } | Broken::OnlyErrors { scorer_id, .. } => {
                format!("a case that {scorer_id} decides")
            }
            Broken::Errors { .. } => "errors".to_owned(),
        }
    }

    /// Whether the cases show it individually, because they failed.
    pub fn is_of_cases(&self) -> bool {
        matches!(self, Broken::Cases { .. })
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Cases { failed, errored_and_failed, .. } => {
                f.write_str(&cases_failed(*failed, *errored_and_failed))
            }
            Broken::Mean { scorer_id, mean: Some(mean), worst } => {
                // If lower scores are better, the number alone would look as if it were reached.
                let bound = if mean > worst { "at most " } else { "" };
                let [mean, worst] = apart(*mean, *worst, figure);
                write!(f, "the mean of `{scorer_id}` is {mean}; required: {bound}{worst}")
            }
            Broken::Mean { scorer_id, mean: None, .. } => write!(f, "`{scorer_id}` has no score"),
            Broken::PassRate { rate: Some(rate), least } => {
                let [rate, least] = rates_apart(*rate, *least);
                write!(f, "{rate} of the cases passed; required: {least}")
            }
            Broken::PassRate { rate: None, .. } => f.write_str("no case was decided"),
            Broken::NothingDecided { scorer_id, cases } => write!(
                f,
                "`{scorer_id}`, which decides whether a case passes, decided none of {}: it skips them, or does not apply to them",
                counted(*cases, "case", "cases")
            ),
            Broken::OnlyErrors { scorer_id, errors } => write!(
                f,
                "`{scorer_id}`, which decides whether a case passes, decided none: it has {} and no score",
                counted(*errors, "error", "errors")
            ),
            Broken::NothingDecides { least } => write!(
                f,
                "there is no pass rate: no scorer decides whether a case passes; required: {}",
                percent(*least)
            ),
            Broken::Errors { errors, most } => write!(
                f,
                "{}; allowed: {}",
                counted(*errors, "score is an error", "scores are errors"),
                count(*most)
            ),
        }
    }
}

/// `2 cases failed, and 1 errored case also failed`.
fn cases_failed(failed: u64, errored_and_failed: u64) -> String {
    let failed = (failed > 0).then(|| format!("{} failed", counted(failed, "case", "cases")));
    let errored = (errored_and_failed > 0).then(|| {
        format!("{} also failed", counted(errored_and_failed, "errored case", "errored cases"))
    });
    let both: Vec<String> = failed.into_iter().chain(errored).collect();
    both.join(", and ")
}

/// A rate of cases and the required one, as percentages that differ if the rates do.
fn rates_apart(rate: f64, least: f64) -> [String; 2] {
    let plain = [rate, least].map(percent);
    if plain[0] != plain[1] || rate == least {
        return plain;
    }
    apart(rate * 100.0, least * 100.0, |share| format!("{share:.1}")).map(|it| format!("{it} %"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_that_does_not_hold_is_not_rounded_to_one_that_does() {
        let mean = |mean: f64, worst: f64| {
            Broken::Mean { scorer_id: "a".into(), mean: Some(mean), worst }.to_string()
        };
        assert_eq!(mean(0.5, 0.75), "the mean of `a` is 0.5000; required: 0.7500");
        assert_eq!(mean(0.475, 0.4), "the mean of `a` is 0.4750; required: at most 0.4000");
        assert_eq!(mean(0.99997, 1.0), "the mean of `a` is 0.99997; required: 1.00000");
        assert_eq!(
            mean(1e9, 1e9 + 1.0),
            "the mean of `a` is 1000000000.00000; required: 1000000001.00000"
        );
        let least = f64::from_bits(0.3_f64.to_bits() + 1);
        assert_eq!(mean(0.3, least), format!("the mean of `a` is 0.3; required: {least}"));
    }

    #[test]
    fn a_rate_below_the_required_one_looks_like_it() {
        let rate = |rate: f64, least: f64| Broken::PassRate { rate: Some(rate), least }.to_string();
        assert_eq!(rate(0.75, 0.8), "75.0 % of the cases passed; required: 80.0 %");
        assert_eq!(rate(0.9999, 1.0), "99.99 % of the cases passed; required: 100.0 %");
        assert_eq!(rate(0.79996, 0.8), "79.99600 % of the cases passed; required: 80.00000 %");
    }

    #[test]
    fn thousands_are_apart() {
        let said = Broken::Errors { errors: 1_002_003, most: 1 }.to_string();
        assert_eq!(said, "1,002,003 scores are errors; allowed: 1");
    }
}
