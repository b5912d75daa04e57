//! Statistics of two measurements of the same cases: whether their difference is more than chance, how large it is, and
//! how many cases are needed to detect one. It knows no run and no scorer.
//!
//! | file             | what it contains                                                   |
//! |------------------|--------------------------------------------------------------------|
//! | `differences.rs` | pairs, added one by one, and all figures from them                 |
//! | `permutation.rs` | the chance of such a mean difference with random signs             |
//! | `coin.rs`        | the sign test, and McNemar's test of which cases pass              |
//! | `holm.rs`        | p values of several tests, corrected for their number              |
//! | `size.rs`        | how many cases a difference needs, and which difference cases show |

mod coin;
mod differences;
mod holm;
mod permutation;
mod size;

pub use super::rounding::difference;
pub use coin::{Passes, WinsAndLosses};
pub use differences::Differences;
pub use holm::holm;
#[cfg(test)]
pub(super) use permutation::student_test;
pub use permutation::{MAX_PERMUTED, PairedTest, TestMethod, permutation_test};
pub use size::{POWER, Spread, cases_needed, fewest_cases, smallest_difference};

#[cfg(test)]
mod tests;
