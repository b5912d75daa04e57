//! json-valid: 1 where the output is JSON, an object or a list, and matches a schema where there is one;
//! else 0. It repairs nothing and finds no JSON inside prose; for that see contains-json.
//!
//! The rules are autoevals' `ValidJSON` and promptfoo's `is-json`.

use scorebox_sdk::{Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scorer, schemars};
use scorebox_sdk_json_schema::CompiledSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// Scores 1 when the output is JSON, else 0: an object or a list, or with `schema` whatever matches it.
///
/// A text is read as JSON; any other output is JSON already. JSON is that of RFC 8259: no comments, no
/// trailing commas, no `NaN`. A text that holds only a number, a string, `true`, `false` or `null` scores 0
/// unless `scalars` or a `schema` allows it. JSON that is nested more than 127 deep, or has in it a number
/// beyond the range of a double or half of a surrogate pair, is JSON but matches no schema.
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
        self.compiled = CompiledSchema::from_config(self.schema.take().as_ref(), self.formats)?;
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let output = case.output();
        let problem = self.problem(&output.text()?);
        let reason = problem.clone().unwrap_or_else(|| match self.compiled {
            Some(_) => "JSON that matches the schema".to_owned(),
            None => "JSON".to_owned(),
        });
        Ok(Score::pass(problem.is_none() != self.negate).reason(reason))
    }
}

impl JsonValid {
    /// Why a text does not count; none where it does.
    fn problem(&self, text: &str) -> Option<String> {
        // This reading is not bounded in depth.
        if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
            return Some(format!("not JSON: {error}"));
        }
        if let Some(schema) = &self.compiled {
            let problem = schema.problem_of_text(text);
            return problem
                .map(|problem| format!("JSON that does not match the schema: {problem}"));
        }
        if self.scalars || text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        Some("JSON, but neither an object nor a list; `scalars` would let it count".to_owned())
    }
}

scorebox_sdk::export!(JsonValid);

#[cfg(test)]
mod tests;
