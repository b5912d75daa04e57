//! What is computed, and its outcome. Computes nothing.

use tokio::sync::OwnedSemaphorePermit;

use crate::{
    digest::Digest,
    sandbox::{LoadedScorer, Outcome},
};

use super::CaseInFlight;

/// One case and one scorer, with whatever else the receiver of the score needs to know.
pub(crate) trait Unit: Send + Sync + 'static {
    /// The case.
    fn case(&self) -> &CaseInFlight;
    /// The scorer.
    fn scorer(&self) -> &LoadedScorer;
    /// Called when its score begins to be computed.
    fn begins(&self) {}
}

/// A unit with its score.
pub(crate) struct Finished<U> {
    /// What was computed.
    pub(crate) unit: U,
    /// The outcome.
    pub(crate) outcome: Outcome,
    /// The digest of what the scorer was given.
    pub(crate) input_digest: Digest,
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
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let log: usize = self.outcome.log.iter().map(|line| line.message.len() + 32).sum();
        let result = match &self.outcome.result {
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
