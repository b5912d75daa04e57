//! tool-call-f1: how well the set of tool calls that were made agrees with the set that should have
//! been. Order does not count; for that see trajectory-match.
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
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, excerpt, schemars,
};
use scorebox_sdk_traces::{Assignment, ExpectedCall, ExpectedCalls, ToolCall, Trace};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most names that a list in `meta` has.
const SHOWN: usize = 50;

/// Scores the F1 of the tool calls that were made against the expected ones.
///
/// Expected are the ground truth's calls or those of `value`; of a list of lists the best counts.
/// Where they state arguments, a call is right with equal ones (Ragas' `ToolCallF1`, which rounds
/// to four places); where they are names alone, by its name (promptfoo's `tool-call-f1`). Calls are
/// sets, so that repeats count once, unless `repeats: each`. Nothing expected and nothing called
/// scores 1.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallF1 {
    /// What makes two calls the same.
    #[serde(default)]
    arguments: Arguments,
    /// How often the same call counts.
    #[serde(default)]
    repeats: Repeats,
    /// Turns the score s around: 1 - s.
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

/// What makes two calls the same.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Arguments {
    /// The tool and, where the expected call states them, equal arguments.
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

impl Scorer for ToolCallF1 {
    const INFO: Info = Info::new("tool-call-f1", "Tool Call F1", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE.and(Fields::GROUND_TRUTH));

    fn prepare(&mut self) -> Result<(), ConfigError> {
        self.expected = ExpectedCalls::from_config(self.value.take(), self.values.take())?;
        Ok(())
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let expected = ExpectedCalls::or_ground_truth(&self.expected, case)?;
        let made = Made::new(trace.tool_calls().collect(), self.repeats);
        let mut best: Option<Agreement> = None;
        for run in expected.alternatives() {
            let found = self.compare(&run.calls, &made)?;
            if best.as_ref().is_none_or(|best| found.f1() > best.f1()) {
                best = Some(found);
            }
        }
        let Some(best) = best else {
            return Err(ScoreError::failed("there are no expected calls to compare with"));
        };
        let f1 = best.f1();
        Ok(Score::new(if self.negate { 1.0 - f1 } else { f1 })
            .reason(best.reason())
            .meta(best.meta()))
    }
}

impl Repeats {
    /// The keys that count.
    fn of(self, keys: impl Iterator<Item = Key>) -> Vec<Key> {
        let mut seen = BTreeSet::new();
        keys.filter(|key| self == Self::Each || seen.insert(key.clone())).collect()
    }
}

/// The calls that were made: the same ones, whatever they are compared with.
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
