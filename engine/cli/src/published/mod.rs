//! Published scorers before a suite uses them: what one is, and what it would change. Changes no suite and no lock.
//!
//! - `candidate`: a published scorer as its registry has it now, and what is found by looking at it.
//! - `difference`: what another version of a scorer changes, and what of that is wider.
//! - `counting`: how the scores of another version count in verdicts, and what of that lets more pass.
//! - `known`: whether it is known which versions are newer.
//! - `rescored`: how the scores of a stored run change with another component.
//! - `example`: a scorer's own example, scored twice; of any scorer.
//! - `consent`: the question whether a change is to be made.
//! - `leaks`: whether a scorer says what it does not declare to read.

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
