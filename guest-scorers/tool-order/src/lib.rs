//! tool-order: 1 if tools were called in a given order. It compares names only; for arguments see trajectory-match.
//!
//! The rule is niceeval's `toolOrder`, with promptfoo's two modes of `trajectory:tool-sequence`.

use scorebox_sdk::{
    Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate, Score,
    ScoreError, Scorer, Severity, excerpt, schemars,
};
use scorebox_sdk_traces::{ExpectedCalls, TextOrRegex, TextPattern, ToolCall, Trace};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The most names that `meta.called` lists.
const SHOWN: usize = 100;

/// The keys of the configuration that replace the ground truth.
const KEYS: &str = "`names` or `value`";

/// Scores 1 if tools were called in the expected order, else 0.
///
/// As a `subsequence`, other calls may be made between them; with `exact`, there may be no others.
/// A name is the tool's own name or the common name of its kind (`shell` for Claude Code's `Bash`).
/// Without `names`, the order is that of the calls of `value` or the ground truth; of a list of
/// lists, any one will do. If no call is expected, the result is not-applicable. Regular expressions
/// have the syntax of regex-lite: `\d`, `\w`, `\s`, `\b` and `(?i)` are ASCII only. Equals niceeval's
/// `toolOrder` and promptfoo's `trajectory:tool-sequence`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The tools in order, in place of the ground truth's. A tool may occur more than once.
    #[serde(default, deserialize_with = "scorebox_sdk_traces::given")]
    names: Option<Vec<TextOrRegex>>,
    /// What may be called between them.
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    negate: Negate,
    /// The expected calls, in place of the ground truth: names, or `{name, arguments}`.
    #[serde(default)]
    value: ExpectedValue,
    /// Lists of expected calls, in place of the ground truth; the best match counts.
    #[serde(default)]
    values: ExpectedValues,
}

/// What may come between the expected calls.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// Any other calls, also before and after them.
    #[default]
    Subsequence,
    /// Nothing: there are no other calls.
    Exact,
}

/// The scorer, made from its [`Config`].
pub struct ToolOrder {
    wanted: Vec<TextPattern>,
    mode: Mode,
    negate: Negate,
    expected: Option<ExpectedCalls>,
}

impl Scorer for ToolOrder {
    type Config = Config;

    const INFO: Info = Info::new("tool-order", "Tool Order", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE.and(Fields::GROUND_TRUTH))
        .severity(Severity::Gate)
        .threshold(1.0);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { names, mode, negate, value, values } = config;
        let wanted = TextPattern::compile_all(("name", &None), ("names", &names))?;
        let expected = ExpectedCalls::configured(value, values)?;
        if expected.is_some() && !wanted.is_empty() {
            let message = "cannot be combined with `names`; give one of them";
            return Err(ConfigError::new("value", message));
        }
        Ok(Self { wanted, mode, negate, expected })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let calls: Vec<&ToolCall> = trace.tool_calls().collect();
        let called: Vec<_> = calls.iter().take(SHOWN).map(|call| excerpt(&call.name, 80)).collect();
        let mut found = None;
        for wanted in self.orders(case)? {
            let order = self.compare(&wanted, &calls);
            if found.as_ref().is_none_or(|best: &Order| !best.holds && order.holds) {
                found = Some(order);
            }
        }
        let Some(order) = found else {
            return Ok(Score::not_applicable("no call is expected"));
        };
        Ok(self
            .negate
            .pass(order.holds)
            .reason(order.reason)
            .meta(json!({ "called": called, "matched": order.matched })))
    }
}

/// How far an order was kept.
struct Order {
    holds: bool,
    matched: usize,
    reason: String,
}

impl ToolOrder {
    /// The expected orders, any of which is enough.
    fn orders(&self, case: &Case) -> Result<Vec<Vec<TextPattern>>, ScoreError> {
        if !self.wanted.is_empty() {
            return Ok(vec![self.wanted.clone()]);
        }
        let expected = ExpectedCalls::or_ground_truth(&self.expected, KEYS, case)?;
        // An empty list is not an order, so next to others it is not a choice.
        let runs = expected.alternatives().iter().filter(|run| !run.calls.is_empty());
        let names = runs
            .map(|run| run.calls.iter().map(|call| TextPattern::Text(call.name.clone())).collect());
        Ok(names.collect())
    }

    fn compare(&self, wanted: &[TextPattern], calls: &[&ToolCall]) -> Order {
        let exact = self.mode == Mode::Exact;
        let mut matched = 0;
        for (index, call) in calls.iter().enumerate() {
            let next = wanted.get(matched).filter(|_| !exact || index == matched);
            if next.is_some_and(|name| call.is_named(name)) {
                matched += 1;
            }
        }
        let complete = matched == wanted.len();
        let more = calls.len().saturating_sub(matched);
        let last = matched.checked_sub(1).map(|last| format!(" after {}", wanted[last]));
        let reason = match wanted.get(matched) {
            Some(missing) => {
                let instead = calls
                    .get(matched)
                    .filter(|_| exact)
                    .map(|call| format!("; found `{}` instead", excerpt(&call.name, 80)));
                let (last, instead) = (last.unwrap_or_default(), instead.unwrap_or_default());
                format!("{missing} is missing{last}{instead}")
            }
            None if exact && more > 0 => {
                let next = calls.get(matched).map_or("", |call| call.name.as_str());
                format!("in order, but {more} more follow, first `{}`", excerpt(next, 80))
            }
            None => format!("{matched} calls in the expected order"),
        };
        Order { holds: complete && !(exact && more > 0), matched, reason }
    }
}

scorebox_sdk::export!(ToolOrder);

#[cfg(test)]
mod tests;
