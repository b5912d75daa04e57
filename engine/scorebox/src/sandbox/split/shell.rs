//! Builds the shell: the component with the code module (or its import) instead of its main module, with an import
//! instead of its shim (or with an import and an instance in addition), and with an exported instance of functions that
//! read memory and globals.

use std::collections::HashMap;

use wasm_encoder::{
    Alias, CanonicalFunctionSection, CanonicalOption, Component, ComponentAliasSection,
    ComponentExportKind, ComponentExportSection, ComponentImportSection, ComponentInstanceSection,
    ComponentOuterAliasKind, ComponentTypeRef, ComponentTypeSection, ComponentValType,
    CoreTypeSection, EntityType, ExportKind, InstanceSection, ModuleArg, ModuleType,
    PrimitiveValType, RawSection, ValType,
};
use wasmparser::{
    BinaryReader, ComponentAlias, ComponentExternalKind, ExternalKind, Instance, TypeRef,
};

use super::{
    ACCESS, Accessor, CODE_IMPORT, DATA_IMPORT, Main, NotSplit, STATE,
    code::state,
    encode::{export_kind, memory_type, table_type, val_type},
    module::CoreModule,
    outside::{Outside, section},
    shim::Shim,
};

/// The indices in the shell that differ from those in the component.
struct Places {
    /// The main module's index.
    main: u32,
    /// The index of the core instance with memory and globals.
    state: u32,
    /// The index of the data module, in the separate form.
    added: Option<u32>,
}

impl Places {
    fn module(&self, index: u32) -> u32 {
        match self.added {
            Some(added) if index >= added => index + 1,
            _ => index,
        }
    }

    fn instance(&self, index: u32) -> u32 {
        match self.added {
            Some(_) if index >= self.state => index + 1,
            _ => index,
        }
    }
}

/// Where the shell gets the code module from.
#[derive(Clone, Copy)]
pub(super) enum Code<'a> {
    /// The shell contains it.
    Inside(&'a [u8]),
    /// The shell imports it.
    Imported,
}

