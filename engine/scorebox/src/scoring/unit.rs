//! What is computed, and its outcome. Computes nothing.

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

/// One case and one scorer, with whatever else the receiver of the score needs to know.
pub(crate) trait Unit: Sized + Send + Sync + 'static {
    /// The case; `None` if it would be the result of a scorer that has none.
    fn case(&self) -> Option<&CaseInFlight>;
    /// The scorer.
    fn scorer(&self) -> &LoadedScorer;
    /// Why there is nothing to score: the task of the case failed. If so, the scorer is not run.
    fn failure(&self) -> Option<&str>;
    /// Where in the case the value is that the scorer is given as the output; `None`: the case's output.
    fn output_from(&self) -> Option<&CasePointer>;
    /// What decides whether the scorer is for the case.
    fn condition(&self) -> Option<&LoadedScorer>;
    /// The units that score what was just computed.
    fn of_result(&self, computed: &Computed) -> Vec<Self>;
    /// The answers of a judge that are known already.
    fn answers(&self) -> Vec<Arc<Recording>> {
        Vec::new()
    }
    /// Called when its score begins to be computed.
    fn begins(&self) {}
}

/// The outcome of a unit.
pub(crate) enum Computed {
    /// The scorer ran, on an input of this digest.
    Outcome(Outcome, Digest),
    /// The scorer did not run, because the task failed, or it could not be found out whether the scorer is for the
    /// case: an outcome without a result.
    NotRun(Outcome),
    /// The scorer is not for the case; nothing is to be stored but that.
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
    /// What was computed.
    pub(crate) unit: U,
    /// The outcome.
    pub(crate) computed: Computed,
    /// When, in milliseconds since 1970 UTC.
    pub(crate) scored_at_ms: i64,
}

/// Rows that are handed on together; their share of the memory for rows is given back when they are dropped.
pub(crate) struct Batch<U> {
    /// The rows.
    pub(crate) rows: Vec<Finished<U>>,
    pub(super) _share: Option<OwnedSemaphorePermit>,
}

impl<U> Finished<U> {
    /// About how much memory it takes, in bytes.
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
