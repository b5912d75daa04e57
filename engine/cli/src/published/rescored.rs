//! How the scores of a stored run change with another component: it computes a sample of them again. It stores nothing.

use scorebox::{
    component_bytes::ComponentBytes,
    digest::Digest,
    row::{Answer, Status},
    sandbox::Sandbox,
    store::{ScoreFilter, Store},
    verify::{Tried, VerifyRequest, try_component},
};

use crate::{failure::Failure, report, waiting::Waiting};

/// The most runs that are searched, the newest first.
const MAX_RUNS: usize = 100;
/// The most changed scores that are shown individually.
const SHOWN: usize = 5;

/// The scores of a component in a run.
#[derive(Clone, Debug)]
pub(crate) struct ScoredBefore {
    run: String,
    scorer: String,
}

/// The outcome of the sample.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rescored {
    run: String,
    /// The number of scores in the run.
    total: u64,
    compared: u64,
    changed: u64,
    errors: u64,
    not_compared: u64,
    /// Why the first of these was not.
    reason: Option<String>,
    /// The first changes: which case, from what, to what.
    shown: Vec<String>,
}

impl ScoredBefore {
    /// The newest run in which the component scored, as the scorer `name` if it did so under that name.
    pub(crate) fn find(
        store: &Store,
        component: Digest,
        name: &str,
    ) -> Result<Option<ScoredBefore>, Failure> {
        for run in store.runs(MAX_RUNS)? {
            let scorers = store.scorers(run.key)?;
            let of_it = scorers.iter().filter(|it| it.spec.component_digest == component);
            let scorer = of_it.min_by_key(|scorer| scorer.spec.scorer_id != name);
            if let Some(scorer) = scorer {
                let (run, scorer) = (run.spec.id.to_string(), scorer.spec.scorer_id.clone());
                return Ok(Some(ScoredBefore { run, scorer }));
            }
        }
        Ok(None)
    }

    /// Makes `component` score a sample of `most` of its cases.
    pub(crate) async fn rescored(
        &self,
        store: &Store,
        component: &ComponentBytes,
        most: u64,
        sandbox: &Sandbox,
    ) -> Result<Rescored, Failure> {
        let filter = ScoreFilter::of_run(self.run.clone()).with_scorer(Some(self.scorer.clone()));
        let total = store.score_count(&filter)?;
        let request = VerifyRequest::new(filter).sample(most);
        let mut rescored = Rescored { run: self.run.clone(), total, ..Rescored::default() };
        let (waiting, mut done) =
            (Waiting::of("scoring cases of the last run again", total.min(most)), 0);
        try_component(store, &request, component, sandbox, |tried| {
            rescored.add(&tried);
            done += 1;
            waiting.at(done);
            true
        })
        .await?;
        Ok(rescored)
    }
}

impl Rescored {
    fn add(&mut self, tried: &Tried) {
        let computed = match &tried.computed {
            Ok(computed) => computed,
            Err(reason) => {
                self.not_compared += 1;
                self.reason.get_or_insert_with(|| reason.clone());
                return;
            }
        };
        self.compared += 1;
        self.errors += u64::from(computed.status == Status::Error);
        if tried.is_same() == Some(false) {
            self.changed += 1;
            if self.shown.len() < SHOWN {
                let (id, old, new) = (&tried.score_id, outcome(&tried.stored), outcome(computed));
                let case = report::case_name(&id.case_id, id.iteration, id.attempt);
                self.shown.push(format!("{}: {old} → {new}", report::one_line(&case, 60)));
            }
        }
    }

    /// The result for people.
    pub(crate) fn words(&self) -> String {
        let compared = report::count(self.compared);
        let total = report::counted(self.total, "score", "scores");
        let changed = match (self.compared, self.changed) {
            // Nothing was compared.
            (0, _) => String::new(),
            (_, 0) => ": none changes".to_owned(),
            (_, 1) => ": 1 changes".to_owned(),
            (_, changed) => format!(": {} change", report::count(changed)),
        };
        let errors = match self.errors {
            0 => String::new(),
            errors => format!("; {} now", report::counted(errors, "error", "errors")),
        };
        let mut lines = vec![format!(
            "{compared} of {total} of run {} computed again{changed}{errors}",
            self.run
        )];
        if let Some(reason) = &self.reason {
            lines.push(format!(
                "{} not computed: {}",
                report::count(self.not_compared),
                report::one_line(reason, 200)
            ));
        }
        lines.extend(self.shown.iter().cloned());
        if self.changed > self.shown.len() as u64 {
            lines.push("…".to_owned());
        }
        lines.join("\n")
    }
}

/// The score, or why there is none.
fn outcome(answer: &Answer) -> String {
    match (answer.status, answer.score, &answer.error) {
        (_, Some(score), _) => report::score(score),
        (_, None, Some(error)) => report::one_line(&format!("error: {}", error.message), 80),
        (status, None, None) => status.as_str().replace('-', " "),
    }
}
