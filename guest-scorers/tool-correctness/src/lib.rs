//! tool-correctness: how many of the expected tool calls were made. Additional calls cost nothing;
//! for those see tool-call-f1.
//!
//! score = sum over the expected calls of how well each was met / number of expected calls
//!
//! The rule is that of DeepEval's `ToolCorrectnessMetric` (deepeval 4.3.1), without its model.

mod compare;

use scorebox_sdk::{
    Assertion, Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate,
    Score, ScoreError, Scorer, excerpt, schemars,
};
use scorebox_sdk_traces::{ExpectedCall, ExpectedCalls, ToolCall, Trace, check_pairs};
use serde::Deserialize;

/// Scores how many of the expected tool calls were made, 0 to 1.
///
/// Each expected call, in order, is paired with the best of the remaining calls of its tool. By
/// names alone it is met or not; with `compare: ["arguments"]` it is met by the fraction of
/// arguments, of both calls together, that are equal (inner objects by their own fraction).
/// `considerOrdering` takes the heaviest common subsequence instead; `exactMatch` requires the same
/// calls in the same order. As in DeepEval, nothing expected and nothing called scores 1, nothing
/// expected and something called 0.
///
/// An expected call without arguments, such as a bare name, takes any, except with `exactMatch` and
/// `compare: ["arguments"]`: there the call must have none.
///
/// Equals DeepEval's `ToolCorrectnessMetric` without available tools. Deliberate differences:
/// identical calls count separately, where DeepEval counts only the first, `true` is not 1, and arguments
/// that are left out are the same as `{}`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// What is compared in addition to the names (`evaluation_params` in DeepEval).
    #[serde(default)]
    compare: Vec<Compared>,
    /// Scores 1 for the same calls in the same order, else 0 (`should_exact_match`).
    #[serde(default)]
    exact_match: bool,
    /// Counts calls only in the expected order (`should_consider_ordering`).
    #[serde(default)]
    consider_ordering: bool,
    /// Scores 0 unless the score is 1 (`strict_mode`).
    #[serde(default)]
    strict: bool,
    #[serde(default)]
    negate: Negate,
    /// The expected calls, in place of the ground truth: names, or `{name, arguments}`.
    #[serde(default)]
    value: ExpectedValue,
    /// Lists of expected calls, in place of the ground truth; the best match counts.
    #[serde(default)]
    values: ExpectedValues,
}

/// What is compared in addition to the names.
#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Compared {
    /// The arguments.
    Arguments,
    /// The results of the tools; a call with another result does not count.
    Result,
}

/// The scorer, made from its [`Config`].
pub struct ToolCorrectness {
    compare: Vec<Compared>,
    exact_match: bool,
    consider_ordering: bool,
    strict: bool,
    negate: Negate,
    expected: Option<ExpectedCalls>,
}

impl Scorer for ToolCorrectness {
    type Config = Config;

    const INFO: Info = Info::new("tool-correctness", "Tool Correctness", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE.and(Fields::GROUND_TRUTH))
        .threshold(0.5);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { compare, exact_match, consider_ordering, strict, negate, value, values } =
            config;
        Ok(Self {
            compare,
            exact_match,
            consider_ordering,
            strict,
            negate,
            expected: ExpectedCalls::configured(value, values)?,
        })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let expected = ExpectedCalls::or_ground_truth(&self.expected, "`value`", case)?;
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
            Assertion::new(format!("called {name}"), met.clamp(0.0, 1.0))
                .negated(self.negate.is_set())
        });
        Ok(self.negate.score(score).reason(reason).assertions(assertions))
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
        let turned =
            if self.negate.is_set() { "; wanted: anything but the expected calls" } else { "" };
        format!("{what}; expected {wanted_names}; called {called}{turned}")
    }
}

impl ToolCorrectness {
    /// What is wrong with a tool if none of its calls meets an expected one.
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
