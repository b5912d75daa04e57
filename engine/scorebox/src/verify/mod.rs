//! Proves scores: computes them again from what is stored, or from a receipt, and says what differs.
//! Changes nothing that is stored.
//!
//! - `finding`: verdicts, and what they leave unproved.
//! - `answer`: what a score said and cost, as it is stored and as it is computed; and the comparison.
//! - `rescore`: one score computed anew, with everything checked that it is made of.
//! - `receipt`: what is needed to compute one score again elsewhere.
//! - `receipt_answer`: the answer in it, which is a stored format.
//! - `sample`: which rows are looked at where not all are.
//! - `whole_run`: that no score is missing, that the scorers are those of the plan, and what scorers said of
//!   the run.
//! - `whole_root`: that a run is, to the last column, what its root says.
//! - here: all scores of a run.

mod answer;
mod finding;
mod receipt;
mod receipt_answer;
mod rescore;
mod sample;
mod whole_root;
mod whole_run;

use std::{collections::HashMap, sync::Arc};

use crate::{
    sandbox::Sandbox,
    store::{RunRecord, ScoreCursor, ScoreFilter, ScoreRecord, ScorerRecord, Store, StoreError},
};

pub use answer::Difference;
pub use finding::{Finding, Unproved, Verdict};
pub use receipt::{Receipt, ReceiptComponent, ReceiptError};
pub use receipt_answer::ReceiptAnswer;
pub use whole_root::verify_root;

use rescore::Rescorer;

/// Rows that are read at once.
const PAGE: usize = 64;
/// Bytes of cases that are held at once, beyond the first.
const CASE_BYTES: usize = 16 << 20;

/// Which rows of a run are verified.
#[derive(Clone, Debug)]
pub struct VerifyRequest {
    /// The rows.
    pub filter: ScoreFilter,
    /// How many of them, drawn at random; none: all.
    pub sample: Option<u64>,
    /// What the draw is made of: the same seed draws the same rows.
    pub seed: u64,
    /// Scores that are computed at once, at least 1.
    pub jobs: usize,
}

/// Computes the scores of a run again and hands over a finding for each, in the order of the rows, until
/// `take` answers false. Where all scores of a run or of one of its scorers are asked for, what is to
/// be said of the run as a whole follows.
///
/// # Errors
/// Where the run is not there, or the database cannot be read. Whatever is wrong with a score is a
/// finding, not an error.
pub async fn verify(
    store: &Store,
    request: &VerifyRequest,
    sandbox: &Sandbox,
    mut take: impl FnMut(Finding) -> bool,
) -> Result<(), StoreError> {
    let mut rows = Rows::new(store, request)?;
    let mut scorers = Scorers::default();
    loop {
        let mut group = Vec::new();
        let mut bytes = 0;
        while group.len() < request.jobs.max(1) * 8 && bytes <= CASE_BYTES {
            let Some(record) = rows.next()? else { break };
            let content = store.case_content(record.cursor.case())?;
            bytes += content.bytes();
            group.push((scorers.of(store, &record, sandbox).await?, record, content));
        }
        if group.is_empty() {
            break;
        }
        for finding in rescore::all(group, request.jobs).await {
            if !take(finding) {
                return Ok(());
            }
        }
    }
    if let Some(run) = request.whole_run() {
        let only = request.filter.scorer.as_deref();
        let findings = whole_run::findings(store, run, only, &mut scorers, sandbox).await?;
        // Whoever wants no more of them gets no more.
        let _ = findings.into_iter().all(take);
    }
    Ok(())
}

impl VerifyRequest {
    /// Whether all of the run is asked for, so that what can be said of it as a whole follows its scores.
    pub fn is_of_the_whole_run(&self) -> bool {
        self.whole_run().is_some() && self.filter.scorer.is_none()
    }

    /// The run, where all of it is asked for, or all of one scorer.
    fn whole_run(&self) -> Option<&str> {
        let run = self.filter.run.as_deref()?;
        let whole = ScoreFilter {
            run: self.filter.run.clone(),
            scorer: self.filter.scorer.clone(),
            ..ScoreFilter::default()
        };
        (self.sample.is_none() && self.filter == whole).then_some(run)
    }
}

/// The scorers of the rows, each loaded once.
#[derive(Default)]
struct Scorers {
    runs: HashMap<String, (RunRecord, Vec<ScorerRecord>)>,
    loaded: HashMap<(String, String), Arc<Rescorer>>,
}

impl Scorers {
    async fn of(
        &mut self,
        store: &Store,
        record: &ScoreRecord,
        sandbox: &Sandbox,
    ) -> Result<Arc<Rescorer>, StoreError> {
        self.named(store, record.run_id.as_str(), &record.row.scorer_id, sandbox).await
    }

    async fn named(
        &mut self,
        store: &Store,
        run: &str,
        scorer: &str,
        sandbox: &Sandbox,
    ) -> Result<Arc<Rescorer>, StoreError> {
        let name = (run.to_owned(), scorer.to_owned());
        if let Some(loaded) = self.loaded.get(&name) {
            return Ok(Arc::clone(loaded));
        }
        if !self.runs.contains_key(&name.0) {
            let run = store.run(&name.0)?;
            let scorers = store.scorers(run.key)?;
            self.runs.insert(name.0.clone(), (run, scorers));
        }
        let scorers = self.runs.get(&name.0).map_or(&[][..], |(_, scorers)| scorers);
        let spec = scorers.iter().find(|scorer| scorer.spec.scorer_id == name.1);
        let rescorer = match spec {
            Some(scorer) => Rescorer::load(store, &scorer.spec, sandbox).await?,
            None => Rescorer::unusable("its scorer is not stored with the run".into()),
        };
        let rescorer = Arc::new(rescorer);
        self.loaded.insert(name, Arc::clone(&rescorer));
        Ok(rescorer)
    }
}

/// The rows that are asked for, one at a time.
struct Rows<'a> {
    store: &'a Store,
    filter: &'a ScoreFilter,
    drawn: Option<std::vec::IntoIter<ScoreCursor>>,
    page: std::vec::IntoIter<ScoreRecord>,
    after: Option<ScoreCursor>,
}

impl<'a> Rows<'a> {
    fn new(store: &'a Store, request: &'a VerifyRequest) -> Result<Rows<'a>, StoreError> {
        let filter = &request.filter;
        let drawn = match request.sample {
            None => None,
            Some(count) => {
                let places = sample::draw(store.score_count(filter)?, count, request.seed);
                Some(store.cursors_at(filter, &places)?.into_iter())
            }
        };
        Ok(Rows { store, filter, drawn, page: Vec::new().into_iter(), after: None })
    }

    fn next(&mut self) -> Result<Option<ScoreRecord>, StoreError> {
        if let Some(drawn) = &mut self.drawn {
            return match drawn.next() {
                Some(cursor) => self.store.score_at(cursor),
                None => Ok(None),
            };
        }
        if self.page.len() == 0 {
            self.page = self.store.scores(self.filter, self.after, PAGE)?.into_iter();
        }
        let record = self.page.next();
        self.after = record.as_ref().map(|record| record.cursor).or(self.after);
        Ok(record)
    }
}
