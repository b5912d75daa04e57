//! A core module, read as far as splitting needs it, and what a module must not contain to be split or to be in a
//! component that is split. This is as strict as wasmtime-wizer, which freezes what is not split.

use wasmparser::{
    BinaryReaderError, CompositeInnerType, ConstExpr, DataKind, Export, ExternalKind, FuncType,
    Import, Operator, Parser, Payload, TableType, TypeRef, ValType,
};

use super::{
    NotSplit, OUR_NAMES,
    global::{Global, Kind},
};

/// The most globals of a main module: each is an import of the code and a symbol of every instance. A language that
/// links its libraries when a component is built (Python) has one global for each symbol that they share.
const MAX_GLOBALS: usize = 1024;
/// The size of a page of memory, in bytes.
const PAGE_BYTES: u64 = 64 << 10;

/// Section numbers of a core module.
pub(super) mod section {
    pub(in super::super) const CUSTOM: u8 = 0;
    pub(in super::super) const TYPE: u8 = 1;
    pub(in super::super) const IMPORT: u8 = 2;
    pub(in super::super) const FUNCTION: u8 = 3;
    pub(in super::super) const TABLE: u8 = 4;
    pub(in super::super) const MEMORY: u8 = 5;
    pub(in super::super) const GLOBAL: u8 = 6;
    pub(in super::super) const EXPORT: u8 = 7;
    pub(in super::super) const CODE: u8 = 10;
    pub(in super::super) const DATA: u8 = 11;
    pub(in super::super) const DATA_COUNT: u8 = 12;
}

/// The items of a section.
fn all<T>(
    items: impl IntoIterator<Item = Result<T, BinaryReaderError>>,
) -> Result<Vec<T>, NotSplit> {
    Ok(items.into_iter().collect::<Result<_, _>>()?)
}

