//! The example that a component contains: a small case, a configuration, and the resulting score. It scores nothing.

#![expect(clippy::exhaustive_structs, reason = "a version of the contract has these and no others")]

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

/// The custom section of a component with its example.
pub const EXAMPLE_SECTION: &str = "scorebox:example";
/// The most bytes of an example.
pub const MAX_EXAMPLE_BYTES: usize = 64 << 10;

/// A case that shows what a scorer does.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The scorer's configuration.
    #[serde(default)]
    pub config: Map<String, Value>,
    /// The case, as one line of a file of cases.
    pub case: Box<RawValue>,
    /// The score, within 1e-9; `None` if the scorer does not apply.
    pub score: Option<f64>,
}

impl Example {
    /// Reads an example.
    ///
    /// # Errors
    /// What is wrong with the example.
    pub fn parse(text: &str) -> Result<Example, String> {
        if text.len() > MAX_EXAMPLE_BYTES {
            return Err(format!(
                "the example has {} bytes; the most is {MAX_EXAMPLE_BYTES}",
                text.len()
            ));
        }
        serde_json::from_str(text).map_err(|error| format!("the example is not one: {error}"))
    }

    /// Whether this is the score that the example promises.
    pub fn promises(&self, score: Option<f64>) -> bool {
        match (self.score, score) {
            (Some(promised), Some(score)) => (promised - score).abs() <= 1e-9,
            (promised, score) => promised == score,
        }
    }
}
