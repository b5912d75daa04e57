//! [`Image`]: a linked component with its exports, its fresh instances, and why one of them has no answer. Limits, time
//! and cost of a call are in `guest_call`.

use std::sync::Arc;

use wasmtime::{
    Store,
    component::{Component, ComponentExportIndex, Instance, InstancePre, Linker, TypedFunc},
};

use crate::contract::{
    SCORING_INTERFACE, ScorerError,
    bindings::{Scorer, ScorerIndices, wire},
};

use super::{core_call::CoreCall, state::State};

/// A linked component, and its exports.
#[derive(Clone)]
pub(super) struct Image {
    pre: InstancePre<State>,
    exports: ScorerIndices,
    score: ComponentExportIndex,
    core: Option<Arc<CoreCall>>,
}

/// The export `score`.
type ScoreExport<'a> =
    TypedFunc<(wire::ScorerInput<'a>,), (Result<wire::ScoreResult, wire::ScorerError>,)>;

impl Image {
    /// Links `component`.
    pub(super) fn new(linker: &Linker<State>, component: &Component) -> wasmtime::Result<Image> {
        let pre = linker.instantiate_pre(component)?;
        let exports = ScorerIndices::new(&pre)?;
        let scoring = component.get_export_index(None, SCORING_INTERFACE);
        let score = scoring.and_then(|scoring| component.get_export_index(Some(&scoring), "score"));
        let score = score.ok_or_else(|| wasmtime::format_err!("no exported function `score`"))?;
        Ok(Image { pre, exports, score, core: None })
    }

    /// The same, with a `score` that can also be called without the component.
    pub(super) fn with_core(self, core: Option<CoreCall>) -> Image {
        Image { core: core.map(Arc::new), ..self }
    }

    /// `score` without the component around it, if that is possible.
    pub(super) fn core(&self) -> Option<&CoreCall> {
        self.core.as_deref()
    }

    /// The component that it was linked from.
    pub(super) fn component(&self) -> &Component {
        self.pre.component()
    }

    /// Scores one case in a fresh instance, which is configured first if there is a configuration.
    pub(super) async fn score(
        &self,
        store: &mut Store<State>,
        config: Option<&str>,
        input: wire::ScorerInput<'_>,
    ) -> Result<wire::ScoreResult, Fault> {
        let instance = match config {
            Some(_) => self.start(store, config).await?.0,
            // The types of all exports were checked when the scorer described itself; each score checks only the type
            // of the export that it calls.
            None => self.pre.instantiate_async(&mut *store).await?,
        };
        let score: ScoreExport<'_> =
            instance.get_typed_func(&mut *store, self.score).map_err(Fault::Mismatch)?;
        let (answer,) = score.call_async(store, (input,)).await?;
        answer.map_err(|error| Fault::Scorer(error.into()))
    }

    /// Makes a fresh instance, and configures it if there is a configuration.
    pub(super) async fn start(
        &self,
        store: &mut Store<State>,
        config: Option<&str>,
    ) -> Result<(Instance, Scorer), Fault> {
        let instance = self.pre.instantiate_async(&mut *store).await?;
        let scorer = self.exports.load(&mut *store, &instance).map_err(Fault::Mismatch)?;
        if let Some(config) = config {
            let configured = scorer.scorebox_scorer_scoring().call_configure(store, config).await?;
            configured.map_err(Fault::Refused)?;
        }
        Ok((instance, scorer))
    }
}

/// Why a call has no answer.
pub(super) enum Fault {
    /// The call was interrupted by a trap, a limit, or a value that breaks the contract.
    Wasm(wasmtime::Error),
    /// An export does not have the contract's type; none of it ran.
    Mismatch(wasmtime::Error),
    /// `configure` refused the configuration.
    Refused(String),
    /// The scorer's own error.
    Scorer(ScorerError),
}

impl From<wasmtime::Error> for Fault {
    fn from(error: wasmtime::Error) -> Fault {
        Fault::Wasm(error)
    }
}
