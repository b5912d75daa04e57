//! [`LoadedScorer`] from a component's bytes: check the outside, compile, describe, configure,
//! freeze; or take all of that from the cache.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use wasmtime::component::{Component, ComponentExportIndex};

use crate::{
    advice::{Advice, Thing},
    component_bytes::ComponentBytes,
    contract::{SUMMARY_INTERFACE, ScorerInfo},
    digest::Digest,
    judge::{Asker, JudgeChoice, JudgeIdentity, Judges},
};

use super::{
    Anatomy, ErrorKind, Grant, Grants, Limits, Sandbox, ScoreError,
    cache::{Entry, KeptImage},
    code::{Code, Way},
    compile_limits::CompileBudget,
    config_check::check_config,
    config_schema,
    freeze::{self, Frozen},
    guest_call::{Configure, Describe, Guest},
    host::Shared,
    image::Image,
    parser_thread::on_a_deep_stack,
    result,
    scorer_config::ScorerConfig,
    script_config,
    source::Source,
};

/// Where every score of a scorer starts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is frozen, or it is not")]
pub enum Start {
    /// From the memory that `configure` left.
    Frozen,
    /// Without an image: `configure` runs in every sandbox.
    ConfigureEachTime {
        /// Why it could not be frozen.
        reason: String,
    },
}

/// A scorer that is compiled, described, configured and ready to score.
pub struct LoadedScorer {
    pub(super) sandbox: Sandbox,
    pub(super) image: Image,
    pub(super) configure_each_time: Option<String>,
    pub(super) info: ScorerInfo,
    pub(super) limits: Limits,
    /// The function `summarize`, if the scorer has it.
    pub(super) summarize: Option<ComponentExportIndex>,
    /// The grants that its imports need.
    pub(super) needs: Grants,
    /// Whether its clocks and random numbers must come from the case.
    pub(super) seeded: bool,
    /// Its access to a judge.
    pub(super) asker: Option<Asker>,
    anatomy: Anatomy,
    digest: Digest,
    config: ScorerConfig,
    start: Start,
    own_code: Option<String>,
    cached: bool,
    load_time: Duration,
}

impl fmt::Debug for LoadedScorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedScorer")
            .field("id", &self.info.id)
            .field("digest", &self.digest)
            .field("config", &self.config)
            .field("limits", &self.limits)
            .field("start", &self.start)
            .field("cached", &self.cached)
            .finish_non_exhaustive()
    }
}

impl LoadedScorer {
    /// What the scorer says about itself.
    pub fn info(&self) -> &ScorerInfo {
        &self.info
    }

    /// The digest of the component as it was given, before anything was frozen.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The outside of the component.
    pub fn anatomy(&self) -> &Anatomy {
        &self.anatomy
    }

    /// The configuration.
    pub fn config(&self) -> &ScorerConfig {
        &self.config
    }

    /// What one score may use.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether it also reports on a run as a whole.
    pub fn summarizes(&self) -> bool {
        self.summarize.is_some()
    }

    /// Whether it reads the files that a task left.
    pub fn reads_workspace(&self) -> bool {
        self.needs.contains(Grant::Workspace)
    }

    /// Whether it asks a judge.
    pub fn asks_judge(&self) -> bool {
        self.needs.contains(Grant::Judge)
    }

    /// This scorer, with access to the judge of its sandbox that `choice` names. Without it, a scorer that asks has no
    /// score.
    ///
    /// # Errors
    /// There is no such judge.
    pub fn with_judge(self, choice: JudgeChoice) -> Result<LoadedScorer, ScoreError> {
        let judges = self.sandbox.capabilities().judges();
        let is_there = |name: &&str| judges.names().any(|known| known == *name);
        let missing = choice.names().into_iter().find(|name| !is_there(name));
        let name = missing.unwrap_or(choice.name()).to_owned();
        let Some(asker) = judges.asker(choice) else {
            let names: Vec<String> = judges.names().map(str::to_owned).collect();
            let message = format!("the scorer asks the judge `{name}`, which is not configured");
            return Err(ScoreError::new(ErrorKind::MissingGrant, message)
                .with(Advice::Choose { what: Thing::Judge, names }));
        };
        Ok(LoadedScorer { asker: Some(asker), ..self })
    }

