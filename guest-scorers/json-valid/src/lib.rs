//! json-valid: 1 if the output is JSON, an object or a list, and matches a schema if there is one; else 0. It repairs
//! nothing, and does not look for JSON inside prose; for that see contains-json.
//!
//! The rules are autoevals' `ValidJSON` and promptfoo's `is-json`.

use scorebox_sdk::{
    Case, ConfigError, Info, JsonSchema, Negate, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_json_schema::CompiledSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// Scores 1 if the output is JSON, else 0: an object or a list, or with `schema` any value that
/// matches it.
///
/// A text is parsed as JSON; any other output is JSON already. JSON is RFC 8259: no comments,
/// trailing commas or `NaN`. A text that holds only a number, a string, `true`, `false` or `null`
/// scores 0 unless `scalars` or a `schema` allows it. JSON that is nested more than 127 deep, or
/// contains a number beyond the range of a double or half of a surrogate pair, is JSON but matches
/// no schema.
///
/// Equals autoevals' `ValidJSON`, which also accepts `NaN` and `Infinity`, and with `scalars` and
/// `formats` promptfoo's `is-json`. promptfoo reads a schema without `$schema` as draft-07: add
/// `"$schema": "http://json-schema.org/draft-07/schema#"` to it. With `formats`, an `email` may have a domain
/// of one label (`a@b`), and a `date-time` must have `T` and no space between date and time; promptfoo's
/// validator decides the other way in both.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The JSON Schema that the content must match, as an object, not as text (drafts 4, 6, 7,
    /// 2019-09 and 2020-12; 2020-12 without `$schema`). Remote schemas are not fetched;
    /// schema-adherence takes them as `documents`.
    #[serde(default)]
    schema: Option<Value>,
    /// Checks `format` in the schema (`date`, `email` …); otherwise it is only a description. See
    /// docs/conformance.md for how strictly.
    #[serde(default)]
    formats: bool,
    /// Accepts numbers, strings, `true`, `false` and `null` as well.
    #[serde(default)]
    scalars: bool,
    #[serde(default)]
    negate: Negate,
}

/// The scorer, made from its [`Config`].
pub struct JsonValid {
    schema: Option<CompiledSchema>,
    scalars: bool,
    negate: Negate,
}

impl Scorer for JsonValid {
    type Config = Config;

    const INFO: Info = Info::new("json-valid", "JSON Valid", env!("CARGO_PKG_VERSION"));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { schema, formats, scalars, negate } = config;
        let schema = CompiledSchema::from_config(schema.as_ref(), formats)?;
        Ok(Self { schema, scalars, negate })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let output = case.output();
        let problem = self.problem(&output.text()?);
        let reason = problem.clone().unwrap_or_else(|| match self.schema {
            Some(_) => "JSON that matches the schema".to_owned(),
            None => "JSON".to_owned(),
        });
        Ok(self.negate.pass(problem.is_none()).reason(reason))
    }
}

impl JsonValid {
    /// Why a text does not count; `None` if it does.
    fn problem(&self, text: &str) -> Option<String> {
        // Skipping a value has no limit of nesting.
        if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
            return Some(format!("not JSON: {error}"));
        }
        if let Some(schema) = &self.schema {
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
