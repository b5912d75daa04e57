//! What many scores say together: pure functions from numbers to numbers. Knows no database, no
//! scorer and no table to print.
//!
//! | file           | what is in it                                                       |
//! |----------------|----------------------------------------------------------------------|
//! | `summary.rs`   | count, mean, min, max, p50 and standard deviation                     |
//! | `mean.rs`      | the mean of numbers that come one by one                              |
//! | `histogram.rs` | how many scores fall into each of n equal parts of a range            |
//! | `ranking.rs`   | who comes before whom, and who shares a rank                          |
//! | `rate.rs`      | an observed rate and its interval                                     |
//! | `interval.rs`  | the interval of a mean, with a case as the unit                       |
//! | `bootstrap.rs` | intervals by bootstrap: of the mean of a few, of any figure           |
//! | `repeats.rs`   | what attempts at one case say together: reducers, pass@k, pass^k      |
//! | `rounding.rs`  | the difference of two numbers, 0 if it may be rounding alone          |
//! | `paired/`      | two measurements of the same cases: tests, and how many cases they take |
//! | `agreement/`   | how well scores agree with labels                                     |
//! | `distributions.rs` | quantiles and probabilities, of the crate `statrs`                |
//! | `fair_coin.rs` | how likely few heads are, counted to the last digit                   |
//! | `random.rs`    | random numbers of a seed                                              |
//! | `reference/`   | figures of other programs, and the script that asked them              |
//!
//! Invariant: the same scores give the same bits, in whatever order workers produced them. What is
//! here takes scores in ascending order, in the order of their cases and attempts, or only counts them.

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
