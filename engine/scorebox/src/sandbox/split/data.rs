//! Data modules: memory and globals with their initial values, and no code but the shim's functions. [`Shape`] is what
//! all data modules of a component have in common.

use serde::{Deserialize, Serialize};
use wasm_encoder::{
    ConstExpr, DataSection, ExportKind, ExportSection, GlobalSection, MemorySection, MemoryType,
    Module, RawSection,
};

use super::{
    NotSplit,
    encode::{extended, memory_type},
    global::{Global, Kind},
    module::{CoreModule, section},
    shim::Shim,
};

/// The name of the memory that a data module exports.
pub(super) const MEMORY: &str = "memory";
/// The size of the chunks that are searched for zeros, in bytes. Ranges of a memory that are zero are omitted; wasmtime
/// makes an image of whole pages.
const STRETCH_BYTES: usize = 4 << 10;

/// What a component's data modules have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Shape {
    /// The initial size of the memory in pages, and its maximum.
    pages: u64,
    most_pages: Option<u64>,
    globals: Vec<Global>,
    shim: Option<Shim>,
}

/// A memory and the mutable globals, as `configure` left them.
pub(in super::super) struct Contents {
    /// The content, in whole pages.
    pub(in super::super) memory: Vec<u8>,
    /// The bits of each mutable global, in their order: the low half and the high half.
    pub(in super::super) globals: Vec<[u64; 2]>,
}

impl Shape {
    pub(super) fn new(main: &CoreModule<'_>, shim: Option<Shim>) -> Result<Shape, NotSplit> {
        let memory = main.memories.first().ok_or_else(|| NotSplit::because("has no memory"))?;
        let globals = main.state_and_constants().0.into_iter().cloned().collect();
        Ok(Shape { pages: memory.initial, most_pages: memory.maximum, globals, shim })
    }

    /// The mutable globals, with their indices among all globals.
    pub(in super::super) fn changing(&self) -> impl Iterator<Item = (u32, Kind)> {
        let globals = (0..).zip(&self.globals).filter(|(_, global)| global.mutable);
        globals.map(|(index, global)| (index, global.kind))
    }

    /// The data module with a component's initial state.
    pub(super) fn first(&self, segments: &[(u32, &[u8])]) -> Result<Vec<u8>, NotSplit> {
        let values = self.globals.iter().map(|global| global.bits);
        self.data_module(self.pages, values, segments.iter().copied())
    }

    /// The data module whose instances start from `contents`.
    ///
    /// # Errors
    /// If the contents do not have this shape.
    pub(in super::super) fn data(&self, contents: &Contents) -> Result<Vec<u8>, NotSplit> {
        if self.changing().count() != contents.globals.len() {
            return Err(NotSplit::because("has other globals"));
        }
        let mut changed = contents.globals.iter().copied();
        let values = self.globals.iter().map(|global| {
            let changed = global.mutable.then(|| changed.next()).flatten();
            changed.unwrap_or(global.bits)
        });
        let pages = (contents.memory.len() / PAGE_BYTES) as u64;
        self.data_module(pages, values, stretches(&contents.memory).into_iter())
    }

    fn data_module<'a>(
        &self,
        pages: u64,
        values: impl Iterator<Item = [u64; 2]>,
        segments: impl Iterator<Item = (u32, &'a [u8])>,
    ) -> Result<Vec<u8>, NotSplit> {
        let mut memories = MemorySection::new();
        let mut globals = GlobalSection::new();
        let mut exports = ExportSection::new();
        let (name, ty) = memory_name_and_type(pages, self.most_pages);
        memories.memory(ty);
        exports.export(name, ExportKind::Memory, 0);
        for ((global, bits), index) in self.globals.iter().zip(values).zip(0..) {
            globals.global(global.ty(), &global.expression(bits));
            exports.export(&global_name(index), ExportKind::Global, index);
        }
        let mut data = DataSection::new();
        for (offset, bytes) in segments {
            let offset = ConstExpr::i32_const(offset.cast_signed());
            data.active(0, &offset, bytes.iter().copied());
        }
        let mut module = Module::new();
        match &self.shim {
            None => {
                module.section(&memories).section(&globals).section(&exports).section(&data);
            }
            Some(shim) => {
                let of_shim = |names: bool| {
                    let is_names = move |id: u8| (id == section::CUSTOM) == names;
                    shim.sections.iter().filter(move |(id, _)| is_names(*id))
                };
                for (id, content) in of_shim(false) {
                    let content = match *id {
                        section::EXPORT => {
                            module.section(&memories).section(&globals);
                            extended(content, &exports)?
                        }
                        _ => content.clone(),
                    };
                    module.section(&RawSection { id: *id, data: &content });
                }
                module.section(&data);
                for (id, content) in of_shim(true) {
                    module.section(&RawSection { id: *id, data: content });
                }
            }
        }
        Ok(module.finish())
    }
}

/// The size of a page of memory, in bytes.
const PAGE_BYTES: usize = 64 << 10;

/// The name and the type of the memory that a data module exports and the code module imports.
pub(super) fn memory_name_and_type(
    pages: u64,
    most_pages: Option<u64>,
) -> (&'static str, MemoryType) {
    (MEMORY, memory_type(pages, most_pages))
}

/// The name of global `index` that a data module exports and the code module imports.
pub(super) fn global_name(index: u32) -> String {
    format!("global{index}")
}

/// The ranges of a memory that are not zero, and where they begin.
fn stretches(memory: &[u8]) -> Vec<(u32, &[u8])> {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for (index, stretch) in memory.chunks(STRETCH_BYTES).enumerate() {
        if stretch.iter().all(|byte| *byte == 0) {
            continue;
        }
        let (from, to) = (index * STRETCH_BYTES, index * STRETCH_BYTES + stretch.len());
        match stretches.last_mut() {
            Some((_, end)) if *end == from => *end = to,
            _ => stretches.push((from, to)),
        }
    }
    // A 32-bit memory has no offset beyond 32 bits.
    let placed =
        |(from, to): (usize, usize)| Some((u32::try_from(from).ok()?, memory.get(from..to)?));
    stretches.into_iter().filter_map(placed).collect()
}
