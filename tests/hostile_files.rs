//! Component files that no compiler produces: a working scorer with something after it, with the same bytes every time.
//! The tests describe the purpose of each.

use wasm_encoder::{
    Alias, BlockType, CanonicalFunctionSection, CodeSection, Component, ComponentExportKind,
    ComponentInstanceSection, ComponentOuterAliasKind, ComponentSection, ComponentType,
    ComponentTypeRef, ComponentTypeSection, ComponentValType, ConstExpr, DataSection, EntityType,
    ExportKind, Function, FunctionSection, ImportSection, InstanceSection, InstanceType,
    InstructionSink, MemorySection, MemoryType, Module, ModuleArg, ModuleSection,
    NestedComponentSection, PrimitiveValType, StartSection, TypeSection, ValType,
};
use wasmparser::{ComponentExternalKind, Parser, Payload};

const NO_MODULES: [(&str, ModuleArg); 0] = [];
const NO_ARGUMENTS: [(&str, ComponentExportKind, u32); 0] = [];

/// `scorer` with additional sections at its end.
pub(crate) fn with(scorer: &[u8], sections: &[&dyn ComponentSection]) -> Vec<u8> {
    let mut bytes = scorer.to_vec();
    sections.iter().for_each(|section| section.append_to_component(&mut bytes));
    bytes
}

/// `scorer` with a nested module that is never instantiated.
pub(crate) fn with_module(scorer: &[u8], module: &Module) -> Vec<u8> {
    with(scorer, &[&ModuleSection(module)])
}

/// `scorer` with an instance of a module next to its own.
pub(crate) fn instantiated(scorer: &[u8], module: &Module) -> Vec<u8> {
    let mut component = Component::new();
    component.section(&ModuleSection(module));
    let mut instance = InstanceSection::new();
    instance.instantiate(0, NO_MODULES);
    component.section(&instance);
    with_instance_of(scorer, &component)
}

/// `scorer` with an instance of another component next to its own.
pub(crate) fn with_instance_of(scorer: &[u8], component: &Component) -> Vec<u8> {
    let mut instance = ComponentInstanceSection::new();
    instance.instantiate(components(scorer), NO_ARGUMENTS);
    with(scorer, &[&NestedComponentSection(component), &instance])
}

/// The number of components directly inside of a component.
fn components(bytes: &[u8]) -> u32 {
    let sections = outer_sections(bytes);
    sections.iter().filter(|section| matches!(section, Payload::ComponentSection { .. })).count()
        as u32
}

/// The number of instances of a component, including its imports and exports.
pub(crate) fn instances(bytes: &[u8]) -> u32 {
    let count = |section: Payload<'_>| match section {
        Payload::ComponentInstanceSection(instances) => instances.count(),
        Payload::ComponentImportSection(imports) => imports
            .into_iter()
            .filter(|it| {
                matches!(it.as_ref().unwrap().ty, wasmparser::ComponentTypeRef::Instance(_))
            })
            .count() as u32,
        Payload::ComponentExportSection(exports) => exports
            .into_iter()
            .filter(|it| it.as_ref().unwrap().kind == ComponentExternalKind::Instance)
            .count() as u32,
        _ => 0,
    };
    outer_sections(bytes).into_iter().map(count).sum()
}

/// The sections of a component itself, without those of nested components and modules.
fn outer_sections(bytes: &[u8]) -> Vec<Payload<'_>> {
    let mut depth = 0;
    let mut sections = Vec::new();
    for section in Parser::new(0).parse_all(bytes) {
        let section = section.unwrap();
        let (begins, ends) = match section {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => (1, 0),
            Payload::End(_) => (0, 1),
            _ => (0, 0),
        };
        if depth == 0 {
            sections.push(section);
        }
        depth += begins - ends;
    }
    sections
}

/// A component that is nested several times.
pub(crate) fn nested_components(depth: usize) -> Component {
    (0..depth).fold(Component::new(), |inner, _| {
        let mut outer = Component::new();
        outer.section(&NestedComponentSection(&inner));
        outer
    })
}

/// A component that has two instances of one that has two instances of one …: 2^`depth` in all.
pub(crate) fn doubling_instances(depth: usize) -> Component {
    let mut innermost = Component::new();
    innermost.section(&ModuleSection(&Module::new()));
    let mut instance = InstanceSection::new();
    instance.instantiate(0, NO_MODULES);
    innermost.section(&instance);
    (0..depth).fold(innermost, |inner, _| {
        let mut outer = Component::new();
        outer.section(&NestedComponentSection(&inner));
        let mut instances = ComponentInstanceSection::new();
        instances.instantiate(0, NO_ARGUMENTS).instantiate(0, NO_ARGUMENTS);
        outer.section(&instances);
        outer
    })
}

/// A component with this many instances of an empty module.
pub(crate) fn core_instances(count: usize) -> Component {
    let mut component = Component::new();
    component.section(&ModuleSection(&Module::new()));
    let mut instances = InstanceSection::new();
    for _ in 0..count {
        instances.instantiate(0, NO_MODULES);
    }
    component.section(&instances);
    component
}

/// Types, each of which contains the previous one twice.
pub(crate) fn doubling_types(depth: u32) -> Component {
    let mut types = ComponentTypeSection::new();
    types.defined_type().primitive(PrimitiveValType::String);
    for inner in (0..depth).map(ComponentValType::Type) {
        types.defined_type().tuple([inner, inner]);
    }
    of_types(&types)
}

