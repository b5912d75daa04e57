//! What another component answers for the cases that a scorer of a run scored. It compares only scores, and stores
//! nothing.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::{
    component_bytes::ComponentBytes,
    judge::Asking,
    row::{Answer, Status},
    sandbox::{ErrorKind, Sandbox},
    store::{ScoreId, ScoreRecord, ScorerRecord, Store, StoreError},
};

use super::{
    Verdict, VerifyRequest, answer, recorded_calls,
    rescore::Rescorer,
    rows::{StoredCase, StoredRows},
};

/// The outcome for one stored score.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tried {
    /// The id of the stored score.
    pub score_id: ScoreId,
    /// The answer of the run's scorer.
    pub stored: Answer,
    /// The other component's answer; or why it is not known.
    pub computed: Result<Answer, String>,
}

impl Tried {
    /// Whether the other component has the same outcome, and the same score to the last digit; `None` if that is not
    /// known.
    pub fn is_same(&self) -> Option<bool> {
        let computed = self.computed.as_ref().ok()?;
        Some((computed.status, computed.score) == (self.stored.status, self.stored.score))
    }
}

/// Makes `component` score the cases that a scorer of a run scored, with that scorer's configuration, limits, grants
/// and recorded answers, and calls `take` with each outcome in the order of the rows, until it returns false. Rows of
/// cases that the scorer skipped, or whose task failed, are omitted.
///
/// `request` names one run and one scorer in it; its sample is drawn like in [`verify`](super::verify).
///
/// # Errors
/// If the run or the scorer does not exist, or the database cannot be read. Anything wrong with a score or with the
/// component is in the outcomes.
pub async fn try_component(
    store: &Store,
    request: &VerifyRequest,
    component: &ComponentBytes,
    sandbox: &Sandbox,
    mut take: impl FnMut(Tried) -> bool,
) -> Result<(), StoreError> {
    let mut rows = StoredRows::new(store, request)?;
    let mut trying: Option<Trying> = None;
    while let Some((record, case)) = rows.next()? {
        let answer = &record.row.answer;
        if answer.status == Status::Skipped || answer.is_of_failed_task() {
            continue;
        }
        let with = match &trying {
            Some(trying) => trying,
            None => trying.insert(Trying::of(store, &record, component, sandbox).await?),
        };
        let computed = with.computed(store, &record, &case).await?.map_err(reason);
        let score_id = record.id.clone();
        if !take(Tried { score_id, stored: record.row.answer, computed }) {
            return Ok(());
        }
    }
    Ok(())
}

/// The component that replaces a scorer.
struct Trying {
    rescorer: Rescorer,
    scorer: Option<ScorerRecord>,
    subject: Option<ScorerRecord>,
    workspaces: Arc<Semaphore>,
}

impl Trying {
    async fn of(
        store: &Store,
        record: &ScoreRecord,
        component: &ComponentBytes,
        sandbox: &Sandbox,
    ) -> Result<Trying, StoreError> {
        let run = store.run(record.run_id.as_str())?;
        let scorers = store.scorers(run.key)?;
        let named = |id: &str| scorers.iter().find(|it| it.spec.scorer_id == id).cloned();
        let scorer = named(&record.row.scorer_id);
        let rescorer = match &scorer {
            Some(scorer) => Rescorer::in_place_of(&scorer.spec, component, sandbox).await,
            None => Rescorer::unusable("its scorer is not stored with the run".into()),
        };
        let subject = scorer.as_ref().and_then(|it| it.spec.subject.as_deref()).and_then(named);
        Ok(Trying { rescorer, scorer, subject, workspaces: Arc::new(Semaphore::new(1)) })
    }

    async fn computed(
        &self,
        store: &Store,
        record: &ScoreRecord,
        case: &StoredCase,
    ) -> Result<Result<Answer, Verdict>, StoreError> {
        let scores_results = self.scorer.as_ref().is_some_and(|it| it.spec.subject.is_some());
        let of_subject = match (&self.subject, scores_results) {
            (Some(subject), _) => Some(case.with_result(store, subject.key)?),
            (None, true) => {
                let reason = "the scorer whose results it scores is not stored";
                return Ok(Err(Verdict::not_verifiable(reason)));
            }
            (None, false) => None,
        };
        let answers = match self.rescorer.asks_judge() {
            true => store.recordings_of(record.cursor)?,
            false => Ok(Vec::new()),
        };
        let case = match of_subject.as_ref().unwrap_or(case).case.as_ref() {
            Ok(Some(case)) => case,
            Ok(None) => return Ok(Err(Verdict::not_verifiable("there is no result to score"))),
            Err(verdict) => return Ok(Err(verdict.clone())),
        };
        let names_files = case.case().workspace().is_some();
        let scorer = match self.rescorer.for_score(names_files, &record.row.answer) {
            Ok(scorer) => scorer,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let answers = match answers {
            Ok(answers) => answers.into_iter().map(Arc::new).collect(),
            Err(unrecorded) => return Ok(Err(recorded_calls::verdict(&unrecorded))),
        };
        let pointer = self.rescorer.output_from();
        let outcome = match pointer.map(|pointer| case.value_at(pointer)).transpose() {
            Ok(output) => {
                let asking = Asking::default();
                case.score(scorer, output, answers, &self.workspaces, &asking).await.0
            }
            Err(outcome) => *outcome,
        };
        let asks_otherwise =
            matches!(&outcome.result, Err(error) if error.kind == ErrorKind::JudgeNotRecorded);
        let computed = Answer::from(outcome);
        Ok(match answer::is_a_time_out(&computed) {
            true => Err(Verdict::not_verifiable("it timed out, which depends on the machine")),
            false if asks_otherwise => {
                Err(Verdict::not_verifiable("it asks the judge something else than was recorded"))
            }
            false => Ok(computed),
        })
    }
}

/// Why there is no score.
fn reason(verdict: Verdict) -> String {
    match verdict {
        Verdict::NotVerifiable { reason, .. } => reason,
        Verdict::Different { differences } => {
            let what: Vec<&str> = differences.iter().map(|it| it.what.as_str()).collect();
            format!("what is stored was changed: {}", what.join(", "))
        }
        Verdict::Verified => String::new(),
    }
}
