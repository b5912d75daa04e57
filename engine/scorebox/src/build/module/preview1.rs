//! The functions that replace WASI preview 1: a separate module, written in `preview1.wat`. `merge` inserts them.

use std::collections::BTreeMap;

use wasmparser::{BinaryReaderError, CompositeInnerType, FuncType, Parser, Payload, TypeRef};

use super::contract::Signature;

/// `preview1.wat`, assembled.
pub(super) const PREVIEW_1: &[u8] = include_bytes!("preview1.wasm");
/// The name of the exported global that turns printing off.
const QUIET: &str = "quiet";

/// The functions that replace imports.
pub(super) struct Preview1 {
    /// The types, by index.
    types: Vec<FuncType>,
    /// For each imported function, its name in the contract's log, and its type.
    pub(super) imports: Vec<(String, u32)>,
    /// The type index of each of its own functions.
    pub(super) own: Vec<u32>,
    /// The indices of its exports, by name.
    pub(super) exports: BTreeMap<String, u32>,
    /// The index of the global that turns printing off.
    pub(super) quiet: u32,
    pub(super) globals: u32,
}

impl Preview1 {
    pub(super) fn read() -> Result<Preview1, BinaryReaderError> {
        let mut read = Preview1 {
            types: Vec::new(),
            imports: Vec::new(),
            own: Vec::new(),
            exports: BTreeMap::new(),
            quiet: 0,
            globals: 0,
        };
        for payload in Parser::new(0).parse_all(PREVIEW_1) {
            match payload? {
                Payload::TypeSection(types) => {
                    for group in types {
                        for kind in group?.into_types() {
                            if let CompositeInnerType::Func(kind) = kind.composite_type.inner {
                                read.types.push(kind);
                            }
                        }
                    }
                }
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        let import = import?;
                        if let TypeRef::Func(kind) = import.ty {
                            read.imports.push((import.name.to_owned(), kind));
                        }
                    }
                }
                Payload::FunctionSection(kinds) => {
                    read.own = kinds.into_iter().collect::<Result<_, _>>()?;
                }
                Payload::GlobalSection(globals) => read.globals = globals.count(),
                Payload::ExportSection(exports) => {
                    for export in exports {
                        let export = export?;
                        match export.name {
                            QUIET => read.quiet = export.index,
                            name => drop(read.exports.insert(name.to_owned(), export.index)),
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(read)
    }

    /// The functions, by name.
    pub(super) fn functions() -> BTreeMap<String, Signature> {
        // A test checks that it can be read.
        let Ok(read) = Preview1::read() else { return BTreeMap::new() };
        let kind = |index: u32| {
            let own = (index as usize).checked_sub(read.imports.len())?;
            let kind = read.types.get(*read.own.get(own)? as usize)?;
            Some((kind.params().to_vec(), kind.results().to_vec()))
        };
        let named = read.exports.iter();
        named.filter_map(|(name, index)| Some((name.clone(), kind(*index)?))).collect()
    }
}
