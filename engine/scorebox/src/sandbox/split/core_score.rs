//! [`CoreScore`]: the core functions, by name, that a call of `score` consists of if an instance of the shell is only
//! the data module and the code module. It reads wasmtime's own translation of the shell, and calls nothing.

use serde::{Deserialize, Serialize};
use wasmparser::{TypeRef, Validator};
use wasmtime_environ::{
    EntityIndex, ScopeVec, Tunables,
    component::{
        CanonicalOptions, CanonicalOptionsDataModel, Component, ComponentTranslation,
        ComponentTypesBuilder, CoreDef, CoreExport, Export, ExportItem, ExtractMemory,
        ExtractPostReturn, ExtractRealloc, GlobalInitializer, InstantiateModule,
        LinearMemoryOptions, LoweredIndex, NameMapNoIntern, RuntimeImportIndex,
        RuntimeInstanceIndex, StringEncoding, Trampoline, Translator,
    },
};

use crate::contract::{LOG_INTERFACE, SCORING_INTERFACE};

use super::{CODE_IMPORT, DATA_IMPORT, STATE, code::state, data::MEMORY, module::CoreModule};

/// What is needed to call `score` without the component around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct CoreScore {
    /// The imports of the code module, in its order.
    pub(in super::super) imports: Vec<Source>,
    /// The name of the memory in the exports of the data module.
    pub(in super::super) memory: String,
    /// The exports of the code module: the function that allocates memory, …
    pub(in super::super) realloc: String,
    /// … `score` itself, …
    pub(in super::super) score: String,
    /// … and the function that is called with its result afterwards.
    pub(in super::super) post_return: Option<String>,
}

/// Where an import of the code module comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in super::super) enum Source {
    /// The export of the data module with this name.
    State(String),
    /// `letter` of the contract's `log`.
    Letter,
    /// `end` of the contract's `log`.
    End,
}

impl CoreScore {
    /// The functions for a shell that imports the code module made from `main`; `None` if instances of the shell
    /// consist of more than the two modules.
    pub(super) fn of(shell: &[u8], main: &CoreModule<'_>) -> Option<CoreScore> {
        let (scope, mut validator) = (ScopeVec::new(), Validator::new());
        let mut types = ComponentTypesBuilder::new(&validator);
        let tunables = Tunables::default_host();
        let translator = Translator::new(&tunables, &mut validator, &mut types, &scope);
        let (translation, modules) = translator.translate(shell).ok()?;
        modules.is_empty().then_some(())?;
        Account::of(&translation)?.core_score(main)
    }
}

/// The indices of the core instances.
const DATA: u32 = 0;
const CODE: u32 = 1;

/// The steps with which wasmtime makes an instance, if all of them are understood.
struct Account<'a> {
    component: &'a Component,
    trampolines: &'a ComponentTranslation,
    /// The arguments of the code module: the module and the name of each import, and its value.
    arguments: Vec<(&'a str, &'a str, &'a CoreDef)>,
    lowered: Vec<(LoweredIndex, RuntimeImportIndex)>,
    memories: Vec<&'a ExtractMemory>,
    reallocs: Vec<&'a ExtractRealloc>,
    post_returns: Vec<&'a ExtractPostReturn>,
}

