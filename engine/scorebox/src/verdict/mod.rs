//! Whether a case passed, and whether a run did: computes verdicts from scores, severities and thresholds. It reads no
//! database, computes no score, and decides no exit code.
//!
//! - `policy`: how the scores of one scorer count.
//! - `case`: the verdict of one case.
//! - `run`: the verdicts of all cases together.
//! - `requirements`: what a user requires of a run.
//! - `broken`: a requirement that is not met.
//! - `share`: a part of the cases, in percent.
//! - `figure`: scores as tables show them, with enough digits not to contradict their verdict.
//!
//! A verdict is computed from the stored data whenever it is shown: it follows from the rows and from the policies of
//! the run's scorers, and is never stored as a second source of truth.

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
