//! called-tool: whether tools were called, how often and with which arguments. It does not ask in
//! which order (tool-order), nor what else was called (trajectory-match).
//!
//! score = checks that hold / all checks; a check is one name, or one call of the ground truth
//!
//! The rule is niceeval's `calledTool`, with the bounds of promptfoo's `trajectory:tool-used`.

use scorebox_sdk::{
    Case, Checks, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Score, ScoreError, Scorer, Severity, excerpt, schemars,
};
use scorebox_sdk_traces::{
    ArgumentMatch, ArgumentPattern, Assignment, Count, ExpectedCall, ExpectedCalls, Status,
    TextOrRegex, TextPattern, ToolCall, Trace, Written,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// The most names that `meta.called` lists.
const SHOWN: usize = 100;

/// The keys of the configuration that replace the ground truth.
const KEYS: &str = "`name`, `names` or `value`";

/// Scores whether tools were called: the fraction of the named tools that were called as often as
/// `count`, `min` and `max` require (by default at least once) and with the `arguments`.
///
/// A name is the tool's own name or the common name of its kind (`shell` for Claude Code's `Bash`).
/// Without names, the expected calls are those of `value` or the ground truth, each `{name,
/// arguments}`: each needs a separate call whose arguments contain the expected ones, in which an
/// array has as many items as the call's and nothing is a pattern; of a list of lists the best match
/// counts. If no call is expected, the result is not-applicable. Regular expressions have the syntax
/// of regex-lite: `\d`, `\w`, `\s`, `\b` and `(?i)` are ASCII only. Equals niceeval's `calledTool` and
/// promptfoo's `trajectory:tool-used` and `trajectory:tool-args-match`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The tool.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    name: Option<TextOrRegex>,
    /// The tools; each of them must be called.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    names: Option<Vec<TextOrRegex>>,
    /// What the arguments must contain: the keys and values of this object, and so in the objects
    /// inside; of an array, the first items. An object whose only key is `regex` is a pattern, unless
    /// `match` is `exact`. It is searched for in the value at its place, if that is a text, or else in
    /// the whole object or array around that place, as JSON text without spaces, with the keys as the
    /// trace has them and with sorted keys: so it also matches in a neighbouring argument or in the
    /// name of a key. Begin it with `^` to search the value alone. Requires names.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    arguments: Option<Value>,
    /// How arguments are compared.
    #[serde(default)]
    r#match: ArgumentMatch,
    /// How the call must have ended, if the trace says.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    status: Option<Status>,
    /// The exact number of such calls. Requires names.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    count: Option<usize>,
    /// The minimum number of such calls; 1 by default. Requires names.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    min: Option<usize>,
    /// The maximum number of such calls. Requires names.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    max: Option<usize>,
    #[serde(default)]
    negate: Negate,
    /// The expected calls, in place of the ground truth: names, or `{name, arguments}`.
    #[serde(default)]
    value: ExpectedValue,
    /// Lists of expected calls, in place of the ground truth; the best match counts.
    #[serde(default)]
    values: ExpectedValues,
}

/// The scorer, made from its [`Config`].
pub struct CalledTool {
    names: Vec<TextPattern>,
    arguments: Option<ArgumentPattern>,
    exact: bool,
    status: Option<Status>,
    often: Count,
    negate: Negate,
    expected: Option<ExpectedCalls>,
}

impl Scorer for CalledTool {
    type Config = Config;

    const INFO: Info = Info::new("called-tool", "Called Tool", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE.and(Fields::GROUND_TRUTH))
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config {
            name,
            names,
            arguments,
            r#match,
            status,
            count,
            min,
            max,
            negate,
            value,
            values,
        } = config;
        let names = TextPattern::compile_all(("name", &name), ("names", &names))?;
        let set = [
            ("arguments", arguments.is_some()),
            ("count", count.is_some()),
            ("min", min.is_some()),
            ("max", max.is_some()),
        ];
        if let Some((key, _)) = set.iter().find(|(_, set)| *set && names.is_empty()) {
            return Err(ConfigError::new(*key, "needs a `name` or `names` to apply to"));
        }
        let expected = ExpectedCalls::configured(value, values)?;
        if expected.is_some() && !names.is_empty() {
            let message = "cannot be combined with names; give either expected calls or names";
            return Err(ConfigError::new("value", message));
        }
        let exact = r#match.is_exact();
        let arguments = arguments
            .map(|arguments| ArgumentPattern::compile("arguments", arguments, exact))
            .transpose()?;
        let often = Count::from_config(count, min, max, 1)?;
        Ok(Self { names, arguments, exact, status, often, negate, expected })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let all: Vec<&ToolCall> = trace.tool_calls().collect();
        let calls: Vec<&ToolCall> = all.iter().copied().filter(|call| self.ended(call)).collect();
        let checks = if self.names.is_empty() {
            let expected = ExpectedCalls::or_ground_truth(&self.expected, KEYS, case)?;
            let mut best = None;
            // An empty list is a choice only if it is the only one: it requires nothing.
            let choices = expected.alternatives();
            let any = choices.iter().any(|run| !run.calls.is_empty());
            for run in choices.iter().filter(|run| !any || !run.calls.is_empty()) {
                let checks = self.expected(&run.calls, &calls)?;
                if best.as_ref().is_none_or(|best: &Checks| best.fraction() < checks.fraction()) {
                    best = Some(checks);
                }
            }
            best.unwrap_or_default()
        } else {
            let mut checks = Checks::default();
            let written = Written::new(case, &trace);
            self.names.iter().for_each(|name| self.named(name, &all, &written, &mut checks));
            checks
        };
        if checks.is_empty() {
            return Ok(Score::not_applicable("no call is expected"));
        }
        let called: Vec<_> = calls.iter().take(SHOWN).map(|call| excerpt(&call.name, 80)).collect();
        Ok(checks.negated(self.negate.is_set()).into_score().meta(json!({ "called": called })))
    }
}

