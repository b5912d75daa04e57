//! For tests: a scorer that reads the files of a case and reports what it finds, even where it must not look. It calls
//! the import directly, without the SDK.

use scorebox_sdk::{Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scorer, schemars};
use serde::Deserialize;

#[allow(missing_docs, unsafe_code, clippy::all)]
mod contract {
    wit_bindgen::generate!({
        path: "../../../wit/0.1.0",
        inline: "
            package test:reader;
            world reader {
                import scorebox:scorer/workspace@0.1.0;
            }
        ",
        generate_all,
    });
}

use contract::scorebox::scorer::workspace;

/// Scores how many files the case has (of 10), and reports the content of one.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Config {
    /// The file to read.
    #[serde(default)]
    path: Option<String>,
    /// How often to ask for all files.
    #[serde(default)]
    times: u32,
}

struct Reader {
    config: Config,
    /// What `configure` found.
    before: String,
}

impl Scorer for Reader {
    type Config = Config;
    const INFO: Info = Info::new("reader", "Reader", env!("CARGO_PKG_VERSION"));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let before = match workspace::paths() {
            Ok(paths) => format!("{} files", paths.len()),
            Err(reason) => reason,
        };
        Ok(Reader { config, before })
    }

    #[allow(clippy::cast_precision_loss)]
    fn score(&self, _case: &Case) -> Result<Score, ScoreError> {
        let paths = workspace::paths().map_err(ScoreError::invalid_input)?;
        for _ in 0..self.config.times {
            for path in &paths {
                workspace::read(path).map_err(ScoreError::failed)?;
            }
        }
        let found = match &self.config.path {
            None => paths.join(", "),
            Some(path) => match workspace::read(path) {
                Ok(content) => String::from_utf8_lossy(&content).into_owned(),
                Err(reason) => reason,
            },
        };
        Ok(Score::new((paths.len() as f64 / 10.0).min(1.0))
            .reason(format!("{found} (while it was configured: {})", self.before)))
    }
}

scorebox_sdk::export!(Reader);
