//! wit-component's shim: a module with a table and functions that call through it. It exists so that imports can use a
//! memory that does not exist yet. It is recognized by its code, not by its name, because a data module is compiled
//! outside the compiler process.

use serde::{Deserialize, Serialize};
use wasmparser::{BinaryReader, CodeSectionReader, FuncType, Operator};

use super::module::{CoreModule, section};

/// The most functions of a shim: as many as the imports of a component that use its memory.
const MAX_FUNCTIONS: usize = 256;
/// The most parameters of a shim's function: those of the canonical ABI, and one for the result.
const MAX_PARAMETERS: usize = 17;
/// The most results of a shim's function: the canonical ABI returns more in memory.
const MAX_RESULTS: usize = 1;
/// The most bytes of a shim, including names.
const MAX_BYTES: usize = 64 << 10;
/// The most elements of its table.
const MAX_ELEMENTS: u64 = MAX_FUNCTIONS as u64;

/// The sections of a shim: ids and contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Shim {
    pub(super) sections: Vec<(u8, Vec<u8>)>,
}

impl Shim {
    /// The module as a shim; `None` if it is not a shim.
    pub(super) fn of(module: &CoreModule<'_>) -> Option<Shim> {
        let known = |id: &u8| {
            [section::TYPE, section::FUNCTION, section::TABLE, section::EXPORT, section::CODE]
                .contains(id)
        };
        let once = |wanted: u8| module.sections.iter().filter(|(id, _)| *id == wanted).count() == 1;
        let sections = module.sections.iter().filter(|(id, _)| *id != section::CUSTOM);
        let bytes: usize = module.sections.iter().map(|(_, content)| content.len()).sum();
        let [table] = module.tables.as_slice() else { return None };
        let fits = bytes <= MAX_BYTES
            && module.functions.len() <= MAX_FUNCTIONS
            && table.initial <= MAX_ELEMENTS
            && !table.table64
            && !table.shared
            && module.types.iter().all(|ty| ty.as_ref().is_some_and(is_small));
        let is_one = fits
            && sections.clone().all(|(id, _)| known(id))
            && once(section::EXPORT)
            && sections
                .clone()
                .filter(|(id, _)| *id == section::CODE)
                .all(|(_, code)| only_calls(code));
        is_one.then(|| Shim {
            sections: module.sections.iter().map(|(id, content)| (*id, content.to_vec())).collect(),
        })
    }
}

fn is_small(ty: &FuncType) -> bool {
    ty.params().len() <= MAX_PARAMETERS && ty.results().len() <= MAX_RESULTS
}

/// Whether all functions pass their parameters to a function of the table, and do nothing else.
fn only_calls(code: &[u8]) -> bool {
    let Ok(bodies) = CodeSectionReader::new(BinaryReader::new(code, 0)) else { return false };
    bodies.into_iter().all(|body| body.is_ok_and(|body| only_calls_through(&body).unwrap_or(false)))
}

fn only_calls_through(body: &wasmparser::FunctionBody<'_>) -> wasmparser::Result<bool> {
    if body.get_locals_reader()?.get_count() != 0 {
        return Ok(false);
    }
    let mut parameters = 0;
    let mut operators = body.get_operators_reader()?;
    let mut operator = operators.read()?;
    while let Operator::LocalGet { local_index } = operator
        && local_index == parameters
    {
        parameters += 1;
        operator = operators.read()?;
    }
    let calls = matches!(operator, Operator::I32Const { .. })
        && matches!(operators.read()?, Operator::CallIndirect { table_index: 0, .. })
        && matches!(operators.read()?, Operator::End);
    Ok(calls && operators.eof())
}
