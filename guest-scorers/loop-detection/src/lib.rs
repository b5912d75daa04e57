//! loop-detection: how free a run is of loops: identical tool calls, answers that repeat the previous one, agents that
//! call themselves. It cannot distinguish a loop from patience: polling a slow job looks the same.
//!
//! score = (0.40 · repetition + 0.35 · stagnation + 0.25 · cycles) / sum of the weights that are
//! checked
//!
//! The rule is that of DeepEval's `AgentLoopDetectionMetric` (deepeval 4.3.1). `answers` extracts what the model said,
//! `similarity` compares it, `cycle` finds agents and tools that call themselves.

mod answers;
mod cycle;
mod similarity;

use std::collections::BTreeMap;

use answers::answers;
use cycle::cycle;
use scorebox_sdk::{
    Assertion, Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, excerpt,
    schemars,
};
use scorebox_sdk_traces::Trace;
use serde::Deserialize;
use serde_json::{Value, json};
use similarity::{Budget, similarity};

/// From this similarity on, two answers count as the same.
const SAME: f64 = 0.95;

/// Scores how free a run is of loops, from 1 (no loop) to 0.
///
/// Repetition (weight 0.40): 1 if the most frequent call, with equal arguments, was made fewer than
/// `repetitionThreshold` times, 0.5 from there, 0 from twice that. Stagnation (0.35): 1 if the two
/// most similar successive answers of at least 20 meaningful words are below `similarityThreshold`,
/// 0.5 from there, 0 above 0.95; similarity is the greater of shared word pairs (Jaccard) and
/// difflib's ratio. Cycles (0.25): 0 if a span is inside one of the same kind, name and input.
/// Equals DeepEval's `AgentLoopDetectionMetric`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopDetection {
    /// The number of identical calls that counts as a loop; 1 or more.
    #[serde(default = "three")]
    repetition_threshold: usize,
    /// The similarity from which two successive answers count as stagnation; 0 to 1.
    #[serde(default = "most")]
    similarity_threshold: f64,
    /// Looks for identical tool calls.
    #[serde(default = "yes")]
    check_tool_repetition: bool,
    /// Looks for answers that repeat the one before.
    #[serde(default = "yes")]
    check_reasoning_stagnation: bool,
    /// Looks for agents and tools that call themselves.
    #[serde(default = "yes")]
    check_call_graph_cycles: bool,
}

fn three() -> usize {
    3
}

fn most() -> f64 {
    0.85
}

fn yes() -> bool {
    true
}

/// One of the three signals.
struct Signal {
    name: &'static str,
    weight: f64,
    score: f64,
    reason: String,
}

impl Scorer for LoopDetection {
    type Config = Self;

    const INFO: Info = Info::new("loop-detection", "Loop Detection", env!("CARGO_PKG_VERSION"))
        .reads(Fields::TRACE)
        .threshold(0.5);

    fn new(config: Self) -> Result<Self, ConfigError> {
        if config.repetition_threshold == 0 {
            return Err(ConfigError::new("repetitionThreshold", "should be 1 or more, found 0"));
        }
        let threshold = config.similarity_threshold;
        if !(0.0..=1.0).contains(&threshold) {
            let message = format!("should be 0 to 1, found {threshold}");
            return Err(ConfigError::new("similarityThreshold", message));
        }
        if !config.check_tool_repetition
            && !config.check_reasoning_stagnation
            && !config.check_call_graph_cycles
        {
            return Err(ConfigError::whole("nothing is checked: leave one of the checks on"));
        }
        Ok(config)
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let trace = Trace::of(case)?;
        let mut signals = Vec::new();
        let mut budget = Budget::default();
        if self.check_tool_repetition {
            signals.push(self.repetition(&trace));
        }
        if self.check_reasoning_stagnation {
            signals.push(self.stagnation(&trace, &mut budget));
        }
        if self.check_call_graph_cycles {
            signals.push(cycles(&trace));
        }
        let weights: f64 = signals.iter().map(|signal| signal.weight).sum();
        let sum: f64 = signals.iter().map(|signal| signal.score * signal.weight).sum();
        let found: Vec<_> = signals.iter().filter(|signal| signal.score < 1.0).collect();
        let reason = match found.as_slice() {
            [] => "no loop found".to_owned(),
            found => {
                found.iter().map(|signal| signal.reason.as_str()).collect::<Vec<_>>().join("; ")
            }
        };
        let mut meta: serde_json::Map<String, Value> =
            signals.iter().map(|signal| (signal.name.to_owned(), json!(signal.score))).collect();
        if budget.is_spent() {
            meta.insert("comparedInFull".to_owned(), false.into());
        }
        let score = (sum / weights).clamp(0.0, 1.0);
        let assertions = signals
            .into_iter()
            .map(|signal| Assertion::new(signal.name, signal.score).reason(signal.reason));
        Ok(Score::new(score).reason(reason).meta(meta).assertions(assertions))
    }
}

impl LoopDetection {
    fn repetition(&self, trace: &Trace) -> Signal {
        let mut counts: BTreeMap<(&str, String), usize> = BTreeMap::new();
        for call in trace.tool_calls() {
            *counts.entry((call.name.as_str(), call.arguments.to_string())).or_default() += 1;
        }
        let most = counts.iter().max_by_key(|(_, count)| **count);
        let threshold = self.repetition_threshold;
        let (score, reason) = match most {
            Some(((name, arguments), count)) if *count >= threshold => {
                let twice = *count >= threshold.saturating_mul(2);
                let (name, arguments) = (excerpt(name, 80), excerpt(arguments, 120));
                let reason = format!("`{name}` was called {count} times with {arguments}");
                (if twice { 0.0 } else { 0.5 }, reason)
            }
            Some((_, count)) => (1.0, format!("no call was made more than {count} times")),
            None => (1.0, "no tool was called".to_owned()),
        };
        Signal { name: "toolRepetition", weight: 0.40, score, reason }
    }

    fn stagnation(&self, trace: &Trace, budget: &mut Budget) -> Signal {
        let answers = answers(trace);
        let mut worst: Option<(f64, usize)> = None;
        for (index, pair) in answers.windows(2).enumerate() {
            let found = similarity(&pair[0], &pair[1], self.similarity_threshold, budget);
            if found.is_some_and(|found| worst.is_none_or(|(worst, _)| found > worst)) {
                worst = found.map(|found| (found, index));
            }
        }
        let (score, reason) = match worst {
            Some((found, first)) if found >= self.similarity_threshold => {
                let second = first + 1;
                let place = format!("answers {} and {}", first + 1, second + 1);
                if found > SAME {
                    (0.0, format!("{place} say the same (similarity {found:.2})"))
                } else {
                    (0.5, format!("{place} are very similar (similarity {found:.2})"))
                }
            }
            _ => (1.0, "no answer repeats the one before".to_owned()),
        };
        Signal { name: "reasoningStagnation", weight: 0.35, score, reason }
    }
}

fn cycles(trace: &Trace) -> Signal {
    let (score, reason) = match cycle(trace) {
        Some(name) => (0.0, format!("{} calls itself", excerpt(&name, 100))),
        None => (1.0, "nothing calls itself".to_owned()),
    };
    Signal { name: "callGraphCycles", weight: 0.25, score, reason }
}

scorebox_sdk::export!(LoopDetection);

#[cfg(test)]
mod tests;