/// A component around `code`, the code module that was made from `main`.
pub(super) fn shell(
    outside: &Outside<'_>,
    modules: &[CoreModule<'_>],
    main: &Main<'_>,
    code: Code<'_>,
    shim: Option<&(usize, Shim)>,
    accessors: &[Accessor],
) -> Result<Vec<u8>, NotSplit> {
    let made = outside.instances.iter().find(|made| made.module as usize == main.index);
    let made = made.ok_or_else(|| NotSplit::because("does not instantiate its code"))?;
    let shim_made = shim.and(outside.instances.first());
    if shim_made.is_some_and(|shim| shim.instance >= made.instance) {
        return Err(NotSplit::because("instantiates its shim late"));
    }
    let mut places = Places { main: made.module, state: 0, added: None };
    if let Some(shim) = shim_made {
        places.state = shim.instance;
    }
    let mut growing = Growing { shell: Component::new(), core_types: 0 };
    let mut module_index = 0_usize;
    let mut instances_before = 0;
    for (id, content) in &outside.sections {
        match *id {
            section::MODULE => {
                let index = module_index;
                module_index += 1;
                if index == main.index {
                    match code {
                        Code::Inside(code) => growing.section(*id, code),
                        Code::Imported => {
                            growing.import(CODE_IMPORT, &code_type(main.module, accessors)?);
                        }
                    }
                    if shim.is_none() {
                        growing.add_data(main, made.module + 1)?;
                        places.added = Some(made.module + 1);
                        places.state = instances_before;
                    }
                } else if shim.is_some_and(|(shim, _)| *shim == index) {
                    growing.import(DATA_IMPORT, &data_type(main.module, modules.get(index))?);
                } else {
                    growing.section(*id, content);
                }
            }
            section::CORE_INSTANCE => {
                let (instances, count) = core_instances(content, &places)?;
                instances_before += count;
                growing.shell.section(&instances);
            }
            section::ALIAS => {
                growing.shell.section(&aliases(content, &places)?);
            }
            _ => growing.section(*id, content),
        }
    }
    let (instance, memory) = (places.instance(made.instance), main.module.exported_memory()?);
    add_accessors(&mut growing.shell, outside, instance, memory, accessors);
    Ok(growing.shell.finish())
}

/// A shell under construction.
struct Growing {
    shell: Component,
    /// The number of its core types.
    core_types: u32,
}

impl Growing {
    /// Adds a section of the component unchanged.
    fn section(&mut self, id: u8, data: &[u8]) {
        self.shell.section(&RawSection { id, data });
    }

    /// Adds the import of the data module, which becomes the module at `index`, and an instance of it.
    fn add_data(&mut self, main: &Main<'_>, index: u32) -> Result<(), NotSplit> {
        self.import(DATA_IMPORT, &data_type(main.module, None)?);
        let mut instance = InstanceSection::new();
        let nothing: [(&str, ModuleArg); 0] = [];
        instance.instantiate(index, nothing);
        self.shell.section(&instance);
        Ok(())
    }

    /// Adds the import of a module of type `ty`.
    fn import(&mut self, name: &str, ty: &ModuleType) {
        let mut types = CoreTypeSection::new();
        types.ty().module(ty);
        let mut imports = ComponentImportSection::new();
        imports.import(name, ComponentTypeRef::Module(self.core_types));
        self.core_types += 1;
        self.shell.section(&types).section(&imports);
    }
}

fn core_instances(content: &[u8], places: &Places) -> Result<(InstanceSection, u32), NotSplit> {
    let mut instances = InstanceSection::new();
    let mut count = 0;
    for instance in wasmparser::InstanceSectionReader::new(BinaryReader::new(content, 0))? {
        count += 1;
        match instance? {
            Instance::Instantiate { module_index, args } => {
                let mut arguments: Vec<(&str, ModuleArg)> = args
                    .iter()
                    .map(|arg| (arg.name, ModuleArg::Instance(places.instance(arg.index))))
                    .collect();
                if module_index == places.main {
                    arguments.push((STATE, ModuleArg::Instance(places.state)));
                }
                instances.instantiate(places.module(module_index), arguments);
            }
            Instance::FromExports(items) => {
                let items = items
                    .iter()
                    .map(|item| Ok((item.name, export_kind(item.kind)?, item.index)))
                    .collect::<Result<Vec<_>, NotSplit>>()?;
                instances.export_items(items);
            }
        }
    }
    Ok((instances, count))
}

fn aliases(content: &[u8], places: &Places) -> Result<ComponentAliasSection, NotSplit> {
    let mut aliases = ComponentAliasSection::new();
    for alias in wasmparser::ComponentAliasSectionReader::new(BinaryReader::new(content, 0))? {
        aliases.alias(match alias? {
            ComponentAlias::CoreInstanceExport { kind, instance_index, name } => {
                Alias::CoreInstanceExport {
                    instance: places.instance(instance_index),
                    kind: export_kind(kind)?,
                    name,
                }
            }
            ComponentAlias::InstanceExport { kind, instance_index, name } => {
                Alias::InstanceExport {
                    instance: instance_index,
                    kind: match kind {
                        ComponentExternalKind::Func => ComponentExportKind::Func,
                        ComponentExternalKind::Type => ComponentExportKind::Type,
                        ComponentExternalKind::Instance => ComponentExportKind::Instance,
                        _ => return Err(NotSplit::because("hands modules or values about")),
                    },
                    name,
                }
            }
            ComponentAlias::Outer { count, index, .. } => {
                Alias::Outer { kind: ComponentOuterAliasKind::Type, count, index }
            }
        });
    }
    Ok(aliases)
}

/// The function types in a module's type: each once.
struct Functions<'a> {
    module: &'a CoreModule<'a>,
    /// Maps the index of a type in the module to its index in the module's type.
    places: HashMap<u32, u32>,
}

impl Functions<'_> {
    fn ty(&mut self, ty: &mut ModuleType, index: u32) -> Result<EntityType, NotSplit> {
        if let Some(place) = self.places.get(&index) {
            return Ok(EntityType::Function(*place));
        }
        let function = self.module.types.get(index as usize).and_then(Option::as_ref);
        let function = function.ok_or_else(|| NotSplit::because("has functions of other kinds"))?;
        let types = |types: &[wasmparser::ValType]| {
            types.iter().map(|ty| val_type(*ty)).collect::<Result<Vec<ValType>, _>>()
        };
        let place = ty.type_count();
        ty.ty().function(types(function.params())?, types(function.results())?);
        self.places.insert(index, place);
        Ok(EntityType::Function(place))
    }
}

