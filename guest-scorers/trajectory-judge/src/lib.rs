//! trajectory-judge: a judge reads what an agent did, and says whether its path makes sense. Whether it reached the
//! goal is up to goal-success; trajectory-match compares calls without a judge.
//!
//! Yes 1, No 0; with `continuous` the judge's number, 0 to 1
//!
//! The criteria and the two ways to score are those of agentevals' `create_trajectory_llm_as_judge`, with
//! and without a reference; the prompts are our own.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{
    Choice, Classifier, Grade, Model, Reasoning, Settings, Unreadable, agent_prompt,
};
use serde::Deserialize;

/// Asks a judge whether an agent's path makes sense: yes scores 1, no 0; with `continuous`, how far
/// it does, from 0 to 1.
///
/// A path makes sense if each step follows from the ones before, leads on, and is reasonably efficient. If
/// the case has a ground truth, that is a reference path, to which it should be equivalent. The agent's
/// steps are the case's trace, or the output if that is a trace; the formats are in docs/traces.md.
///
/// Equals agentevals' trajectory judge with and without reference, with its own prompts.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// Whether the judge gives a number from 0 to 1 in place of yes or no.
    #[serde(default)]
    continuous: bool,
    #[serde(default)]
    reasoning: Reasoning,
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

const CRITERIA: &str = "You judge the path that an agent took, from a transcript of its steps. Find out first what its goal \
    is: from the task, or else from the first message. In a good path each step makes sense after the \
    ones before, there is clear progress towards the goal, and it is reasonably efficient, though it \
    need not be perfect. If there is a reference path, a good path is also equivalent to it in meaning; \
    wording and the order of independent steps do not count.";

const JUDGE: Classifier = Classifier {
    criteria: CRITERIA,
    choices: &[
        Choice { name: "Yes", score: 1.0, meaning: "it is a good path" },
        Choice { name: "No", score: 0.0, meaning: "it is not" },
    ],
};

const GRADE: Grade = Grade {
    criteria: CRITERIA,
    scale: (0.0, 1.0),
    meaning: "0: it makes no sense. 1: it is a good path.",
};

/// The scorer, made from its [`Config`].
pub struct TrajectoryJudge {
    continuous: bool,
    settings: Settings,
}

impl Scorer for TrajectoryJudge {
    type Config = Config;

    const INFO: Info = Info::new("trajectory-judge", "Trajectory Judge", env!("CARGO_PKG_VERSION"))
        .reads(Fields::INPUT.and(Fields::GROUND_TRUTH).and(Fields::TRACE));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config.model, config.reasoning, config.unreadable);
        Ok(Self { continuous: config.continuous, settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let mut prompt = agent_prompt(case)?;
        if let Some(reference) = case.ground_truth() {
            prompt.part("reference-path", &reference)?;
        }
        match self.continuous {
            true => GRADE.score(&prompt, &self.settings),
            false => JUDGE.score(&prompt, &self.settings),
        }
    }
}

scorebox_sdk::export!(TrajectoryJudge);

#[cfg(test)]
mod tests;
