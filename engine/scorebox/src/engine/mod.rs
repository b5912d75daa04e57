//! The library in one value: a program that embeds it sets up an engine once, and then scores with it. It adds no
//! functions: everything goes through the other rooms, which can do more.
//!
//! - `builder`: sets up an engine.
//! - `scorer`: one loaded scorer, for cases one at a time.
//! - `loaded_suite`: a loaded suite, for cases that a program has in memory.
//! - `live`: cases that are scored in the background, as they happen.
//! - `cases`: where the cases of a run come from.
//! - `running`: a run in progress, and its events.
//! - `error`: why something cannot start.
//!
//! Components are compiled in a process of the same program, so its `main` must begin with
//! [`compile_if_asked`](crate::sandbox::compile_if_asked).
//!
//! ```no_run
//! use scorebox::{engine::{Cases, Engine}, suite::Suite};
//! use serde_json::json;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // First of all: in the process that compiles, this does not return.
//!     scorebox::sandbox::compile_if_asked();
//!     tokio::runtime::Runtime::new()?.block_on(program())
//! }
//!
//! async fn program() -> Result<(), Box<dyn std::error::Error>> {
//! let dir = std::env::temp_dir();
//! let engine = Engine::builder().jobs(8).cache(dir).workspace("./outcomes").build()?;
//!
//! // One case at a time.
//! let same = engine.scorer("exact-match").config(json!({"ignoreCase": true})).load().await?;
//! let outcome = same.score(&r#"{"output": "Paris", "groundTruth": "paris"}"#.parse()?).await;
//! assert_eq!(outcome.result?.score, Some(1.0));
//!
//! // A suite over cases; its events come while it runs, and its scores are stored.
//! let suite: Suite = "[scorers.exact-match]\n[scorers.latency]".parse()?;
//! let mut run = engine.run(suite, Cases::file("cases.jsonl")?).store("scores.db").start().await?;
//! while let Some(event) = run.next().await {
//!     if let Some(row) = event.row() {
//!         println!("{} {}", row.case_id, row.scorer_id);
//!     }
//! }
//! let report = run.end().await?;
//! println!("{} cases", report.progress.cases_done);
//!
//! // The same suite over cases that the program has in memory: results by scorer, `None` where it failed.
//! let suite: Suite = "[scorers.exact-match]\n[scorers.latency]".parse()?;
//! let suite = engine.load(suite).await?.store("scores.db");
//! let batch = suite.score_batch(["{\"output\": 4, \"groundTruth\": 4}".parse()?]).await?;
//! assert_eq!(batch.cases[0].score("exact-match"), Some(1.0));
//!
//! // And in the background, beside the program's work.
//! let live = suite.live().start().await?;
//! live.score_live("{\"output\": 5, \"groundTruth\": 4}".parse()?);
//! live.shutdown().await?;
//! Ok(())
//! }
//! ```

mod builder;
mod cases;
mod error;
mod live;
mod loaded_suite;
mod running;
mod scorer;

use std::sync::Arc;

use crate::{registry::Registry, sandbox::Sandbox, suite::Suite};

pub use builder::EngineBuilder;
pub use cases::Cases;
pub use error::EngineError;
pub use live::{Live, LiveBuilder};
pub use loaded_suite::{Batch, CaseScores, LoadedSuite};
pub use running::{Run, RunBuilder};
pub use scorer::{Scorer, ScorerLoader};

/// A sandbox, the named scorers, and how much is computed at the same time. Cheap to clone. It needs a tokio runtime
/// with time enabled.
#[derive(Clone, Debug)]
pub struct Engine {
    sandbox: Sandbox,
    registry: Arc<Registry>,
    jobs: usize,
}

impl Engine {
    /// Starts to set up an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// A scorer: the name of a built-in one, or the path of a `.wasm` file.
    pub fn scorer(&self, uses: &str) -> ScorerLoader {
        ScorerLoader::new(self.clone(), uses)
    }

    /// A run of a suite over cases.
    pub fn run(&self, suite: Suite, cases: impl Into<Cases>) -> RunBuilder {
        RunBuilder::new(self.clone(), suite, cases.into())
    }

    /// Loads the scorers of a suite once, for cases that the program has in memory.
    ///
    /// # Errors
    /// If a scorer does not exist or cannot be used.
    pub async fn load(&self, suite: Suite) -> Result<LoadedSuite, EngineError> {
        LoadedSuite::load(self.clone(), suite).await
    }

    /// The same engine with the scorers of this registry instead of the built-in ones.
    #[must_use]
    pub fn with_registry(self, registry: Registry) -> Engine {
        Engine { registry: Arc::new(registry), ..self }
    }

    /// The engine's sandbox, for [`verify`](crate::verify) and everything else that takes one.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// What does not work as it should although scoring does, in one sentence each.
    pub fn warnings(&self) -> &[String] {
        self.sandbox.warnings()
    }
}