/// The type of the data modules, with the shim's exports if they are merged.
fn data_type(main: &CoreModule<'_>, shim: Option<&CoreModule<'_>>) -> Result<ModuleType, NotSplit> {
    let mut ty = ModuleType::new();
    if let Some(shim) = shim {
        exports(&mut ty, shim, &mut Functions { module: shim, places: HashMap::new() })?;
    }
    for (name, entity) in state(main) {
        ty.export(&name, entity);
    }
    Ok(ty)
}

/// The type of the code module, which the shell imports.
fn code_type(main: &CoreModule<'_>, accessors: &[Accessor]) -> Result<ModuleType, NotSplit> {
    let (mut ty, nothing) = (ModuleType::new(), [] as [ValType; 0]);
    let mut functions = Functions { module: main, places: HashMap::new() };
    for import in &main.imports {
        // Splitting has checked before that the module imports only functions.
        if let TypeRef::Func(index) = import.ty {
            let function = functions.ty(&mut ty, index)?;
            ty.import(import.module, import.name, function);
        }
    }
    for (name, entity) in state(main) {
        ty.import(STATE, &name, entity);
    }
    exports(&mut ty, main, &mut functions)?;
    for accessor in accessors {
        let place = ty.type_count();
        ty.ty().function(nothing, [accessor.result()]);
        ty.export(&accessor.name, EntityType::Function(place));
    }
    Ok(ty)
}

/// Adds the exports of a module that imports no tables, memories or globals.
fn exports(
    ty: &mut ModuleType,
    module: &CoreModule<'_>,
    functions: &mut Functions<'_>,
) -> Result<(), NotSplit> {
    let missing = || NotSplit::because("exports what it does not have");
    for export in &module.exports {
        let index = export.index as usize;
        let entity = match export.kind {
            ExternalKind::Func => {
                let function = module.function_type(export.index).ok_or_else(missing)?;
                functions.ty(ty, function)?
            }
            ExternalKind::Table => {
                EntityType::Table(table_type(module.tables.get(index).ok_or_else(missing)?)?)
            }
            ExternalKind::Memory => {
                let memory = module.memories.get(index).ok_or_else(missing)?;
                EntityType::Memory(memory_type(memory.initial, memory.maximum))
            }
            ExternalKind::Global => {
                let global = module.globals.get(index).and_then(Option::as_ref);
                let global = global.ok_or_else(missing)?;
                EntityType::Global(global.ty())
            }
            ExternalKind::Tag | ExternalKind::FuncExact => {
                return Err(NotSplit::because("exports a tag or an exact function"));
            }
        };
        ty.export(export.name, entity);
    }
    Ok(())
}

/// Adds the instance of functions that read memory and globals. Nothing in the component can call them.
fn add_accessors(
    shell: &mut Component,
    outside: &Outside<'_>,
    instance: u32,
    memory: &str,
    accessors: &[Accessor],
) {
    let mut aliases = ComponentAliasSection::new();
    let mut types = ComponentTypeSection::new();
    let mut functions = CanonicalFunctionSection::new();
    let mut items: Vec<(&str, ComponentExportKind, u32)> = Vec::new();
    let kind = ExportKind::Memory;
    aliases.alias(Alias::CoreInstanceExport { instance, kind, name: memory });
    let bytes = outside.types;
    types.defined_type().list(ComponentValType::Primitive(PrimitiveValType::U8));
    for (accessor, index) in accessors.iter().zip(0..) {
        let name = &accessor.name;
        aliases.alias(Alias::CoreInstanceExport { instance, kind: ExportKind::Func, name });
        let nothing: [(&str, ComponentValType); 0] = [];
        let result = match (accessor.answers_bytes(), accessor.result()) {
            (true, _) => ComponentValType::Type(bytes),
            (false, ValType::I32) => ComponentValType::Primitive(PrimitiveValType::U32),
            (false, _) => ComponentValType::Primitive(PrimitiveValType::U64),
        };
        types.function().params(nothing).result(Some(result));
        let memory =
            accessor.answers_bytes().then_some(CanonicalOption::Memory(outside.core_memories));
        functions.lift(outside.core_functions + index, bytes + 1 + index, memory);
        items.push((name, ComponentExportKind::Func, outside.functions + index));
    }
    shell.section(&aliases).section(&types).section(&functions);
    let mut instances = ComponentInstanceSection::new();
    instances.export_items(items);
    let mut exports = ComponentExportSection::new();
    let (kind, index) = (ComponentExportKind::Instance, outside.component_instances);
    exports.export(ACCESS, kind, index, None);
    shell.section(&instances).section(&exports);
}
