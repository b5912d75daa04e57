//! The contract from the point of view of a core module: the functions that it may import and must export, each with
//! its type. It is read from the text of `wit/`, which is part of the library.

use std::collections::BTreeMap;

use wasmparser::ValType;
use wit_parser::{
    Function, Resolve, WorldId, WorldItem, WorldKey,
    abi::{AbiVariant, WasmType},
};

use super::BuildError;

/// The package's files.
const FILES: [&str; 4] = [
    include_str!("../../../wit/0.1.0/types.wit"),
    include_str!("../../../wit/0.1.0/host.wit"),
    include_str!("../../../wit/0.1.0/scoring.wit"),
    include_str!("../../../wit/0.1.0/worlds.wit"),
];
/// The beginning of each file.
const PACKAGE: &str = "package scorebox:scorer@0.1.0;";
/// Worlds with everything that a scorer may import. What it does not import leaves no trace in the component.
const WORLDS: &str = "
world built { include judging-scorer; include workspace-scorer; }
world built-with-summary { include built; export summary; }
";

/// Parameters and results.
pub(super) type Signature = (Vec<ValType>, Vec<ValType>);
/// Functions by name, with their types.
pub(super) type Functions = BTreeMap<String, Signature>;

/// The contract.
pub(super) struct Contract {
    pub(super) resolve: Resolve,
    /// The world of a scorer with a summary.
    pub(super) world: WorldId,
    /// The world of a scorer without a summary.
    without_summary: WorldId,
    /// The imports, by module and name.
    pub(super) imports: BTreeMap<(String, String), Signature>,
    /// What every scorer exports.
    pub(super) exports: Functions,
    /// What a scorer with a summary exports in addition.
    pub(super) summary: Functions,
}

impl Contract {
    /// Reads the contract.
    pub(super) fn read() -> Result<Contract, BuildError> {
        let read = || -> Result<Contract, String> {
            let mut text = PACKAGE.to_owned();
            for file in FILES {
                text.push_str(file.strip_prefix(PACKAGE).ok_or("a file is of another package")?);
            }
            text.push_str(WORLDS);
            let mut resolve = Resolve::default();
            let package =
                resolve.push_source("scorer.wit", &text).map_err(|error| format!("{error:#}"))?;
            let world = |name| resolve.packages[package].worlds.get(name).copied().ok_or(name);
            let without_summary = world("built")?;
            let world = world("built-with-summary")?;
            let (mut imports, mut exports, mut summary) =
                (BTreeMap::new(), Functions::new(), Functions::new());
            let worlds = &resolve.worlds;
            for (key, item) in &worlds[world].imports {
                for (interface, function) in functions(&resolve, key, item) {
                    let kind = signature(&resolve, AbiVariant::GuestImport, function);
                    imports.insert((interface, function.name.clone()), kind);
                }
            }
            for (key, item) in &worlds[world].exports {
                let of_all = match worlds[without_summary].exports.contains_key(key) {
                    true => &mut exports,
                    false => &mut summary,
                };
                for (interface, function) in functions(&resolve, key, item) {
                    let kind = signature(&resolve, AbiVariant::GuestExport, function);
                    of_all.insert(format!("{interface}#{}", function.name), kind);
                }
            }
            Ok(Contract { resolve, world, without_summary, imports, exports, summary })
        };
        read().map_err(|reason| BuildError::Component(format!("the contract: {reason}")))
    }

    /// The contract without the summary, for a module that does not export it.
    pub(super) fn without_summary(self) -> Contract {
        Contract { world: self.without_summary, summary: Functions::new(), ..self }
    }
}

/// The functions of an interface, each with the interface's name.
fn functions<'r>(
    resolve: &'r Resolve,
    key: &WorldKey,
    item: &'r WorldItem,
) -> impl Iterator<Item = (String, &'r Function)> {
    let name = resolve.name_world_key(key);
    let functions = match item {
        WorldItem::Interface { id, .. } => Some(resolve.interfaces[*id].functions.values()),
        _ => None,
    };
    functions.into_iter().flatten().map(move |function| (name.clone(), function))
}

fn signature(resolve: &Resolve, way: AbiVariant, function: &Function) -> Signature {
    let core = resolve.wasm_signature(way, function);
    let values = |kinds: &[WasmType]| kinds.iter().map(|kind| value(*kind)).collect();
    (values(&core.params), values(&core.results))
}

fn value(kind: WasmType) -> ValType {
    match kind {
        WasmType::I32 | WasmType::Pointer | WasmType::Length => ValType::I32,
        WasmType::I64 | WasmType::PointerOrI64 => ValType::I64,
        WasmType::F32 => ValType::F32,
        WasmType::F64 => ValType::F64,
    }
}
