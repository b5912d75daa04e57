//! The code module: the main module without its memory, its mutable globals and its data segments, which it imports,
//! and with additional functions after its own that read them. Its own functions keep their bytes, indices and names,
//! so that fuel and backtraces stay the same.

use wasm_encoder::{
    CodeSection, EntityType, ExportKind, ExportSection, Function, FunctionSection, GlobalSection,
    ImportSection, MemArg, Module, RawSection, TypeSection, ValType,
};

use super::{
    NotSplit, STATE,
    data::{global_name, memory_name_and_type},
    encode::extended,
    global::Kind,
    module::{CoreModule, section},
};

/// The instance that the shell exports, with functions that read memory and globals.
pub(in super::super) const ACCESS: &str = "scorebox-access";
/// Returns the size of the memory in pages.
pub(in super::super) const PAGES: &str = "scorebox-pages";
/// Returns the first eight bytes of memory, as a number.
pub(in super::super) const FIRST_WORD: &str = "scorebox-first-word";
/// Returns the whole memory, and overwrites its first eight bytes with its address and length.
pub(in super::super) const BYTES: &str = "scorebox-bytes";

/// A function that reads memory or a global, and the name of its export.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Accessor {
    /// The name.
    pub(in super::super) name: String,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Pages,
    FirstWord,
    Bytes,
    /// A global's value, or one half of it, as a 32-bit or 64-bit number.
    Global {
        index: u32,
        kind: Kind,
        high: bool,
    },
}

impl Accessor {
    /// The name of the function that reads global `index`, or the high half of a 128-bit one.
    pub(in super::super) fn of_global(index: u32, high: bool) -> String {
        format!("scorebox-global{index}{}", if high { "-high" } else { "" })
    }

    /// Its result in core WebAssembly.
    pub(super) fn result(&self) -> ValType {
        match self.what {
            What::Pages | What::Bytes => ValType::I32,
            What::FirstWord => ValType::I64,
            What::Global { kind, .. } => match kind {
                Kind::I32 | Kind::F32 => ValType::I32,
                Kind::I64 | Kind::F64 | Kind::V128 => ValType::I64,
            },
        }
    }

    /// Whether it returns a list of bytes.
    pub(super) fn answers_bytes(&self) -> bool {
        self.what == What::Bytes
    }

    fn body(&self) -> Function {
        let mut function = Function::new([]);
        let mut code = function.instructions();
        let at = |align, offset| MemArg { align, offset, memory_index: 0 };
        match self.what {
            What::Pages => {
                code.memory_size(0);
            }
            What::FirstWord => {
                code.i32_const(0).i64_load(at(0, 0));
            }
            What::Bytes => {
                // A list is returned through its address and its length, which are in memory themselves. The caller has
                // read the eight bytes before.
                code.i32_const(0).i32_const(0).i32_store(at(2, 0));
                code.i32_const(0).memory_size(0).i32_const(16).i32_shl().i32_store(at(2, 4));
                code.i32_const(0);
            }
            What::Global { index, kind, high } => {
                code.global_get(index);
                match kind {
                    Kind::I32 | Kind::I64 => {}
                    // Floats are read as bits, because their values may change on the way.
                    Kind::F32 => {
                        code.i32_reinterpret_f32();
                    }
                    Kind::F64 => {
                        code.i64_reinterpret_f64();
                    }
                    Kind::V128 => {
                        code.i64x2_extract_lane(u8::from(high));
                    }
                }
            }
        }
        code.end();
        function
    }
}

/// The functions that read the state of `main`.
pub(super) fn accessors(main: &CoreModule<'_>) -> Vec<Accessor> {
    let memory = [(PAGES, What::Pages), (FIRST_WORD, What::FirstWord), (BYTES, What::Bytes)];
    let memory = memory.map(|(name, what)| Accessor { name: name.to_owned(), what });
    let globals = main.globals.iter().flatten().zip(0..).filter(|(global, _)| global.mutable);
    let globals = globals.flat_map(|(global, index)| {
        let kind = global.kind;
        let halves = [false, true].into_iter().take(if kind == Kind::V128 { 2 } else { 1 });
        halves.map(move |high| Accessor {
            name: Accessor::of_global(index, high),
            what: What::Global { index, kind, high },
        })
    });
    memory.into_iter().chain(globals).collect()
}

/// The code module.
pub(super) fn code_module(
    main: &CoreModule<'_>,
    accessors: &[Accessor],
) -> Result<Vec<u8>, NotSplit> {
    let mut types = TypeSection::new();
    let mut functions = FunctionSection::new();
    let mut exports = ExportSection::new();
    let mut code = CodeSection::new();
    let (types_before, functions_before) =
        (number(main.types.len())?, number(main.function_count())?);
    for (accessor, index) in accessors.iter().zip(0..) {
        types.ty().function([], [accessor.result()]);
        functions.function(types_before + index);
        exports.export(&accessor.name, ExportKind::Func, functions_before + index);
        code.function(&accessor.body());
    }
    let imports = state_imports(main);
    let mut module = Module::new();
    let mut imported = false;
    for (id, content) in &main.sections {
        // The import section comes between the types and the functions.
        if *id == section::FUNCTION && !imported {
            module.section(&imports);
        }
        let content = match *id {
            section::TYPE => extended(content, &types)?,
            section::IMPORT => {
                imported = true;
                extended(content, &imports)?
            }
            section::FUNCTION => extended(content, &functions)?,
            section::EXPORT => extended(content, &exports)?,
            section::CODE => extended(content, &code)?,
            section::GLOBAL => {
                module.section(&constants(main));
                continue;
            }
            section::MEMORY | section::DATA | section::DATA_COUNT => continue,
            _ => content.to_vec(),
        };
        module.section(&RawSection { id: *id, data: &content });
    }
    Ok(module.finish())
}

/// The imports of memory and globals, after the module's own, so that no function and no global changes its index.
fn state_imports(main: &CoreModule<'_>) -> ImportSection {
    let mut imports = ImportSection::new();
    for (name, ty) in state(main) {
        imports.import(STATE, &name, ty);
    }
    imports
}

/// Memory and globals, with the names under which they are exported and imported, in the order of their imports.
pub(super) fn state<'a>(
    main: &'a CoreModule<'_>,
) -> impl Iterator<Item = (String, EntityType)> + 'a {
    let memories = main.memories.iter().map(|memory| {
        let (name, ty) = memory_name_and_type(memory.initial, memory.maximum);
        (name.to_owned(), EntityType::Memory(ty))
    });
    let (globals, _) = main.state_and_constants();
    let globals = globals.into_iter().zip(0..);
    let globals =
        globals.map(|(global, index)| (global_name(index), EntityType::Global(global.ty())));
    memories.chain(globals)
}

/// The immutable globals, which the code module keeps.
fn constants(main: &CoreModule<'_>) -> GlobalSection {
    let mut globals = GlobalSection::new();
    let (_, constants) = main.state_and_constants();
    for global in constants {
        globals.global(global.ty(), &global.expression(global.bits));
    }
    globals
}

fn number(count: usize) -> Result<u32, NotSplit> {
    u32::try_from(count).map_err(|_| NotSplit::because("is too large"))
}
