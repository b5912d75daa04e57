//! From a core WebAssembly module to a component, whatever its language. It runs no compiler and no module.
//!
//! The module comes from a stranger: its size is checked and it is validated before anything else reads it.
//!
//! - `contract`: what a module may import and must export, read from `wit/`.
//! - `outside`: what a module imports and exports, and whether that is allowed.
//! - `preview1`: the functions that replace WASI preview 1 (`preview1.wat`).
//! - `merge`: the module with these functions inside it, so that it imports only the contract.
//! - here: the component around it.

mod contract;
mod merge;
mod outside;
mod preview1;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};

use super::{BuildError, ModuleError, lean::lean, names};
use contract::Contract;
use outside::Outside;

/// The largest module, in bytes. Modules of the languages that were tried have 25 kB to 13 MB.
const MAX_BYTES: usize = 64 << 20;
/// The most functions of a module that is made lean: with more, finding equal functions takes too long.
const MAX_LEAN_FUNCTIONS: usize = 50_000;

/// Makes a component from a core module that exports the contract's functions, with the contract in it.
///
/// The functions may be exported under the contract's names (`scorebox:scorer/scoring@0.1.0#score`) or, for compilers
/// that can export only identifiers, under their own (`score`). Imports of WASI preview 1 are replaced by functions
/// inside the module: there are no files, no arguments and no environment, clocks count their readings, random bytes
/// are always the same, and printed text goes to the log. So the component needs no grant. If the module exports
/// `_initialize`, that is called before any other export.
///
/// # Errors
/// [`BuildError::Module`] describes what is wrong with the module.
pub fn component_of_module(module: &[u8]) -> Result<Vec<u8>, BuildError> {
    let outside = Outside::read(module)?;
    let mut contract = Contract::read()?;
    if !outside.has_summary(&contract) {
        contract = contract.without_summary();
    }
    let plan = outside.plan(&contract)?;
    let mut module = merge::merge(module, &outside, &plan)?;
    if outside.functions() <= MAX_LEAN_FUNCTIONS {
        module = lean(&module)?;
    }
    let mut module = names::shorten(&module)?;
    let broken = |error| BuildError::Component(format!("{error:#}"));
    let Contract { resolve, world, .. } = &contract;
    embed_component_metadata(&mut module, resolve, *world, StringEncoding::UTF8).map_err(broken)?;
    let encode = || ComponentEncoder::default().validate(true).module(&module)?.encode();
    encode().map_err(broken)
}

#[cfg(test)]
mod tests;
