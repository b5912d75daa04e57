//! From sources to a component: what `scorebox build` does. Runs compilers; runs no component itself, but lets its
//! caller ask one what it is.
//!
//! - `language`: which language a folder or a file is of.
//! - `compile`: that language's compiler, run, and a component of what it makes; `tool`: finds and runs one; `sdk`:
//!   what it is given.
//! - `module`: from a core module, whatever made it, to a component; `module_error`: why not.
//!
//! - `error`: why a scorer could not be built.
//!
//! Rust has a way of its own:
//!
//! - `toolchain`: finds a Rust compiler with a standard library for wasm32, or says what to install.
//! - `cargo`: runs cargo; `package`: what cargo knows about a crate.
//! - `guest`: compiles one crate and makes a component of it; `profile`: with which settings; `module_place`: where
//!   cargo puts it, and whether it is another crate's.
//! - `shared`: the folder in which crates outside a gallery are compiled; `rustc_wrapper`: keeps their own folders out
//!   of what is compiled.
//! - `lean`: what the linker makes, smaller; `names`: the names of functions in it, shortened; `section`: sections as
//!   bytes.
//! - `sources`: the digest of all that a guest is built from.
//! - `gallery`: a folder of scorers, and what they build to, with a `manifest`; `dictionary`: what they have in common;
//!   `whole_file`: a file that is written whole or not at all.

mod cargo;
mod compile;
mod dictionary;
mod error;
pub mod gallery;
mod guest;
mod language;
mod lean;
mod manifest;
mod module;
mod module_error;
mod module_place;
mod names;
mod package;
mod profile;
mod rustc_wrapper;
mod sdk;
mod section;
mod shared;
mod sources;
mod tool;
mod toolchain;
mod whole_file;

pub use compile::build_source;
pub use error::BuildError;
pub use guest::{BuiltComponent, Describe, build_guest};
pub use language::{Language, Source};
pub use module::component_of_module;
pub use module_error::ModuleError;
pub use package::must_be_a_crate;
pub use rustc_wrapper::become_rustc_if_asked;
pub use sdk::SdkFile;
pub use shared::SharedBuilds;
pub use sources::{Packages, sources_digest};
pub use tool::ToolOutput;
pub use toolchain::{StandardLibrary, Toolchain};
