//! schema-adherence: 1 where the output matches a JSON Schema, else 0, with every issue. It fetches no
//! schema from anywhere, and repairs no output.
//!
//! The rule and its words are the schema-adherence scorer's of Smithers, for JSON Schema (drafts 4, 6,
//! 7, 2019-09 and 2020-12).

use std::collections::BTreeMap;

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Part, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_json_schema::{CompiledSchema, Issue, Options};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The longest summary, in bytes.
const SUMMARY_LIMIT: usize = 4096;

/// Scores 1 when the output matches a JSON Schema, else 0, with the issues found.
///
/// The schema is the configured `schema`, or else the case's `outputSchema`; where there is neither,
/// the case scores 1 and says so (`meta.skipped`). Drafts 4, 6, 7, 2019-09 and 2020-12: `$schema` says
/// which, 2020-12 where it says nothing. Remote schemas are not fetched; see `documents`. The rule is
/// the schema-adherence scorer's of Smithers.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchemaAdherence {
    /// The JSON Schema, in place of the case's.
    #[serde(default)]
    schema: Option<Value>,
    /// Schemas that `$ref` and `$schema` may refer to, by their URL.
    #[serde(default)]
    documents: BTreeMap<String, Value>,
    /// Checks what `format` says (`date`, `email` …); otherwise it only describes.
    #[serde(default)]
    formats: bool,
    /// What to do with an output that is a string: a model often writes JSON as text.
    #[serde(default)]
    parse: Parse,
    #[serde(skip)]
    compiled: Option<CompiledSchema>,
}

/// What to do with an output that is a string.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Parse {
    /// Checks the string itself and, where that fails, the JSON that it contains.
    #[default]
    Auto,
    /// Checks the JSON that it contains; a string without any is an issue.
    Always,
    /// Checks the string itself.
    Never,
}

impl Scorer for SchemaAdherence {
    const INFO: Info = Info::new("schema-adherence", "Schema Adherence", env!("CARGO_PKG_VERSION"))
        .reads(Fields::OUTPUT_SCHEMA);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        // Without a schema of its own, a scorer still compiles one: what the compiler sets up at its
        // first use is then part of the memory that every score starts from.
        let schema = self.schema.take();
        let compiled =
            CompiledSchema::prepare(schema.as_ref().unwrap_or(&json!({})), self.options())
                .map_err(|error| ConfigError::new("schema", error))?;
        self.compiled = schema.map(|_| compiled);
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        if let Some(compiled) = &self.compiled {
            return self.check(compiled, &case.output());
        }
        let Some(schema) = case.output_schema() else {
            return Ok(Score::new(1.0)
                .reason("No output schema defined; skipping validation")
                .meta(json!({ "skipped": true })));
        };
        let compiled = CompiledSchema::compile(&schema.value()?, self.options())
            .map_err(|error| ScoreError::invalid_input(format!("`outputSchema`: {error}")))?;
        self.check(&compiled, &case.output())
    }
}

impl SchemaAdherence {
    fn options(&self) -> Options<'_> {
        Options { formats: self.formats, documents: Some(&self.documents) }
    }

    fn check(&self, schema: &CompiledSchema, output: &Part<'_>) -> Result<Score, ScoreError> {
        let value = output.value()?;
        if self.parse == Parse::Always
            && let Value::String(text) = &value
        {
            return Ok(match serde_json::from_str(text) {
                Ok(content) => result(&schema.issues(&content)),
                Err(error) => result(&[Issue::whole(format!("not JSON: {error}"))]),
            });
        }
        let found = schema.issues(&value);
        if !found.is_empty()
            && self.parse == Parse::Auto
            && let Value::String(text) = &value
            && let Ok(content) = serde_json::from_str(text)
        {
            return Ok(match schema.issues(&content).as_slice() {
                [] => result(&[]).meta(json!({ "parsed": true })),
                // What is wrong inside says more than that a string is no object.
                inside if !content.is_string() => result(inside),
                _ => result(&found),
            });
        }
        Ok(result(&found))
    }
}

fn result(issues: &[Issue]) -> Score {
    if issues.is_empty() {
        return Score::new(1.0).reason("Output matches schema");
    }
    Score::new(0.0).reason(summary(issues)).meta(json!({ "issues": issues }))
}

/// All issues in one sentence, bounded.
fn summary(issues: &[Issue]) -> String {
    let sentences: Vec<_> = issues.iter().map(Issue::to_string).collect();
    let mut summary = format!("Schema validation failed: {}", sentences.join("; "));
    if summary.len() > SUMMARY_LIMIT {
        summary.truncate(summary.floor_char_boundary(SUMMARY_LIMIT - '…'.len_utf8()));
        summary.push('…');
    }
    summary
}

scorebox_sdk::export!(SchemaAdherence);

#[cfg(test)]
mod tests;
