//! What the reader and the scoring deliver. It moves nothing.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::{
    case::CasePointer,
    digest::Digest,
    row::Answer,
    sandbox::LoadedScorer,
    scoring::{Batch, CaseInFlight, Computed, Unit},
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
    /// The indices of the scorers of results that run as soon as their subject has a result.
    pub(super) following: Vec<usize>,
}

/// A case on its way to the keeper, with all rows that will follow.
pub(super) struct NewCase {
    pub(super) read: Arc<ReadCase>,
    /// How many of its rows will be computed.
    pub(super) computed: usize,
    /// Scores that an earlier run has computed, by the scorer's index.
    pub(super) reused: Vec<(usize, Reusable)>,
    /// Scorers that skip the case, by their indices.
    pub(super) skipped: Vec<(usize, Skip)>,
}

/// One case and one scorer of the run.
pub(super) struct RunUnit {
    pub(super) read: Arc<ReadCase>,
    pub(super) scorers: RunScorers,
    /// The scorer's index among them.
    pub(super) scorer_index: usize,
    pub(super) scored: Scored,
}

/// The input of a scorer of the run.
pub(super) enum Scored {
    /// The case itself.
    Case,
    /// Another scorer's answer about the case, as a case.
    Result(Arc<CaseInFlight>),
    /// Nothing: another scorer, whose result it would score, was not run because the task failed.
    OfFailedTask,
    /// Nothing: another scorer has no result.
    Nothing,
}

impl RunUnit {
    /// The units in which these scorers score a scorer's result for the case.
    pub(super) fn of_result(
        read: &Arc<ReadCase>,
        scorers: &RunScorers,
        indices: impl IntoIterator<Item = usize>,
        answer: Option<&Answer>,
    ) -> Vec<RunUnit> {
        let result = answer.and_then(|answer| read.in_flight.with_result(answer)).map(Arc::new);
        let is_of_failed_task = answer.is_some_and(Answer::is_of_failed_task);
        let unit = |scorer_index| RunUnit {
            read: Arc::clone(read),
            scorers: Arc::clone(scorers),
            scorer_index,
            scored: match &result {
                Some(result) => Scored::Result(Arc::clone(result)),
                None if is_of_failed_task => Scored::OfFailedTask,
                None => Scored::Nothing,
            },
        };
        indices.into_iter().map(unit).collect()
    }
}

impl Unit for RunUnit {
    fn case(&self) -> Option<&CaseInFlight> {
        match &self.scored {
            Scored::Case => Some(&self.read.in_flight),
            Scored::Result(result) => Some(result),
            Scored::OfFailedTask | Scored::Nothing => None,
        }
    }

    fn failure(&self) -> Option<&str> {
        match &self.scored {
            Scored::Case | Scored::OfFailedTask => self.read.in_flight.case().error(),
            Scored::Result(_) | Scored::Nothing => None,
        }
    }

    fn scorer(&self) -> &LoadedScorer {
        &self.scorers[self.scorer_index].scorer
    }

    fn output_from(&self) -> Option<&CasePointer> {
        self.scorers[self.scorer_index].output_from.as_ref()
    }

    fn begins(&self) {
        self.read.beginnings.note(self.scorer_index);
    }

    fn condition(&self) -> Option<&LoadedScorer> {
        self.scorers[self.scorer_index].condition.as_ref().map(|condition| &condition.scorer)
    }

    fn of_result(&self, computed: &Computed) -> Vec<RunUnit> {
        let (id, following) =
            (&self.scorers[self.scorer_index].id, self.read.following.iter().copied());
        let indices: Vec<usize> =
            following.filter(|index| self.scorers[*index].subject.as_ref() == Some(id)).collect();
        if indices.is_empty() {
            return Vec::new();
        }
        let answer = computed.outcome().cloned().map(Answer::from);
        RunUnit::of_result(&self.read, &self.scorers, indices, answer.as_ref())
    }
}

/// A message to deliver.
pub(super) enum Message {
    /// Cases were read; their scores will follow.
    Read(Vec<NewCase>),
    /// A case was read whose name may have come before; `answer` receives whether it is part of the run.
    Doubtful {
        /// The case.
        case: NewCase,
        /// Receives the answer.
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
