//! The components of a suite, as they were first loaded, in whichever process and for whichever purpose: so the rows of
//! two scorers never share one name. Loads nothing.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use pyo3::prelude::*;
use scorebox::{
    digest::Digest,
    registry::{Reference, Registry},
    run::ReadyScorer,
    suite::{Suite as Plan, SuiteScorer},
};

use crate::error::{self, Kind};

/// The digests of a suite's components by the names of its scorers, as far as they are known. Threads lock it only
/// briefly while they are attached to the interpreter, so no process is forked meanwhile; a forked process inherits the
/// digests.
#[derive(Debug, Default)]
pub(crate) struct Components(Mutex<BTreeMap<String, Digest>>);

impl Components {
    /// Refuses a component that differs from the one known for its scorer, and records those of scorers without one.
    pub(crate) fn must_be<'a>(
        &self,
        py: Python<'_>,
        now: impl IntoIterator<Item = (&'a str, Digest)>,
    ) -> PyResult<()> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = known.clone();
        for (scorer, digest) in now {
            if *all.entry(scorer.to_owned()).or_insert(digest) != digest {
                drop(known);
                return Err(changed(py, scorer));
            }
        }
        *known = all;
        Ok(())
    }

    /// The same for loaded scorers.
    pub(crate) fn must_be_of(&self, py: Python<'_>, loaded: &[ReadyScorer]) -> PyResult<()> {
        self.must_be(py, loaded.iter().map(|ready| (ready.id.as_str(), ready.scorer.digest())))
    }

    /// All digests of the suite `plan` that can be known without loading: for a scorer that was not loaded yet, the
    /// component that is there now counts.
    pub(crate) fn noted(&self, py: Python<'_>, plan: &Plan) -> PyResult<BTreeMap<String, Digest>> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let before = known();
        if plan.scorers.iter().any(|scorer| !before.contains_key(scorer.id.as_str())) {
            let is_missing = |scorer: &SuiteScorer| !before.contains_key(scorer.id.as_str());
            self.must_be(py, there(py, plan, is_missing))?;
        }
        Ok(known())
    }

    /// Refuses the suite `plan` if a component that is there now differs from the known one.
    pub(crate) fn must_be_there(&self, py: Python<'_>, plan: &Plan) -> PyResult<()> {
        self.must_be(py, there(py, plan, |_| true))
    }
}

/// The components that are there now, of the scorers that are `wanted`. A missing component has no digest; loading it
/// reports the error.
fn there<'p>(
    py: Python<'_>,
    plan: &'p Plan,
    wanted: impl Fn(&SuiteScorer) -> bool + Send + Sync,
) -> Vec<(&'p str, Digest)> {
    let Ok(registry) = scorebox_cli::registry_of(&plan.scorers) else { return Vec::new() };
    py.detach(|| {
        let wanted = plan.scorers.iter().filter(|scorer| wanted(scorer));
        wanted.filter_map(|it| Some((it.id.as_str(), digest_of(it, &registry)?))).collect()
    })
}

fn digest_of(scorer: &SuiteScorer, registry: &Registry) -> Option<Digest> {
    match (&scorer.brought, &scorer.uses) {
        (Some(brought), _) => Some(brought.source.component.digest()),
        (None, Reference::Name(name)) => Some(registry.listing(name).ok()??.digest),
        (None, uses) => Some(registry.resolve(uses).ok()?.component.digest()),
    }
}

fn changed(py: Python<'_>, scorer: &str) -> PyErr {
    let message = format!(
        "the scorer changed since it was loaded: the component of `{scorer}` has another digest"
    );
    let advice = "make the suite again, from what its files are now";
    error::advised(py, Kind::Changed, message, Some(advice.to_owned()))
}
