//! rubric: a judge grades an output by the user's own instructions and prompt, on a scale or by choices with scores.
//! For common criteria see relevancy, factuality and the other judged scorers.
//!
//! score = (judge's number - min) / (max - min), or the score of the judge's choice
//!
//! The keys are those of Smithers' `llmJudge`, and `choices` is autoevals' `choice_scores` of an
//! `LLMClassifier`.

use std::collections::BTreeMap;

use scorebox_sdk::{
    Case, ConfigError, Fields, Info, JsonSchema, Score, ScoreError, Scorer, excerpt, schemars,
};
use scorebox_sdk_judges::{
    Choice, Classifier, Grade, Model, Prompt, Reasoning, Settings, Template, Unreadable,
};
use serde::Deserialize;

/// Asks a judge to grade the output by your instructions: a number on a scale, converted to 0 to 1,
/// or one of your choices, each with its score.
///
/// The prompt is `promptTemplate`, with the places `{{input}}`, `{{output}}`, `{{groundTruth}}`,
/// `{{context}}`, `{{metadata}}`, `{{baseline}}`, `{{outputSchema}}` and `{{latencyMs}}`, each also
/// with a JSON Pointer into it: `{{output/answer}}`. A case that lacks what a place names is an error.
/// `instructions` have no places. Without a
/// template the judge sees the input, context and ground truth that the case has, and the output.
/// The texts of a case are fenced off in a way that they cannot undo, and the judge is instructed
/// to treat them as data. The form of the answer is added to the prompt.
///
/// Same purpose and scale as Smithers' `llmJudge`, with a template in place of a function;
/// docs/coming-from.md says which answers are read differently.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// What to judge, and by which criteria: the system prompt.
    instructions: String,
    /// The prompt, with places for the parts of a case; `{{output}}` must be one of them.
    #[serde(default)]
    prompt_template: Option<String>,
    /// Choices with their scores, 0 to 1, in place of a scale: `{"good": 1, "bad": 0}`. Two names may not differ in
    /// case only.
    #[serde(default)]
    choices: BTreeMap<String, f64>,
    /// The scale of the judge's number; 0 to 1 unless it is set.
    #[serde(default)]
    scale: Option<Scale>,
    #[serde(default)]
    reasoning: Reasoning,
    #[serde(default)]
    model: Model,
    #[serde(default)]
    unreadable: Unreadable,
}

/// A scale, such as 1 to 5.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
struct Scale {
    /// The number that scores 0.
    min: f64,
    /// The number that scores 1.
    max: f64,
}

/// The scorer, made from its [`Config`].
pub struct Rubric {
    instructions: String,
    template: Option<Template>,
    choices: BTreeMap<String, f64>,
    scale: Scale,
    settings: Settings,
}

impl Scorer for Rubric {
    type Config = Config;

    const INFO: Info = Info::new("rubric", "Rubric", env!("CARGO_PKG_VERSION")).reads(
        Fields::INPUT
            .and(Fields::GROUND_TRUTH)
            .and(Fields::CONTEXT)
            .and(Fields::LATENCY)
            .and(Fields::OUTPUT_SCHEMA)
            .and(Fields::METADATA)
            .and(Fields::BASELINE),
    );

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { instructions, prompt_template, choices, scale, reasoning, model, unreadable } =
            config;
        if instructions.trim().is_empty() {
            return Err(ConfigError::new("instructions", "is empty; say what to judge, and how"));
        }
        let key = "promptTemplate";
        if let Some(place) = Template::place_in(&instructions) {
            let place = excerpt(place, 40);
            let message = format!(
                "has `{{{{{place}}}}}`, which would reach the judge as it is: only `{key}` has places"
            );
            return Err(ConfigError::new("instructions", message));
        }
        let template = prompt_template.map(|text| Template::parse(key, &text)).transpose()?;
        if template.as_ref().is_some_and(|template| !template.shows_output()) {
            return Err(ConfigError::new(key, "has no place for the output: `{{output}}`"));
        }
        check(&choices, scale)?;
        let scale = scale.unwrap_or(Scale { min: 0.0, max: 1.0 });
        let settings = Settings::new(model, reasoning, unreadable);
        Ok(Self { instructions, template, choices, scale, settings })
    }

    fn score(&self, case: &Case) -> Result<Score, ScoreError> {
        let prompt = match &self.template {
            Some(template) => template.fill(case)?,
            None => whole(case)?,
        };
        if self.choices.is_empty() {
            let Scale { min, max } = self.scale;
            let grade = Grade { criteria: &self.instructions, scale: (min, max), meaning: "" };
            return grade.score(&prompt, &self.settings);
        }
        let choices = self.choices.iter();
        let choices = choices.map(|(name, score)| Choice { name, score: *score, meaning: "" });
        let choices: Vec<Choice<'_>> = choices.collect();
        let judge = Classifier { criteria: &self.instructions, choices: &choices };
        judge.score(&prompt, &self.settings)
    }
}

fn check(choices: &BTreeMap<String, f64>, scale: Option<Scale>) -> Result<(), ConfigError> {
    if choices.len() == 1 {
        return Err(ConfigError::new("choices", "has one choice only; give at least two"));
    }
    for (place, (name, score)) in choices.iter().enumerate() {
        check_name(name, choices.keys().take(place))?;
        if !(0.0..=1.0).contains(score) {
            let message = format!("should be 0 to 1, found {score}");
            return Err(ConfigError::new(format!("choices.{name}"), message));
        }
    }
    match scale {
        Some(_) if !choices.is_empty() => {
            Err(ConfigError::new("scale", "give either `choices` or `scale`, not both"))
        }
        Some(Scale { min, max }) if min >= max => {
            Err(ConfigError::new("scale.max", "should be more than `min`"))
        }
        Some(Scale { min, max }) if (max - min).is_infinite() => {
            Err(ConfigError::new("scale", "is too wide: `max` - `min` is not a number"))
        }
        _ => Ok(()),
    }
}

/// A judge's answer must distinguish the choices, and models do not always keep case and white space.
fn check_name<'n>(
    name: &str,
    mut others: impl Iterator<Item = &'n String>,
) -> Result<(), ConfigError> {
    let key = format!("choices.{name}");
    if name.trim().is_empty() {
        return Err(ConfigError::new(key, "has no name"));
    }
    match others.find(|other| other.trim().eq_ignore_ascii_case(name.trim())) {
        Some(other) => Err(ConfigError::new(
            key,
            format!("differs from `{other}` in case or white space only; give it another name"),
        )),
        None => Ok(()),
    }
}

/// A prompt with everything that the case has, if there is no template.
fn whole(case: &Case) -> Result<Prompt<'static>, ScoreError> {
    let mut prompt = Prompt::new();
    let parts = [
        ("input", case.input()),
        ("context", case.context()),
        ("ground-truth", case.ground_truth()),
    ];
    for (name, part) in parts {
        if let Some(part) = part {
            prompt.part(name, &part)?;
        }
    }
    prompt.part("output", &case.output())?;
    Ok(prompt)
}

scorebox_sdk::export!(Rubric);

#[cfg(test)]
mod tests;
