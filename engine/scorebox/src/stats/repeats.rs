//! What the attempts at one case say together: reducers of scores, and pass@k and pass^k of successes. Knows no case
//! and no database.

use std::collections::HashMap;

/// How the scores of several attempts become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reducer {
    /// The arithmetic mean.
    Mean,
    /// The one in the middle, or the mean of the two in the middle.
    Median,
    /// The most frequent score; of several that are equally frequent, the one that came first.
    Mode,
    /// The lowest.
    Min,
    /// The highest.
    Max,
}

impl Reducer {
    /// All of them, in the order in which tables show them.
    pub const ALL: [Reducer; 5] =
        [Reducer::Mean, Reducer::Median, Reducer::Mode, Reducer::Min, Reducer::Max];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Reducer::Mean => "mean",
            Reducer::Median => "median",
            Reducer::Mode => "mode",
            Reducer::Min => "min",
            Reducer::Max => "max",
        }
    }

    /// The reduced score of these, in the order of the attempts; `None` if there are none. The scores are finite.
    pub fn reduce(self, scores: &[f64]) -> Option<f64> {
        let first = *scores.first()?;
        Some(match self {
            Reducer::Mean => super::Summary::of(&mut scores.to_vec())?.mean,
            Reducer::Median => super::Summary::of(&mut scores.to_vec())?.p50,
            Reducer::Mode => mode(scores),
            Reducer::Min => scores.iter().copied().fold(first, f64::min),
            Reducer::Max => scores.iter().copied().fold(first, f64::max),
        })
    }
}

fn mode(scores: &[f64]) -> f64 {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for score in scores {
        *counts.entry(score.to_bits()).or_default() += 1;
    }
    let most = counts.values().copied().max().unwrap_or_default();
    let is_most_frequent = |score: &&f64| counts[&score.to_bits()] == most;
    scores.iter().find(is_most_frequent).copied().unwrap_or_default()
}

/// The attempts at one case, and how many of them succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempts {
    /// All attempts.
    pub trials: u64,
    /// Those that succeeded; no more than there are.
    pub successes: u64,
}

impl Attempts {
    /// The chance that at least one of `k` attempts, drawn from these without putting them back, succeeded; none
    /// if there are fewer than `k`, or `k` is 0.
    ///
    /// 1 - C(n - c, k) / C(n, k), the unbiased estimator of Chen et al., "Evaluating large language models trained on
    /// code", 2021, section 2.1.
    pub fn pass_at(self, k: u64) -> Option<f64> {
        let all_fail = Attempts { successes: self.trials.checked_sub(self.successes)?, ..self };
        Some(1.0 - all_fail.pass_all(k)?)
    }

    /// The chance that all of `k` attempts, drawn from these without putting them back, succeeded; `None` if there
    /// are fewer than `k`, or `k` is 0.
    ///
    /// pass^k: C(c, k) / C(n, k), Yao et al., "τ-bench", 2024, section 4.
    pub fn pass_all(self, k: u64) -> Option<f64> {
        let Attempts { trials, successes } = self;
        if k == 0 || k > trials || successes > trials {
            return None;
        }
        if k > successes {
            return Some(0.0);
        }
        Some((0..k).map(|drawn| (successes - drawn) as f64 / (trials - drawn) as f64).product())
    }

    /// Whether at least `k` attempts succeeded; `None` if there are fewer than `k`, or `k` is 0.
    pub fn at_least(self, k: u64) -> Option<bool> {
        (1..=self.trials).contains(&k).then_some(self.successes >= k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: Attempts = Attempts { trials: 10, successes: 3 };

    #[test]
    fn pass_at_k_is_the_share_of_draws_with_a_success() {
        // 1 - C(7, k) / C(10, k), by hand.
        assert!((SOME.pass_at(1).unwrap() - 0.3).abs() < 1e-15);
        assert!((SOME.pass_at(2).unwrap() - (1.0 - 21.0 / 45.0)).abs() < 1e-15);
        assert!((SOME.pass_at(5).unwrap() - (1.0 - 21.0 / 252.0)).abs() < 1e-15);
        assert_eq!(SOME.pass_at(8), Some(1.0));
    }

    #[test]
    fn pass_all_is_the_share_of_draws_of_successes_alone() {
        // C(3, k) / C(10, k), by hand.
        assert_eq!(SOME.pass_all(1), Some(0.3));
        assert!((SOME.pass_all(2).unwrap() - 3.0 / 45.0).abs() < 1e-15);
        assert!((SOME.pass_all(3).unwrap() - 1.0 / 120.0).abs() < 1e-15);
        assert_eq!(SOME.pass_all(4), Some(0.0));
    }

    #[test]
    fn more_draws_than_attempts_are_undefined() {
        for undefined in [0, 11] {
            assert_eq!(SOME.pass_at(undefined), None);
            assert_eq!(SOME.pass_all(undefined), None);
            assert_eq!(SOME.at_least(undefined), None);
        }
        assert_eq!((SOME.at_least(3), SOME.at_least(4)), (Some(true), Some(false)));
    }

    #[test]
    fn reducers_take_what_their_name_says() {
        let scores = [0.5, 1.0, 0.0, 1.0, 0.0];
        let reduced = Reducer::ALL.map(|reducer| reducer.reduce(&scores).unwrap());
        // Of 1 and 0, which are there twice, 1 came first.
        assert_eq!(reduced, [0.5, 0.5, 1.0, 0.0, 1.0]);
        assert_eq!(Reducer::Median.reduce(&[0.0, 1.0]), Some(0.5));
        assert_eq!(Reducer::Mean.reduce(&[]), None);
    }
}
