//! The table of contents of scorebox's tests: end to end, with real components, real SQLite files and
//! the real binary. What belongs to one room alone is tested beside its code.

mod built_components;
/// `scorebox run` and `score` with scorers, suites and cases that are none.
mod command_bad_input;
/// Databases and cache folders that are locked, foreign, newer or missing.
mod command_database;
/// `scorebox scores`, `stats`, `scorers`, `inspect`, `completions`, and pipes.
mod command_reading;
/// `scorebox run` that is interrupted, killed and resumed.
mod command_resume;
/// `scorebox run --reuse`: what is copied, and what is computed.
mod command_reuse;
/// `scorebox run`: summary, rows, and what its options do.
mod command_run;
/// `scorebox score`: one case, the result as JSON.
mod command_score;
/// `scorebox verify`: scores computed again, tampering, receipts.
mod command_verify;
/// A folder in which the `command_` tests type commands of the real binary.
mod fixture;
/// Broken heaps, stacks, pointers and lengths, in C.
mod hostile_c;
/// Exceptions, regular expressions, values of any type, in JavaScript.
mod hostile_javascript;
/// A folder with an attacker in another language and a good scorer.
mod hostile_other_languages;
/// The same component, configuration and input give the same bytes.
mod repeatability;
/// A run from cases to rows, through the library: workers, resuming, bad cases, failing writers.
mod run_pipeline;
/// The built-in components on tables of cases.
mod sandbox_builtins;
/// The cache of compiled code, whole and damaged.
mod sandbox_cache;
/// Sandboxes and loaded scorers for the `sandbox_` and `run_` tests.
mod sandbox_fixture;
/// Nothing survives a score; the same case gives the same score and fuel.
mod sandbox_isolation;
/// Every kind of error, reached for real.
mod sandbox_limits;
/// What is no scorer, and what a scorer may not import.
mod sandbox_loading;
