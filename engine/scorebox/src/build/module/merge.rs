//! Builds a module that contains the functions of WASI preview 1, has exports with the contract's names, and contains
//! nothing that is not needed to run it. It checks nothing: `outside` did.

use std::{collections::BTreeMap, convert::Infallible};

use wasm_encoder::{
    CodeSection, ConstExpr, DataCountSection, EntityType, ExportKind, ExportSection, Function,
    FunctionSection, GlobalSection, GlobalType, ImportSection, Module, NameMap, NameSection,
    Section, StartSection, TypeSection, ValType,
    reencode::{Error, Reencode},
};
use wasmparser::{KnownCustom, Name, Parser, Payload, ValType as Value};

use super::{
    BuildError,
    outside::{Imported, MEMORY, Outside, Plan, REALLOC},
    preview1::{PREVIEW_1, Preview1},
};

/// The interface to which it prints.
const LOG: &str = "scorebox:scorer/log@0.1.0";
type Result<T> = std::result::Result<T, Error<Infallible>>;

/// The new indices of the module, or of preview 1.
struct Renumbered<'r> {
    /// The new index of each function, by its old one.
    functions: &'r [u32],
    /// The number that is added to each index.
    types: u32,
    globals: u32,
    /// The index of the module's memory, which preview 1 uses; `None` for the module itself.
    memory: Option<u32>,
}

impl Reencode for Renumbered<'_> {
    type Error = Infallible;

    fn function_index(&mut self, index: u32) -> Result<u32> {
        // Both were validated, so the index exists.
        Ok(self.functions.get(index as usize).copied().unwrap_or(u32::MAX))
    }

    fn type_index(&mut self, index: u32) -> Result<u32> {
        Ok(index + self.types)
    }

    fn global_index(&mut self, index: u32) -> Result<u32> {
        Ok(index + self.globals)
    }

    fn memory_index(&mut self, index: u32) -> Result<u32> {
        Ok(self.memory.unwrap_or(index))
    }
}

/// The module, changed according to the plan.
pub(super) fn merge(
    module: &[u8],
    outside: &Outside,
    plan: &Plan,
) -> std::result::Result<Vec<u8>, BuildError> {
    let merged = || {
        let preview_1 = Preview1::read().map_err(Error::ParseError)?;
        Merged::new(outside, plan, &preview_1).write(module)
    };
    merged().map_err(|error: Error| BuildError::Component(error.to_string()))
}

/// The layout of the new module.
struct Merged<'m> {
    outside: &'m Outside,
    plan: &'m Plan,
    preview_1: &'m Preview1,
    /// Whether it contains preview 1.
    has_preview_1: bool,
    /// New indices of the module's functions.
    functions: Vec<u32>,
    /// New indices of preview 1's functions.
    stubs: Vec<u32>,
    /// The functions that are imported in addition from [`LOG`]: name, and type in preview 1.
    added: Vec<(&'m str, u32)>,
    /// The number of imported functions.
    imported: u32,
}

impl<'m> Merged<'m> {
    fn new(outside: &'m Outside, plan: &'m Plan, preview_1: &'m Preview1) -> Merged<'m> {
        let is_kept = |imported: &Imported| *imported == Imported::Kept;
        let has_preview_1 = !plan.imports.iter().all(is_kept);
        let mut next = 0..;
        let mut index = || next.next().unwrap_or(u32::MAX);
        // The order is: imports that stay, added imports, the module's own functions, preview 1's functions.
        let mut functions: Vec<Option<u32>> =
            plan.imports.iter().map(|import| is_kept(import).then(&mut index)).collect();
        let (mut stubs, mut added) = (Vec::new(), Vec::new());
        if has_preview_1 {
            for (name, kind) in &preview_1.imports {
                let mut imported = outside.imported();
                let known = imported.find(|(module, other, _)| *module == LOG && other == name);
                let known = known.and_then(|(_, _, index)| functions[index as usize]);
                stubs.push(known.unwrap_or_else(|| {
                    added.push((name.as_str(), *kind));
                    index()
                }));
            }
        }
        let imported = index();
        let own = outside.functions() - plan.imports.len();
        functions.extend((imported..).take(own).map(Some));
        let own_end = imported + own as u32;
        if has_preview_1 {
            stubs.extend((own_end..).take(preview_1.own.len()));
        }
        let stub_of = |name: &String| {
            let stub = preview_1.exports.get(name).and_then(|stub| stubs.get(*stub as usize));
            stub.copied()
        };
        let replaced = functions.iter().enumerate().map(|(index, kept)| {
            let replaced = match plan.imports.get(index) {
                Some(Imported::Replaced(name)) => stub_of(name),
                _ => None,
            };
            kept.or(replaced).unwrap_or(u32::MAX)
        });
        let functions = replaced.collect();
        Merged { outside, plan, preview_1, has_preview_1, functions, stubs, added, imported }
    }

    fn module(&self) -> Renumbered<'_> {
        Renumbered { functions: &self.functions, types: 0, globals: 0, memory: None }
    }

