//! The sandbox: from a component's bytes to one score at a time, each in an instance that shares no state with another.
//! This is the only room that knows wasmtime. It reads no cases and stores no scores.
//!
//! - `limits`: what one score may use, with the defaults.
//! - `grants`: what a component may import, and the check of its imports.
//! - `capabilities`: what the scorers of a sandbox may see of the outside, given once.
//! - `asking`: a score's questions to a judge, and the answers that it waits for.
//! - `error`: every reason why a score is missing.
//! - `anatomy`: a component's format, imports and exports, before anything is compiled.
//! - `admission`: how many instances may exist at once, and how much memory they may have together.
//! - `clock`: the time that a guest may compute.
//! - `compile`: where components are compiled: off the scoring path.
//! - `compile_limits`: what compiling may use, and why a component was not compiled.
//! - `compile_child`: a program that is its own compiler process.
//! - `compiler_process`: compiling in a process that can be ended: the parent's side and the child's.
//! - `parser_thread`: the threads that parse untrusted bytes.
//! - `scorer_config`: a configuration in its canonical form.
//! - `config_check`: what is wrong with a configuration, before anything is compiled.
//! - `config_schema`: whether a scorer's description of its configuration is a valid schema.
//! - `config_spelling`: the configuration that a compiled scorer gets: the same values, spelled as its schema does.
//! - `schema_types`: the types that a schema has for one value.
//! - `script_config`: the configuration that a script gets: values as its schema spells them, with its defaults.
//! - `named_model`: whether a scorer may ask the models that its configuration names.
//! - `mistake`, `place`: what is wrong with one value of a configuration or a schema, and where it is.
//! - `settings`: the engine's settings; every size of the pool is derived from the number of slots.
//! - `imports`: what a guest can call: the host's side of its imports.
//! - `host`: [`Sandbox`], which all scorers share.
//! - `source`: an admitted component, what is known of it without its bytes, and its keys in the cache.
//! - `load`: makes a [`LoadedScorer`] from it: compile, describe, configure, freeze; `loaded_scorer`: what is known of
//!   it then.
//! - `split`: separates a component's code from its state, bytes to bytes.
//! - `code`: compiled code, as bytes and as what wasmtime runs.
//! - `kept_code`: the code of recent loads; `wanted_code`: code from there, from the cache, or compiled.
//! - `access`: reads an instance's state through functions that were added to its component.
//! - `freeze`: turns the memory that `configure` left into the image that every score starts from.
//! - `cache`: compiled code on disk: entries, and the keys that they are bound to.
//! - `cache_folder`: the folder of it: reads only what no one but the user can have written.
//! - `state`: what stands behind one instance: memory limiter, log, clock.
//! - `wasi`: the empty, repeatable WASI that a component may be granted.
//! - `image`: a component that is linked, and its fresh instances.
//! - `core_call`: `score` without the component around it, where that gives the same.
//! - `host_trouble`: what the system had none left of when a call failed.
//! - `guest_call`: one guarded call of a guest, whatever it is asked.
//! - `score`: one score.
//! - `jury`: the answers of several jurors as one score.
//! - `answer`: the outcome of a score, as part of a row.
//! - `summarize`: a scorer's summary of a run.
//! - `result`: the check of what a guest returned.
//! - `json`: whether a guest's text is JSON that can be read.
//! - `fault`: wasmtime's errors as those of `error`.
//! - `phrases`: the messages of wasmtime that are matched.

mod access;
mod admission;
mod anatomy;
mod answer;
mod asking;
mod cache;
mod cache_folder;
mod capabilities;
mod clock;
mod code;
mod compile;
mod compile_child;
mod compile_limits;
mod compiler_process;
mod config_check;
mod config_schema;
mod config_spelling;
mod core_call;
mod error;
mod fault;
mod freeze;
mod grants;
mod guest_call;
mod host;
mod host_trouble;
mod image;
mod imports;
mod json;
mod jury;
mod kept_code;
mod limits;
mod load;
mod loaded_scorer;
mod mistake;
mod named_model;
mod parser_thread;
mod phrases;
mod place;
mod result;
mod schema_types;
mod score;
mod scorer_config;
mod script_config;
mod settings;
mod source;
mod split;
mod state;
mod summarize;
mod wanted_code;
mod wasi;

use crate::cut::cut;

pub use anatomy::Anatomy;
pub use cache::{CacheOptions, DEFAULT_CACHE_BYTES};
pub use capabilities::Capabilities;
pub use compile::Compiler;
pub use compile_child::compile_if_asked;
pub use compile_limits::CompileLimits;
pub use config_check::{check_config, config_mistakes};
pub use error::{ErrorKind, ScoreError};
pub use grants::{Grant, Grants, UnknownGrant};
pub use host::{DEFAULT_MEMORY_BUDGET_BYTES, Sandbox, SandboxOptions, WASMTIME_VERSION};
pub use limits::Limits;
pub use loaded_scorer::{LoadedScorer, Start};
pub use parser_thread::PARSERS_NAME;
pub use score::Outcome;
pub use scorer_config::ScorerConfig;
pub use settings::Allocation;
pub use source::check_outside;
pub use summarize::{Summary, SummaryRows};
