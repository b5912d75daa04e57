//! From a Rust crate to a component: what `scorebox build` does. Runs cargo; runs no component.
//!
//! - `toolchain`: finds a Rust compiler with a standard library for wasm32, or says what to install.
//! - `guest`: compiles one crate and makes a component of it.
//! - `sources`: the digest of all that a guest is built from.
//! - `gallery`: a folder of scorers, and what they build to, with a manifest.

mod error;
pub mod gallery;
mod guest;
mod sources;
mod toolchain;

pub use error::BuildError;
pub use guest::{BuiltComponent, CargoOutput, build_guest};
pub use sources::sources_digest;
pub use toolchain::{StandardLibrary, Toolchain};
