//! From a Rust crate to a component: what `scorebox build` does. Runs cargo; runs no component itself,
//! but lets its caller ask one what it is.
//!
//! - `toolchain`: finds a Rust compiler with a standard library for wasm32, or says what to install.
//! - `cargo`: runs cargo; `package`: what cargo knows about a crate.
//! - `guest`: compiles one crate and makes a component of it.
//! - `lean`: what the linker makes, smaller; `names`: the names of functions in it, shortened; `section`: sections as bytes.
//! - `sources`: the digest of all that a guest is built from.
//! - `gallery`: a folder of scorers, and what they build to, with a manifest; `dictionary`: what they have in common.

mod cargo;
mod dictionary;
mod error;
pub mod gallery;
mod guest;
mod lean;
mod names;
mod package;
mod section;
mod sources;
mod toolchain;

pub use cargo::CargoOutput;
pub use error::BuildError;
pub use guest::{BuiltComponent, Describe, build_guest};
pub use package::must_be_a_crate;
pub use sources::sources_digest;
pub use toolchain::{StandardLibrary, Toolchain};
