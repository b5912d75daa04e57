//! trajectory-match: 1 if the tool calls of a run match those of a reference run, else 0. It ignores the text of
//! messages; for partial credit see tool-correctness and tool-call-f1.
//!
//! The rule is that of agentevals' `create_trajectory_match_evaluator` (PyPI agentevals 0.0.9).

mod arguments;
mod compare;

use std::collections::BTreeMap;

use arguments::{ArgumentMode, PerTool};
use compare::{Comparison, compare};
use scorebox_sdk::{
    Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate, Score,
    ScoreError, Scorer, schemars,
};
use scorebox_sdk_traces::{Assignment, ExpectedCalls, Trace};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Scores 1 if the tool calls of a run match those of a reference, else 0.
///
/// `strict`: the same messages by role, in order, each with the same calls in any order; if the
/// reference is only calls, the same calls in order. `unordered`: the same calls in any order.
/// `superset`: at least the reference's calls. `subset`: no calls other than the reference's. The
/// reference is the ground truth: messages, or calls `{name, arguments}`; of a list of lists, any
/// one will do. As in agentevals, a reference without calls is compared like any other: only
/// `superset` allows calls then.
///
/// Equals agentevals' trajectory match evaluators. Deliberate differences: calls are paired as well
/// as possible (`assignment: greedy` pairs as agentevals does), `true` is not 1, and an empty list is a
/// reference without calls: a run without calls matches it, whatever was said.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// How the runs are compared.
    #[serde(default)]
    mode: Mode,
    /// How the arguments of two calls are compared. As in agentevals, the first of the two is the
    /// run's call in `strict` and `superset`, and the reference's in `subset`; `unordered` compares
    /// both ways.
    #[serde(default)]
    argument_mode: ArgumentMode,
    /// Other modes for single tools, by name: a mode, or a list of the arguments that must be
    /// equal (`city`, `place.city`).
    #[serde(default)]
    argument_modes: BTreeMap<String, PerTool>,
    /// How calls are paired if a call fits several.
    #[serde(default)]
    assignment: Pairing,
    #[serde(default)]
    negate: Negate,
    /// The expected calls, in place of the ground truth: names, or `{name, arguments}`.
    #[serde(default)]
    value: ExpectedValue,
    /// Lists of expected calls, in place of the ground truth; the best match counts.
    #[serde(default)]
    values: ExpectedValues,
}

/// How the runs are compared.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// The same messages with the same calls.
    #[default]
    Strict,
    /// The same calls in any order.
    Unordered,
    /// No calls other than the reference's.
    Subset,
    /// At least the reference's calls.
    Superset,
}

/// How calls are paired if a call fits several.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Pairing {
    /// As many pairs as possible.
    #[default]
    Optimal,
    /// Each takes the first free one, as in agentevals.
    Greedy,
}

/// The scorer, made from its [`Config`].
pub struct TrajectoryMatch {
    mode: Mode,
    argument_mode: ArgumentMode,
    argument_modes: BTreeMap<String, PerTool>,
    assignment: Pairing,
    negate: Negate,
    expected: Option<ExpectedCalls>,
}

impl Scorer for TrajectoryMatch {
    type Config = Config;

    const INFO: Info = Info::new("trajectory-match", "Trajectory Match", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE.and(Fields::GROUND_TRUTH));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { mode, argument_mode, argument_modes, assignment, negate, value, values } =
            config;
        Ok(Self {
            mode,
            argument_mode,
            argument_modes,
            assignment,
            negate,
            expected: ExpectedCalls::configured(value, values)?,
        })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let expected = ExpectedCalls::or_ground_truth(&self.expected, "`value`", case)?;
        let mut best: Option<Comparison> = None;
        for reference in expected.alternatives() {
            let found = compare(self, &trace, reference)?;
            if best.as_ref().is_none_or(|best| found.better_than(best)) {
                best = Some(found);
            }
        }
        let Some(best) = best else {
            return Err(ScoreError::failed("there is no reference to compare with"));
        };
        let meta = json!({ "missing": best.missing, "extra": best.extra });
        Ok(self.negate.pass(best.matches).reason(best.reason).meta(meta))
    }
}

impl TrajectoryMatch {
    fn pairing(&self) -> Assignment {
        match self.assignment {
            Pairing::Optimal => Assignment::Optimal,
            Pairing::Greedy => Assignment::Greedy,
        }
    }

    /// Whether the arguments of two calls of a tool match. See `argument_mode` for the order of the two.
    fn fits(&self, tool: &str, first: &Value, second: &Value) -> bool {
        match self.argument_modes.get(tool) {
            // As in agentevals, an empty list of arguments does not override the mode.
            Some(other) if !other.is_empty() => other.fits(first, second),
            _ => self.argument_mode.fits(first, second),
        }
    }
}

scorebox_sdk::export!(TrajectoryMatch);

#[cfg(test)]
mod tests;
