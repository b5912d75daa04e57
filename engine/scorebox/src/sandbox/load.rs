//! Makes a [`LoadedScorer`] from a component's bytes: check the outside, compile, describe, configure, freeze; or takes
//! all of that from the cache.

use std::{sync::Arc, time::Instant};

use wasmtime::component::{Component, ComponentExportIndex};

use crate::{
    component_bytes::ComponentBytes,
    contract::{SUMMARY_INTERFACE, ScorerInfo},
};

use super::{
    Anatomy, ErrorKind, Grants, Limits, LoadedScorer, Sandbox, ScoreError, Start,
    cache::{Entry, KeptImage},
    code::{Code, Way},
    compile_limits::{CompileBudget, no_thread},
    config_check::check_config,
    config_schema,
    core_call::Trust,
    freeze::{self, Frozen},
    guest_call::{Configure, Describe, Guest},
    host::Shared,
    image::Image,
    parser_thread::{Undone, on_a_deep_stack},
    result,
    scorer_config::ScorerConfig,
    script_config,
    source::Source,
};

impl Sandbox {
    /// Makes a scorer from a component. If the cache has it with this configuration, the component's bytes are not
    /// requested.
    ///
    /// # Errors
    /// `failed` in a process that was forked from the one that made the sandbox, `invalid-component`, `missing-grant`,
    /// `invalid-config`, `invalid-script`, and any error of `describe` and `configure`: they have the limits of one
    /// score, but at least the default ones.
    pub async fn load(
        &self,
        component: &ComponentBytes,
        config: &ScorerConfig,
        limits: &Limits,
        grants: Grants,
    ) -> Result<LoadedScorer, ScoreError> {
        self.must_be_of_this_process()?;
        let started = Instant::now();
        let Shared { cache, engine, admission, .. } = self.shared();
        let key = self.image_key(component.digest(), config.as_str(), &limits.of_loading());
        let kept = cache.as_ref().and_then(|cache| cache.get(engine, key));
        let known = kept.as_ref().map(|entry| entry.outside.clone());
        let source = self.source(component, known, grants)?;
        admission.must_fit(limits)?;
        let budget = self.compile_budget();
        let begun = match kept {
            Some(entry) => self.begin_kept(entry, &source, &budget).await?,
            None => None,
        };
        let (begin, cached) = match begun {
            Some(begun) => begun,
            None => {
                let (code, _) = self.code_of(&source, &budget).await?;
                let limits = limits.of_loading();
                let entry = self.prepare(&source, &code, config, &limits, &budget).await?;
                if let Some(cache) = cache {
                    cache.put(key, &entry);
                }
                (self.begin(entry, Some(&code))?, false)
            }
        };
        let Begin { info, image, start, own_code } = begin;
        let anatomy = source.outside.anatomy;
        Ok(LoadedScorer {
            summarize: summarize_of(image.component())?,
            image,
            trust: Trust::default(),
            needs: anatomy.grants(),
            seeded: anatomy.imports_wasi(),
            configure_each_time: match &start {
                Start::Frozen => None,
                Start::ConfigureEachTime { .. } => {
                    Some(script_config::given(config, &info, &anatomy)?.as_str().to_owned())
                }
            },
            sandbox: self.clone(),
            info,
            limits: limits.clone(),
            asker: None,
            anatomy,
            digest: component.digest(),
            config: config.clone(),
            start,
            own_code,
            cached,
            load_time: started.elapsed(),
        })
    }

    /// What a component reports about itself, without a configuration.
    ///
    /// # Errors
    /// As [`Sandbox::load`], except `invalid-config`, and mistakes in a script other than in its schema.
    pub async fn describe(
        &self,
        component: &ComponentBytes,
        limits: &Limits,
        grants: Grants,
    ) -> Result<ScorerInfo, ScoreError> {
        self.must_be_of_this_process()?;
        // This text is not a configuration, so no loaded scorer has the key.
        let limits = limits.of_loading();
        let key = self.image_key(component.digest(), "describe", &limits);
        let cache = self.shared().cache.as_ref();
        let (info, known) = cache.and_then(|cache| cache.get_info(key)).unzip();
        let source = self.source(component, known, grants)?;
        if let Some(info) = info {
            return Ok(info);
        }
        let (code, _) = self.code_of(&source, &self.compile_budget()).await?;
        let anatomy = &source.outside.anatomy;
        let info = self.call_describe(&self.unconfigured(&code)?, anatomy, &limits).await?;
        if let Some(cache) = cache {
            cache.put_info(key, &info, &source.outside);
        }
        Ok(info)
    }

