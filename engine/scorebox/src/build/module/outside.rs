//! What a module imports and exports, and whether a scorer may or must. It changes nothing.

use std::collections::BTreeMap;

use wasmparser::{
    BinaryReaderError, CompositeInnerType, ExternalKind, FuncType, Parser, Payload, SubType,
    TypeRef, ValType, Validator, WasmFeatures,
};

use crate::contract::CONTRACT_VERSION;

use super::{
    BuildError, MAX_BYTES, ModuleError,
    contract::{Contract, Signature},
    preview1::Preview1,
};

/// The module from which WASI preview 1's functions are imported.
const PREVIEW_1: &str = "wasi_snapshot_preview1";
/// The module from which AssemblyScript imports the functions of its environment.
const SURROUNDINGS: &str = "env";
/// The prefix of all names of the contract.
const CONTRACT: &str = "scorebox:scorer/";
/// The exports that the component model needs in every module.
pub(super) const MEMORY: &str = "memory";
pub(super) const REALLOC: &str = "cabi_realloc";
/// The name with which a language's runtime exports its initialization.
const INITIALIZE: &str = "_initialize";

/// The outside of a module.
#[derive(Default)]
pub(super) struct Outside {
    /// The imported functions.
    imports: Vec<Import>,
    exports: BTreeMap<String, (ExternalKind, u32)>,
    /// The types, by index; `None` for types other than function types.
    types: Vec<Option<FuncType>>,
    /// The type index of each of its own functions.
    own: Vec<u32>,
    pub(super) globals: u32,
}

/// An imported function.
struct Import {
    module: String,
    name: String,
    kind: u32,
}

/// The changes to a module.
pub(super) struct Plan {
    /// The change to each imported function.
    pub(super) imports: Vec<Imported>,
    /// The exports with their names: functions of the contract, and those that free their results.
    pub(super) exports: Vec<(String, u32)>,
    /// The function that prepares the module, called before any other.
    pub(super) initialize: Option<u32>,
    pub(super) memory: u32,
}

/// The change to an imported function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Imported {
    /// It stays.
    Kept,
    /// The function of preview 1 with this name replaces it.
    Replaced(String),
}

fn invalid(error: BinaryReaderError) -> BuildError {
    ModuleError::Invalid(error.to_string()).into()
}

/// Refuses what is not a valid core module for a scorer.
fn must_be_valid(module: &[u8]) -> Result<(), BuildError> {
    if module.len() > MAX_BYTES {
        return Err(ModuleError::TooLarge { bytes: module.len(), most: MAX_BYTES }.into());
    }
    if Parser::is_component(module) {
        return Err(ModuleError::Component.into());
    }
    // What two threads share is not reproducible; a scorer's addresses have 32 bits.
    let features = WasmFeatures::WASM3
        - WasmFeatures::MEMORY64
        - WasmFeatures::THREADS
        - WasmFeatures::GC
        - WasmFeatures::FUNCTION_REFERENCES;
    Validator::new_with_features(features).validate_all(module).map_err(invalid)?;
    Ok(())
}

impl Outside {
    /// Reads the outside of a module.
    pub(super) fn read(module: &[u8]) -> Result<Outside, BuildError> {
        must_be_valid(module)?;
        let mut outside = Outside::default();
        let mut others = Vec::new();
        for payload in Parser::new(0).parse_all(module) {
            payload.and_then(|it| outside.add(it, &mut others)).map_err(invalid)?;
        }
        match others.is_empty() {
            true => Ok(outside),
            false => Err(ModuleError::Imports(others).into()),
        }
    }

