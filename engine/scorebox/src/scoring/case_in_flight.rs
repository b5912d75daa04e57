//! What the units of one case share: the digests of scorers' inputs, and the folder that the task left, each made once.
//! It knows no queue and no database.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};

use crate::{
    case::{Case, CasePointer, Key},
    contract::{Fields, ScorerInput},
    digest::Digest,
    judge::{Asking, Recording},
    row::Answer,
    sandbox::{ErrorKind, LoadedScorer, Outcome, ScoreError},
    workspace::TaskFolder,
};

/// A case in flight, and its share of the memory for cases in flight, which is returned when the case is no longer
/// needed.
pub(crate) struct CaseInFlight {
    case: Case,
    /// The digests of the inputs for scorers that read these parts and these files.
    digests: Mutex<Vec<(Fields, Option<Digest>, Digest)>>,
    /// One for all scorers, so that all of them see the same files.
    folder: Option<TaskFolder>,
    /// The permit for a workspace in memory, held as long as the case is in flight.
    place: OnceCell<Option<OwnedSemaphorePermit>>,
    _share: Option<OwnedSemaphorePermit>,
}

impl CaseInFlight {
    /// A case with this share.
    pub(crate) fn new(case: Case, share: Option<OwnedSemaphorePermit>) -> CaseInFlight {
        let folder = case.task_folder();
        let (digests, place) = (Mutex::default(), OnceCell::new());
        CaseInFlight { case, digests, folder, place, _share: share }
    }

    /// The result of a scorer for this case, as a case: the same case, with the scorer's answer as its output. The
    /// files are not part of it. `None` if there is no result.
    pub(crate) fn with_result(&self, answer: &Answer) -> Option<CaseInFlight> {
        let output = answer.as_output()?;
        let mut builder = Case::builder().json(Key::Output, output.get());
        for (field, json) in self.case.parts().iter() {
            builder = builder.json(field.into(), *json);
        }
        if let Some(latency) = self.case.latency_ms() {
            builder = builder.json(Key::LatencyMs, latency.to_string());
        }
        let case = builder.ordinal(self.case.ordinal()).build().ok()?;
        Some(CaseInFlight::new(case, None))
    }

    /// Whether the condition holds for the case, which means that its scorer gives 1, and not 0 or no score.
    ///
    /// # Errors
    /// An outcome without a result, which states why the condition has no answer.
    pub(crate) async fn holds(
        &self,
        condition: &LoadedScorer,
        workspaces: &Arc<Semaphore>,
    ) -> Result<bool, Box<Outcome>> {
        // A condition asks no judge.
        let asking = Asking::default();
        let (outcome, _) = self.score(condition, None, Vec::new(), workspaces, &asking).await;
        let no_answer = match &outcome.result {
            Ok(result) => match result.score {
                None | Some(0.0) => return Ok(false),
                Some(1.0) => return Ok(true),
                Some(number) => ScoreError::new(
                    ErrorKind::InvalidInput,
                    format!("`when` should give true or false; found {number}"),
                ),
            },
            // The error's own advice would concern the condition's scorer.
            Err(error) => ScoreError::new(error.kind, of_condition(&error.message)),
        };
        Err(Box::new(Outcome { result: Err(no_answer), log: Vec::new(), ..outcome }))
    }

    /// The case.
    pub(crate) fn case(&self) -> &Case {
        &self.case
    }

    /// The value that a scorer gets as the output.
    ///
    /// # Errors
    /// An outcome that states that the case has no such value, or that it cannot be read.
    pub(crate) fn value_at(&self, pointer: &CasePointer) -> Result<&str, Box<Outcome>> {
        let why = match pointer.find(&self.case) {
            Ok(Some(value)) => return Ok(value),
            Ok(None) if pointer.begins_with_text(&self.case) => {
                format!(
                    "`on`: the case has a text there, and no object or list that `{pointer}` leads into"
                )
            }
            Ok(None) => format!("`on`: the case has no value at `{pointer}`"),
            Err(reason) => format!("`on`: what is at `{pointer}` cannot be read: {reason}"),
        };
        Err(Box::new(Outcome::of_no_input(why)))
    }

    /// The digest of the input for a scorer that reads `reads`, with the files whose digest is `files`. Scorers with
    /// the same input share it.
    pub(crate) fn input_digest(&self, reads: Fields, files: Option<Digest>) -> Digest {
        // The content of the lock is consistent after every statement.
        let mut known = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
        let same = known.iter().find(|(fields, its, _)| (*fields, *its) == (reads, files));
        if let Some((_, _, digest)) = same {
            return *digest;
        }
        let digest = self.case.scorer_input(reads).digest(files);
        known.push((reads, files, digest));
        digest
    }

    /// The digest of the input for a scorer that reads `reads`, with this output instead of the case's.
    pub(crate) fn input_digest_of(
        &self,
        output: &str,
        reads: Fields,
        files: Option<Digest>,
    ) -> Digest {
        ScorerInput { output, ..self.case.scorer_input(reads) }.digest(files)
    }

    /// Scores the case, or one value of it as the `output`, with answers of a judge that are known already; returns the
    /// digest of what the scorer was given as well. If the scorer reads files, the case takes one of the places for
    /// `workspaces` until it is dropped. `asking` says for which run judges are asked, and until when.
    pub(crate) async fn score(
        &self,
        scorer: &LoadedScorer,
        output: Option<&str>,
        answers: Vec<Arc<Recording>>,
        workspaces: &Arc<Semaphore>,
        asking: &Asking,
    ) -> (Outcome, Digest) {
        let reads = scorer.info().reads;
        let input = ScorerInput {
            output: output.unwrap_or_else(|| self.case.output()),
            workspace: self.folder.as_ref(),
            ..self.case.scorer_input(reads)
        };
        if self.folder.is_some() && scorer.reads_workspace() {
            // The semaphore is never closed. Units are taken case by case, so that a case with a permit can always
            // finish.
            self.place
                .get_or_init(async || Arc::clone(workspaces).acquire_owned().await.ok())
                .await;
        }
        let outcome = scorer.score_asking(input, answers, asking).await;
        let input_digest = match output {
            Some(output) => self.input_digest_of(output, reads, outcome.files),
            None => self.input_digest(reads, outcome.files),
        };
        (outcome, input_digest)
    }
}

/// Rewords the error of a condition's scorer about its expression as one about the key `when`, which accepts fewer
/// values.
fn of_condition(message: &str) -> String {
    let about_the_key = message.strip_prefix("`expression`");
    let found = about_the_key.and_then(|rest| {
        rest.strip_prefix(" should yield true, false, null or a number from 0 to 1; found ")
    });
    match (about_the_key, found) {
        (_, Some(found)) => format!("`when` should give true or false; found {found}"),
        (Some(rest), None) => format!("`when`{rest}"),
        (None, None) => format!("`when`: {message}"),
    }
}
