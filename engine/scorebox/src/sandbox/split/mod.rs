//! Splits a component into code, which is compiled once, and state (memory and globals), which differs for each
//! configuration. It turns bytes into bytes: it compiles and runs nothing, and knows nothing of wasmtime.
//!
//! A component has one core module with a memory: its *main* module. After splitting, that module imports its memory
//! and its globals, and is called the *code module*; a *data module* defines only these. The *shell* is the component
//! around the code module, which imports the data module:
//!
//! ```text
//! component { main { memory, globals, code }, shim, fix-up, … }
//!   = shell { code { code }, import data, fix-up, … }  +  data { memory, globals, shim }
//! ```
//!
//! If an instance of the shell consists only of these two modules, the shell imports the code module as well, so that
//! `score` can be called without the component around it. Otherwise the shell contains the code module, because
//! wasmtime finds the exports of a contained module by index, but those of an imported one by name, again for each
//! score.
//!
//! If the component begins with wit-component's shim, a module of a table and functions that call through it, the data
//! module is that shim with memory and globals in addition (the *merged* form): an instance then consists of as many
//! core instances as before. Otherwise the data module is an additional one (the *separate* form).
//!
//! The bytes are untrusted. A component that is not understood in every detail, or has state that would not be kept, is
//! not split: the caller then compiles it as it is.
//!
//! - `but_data`: the digest of everything that code is made from.
//! - `module`: a core module, and what it must not contain.
//! - `outside`: a component's own sections, counted.
//! - `shim`: wit-component's shim, recognized by its code.
//! - `code`: the main module without its state, and with functions that read it.
//! - `global`: a global of the main module, and its bits.
//! - `data`: [`Shape`] and the data modules that are made from it.
//! - `shell`: the component around both.
//! - `core_score`: a call of `score` without the shell.
//! - `encode`: converts what wasmparser reads to what wasm-encoder writes.

mod but_data;
mod code;
mod core_score;
mod data;
mod encode;
mod global;
mod module;
mod outside;
mod shell;
mod shim;

pub(super) use but_data::digest_but_data;
pub(super) use code::{ACCESS, Accessor, BYTES, FIRST_WORD, PAGES};
pub(super) use core_score::{CoreScore, Source};
pub(super) use data::{Contents, Shape};
pub(super) use global::Kind;

use module::CoreModule;
use outside::Outside;
use shim::Shim;

use super::settings;

/// The name under which the shell imports the data module.
pub(super) const DATA_IMPORT: &str = "scorebox-data";
/// The name under which the shell imports the code module, if it imports it.
pub(super) const CODE_IMPORT: &str = "scorebox-code";
/// The name under which the code module imports memory and globals.
const STATE: &str = "scorebox-state";
/// The prefix of all names that are added to a component.
const OUR_NAMES: &str = "scorebox-";

/// Why a component is not split: the end of a sentence whose subject is the component.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub(super) struct NotSplit(String);

impl NotSplit {
    fn because(why: impl Into<String>) -> NotSplit {
        NotSplit(why.into())
    }
}

impl From<wasmparser::BinaryReaderError> for NotSplit {
    fn from(error: wasmparser::BinaryReaderError) -> NotSplit {
        NotSplit(format!("is not valid: {}", error.message()))
    }
}

/// The parts of a component. All of them are WebAssembly, and not compiled yet.
#[derive(Debug)]
pub(super) struct Split {
    /// The component around the code module, which imports a data module.
    pub(super) shell: Vec<u8>,
    /// The code module, if the shell imports it too, and how `score` is called in it.
    pub(super) code: Option<(Vec<u8>, CoreScore)>,
    /// The data module with the component's initial memory and globals.
    pub(super) first: Vec<u8>,
    /// What the data modules of this component have in common.
    pub(super) shape: Shape,
}

/// Splits a component.
///
/// # Errors
/// Why it is not split.
pub(super) fn split(component: &[u8]) -> Result<Split, NotSplit> {
    wasmparser::Validator::new().validate_all(component)?;
    let outside = Outside::read(component)?;
    let modules = outside
        .modules
        .iter()
        .map(|bytes| CoreModule::read(bytes))
        .collect::<Result<Vec<_>, _>>()?;
    let main = main_of(&modules)?;
    for (index, module) in modules.iter().enumerate().filter(|(index, _)| *index != main.index) {
        module.must_have_no_state().map_err(|NotSplit(why)| {
            NotSplit::because(format!("has a module ({index}) beside its code that {why}"))
        })?;
    }
    let shim = shim_of(&outside, &modules, &main);
    fits_a_sandbox(&outside, &modules, shim.is_none())?;
    let accessors = code::accessors(main.module);
    let shape = Shape::new(main.module, shim.as_ref().map(|(_, shim)| shim.clone()))?;
    let code = code::code_module(main.module, &accessors)?;
    let shell = |code| shell::shell(&outside, &modules, &main, code, shim.as_ref(), &accessors);
    let first = shape.first(&main.module.segments)?;
    if shim.is_none() && modules.len() == 1 && main.module.needs_no_collector() {
        // Not every module that a shell can contain can be described as an import.
        if let Ok(shell) = shell(shell::Code::Imported)
            && let Some(score) = CoreScore::of(&shell, main.module)
        {
            return Ok(Split { shell, code: Some((code, score)), first, shape });
        }
    }
    let shell = shell(shell::Code::Inside(&code))?;
    Ok(Split { shell, code: None, first, shape })
}

/// The module with the memory, and its index.
struct Main<'a> {
    index: usize,
    module: &'a CoreModule<'a>,
}

fn main_of<'a>(modules: &'a [CoreModule<'a>]) -> Result<Main<'a>, NotSplit> {
    let mut with_memory = modules.iter().enumerate().filter(|(_, m)| !m.memories.is_empty());
    match (with_memory.next(), with_memory.next()) {
        (Some((index, module)), None) => {
            module.must_be_splittable()?;
            Ok(Main { index, module })
        }
        (None, _) => Err(NotSplit::because("has no memory")),
        (Some(_), Some(_)) => Err(NotSplit::because("has memories in several modules")),
    }
}

/// The shim into which memory and globals are put, with its index: the module that is instantiated first, without
/// arguments.
fn shim_of(
    outside: &Outside<'_>,
    modules: &[CoreModule<'_>],
    main: &Main<'_>,
) -> Option<(usize, Shim)> {
    let first = outside.instances.first()?;
    let index = usize::try_from(first.module).ok().filter(|index| *index != main.index)?;
    (first.arguments == 0).then_some(())?;
    Some((index, Shim::of(modules.get(index)?)?))
}

/// Checks that the component fits into the pool, because the pool does not check imported modules.
fn fits_a_sandbox(
    outside: &Outside<'_>,
    modules: &[CoreModule<'_>],
    separate: bool,
) -> Result<(), NotSplit> {
    let tables = modules.iter().flat_map(|module| &module.tables);
    let instances = outside.instances.len() + usize::from(separate);
    let fits = instances <= settings::CORE_INSTANCES as usize
        && tables.clone().count() <= settings::TABLES as usize
        && tables.clone().all(|table| table.initial <= settings::TABLE_ELEMENTS as u64);
    fits.then_some(()).ok_or_else(|| NotSplit::because("needs more than a sandbox has"))
}

#[cfg(test)]
mod tests;