impl<'a> Account<'a> {
    /// `None` if wasmtime does anything but instantiate each module and extract some of their exports.
    fn of(translation: &'a ComponentTranslation) -> Option<Account<'a>> {
        let component = &translation.component;
        let mut account = Account {
            component,
            trampolines: translation,
            arguments: Vec::new(),
            lowered: Vec::new(),
            memories: Vec::new(),
            reallocs: Vec::new(),
            post_returns: Vec::new(),
        };
        let mut instances = 0;
        for step in &component.initializers {
            match step {
                GlobalInitializer::InstantiateModule(InstantiateModule::Import(module, all), _) => {
                    match (instances, account.import(*module)?) {
                        (DATA, (DATA_IMPORT, [])) if all.is_empty() => {}
                        (CODE, (CODE_IMPORT, [])) => {
                            account.arguments = all
                                .iter()
                                .flat_map(|(module, items)| {
                                    items.iter().map(|(name, is)| (&**module, &**name, is))
                                })
                                .collect();
                        }
                        _ => return None,
                    }
                    instances += 1;
                }
                GlobalInitializer::LowerImport { index, import } => {
                    account.lowered.push((*index, *import));
                }
                GlobalInitializer::ExtractMemory(memory) => account.memories.push(memory),
                GlobalInitializer::ExtractRealloc(realloc) => account.reallocs.push(realloc),
                GlobalInitializer::ExtractPostReturn(after) => account.post_returns.push(after),
                _ => return None,
            }
        }
        (instances == CODE + 1).then_some(account)
    }

    /// The name of an import, and the path in it.
    fn import(&self, index: RuntimeImportIndex) -> Option<(&'a str, &'a [String])> {
        let (import, path) = self.component.imports.get(index)?;
        let (name, _) = self.component.import_types.get(*import)?;
        Some((name, path))
    }

    fn core_score(&self, main: &CoreModule<'_>) -> Option<CoreScore> {
        let (function, options) = self.lifted_score()?;
        let memory = self.memory_and_realloc(options)?;
        let post_return = match options.post_return {
            None => None,
            Some(index) => {
                let after = self.post_returns.iter().find(|after| after.index == index)?;
                Some(export_of_code(&after.def)?)
            }
        };
        Some(CoreScore {
            imports: self.sources(main)?,
            memory: memory.0,
            realloc: memory.1,
            score: export_of_code(function)?,
            post_return,
        })
    }

    /// The function that the export `score` lifts, with its options.
    fn lifted_score(&self) -> Option<(&'a CoreDef, &'a CanonicalOptions)> {
        let (scoring, _) = self.component.exports.get(SCORING_INTERFACE, &NameMapNoIntern)?;
        let Export::Instance { exports, .. } = self.component.export_items.get(*scoring)? else {
            return None;
        };
        let (score, _) = exports.get("score", &NameMapNoIntern)?;
        let Export::LiftedFunction { func, options, .. } =
            self.component.export_items.get(*score)?
        else {
            return None;
        };
        let options = self.component.options.get(*options)?;
        let plain = options.string_encoding == StringEncoding::Utf8
            && !options.async_
            && options.callback.is_none();
        plain.then_some((func, options))
    }

    /// The names of the memory in the data module, and of the function that allocates memory in the code module.
    fn memory_and_realloc(&self, options: &CanonicalOptions) -> Option<(String, String)> {
        let CanonicalOptionsDataModel::LinearMemory(LinearMemoryOptions {
            memory: Some(memory),
            realloc: Some(realloc),
        }) = options.data_model
        else {
            return None;
        };
        let memory = self.memories.iter().find(|it| it.index == memory)?;
        let realloc = self.reallocs.iter().find(|it| it.index == realloc)?;
        // The code module re-exports the memory that it imports: there is no other.
        let is_of_code = memory.export.instance == RuntimeInstanceIndex::from_u32(CODE);
        let mut names = self.arguments.iter().filter(|(module, ..)| *module == STATE);
        let (_, _, memory) = names.find(|(_, name, _)| *name == MEMORY)?;
        let memory = export_of(DATA, memory)?;
        is_of_code.then_some((memory, export_of_code(&realloc.def)?))
    }

    /// Where the code module's imports come from, in its order.
    fn sources(&self, main: &CoreModule<'_>) -> Option<Vec<Source>> {
        let functions = main.imports.iter().map(|import| match import.ty {
            TypeRef::Func(_) => self.source(import.module, import.name),
            _ => None,
        });
        let state = state(main).map(|(name, _)| self.source(STATE, &name));
        functions.chain(state).collect()
    }

    fn source(&self, module: &str, name: &str) -> Option<Source> {
        let mut arguments = self.arguments.iter();
        let (.., is) = arguments.find(|(of, called, _)| *of == module && *called == name)?;
        match is {
            CoreDef::Export(_) => export_of(DATA, is).map(Source::State),
            CoreDef::Trampoline(index) => {
                let Trampoline::LowerImport { index, .. } =
                    self.trampolines.trampolines.get(*index)?
                else {
                    return None;
                };
                let (_, import) = self.lowered.iter().find(|(lowered, _)| lowered == index)?;
                match self.import(*import)? {
                    (LOG_INTERFACE, [name]) if name == "letter" => Some(Source::Letter),
                    (LOG_INTERFACE, [name]) if name == "end" => Some(Source::End),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn export_of_code(is: &CoreDef) -> Option<String> {
    export_of(CODE, is)
}

/// The name of an export of this core instance.
fn export_of(instance: u32, is: &CoreDef) -> Option<String> {
    match is {
        CoreDef::Export(CoreExport::<EntityIndex> {
            instance: of,
            item: ExportItem::Name(name),
        }) if *of == RuntimeInstanceIndex::from_u32(instance) => Some(name.clone()),
        _ => None,
    }
}
