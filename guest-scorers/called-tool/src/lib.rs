//! called-tool: whether tools were called, how often and with which arguments. It does not ask in
//! which order (tool-order), nor what else was called (trajectory-match).
//!
//! score = checks that hold / all checks; a check is one name, or one call of the ground truth
//!
//! The rule is niceeval's `calledTool`, with the bounds of promptfoo's `trajectory:tool-used`.

use scorebox_sdk::{
    Case, Checks, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity,
    excerpt, schemars,
};
use scorebox_sdk_traces::{
    ArgumentMatch, ArgumentPattern, Assignment, Count, ExpectedCall, ExpectedCalls, Status,
    TextOrRegex, TextPattern, ToolCall, Trace,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// The most names that `meta.called` lists.
const SHOWN: usize = 100;

/// Scores whether tools were called: the fraction of the named tools that were, each as often as
/// `count`, `min` and `max` say (at least once) and with the `arguments`.
///
/// A name is the tool's own, or the common one of its kind (`shell` for Claude Code's `Bash`).
/// Without names, the expected calls are those of `value` or the ground truth, `{name, arguments}`
/// each: every one needs a call of its own, whose arguments have at least the expected ones in
/// them; of a list of lists the best counts. Equals niceeval's `calledTool` and promptfoo's
/// `trajectory:tool-used` and `trajectory:tool-args-match`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CalledTool {
    /// The tool.
    #[serde(default)]
    name: Option<TextOrRegex>,
    /// The tools, each of which has to be called.
    #[serde(default)]
    names: Option<Vec<TextOrRegex>>,
    /// What the arguments have to look like: an object that they have in them at any depth, in
    /// which `{"regex": …}` matches a text or else the arguments as JSON text. Needs names.
    #[serde(default)]
    arguments: Option<Value>,
    /// How arguments are compared.
    #[serde(default)]
    r#match: ArgumentMatch,
    /// How the call has to have ended, as far as the trace tells.
    #[serde(default)]
    status: Option<Status>,
    /// How many such calls there have to be, exactly. Needs names.
    #[serde(default)]
    count: Option<usize>,
    /// The fewest such calls; 1 where not set. Needs names.
    #[serde(default)]
    min: Option<usize>,
    /// The most such calls. Needs names.
    #[serde(default)]
    max: Option<usize>,
    /// Turns the score s around: 1 - s. Each assertion then wants the opposite.
    #[serde(default)]
    negate: bool,
    /// The expected calls `{name, arguments}`, in place of the ground truth and of names.
    #[serde(default)]
    value: Option<Value>,
    /// Lists of expected calls, of which the best counts.
    #[serde(default)]
    values: Option<Vec<Value>>,
    #[serde(skip)]
    expected: Option<ExpectedCalls>,
    #[serde(skip)]
    wanted: Vec<TextPattern>,
    #[serde(skip)]
    pattern: Option<ArgumentPattern>,
    #[serde(skip)]
    often: Option<Count>,
}

impl Scorer for CalledTool {
    const INFO: Info = Info::new("called-tool", "Called Tool", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE.and(Fields::GROUND_TRUTH))
        .severity(Severity::Gate)
        .threshold(1.0);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        self.wanted = TextPattern::compile_all(("name", &self.name), ("names", &self.names))?;
        let set = [
            ("arguments", self.arguments.is_some()),
            ("count", self.count.is_some()),
            ("min", self.min.is_some()),
            ("max", self.max.is_some()),
        ];
        if let Some((key, _)) = set.iter().find(|(_, set)| *set && self.wanted.is_empty()) {
            return Err(ConfigError::new(*key, "needs a `name` or `names` that it is about"));
        }
        self.expected = ExpectedCalls::from_config(self.value.take(), self.values.take())?;
        if self.expected.is_some() && !self.wanted.is_empty() {
            let message = "stands beside names; give either expected calls or names";
            return Err(ConfigError::new("value", message));
        }
        self.often = Some(Count::from_config(self.count, self.min, self.max, 1)?);
        let exact = self.r#match.is_exact();
        self.pattern = (self.arguments.take())
            .map(|arguments| ArgumentPattern::compile("arguments", arguments, exact))
            .transpose()?;
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let calls: Vec<&ToolCall> = trace.tool_calls().filter(|call| self.ended(call)).collect();
        let checks = if self.wanted.is_empty() {
            let expected = ExpectedCalls::or_ground_truth(&self.expected, case)?;
            let mut best = None;
            // Nothing to call is a choice only where it is the only one: it asks for no check.
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
            self.wanted.iter().for_each(|name| self.named(name, &calls, &mut checks));
            checks
        };
        if checks.is_empty() {
            return Ok(Score::not_applicable("no call is expected"));
        }
        let called: Vec<_> = calls.iter().take(SHOWN).map(|call| excerpt(&call.name, 80)).collect();
        Ok(checks.negated(self.negate).into_score().meta(json!({ "called": called })))
    }
}

impl CalledTool {
    fn ended(&self, call: &ToolCall) -> bool {
        self.status.is_none_or(|status| call.outcome() == status)
    }

    /// One check: the tool of this name was called as often as it should be.
    fn named(&self, name: &TextPattern, calls: &[&ToolCall], checks: &mut Checks) {
        let named: Vec<_> = calls.iter().filter(|call| call.is_named(name)).collect();
        let matching = match &self.pattern {
            Some(pattern) => named.iter().filter(|call| pattern.matches(&call.arguments)).count(),
            None => named.len(),
        };
        let with = if self.pattern.is_some() { " with such arguments" } else { "" };
        let found = match matching {
            0 => format!("{name} was not called{with}"),
            1 => format!("{name} was called once{with}"),
            times => format!("{name} was called {times} times{with}"),
        };
        let holds = self.often.is_none_or(|often| often.holds(matching));
        let mut wanted = self.often.map(|often| often.to_string()).unwrap_or_default();
        if let (0, Some(near)) = (matching, named.first()) {
            let arguments = near.arguments.to_string();
            wanted.push_str(&format!("; it was called with {}", excerpt(&arguments, 120)));
        }
        checks.add_wanted(format!("called {name}"), holds, found, wanted);
    }

    /// One check for every expected call: it has a call of its own.
    fn expected(&self, wanted: &[ExpectedCall], calls: &[&ToolCall]) -> Result<Checks, ScoreError> {
        let exact = self.r#match.is_exact();
        let patterns = wanted.iter().map(|call| {
            let arguments = call.arguments.clone();
            let pattern = arguments.map(|found| ArgumentPattern::literal(found, exact));
            (call.name.as_str(), pattern)
        });
        let patterns: Vec<_> = patterns.collect();
        let pairs = Assignment::Optimal.pair(patterns.len(), calls.len(), |left, right| {
            let (name, pattern) = &patterns[left];
            let call = calls[right];
            call.name == *name
                && pattern.as_ref().is_none_or(|pattern| pattern.matches(&call.arguments))
        })?;
        let mut checks = Checks::default();
        for (index, call) in wanted.iter().enumerate() {
            let found = pairs.right_of[index].is_some();
            let name = excerpt(&call.name, 80);
            let arguments = call.arguments.as_ref().map_or("any".to_owned(), Value::to_string);
            let was = if found { "was called" } else { "was not called" };
            let reason = format!("`{name}` {was} with {}", excerpt(&arguments, 120));
            checks.add(format!("called `{name}` ({})", index + 1), found, reason);
        }
        Ok(checks)
    }
}

scorebox_sdk::export!(CalledTool);

#[cfg(test)]
mod tests;
