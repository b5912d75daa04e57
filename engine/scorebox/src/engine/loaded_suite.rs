//! A suite that is loaded once and scores cases that a program has in memory: a few at a time with a direct result, or
//! live, in the background. It adds nothing to what a run does.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    case::Case,
    digest::Digest,
    row::{Answer, AnswerError},
    run::{
        CaseQueue, Control, Event, OnBadCase, ReadyScorer, RunError, RunRequest, Stop, WhichRun,
        fresh_id, load_scorers, run,
    },
    store::RunId,
    suite::{ScorerId, Suite},
};

use super::{Engine, EngineError};

/// A suite whose scorers are loaded. Cheap to clone.
#[derive(Clone, Debug)]
pub struct LoadedSuite {
    pub(super) engine: Engine,
    pub(super) suite: Suite,
    pub(super) scorers: Arc<[ReadyScorer]>,
    pub(super) database: Option<PathBuf>,
}

impl LoadedSuite {
    pub(super) async fn load(engine: Engine, suite: Suite) -> Result<LoadedSuite, EngineError> {
        let scorers = load_scorers(&suite, &engine.registry, &engine.sandbox).await?;
        Ok(LoadedSuite { engine, suite, scorers: scorers.into(), database: None })
    }

    /// Its scorers, in the suite's order.
    pub fn scorers(&self) -> &[ReadyScorer] {
        &self.scorers
    }

    /// Stores the scores in this database file, which is created if it is missing; each call to
    /// [`score_batch`](LoadedSuite::score_batch) and each [`live`](LoadedSuite::live) scoring is a run there.
    #[must_use]
    pub fn store(self, database: impl Into<PathBuf>) -> LoadedSuite {
        LoadedSuite { database: Some(database.into()), ..self }
    }

    /// Scores these cases with all scorers, as many at the same time as there are jobs, and waits for all. An error of
    /// one scorer does not affect the others.
    ///
    /// A case without an id is named after its position, `case-1` for the first. If the scores are stored and an id
    /// occurs twice, it belongs to the first case, and the second is refused.
    ///
    /// # Errors
    /// If the database cannot store the scores. What was stored stays.
    pub async fn score_batch(
        &self,
        cases: impl IntoIterator<Item = Case>,
    ) -> Result<Batch, RunError> {
        let cases: Vec<Case> = cases.into_iter().collect();
        let gathered = Arc::new(Mutex::new(Gathering::of(&cases)));
        let id = fresh_id();
        if cases.is_empty() {
            return Ok(Batch { run: None, root: None, cases: Vec::new() });
        }
        let request = self
            .request(CaseQueue::of(cases).into(), id.clone())
            .on_bad_case(OnBadCase::Skip)
            .sink({
                let gathered = Arc::clone(&gathered);
                move |event: &Event| {
                    gathered.lock().unwrap_or_else(PoisonError::into_inner).take(event);
                    Ok(())
                }
            });
        let control = Arc::new(Control::default());
        let report = run(request, control).await?;
        if let Some(
            stopped @ (Stop::Broken { .. } | Stop::Incomplete { .. } | Stop::OutOfResources { .. }),
        ) = report.stopped
        {
            return Err(RunError::of_stop(stopped));
        }
        let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Batch {
            run: self.database.is_some().then_some(id),
            root: report.root,
            cases: std::mem::take(&mut gathered.cases),
        })
    }

    /// A run over a queue.
    pub(super) fn request(&self, cases: Arc<CaseQueue>, id: RunId) -> RunRequest {
        let scorers = Arc::clone(&self.scorers);
        let request = RunRequest::queued(self.suite.clone(), scorers, cases)
            .which(WhichRun::New(id))
            .jobs(self.engine.jobs);
        match &self.database {
            Some(database) => request.store(database),
            None => request,
        }
    }
}

/// The result of [`LoadedSuite::score_batch`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Batch {
    /// The run in which the scores are stored; `None` if they are not stored.
    pub run: Option<RunId>,
    /// One digest of everything that is stored of it.
    pub root: Option<Digest>,
    /// The cases in the order in which they were given.
    pub cases: Vec<CaseScores>,
}

/// A case and the answers of a suite's scorers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CaseScores {
    /// The case's own id.
    pub case_id: String,
    /// The answer of each scorer, by its name in the suite; `None` if it failed. A scorer that skips the case is
    /// missing.
    pub results: BTreeMap<ScorerId, Option<Answer>>,
    /// Why scorers failed.
    pub errors: BTreeMap<ScorerId, AnswerError>,
    /// Why no scorer got the case: its id is taken.
    pub refused: Option<String>,
}

impl CaseScores {
    /// The score of a scorer; `None` if it failed, does not apply, skips the case or does not exist.
    pub fn score(&self, scorer: &str) -> Option<f64> {
        let mut results = self.results.iter();
        let (_, answer) = results.find(|(id, _)| id.as_str() == scorer)?;
        answer.as_ref()?.score
    }
}

/// Collects the answers of a batch.
struct Gathering {
    /// In the order of their ordinals, because two of them may have the same id.
    cases: Vec<CaseScores>,
}

impl Gathering {
    fn of(cases: &[Case]) -> Gathering {
        let empty = |case: &Case| CaseScores {
            case_id: case.id().to_owned(),
            results: BTreeMap::new(),
            errors: BTreeMap::new(),
            refused: None,
        };
        Gathering { cases: cases.iter().map(empty).collect() }
    }

    /// The case with this ordinal.
    fn case(&mut self, ordinal: u64) -> Option<&mut CaseScores> {
        self.cases.get_mut(usize::try_from(ordinal).ok()?)
    }

    fn take(&mut self, event: &Event) {
        match event {
            Event::Case(case) => {
                if let Some(scores) = self.case(case.ordinal) {
                    scores.case_id.clone_from(&case.case_id);
                }
            }
            Event::BadCase(refused) => {
                if let Some(scores) = self.case(refused.ordinal) {
                    scores.refused = Some(refused.message.clone());
                }
            }
            Event::ScorerFinished(ended) | Event::ScorerFailed(ended) => {
                let row = &ended.row;
                let scores = self.case(ended.ordinal);
                let (Some(scores), Ok(scorer)) = (scores, ScorerId::new(&row.scorer_id)) else {
                    return;
                };
                match &row.answer.error {
                    None => drop(scores.results.insert(scorer, Some(row.answer.clone()))),
                    Some(error) => {
                        scores.errors.insert(scorer.clone(), error.clone());
                        scores.results.insert(scorer, None);
                    }
                }
            }
            _ => {}
        }
    }
}
