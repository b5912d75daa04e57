//! A script in the interpreter: evaluated once, then called for each score.

use std::rc::Rc;

use rquickjs::{
    CatchResultExt as _, Context, Ctx, Function, Module, Persistent, Runtime, Value,
    loader::{ImportAttributes, Loader, Resolver},
    module::Declared,
};

use crate::{
    answer, case,
    complaint::{Complaint, throw_at},
    console,
    contract::{
        summary::Scored,
        types::{ScoreResult, ScorerError, ScorerInfo, ScorerInput},
    },
    files::Files,
    info,
    memory::{self, Remembering},
    promises::{self, settled},
    text, thrown,
    type_name::type_name,
};

/// How many bytes of stack a script may use. Calls use more of the host's stack, which is not counted here, than of
/// this one. With this size, this stack ends first in most recursions, with an error that names the line.
pub(crate) const STACK_BYTES: usize = 112 << 10;

/// Globals that a script has in addition to the language: an error that blames the case, and conversions of promises,
/// maps and sets to JSON that fail, because JSON would have `{}` in place of them.
const PRELUDE: &str = "\
globalThis.InvalidInput = class InvalidInput extends Error {};
InvalidInput.prototype.name = 'InvalidInput';
Object.defineProperty(Promise.prototype, 'toJSON', { configurable: true, writable: true, value() {
  throw new TypeError('it has a promise that is not awaited');
} });
for (const [kind, instead] of [[Map, 'Object.fromEntries(map)'], [Set, '[...set]']]) {
  Object.defineProperty(kind.prototype, 'toJSON', { configurable: true, writable: true, value() {
    throw new TypeError(`it has a ${kind.name}, which JSON cannot say; write ${instead}`);
  } });
}
";

/// A script that was evaluated.
pub(crate) struct Script {
    /// What it says about itself.
    pub(crate) info: ScorerInfo,
    files: Rc<Files>,
    context: Context,
    score: Persistent<Function<'static>>,
    summarize: Option<Persistent<Function<'static>>>,
    config: Option<Persistent<Value<'static>>>,
}

impl Script {
    /// Evaluates the script; the error names file, line and column, and shows the line.
    pub(crate) fn evaluate(files: Files) -> Result<Script, String> {
        let runtime = Runtime::new_with_alloc(Remembering).map_err(|error| error.to_string())?;
        runtime.set_max_stack_size(STACK_BYTES);
        memory::collect_from_now(&runtime);
        let files = Rc::new(files);
        runtime.set_loader(Imports(files.clone()), Imports(files.clone()));
        let context = Context::full(&runtime).map_err(|error| error.to_string())?;
        promises::watch(&runtime, &context);
        context.with(|ctx| {
            let wrong = |error| Complaint::of(error, Some(&files)).before_the_run(&files);
            let about = |text: String| format!("{}: {text}", files.main());
            console::install(&ctx).catch(&ctx).map_err(wrong)?;
            ctx.eval::<(), _>(PRELUDE).catch(&ctx).map_err(wrong)?;
            let source = files.module(files.main()).unwrap_or_default();
            let module = Module::declare(ctx.clone(), files.main(), source);
            let (module, done) =
                module.and_then(Module::eval).catch(&ctx).map_err(wrong)?;
            settled(done.into_value()).catch(&ctx).map_err(wrong)?;
            let exported = module.namespace().catch(&ctx).map_err(wrong)?;
            let export = |name: &str| exported.get::<_, Value<'_>>(name).catch(&ctx).map_err(wrong);
            let score = export("default")?;
            let Some(score) = score.as_function() else {
                return Err(about(match score.is_undefined() {
                    true => "the script has no default export; write `export default (input, config) => …`".to_owned(),
                    false => format!("the default export is {}, not a function", type_name(&score)),
                }));
            };
            let summarize = export("summarize")?;
            if !summarize.is_undefined() && !summarize.is_function() {
                return Err(about(format!("`summarize` is {}, not a function", type_name(&summarize))));
            }
            let info = info::info(&ctx, &export("info")?, files.main()).map_err(about)?;
            Ok(Script {
                info,
                files: files.clone(),
                context: context.clone(),
                score: Persistent::save(&ctx, score.clone()),
                summarize: summarize.as_function().map(|it| Persistent::save(&ctx, it.clone())),
                config: None,
            })
        })
    }

    /// This script with a configuration.
    pub(crate) fn configured(mut self, config: &str) -> Result<Script, String> {
        let config = self.context.with(|ctx| {
            let parsed = ctx.json_parse(config).and_then(|config| {
                if let Some(object) = config.as_object() {
                    info::with_defaults(&ctx, object, &self.info)?;
                }
                Ok(config)
            });
            let parsed = parsed.catch(&ctx);
            parsed
                .map(|config| Persistent::save(&ctx, config))
                .map_err(|error| Complaint::of(error, None).into_text())
        })?;
        self.config = Some(config);
        // What every score begins with must not be searched for cycles in each of them.
        memory::collect_from_now(self.context.runtime());
        Ok(self)
    }

    /// Scores one case.
    pub(crate) fn score(&self, input: &ScorerInput) -> Result<ScoreResult, ScorerError> {
        #[cfg(feature = "judge")]
        crate::judge::allow();
        self.context.with(|ctx| {
            thrown::forget(&ctx);
            memory::forget();
            let config = self.config.clone().map(|config| config.restore(&ctx)).transpose();
            let called = config.and_then(|config| {
                let score = self.score.clone().restore(&ctx)?;
                settled(score.call::<_, Value<'_>>((case::case(&ctx, input)?, config))?)
            });
            let answer = called.catch(&ctx).map_err(|error| {
                let complaint = Complaint::of(error, Some(&self.files));
                match complaint.is_about_the_case() {
                    true => ScorerError::InvalidInput(complaint.into_text()),
                    false => ScorerError::Failed(complaint.in_a_score()),
                }
            })?;
            answer::result(&ctx, &answer)
                .map_err(|message| ScorerError::Failed(format!("{}: {message}", self.files.main())))
        })
    }

    /// Reports on all scores of a run; `null` if the script has no such function.
    pub(crate) fn summarize(&self, scores: &[Scored]) -> Result<String, String> {
        let Some(summarize) = &self.summarize else { return Ok("null".to_owned()) };
        self.context.with(|ctx| {
            let called = summarize.clone().restore(&ctx).and_then(|summarize| {
                let answer =
                    settled(summarize.call::<_, Value<'_>>((case::scores(&ctx, scores)?,))?)?;
                text::exact_json(&ctx, answer)
            });
            let text = called
                .catch(&ctx)
                .map_err(|error| Complaint::of(error, Some(&self.files)).in_a_score())?;
            text.ok_or_else(|| "`summarize` returned nothing that JSON can say".to_owned())
        })
    }
}

/// The files of a script as its modules.
struct Imports(Rc<Files>);

impl Resolver for Imports {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        self.0
            .resolve(base, name)
            .map_err(|message| throw_at(ctx, &message, self.0.place_of_import(base, name)))
    }
}

impl Loader for Imports {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        #[cfg(feature = "judge")]
        if name == crate::files::JUDGE {
            return Module::declare_def::<crate::judge::Judge, _>(ctx.clone(), name);
        }
        let source =
            self.0.module(name).map_err(|(why, place)| throw_at(ctx, &why, Some(place)))?;
        Module::declare(ctx.clone(), name, source)
    }
}
