//! Tests that count cases and not how far they differ: the sign test, and McNemar's. Both compute how often a fair coin
//! would give this result.

#![expect(clippy::exhaustive_structs, reason = "a formula has these numbers and no others")]

use serde::Serialize;

use crate::stats::distributions::coin_beyond;

/// How often the second of two measurements of a case is the better one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WinsAndLosses {
    /// Cases in which the second is better.
    pub wins: u64,
    /// Cases in which the second is worse.
    pub losses: u64,
    /// Cases in which both are equal.
    pub ties: u64,
}

impl WinsAndLosses {
    /// The two-sided p value of the sign test; ties do not count (Dixon and Mood, "The statistical sign test", Journal
    /// of the American Statistical Association 41, 1946). 1 if there are only ties.
    pub fn sign_test(&self) -> f64 {
        coin_beyond(self.wins, self.wins + self.losses)
    }
}

/// Which of two measurements of a case pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Passes {
    /// Cases in which both pass.
    pub both: u64,
    /// Cases in which only the first passes.
    pub only_first: u64,
    /// Cases in which only the second passes.
    pub only_second: u64,
    /// Cases in which neither passes.
    pub neither: u64,
}

impl Passes {
    /// Counts one case.
    pub fn add(&mut self, first: bool, second: bool) {
        let count = match (first, second) {
            (true, true) => &mut self.both,
            (true, false) => &mut self.only_first,
            (false, true) => &mut self.only_second,
            (false, false) => &mut self.neither,
        };
        *count += 1;
    }

    /// All cases.
    pub fn cases(&self) -> u64 {
        self.both + self.only_first + self.only_second + self.neither
    }

    /// The two-sided p value of McNemar's test in its exact form, which uses only the cases in which exactly one passes
    /// (McNemar, "Note on the sampling error of the difference between correlated proportions or percentages",
    /// Psychometrika 12, 1947). 1 if there are no such cases.
    pub fn mcnemar(&self) -> f64 {
        coin_beyond(self.only_second, self.only_first + self.only_second)
    }
}
