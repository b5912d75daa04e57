//! trajectory: the fraction of a trajectory's steps that have what every step needs. It looks at keys only, and judges
//! neither their values nor the order of the steps.
//!
//! score = valid steps / all steps; 0 if there are none
//!
//! The rule is Orbiter's `TrajectoryValidator`: a step is an object; it is valid with a `step` or
//! an `id`, and all `requiredKeys`.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_traces::Trace;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The most errors that are listed for one trajectory.
const ERROR_LIMIT: usize = 100;

/// Scores the fraction of a trajectory's steps that are valid: those that have a `step` or an `id`,
/// and all `requiredKeys`.
///
/// The trajectory is the output if that is a list or has a list under `trajectory`, or else the
/// case's trace. Its steps are the objects in the list. If there are none the score is 0, and
/// `meta.error` says so. `meta.errors` lists what the first 100 invalid steps lack; `meta.notListed`
/// is the number of the others, if there are any. Equals Orbiter's `TrajectoryValidator`
/// (`trajectory`), which lists all and reads no trace: of an output without steps it scores 0.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trajectory {
    /// The keys that every step needs, in addition to `step` or `id`.
    #[serde(default = "action")]
    required_keys: Vec<String>,
}

fn action() -> Vec<String> {
    vec!["action".to_owned()]
}

impl Scorer for Trajectory {
    type Config = Self;

    const INFO: Info =
        Info::new("trajectory", "Trajectory", env!("CARGO_PKG_VERSION")).reads(Fields::TRACE);

    fn new(config: Self) -> Result<Self, ConfigError> {
        match config.required_keys.iter().position(String::is_empty) {
            Some(index) => {
                let key = format!("requiredKeys[{index}]");
                Err(ConfigError::new(key, "is empty; name the key, or leave it out"))
            }
            None => Ok(config),
        }
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let output = case.output().value()?;
        let trace = match of_output(&output) {
            None => case.trace().map(|trace| trace.value()).transpose()?,
            Some(_) => None,
        };
        let listed = of_output(&output).or_else(|| trace.as_ref().and_then(Trace::raw_steps));
        let steps: Vec<_> = listed.into_iter().flatten().filter_map(Value::as_object).collect();
        if steps.is_empty() {
            let error = "Empty or invalid trajectory";
            return Ok(Score::new(0.0).reason(error).meta(json!({ "error": error })));
        }
        let mut valid = 0;
        let mut errors = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            match self.error(step) {
                None => valid += 1,
                Some(error) if errors.len() < ERROR_LIMIT => {
                    errors.push(format!("step {index}: {error}"));
                }
                Some(_) => {}
            }
        }
        let total = steps.len();
        let reason = match errors.first() {
            None => format!("all {total} steps are valid"),
            Some(error) => format!("{valid} of {total} steps are valid; {error}"),
        };
        let not_listed = total - valid - errors.len();
        let mut meta = json!({ "valid": valid, "total": total, "errors": errors });
        if not_listed > 0 {
            meta["notListed"] = json!(not_listed);
        }
        Ok(Score::new(valid as f64 / total as f64).reason(reason).meta(meta))
    }
}

/// The list that Orbiter would read from an output.
fn of_output(output: &Value) -> Option<&[Value]> {
    let mut here = output;
    while let Some(inside) = here.get("trajectory") {
        here = inside;
    }
    here.as_array().map(Vec::as_slice)
}

impl Trajectory {
    /// What a step lacks.
    fn error(&self, step: &Map<String, Value>) -> Option<String> {
        let keys = self.required_keys.iter().filter(|key| !step.contains_key(*key));
        let missing: Vec<_> = keys.map(|key| quoted(key)).collect();
        let mut reasons = Vec::new();
        if !step.contains_key("step") && !step.contains_key("id") {
            reasons.push("missing step/id".to_owned());
        }
        if !missing.is_empty() {
            reasons.push(format!("missing [{}]", missing.join(", ")));
        }
        (!reasons.is_empty()).then(|| reasons.join(", "))
    }
}

/// A text as Python writes it in a list, for printable characters.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut quoted = String::from(quote);
    for letter in text.chars() {
        match letter {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\\' => quoted.push_str("\\\\"),
            letter if letter == quote => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                quoted.push_str(&format!("\\x{:02x}", u32::from(letter)));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push(quote);
    quoted
}

scorebox_sdk::export!(Trajectory);

#[cfg(test)]
mod tests;
