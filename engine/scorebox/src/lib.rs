//! scorebox runs anyone's scorer on anyone's evaluation data, safely: a scorer is a WebAssembly component, and every
//! single score gets a fresh, fuel-limited sandbox. This is the library; the binary of the same name is built on it.
//! The library never prints. It never exits, except in a process that was started to compile
//! ([`sandbox::compile_if_asked`] and `build::become_rustc_if_asked`). Apart from these and [`build`], which runs
//! cargo, it never reads the environment.
//!
//! A program that embeds the library starts with an [`engine::Engine`].
//!
//! # What is reproducible
//!
//! The same component, configuration, limits and input give the same score, label, reason, meta, assertions and log: on
//! every machine, with any number of workers, in every version of scorebox that supports the same minor line of the
//! contract. Fuel, peak memory and the text of crashes are the same within one version of wasmtime
//! ([`sandbox::WASMTIME_VERSION`]). A time-out depends on the machine and is not reproducible. [`verify`] computes
//! stored scores again and compares.
//!
//! # Features
//!
//! All are on by default. Without them, the library loads components from files and scores cases.
//!
//! - `builtins`: embeds the built-in scorers. Without it,
//!   [`Registry::with_builtins`](registry::Registry::with_builtins) has none.
//! - `store`: stores runs in SQLite, and reads what is stored: [`run`], [`store`], [`verify`].
//! - `build`: builds components from Rust crates, with the installed cargo: [`build`].
//!
//! # Rooms
//!
//! The rooms, in the order in which a score passes through them:
//!
//! - [`case`]: slices a line of JSON into a case.
//! - [`suite`]: which scorers run, with configuration, limits and grants.
//! - [`registry`]: from a scorer's name to a component's bytes.
//! - [`contract`]: what crosses the sandbox wall, in the engine's own types.
//! - [`sandbox`]: wasmtime: from a component's bytes to one score at a time.
//! - [`workspace`]: the files that a task left, for scorers that may read them.
//! - [`judge`]: language models that scorers ask.
//! - [`run`]: a suite over cases: read, score, write, and events for sinks.
//! - [`engine`]: the rooms in one value, for programs that embed the library.
//! - [`row`]: a scorer's answer for a case, in the one shape that rows have.
//! - [`store`]: runs, cases and scores in SQLite.
//! - [`verify`]: scores computed again from what is stored, and receipts.
//! - [`stats`]: statistics over many scores; pure functions.
//! - [`verdict`]: whether a case passed, and whether a run passed; pure functions.
//! - [`aggregate`]: statistics and verdicts over stored scores.
//! - [`reports`]: a stored run as a document for other programs.
//! - [`build`]: from a Rust crate to a component.
//! - [`advice`]: what to do about an error, as data that a front end words.
//! - [`input_file`]: files that a user names, read up to a bound.
//! - [`terminal`]: characters that a reader does not see or that a terminal acts on, made visible.
//! - [`component_bytes`]: a component's bytes with their digest.
//! - [`amount`]: counts, sizes and times formatted for people.
//! - [`now`]: the time as it is stored.
//! - [`digest`]: the SHA-256 digests that identify components, configurations and cases.
//!
//! Inside, `scoring` computes units of one case and one scorer for [`run`] and [`verify`]. Beside the rooms, `grant` is
//! what a user can allow a scorer, `suggest` finds the closest existing name, `cut` shortens a text, `packing`
//! compresses the components of a gallery, and `panic_message` is the message of a panic in the embedding program's
//! code.

#![warn(missing_debug_implementations, clippy::exhaustive_enums, clippy::exhaustive_structs)]

pub mod advice;
#[cfg(feature = "store")]
pub mod aggregate;
pub mod amount;
#[cfg(feature = "build")]
pub mod build;
pub mod case;
pub mod component_bytes;
pub mod contract;
mod cut;
pub mod digest;
#[cfg(feature = "store")]
pub mod engine;
mod grant;
pub mod input_file;
#[expect(
    clippy::exhaustive_structs,
    reason = "a question and an answer have what the contract has"
)]
pub mod judge;
pub mod now;
mod packing;
mod panic_message;
pub mod registry;
#[cfg(feature = "store")]
pub mod reports;
pub mod row;
#[cfg(feature = "store")]
pub mod run;
pub mod sandbox;
#[cfg(feature = "store")]
mod scoring;
pub mod stats;
#[cfg(feature = "store")]
pub mod store;
mod suggest;
pub mod suite;
pub mod terminal;
pub mod verdict;
#[cfg(feature = "store")]
pub mod verify;
pub mod workspace;
