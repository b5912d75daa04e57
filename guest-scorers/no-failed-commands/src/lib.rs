//! no-failed-commands: 1 if no shell command that the agent ran failed. For commands that are run on its work
//! afterwards, see commands.
//!
//! The rule is niceeval's `noFailedShellCommands`.

use scorebox_sdk::{
    Assertion, Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity,
    excerpt, schemars,
};
use scorebox_sdk_traces::{Status, TextOrRegex, TextPattern, ToolCall, Trace};
use serde::Deserialize;
use serde_json::{Value, json};

/// The most names of tools that the reason lists.
const SHOWN: usize = 5;

/// Scores 1 if no shell command that the agent ran failed, else 0.
///
/// A command is a call of a tool whose common name is `shell` (`Bash`, `local_shell`,
/// `execute_bash`, `run_in_terminal` …) or that `tools` names. It failed if its result has an exit code other than 0
/// or, without an exit code, if the trace says so or the result reports an error as for
/// `no-failed-actions`. `allow` lists commands that may fail. Regular expressions have the syntax of
/// regex-lite: `\d`, `\w`, `\s`, `\b` and `(?i)` are ASCII only. Equals niceeval's
/// `noFailedShellCommands`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// Additional tools that run commands.
    #[serde(default)]
    tools: Option<Vec<TextOrRegex>>,
    /// Commands that may fail: a text that they contain, or a regular expression.
    #[serde(default)]
    allow: Option<Vec<TextOrRegex>>,
}

/// The scorer, made from its [`Config`].
pub struct NoFailedCommands {
    shells: Vec<TextPattern>,
    allowed: Vec<TextPattern>,
}

impl Scorer for NoFailedCommands {
    type Config = Config;

    const INFO: Info =
        Info::new("no-failed-commands", "No Failed Commands", env!("CARGO_PKG_VERSION"))
            .reads(Fields::TRACE)
            .severity(Severity::Gate)
            .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { tools, allow } = config;
        Ok(Self {
            shells: TextPattern::compile_all(("tool", &None), ("tools", &tools))?,
            allowed: TextPattern::compile_all(("allow", &None), ("allow", &allow))?,
        })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let mut commands = 0;
        let mut failures = Vec::new();
        for call in trace.tool_calls().filter(|call| self.runs_commands(call)) {
            commands += 1;
            let command = command(&call.arguments);
            if failed(call) && !self.allowed.iter().any(|allowed| allowed.is_in(&command)) {
                failures.push((excerpt(&command, 120).into_owned(), why(call)));
            }
        }
        let reason = match (commands, failures.as_slice()) {
            (0, _) => none(&trace),
            (_, []) => format!("none of the commands failed ({commands})"),
            (_, [(command, why), ..]) => {
                format!("{} of {commands} failed, first `{command}`: {why}", failures.len())
            }
        };
        let failed = failures.len();
        let assertions = failures.into_iter().map(|(command, why)| {
            Assertion::pass(format!("`{command}` does not fail"), false).reason(why)
        });
        Ok(Score::pass(failed == 0)
            .reason(reason)
            .meta(json!({ "failed": failed, "commands": commands }))
            .assertions(assertions))
    }
}

impl NoFailedCommands {
    fn runs_commands(&self, call: &ToolCall) -> bool {
        call.is("shell") || self.shells.iter().any(|name| call.is_named(name))
    }
}

/// Why no command was found: a tool that runs commands may have an unknown name.
fn none(trace: &Trace) -> String {
    let mut names: Vec<&str> = Vec::new();
    for call in trace.tool_calls() {
        if names.len() < SHOWN && !names.contains(&call.name.as_str()) {
            names.push(&call.name);
        }
    }
    if names.is_empty() {
        return "no command was run".to_owned();
    }
    let names: Vec<_> = names.iter().map(|name| format!("`{}`", excerpt(name, 40))).collect();
    let names = names.join(", ");
    format!("no tool that is known to run commands was called, only {names}; see `tools`")
}

fn failed(call: &ToolCall) -> bool {
    match (call.stated_status, call.exit_code()) {
        (Status::Rejected, _) => false,
        (_, Some(code)) => code != 0,
        _ => call.status() == Status::Failed,
    }
}

fn why(call: &ToolCall) -> String {
    let said = call.result_text().unwrap_or_default();
    match call.exit_code() {
        Some(code) => format!("exit code {code}"),
        None if said.is_empty() => "it failed".to_owned(),
        None => excerpt(&said, 120).into_owned(),
    }
}

/// The command in a call's arguments, on one line.
fn command(arguments: &Value) -> String {
    let keys = ["command", "cmd", "commands", "script", "code"];
    match keys.iter().find_map(|key| arguments.get(key)) {
        Some(Value::String(command)) => command.clone(),
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
        }
        _ => match arguments {
            Value::String(command) => command.clone(),
            other => other.to_string(),
        },
    }
}

scorebox_sdk::export!(NoFailedCommands);

#[cfg(test)]
mod tests;
