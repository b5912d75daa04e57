//! contains-json: 1 if a text has a JSON object in it, and one that matches a schema if there is
//! one; else 0. It repairs nothing: an object that is cut off does not count.
//!
//! The rule is promptfoo's `contains-json`.

mod found;

use found::Found;
use scorebox_sdk::{
    Case, ConfigError, Info, JsonSchema, Negate, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_json_schema::CompiledSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Scores 1 if the output contains a JSON object, whatever surrounds it, else 0.
///
/// With `schema`, one of the objects or lists must match it. Without it lists do not count,
/// because `[1]` is also a footnote. Only the outermost object counts, not those inside it. JSON is
/// RFC 8259: no comments, single quotes or trailing commas. An output that is not a text is
/// searched as its JSON text. JSON that is nested more than 127 deep, or contains a number beyond
/// the range of a double or half of a surrogate pair, is JSON but matches no schema.
///
/// With `formats`, equals promptfoo's `contains-json` for valid JSON; promptfoo also accepts
/// objects that are cut off or written in YAML style. promptfoo reads a schema without `$schema` as
/// draft-07: add `"$schema": "http://json-schema.org/draft-07/schema#"` to it. An `email` may have a
/// domain of one label (`a@b`), and a `date-time` must have `T` and no space between date and time;
/// promptfoo's validator decides the other way in both.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The JSON Schema that one of the objects or lists must match, as an object, not as text
    /// (drafts 4, 6, 7, 2019-09 and 2020-12; 2020-12 without `$schema`). Remote schemas are not
    /// fetched; schema-adherence takes them as `documents`.
    #[serde(default)]
    schema: Option<Value>,
    /// Checks `format` in the schema (`date`, `email` …); otherwise it is only a description. See
    /// docs/conformance.md for how strictly.
    #[serde(default)]
    formats: bool,
    #[serde(default)]
    negate: Negate,
}

/// The scorer, made from its [`Config`].
pub struct ContainsJson {
    schema: Option<CompiledSchema>,
    negate: Negate,
}

impl Scorer for ContainsJson {
    type Config = Config;

    const INFO: Info = Info::new("contains-json", "Contains JSON", env!("CARGO_PKG_VERSION"));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let schema = CompiledSchema::from_config(config.schema.as_ref(), config.formats)?;
        Ok(Self { schema, negate: config.negate })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let output = case.output();
        let output = output.text()?;
        // Without a schema, lists do not count, and the objects in them are found separately.
        let mut found = Found::new(&output, self.schema.is_some());
        let mut problem = None;
        while let Some(json) = found.next()? {
            match self.problem(json) {
                None => {
                    let at = output[..found.start()].chars().count();
                    let matching =
                        if self.schema.is_some() { " that matches the schema" } else { "" };
                    return Ok(self
                        .negate
                        .pass(true)
                        .reason(format!("JSON{matching} at character {}", at + 1))
                        .meta(json!({ "at": at, "length": json.chars().count() })));
                }
                Some(wrong) => {
                    // A list may contain an object that matches.
                    if json.starts_with('[') {
                        found.look_inside();
                    }
                    problem = problem.or(Some(wrong));
                }
            }
        }
        let reason = match problem {
            Some(problem) => format!("no JSON matches the schema: {problem}"),
            None => "no JSON object found".to_owned(),
        };
        Ok(self.negate.pass(false).reason(reason))
    }
}

impl ContainsJson {
    /// Why a JSON text does not count; `None` if it does.
    fn problem(&self, json: &str) -> Option<String> {
        self.schema.as_ref().and_then(|schema| schema.problem_of_text(json))
    }
}

scorebox_sdk::export!(ContainsJson);

#[cfg(test)]
mod tests;
