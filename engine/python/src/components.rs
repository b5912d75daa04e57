//! The components of one suite: those that were loaded first, in whatever process and for whatever purpose, so that
//! rows of two scorers never have one name. Loads nothing.

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

/// The digests of a suite's components by the names of its scorers, as far as they are known. Locked for a moment by
/// threads that are attached to the interpreter, so no process is forked meanwhile; a process that was forked has them,
/// too.
#[derive(Debug, Default)]
pub(crate) struct Components(Mutex<BTreeMap<String, Digest>>);

impl Components {
    /// Refuses another component than is known of a scorer, and notes those of which none is.
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

    /// The same for scorers that were loaded.
    pub(crate) fn must_be_of(&self, py: Python<'_>, loaded: &[ReadyScorer]) -> PyResult<()> {
        self.must_be(py, loaded.iter().map(|ready| (ready.id.as_str(), ready.scorer.digest())))
    }

    /// All that can be known without loading, of the suite `plan`: what is there now counts where nothing was loaded
    /// yet.
    pub(crate) fn noted(&self, py: Python<'_>, plan: &Plan) -> PyResult<BTreeMap<String, Digest>> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let before = known();
        if plan.scorers.iter().any(|scorer| !before.contains_key(scorer.id.as_str())) {
            let is_missing = |scorer: &SuiteScorer| !before.contains_key(scorer.id.as_str());
            self.must_be(py, there(py, plan, is_missing))?;
        }
        Ok(known())
    }

    /// Refuses the suite `plan` if what is there now is another one than is known.
    pub(crate) fn must_be_there(&self, py: Python<'_>, plan: &Plan) -> PyResult<()> {
        self.must_be(py, there(py, plan, |_| true))
    }
}

/// The components that are there now, of those scorers that are `wanted`. What is not there has no digest, and is
/// refused when it is loaded.
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
