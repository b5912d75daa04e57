//! Converts what wasmparser reads to what wasm-encoder writes: the few types that a split component needs, and sections
//! with added entries. It decides nothing.

use wasm_encoder::{Encode, ExportKind, GlobalType, MemoryType, RefType, TableType, ValType};

use super::NotSplit;

/// A value type in the signature of one of the main module's functions.
pub(super) fn val_type(ty: wasmparser::ValType) -> Result<ValType, NotSplit> {
    Ok(match ty {
        wasmparser::ValType::I32 => ValType::I32,
        wasmparser::ValType::I64 => ValType::I64,
        wasmparser::ValType::F32 => ValType::F32,
        wasmparser::ValType::F64 => ValType::F64,
        wasmparser::ValType::V128 => ValType::V128,
        wasmparser::ValType::Ref(ty) => ValType::Ref(ref_type(ty)?),
    })
}

fn ref_type(ty: wasmparser::RefType) -> Result<RefType, NotSplit> {
    match ty {
        wasmparser::RefType::FUNCREF => Ok(RefType::FUNCREF),
        wasmparser::RefType::EXTERNREF => Ok(RefType::EXTERNREF),
        other => Err(NotSplit::because(format!("has a reference of type {other}"))),
    }
}

/// A table's type.
pub(super) fn table_type(ty: &wasmparser::TableType) -> Result<TableType, NotSplit> {
    Ok(TableType {
        element_type: ref_type(ty.element_type)?,
        table64: ty.table64,
        minimum: ty.initial,
        maximum: ty.maximum,
        shared: ty.shared,
    })
}

/// A memory's type; shared and 64-bit memories do not get here.
pub(super) fn memory_type(minimum: u64, maximum: Option<u64>) -> MemoryType {
    MemoryType { minimum, maximum, memory64: false, shared: false, page_size_log2: None }
}

/// A global's type.
pub(super) fn global_type(val_type: ValType, mutable: bool) -> GlobalType {
    GlobalType { val_type, mutable, shared: false }
}

/// The kind of an export; an error for kinds that nothing here exports.
pub(super) fn export_kind(kind: wasmparser::ExternalKind) -> Result<ExportKind, NotSplit> {
    match kind {
        wasmparser::ExternalKind::Func => Ok(ExportKind::Func),
        wasmparser::ExternalKind::Table => Ok(ExportKind::Table),
        wasmparser::ExternalKind::Memory => Ok(ExportKind::Memory),
        wasmparser::ExternalKind::Global => Ok(ExportKind::Global),
        wasmparser::ExternalKind::Tag | wasmparser::ExternalKind::FuncExact => {
            Err(NotSplit::because("exports a tag or an exact function"))
        }
    }
}

/// The section with the content `content`, with the entries of `more` at its end.
pub(super) fn extended(content: &[u8], more: &impl Encode) -> Result<Vec<u8>, NotSplit> {
    let (count, entries) = counted(content)?;
    let mut bytes = Vec::new();
    more.encode(&mut bytes);
    // The size in bytes comes first.
    let (_, added) = counted(&bytes)?;
    let (added_count, added) = counted(added)?;
    let count = count.checked_add(added_count).ok_or_else(|| NotSplit::because("is too large"))?;
    let mut extended = Vec::with_capacity(content.len() + added.len() + 5);
    count.encode(&mut extended);
    extended.extend_from_slice(entries);
    extended.extend_from_slice(added);
    Ok(extended)
}

/// The number at the beginning of `bytes`, and the rest.
fn counted(bytes: &[u8]) -> Result<(u32, &[u8]), NotSplit> {
    let mut reader = wasmparser::BinaryReader::new(bytes, 0);
    let count = reader.read_var_u32()?;
    let rest = bytes.get(reader.original_position()..);
    Ok((count, rest.unwrap_or_default()))
}
