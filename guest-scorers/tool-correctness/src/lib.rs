//! tool-correctness: how many of the expected tool calls were made. Calls beside them cost nothing;
//! for those see tool-call-f1.
//!
//! score = sum over the expected calls of how well each was met / number of expected calls
//!
//! The rule is that of DeepEval's `ToolCorrectnessMetric` (deepeval 4.3.1), without its model.

mod compare;

use scorebox_sdk::{
    Assertion, Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, excerpt,
    schemars,
};
use scorebox_sdk_traces::{ExpectedCall, ExpectedCalls, ToolCall, Trace, check_pairs};
use serde::Deserialize;
use serde_json::Value;

/// Scores how many of the expected tool calls were made, 0 to 1.
///
/// Each expected call, in order, takes the best of the made calls of its tool that are left. By
/// names alone it is met or not; with `compare: ["arguments"]` it is met by the fraction of
/// arguments, of both calls together, that are equal (inner objects by their own fraction).
/// `considerOrdering` takes the heaviest common subsequence instead; `exactMatch` asks for the same
/// calls in the same order. Nothing expected and nothing called is 1, nothing expected and
/// something called 0.
///
/// Equals DeepEval's `ToolCorrectnessMetric` without available tools. On purpose, equal calls are
/// several calls, of which DeepEval counts the first alone, and `true` is not 1.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCorrectness {
    /// What is compared besides the names (`evaluation_params` in DeepEval).
    #[serde(default)]
    compare: Vec<Compared>,
    /// The same calls in the same order score 1, all else 0 (`should_exact_match`).
    #[serde(default)]
    exact_match: bool,
    /// Calls count only in the expected order (`should_consider_ordering`).
    #[serde(default)]
    consider_ordering: bool,
    /// Scores 0 where the score is not 1 (`strict_mode`).
    #[serde(default)]
    strict: bool,
    /// Turns the score s around: 1 - s. Each assertion then wants the opposite.
    #[serde(default)]
    negate: bool,
    /// The expected calls, in place of the ground truth: names, or `{name, arguments}`.
    #[serde(default)]
    value: Option<Value>,
    /// Lists of expected calls, in place of the ground truth; the best counts.
    #[serde(default)]
    values: Option<Vec<Value>>,
    #[serde(skip)]
    expected: Option<ExpectedCalls>,
}

/// What is compared besides the names.
#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Compared {
    /// The arguments.
    Arguments,
    /// What the tools answered; a call with another answer does not count.
    Result,
}

impl Scorer for ToolCorrectness {
    const INFO: Info = Info::new("tool-correctness", "Tool Correctness", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE.and(Fields::GROUND_TRUTH))
        .threshold(0.5);

    fn prepare(&mut self) -> Result<(), ConfigError> {
        self.expected = ExpectedCalls::from_config(self.value.take(), self.values.take())?;
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let expected = ExpectedCalls::or_ground_truth(&self.expected, case)?;
        let calls: Vec<&ToolCall> = trace.tool_calls().collect();
        let mut best: Option<(f64, Vec<f64>, &[ExpectedCall])> = None;
        for run in expected.alternatives() {
            check_pairs(run.calls.len(), calls.len())?;
            let (score, met) = self.compare_calls(&run.calls, &calls);
            if best.as_ref().is_none_or(|best| score > best.0) {
                best = Some((score, met, &run.calls));
            }
        }
        let Some((score, met, wanted)) = best else {
            return Err(ScoreError::failed("there are no expected calls to compare with"));
        };
        let score = if self.strict && score < 1.0 { 0.0 } else { score };
        let reason = self.reason(score, &met, wanted, &calls);
        let assertions = wanted.iter().zip(&met).enumerate().map(|(index, (call, met))| {
            let name = format!("`{}` ({})", excerpt(&call.name, 80), index + 1);
            Assertion::new(format!("called {name}"), met.clamp(0.0, 1.0)).negated(self.negate)
        });
        Ok(Score::new(if self.negate { 1.0 - score } else { score })
            .reason(reason)
            .assertions(assertions))
    }
}

impl ToolCorrectness {
    fn reason(
        &self,
        score: f64,
        met: &[f64],
        wanted: &[ExpectedCall],
        calls: &[&ToolCall],
    ) -> String {
        let list = |names: Vec<&str>| {
            let all = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            excerpt(&all, 160).into_owned()
        };
        let wanted_names = list(wanted.iter().map(|call| call.name.as_str()).collect());
        let called = list(calls.iter().map(|call| call.name.as_str()).collect());
        let first = met.iter().position(|met| *met < 1.0);
        let what = match first {
            _ if score == 1.0 => "as expected".to_owned(),
            Some(first) if met[first] > 0.0 => {
                format!("`{}` has other arguments", excerpt(&wanted[first].name, 80))
            }
            Some(first) => self.unmet(&wanted[first].name, wanted, calls),
            None if self.exact_match => "not the same calls".to_owned(),
            None if self.consider_ordering => "not all in the expected order".to_owned(),
            None => "not as expected".to_owned(),
        };
        let turned = if self.negate { "; wanted: not what is expected" } else { "" };
        format!("{what}; expected {wanted_names}; called {called}{turned}")
    }
}

impl ToolCorrectness {
    /// What is wrong with a tool of whose calls none meets an expected one.
    fn unmet(&self, name: &str, wanted: &[ExpectedCall], calls: &[&ToolCall]) -> String {
        let expected = wanted.iter().filter(|call| call.name == name).count();
        let made = calls.iter().filter(|call| call.name == name).count();
        let compares = |compared| self.compare.contains(&compared);
        let what = match (compares(Compared::Arguments), compares(Compared::Result)) {
            _ if made < expected => "is missing",
            (true, true) => "has other arguments or another result",
            (_, true) => "has another result",
            (true, _) => "has other arguments",
            _ => "is missing",
        };
        format!("`{}` {what}", excerpt(name, 80))
    }
}

scorebox_sdk::export!(ToolCorrectness);

#[cfg(test)]
mod tests;