/// A list of lists of lists.
pub(crate) fn nested_lists(depth: u32) -> Component {
    let mut types = ComponentTypeSection::new();
    types.defined_type().primitive(PrimitiveValType::String);
    (0..depth).for_each(|inner| types.defined_type().list(ComponentValType::Type(inner)));
    of_types(&types)
}

/// Types of instances, each of which has two of the previous one.
pub(crate) fn doubling_instance_types(depth: u32) -> Component {
    let mut types = ComponentTypeSection::new();
    let mut innermost = InstanceType::new();
    innermost.ty().function().params::<_, ComponentValType>([]).result(None);
    innermost.export("f", ComponentTypeRef::Func(0));
    types.instance(&innermost);
    for index in 0..depth {
        let mut outer = InstanceType::new();
        outer.alias(Alias::Outer { kind: ComponentOuterAliasKind::Type, count: 1, index });
        outer.export("a", ComponentTypeRef::Instance(0));
        outer.export("b", ComponentTypeRef::Instance(0));
        types.instance(&outer);
    }
    of_types(&types)
}

/// The type of a component that contains the type of a component, and so on.
pub(crate) fn nested_component_types(depth: usize) -> ComponentTypeSection {
    let innermost = ComponentType::new();
    let outermost = (0..depth).fold(innermost, |inner, _| {
        let mut outer = ComponentType::new();
        outer.ty().component(&inner);
        outer
    });
    let mut types = ComponentTypeSection::new();
    types.component(&outermost);
    types
}

fn of_types(types: &ComponentTypeSection) -> Component {
    let mut component = Component::new();
    component.section(types);
    component
}

/// A component that endlessly makes handles of its own resource as soon as it is instantiated.
pub(crate) fn handles_without_end() -> Component {
    let mut component = Component::new();
    let mut types = ComponentTypeSection::new();
    types.resource(ValType::I32, None);
    component.section(&types);
    let mut functions = CanonicalFunctionSection::new();
    functions.resource_new(0);
    component.section(&functions);
    let mut module = Module::new();
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32], [ValType::I32]);
    types.ty().function([], []);
    module.section(&types);
    let mut imports = ImportSection::new();
    imports.import("handles", "new", EntityType::Function(0));
    module.section(&imports);
    start(&mut module, 1, 1, |body| {
        body.loop_(BlockType::Empty).i32_const(7).call(0).drop().br(0).end().end();
    });
    component.section(&ModuleSection(&module));
    let mut instances = InstanceSection::new();
    instances.export_items([("new", ExportKind::Func, 0)]);
    instances.instantiate(0, [("handles", ModuleArg::Instance(0))]);
    component.section(&instances);
    component
}

/// Adds a function that runs when the module is instantiated; `function` is its index.
fn start(
    module: &mut Module,
    type_index: u32,
    function: u32,
    body: impl FnOnce(&mut InstructionSink<'_>),
) {
    let mut functions = FunctionSection::new();
    functions.function(type_index);
    module.section(&functions);
    module.section(&StartSection { function_index: function });
    module.section(&code([], body));
}

fn code(
    locals: impl IntoIterator<Item = (u32, ValType), IntoIter: ExactSizeIterator>,
    body: impl FnOnce(&mut InstructionSink<'_>),
) -> CodeSection {
    let mut function = Function::new(locals);
    body(&mut function.instructions());
    let mut code = CodeSection::new();
    code.function(&function);
    code
}

/// A module whose instantiation never ends.
pub(crate) fn start_without_end() -> Module {
    let mut module = Module::new();
    let mut types = TypeSection::new();
    types.ty().function([], []);
    module.section(&types);
    start(&mut module, 0, 0, |body| {
        body.loop_(BlockType::Empty).br(0).end().end();
    });
    module
}

/// A module with one function from a number to a number, which is never called.
pub(crate) fn module_of(locals: u32, body: impl FnOnce(&mut InstructionSink<'_>)) -> Module {
    let mut module = Module::new();
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32], [ValType::I32]);
    module.section(&types);
    let mut functions = FunctionSection::new();
    functions.function(0);
    module.section(&functions);
    module.section(&code([(locals, ValType::I32)], body));
    module
}

/// A module with this many functions that return their argument.
pub(crate) fn module_of_functions(count: usize) -> Module {
    let mut module = Module::new();
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32], [ValType::I32]);
    module.section(&types);
    let (mut functions, mut code) = (FunctionSection::new(), CodeSection::new());
    let mut function = Function::new([]);
    function.instructions().local_get(0).end();
    for _ in 0..count {
        functions.function(0);
        code.function(&function);
    }
    module.section(&functions);
    module.section(&code);
    module
}

/// A module with a memory of this many pages, and data in it: the offsets and the bytes.
pub(crate) fn module_with_data(
    pages: u64,
    data: impl IntoIterator<Item = (u32, Vec<u8>)>,
) -> Module {
    let mut module = Module::new();
    let mut memories = MemorySection::new();
    memories.memory(MemoryType {
        minimum: pages,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    });
    module.section(&memories);
    let mut segments = DataSection::new();
    for (place, bytes) in data {
        segments.active(0, &ConstExpr::i32_const(place.cast_signed()), bytes);
    }
    module.section(&segments);
    module
}

/// Bytes that look like a component in the first eight, and are noise after that.
pub(crate) fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut file = b"\0asm\x0d\0\x01\0".to_vec();
    file.extend((0..bytes).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    }));
    file
}