    fn stub(&self) -> Renumbered<'_> {
        Renumbered {
            functions: &self.stubs,
            types: self.outside.types(),
            globals: self.outside.globals,
            memory: Some(self.plan.memory),
        }
    }

    fn function(&self, index: u32) -> u32 {
        self.functions.get(index as usize).copied().unwrap_or(u32::MAX)
    }

    /// The index of the first function that belongs neither to the module nor to preview 1.
    fn wrappers(&self) -> u32 {
        let own = self.functions.len() - self.plan.imports.len();
        let stubs = if self.has_preview_1 { self.preview_1.own.len() } else { 0 };
        self.imported + (own + stubs) as u32
    }

    /// The global that records whether the module was prepared, if that is necessary.
    fn ready(&self) -> u32 {
        let stubs = if self.has_preview_1 { self.preview_1.globals } else { 0 };
        self.outside.globals + stubs
    }

    fn write(&self, module: &[u8]) -> Result<Vec<u8>> {
        let mut kept = Kept::default();
        kept.read(self, module)?;
        if self.has_preview_1 {
            kept.add_preview_1(self)?;
        }
        kept.add_exports(self);
        Ok(kept.finish())
    }
}

/// The sections of the new module.
#[derive(Default)]
struct Kept {
    types: TypeSection,
    imports: ImportSection,
    functions: FunctionSection,
    tables: Option<wasm_encoder::TableSection>,
    memories: Option<wasm_encoder::MemorySection>,
    tags: Option<wasm_encoder::TagSection>,
    globals: GlobalSection,
    exports: ExportSection,
    start: Option<StartSection>,
    elements: Option<wasm_encoder::ElementSection>,
    data_count: Option<DataCountSection>,
    code: CodeSection,
    data: Option<wasm_encoder::DataSection>,
    /// The names of functions, by their new indices.
    names: BTreeMap<u32, String>,
}

