//! Provides code: code that was kept, code from the cache, or newly compiled code, each once however many loads want
//! it. What is kept on disk, and how, is decided in `cache`; where it is compiled is decided in `compile`.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use wasmtime::component::Component;

use crate::{component_bytes::ComponentBytes, digest::Digest};

use super::{
    Sandbox,
    cache::Cache,
    code::{Code, SplitCode, Way},
    compile_limits::{CompileBudget, CompileError},
    kept_code::{Found, Refused},
};

/// A component whose code is wanted.
pub(super) struct Wanted<'a> {
    pub(super) component: &'a ComponentBytes,
    pub(super) way: Way,
    /// The key of the component's own code.
    pub(super) key: Digest,
    /// The key of the code that is shared by all components that differ only in their data, if they can be split.
    pub(super) shared_key: Option<Digest>,
}

impl Sandbox {
    /// The code of a component that is the same for all configurations, and whether it had to be compiled.
    pub(super) async fn code(
        &self,
        wanted: &Wanted<'_>,
        cache: Option<&Cache>,
        budget: &CompileBudget,
    ) -> Result<(Arc<Code>, bool), CompileError> {
        let (Found { of, code }, compiled) = self.any_code(wanted, cache, budget).await?;
        if of == wanted.component.digest() {
            return Ok((code, compiled));
        }
        // This code belongs to a component with other data. If it is not separate from the data, this component needs
        // its own code.
        let (beside, cache) = match &*code {
            Code::Split(code) => (Some(&**code), None),
            Code::Whole { .. } => (None, cache),
        };
        let (found, compiled) = self.own(wanted, beside, cache, budget).await?;
        Ok((found.code, compiled))
    }

    /// The code for running with the data of a component; it may come from another component.
    pub(super) async fn code_without_data(
        &self,
        wanted: &Wanted<'_>,
        cache: Option<&Cache>,
        budget: &CompileBudget,
    ) -> Result<(Arc<Code>, bool), CompileError> {
        let (found, compiled) = self.any_code(wanted, cache, budget).await?;
        match &*found.code {
            Code::Whole { .. } if found.of != wanted.component.digest() => {
                self.code(wanted, cache, budget).await
            }
            _ => Ok((found.code, compiled)),
        }
    }

    /// The code of a component, or of another component that may share it.
    async fn any_code(
        &self,
        wanted: &Wanted<'_>,
        cache: Option<&Cache>,
        budget: &CompileBudget,
    ) -> Result<(Found, bool), CompileError> {
        let key = wanted.shared_key.unwrap_or(wanted.key);
        let (found, compiled) = self.found(key, wanted, None, cache, budget).await?;
        match found {
            Ok(found) => Ok((found, compiled)),
            // The other component may not compile because of its data.
            Err(refused) if refused.of != wanted.component.digest() => {
                self.own(wanted, None, cache, budget).await
            }
            Err(refused) => Err(CompileError::OfTheComponent(refused.error)),
        }
    }

    /// The code of exactly this component.
    async fn own(
        &self,
        wanted: &Wanted<'_>,
        beside: Option<&SplitCode>,
        cache: Option<&Cache>,
        budget: &CompileBudget,
    ) -> Result<(Found, bool), CompileError> {
        let own = Wanted { shared_key: None, ..*wanted };
        let (found, compiled) = self.found(wanted.key, &own, beside, cache, budget).await?;
        let found = found.map_err(|refused| CompileError::OfTheComponent(refused.error))?;
        Ok((found, compiled))
    }

    /// The code under `key`, if it was kept, or from the cache, or compiled `beside` existing code. Loads that want the
    /// same code meanwhile wait for it.
    async fn found(
        &self,
        key: Digest,
        wanted: &Wanted<'_>,
        beside: Option<&SplitCode>,
        cache: Option<&Cache>,
        budget: &CompileBudget,
    ) -> Result<(Result<Found, Refused>, bool), CompileError> {
        let compiled = AtomicBool::new(false);
        let slot = self.shared().kept.slot(key);
        let found = slot.get_or_try_init(|| async {
            if let Some(found) = cache.and_then(|cache| self.cached(wanted, cache)) {
                return Ok(Ok(found));
            }
            compiled.store(true, Ordering::Relaxed);
            let Wanted { component, way, .. } = *wanted;
            let bytes =
                component.bytes().map_err(|damaged| CompileError::OfTheMachine(damaged.into()))?;
            match self.compile(bytes, way, beside, budget).await {
                Ok((code, bytes)) => {
                    if let Some(cache) = cache {
                        let shared = wanted.shared_key.filter(|_| matches!(code, Code::Split(_)));
                        cache.put_code(shared.unwrap_or(wanted.key), &bytes);
                    }
                    Ok(Ok(Found { of: component.digest(), code: Arc::new(code) }))
                }
                // It would not compile for the next load either.
                Err(CompileError::OfTheComponent(error)) => {
                    Ok(Err(Refused { of: component.digest(), error }))
                }
                Err(error) => Err(error),
            }
        });
        let found = found.await?.clone();
        Ok((found, compiled.into_inner()))
    }

    /// The code in the cache: shared code, or the component's own.
    fn cached(&self, wanted: &Wanted<'_>, cache: &Cache) -> Option<Found> {
        let code = |key| cache.get_code(&self.shared().engine, key);
        if let Some(Code::Split(code)) = wanted.shared_key.and_then(code) {
            return Some(Found { of: code.of, code: Arc::new(Code::Split(code)) });
        }
        let code = code(wanted.key)?;
        Some(Found { of: wanted.component.digest(), code: Arc::new(code) })
    }

    /// The code of a component that is not split, which is the same for all configurations.
    pub(super) async fn whole_code(
        &self,
        component: Vec<u8>,
        budget: &CompileBudget,
    ) -> Result<Component, CompileError> {
        let component = &ComponentBytes::new(component);
        let (key, way) = (component.digest(), Way::Whole);
        let wanted = Wanted { component, way, key, shared_key: None };
        let (code, _) = self.code(&wanted, None, budget).await?;
        Ok(code.component().clone())
    }
}
