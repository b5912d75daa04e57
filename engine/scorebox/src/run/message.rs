//! What is to be delivered, from the reader and from the scoring. Moves nothing.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::{
    digest::Digest,
    sandbox::LoadedScorer,
    scoring::{Batch, CaseInFlight, Unit},
    store::Reusable,
    suite::Skip,
};

use super::{ReadyScorer, beginnings::Beginnings, control::Refusal};

/// The scorers of a run, in the suite's order.
pub(super) type RunScorers = Arc<[ReadyScorer]>;

/// A case that was read.
pub(super) struct ReadCase {
    pub(super) in_flight: CaseInFlight,
    pub(super) digest: Digest,
    pub(super) beginnings: Beginnings,
}

/// A case on its way to the keeper, with all rows that are to come of it.
pub(super) struct NewCase {
    pub(super) read: Arc<ReadCase>,
    /// How many of its rows are computed.
    pub(super) computed: usize,
    /// Scores that an earlier run has, by the scorer's place.
    pub(super) reused: Vec<(usize, Reusable)>,
    /// Scorers that are spared the case, by their places.
    pub(super) skipped: Vec<(usize, Skip)>,
}

/// One case and one scorer of the run.
pub(super) struct RunUnit {
    pub(super) read: Arc<ReadCase>,
    pub(super) scorers: RunScorers,
    /// The scorer's place among them.
    pub(super) place: usize,
}

impl Unit for RunUnit {
    fn case(&self) -> &CaseInFlight {
        &self.read.in_flight
    }

    fn scorer(&self) -> &LoadedScorer {
        &self.scorers[self.place].scorer
    }

    fn begins(&self) {
        self.read.beginnings.note(self.place);
    }
}

/// What is to be delivered.
pub(super) enum Message {
    /// Cases were read; their scores will follow.
    Read(Vec<NewCase>),
    /// A case was read whose name may have come before; the answer is whether it is part of the run.
    Doubtful {
        /// The case.
        case: NewCase,
        /// Where the answer goes.
        answer: oneshot::Sender<bool>,
    },
    /// A line was read that is not a valid case.
    Refused(Refusal),
    /// Rows, in any order, each after its case.
    Scored(Batch<RunUnit>),
}

impl From<Batch<RunUnit>> for Message {
    fn from(batch: Batch<RunUnit>) -> Message {
        Message::Scored(batch)
    }
}
