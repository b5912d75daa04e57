//! The Rust SDK for scorers: the traits that an author implements, and the code that turns them into a component's
//! exports. It deliberately knows no scoring formula and no engine.
//!
//! ```
//! use scorebox_sdk::{Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scorer, schemars};
//!
//! /// Scores 1 if the answer has between `min` and `max` words.
//! #[derive(serde::Deserialize, JsonSchema)]
//! #[serde(rename_all = "camelCase")]
//! struct Config {
//!     /// The fewest words that pass.
//!     #[serde(default)]
//!     min: usize,
//!     /// The most words that pass.
//!     max: usize,
//! }
//!
//! struct WordCount {
//!     passing: std::ops::RangeInclusive<usize>,
//! }
//!
//! impl Scorer for WordCount {
//!     type Config = Config;
//!     const INFO: Info = Info::new("word-count", "Word Count", env!("CARGO_PKG_VERSION"));
//!
//!     fn new(config: Config) -> Result<Self, ConfigError> {
//!         if config.max < config.min {
//!             return Err(ConfigError::new("max", "should be `min` or more"));
//!         }
//!         Ok(WordCount { passing: config.min..=config.max })
//!     }
//!
//!     fn score(&self, case: &Case) -> Result<Score, ScoreError> {
//!         let words = case.output().text()?.split_whitespace().count();
//!         Ok(Score::pass(self.passing.contains(&words)).reason(format!("{words} words")))
//!     }
//! }
//!
//! scorebox_sdk::export!(WordCount);
//!
//! // In a unit test, on any machine:
//! let scorer: WordCount = scorebox_sdk::configure(serde_json::json!({ "max": 2 })).unwrap();
//! let case = Case::new(serde_json::json!("forty two"));
//! assert_eq!(scorer.score(&case).unwrap().score, Some(1.0));
//! ```
//!
//! A scorer that also reports on all scores of a run together is a [`Summarizer`] as well.
//!
//! # Map
//!
//! This crate has what a scorer of texts needs. `case` is what a scorer is given, with one `part` for each JSON
//! document, and `fields` are the parts that it asks for; `score` is what it returns, with `assertion`, `meta` and
//! `error`. `info` describes a scorer, and `schema` its configuration, which `config` reads: `keys` checks the names,
//! `negation` and `expected` are keys that many scorers share. `equality` compares values, `checks` and `named_tests`
//! combine several checks into one score, and `summary` reports on a whole run. `excerpt`, `figures` and `compact` help
//! to write reasons; [`log`] sends messages to the scorer's author. `component` is what `export!` calls; `heap`,
//! `panic` and `random` replace what an operating system would provide.
//!
//! What fewer scorers use is in separate crates:
//!
//! - `scorebox-sdk-traces`: what an agent did, in one list of steps
//! - `scorebox-sdk-workspace`: the files that a task left, and what was changed in them
//! - `scorebox-sdk-judges`: asks language models, and reads their answers
//! - `scorebox-sdk-json-schema`: whether a value matches a JSON Schema
//! - `scorebox-sdk-texts`: how alike two texts are, and texts normalized as other programs do
#![deny(missing_docs)]
#![warn(missing_debug_implementations)]

mod assertion;
mod case;
mod checks;
mod compact;
#[doc(hidden)]
pub mod component;
mod config;
mod equality;
mod error;
mod excerpt;
mod expected;
mod fields;
mod figures;
// Each unsafe line says why it is sound.
#[cfg(any(test, all(target_arch = "wasm32", feature = "allocator")))]
#[allow(unsafe_code)]
mod heap;
mod info;
mod keys;
pub mod log;
mod meta;
mod named_tests;
mod negation;
mod panic;
mod part;
// Each unsafe line says why it is sound.
#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code)]
mod random;
mod schema;
mod score;
mod summary;

#[doc(hidden)]
#[allow(missing_docs, missing_debug_implementations, unsafe_code)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../../wit/0.1.0",
        world: "scorer",
        pub_export_macro: true,
        default_bindings_module: "scorebox_sdk::bindings",
    });

    /// The export that only summarizing scorers have, as a separate world: a component with both exports targets the
    /// world `summarizing-scorer`.
    pub mod of_run {
        wit_bindgen::generate!({
            path: "../../../wit/0.1.0",
            inline: "package scorebox:sdk; world summary { export scorebox:scorer/summary@0.1.0; }",
            world: "scorebox:sdk/summary",
            pub_export_macro: true,
            default_bindings_module: "scorebox_sdk::bindings::of_run",
            export_macro_name: "export_summary",
            with: { "scorebox:scorer/types@0.1.0": crate::bindings::scorebox::scorer::types },
        });
    }
}

pub use assertion::{Assertion, Severity};
pub use case::{Case, Usage};
pub use checks::Checks;
pub use config::configure;
pub use equality::equal;
pub use error::{ConfigError, ScoreError};
pub use excerpt::excerpt;
pub use expected::{Accepted, Configured, ExpectedValue, ExpectedValues, not_null};
pub use fields::Fields;
pub use figures::{push_count, push_number, push_whole};
pub use info::{Direction, Info, Scale};
pub use meta::{JsonObject, Meta};
pub use named_tests::{NamedTest, TestResult, Tests};
pub use negation::Negate;
pub use part::{Part, plain_message};
/// The crate that `#[derive(JsonSchema)]` refers to: import it alongside [`JsonSchema`], or depend on `schemars` 1.
pub use schemars;
pub use schemars::JsonSchema;
pub use score::Score;
pub use summary::{Scored, Summarizer};
pub use {serde, serde_json};

/// A scorer: made once from its configuration, then asked for the score of each case.
///
/// Its fields hold what it needs from the configuration, in the form that scoring needs. A scorer that keeps the
/// configuration as it is sets `type Config = Self`.
pub trait Scorer: Sized {
    /// The configuration. Its doc comment is the scorer's description, and those of its fields
    /// describe the keys.
    ///
    /// For a scorer without configuration, use a struct with braces and no fields: `struct Config {}`. The JSON Schema,
    /// which users see, is derived from the fields; a key that the schema does not list is refused, so
    /// `#[serde(alias)]` names do not work. A key in camelCase may be written in snake_case too. The default of a key
    /// that is an enum is shown only if the enum derives `Serialize`.
    type Config: serde::de::DeserializeOwned + JsonSchema;

    /// What the scorer is, and which parts of a case it reads.
    const INFO: Info;

    /// Checks the configuration as a whole, and computes once what every score needs. The engine
    /// freezes memory after this, so the cost is paid once and not once a score.
    ///
    /// # Errors
    /// A [`ConfigError`] that names the key and says what is allowed.
    fn new(config: Self::Config) -> Result<Self, ConfigError>;

    /// Scores one case. Each call runs in a fresh copy of the memory that [`new`](Self::new) left, so
    /// nothing can be carried from one case to the next.
    ///
    /// # Errors
    /// A [`ScoreError`] if there can be no score; that is never the same as a score of 0.
    fn score(&self, case: &Case) -> Result<Score, ScoreError>;
}
