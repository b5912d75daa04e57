//! What the units of one case share: the digests of what scorers are given, and the folder that the task left, each
//! made once. Knows no queue and no database.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};

use crate::{
    case::Case,
    contract::{Fields, ScorerInput},
    digest::Digest,
    sandbox::{LoadedScorer, Outcome},
    workspace::TaskFolder,
};

/// A case in flight, and its share of the memory for cases in flight: given back when the case is no longer
/// needed.
pub(crate) struct CaseInFlight {
    case: Case,
    /// Of what scorers are given that read these parts and see these files.
    digests: Mutex<Vec<(Fields, Option<Digest>, Digest)>>,
    /// One for all scorers, which thus see the same files.
    folder: Option<TaskFolder>,
    /// The place among the workspaces in memory, as long as the case is in flight.
    place: OnceCell<Option<OwnedSemaphorePermit>>,
    _share: Option<OwnedSemaphorePermit>,
}

impl CaseInFlight {
    /// A case that holds this share.
    pub(crate) fn new(case: Case, share: Option<OwnedSemaphorePermit>) -> CaseInFlight {
        let folder = case.task_folder();
        let (digests, place) = (Mutex::default(), OnceCell::new());
        CaseInFlight { case, digests, folder, place, _share: share }
    }

    /// The case.
    pub(crate) fn case(&self) -> &Case {
        &self.case
    }

    /// The digest of what a scorer that reads `reads` is given, with the files whose digest is `files`. Scorers that
    /// are given the same share it.
    pub(crate) fn input_digest(&self, reads: Fields, files: Option<Digest>) -> Digest {
        // What is behind the lock is consistent after every statement.
        let mut known = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
        let same = known.iter().find(|(fields, its, _)| (*fields, *its) == (reads, files));
        if let Some((_, _, digest)) = same {
            return *digest;
        }
        let digest = self.case.scorer_input(reads).digest(files);
        known.push((reads, files, digest));
        digest
    }

    /// Scores the case; returns the digest of what the scorer was given as well. If the scorer reads
    /// files, the case takes one of the places for `workspaces` until it is dropped.
    pub(crate) async fn score(
        &self,
        scorer: &LoadedScorer,
        workspaces: &Arc<Semaphore>,
    ) -> (Outcome, Digest) {
        let reads = scorer.info().reads;
        let input =
            ScorerInput { workspace: self.folder.as_ref(), ..self.case.scorer_input(reads) };
        if self.folder.is_some() && scorer.reads_workspace() {
            // Never closed. Units are taken case by case, so that a case that has a place can always end.
            self.place
                .get_or_init(async || Arc::clone(workspaces).acquire_owned().await.ok())
                .await;
        }
        let outcome = scorer.score(input).await;
        let input_digest = self.input_digest(reads, outcome.files);
        (outcome, input_digest)
    }
}
