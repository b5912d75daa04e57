//! json-valid: 1 where the output is JSON, an object or a list, and matches a schema where there is one;
//! else 0. It repairs nothing and finds no JSON inside prose; for that see contains-json.

use scorebox_sdk::json_schema::{CompiledSchema, Options};
use scorebox_sdk::{Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scorer, schemars};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// Scores 1 when the output is JSON, else 0: an object or a list, or with `schema` whatever matches it.
///
/// A text is read as JSON; any other output is JSON already. JSON is that of RFC 8259: no comments, no
/// trailing commas, no `NaN`. A text that holds only a number, a string, `true`, `false` or `null` scores 0
/// unless `scalars` or a `schema` allows it.
///
/// Equals autoevals' `ValidJSON`, which takes `NaN` and `Infinity` as well, and with `scalars` and `formats`
/// promptfoo's `is-json`; a schema without `$schema` is of draft-07 there, so write
/// `"$schema": "http://json-schema.org/draft-07/schema#"` into it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JsonValid {
    /// The JSON Schema that the content has to match, as an object and not as text (drafts 4, 6, 7, 2019-09
    /// and 2020-12; 2020-12 where `$schema` says nothing). Remote schemas are not fetched; schema-adherence
    /// takes them as `documents`.
    #[serde(default)]
    schema: Option<Value>,
    /// Checks what `format` says in the schema (`date`, `email` …); otherwise it only describes.
    #[serde(default)]
    formats: bool,
    /// Numbers, strings, `true`, `false` and `null` count as well.
    #[serde(default)]
    scalars: bool,
    /// Turns the score around: 1 when the output is no such JSON.
    #[serde(default)]
    negate: bool,
    #[serde(skip)]
    compiled: Option<CompiledSchema>,
}

impl Scorer for JsonValid {
    const INFO: Info = Info::new("json-valid", "JSON Valid", env!("CARGO_PKG_VERSION"));

    fn prepare(&mut self) -> Result<(), ConfigError> {
        if let Some(schema) = self.schema.take() {
            if !schema.is_object() && !schema.is_boolean() {
                let message = "should be a JSON Schema: an object, or `true` or `false`";
                return Err(ConfigError::new("schema", message));
            }
            let options = Options { formats: self.formats, ..Options::default() };
            let compiled = CompiledSchema::prepare(&schema, options);
            self.compiled = Some(compiled.map_err(|error| ConfigError::new("schema", error))?);
        }
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let output = case.output();
        let problem = self.problem(&output.text()?)?;
        let reason = problem.clone().unwrap_or_else(|| match self.compiled {
            Some(_) => "JSON that matches the schema".to_owned(),
            None => "JSON".to_owned(),
        });
        Ok(Score::pass(problem.is_none() != self.negate).reason(reason))
    }
}

impl JsonValid {
    /// Why a text does not count; none where it does.
    fn problem(&self, text: &str) -> Result<Option<String>, ScoreError> {
        // This reading is not bounded in depth.
        if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
            return Ok(Some(format!("not JSON: {error}")));
        }
        if let Some(schema) = &self.compiled {
            let value = serde_json::from_str(text).map_err(|error| {
                ScoreError::invalid_input(format!(
                    "`output` is JSON, but cannot be compared with the schema: {error}"
                ))
            })?;
            let problem = schema.problem(&value);
            return Ok(
                problem.map(|problem| format!("JSON that does not match the schema: {problem}"))
            );
        }
        if self.scalars || text.trim_start().starts_with(['{', '[']) {
            return Ok(None);
        }
        Ok(Some("JSON, but neither an object nor a list; `scalars` would let it count".to_owned()))
    }
}

scorebox_sdk::export!(JsonValid);

#[cfg(test)]
mod tests;