impl Kept {
    fn read(&mut self, merged: &Merged<'_>, module: &[u8]) -> Result<()> {
        let mut renumbered = merged.module();
        let all = &mut renumbered;
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::TypeSection(types) => all.parse_type_section(&mut self.types, types)?,
                Payload::ImportSection(imports) => {
                    for (import, planned) in imports.into_imports().zip(&merged.plan.imports) {
                        if *planned == Imported::Kept {
                            all.parse_import(&mut self.imports, import?)?;
                        }
                    }
                }
                Payload::FunctionSection(kinds) => {
                    all.parse_function_section(&mut self.functions, kinds)?;
                }
                Payload::TableSection(tables) => {
                    all.parse_table_section(self.tables.get_or_insert_default(), tables)?;
                }
                Payload::MemorySection(memories) => {
                    all.parse_memory_section(self.memories.get_or_insert_default(), memories)?;
                }
                Payload::TagSection(tags) => {
                    all.parse_tag_section(self.tags.get_or_insert_default(), tags)?;
                }
                Payload::GlobalSection(globals) => {
                    all.parse_global_section(&mut self.globals, globals)?;
                }
                Payload::StartSection { func, .. } => {
                    self.start = Some(StartSection { function_index: merged.function(func) });
                }
                Payload::ElementSection(elements) => {
                    all.parse_element_section(self.elements.get_or_insert_default(), elements)?;
                }
                Payload::DataCountSection { count, .. } => {
                    self.data_count = Some(DataCountSection { count });
                }
                Payload::CodeSectionEntry(body) => {
                    all.parse_function_body(&mut self.code, body)?;
                }
                Payload::DataSection(data) => {
                    all.parse_data_section(self.data.get_or_insert_default(), data)?;
                }
                Payload::CustomSection(section) => {
                    if let KnownCustom::Name(names) = section.as_known() {
                        self.read_names(merged, names);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads the names of functions. Names that cannot be read are omitted: validation does not cover them.
    fn read_names(&mut self, merged: &Merged<'_>, names: wasmparser::NameSectionReader<'_>) {
        for name in names.into_iter().flatten() {
            let Name::Function(map) = name else { continue };
            for naming in map.into_iter().flatten() {
                let index = merged.functions.get(naming.index as usize);
                // A replaced import gets the name of its replacement.
                let is_import = (naming.index as usize) < merged.plan.imports.len();
                if let Some(index) = index.filter(|_| !is_import) {
                    self.names.insert(*index, naming.name.to_owned());
                }
            }
        }
    }

    fn add_preview_1(&mut self, merged: &Merged<'_>) -> Result<()> {
        let types = merged.outside.types();
        let mut stub = merged.stub();
        for (name, kind) in &merged.added {
            self.imports.import(LOG, name, EntityType::Function(types + kind));
        }
        for (name, index) in &merged.preview_1.exports {
            let index = merged.stubs.get(*index as usize).copied().unwrap_or(u32::MAX);
            self.names.insert(index, name.clone());
        }
        for payload in Parser::new(0).parse_all(PREVIEW_1) {
            match payload? {
                Payload::TypeSection(all) => stub.parse_type_section(&mut self.types, all)?,
                Payload::FunctionSection(kinds) => {
                    stub.parse_function_section(&mut self.functions, kinds)?;
                }
                Payload::GlobalSection(globals) => {
                    stub.parse_global_section(&mut self.globals, globals)?;
                }
                Payload::CodeSectionEntry(body) => {
                    stub.parse_function_body(&mut self.code, body)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Exports the contract's functions. If the module must be prepared, each is exported through a function that does
    /// so first.
    fn add_exports(&mut self, merged: &Merged<'_>) {
        self.exports.export(MEMORY, ExportKind::Memory, merged.plan.memory);
        let Some(initialize) = merged.plan.initialize else {
            for (name, index) in &merged.plan.exports {
                self.exports.export(name, ExportKind::Func, merged.function(*index));
            }
            return;
        };
        let kind = GlobalType { val_type: ValType::I32, mutable: true, shared: false };
        self.globals.global(kind, &ConstExpr::i32_const(0));
        let exported = merged.plan.exports.iter();
        for ((name, index), wrapper) in exported.zip(merged.wrappers()..) {
            let Some((kind, function)) = merged.outside.function(*index) else { continue };
            self.functions.function(kind);
            // The host must not be called while it allocates memory in the module.
            let quiet = (name == REALLOC && merged.has_preview_1)
                .then_some(merged.outside.globals + merged.preview_1.quiet);
            self.code.function(&prepared(
                merged.ready(),
                quiet,
                merged.function(initialize),
                merged.function(*index),
                function.params(),
            ));
            self.exports.export(name, ExportKind::Func, wrapper);
            self.names.insert(wrapper, name.clone());
        }
    }

    /// Writes the sections in their order.
    fn finish(self) -> Vec<u8> {
        let mut map = NameMap::new();
        for (index, name) in &self.names {
            map.append(*index, name);
        }
        let mut names = NameSection::new();
        names.functions(&map);
        fn part<S: Section>(section: &Option<S>) -> Option<&dyn Section> {
            section.as_ref().map(|section| section as &dyn Section)
        }
        let sections: [Option<&dyn Section>; 14] = [
            Some(&self.types),
            Some(&self.imports),
            Some(&self.functions),
            part(&self.tables),
            part(&self.memories),
            part(&self.tags),
            Some(&self.globals),
            Some(&self.exports),
            part(&self.start),
            part(&self.elements),
            part(&self.data_count),
            Some(&self.code),
            part(&self.data),
            Some(&names),
        ];
        let mut module = Module::HEADER.to_vec();
        for section in sections.into_iter().flatten() {
            section.append_to(&mut module);
        }
        module
    }
}

/// A function that prepares the module if necessary, and then calls `function`.
fn prepared(
    ready: u32,
    quiet: Option<u32>,
    initialize: u32,
    function: u32,
    parameters: &[Value],
) -> Function {
    let mut prepared = Function::new([]);
    let mut code = prepared.instructions();
    let set = |code: &mut wasm_encoder::InstructionSink<'_>, global: u32, value: i32| {
        code.i32_const(value).global_set(global);
    };
    code.global_get(ready).i32_eqz().if_(wasm_encoder::BlockType::Empty);
    set(&mut code, ready, 1);
    if let Some(quiet) = quiet {
        set(&mut code, quiet, 1);
    }
    code.call(initialize);
    if let Some(quiet) = quiet {
        set(&mut code, quiet, 0);
    }
    code.end();
    for index in 0..parameters.len() as u32 {
        code.local_get(index);
    }
    code.call(function).end();
    prepared
}
