//! contains-json: 1 where a text has a JSON object in it, and one that matches a schema where there is
//! one; else 0. It repairs nothing: an object that is cut off is none.
//!
//! The rule is promptfoo's `contains-json`.

mod found;

use found::Found;
use scorebox_sdk::{Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scorer, schemars};
use scorebox_sdk_json_schema::CompiledSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Scores 1 when the output has a JSON object in it, else 0, whatever stands around it.
///
/// With `schema`, one of the objects has to match it, or one of the lists; without it lists do not count, for
/// `[1]` is also a footnote. Only the outermost object counts, not those inside it. JSON is that of RFC
/// 8259: no comments, no single quotes, no trailing commas. An output that is no text is searched as its
/// JSON text. JSON that is nested more than 127 deep, or has in it a number beyond the range of a double
/// or half of a surrogate pair, is JSON but matches no schema.
///
/// Equals, with `formats`, promptfoo's `contains-json` for what is JSON; that one also takes objects that are
/// cut off or written as in YAML. A schema without `$schema` is of draft-07 there, so write
/// `"$schema": "http://json-schema.org/draft-07/schema#"` into it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContainsJson {
    /// The JSON Schema that one of the objects or lists has to match, as an object and not as text
    /// (drafts 4, 6, 7, 2019-09 and 2020-12; 2020-12 where `$schema` says nothing). Remote schemas are not fetched; schema-adherence
    /// takes them as `documents`.
    #[serde(default)]
    schema: Option<Value>,
    /// Checks what `format` says in the schema (`date`, `email` …); otherwise it only describes.
    #[serde(default)]
    formats: bool,
    /// Turns the score around: 1 when there is no such JSON.
    #[serde(default)]
    negate: bool,
    #[serde(skip)]
    compiled: Option<CompiledSchema>,
}

impl Scorer for ContainsJson {
    const INFO: Info = Info::new("contains-json", "Contains JSON", env!("CARGO_PKG_VERSION"));

    fn prepare(&mut self) -> Result<(), ConfigError> {
        self.compiled = CompiledSchema::from_config(self.schema.take().as_ref(), self.formats)?;
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let output = case.output();
        let output = output.text()?;
        // Without a schema lists do not count, and the objects in them are found by themselves.
        let mut found = Found::new(&output, self.compiled.is_some());
        let mut problem = None;
        while let Some(json) = found.next()? {
            match self.problem(json) {
                None => {
                    let at = output[..found.start()].chars().count();
                    let matching =
                        if self.compiled.is_some() { " that matches the schema" } else { "" };
                    return Ok(Score::pass(!self.negate)
                        .reason(format!("JSON{matching} at character {}", at + 1))
                        .meta(json!({ "at": at, "length": json.chars().count() })));
                }
                Some(wrong) => {
                    // Inside a list there may be an object that matches.
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
        Ok(Score::pass(self.negate).reason(reason))
    }
}

impl ContainsJson {
    /// Why a JSON text does not count; none where it does.
    fn problem(&self, json: &str) -> Option<String> {
        self.compiled.as_ref().and_then(|schema| schema.problem_of_text(json))
    }
}

scorebox_sdk::export!(ContainsJson);

#[cfg(test)]
mod tests;
