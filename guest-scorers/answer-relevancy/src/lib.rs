//! answer-relevancy: a judge writes questions that the output answers; the closer in meaning they are to the
//! input, the more relevant is the output. It needs a model for embeddings.
//!
//! score = mean cosine of the written questions with the input, at least 0; 0 if the output is called noncommittal each
//! time
//!
//! The formula is that of RAGAS' `ResponseRelevancy` (0.4.3); the prompt is our own. autoevals'
//! `AnswerRelevancy` gives 0 if any answer is called noncommittal, and stretches cosines from 0.7 up.

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, excerpt, schemars,
};
use scorebox_sdk_judges::{
    Model, Prompt, Reasoning, Settings, Unreadable, ask_all_for, reading, schema, similarity,
    with_meaning,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Asks a judge several times which question the output answers, and scores how close these questions are to
/// the input: the mean cosine of their embeddings. If the judge finds the output noncommittal each time, the
/// score is 0.
///
/// Needs a judge and a model for embeddings. An empty input, which has no meaning to compare, is
/// `invalid-input`. `meta.questions` has the questions with their cosines.
///
/// Equals RAGAS' response relevancy, with its own prompt. Deliberate difference: a mean below 0 scores 0.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// How many questions the judge writes, 1 to 20.
    #[serde(default = "three")]
    strictness: u32,
    /// The model for embeddings, in place of the suite's.
    #[serde(default)]
    embedding_model: Option<String>,
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

fn three() -> u32 {
    3
}

const CRITERIA: &str = "You write the question that a given text answers, as the person would have asked it who got this \
    text as an answer. Also say whether the text is noncommittal: evasive, vague or ambiguous, as I do \
    not know is.";
const FORM: &str = "Answer with one JSON object and nothing else: {\"question\": \"the question\", \"noncommittal\": true or \
    false}";

/// The scorer, made from its [`Config`].
pub struct AnswerRelevancy {
    strictness: u32,
    embedding_model: Option<String>,
    settings: Settings,
}

impl Scorer for AnswerRelevancy {
    type Config = Config;

    const INFO: Info = Info::new("answer-relevancy", "Answer Relevancy", env!("CARGO_PKG_VERSION"))
        .reads(Fields::INPUT);

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { strictness, embedding_model, model, unreadable } = config;
        if !(1..=20).contains(&strictness) {
            let message = format!("should be 1 to 20, found {strictness}");
            return Err(ConfigError::new("strictness", message));
        }
        let settings = Settings::new(model, Reasoning(true), unreadable);
        Ok(Self { strictness, embedding_model, settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let input = case.require_input()?;
        with_meaning(input.text()?)?;
        let mut prompt = Prompt::new();
        prompt.part("answer", &case.output())?;
        let schema = schema::object(&[("question", schema::TEXT), ("noncommittal", schema::FLAG)]);
        let question = prompt.question(CRITERIA, FORM)?.schema(schema);
        let question = question.model(self.settings.model.0.clone());
        let samples = 0..self.strictness;
        let asked: Vec<_> = samples.map(|sample| question.clone().sample(sample)).collect();
        let read = |value: &Value| {
            let written = reading::text(value, &["question"]).ok_or("`question` is missing")?;
            let evades =
                reading::flag(value, &["noncommittal"]).ok_or("`noncommittal` is missing")?;
            Ok((written, evades))
        };
        let answers = match ask_all_for(&asked, |answer| reading::json(answer, read)) {
            Ok(answers) => answers,
            Err(unread) => return self.settings.unreadable.settle(unread),
        };
        let evades = answers.iter().all(|(_, evades)| *evades);
        let written: Vec<String> = answers.into_iter().map(|(question, _)| question).collect();
        let alike = similarity(&input.text()?, &written, self.embedding_model.as_deref())?;
        let mean = alike.iter().sum::<f64>() / alike.len() as f64;
        let questions: Vec<Value> = (written.iter().zip(&alike))
            .map(|(question, cosine)| json!({ "question": question, "cosine": cosine }))
            .collect();
        let meta = json!({ "questions": questions, "noncommittal": evades });
        Ok(match evades {
            true => Score::new(0.0).reason("the output is noncommittal"),
            false => Score::new(mean.clamp(0.0, 1.0))
                .reason(format!("the output answers: {}", excerpt(&written[0], 200))),
        }
        .meta(meta))
    }
}

scorebox_sdk::export!(AnswerRelevancy);

#[cfg(test)]
mod tests;
