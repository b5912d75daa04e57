//! not-called-tool: 1 if tools were not called, or not with certain arguments. For calls that
//! must happen see called-tool.
//!
//! The rule is niceeval's `notCalledTool`.

use scorebox_sdk::{
    Case, Checks, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity,
    excerpt, schemars,
};
use scorebox_sdk_traces::{
    ArgumentMatch, ArgumentPattern, Status, TextOrRegex, TextPattern, Trace, Written,
};
use serde::Deserialize;
use serde_json::Value;

/// Scores whether tools were not called: the fraction of the named tools without a call, or without
/// a call with the `arguments`.
///
/// A name is the tool's own name or the common name of its kind (`shell` for Claude Code's `Bash`).
/// Regular expressions have the syntax of regex-lite: `\d`, `\w`, `\s`, `\b` and `(?i)` are ASCII only.
/// A result whose call is missing counts as a call, with unknown arguments, of the tool that it names.
/// Equals niceeval's `notCalledTool` and promptfoo's `not-trajectory:tool-used`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The tool.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    name: Option<TextOrRegex>,
    /// The tools; none of them may be called.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    names: Option<Vec<TextOrRegex>>,
    /// Forbids only calls with such arguments: with the keys and values of this object, and so in the
    /// objects inside; of an array, with the same first items. An object whose only key is `regex` is
    /// a pattern, unless `match` is `exact`. It is searched for in the value at its place, if that is a
    /// text, or else in the whole object or array around that place, as JSON text without spaces, with
    /// the keys as the trace has them and with sorted keys: so it also matches in a neighbouring
    /// argument or in the name of a key. Begin it with `^` to search the value alone.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    arguments: Option<Value>,
    /// How arguments are compared.
    #[serde(default)]
    r#match: ArgumentMatch,
    /// Forbids only calls that ended this way, if the trace says.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    status: Option<Status>,
}

/// The scorer, made from its [`Config`].
pub struct NotCalledTool {
    forbidden: Vec<TextPattern>,
    arguments: Option<ArgumentPattern>,
    status: Option<Status>,
}

impl Scorer for NotCalledTool {
    type Config = Config;

    const INFO: Info = Info::new("not-called-tool", "Not Called Tool", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE)
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { name, names, arguments, r#match, status } = config;
        let forbidden = TextPattern::compile_all(("name", &name), ("names", &names))?;
        if forbidden.is_empty() {
            let message = "is missing, and so is `names`; name the tools that may not be called";
            return Err(ConfigError::new("name", message));
        }
        let exact = r#match.is_exact();
        let arguments = arguments
            .map(|arguments| ArgumentPattern::compile("arguments", arguments, exact))
            .transpose()?;
        Ok(Self { forbidden, arguments, status })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let written = Written::new(case, &trace);
        let mut checks = Checks::default();
        for name in &self.forbidden {
            let mut found = trace.calls_and_results().filter(|call| {
                call.is_named(name)
                    && self.status.is_none_or(|status| call.status() == status)
                    && (self.arguments.as_ref())
                        .is_none_or(|pattern| pattern.matches_as_written(&call.arguments, &written))
            });
            let first = found.next();
            let arguments = if self.arguments.is_some() { " with such arguments" } else { "" };
            let end = self.status.map(|status| format!(" with the status `{}`", status.name()));
            let with = format!("{arguments}{}", end.unwrap_or_default());
            let reason = match first {
                None => format!("{name} was not called{with}"),
                Some(call) => {
                    let arguments = call.arguments.to_string();
                    let times = match found.count() {
                        0 => "once".to_owned(),
                        more => format!("{} times", more + 1),
                    };
                    let arguments = excerpt(&arguments, 120);
                    format!("{name} was called {times}{with}, first with {arguments}")
                }
            };
            checks.add(format!("did not call {name}"), first.is_none(), reason);
        }
        Ok(checks.into_score())
    }
}

scorebox_sdk::export!(NotCalledTool);

#[cfg(test)]
mod tests;
