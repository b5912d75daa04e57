//! tool-arguments-valid: the fraction of tool calls whose arguments match the tool's declared
//! schema. It does not ask whether the call was a good idea.
//!
//! score = valid calls / all calls
//!
//! Arguments are validated by JSON Schema (2020-12 unless a schema names another draft); formats are not checked.

mod declared;
mod gemini;

use std::collections::{BTreeMap, BTreeSet};

use declared::{Declared, declarations};
use scorebox_sdk::{
    Assertion, Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity,
    excerpt, schemars,
};
use scorebox_sdk_json_schema::{CompiledSchema, Options};
use scorebox_sdk_traces::{ToolCall, Trace};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Scores the fraction of a run's tool calls whose arguments match the schema of their tool.
///
/// The tools are declared by `tools`, or else by the case's `metadata.tools`, or else by the trace itself (ATIF's
/// `tool_definitions`, OpenTelemetry's `gen_ai.tool.definitions`, `tools` beside messages, Bedrock's `toolConfig`, the
/// Responses API's `mcp_list_tools`): a list in the shape of OpenAI, Anthropic, Google, Bedrock or MCP, or an object of
/// schemas by tool name. Gemini's types in capitals and its `nullable` are read as JSON Schema. A call of an undeclared
/// tool is invalid unless `undeclared` is `ignore`, and so is a call whose arguments are not JSON. For a run without
/// calls, whatever is declared, the result is not-applicable. If there are calls and nothing is declared, it is an
/// error. Every call is an assertion.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The tools that exist, in place of the case's; at least one.
    #[serde(default)]
    tools: Option<Value>,
    /// How a call of an undeclared tool counts.
    #[serde(default)]
    undeclared: Undeclared,
}

/// How a call of an undeclared tool counts.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Undeclared {
    /// It is invalid.
    #[default]
    Fail,
    /// It does not count.
    Ignore,
}

/// The reason for not-applicable.
const NOTHING: &str = "no call of a declared tool";

/// Compiled schemas by tool name.
type Tools = BTreeMap<String, CompiledSchema>;

/// The scorer, made from its [`Config`].
pub struct ToolArgumentsValid {
    /// The configured tools.
    tools: Option<Tools>,
    undeclared: Undeclared,
}

impl Scorer for ToolArgumentsValid {
    type Config = Config;

    const INFO: Info =
        Info::new("tool-arguments-valid", "Tool Arguments Valid", env!("CARGO_PKG_VERSION"))
            .reads(Fields::TRACE.and(Fields::METADATA))
            .severity(Severity::Gate)
            .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        // Without configured tools, a sample schema is compiled: what the compiler sets up at its first use is then
        // part of the memory that every score starts from.
        let any = json!({ "properties": { "a": { "type": "string" } } });
        let refuse = |error: String| ConfigError::new("tools", error);
        CompiledSchema::prepare(&any, Options::default()).map_err(refuse)?;
        let Config { tools, undeclared } = config;
        let Some(tools) = tools else {
            return Ok(Self { tools: None, undeclared });
        };
        let declared = declarations(&tools).map_err(refuse)?;
        if declared.is_empty() {
            let message = "declares no tool; leave it out, and the tools of the case count";
            return Err(ConfigError::new("tools", message));
        }
        let tools = compile_all(declared, CompiledSchema::prepare).map_err(refuse)?;
        Ok(Self { tools: Some(tools), undeclared })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let calls: Vec<&ToolCall> = trace.tool_calls().collect();
        if calls.is_empty() {
            return Ok(Score::not_applicable(NOTHING));
        }
        let of_case;
        let tools = match &self.tools {
            Some(tools) => tools,
            None => {
                let used = calls.iter().map(|call| call.name.as_str()).collect();
                of_case = tools_of(case, trace.tools(), &used)?;
                &of_case
            }
        };
        let (mut valid, mut checked, mut first) = (0, 0, None);
        let mut assertions = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            let tool = tools.get(&call.name);
            let issue = match (tool, &call.arguments_error) {
                (None, _) if self.undeclared == Undeclared::Ignore => continue,
                (None, _) => Some("no such tool is declared".to_owned()),
                (_, Some(error)) => Some(excerpt(error, 160).into_owned()),
                (Some(schema), None) => schema.problem(&call.arguments),
            };
            checked += 1;
            valid += usize::from(issue.is_none());
            let name = format!("`{}` ({})", excerpt(&call.name, 80), index + 1);
            if let (Some(issue), None) = (&issue, &first) {
                first = Some(format!("{name}: {issue}"));
            }
            let assertion = Assertion::pass(name, issue.is_none());
            assertions.push(assertion.reason(issue.unwrap_or_else(|| "valid".to_owned())));
        }
        if checked == 0 {
            return Ok(Score::not_applicable(NOTHING));
        }
        let reason = match first {
            None => format!("the arguments of all {checked} calls are valid"),
            Some(first) => format!("{valid} of {checked} calls are valid; first invalid: {first}"),
        };
        Ok(Score::new(valid as f64 / checked as f64)
            .reason(reason)
            .meta(json!({ "valid": valid, "calls": checked }))
            .assertions(assertions))
    }
}

/// Compiles the tools' schemas, for all scores or for one.
fn compile_all(
    declared: Vec<Declared>,
    compile: fn(&Value, Options<'_>) -> Result<CompiledSchema, String>,
) -> Result<Tools, String> {
    let compile = |tool: Declared| {
        let schema = compile(&tool.schema, Options::default());
        schema
            .map(|schema| (tool.name.clone(), schema))
            .map_err(|error| format!("the schema of `{}` {error}", excerpt(&tool.name, 80)))
    };
    declared.into_iter().map(compile).collect()
}

/// The tools that a case declares, limited to those that are used.
fn tools_of(case: &Case, of_trace: &[Value], used: &BTreeSet<&str>) -> Result<Tools, ScoreError> {
    let metadata = case.metadata().map(|metadata| metadata.value()).transpose()?;
    let of_case = metadata.as_ref().and_then(|metadata| metadata.get("tools"));
    let (place, tools) = match of_case.filter(|tools| !tools.is_null()) {
        Some(tools) => ("`metadata.tools`", tools.clone()),
        None if of_trace.is_empty() => {
            return Err(ScoreError::invalid_input(
                "no tools are declared: set `tools`, or give the case `metadata.tools`",
            ));
        }
        None => ("the trace's tools", Value::Array(of_trace.to_vec())),
    };
    let refuse = |error: String| ScoreError::invalid_input(format!("{place}: {error}"));
    let declared = declarations(&tools).map_err(refuse)?;
    let used = declared.into_iter().filter(|tool| used.contains(tool.name.as_str())).collect();
    compile_all(used, CompiledSchema::compile).map_err(refuse)
}

scorebox_sdk::export!(ToolArgumentsValid);

#[cfg(test)]
mod tests;
