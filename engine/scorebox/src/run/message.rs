//! What the writer hears, from the reader and from the scoring. Moves nothing.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::{
    digest::Digest,
    sandbox::LoadedScorer,
    scoring::{Batch, CaseInFlight, Unit},
    store::{Reusable, ScorerKey},
};

use super::ReadyScorer;

/// The scorers of a run, in the suite's order.
pub(super) type RunScorers = Arc<[(ScorerKey, ReadyScorer)]>;

/// A case that was read.
pub(super) struct ReadCase {
    pub(super) in_flight: CaseInFlight,
    pub(super) digest: Digest,
}

/// A case on its way to the writer, with all rows that are to come of it.
pub(super) struct NewCase {
    pub(super) read: Arc<ReadCase>,
    /// How many of its rows are computed.
    pub(super) computed: usize,
    /// Scores that an earlier run has.
    pub(super) reused: Vec<(ScorerKey, Reusable)>,
}

/// One case and one scorer of the run.
pub(super) struct RunUnit {
    pub(super) read: Arc<ReadCase>,
    pub(super) scorers: RunScorers,
    /// The scorer's place among them.
    pub(super) place: usize,
}

impl RunUnit {
    /// What names the scorer in the database.
    pub(super) fn scorer_key(&self) -> ScorerKey {
        self.scorers[self.place].0
    }
}

impl Unit for RunUnit {
    fn case(&self) -> &CaseInFlight {
        &self.read.in_flight
    }

    fn scorer(&self) -> &LoadedScorer {
        &self.scorers[self.place].1.scorer
    }
}

/// What the writer hears.
pub(super) enum Message {
    /// Cases were read; their scores will follow.
    Read(Vec<NewCase>),
    /// A case was read whose name may have come before; the answer is whether it was stored.
    Doubtful {
        /// The case.
        case: NewCase,
        /// Whom to answer.
        answer: oneshot::Sender<bool>,
    },
    /// Rows, in any order, each after its case.
    Scored(Batch<RunUnit>),
}

impl From<Batch<RunUnit>> for Message {
    fn from(batch: Batch<RunUnit>) -> Message {
        Message::Scored(batch)
    }
}