    /// The code that all configurations of a component share, and whether it was compiled for this load.
    async fn code_of(
        &self,
        source: &Source<'_>,
        budget: &CompileBudget,
    ) -> Result<(Arc<Code>, bool), ScoreError> {
        let cache = self.shared().cache.as_ref();
        Ok(self.code(&self.wanted(source), cache, budget).await?)
    }

    /// The code that an image runs with, which other components may share.
    async fn code_of_image(
        &self,
        source: &Source<'_>,
        budget: &CompileBudget,
    ) -> Result<(Arc<Code>, bool), ScoreError> {
        let cache = self.shared().cache.as_ref();
        Ok(self.code_without_data(&self.wanted(source), cache, budget).await?)
    }

    /// The component in its initial state, without a configuration.
    fn unconfigured(&self, code: &Code) -> Result<Image, ScoreError> {
        match code {
            Code::Split(code) => self.link_split(code, &code.first),
            Code::Whole { component, .. } => self.link(component),
        }
    }

    async fn prepare(
        &self,
        source: &Source<'_>,
        code: &Code,
        config: &ScorerConfig,
        limits: &Limits,
        budget: &CompileBudget,
    ) -> Result<Entry, ScoreError> {
        let anatomy = &source.outside.anatomy;
        let info = self.call_describe(&self.unconfigured(code)?, anatomy, limits).await?;
        // A scorer whose language has no schema at run time, such as a script, does not check keys itself.
        check_config(&info, config)?;
        let config = script_config::given(config, &info, anatomy)?;
        let image = self.configure(source, code, &config, limits, budget).await;
        let image = image.map_err(|error| about_the_script(error, anatomy))?;
        Ok(Entry { outside: source.outside.clone(), info, image })
    }

    /// What every score starts from, after the scorer has taken its configuration.
    async fn configure(
        &self,
        source: &Source<'_>,
        code: &Code,
        config: &ScorerConfig,
        limits: &Limits,
        budget: &CompileBudget,
    ) -> Result<KeptImage, ScoreError> {
        let frozen = match code {
            // Handles are in wasmtime's tables, which no image contains.
            _ if source.outside.anatomy.makes_handles => {
                Frozen::Impossible("the component makes handles of resources of its own".to_owned())
            }
            Code::Split(code) => {
                match freeze::freeze_state(self, code, config.as_str(), limits).await? {
                    Frozen::Image(data) => Frozen::Image(KeptImage::Data(data)),
                    Frozen::Impossible(reason) => Frozen::Impossible(reason),
                }
            }
            Code::Whole { reason, .. } => {
                match self.freeze_apart(source.component.bytes()?, config, limits, budget).await? {
                    Frozen::Image(image) => {
                        let (code, _) = self.compile(&image, Way::Whole, None, budget).await?;
                        let component = code.component().clone();
                        Frozen::Image(KeptImage::Component { component, reason: reason.clone() })
                    }
                    Frozen::Impossible(reason) => Frozen::Impossible(reason),
                }
            }
        };
        Ok(match frozen {
            Frozen::Image(image) => image,
            Frozen::Impossible(reason) => {
                let image = self.unconfigured(code)?;
                let mut guest = Guest::admit(self.shared(), limits).await;
                let call = Configure { image: &image, config: config.as_str() };
                guest.ask(call, Ok).await?;
                KeptImage::Unfrozen { reason }
            }
        })
    }

    /// Starts with what the cache has of a scorer; also returns whether nothing had to be compiled for it. `None` if it
    /// does not fit the code: a problem with the cache costs time, but never a score.
    async fn begin_kept(
        &self,
        entry: Entry,
        source: &Source<'_>,
        budget: &CompileBudget,
    ) -> Result<Option<(Begin, bool)>, ScoreError> {
        let (code, compiled) = match entry.image {
            KeptImage::Component { .. } => (None, false),
            KeptImage::Data(_) => {
                let (code, compiled) = self.code_of_image(source, budget).await?;
                (Some(code), compiled)
            }
            KeptImage::Unfrozen { .. } => {
                let (code, compiled) = self.code_of(source, budget).await?;
                (Some(code), compiled)
            }
        };
        Ok(self.begin(entry, code.as_deref()).ok().map(|begin| (begin, !compiled)))
    }

