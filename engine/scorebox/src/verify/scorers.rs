//! The scorers of stored rows, each loaded once. It scores nothing.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use crate::{
    sandbox::Sandbox,
    store::{RunRecord, ScoreRecord, ScorerRecord, Store, StoreError},
};

use super::{Verdict, rescore::Rescorer};

/// The scorers of the rows, each loaded once.
#[derive(Default)]
pub(super) struct Scorers {
    runs: HashMap<String, (RunRecord, Vec<ScorerRecord>)>,
    loaded: HashMap<(String, String), Arc<Rescorer>>,
}

impl Scorers {
    /// The scorer of a row, which must be one of the row's run: a scorer of another run may have the same name.
    pub(super) async fn of(
        &mut self,
        store: &Store,
        record: &ScoreRecord,
        sandbox: &Sandbox,
    ) -> Result<Arc<Rescorer>, StoreError> {
        let run = record.run_id.as_str();
        let (_, scorers) = self.run(store, run)?;
        if !scorers.iter().any(|scorer| scorer.key == record.cursor.scorer()) {
            let (stored, expected) = ("one of another run", "one of this run");
            let verdict = Verdict::different("scorer", stored.to_owned(), expected.to_owned());
            return Ok(Arc::new(Rescorer::new(Err(verdict))));
        }
        self.named(store, run, &record.row.scorer_id, sandbox).await
    }

    /// A run, and its scorers.
    fn run(
        &mut self,
        store: &Store,
        id: &str,
    ) -> Result<&(RunRecord, Vec<ScorerRecord>), StoreError> {
        Ok(match self.runs.entry(id.to_owned()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let run = store.run(id)?;
                let scorers = store.scorers(run.key)?;
                unknown.insert((run, scorers))
            }
        })
    }

    /// The scorer with this name in a run.
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
        let (run, scorers) = self.run(store, run)?;
        let seed = run.spec.seed.as_deref();
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