/// A parsed core module, which is valid.
#[derive(Default)]
pub(super) struct CoreModule<'a> {
    /// The id and the content of each section; of the custom sections, only the names.
    pub(super) sections: Vec<(u8, &'a [u8])>,
    /// Each function type; `None` for a type of another kind.
    pub(super) types: Vec<Option<FuncType>>,
    pub(super) imports: Vec<Import<'a>>,
    /// The type of each function that is not imported.
    pub(super) functions: Vec<u32>,
    pub(super) tables: Vec<TableType>,
    pub(super) memories: Vec<wasmparser::MemoryType>,
    /// The globals; `None` for one whose type is not a number, or whose initial value is not constant.
    pub(super) globals: Vec<Option<Global>>,
    /// How many of them are mutable.
    changing: usize,
    pub(super) exports: Vec<Export<'a>>,
    /// The data segments with a constant offset in memory 0, and that offset.
    pub(super) segments: Vec<(u32, &'a [u8])>,
    /// Data segments of any other kind.
    other_segments: usize,
    pub(super) elements: u32,
    pub(super) tags: u32,
    pub(super) starts: bool,
}

impl<'a> CoreModule<'a> {
    /// Reads a module of a component that was validated.
    pub(super) fn read(bytes: &'a [u8]) -> Result<CoreModule<'a>, NotSplit> {
        let mut module = CoreModule::default();
        for payload in Parser::new(0).parse_all(bytes) {
            let payload = payload?;
            let kept = match &payload {
                Payload::CustomSection(custom) => custom.name() == "name",
                _ => true,
            };
            if let Some((id, range)) = payload.as_section().filter(|_| kept) {
                module.sections.push((id, content(bytes, range)?));
            }
            module.add(payload)?;
        }
        Ok(module)
    }

    fn add(&mut self, payload: Payload<'a>) -> Result<(), NotSplit> {
        match payload {
            Payload::TypeSection(types) => {
                for group in types {
                    for ty in group?.into_types() {
                        let plain = ty.is_final && ty.supertype_idx.is_none();
                        self.types.push(match ty.composite_type.inner {
                            CompositeInnerType::Func(function) if plain => Some(function),
                            _ => None,
                        });
                    }
                }
            }
            Payload::ImportSection(imports) => {
                self.imports.extend(all(imports.into_imports())?);
            }
            Payload::FunctionSection(functions) => self.functions.extend(all(functions)?),
            Payload::TableSection(tables) => {
                self.tables.extend(all(tables)?.into_iter().map(|table| table.ty));
            }
            Payload::MemorySection(memories) => self.memories.extend(all(memories)?),
            Payload::GlobalSection(globals) => {
                for global in globals {
                    let global = global?;
                    must_not_change_references(&global.ty)?;
                    self.changing += usize::from(global.ty.mutable);
                    self.globals.push(constant(&global)?);
                }
            }
            Payload::ExportSection(exports) => self.exports.extend(all(exports)?),
            Payload::DataSection(segments) => {
                for segment in segments {
                    let segment = segment?;
                    match offset(&segment.kind)? {
                        Some(offset) => self.segments.push((offset, segment.data)),
                        None => self.other_segments += 1,
                    }
                }
            }
            Payload::StartSection { .. } => self.starts = true,
            Payload::ElementSection(elements) => self.elements = elements.count(),
            Payload::TagSection(tags) => self.tags = tags.count(),
            Payload::CodeSectionEntry(body) => {
                let mut operators = body.get_operators_reader()?;
                while !operators.eof() {
                    must_be_kept(&operators.read()?)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The type of function `index`; `None` if there is no such function.
    pub(super) fn function_type(&self, index: u32) -> Option<u32> {
        let mut imported = self.imports.iter().filter_map(|import| match import.ty {
            TypeRef::Func(ty) => Some(ty),
            _ => None,
        });
        let index = usize::try_from(index).ok()?;
        let count = imported.clone().count();
        match index.checked_sub(count) {
            None => imported.nth(index),
            Some(index) => self.functions.get(index).copied(),
        }
    }

    /// The number of functions, including the imported ones.
    pub(super) fn function_count(&self) -> usize {
        self.imports.iter().filter(|import| matches!(import.ty, TypeRef::Func(_))).count()
            + self.functions.len()
    }

    /// The globals that a data module defines, up to the last mutable one, and the globals after it, which the code
    /// keeps at the same indices: each imported global makes every instance slower.
    pub(super) fn state_and_constants(&self) -> (Vec<&Global>, Vec<&Global>) {
        let mut state: Vec<&Global> = self.globals.iter().flatten().collect();
        let behind = state.iter().rposition(|global| global.mutable).map_or(0, |last| last + 1);
        let constants = state.split_off(behind);
        (state, constants)
    }

    /// The name under which it exports its memory.
    pub(super) fn exported_memory(&self) -> Result<&'a str, NotSplit> {
        let memory = self.exports.iter().find(|export| export.kind == ExternalKind::Memory);
        let memory = memory.ok_or_else(|| NotSplit::because("does not export its memory"))?;
        Ok(memory.name)
    }

    /// Whether the module with the memory can be split.
    pub(super) fn must_be_splittable(&self) -> Result<(), NotSplit> {
        let refuse = |why: &str| Err(NotSplit::because(why));
        let [memory] = self.memories.as_slice() else { return refuse("has several memories") };
        if memory.memory64 || memory.shared || memory.page_size_log2.is_some() {
            return refuse("has a memory that is shared, has 64 bits or pages of another size");
        }
        if self.imports.iter().any(|import| !matches!(import.ty, TypeRef::Func(_))) {
            return refuse("has code that imports a table, a memory, a global or a tag");
        }
        if self.starts {
            return refuse("has a start function");
        }
        if self.globals.len() > MAX_GLOBALS {
            return refuse("has too many globals");
        }
        if self.globals.iter().any(Option::is_none) {
            return refuse("has a global that does not begin with a constant number");
        }
        if self.other_segments > 0 {
            return refuse("has passive data segments");
        }
        let end = memory.initial.saturating_mul(PAGE_BYTES);
        let within = |(offset, data): &(u32, &[u8])| u64::from(*offset) + data.len() as u64 <= end;
        if !self.segments.iter().all(within) {
            return refuse("has data segments beyond its memory");
        }
        let names = self.imports.iter().map(|import| import.module);
        let names = names.chain(self.exports.iter().map(|export| export.name));
        if names.into_iter().any(|name| name.starts_with(OUR_NAMES)) {
            return refuse("has names that begin with `scorebox-`");
        }
        let has = |wanted| self.sections.iter().any(|(id, _)| *id == wanted);
        match [section::TYPE, section::FUNCTION, section::EXPORT, section::CODE].map(has) {
            [true, true, true, true] => Ok(()),
            _ => refuse("has no functions beside its memory"),
        }
    }

    /// Whether it keeps nothing on the heap that a store has for exceptions and references, outside its instances.
    pub(super) fn needs_no_collector(&self) -> bool {
        self.tags == 0 && self.tables.iter().all(|table| table.element_type.is_func_ref())
    }

    /// Whether all instances of a module without a memory are the same: nothing in it changes, and instantiating it
    /// changes nothing but tables. An immutable global may start with an imported one, which does not change either.
    pub(super) fn must_have_no_state(&self) -> Result<(), NotSplit> {
        let refuse = |why: &str| Err(NotSplit::because(why));
        if self.changing > 0 {
            return refuse("has globals that change");
        }
        if self.starts {
            return refuse("has a start function");
        }
        if !self.segments.is_empty() || self.other_segments > 0 {
            return refuse("has data segments");
        }
        Ok(())
    }
}

/// The content of a section.
pub(super) fn content(bytes: &[u8], range: std::ops::Range<usize>) -> Result<&[u8], NotSplit> {
    bytes.get(range).ok_or_else(|| NotSplit::because("has a section beyond its end"))
}

/// Refuses a mutable global with a reference, because it cannot be read from outside.
fn must_not_change_references(ty: &wasmparser::GlobalType) -> Result<(), NotSplit> {
    match (ty.mutable, ty.content_type) {
        (true, ValType::Ref(_)) => {
            Err(NotSplit::because("has a global that changes and holds a reference"))
        }
        _ => Ok(()),
    }
}

/// The global, if its initial value is a constant number.
fn constant(global: &wasmparser::Global<'_>) -> Result<Option<Global>, NotSplit> {
    let Some(kind) = Kind::of(global.ty.content_type) else { return Ok(None) };
    let bits = match only_operator(&global.init_expr)? {
        Some(Operator::I32Const { value }) => u128::from(value.cast_unsigned()),
        Some(Operator::I64Const { value }) => u128::from(value.cast_unsigned()),
        Some(Operator::F32Const { value }) => u128::from(value.bits()),
        Some(Operator::F64Const { value }) => u128::from(value.bits()),
        Some(Operator::V128Const { value }) => value.i128().cast_unsigned(),
        _ => return Ok(None),
    };
    let plain = !global.ty.shared;
    Ok(plain.then(|| Global::new(kind, global.ty.mutable, bits)))
}

/// The offset of a segment in memory 0; `None` if it is not constant, or if the segment is passive.
fn offset(kind: &DataKind<'_>) -> Result<Option<u32>, NotSplit> {
    let DataKind::Active { memory_index: 0, offset_expr } = kind else { return Ok(None) };
    Ok(match only_operator(offset_expr)? {
        Some(Operator::I32Const { value }) => Some(value.cast_unsigned()),
        _ => None,
    })
}

/// The operator of an expression, if it has only one.
fn only_operator<'a>(expression: &ConstExpr<'a>) -> Result<Option<Operator<'a>>, NotSplit> {
    let mut operators = expression.get_operators_reader();
    let only = operators.read()?;
    Ok(matches!(operators.read()?, Operator::End).then_some(only))
}

/// Refuses an instruction whose effect would not be kept. Tables are not kept: they must stay as their segments make
/// them. Nor is it kept which segments were dropped.
fn must_be_kept(operator: &Operator<'_>) -> Result<(), NotSplit> {
    let name = match operator {
        Operator::TableCopy { .. } => "table.copy",
        Operator::TableInit { .. } => "table.init",
        Operator::TableSet { .. } => "table.set",
        Operator::TableGrow { .. } => "table.grow",
        Operator::TableFill { .. } => "table.fill",
        Operator::ElemDrop { .. } => "elem.drop",
        Operator::DataDrop { .. } => "data.drop",
        Operator::MemoryInit { .. } => "memory.init",
        Operator::StructSet { .. } => "struct.set",
        Operator::ArraySet { .. } => "array.set",
        Operator::ArrayFill { .. } => "array.fill",
        Operator::ArrayCopy { .. } => "array.copy",
        Operator::ArrayInitData { .. } => "array.init_data",
        Operator::ArrayInitElem { .. } => "array.init_elem",
        _ => return Ok(()),
    };
    Err(NotSplit::because(format!("has an instruction `{name}`")))
}
