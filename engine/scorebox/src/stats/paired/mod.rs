//! Statistics of two measurements of the same cases: whether their difference is more than chance, how large it is, and
//! how many cases are needed to detect one. It knows no run and no scorer.
//!
//! | file             | what it contains                                                   |
//! |------------------|--------------------------------------------------------------------|
//! | `differences.rs` | pairs that come one by one, and all that follows from them          |
//! | `permutation.rs` | the chance of such a mean difference, if signs were thrown          |
//! | `coin.rs`        | the sign test, and McNemar's for what passes and what does not      |
//! | `holm.rs`        | chances of several tests, corrected for their number                |
//! | `size.rs`        | how many cases a difference takes, and which one so many cases show |
//! | `sign_power.rs`  | how often the sign test finds a difference, counted                 |

mod coin;
mod differences;
mod holm;
mod permutation;
mod sign_power;
mod size;

pub use super::rounding::difference;
pub use coin::{Passes, WinsAndLosses};
pub use differences::Differences;
pub use holm::holm;
#[cfg(test)]
pub(super) use permutation::student_test;
pub use permutation::{MAX_PERMUTED, PairedTest, TestMethod, permutation_test};
pub use sign_power::POWER;
#[cfg(test)]
pub(super) use sign_power::SignPower;
pub use size::{Spread, cases_needed, fewest_cases, smallest_difference};

#[cfg(test)]
mod tests;