    /// Links what the cache keeps of a scorer.
    fn begin(&self, entry: Entry, code: Option<&Code>) -> Result<Begin, ScoreError> {
        let Entry { info, image: kept, .. } = entry;
        let own_code = match &kept {
            KeptImage::Component { reason, .. } => reason.clone(),
            KeptImage::Data(_) | KeptImage::Unfrozen { .. } => None,
        };
        let image = match (&kept, code) {
            (KeptImage::Component { component, .. }, _) => self.link(component),
            (KeptImage::Data(data), Some(Code::Split(code))) => self.link_split(code, data),
            (KeptImage::Unfrozen { .. }, Some(code)) => self.unconfigured(code),
            (KeptImage::Data(_), Some(Code::Whole { .. })) | (_, None) => {
                return Err(invalid("the cache has an image without its code".into()));
            }
        };
        Ok(Begin { info, image: image?, start: start_of(kept), own_code })
    }

    /// Freezes on a separate thread: wizer asserts what it expects of a component, and a failed assertion must only
    /// prevent the frozen start, and not end the process.
    async fn freeze_apart(
        &self,
        bytes: &[u8],
        config: &ScorerConfig,
        limits: &Limits,
        budget: &CompileBudget,
    ) -> Result<Frozen<Vec<u8>>, ScoreError> {
        let (sandbox, bytes, config, limits, budget) =
            (self.clone(), bytes.to_vec(), config.clone(), limits.clone(), budget.clone());
        let runtime = tokio::runtime::Handle::current();
        let frozen = on_a_deep_stack(move || {
            runtime.block_on(freeze::freeze_whole(
                &sandbox,
                &bytes,
                config.as_str(),
                &limits,
                &budget,
            ))
        });
        match frozen.await {
            Ok(frozen) => frozen,
            Err(Undone::Panicked) => {
                Ok(Frozen::Impossible("its structure is not supported".into()))
            }
            // A score must not use different fuel because this machine is short of something.
            Err(Undone::NotBegun(error)) => Err(no_thread(&error.to_string()).into()),
        }
    }

    async fn call_describe(
        &self,
        image: &Image,
        anatomy: &Anatomy,
        limits: &Limits,
    ) -> Result<ScorerInfo, ScoreError> {
        let mut guest = Guest::admit(self.shared(), limits).await;
        let info = guest.ask(Describe(image), result::check_info).await?;
        config_schema::check(&info, anatomy)?;
        Ok(info)
    }
}

/// What every score starts from.
struct Begin {
    info: ScorerInfo,
    image: Image,
    start: Start,
    own_code: Option<String>,
}

fn start_of(image: KeptImage) -> Start {
    match image {
        KeptImage::Data(_) | KeptImage::Component { .. } => Start::Frozen,
        KeptImage::Unfrozen { reason } => Start::ConfigureEachTime { reason },
    }
}

/// Reports errors as those of the script: `configure` evaluates it, and can only report a wrong configuration, which
/// was checked before.
fn about_the_script(error: ScoreError, anatomy: &Anatomy) -> ScoreError {
    match error.kind {
        ErrorKind::InvalidConfig if anatomy.script.is_some() => {
            ScoreError { kind: ErrorKind::InvalidScript, ..error }
        }
        _ => error,
    }
}

/// The index of the export `summarize`, if the component has it.
fn summarize_of(component: &Component) -> Result<Option<ComponentExportIndex>, ScoreError> {
    let Some(interface) = component.get_export_index(None, SUMMARY_INTERFACE) else {
        return Ok(None);
    };
    let function = component.get_export_index(Some(&interface), "summarize");
    function.map(Some).ok_or_else(|| {
        invalid(format!("the component exports `{SUMMARY_INTERFACE}` without `summarize`"))
    })
}

fn invalid(message: String) -> ScoreError {
    ScoreError::new(ErrorKind::InvalidComponent, message)
}

#[cfg(all(test, feature = "builtins"))]
mod tests;
