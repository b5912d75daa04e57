//! What is asked of scorebox for a row, and what it answers: the built-in component in a real sandbox.
//! It does not know what is right.

use std::{collections::BTreeMap, fmt, time::Duration};

use scorebox::{
    case::Case,
    sandbox::{CacheOptions, CompileLimits, Compiler, Limits, Sandbox, SandboxOptions, ScoreError},
};
use serde_json::Value;

use super::vector::Vector;
use crate::sandbox_fixture::{builtin, shared_cache, try_load};

/// A case for a scorer with a configuration.
pub(super) struct Trial {
    pub scorer: &'static str,
    pub config: Value,
    /// Its keys, with JSON.
    pub case: BTreeMap<&'static str, String>,
    /// Where the peer passes or fails: from which score on it passes.
    pub threshold: Option<f64>,
    /// Where the peer rounds its scores: to how many decimals.
    pub decimals: Option<u8>,
}

impl Vector {
    /// The row's output and ground truth for a scorer of scorebox.
    pub(super) fn by(&self, scorer: &'static str, config: Value) -> Trial {
        let mut case = BTreeMap::from([("output", self.output.to_string())]);
        if let Some(truth) = &self.ground_truth {
            case.insert("groundTruth", truth.to_string());
        }
        if let Some(latency) = self.latency_ms {
            case.insert("latencyMs", latency.to_string());
        }
        Trial { scorer, config, case, threshold: None, decimals: None }
    }
}

impl Trial {
    /// The same with another ground truth; without any if it is `null`.
    pub(super) fn against(mut self, truth: &Value) -> Trial {
        if !truth.is_null() {
            self.case.insert("groundTruth", truth.to_string());
        }
        self
    }

    /// The same with a schema in the case.
    pub(super) fn with_schema(mut self, schema: &Value) -> Trial {
        self.case.insert("outputSchema", schema.to_string());
        self
    }

    /// The case as one line of a file of cases.
    pub(super) fn line(&self) -> String {
        let members = self.case.iter().map(|(key, json)| format!("\"{key}\":{json}"));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}

/// What came of a trial.
#[derive(Clone)]
pub(super) enum Answer {
    Score(f64),
    /// The scorer does not apply to the case.
    NoScore,
    Error(ScoreError),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Score(score) => f.write_str(&number(*score)),
            Answer::NoScore => f.write_str("no score"),
            Answer::Error(error) => write!(f, "error: {}", error.kind.as_str()),
        }
    }
}

/// Six decimals, without those that say nothing.
pub(super) fn number(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What a machine with much else to do may take: here it is the scores that count.
const PATIENCE: Duration = Duration::from_secs(600);

fn sandbox() -> Sandbox {
    let cache = CacheOptions::new(shared_cache());
    let compile_limits = CompileLimits::default().with_timeout(PATIENCE);
    Sandbox::new(
        &SandboxOptions::default()
            .with_compiler(Compiler::InProcess)
            .with_slots(1)
            .with_cache(cache)
            .with_compile_limits(compile_limits),
    )
    .unwrap()
}

fn limits() -> Limits {
    Limits::default().with_timeout(PATIENCE)
}

/// The answers, in the order of the trials. A scorer is loaded once for each configuration.
pub(super) async fn answers(trials: &[Trial]) -> Vec<Answer> {
    let sandbox = sandbox();
    let mut groups: BTreeMap<(&str, String), Vec<usize>> = BTreeMap::new();
    for (index, trial) in trials.iter().enumerate() {
        groups.entry((trial.scorer, trial.config.to_string())).or_default().push(index);
    }
    let mut answers = vec![Answer::NoScore; trials.len()];
    for indices in groups.values() {
        let group: Vec<&Trial> = indices.iter().map(|index| &trials[*index]).collect();
        for (index, answer) in indices.iter().zip(answer(&sandbox, &group).await) {
            answers[*index] = answer;
        }
    }
    answers
}

/// The answers to trials of one scorer with one configuration.
async fn answer(sandbox: &Sandbox, group: &[&Trial]) -> Vec<Answer> {
    let Trial { scorer, config, .. } = group[0];
    let scorer = match try_load(sandbox, &builtin(scorer), config, &limits()).await {
        Ok(scorer) => scorer,
        Err(error) => return vec![Answer::Error(error); group.len()],
    };
    let mut answers = Vec::new();
    for trial in group {
        let case = Case::from_json(trial.line()).unwrap();
        let outcome = scorer.score(case.scorer_input(scorer.info().reads)).await;
        answers.push(match outcome.result {
            Ok(result) => match result.score {
                Some(score) => Answer::Score(trial.as_the_peer_says_it(score)),
                None => Answer::NoScore,
            },
            Err(error) => Answer::Error(error),
        });
    }
    answers
}

impl Trial {
    fn as_the_peer_says_it(&self, score: f64) -> f64 {
        match (self.threshold, self.decimals) {
            (Some(threshold), _) => f64::from(u8::from(score >= threshold)),
            (None, Some(decimals)) => {
                let unit = 10_f64.powi(decimals.into());
                (score * unit).round() / unit
            }
            (None, None) => score,
        }
    }
}
