//! answer-accuracy: a judge compares an agent's answer with the correct one. factuality has a choice for
//! each relation of the two.
//!
//! score = the judge's number, 0 to 1
//!
//! The keys and the three sections of the prompt are those of Orbiter's `AnswerAccuracyLLMScorer`; the
//! prompt is our own.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, excerpt, schemars,
};
use scorebox_sdk_judges::{Grade, Model, Prompt, Reasoning, Settings, Unreadable};
use serde::Deserialize;
use serde_json::Value;

/// Asks a judge how accurate the output is, compared with the correct answer, from 0 (wrong) to 1 (correct
/// and complete).
///
/// The question and the correct answer are the input's values under `questionKey` and `answerKey`. If the
/// input has no such answer, or null, the ground truth is the correct answer; if it is not an object, the
/// whole input is the question.
///
/// Equals Orbiter's `answer_accuracy`, with its own prompt.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The key of the question in the input.
    #[serde(default = "question")]
    question_key: String,
    /// The key of the correct answer in the input.
    #[serde(default = "answer")]
    answer_key: String,
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

fn question() -> String {
    "question".to_owned()
}

fn answer() -> String {
    "answer".to_owned()
}

const JUDGE: Grade = Grade {
    criteria: "You judge how accurate an agent's answer is. You see a question, the correct answer and the agent's \
    response. Compare what the response says with the correct answer; style and length do not count.",
    scale: (0.0, 1.0),
    meaning: "0: wrong. 1: correct and complete. Between them: partly correct, or with omissions.",
};

/// The scorer, made from its [`Config`].
pub struct AnswerAccuracy {
    question_key: String,
    answer_key: String,
    settings: Settings,
}

impl Scorer for AnswerAccuracy {
    type Config = Config;

    const INFO: Info = Info::new("answer-accuracy", "Answer Accuracy", env!("CARGO_PKG_VERSION"))
        .reads(Fields::INPUT.and(Fields::GROUND_TRUTH));

    fn new(config: Config) -> Result<Self, ConfigError> {
        let settings = Settings::new(config.model, Reasoning(true), config.unreadable);
        Ok(Self { question_key: config.question_key, answer_key: config.answer_key, settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let mut prompt = Prompt::new();
        let input = case.require_input()?;
        let value = input.value()?;
        let under = |key: &str| value.get(key).filter(|value| !value.is_null());
        let (question, answer) = (under(&self.question_key), under(&self.answer_key));
        match question {
            Some(question) => prompt.data("question", text(question)),
            None if !value.is_object() => prompt.part("question", &input)?,
            None => return Err(without_question(&self.question_key)),
        };
        match (answer, case.ground_truth()) {
            (Some(answer), _) => prompt.data("correct-answer", text(answer)),
            (None, Some(truth)) => prompt.part("correct-answer", &truth)?,
            (None, None) => return Err(without_answer(&self.answer_key, value.is_object())),
        };
        prompt.part("agent-response", &case.output())?;
        JUDGE.score(&prompt, &self.settings)
    }
}

fn without_question(key: &str) -> ScoreError {
    let key = excerpt(key, 80);
    ScoreError::invalid_input(format!("there is no question: `input` has nothing under `{key}`"))
}

fn without_answer(key: &str, is_object: bool) -> ScoreError {
    let place = match is_object {
        true => format!("`input` has nothing under `{}`", excerpt(key, 80)),
        false => "`input` is the question".to_owned(),
    };
    ScoreError::invalid_input(format!(
        "there is no correct answer: {place}, and the case has no `groundTruth`"
    ))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

scorebox_sdk::export!(AnswerAccuracy);

#[cfg(test)]
mod tests;
