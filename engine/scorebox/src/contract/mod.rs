//! The contract between engine and scorers (`wit/`), in the engine's own types. It runs nothing: instances and calls
//! are in `sandbox`.
//!
//! - `fields`: the optional parts of a case, in one table.
//! - `types`: the contract's other types; everything outside this room uses these.
//! - `example`: the example that a component contains.
//! - `bindings`: what wasmtime generates from `wit/`, and the conversion between the two.

pub(crate) mod bindings;
mod example;
mod fields;
mod types;

pub use example::{EXAMPLE_SECTION, Example, MAX_EXAMPLE_BYTES};
pub use fields::{Field, Fields, Parts};
pub use types::*;

/// The version of the contract that this engine supports, as in `scorebox:scorer@VERSION`.
pub const CONTRACT_VERSION: &str = "0.1.0";

/// The interface that makes a component a scorer.
pub const SCORING_INTERFACE: &str = "scorebox:scorer/scoring@0.1.0";

/// The interface through which a scorer logs messages for its author.
pub(crate) const LOG_INTERFACE: &str = "scorebox:scorer/log@0.1.0";

/// The custom section of a component that consists of a script and its engine: the script's language. (It contains no
/// more, because otherwise the code would differ from script to script.)
pub const SCRIPT_SECTION: &str = "scorebox:script";

/// The interface that a scorer also exports if it summarizes the run as a whole.
pub const SUMMARY_INTERFACE: &str = "scorebox:scorer/summary@0.1.0";