impl CalledTool {
    fn ended(&self, call: &ToolCall) -> bool {
        self.status.is_none_or(|status| call.status() == status)
    }

    /// The required status, as the end of a sentence.
    fn end(&self) -> String {
        let status = self.status.map(|status| format!(" with the status `{}`", status.name()));
        status.unwrap_or_default()
    }

    /// One check: the tool with this name was called as often as required.
    fn named(
        &self,
        name: &TextPattern,
        calls: &[&ToolCall],
        written: &Written<'_>,
        checks: &mut Checks,
    ) {
        let named: Vec<_> = calls.iter().filter(|call| call.is_named(name)).collect();
        let has_arguments = |call: &ToolCall| {
            let matches =
                |pattern: &ArgumentPattern| pattern.matches_as_written(&call.arguments, written);
            self.arguments.as_ref().is_none_or(matches)
        };
        let ended = named.iter().filter(|call| self.ended(call));
        let matching = ended.filter(|call| has_arguments(call)).count();
        let arguments = if self.arguments.is_some() { " with such arguments" } else { "" };
        let with = format!("{arguments}{}", self.end());
        let found = match matching {
            0 => format!("{name} was not called{with}"),
            1 => format!("{name} was called once{with}"),
            times => format!("{name} was called {times} times{with}"),
        };
        let holds = self.often.holds(matching);
        let mut wanted = self.often.to_string();
        if matching == 0
            && let Some(first) = named.first()
        {
            // A call that only has the wrong status explains more than the first one.
            let near = named.iter().find(|call| has_arguments(call)).unwrap_or(first);
            if self.arguments.is_some() {
                let arguments = near.arguments.to_string();
                wanted.push_str(&format!("; it was called with {}", excerpt(&arguments, 120)));
            }
            if self.status.is_some() {
                wanted
                    .push_str(&format!("; a call of it has the status `{}`", near.status().name()));
            }
        }
        checks.add_wanted(format!("called {name}"), holds, found, wanted);
    }

    /// One check for every expected call: there is a call for it that no other expected call takes.
    fn expected(&self, wanted: &[ExpectedCall], calls: &[&ToolCall]) -> Result<Checks, ScoreError> {
        let patterns = wanted.iter().map(|call| {
            let arguments = call.arguments.clone();
            let pattern = arguments.map(|found| ArgumentPattern::literal(found, self.exact));
            (call.name.as_str(), pattern)
        });
        let patterns: Vec<_> = patterns.collect();
        let pairs = Assignment::Optimal.pair(patterns.len(), calls.len(), |left, right| {
            let (name, pattern) = &patterns[left];
            let call = calls[right];
            call.is(name) && pattern.as_ref().is_none_or(|pattern| pattern.matches(&call.arguments))
        })?;
        let mut checks = Checks::default();
        for (index, call) in wanted.iter().enumerate() {
            let found = pairs.right_of[index].is_some();
            let name = excerpt(&call.name, 80);
            let was = if found { "was called" } else { "was not called" };
            let end = self.end();
            let reason = match call.arguments.as_ref().map(Value::to_string) {
                Some(arguments) => format!("`{name}` {was}{end} with {}", excerpt(&arguments, 120)),
                None => format!("`{name}` {was}{end}"),
            };
            checks.add(format!("called `{name}` ({})", index + 1), found, reason);
        }
        Ok(checks)
    }
}

scorebox_sdk::export!(CalledTool);

#[cfg(test)]
mod tests;
