//! tool-order: 1 where tools were called in an order. It compares names only; for arguments see
//! trajectory-match.
//!
//! The rule is niceeval's `toolOrder`, with promptfoo's two modes of `trajectory:tool-sequence`.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, Severity, excerpt,
    schemars,
};
use scorebox_sdk_traces::{ExpectedCalls, TextOrRegex, TextPattern, ToolCall, Trace};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The most names that `meta.called` lists.
const SHOWN: usize = 100;

/// Scores 1 when tools were called in the expected order, else 0.
///
/// As a `subsequence`, other calls may stand between them; `exact`ly, there are no others. A name
/// is the tool's own, or the common one of its kind (`shell` for Claude Code's `Bash`). Without
/// `names` the order is that of the calls of `value` or the ground truth; of a list of lists, any
/// one will do. Equals niceeval's `toolOrder` and promptfoo's `trajectory:tool-sequence`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolOrder {
    /// The tools in their order, in place of the ground truth's. A tool may be named more than
    /// once.
    #[serde(default)]
    names: Option<Vec<TextOrRegex>>,
    /// What may stand between them.
    #[serde(default)]
    mode: Mode,
    /// Turns the score around: 1 when the tools were not called in this order.
    #[serde(default)]
    negate: bool,
    /// The expected calls, in place of the ground truth's, if not by `names`.
    #[serde(default)]
    value: Option<Value>,
    /// Lists of expected calls, in place of the ground truth; any one will do.
    #[serde(default)]
    values: Option<Vec<Value>>,
    #[serde(skip)]
    expected: Option<ExpectedCalls>,
    #[serde(skip)]
    wanted: Vec<TextPattern>,
}

/// What may stand between the expected calls.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// Any other calls, as before and after them.
    #[default]
    Subsequence,
    /// Nothing: these are all calls.
    Exact,
}

impl Scorer for ToolOrder {
    const INFO: Info = Info::new("tool-order", "Tool Order", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE.and(Fields::GROUND_TRUTH))
        .severity(Severity::Gate)
        .threshold(1.0);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        self.wanted = TextPattern::compile_all(("name", &None), ("names", &self.names))?;
        self.expected = ExpectedCalls::from_config(self.value.take(), self.values.take())?;
        if self.expected.is_some() && !self.wanted.is_empty() {
            let message = "stands beside `names`; give either of them";
            return Err(ConfigError::new("value", message));
        }
        Ok(())
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
            return Ok(Score::not_applicable("no order is expected"));
        };
        Ok(Score::pass(order.holds != self.negate)
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
    /// The orders any of which will do.
    fn orders(&self, case: &Case) -> Result<Vec<Vec<TextPattern>>, ScoreError> {
        if !self.wanted.is_empty() {
            return Ok(vec![self.wanted.clone()]);
        }
        let expected = ExpectedCalls::or_ground_truth(&self.expected, case)?;
        let names = expected
            .alternatives()
            .iter()
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
                    .map(|call| format!("; there stands `{}`", excerpt(&call.name, 80)));
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