    /// This scorer, with access to a judge like that one, of which it has only the answers that it is given with a case.
    /// `None` if there cannot be such a judge.
    pub fn with_recorded_judge(self, judge: &JudgeIdentity) -> Option<LoadedScorer> {
        Some(LoadedScorer { asker: Some(judge.of_recordings()?), ..self })
    }

    /// The judges of its sandbox.
    pub fn judges(&self) -> &Judges {
        self.sandbox.capabilities().judges()
    }

    /// What decides the answers of the judge that it asks; `None` if it has access to none.
    pub fn judge(&self) -> Option<&JudgeIdentity> {
        self.asker.as_ref().map(Asker::identity)
    }

    /// The grants that its imports need, and for which its sandbox has no capability: it loads and scores, and is
    /// refused what it asks for.
    pub fn lacks(&self) -> impl Iterator<Item = Grant> {
        let capabilities = self.sandbox.capabilities();
        self.needs.iter().filter(|grant| !capabilities.has(*grant))
    }

    /// Whether a score may wait: for files, or in a host call.
    pub fn can_wait(&self) -> bool {
        // WASI's clocks and streams can be waited for, and so can granted imports.
        self.seeded || self.needs != Grants::NONE
    }

    /// Where every score starts.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// Why compiled code is kept for this configuration alone, so that the next one is compiled again. `None`:
    /// one compiled code serves all configurations.
    pub fn own_code(&self) -> Option<&str> {
        self.own_code.as_deref()
    }

    /// Whether the compiled code came from the cache.
    pub fn cached(&self) -> bool {
        self.cached
    }

    /// How long loading took: compiling, configuring and freezing, or reading the cache.
    pub fn load_time(&self) -> Duration {
        self.load_time
    }
}

impl Sandbox {
    /// Makes a scorer of a component. What the cache has of it with this configuration is taken from there, and its bytes are not asked for.
    ///
    /// # Errors
    /// `failed` in a process that was forked from the one that made the sandbox, `invalid-component`,
    /// `missing-grant`, `invalid-config`, `invalid-script`, and whatever `describe` and
    /// `configure` run into: they have the limits of one score, and at least the
    /// default ones.
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

    /// What a component says about itself, without a configuration.
    ///
    /// # Errors
    /// As [`Sandbox::load`], but for `invalid-config`, and for what is wrong with a script beside its schema.
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

    /// The code that an image runs with, which other components may have as well.
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
        // A scorer whose language has no schema at run time, such as a script, checks no keys itself.
        check_config(&info, config)?;
        let config = script_config::given(config, &info, anatomy)?;
        let image = self.configure(source, code, &config, limits, budget).await;
        let image = image.map_err(|error| about_the_script(error, anatomy))?;
        Ok(Entry { outside: source.outside.clone(), info, image })
    }

    /// What every score starts from, once the scorer itself has taken its configuration.
    async fn configure(
        &self,
        source: &Source<'_>,
        code: &Code,
        config: &ScorerConfig,
        limits: &Limits,
        budget: &CompileBudget,
    ) -> Result<KeptImage, ScoreError> {
        let frozen = match code {
            // They are in wasmtime's tables, which no image has.
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

    /// What the cache has of a scorer, and whether nothing had to be compiled for it. `None` if it does not fit the code: what is wrong
    /// with the cache costs time, never a score.
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

    /// Freezes on a separate thread: wizer asserts what it expects of a component, and a failed assertion
    /// must cost the frozen start, not the process.
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
            Some(frozen) => frozen,
            None => Ok(Frozen::Impossible("its structure is not supported".into())),
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

/// A script is evaluated by `configure`, and has no other words for what is wrong with it; its configuration was
/// checked before.
fn about_the_script(error: ScoreError, anatomy: &Anatomy) -> ScoreError {
    match error.kind {
        ErrorKind::InvalidConfig if anatomy.script.is_some() => {
            ScoreError { kind: ErrorKind::InvalidScript, ..error }
        }
        _ => error,
    }
}

/// The place of `summarize` among the exports, if it is exported.
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
