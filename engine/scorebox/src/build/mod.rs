//! From sources to a component: the work of `scorebox build`. It runs compilers, but no components; its caller can ask
//! a component to describe itself.
//!
//! - `language`: the language of a folder or a file.
//! - `compile`: runs that language's compiler, and makes a component from the result; `tool`: finds and runs a
//!   compiler; `sdk`: the SDK files that it gets.
//! - `module`: from a core module, whatever built it, to a component; `module_error`: why that is impossible.
//!
//! - `error`: why a scorer could not be built.
//!
//! Rust is built differently:
//!
//! - `toolchain`: finds a Rust compiler with a standard library for wasm32, or reports what to install.
//! - `cargo`: runs cargo; `package`: what cargo knows about a crate.
//! - `guest`: compiles one crate and makes a component from it; `profile`: with which settings; `module_place`: where
//!   cargo puts it, and whether it is another crate's.
//! - `shared`: the folder in which crates outside a gallery are compiled; `rustc_wrapper`: keeps the paths of their
//!   folders out of the result.
//! - `lean`: makes the linker's output smaller; `names`: shortens the names of functions in it; `section`: sections as
//!   bytes.
//! - `sources`: the digest of everything that a guest is built from.
//! - `gallery`: a folder of scorers, and their components, with a `manifest`; `dictionary`: what the components have in
//!   common; `whole_file`: a file that is written completely or not at all.

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
