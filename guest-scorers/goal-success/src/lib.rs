//! goal-success: a judge reads what an agent did, and says whether it reached the goal. How it got there is up to
//! trajectory-judge.
//!
//! Yes 1, No 0
//!
//! The verdict is that of RAGAS' `AgentGoalAccuracyWithReference` and, without a ground truth,
//! `AgentGoalAccuracyWithoutReference` (0.4.3); the prompts are our own, and need one question.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, schemars,
};
use scorebox_sdk_judges::{
    Choice, Classifier, Model, Reasoning, Settings, Unreadable, agent_prompt,
};
use serde::Deserialize;

/// Asks a judge whether an agent reached its goal: yes scores 1, no 0.
///
/// The goal is the ground truth. If the case has none, the goal is what the user wanted according
/// to the input and the trace. The agent's steps are the case's trace, or the output if that is a
/// trace; the formats are in docs/traces.md.
///
/// Equals RAGAS' agent goal accuracy with and without reference, with its own prompts.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    #[serde(default)]
    reasoning: Reasoning,
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

const JUDGE: Classifier = Classifier {
    criteria: "You decide whether an agent reached its goal. You see a transcript of what it did and, if they are \
    known, the task, the result and the desired outcome. Compare the outcome that the agent achieved \
    with the desired one; without one, find out from the task and the user's messages what the user \
    wanted. Claims of the agent count only as far as the results of its tools bear them out.",
    choices: &[
        Choice { name: "Yes", score: 1.0, meaning: "the goal was reached" },
        Choice { name: "No", score: 0.0, meaning: "it was not, or only in part" },
    ],
};

/// The scorer, made from its [`Config`].
pub struct GoalSuccess {
    settings: Settings,
}

impl Scorer for GoalSuccess {
    type Config = Config;

    const INFO: Info = Info::new("goal-success", "Goal Success", env!("CARGO_PKG_VERSION"))
        .reads(Fields::INPUT.and(Fields::GROUND_TRUTH).and(Fields::TRACE));

    fn new(config: Config) -> Result<Self, ConfigError> {
        Ok(Self { settings: Settings::new(config.model, config.reasoning, config.unreadable) })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let mut prompt = agent_prompt(case)?;
        if let Some(goal) = case.ground_truth() {
            prompt.part("desired-outcome", &goal)?;
        }
        JUDGE.score(&prompt, &self.settings)
    }
}

scorebox_sdk::export!(GoalSuccess);

#[cfg(test)]
mod tests;
