//! Statistics of many scores: pure functions from numbers to numbers. It knows no database, no scorer and no output
//! format.
//!
//! | file           | what it contains                                                     |
//! |----------------|----------------------------------------------------------------------|
//! | `summary.rs`   | count, mean, min, max, p50 and standard deviation                    |
//! | `mean.rs`      | the mean of numbers, added one by one                                |
//! | `histogram.rs` | how many scores fall into each of n equal parts of a range           |
//! | `ranking.rs`   | order, and shared ranks                                              |
//! | `rate.rs`      | an observed rate and its interval                                    |
//! | `interval.rs`  | the interval of a mean, with a case as the unit                      |
//! | `bootstrap.rs` | intervals by bootstrap: of the mean of a few units, of any figure    |
//! | `repeats.rs`   | figures over the attempts at one case: reducers, pass@k, pass^k      |
//! | `rounding.rs`  | the difference of two numbers, 0 if it may be rounding alone         |
//! | `paired/`      | two measurements of the same cases: tests, and how many cases they need |
//! | `agreement/`   | how well scores agree with labels                                    |
//! | `distributions.rs` | quantiles and probabilities, from the crate `statrs`             |
//! | `fair_coin.rs` | how likely few heads are, exact to the last digit                    |
//! | `random.rs`    | random numbers from a seed                                           |
//! | `reference/`   | figures from other programs, and the script that computed them       |
//!
//! Invariant: the same scores give the same bits, in whatever order workers produced them. All functions here take
//! scores in ascending order, in the order of their cases and attempts, or only count them.

pub mod agreement;
mod bootstrap;
mod distributions;
mod fair_coin;
mod histogram;
mod interval;
mod mean;
pub mod paired;
mod random;
mod ranking;
mod rate;
#[cfg(test)]
mod reference;
mod repeats;
mod rounding;
mod summary;

pub use bootstrap::bootstrapped_intervals;
pub use distributions::CONFIDENCE;
pub use histogram::Histogram;
pub use interval::{ClusteredMean, ENOUGH_CASES, ENOUGH_TO_DRAW, Interval, IntervalMethod};
pub use mean::Mean;
pub use ranking::{Best, Merit, Ranked, level, ranks};
pub use rate::Rate;
pub use repeats::{
    Attempts, Draw, Reduced, ReducedMeans, Reducer, Tries, TriesOfCases, usual_draws,
};
pub use summary::{Ascending, Summary};