    /// Adds the content of a section; imports other than functions go to `others`.
    fn add(
        &mut self,
        payload: Payload<'_>,
        others: &mut Vec<String>,
    ) -> Result<(), BinaryReaderError> {
        match payload {
            Payload::TypeSection(types) => {
                for group in types {
                    let function = |kind: SubType| match kind.composite_type.inner {
                        CompositeInnerType::Func(function) => Some(function),
                        _ => None,
                    };
                    self.types.extend(group?.into_types().map(function));
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    let import = import?;
                    let (module, name) = (import.module.to_owned(), import.name.to_owned());
                    match import.ty {
                        TypeRef::Func(kind) => self.imports.push(Import { module, name, kind }),
                        _ => others.push(format!("{module}.{name}")),
                    }
                }
            }
            Payload::FunctionSection(kinds) => {
                for kind in kinds {
                    self.own.push(kind?);
                }
            }
            Payload::GlobalSection(globals) => self.globals = globals.count(),
            Payload::ExportSection(exports) => {
                for export in exports {
                    let export = export?;
                    self.exports.insert(export.name.to_owned(), (export.kind, export.index));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The number of its functions.
    pub(super) fn functions(&self) -> usize {
        self.imports.len() + self.own.len()
    }

    /// The number of its types.
    pub(super) fn types(&self) -> u32 {
        self.types.len() as u32
    }

    /// The index of the type of a function, and the type.
    pub(super) fn function(&self, index: u32) -> Option<(u32, &FuncType)> {
        let index = index as usize;
        let kind = match self.imports.get(index) {
            Some(import) => import.kind,
            None => *self.own.get(index.checked_sub(self.imports.len())?)?,
        };
        Some((kind, self.types.get(kind as usize)?.as_ref()?))
    }

    /// The module and the name of each imported function, with its index.
    pub(super) fn imported(&self) -> impl Iterator<Item = (&str, &str, u32)> {
        let indices = self.imports.iter().zip(0..);
        indices.map(|(import, index)| (import.module.as_str(), import.name.as_str(), index))
    }

    fn is(&self, index: u32, (parameters, results): &Signature) -> bool {
        self.function(index).is_some_and(|(_, kind)| {
            kind.params() == parameters.as_slice() && kind.results() == results.as_slice()
        })
    }

    /// The version of the contract in these names, if it is another one.
    fn other_contract<'n>(&self, names: impl Iterator<Item = &'n str>) -> Option<String> {
        let mut versions = names.filter_map(|name| {
            let (_, version) = name.split('#').next()?.strip_prefix(CONTRACT)?.split_once('@')?;
            Some(version.to_owned())
        });
        versions.find(|version| version != CONTRACT_VERSION)
    }

    /// Plans the changes to the module.
    pub(super) fn plan(&self, contract: &Contract) -> Result<Plan, BuildError> {
        let names = self.imported().map(|(module, _, _)| module);
        let names = names.chain(self.exports.keys().map(String::as_str));
        if let Some(found) = self.other_contract(names) {
            return Err(ModuleError::OtherContract { found, expected: CONTRACT_VERSION }.into());
        }
        let imports = self.plan_imports(contract)?;
        let (exports, memory) = self.plan_exports(contract)?;
        let nothing = (Vec::new(), Vec::new());
        let initialize = match self.exports.get(INITIALIZE) {
            Some((ExternalKind::Func, index)) if self.is(*index, &nothing) => Some(*index),
            _ => None,
        };
        Ok(Plan { imports, exports, initialize, memory })
    }

    fn plan_imports(&self, contract: &Contract) -> Result<Vec<Imported>, ModuleError> {
        let preview_1 = Preview1::functions();
        let (mut unknown, mut wrong) = (Vec::new(), Vec::new());
        let mut planned = Vec::new();
        for (module, name, index) in self.imported() {
            let (expected, what) = match module {
                PREVIEW_1 => (preview_1.get(name), Imported::Replaced(name.to_owned())),
                SURROUNDINGS => {
                    let name = format!("{SURROUNDINGS}.{name}");
                    (preview_1.get(&name), Imported::Replaced(name))
                }
                _ => {
                    let key = (module.to_owned(), name.to_owned());
                    (contract.imports.get(&key), Imported::Kept)
                }
            };
            match expected {
                Some(expected) if self.is(index, expected) => {}
                Some(_) => wrong.push(format!("{module}.{name}")),
                None => unknown.push(format!("{module}.{name}")),
            }
            planned.push(what);
        }
        match (unknown.is_empty(), wrong.is_empty()) {
            (true, true) => Ok(planned),
            (false, _) => Err(ModuleError::Imports(unknown)),
            (true, false) => Err(ModuleError::ImportTypes(wrong)),
        }
    }

    fn plan_exports(&self, contract: &Contract) -> Result<(Vec<(String, u32)>, u32), ModuleError> {
        let (mut missing, mut wrong) = (Vec::new(), Vec::new());
        let mut planned = Vec::new();
        let realloc = (vec![ValType::I32; 4], vec![ValType::I32]);
        let mut add = |name: &str, found: Option<u32>, expected: &Signature| match found {
            Some(index) if self.is(index, expected) => planned.push((name.to_owned(), index)),
            Some(_) => wrong.push(name.to_owned()),
            None => missing.push(name.to_owned()),
        };
        for (name, expected) in contract.exports.iter().chain(&contract.summary) {
            add(name, self.exported(name), expected);
        }
        add(REALLOC, self.exported(REALLOC), &realloc);
        let memory = match self.exports.get(MEMORY) {
            Some((ExternalKind::Memory, index)) => *index,
            _ => {
                missing.push(MEMORY.to_owned());
                0
            }
        };
        if !missing.is_empty() {
            return Err(ModuleError::Missing(missing));
        }
        if !wrong.is_empty() {
            return Err(ModuleError::ExportTypes(wrong));
        }
        // The function that frees a result takes the result's address.
        let frees = (vec![ValType::I32], Vec::new());
        for name in contract.exports.keys().chain(contract.summary.keys()) {
            let name = format!("cabi_post_{name}");
            if let Some((ExternalKind::Func, index)) = self.exports.get(&name)
                && self.is(*index, &frees)
            {
                planned.push((name, *index));
            }
        }
        Ok((planned, memory))
    }

    /// Whether the module exports a function of the summary.
    pub(super) fn has_summary(&self, contract: &Contract) -> bool {
        contract.summary.keys().any(|name| self.exported(name).is_some())
    }

    /// The function that is exported under a name of the contract, or under the last part of that name.
    fn exported(&self, name: &str) -> Option<u32> {
        let last = name.rsplit('#').next().unwrap_or(name);
        [name, last].into_iter().find_map(|name| match self.exports.get(name) {
            Some((ExternalKind::Func, index)) => Some(*index),
            _ => None,
        })
    }
}
