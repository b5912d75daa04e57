//! A component's own sections: its modules, what it instantiates, and how many items each index space has. It parses no
//! module, and refuses what the shell could not repeat.

use wasmparser::{
    CanonicalFunction, ComponentAlias, ComponentExternalKind, ComponentOuterAliasKind,
    ExternalKind, Instance, Parser, Payload,
};

use super::{NotSplit, OUR_NAMES, module::content};

/// Section numbers of a component.
pub(super) mod section {
    pub(in super::super) const CUSTOM: u8 = 0;
    pub(in super::super) const MODULE: u8 = 1;
    pub(in super::super) const CORE_INSTANCE: u8 = 2;
    pub(in super::super) const ALIAS: u8 = 6;
}

/// The instantiation of a core module.
pub(super) struct Instantiation {
    /// Its index among the core instances.
    pub(super) instance: u32,
    /// The module's index among the core modules.
    pub(super) module: u32,
    pub(super) arguments: usize,
}

/// The outermost sections of a component.
#[derive(Default)]
pub(super) struct Outside<'a> {
    /// The id and the content of each section, without custom ones; the content of a module's section is the module.
    pub(super) sections: Vec<(u8, &'a [u8])>,
    pub(super) modules: Vec<&'a [u8]>,
    /// In the order of instantiation.
    pub(super) instances: Vec<Instantiation>,
    pub(super) types: u32,
    pub(super) functions: u32,
    pub(super) component_instances: u32,
    pub(super) core_functions: u32,
    pub(super) core_memories: u32,
    pub(super) core_instances: u32,
}

/// What is being read while the payloads of nested modules and components are skipped.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Module,
    Component,
}

impl<'a> Outside<'a> {
    /// Reads a component that was validated.
    pub(super) fn read(component: &'a [u8]) -> Result<Outside<'a>, NotSplit> {
        let mut outside = Outside::default();
        let mut nested: Vec<Inside> = Vec::new();
        for payload in Parser::new(0).parse_all(component) {
            let payload = payload?;
            let inside = nested.last().copied();
            match &payload {
                Payload::ModuleSection { .. } => {
                    if inside == Some(Inside::Component) {
                        return Err(NotSplit::because("has components with modules in it"));
                    }
                    nested.push(Inside::Module);
                }
                Payload::ComponentSection { .. } => nested.push(Inside::Component),
                Payload::End(_) => {
                    nested.pop();
                    continue;
                }
                _ => {}
            }
            if inside == Some(Inside::Module) {
                continue;
            }
            must_be_repeatable(&payload)?;
            if inside.is_none() {
                outside.add(component, &payload)?;
            }
        }
        let mut used: Vec<u32> = outside.instances.iter().map(|made| made.module).collect();
        used.sort_unstable();
        if used.array_windows().any(|[one, next]| one == next) {
            return Err(NotSplit::because("instantiates a module twice"));
        }
        Ok(outside)
    }

    fn add(&mut self, component: &'a [u8], payload: &Payload<'a>) -> Result<(), NotSplit> {
        if let Some((id, range)) = payload.as_section()
            && id != section::CUSTOM
        {
            // The parser does not compare a nested component's length with the bytes that follow.
            let content = content(component, range)?;
            if id == section::MODULE {
                self.modules.push(content);
            }
            self.sections.push((id, content));
        }
        self.count_items(payload)
    }

    /// Counts what a section adds to each index space.
    fn count_items(&mut self, payload: &Payload<'_>) -> Result<(), NotSplit> {
        match payload {
            Payload::InstanceSection(instances) => {
                for instance in instances.clone() {
                    if let Instance::Instantiate { module_index, args } = instance? {
                        self.instances.push(Instantiation {
                            instance: self.core_instances,
                            module: module_index,
                            arguments: args.len(),
                        });
                    }
                    self.core_instances += 1;
                }
            }
            Payload::ComponentInstanceSection(instances) => {
                self.component_instances += instances.count();
            }
            Payload::ComponentTypeSection(types) => self.types += types.count(),
            Payload::ComponentAliasSection(aliases) => {
                for alias in aliases.clone() {
                    self.count_alias(&alias?);
                }
            }
            Payload::ComponentCanonicalSection(functions) => {
                for function in functions.clone() {
                    match function? {
                        CanonicalFunction::Lift { .. } => self.functions += 1,
                        _ => self.core_functions += 1,
                    }
                }
            }
            Payload::ComponentImportSection(imports) => {
                for import in imports.clone() {
                    let import = import?;
                    must_be_theirs(import.name.name)?;
                    self.count(import.ty.kind());
                }
            }
            Payload::ComponentExportSection(exports) => {
                for export in exports.clone() {
                    let export = export?;
                    must_be_theirs(export.name.name)?;
                    self.count(export.kind);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn count_alias(&mut self, alias: &ComponentAlias<'_>) {
        match alias {
            ComponentAlias::CoreInstanceExport { kind, .. } => match kind {
                ExternalKind::Func => self.core_functions += 1,
                ExternalKind::Memory => self.core_memories += 1,
                _ => {}
            },
            ComponentAlias::InstanceExport { kind, .. } => self.count(*kind),
            ComponentAlias::Outer { .. } => self.types += 1,
        }
    }

    fn count(&mut self, kind: ComponentExternalKind) {
        match kind {
            ComponentExternalKind::Func => self.functions += 1,
            ComponentExternalKind::Type => self.types += 1,
            ComponentExternalKind::Instance => self.component_instances += 1,
            // Anything else was refused before counting.
            _ => {}
        }
    }
}

fn must_be_theirs(name: &str) -> Result<(), NotSplit> {
    match name.starts_with(OUR_NAMES) {
        true => Err(NotSplit::because("has names that begin with `scorebox-`")),
        false => Ok(()),
    }
}

/// Checks that a section, of the component or of one in it, means the same in the shell.
fn must_be_repeatable(payload: &Payload<'_>) -> Result<(), NotSplit> {
    match payload {
        // The shell adds core types, which would change the indices of the component's.
        Payload::CoreTypeSection(_) => Err(NotSplit::because("has types of core modules")),
        Payload::ComponentStartSection { .. } => Err(NotSplit::because("has a start function")),
        Payload::ComponentAliasSection(aliases) => {
            aliases.clone().into_iter().try_for_each(|alias| match alias? {
                ComponentAlias::InstanceExport { kind, .. } => must_be_plain(kind),
                ComponentAlias::Outer { kind: ComponentOuterAliasKind::Type, .. }
                | ComponentAlias::CoreInstanceExport { .. } => Ok(()),
                ComponentAlias::Outer { .. } => {
                    Err(NotSplit::because("has aliases of modules or components"))
                }
            })
        }
        Payload::ComponentImportSection(imports) => {
            imports.clone().into_iter().try_for_each(|import| must_be_plain(import?.ty.kind()))
        }
        Payload::ComponentExportSection(exports) => {
            exports.clone().into_iter().try_for_each(|export| must_be_plain(export?.kind))
        }
        _ => Ok(()),
    }
}

fn must_be_plain(kind: ComponentExternalKind) -> Result<(), NotSplit> {
    match kind {
        ComponentExternalKind::Func
        | ComponentExternalKind::Type
        | ComponentExternalKind::Instance => Ok(()),
        _ => Err(NotSplit::because("hands modules, components or values about")),
    }
}
