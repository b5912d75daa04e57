//! A case as a script gets it: one object with the parts that the case has. It checks nothing, because scorebox did.

use std::fmt::Write as _;

use rquickjs::{Ctx, Result, Value};

use crate::contract::{
    summary::Scored,
    types::{ScorerInput, Usage},
};

/// The first argument of a script's function.
pub(crate) fn case<'js>(ctx: &Ctx<'js>, input: &ScorerInput) -> Result<Value<'js>> {
    let mut object = JsonObject::new();
    object.json("output", Some(&input.output));
    object.json("input", input.input.as_ref());
    object.json("groundTruth", input.ground_truth.as_ref());
    object.json("context", input.context.as_ref());
    object.json("latencyMs", input.latency_ms.as_ref());
    object.json("outputSchema", input.output_schema.as_ref());
    object.json("trace", input.trace.as_ref());
    object.json("usage", input.usage.as_ref().map(usage).as_ref());
    object.json("metadata", input.metadata.as_ref());
    object.json("baseline", input.baseline.as_ref());
    ctx.json_parse(object.finish())
}

fn usage(usage: &Usage) -> String {
    let mut object = JsonObject::new();
    object.json("inputTokens", usage.input_tokens.as_ref());
    object.json("outputTokens", usage.output_tokens.as_ref());
    object.json("totalTokens", usage.total_tokens.as_ref());
    object.json("costUsd", usage.cost_usd.as_ref());
    object.finish()
}

/// The argument of a script's `summarize`.
pub(crate) fn scores<'js>(ctx: &Ctx<'js>, scores: &[Scored]) -> Result<Value<'js>> {
    let mut list = String::from("[");
    for scored in scores {
        if list.len() > 1 {
            list.push(',');
        }
        let text = |text: &String| serde_json::Value::from(text.as_str());
        let mut object = JsonObject::new();
        object.json("caseId", Some(&text(&scored.case_id)));
        object.json("score", scored.score.as_ref());
        object.json("label", scored.label.as_ref().map(text).as_ref());
        object.json("meta", scored.meta.as_ref());
        list.push_str(&object.finish());
    }
    list.push(']');
    ctx.json_parse(list)
}

/// A JSON object that is written key by key.
struct JsonObject(String);

impl JsonObject {
    fn new() -> JsonObject {
        JsonObject(String::from("{"))
    }

    /// Adds a key, if it has a value; the value is already JSON.
    fn json(&mut self, key: &str, value: Option<&impl std::fmt::Display>) {
        if let Some(value) = value {
            let comma = if self.0.len() > 1 { "," } else { "" };
            // Writing to a text does not fail.
            let _ = write!(self.0, "{comma}\"{key}\":{value}");
        }
    }

    fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
