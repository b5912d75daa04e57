//! What is computed, and its outcome. It computes nothing.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

use crate::{
    case::CasePointer,
    digest::Digest,
    judge::Recording,
    sandbox::{LoadedScorer, Outcome},
    suite::Skip,
};

use super::CaseInFlight;

/// One case and one scorer, with anything else that the receiver of the score needs.
pub(crate) trait Unit: Sized + Send + Sync + 'static {
    /// The case; `None` if it should be the result of a scorer that has no result.
    fn case(&self) -> Option<&CaseInFlight>;
    /// The scorer.
    fn scorer(&self) -> &LoadedScorer;
    /// If the task of the case failed, so that there is nothing to score: the reason. Then the scorer is not run.
    fn failure(&self) -> Option<&str>;
    /// Where in the case the value is that the scorer gets as the output; `None` for the case's output.
    fn output_from(&self) -> Option<&CasePointer>;
    /// The scorer that decides whether this scorer applies to the case.
    fn condition(&self) -> Option<&LoadedScorer>;
    /// The units that score the result that was just computed.
    fn of_result(&self, computed: &Computed) -> Vec<Self>;
    /// A judge's answers that are known already.
    fn answers(&self) -> Vec<Arc<Recording>> {
        Vec::new()
    }
    /// Called when computing its score begins.
    fn begins(&self) {}
}

/// The outcome of a unit.
pub(crate) enum Computed {
    /// The scorer ran; the digest is that of its input.
    Outcome(Outcome, Digest),
    /// The scorer did not run, because the task failed, or because it could not be decided whether the scorer applies
    /// to the case: an outcome without a result.
    NotRun(Outcome),
    /// The scorer skips the case, and only that is stored.
    Skipped(Skip),
}

impl Computed {
    /// The outcome; `None` if the scorer skips the case.
    pub(crate) fn outcome(&self) -> Option<&Outcome> {
        match self {
            Computed::Outcome(outcome, _) | Computed::NotRun(outcome) => Some(outcome),
            Computed::Skipped(_) => None,
        }
    }
}

/// A unit with its outcome.
pub(crate) struct Finished<U> {
    /// The computed unit.
    pub(crate) unit: U,
    /// The outcome.
    pub(crate) computed: Computed,
    /// When, in milliseconds since 1970 UTC.
    pub(crate) scored_at_ms: i64,
}

/// Rows that are passed on together; their share of the memory for rows is returned when they are dropped.
pub(crate) struct Batch<U> {
    /// The rows.
    pub(crate) rows: Vec<Finished<U>>,
    pub(super) _share: Option<OwnedSemaphorePermit>,
}

impl<U> Finished<U> {
    /// Its approximate size in memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let Some(outcome) = self.computed.outcome() else { return size_of::<Finished<U>>() };
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let log: usize = outcome.log.iter().map(|line| line.message.len() + 32).sum();
        let result = match &outcome.result {
            Err(error) => error.message.len(),
            Ok(result) => {
                let assertions = result.assertions.iter();
                length(&result.label)
                    + length(&result.reason)
                    + length(&result.meta)
                    + assertions.map(|it| it.name.len() + length(&it.reason) + 96).sum::<usize>()
            }
        };
        size_of::<Finished<U>>() + result + log
    }
}
