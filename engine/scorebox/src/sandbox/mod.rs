//! The sandbox: from a component's bytes to one score at a time, each in an instance that has nothing of
//! another. The only room that knows wasmtime. Reads no cases and stores no scores.
//!
//! - `limits`: what one score may use, with the defaults.
//! - `grants`: what a component may import, and the check of its imports.
//! - `capabilities`: what of the outside the scorers of a sandbox may be shown, given once.
//! - `asking`: what one score asks of a judge, and the answers that it waits for.
//! - `error`: every reason why a score is missing.
//! - `anatomy`: what a component file is, imports and exports, before anything is compiled.
//! - `admission`: how many instances at once, and how much memory together.
//! - `clock`: the time that a guest may compute.
//! - `compile`: where components are compiled: off the scoring path.
//! - `compile_limits`: what compiling may use, and why a component was not compiled.
//! - `compile_child`: a program that is its own compiler's process.
//! - `compiler_process`: compiling in a process that can be ended: the parent's side and the child's.
//! - `parser_thread`: the threads that parse untrusted bytes.
//! - `scorer_config`: a configuration in its canonical spelling.
//! - `config_check`: what is wrong with a configuration, before anything is compiled.
//! - `config_schema`: whether what a scorer describes as the schema of its configuration is one.
//! - `config_spelling`: what a compiled scorer is configured with: the same values, as its schema spells them.
//! - `schema_types`: what a schema says about one value.
//! - `script_config`: what a script is configured with: values such as its schema says, with its defaults.
//! - `named_model`: whether a scorer may ask the models that its configuration names.
//! - `mistake`, `place`: what is wrong with one value of a configuration or a schema, and where it is.
//! - `settings`: the engine's settings; every pool number derived from the number of slots.
//! - `imports`: what a guest can call: the host's side of its imports.
//! - `host`: [`Sandbox`], what all scorers share.
//! - `source`: a component that is let in, what is known of it without its bytes, and its keys in the cache.
//! - `load`: [`LoadedScorer`] from it: compile, describe, configure, freeze; `loaded_scorer`: what is known of it then.
//! - `split`: a component's code apart from its state, bytes to bytes.
//! - `code`: compiled code, as bytes and as what wasmtime runs.
//! - `kept_code`: the code that was wanted last; `wanted_code`: code from there, from the cache, or compiled.
//! - `access`: an instance's state, read through functions that were added to its component.
//! - `freeze`: the memory that `configure` left, made the image that every score starts from.
//! - `cache`: compiled code on disk: entries, and the keys that they are bound to.
//! - `cache_folder`: the folder of it: reads only what no one but the user can have written.
//! - `state`: what stands behind one instance: memory limiter, log, clock.
//! - `wasi`: the empty, repeatable WASI that a component may be granted.
//! - `image`: a component that is linked, and its fresh instances.
//! - `core_call`: `score` without the component around it, where that gives the same.
//! - `host_trouble`: what the system had none left of when a call failed.
//! - `guest_call`: one guarded call of a guest, whatever it is asked.
//! - `score`: one score.
//! - `jury`: what several jurors say, as one score.
//! - `answer`: its outcome, in the words of a row.
//! - `summarize`: a scorer's summary of a run.
//! - `result`: the check of what came over the wall.
//! - `json`: whether text of a guest is JSON that can be read.
//! - `fault`: wasmtime's errors in the words of `error`.
//! - `phrases`: the words of wasmtime that are matched.

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
