//! Whether a case passed, and whether a run did: scores, severities and thresholds to verdicts. Reads no database,
//! computes no score, and decides no exit code.
//!
//! - `policy`: how the scores of one scorer count.
//! - `case`: the verdict of one case.
//! - `run`: the verdicts of all cases together.
//! - `requirements`: what a user requires of a run.
//! - `broken`: a requirement that does not hold.
//! - `share`: a share of cases, in percent.
//! - `figure`: scores as tables show them, in digits that do not contradict their verdict.
//!
//! A verdict is computed from what is stored, whenever it is shown: it follows from the rows and from the policies of
//! the run's scorers, and is never a second truth beside them.

mod broken;
mod case;
mod figure;
mod policy;
mod requirements;
mod run;
mod share;

pub use broken::Broken;
pub use case::{CaseTally, CaseVerdict, Counted, ShownVerdict, Verdict};
pub use figure::{apart, exact, figure, mean_beside, score_beside};
pub use policy::{Policy, PolicyError, PolicyOverrides, Standing};
pub use requirements::{Requirements, ScorerMean};
pub use run::{Effort, RunTally, RunVerdict};
pub use share::{percent, percent_interval};
