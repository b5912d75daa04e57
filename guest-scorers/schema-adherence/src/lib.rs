//! schema-adherence: 1 if the output matches a JSON Schema, else 0, with every issue. It fetches no
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

/// Scores 1 if the output matches a JSON Schema, else 0, with the issues found.
///
/// The schema is the configured `schema`, or else the case's `outputSchema`; a case without either
/// scores 1, and `meta.skipped` says so. Drafts 4, 6, 7, 2019-09 and 2020-12, as `$schema` says;
/// 2020-12 without it. Remote schemas are not fetched; see `documents`.
///
/// With `parse` `never`, the rule is that of Smithers' `schemaAdherenceScorer`, which does not
/// parse texts. Scores as niceeval's `matches` does, which is a gate there; here a suite makes it
/// one.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The JSON Schema, in place of the case's.
    #[serde(default)]
    schema: Option<Value>,
    /// Schemas that `$ref` and `$schema` may refer to, by URL. One without `$schema` is of the same
    /// draft as the schema.
    #[serde(default)]
    documents: BTreeMap<String, Value>,
    /// Checks `format` (`date`, `email` …); otherwise it is only a description. See
    /// docs/conformance.md for how strictly.
    #[serde(default)]
    formats: bool,
    /// How to treat an output that is a string: models often write JSON as text.
    #[serde(default)]
    parse: Parse,
}

/// What to do with an output that is a string.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Parse {
    /// Checks the string itself and, if that fails, the JSON that it is, alone or in a code fence. JSON
    /// between other words is not looked for: see contains-json.
    #[default]
    Auto,
    /// Checks the JSON that it is, alone or in a code fence; any other string is an issue.
    Always,
    /// Checks the string itself.
    Never,
}

/// The scorer, made from its [`Config`].
pub struct SchemaAdherence {
    /// The configured schema.
    schema: Option<CompiledSchema>,
    documents: BTreeMap<String, Value>,
    formats: bool,
    parse: Parse,
}

impl Scorer for SchemaAdherence {
    type Config = Config;

    const INFO: Info = Info::new("schema-adherence", "Schema Adherence", env!("CARGO_PKG_VERSION"))
        .reads(Fields::OUTPUT_SCHEMA);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { schema, documents, formats, parse } = config;
        // Without a configured schema, a sample is compiled: what the compiler sets up at its first use is then part of
        // the memory that every score starts from.
        let options = Options { formats, documents: Some(&documents) };
        let compiled = CompiledSchema::prepare(schema.as_ref().unwrap_or(&json!({})), options)
            .map_err(|error| ConfigError::new("schema", error))?;
        Ok(Self { schema: schema.map(|_| compiled), documents, formats, parse })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        if let Some(schema) = &self.schema {
            return self.check(schema, &case.output());
        }
        let Some(schema) = case.output_schema() else {
            return Ok(Score::new(1.0)
                .reason("No output schema defined; skipping validation")
                .meta(json!({ "skipped": true })));
        };
        let compiled = CompiledSchema::compile(&schema.value()?, self.options())
            .map_err(|error| ScoreError::invalid_input(format!("`outputSchema` {error}")))?;
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
            return Ok(match serde_json::from_str(unfenced(text)) {
                Ok(content) => result(&schema.issues(&content)),
                Err(error) => result(&[Issue::whole(format!("not JSON: {error}"))]),
            });
        }
        let found = schema.issues(&value);
        if !found.is_empty()
            && self.parse == Parse::Auto
            && let Value::String(text) = &value
            && let Ok(content) = serde_json::from_str(unfenced(text))
        {
            return Ok(match schema.issues(&content).as_slice() {
                [] => result(&[]).meta(json!({ "parsed": true })),
                // An issue with the content says more than that a string is not an object.
                inside if !content.is_string() => result(inside),
                _ => result(&found),
            });
        }
        Ok(result(&found))
    }
}

/// The content of a code fence that encloses the whole text, without the word `json` at its beginning; any other text
/// as it is.
fn unfenced(text: &str) -> &str {
    const FENCE: &str = "```";
    let fenced = text.trim();
    if !fenced.starts_with(FENCE) || !fenced.ends_with(FENCE) {
        return text;
    }
    let inside = fenced.trim_matches('`');
    match inside.split_at_checked("json".len()) {
        Some((language, json)) if language.eq_ignore_ascii_case("json") => json,
        _ => inside,
    }
}

fn result(issues: &[Issue]) -> Score {
    if issues.is_empty() {
        return Score::new(1.0).reason("Output matches schema");
    }
    Score::new(0.0).reason(summary(issues)).meta(json!({ "issues": issues }))
}

/// All issues in one sentence of bounded length.
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
