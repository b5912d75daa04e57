//! tool-call-f1: how well the set of tool calls that were made agrees with the expected set. It ignores their order;
//! for that see trajectory-match.
//!
//! precision = right calls / calls made, recall = right calls / calls expected,
//! score = F1 = 2 · precision · recall / (precision + recall)
//!
//! The measure is van Rijsbergen's (1979), of sets of calls as in Ragas' `ToolCallF1` and
//! promptfoo's `tool-call-f1`.

mod agreement;
mod key;

use std::cell::OnceCell;
use std::collections::BTreeSet;

use agreement::Agreement;
use key::{Key, key};
use scorebox_sdk::{
    Case, ConfigError, ExpectedValue, ExpectedValues, Fields, Info, JsonSchema, Negate, Score,
    ScoreError, Scorer, excerpt, schemars,
};
use scorebox_sdk_traces::{Assignment, ExpectedCall, ExpectedCalls, ToolCall, Trace};
use serde::{Deserialize, Serialize};

/// The most names in a list of `meta`.
const SHOWN: usize = 50;

/// Scores the F1 of the tool calls that were made against the expected ones.
///
/// The expected calls are those of the ground truth or `value`; of a list of lists the best match
/// counts. If they state arguments, a call is right if its arguments are equal (Ragas'
/// `ToolCallF1`, which rounds to four places); if they are names alone, by its name (promptfoo's
/// `tool-call-f1`). Calls are sets, so repeated calls count once unless `repeats` is `each`. If no
/// call is expected, the result is not-applicable (Ragas scores 0); to require that no tool is
/// called, use tool-count.
///
/// Without a trace, the calls are those of the output: a message, a list of calls, JSON of either in a text, or
/// lines of a text such as `{"type": "tool_use", …}`. A text without any call, like no output, is an error,
/// because nothing says that no tool was called (promptfoo scores 0).
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// What makes two calls the same.
    #[serde(default)]
    arguments: Arguments,
    /// How often the same call counts.
    #[serde(default)]
    repeats: Repeats,
    #[serde(default)]
    negate: Negate,
    /// The expected calls, in place of the ground truth: names, or `{name, arguments}`.
    #[serde(default)]
    value: ExpectedValue,
    /// Lists of expected calls, in place of the ground truth; the best match counts.
    #[serde(default)]
    values: ExpectedValues,
}

/// What makes two calls the same.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Arguments {
    /// The tool and, if the expected call states them, equal arguments.
    #[default]
    Exact,
    /// The tool alone.
    Ignore,
}

/// How often the same call counts.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Repeats {
    /// Once, however often it was made.
    #[default]
    Once,
    /// Each time.
    Each,
}

/// The scorer, made from its [`Config`].
pub struct ToolCallF1 {
    arguments: Arguments,
    repeats: Repeats,
    negate: Negate,
    expected: Option<ExpectedCalls>,
}

impl Scorer for ToolCallF1 {
    type Config = Config;

    const INFO: Info = Info::new("tool-call-f1", "Tool Call F1", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE.and(Fields::GROUND_TRUTH));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { arguments, repeats, negate, value, values } = config;
        Ok(Self { arguments, repeats, negate, expected: ExpectedCalls::configured(value, values)? })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let expected = ExpectedCalls::or_ground_truth(&self.expected, "`value`", case)?;
        let made = Made::new(trace.tool_calls().collect(), self.repeats);
        let runs = expected.alternatives();
        let mut best: Option<Agreement> = None;
        for run in runs.iter().filter(|_| runs.iter().any(|run| !run.calls.is_empty())) {
            let found = self.compare(&run.calls, &made)?;
            if best.as_ref().is_none_or(|best| found.f1() > best.f1()) {
                best = Some(found);
            }
        }
        let Some(best) = best else {
            return Ok(Score::not_applicable("no call is expected"));
        };
        let f1 = best.f1();
        Ok(self.negate.score(f1).reason(best.reason()).meta(best.meta()))
    }
}

impl Repeats {
    /// The keys that count.
    fn of(self, keys: impl Iterator<Item = Key>) -> Vec<Key> {
        let mut seen = BTreeSet::new();
        keys.filter(|key| self == Self::Each || seen.insert(key.clone())).collect()
    }
}

/// The calls that were made, prepared once for all comparisons.
struct Made<'t> {
    calls: Vec<&'t ToolCall>,
    repeats: Repeats,
    names: OnceCell<Vec<Key>>,
    whole: OnceCell<Vec<Key>>,
}

impl<'t> Made<'t> {
    fn new(calls: Vec<&'t ToolCall>, repeats: Repeats) -> Self {
        Self { calls, repeats, names: OnceCell::new(), whole: OnceCell::new() }
    }

    fn keys(&self, names_alone: bool) -> &[Key] {
        let kept = if names_alone { &self.names } else { &self.whole };
        kept.get_or_init(|| {
            let arguments = |call: &'t ToolCall| Some(&call.arguments).filter(|_| !names_alone);
            self.repeats.of(self.calls.iter().map(|call| key(&call.name, arguments(call))))
        })
    }
}

impl ToolCallF1 {
    fn compare(&self, wanted: &[ExpectedCall], made: &Made<'_>) -> Result<Agreement, ScoreError> {
        let names_alone = self.arguments == Arguments::Ignore
            || !wanted.is_empty() && wanted.iter().all(|call| call.arguments.is_none());
        let made = made.keys(names_alone);
        let wanted = self.repeats.of(wanted.iter().map(|call| {
            let arguments = call.arguments.as_ref().filter(|_| !names_alone);
            key(&call.name, arguments)
        }));
        let pairs = Assignment::Optimal.pair(wanted.len(), made.len(), |left, right| {
            let (wanted, made) = (&wanted[left], &made[right]);
            wanted.0 == made.0 && (wanted.1.is_none() || wanted.1 == made.1)
        })?;
        let without = |partners: &[Option<usize>], keys: &[Key]| {
            let without = partners.iter().zip(keys).filter(|(partner, _)| partner.is_none());
            let names = without.map(|(_, key)| excerpt(&key.0, 80).into_owned());
            names.take(SHOWN).collect()
        };
        Ok(Agreement {
            right: pairs.count(),
            made: made.len(),
            expected: wanted.len(),
            missing: without(&pairs.right_of, &wanted),
            extra: without(&pairs.left_of, made),
        })
    }
}

scorebox_sdk::export!(ToolCallF1);

#[cfg(test)]
mod tests;
