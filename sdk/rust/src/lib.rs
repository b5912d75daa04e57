//! The Rust side of a scorebox scorer: what an author implements, and what turns it into a
//! component's exports. It deliberately knows no scoring formula and no engine.
//!
//! ```
//! use scorebox_sdk::{Case, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars};
//!
//! /// Scores 1 when the answer has between `min` and `max` words.
//! #[derive(serde::Deserialize, JsonSchema)]
//! #[serde(rename_all = "camelCase")]
//! struct WordCount {
//!     /// The fewest words that pass.
//!     #[serde(default)]
//!     min: usize,
//!     /// The most words that pass.
//!     max: usize,
//! }
//!
//! impl Scorer for WordCount {
//!     const INFO: Info = Info::new("word-count", "Word Count", env!("CARGO_PKG_VERSION"));
//!
//!     fn score(&self, case: &Case) -> Result<Score, ScoreError> {
//!         let words = case.output().text()?.split_whitespace().count();
//!         Ok(Score::pass((self.min..=self.max).contains(&words)).reason(format!("{words} words")))
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
//! A scorer that reads what an agent did starts at [`Case::steps`]. One that has something to say of
//! all of a run's scores together is a [`Summarizer`] as well.
//!
//! # Map
//!
//! Beside what every scorer uses, which is here, there are
//!
//! - `json_schema`: whether a value matches a JSON Schema (feature `json-schema`)
//! - [`likeness`]: how alike two texts, numbers or lists are
//! - [`log`]: messages for whoever debugs a scorer
//! - [`normal`]: a text without what does not matter in an answer
//! - [`python`]: white space, digits and numbers as Python reads them
//! - [`trace`]: what an agent did, in one list of steps
//! - [`workspace`]: the files that a task left, and what was changed in them
#![deny(missing_docs)]

mod accepted;
mod argument_match;
mod assertion;
mod case;
mod checks;
#[doc(hidden)]
pub mod component;
mod config;
mod equality;
mod error;
mod excerpt;
mod fields;
mod info;
#[cfg(feature = "json-schema")]
pub mod json_schema;
pub mod likeness;
pub mod log;
mod named_tests;
mod negation;
pub mod normal;
mod panic;
mod part;
pub mod python;
// Each unsafe line says why it is sound.
#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code)]
mod random;
mod schema;
mod score;
mod summary;
pub mod trace;
mod unknown_key;
pub mod workspace;

#[doc(hidden)]
#[allow(missing_docs, unsafe_code)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit/0.1.0",
        world: "scorer",
        pub_export_macro: true,
        default_bindings_module: "scorebox_sdk::bindings",
    });

    /// The export that only summarizing scorers have, as a world of its own beside theirs: a component
    /// of both is one of the world `summarizing-scorer`.
    pub mod of_run {
        wit_bindgen::generate!({
            path: "../../wit/0.1.0",
            inline: "package scorebox:sdk; world summary { export scorebox:scorer/summary@0.1.0; }",
            world: "scorebox:sdk/summary",
            pub_export_macro: true,
            default_bindings_module: "scorebox_sdk::bindings::of_run",
            export_macro_name: "export_summary",
            with: { "scorebox:scorer/types@0.1.0": crate::bindings::scorebox::scorer::types },
        });
    }
}

// A world of its own: a component imports `workspace` only where its code calls it.
#[cfg(target_arch = "wasm32")]
#[allow(missing_docs, unsafe_code)]
mod workspace_bindings {
    wit_bindgen::generate!({
        path: "../../wit/0.1.0",
        inline: "
            package scorebox:sdk;

            world granted-files {
                import scorebox:scorer/workspace@0.1.0;
            }
        ",
        generate_all,
    });
}

pub use accepted::Accepted;
pub use argument_match::ArgumentMatch;
pub use assertion::{Assertion, Severity};
pub use case::{Case, Usage};
pub use checks::Checks;
pub use config::configure;
pub use equality::equal;
pub use error::{ConfigError, ScoreError};
pub use excerpt::excerpt;
pub use fields::Fields;
pub use info::{Direction, Info, Scale};
pub use named_tests::{NamedTest, TestResult, Tests};
pub use part::Part;
/// What `#[derive(JsonSchema)]` refers to: import it beside [`JsonSchema`], or depend on `schemars` 1.
pub use schemars;
pub use schemars::JsonSchema;
pub use score::Score;
pub use summary::{Scored, Summarizer};
pub use {serde, serde_json};

/// A scorer: its fields are its configuration, its doc comment is its description.
///
/// A scorer without configuration is a struct with braces and no fields, `struct Silence {}`.
///
/// The configuration's JSON Schema, which users see, is derived from the fields; a key that the
/// schema does not list is refused, so `#[serde(alias)]` names do not work. An enum that is a key's
/// default is shown as such where it derives `Serialize` as well.
pub trait Scorer: serde::de::DeserializeOwned + JsonSchema {
    /// What the scorer is, and which parts of a case it reads.
    const INFO: Info;

    /// Checks the configuration as a whole, and computes once what every score needs; keep it in
    /// fields marked `#[serde(skip)]`. The engine freezes memory after this, so the cost is paid once
    /// and not once a score.
    ///
    /// # Errors
    /// A [`ConfigError`] that names the key and says what is allowed.
    fn prepare(&mut self) -> Result<(), ConfigError> {
        Ok(())
    }

    /// Scores one case. Each call runs in a fresh copy of the memory that [`prepare`](Self::prepare)
    /// left, so nothing can be carried from one case to the next.
    ///
    /// # Errors
    /// A [`ScoreError`] where there can be no score; that is never the same as a score of 0.
    fn score(&self, case: &Case) -> Result<Score, ScoreError>;
}
