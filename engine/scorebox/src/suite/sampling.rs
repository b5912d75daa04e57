//! Sampling: which cases a scorer skips. It decides by a hash, so the decision is the same on every machine, in every
//! order, and after every resume.

#![expect(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "the rule of a draw is stored, and compared by others"
)]

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// How often a scorer runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Sampling {
    /// On every case.
    #[default]
    All,
    /// On a case with this probability.
    Ratio {
        /// From 0 to 1.
        rate: Rate,
    },
    /// Never: for switching it off.
    None,
}

/// A probability: a number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Rate(f64);

/// A rate that is not a number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the rate {0} is not a number from 0 to 1")]
pub struct NotARate(pub f64);

impl TryFrom<f64> for Rate {
    type Error = NotARate;

    fn try_from(rate: f64) -> Result<Rate, NotARate> {
        match (0.0..=1.0).contains(&rate) {
            true => Ok(Rate(rate)),
            false => Err(NotARate(rate)),
        }
    }
}

impl From<Rate> for f64 {
    fn from(rate: Rate) -> f64 {
        rate.0
    }
}

/// The values on which a decision depends, in addition to the rate.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    /// The user's seed; the suite's name if none is set.
    pub seed: &'a str,
    /// The case's id.
    pub case_id: &'a str,
    /// The case's iteration.
    pub iteration: u32,
    /// The case's attempt.
    pub attempt: u32,
    /// The scorer's name in the suite.
    pub scorer_id: &'a str,
}

impl Draw<'_> {
    /// A pseudorandom number from 0 to 1, excluding 1: the first 53 bits of the SHA-256 over all parts.
    fn number(&self) -> f64 {
        let (iteration, attempt) = (self.iteration.to_le_bytes(), self.attempt.to_le_bytes());
        let parts = [
            &b"scorebox sampling 1"[..],
            self.seed.as_bytes(),
            self.case_id.as_bytes(),
            &iteration,
            &attempt,
            self.scorer_id.as_bytes(),
        ];
        let digest = Digest::of_parts(parts);
        let first =
            digest.as_bytes().iter().take(8).fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        (first >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Sampling {
    /// Whether the scorer runs on this case.
    pub fn takes(self, draw: &Draw<'_>) -> bool {
        match self {
            Sampling::All => true,
            Sampling::Ratio { rate } => draw.number() < rate.0,
            Sampling::None => false,
        }
    }

    /// Whether the scorer never runs, whatever is drawn.
    pub fn is_off(self) -> bool {
        matches!(self, Sampling::None | Sampling::Ratio { rate: Rate(0.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(rate: f64) -> Sampling {
        Sampling::Ratio { rate: rate.try_into().unwrap() }
    }

    fn draw<'a>(seed: &'a str, case_id: &'a str) -> Draw<'a> {
        Draw { seed, case_id, iteration: 0, attempt: 0, scorer_id: "exact-match" }
    }

    /// Within four standard deviations of the binomial distribution.
    #[test]
    fn as_many_cases_are_taken_as_the_rate_says() {
        let ids: Vec<String> = (0..20_000).map(|number| format!("case-{number}")).collect();
        for rate in [0.01, 0.1, 0.5, 0.9] {
            let taken = ids.iter().filter(|id| ratio(rate).takes(&draw("suite", id))).count();
            let (n, taken) = (ids.len() as f64, taken as f64);
            let deviation = (n * rate * (1.0 - rate)).sqrt();
            assert!((taken - n * rate).abs() < 4.0 * deviation, "{rate}: {taken}");
        }
    }

    #[test]
    fn a_decision_depends_on_every_part_and_on_nothing_else() {
        let number = draw("suite", "q1").number();
        assert_eq!(number.to_bits(), draw("suite", "q1").number().to_bits());
        let same = draw("suite", "q1");
        let others = [
            draw("other", "q1"),
            draw("suite", "q2"),
            Draw { iteration: 1, ..same },
            Draw { attempt: 1, ..same },
            Draw { scorer_id: "contains", ..same },
        ];
        assert!(others.iter().all(|other| other.number() != number));
    }

    #[test]
    fn what_is_taken_at_a_rate_is_taken_at_a_higher_one() {
        let ids: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        let taken = |rate: f64| ids.iter().filter(move |id| ratio(rate).takes(&draw("suite", id)));
        assert!(taken(0.1).all(|id| ratio(0.2).takes(&draw("suite", id))));
        assert_eq!((taken(0.0).count(), taken(1.0).count()), (0, 1000));
    }

    #[test]
    fn a_rate_is_from_0_to_1() {
        for bad in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            let NotARate(said) = Rate::try_from(bad).unwrap_err();
            assert_eq!(said.to_bits(), bad.to_bits(), "{bad}");
        }
    }
}
