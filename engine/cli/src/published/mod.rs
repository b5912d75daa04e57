//! Published scorers before a suite uses them: their properties, and what they would change. It changes neither suites
//! nor locks.
//!
//! - `candidate`: a published scorer as its registry has it now, and what inspecting it shows.
//! - `difference`: what another version of a scorer changes, and which of the changes give it more access.
//! - `counting`: how the scores of another version count in verdicts, and which changes let more cases pass.
//! - `known`: whether the newer versions of a scorer are known.
//! - `rescored`: how the scores of a stored run change with another component.
//! - `example`: any scorer's own example, scored twice.
//! - `consent`: asks the user whether to make a change.
//! - `leaks`: whether a scorer's answer shows fields that it does not declare to read.

mod candidate;
mod consent;
mod counting;
mod difference;
mod example;
mod known;
mod leaks;
mod rescored;

pub(crate) use candidate::{Candidate, NOT_SIGNED};
pub(crate) use consent::consent;
pub(crate) use difference::{Difference, Wider};
pub(crate) use example::{ExampleRun, is_equal};
pub(crate) use known::newest_must_be_known;
pub(crate) use leaks::Leaks;
pub(crate) use rescored::ScoredBefore;
