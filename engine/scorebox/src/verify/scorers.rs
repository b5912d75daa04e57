//! The scorers of stored rows, each loaded once. Scores nothing.

use std::{collections::HashMap, sync::Arc};

use crate::{
    sandbox::Sandbox,
    store::{RunRecord, ScoreRecord, ScorerRecord, Store, StoreError},
};

use super::rescore::Rescorer;

/// The scorers of the rows, each loaded once.
#[derive(Default)]
pub(super) struct Scorers {
    runs: HashMap<String, (RunRecord, Vec<ScorerRecord>)>,
    loaded: HashMap<(String, String), Arc<Rescorer>>,
}

impl Scorers {
    /// The scorer of a row.
    pub(super) async fn of(
        &mut self,
        store: &Store,
        record: &ScoreRecord,
        sandbox: &Sandbox,
    ) -> Result<Arc<Rescorer>, StoreError> {
        self.named(store, record.run_id.as_str(), &record.row.scorer_id, sandbox).await
    }

    /// The scorer of this name in a run.
    pub(super) async fn named(
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
        let run = self.runs.get(&name.0);
        let scorers = run.map_or(&[][..], |(_, scorers)| scorers);
        let seed = run.and_then(|(run, _)| run.spec.seed.as_deref());
        let spec = scorers.iter().find(|scorer| scorer.spec.scorer_id == name.1);
        let rescorer = match spec {
            Some(scorer) => Rescorer::load(store, &scorer.spec, scorers, seed, sandbox).await?,
            None => Rescorer::unusable("its scorer is not stored with the run".into()),
        };
        let rescorer = Arc::new(rescorer);
        self.loaded.insert(name, Arc::clone(&rescorer));
        Ok(rescorer)
    }
}
