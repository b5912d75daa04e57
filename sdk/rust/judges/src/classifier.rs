//! A judge that picks one of several choices, each with a score: the form of autoevals' classifiers. Prompts and
//! wording of criteria are up to the scorer.

use scorebox_sdk::{Score, ScoreError};
use serde_json::{Value, json};

use crate::{Answer, Prompt, Question, Settings, Unread, ask_all_for, reading, schema};

/// One choice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice<'c> {
    /// The name that the judge answers with; it becomes the score's label.
    pub name: &'c str,
    /// Its score, 0 to 1.
    pub score: f64,
    /// When to pick it; empty if the name says enough.
    pub meaning: &'c str,
}

/// Criteria, and the choices that follow from them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Classifier<'c> {
    /// The system prompt: what is judged, and how.
    pub criteria: &'c str,
    /// At least one.
    pub choices: &'c [Choice<'c>],
}

/// What the judge picked.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The index of the choice.
    pub place: usize,
    /// The reasons, if the judge gives any.
    pub reason: Option<String>,
}

impl Classifier<'_> {
    /// The score of the choice that the judge picks, with its name as label and in `meta.choice`.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the case's texts are too long; as `unreadable` decides if the answer cannot be
    /// read.
    pub fn score(&self, prompt: &Prompt<'_>, settings: &Settings) -> Result<Score, ScoreError> {
        let question = self.question(prompt, settings)?;
        match decide_all(&[question], &self.names()) {
            Err(unread) => settings.unreadable.settle(unread),
            Ok(mut decisions) => match decisions.pop() {
                Some(decision) => Ok(self.scored(decision)),
                None => Err(ScoreError::failed("the judge gave no decision")),
            },
        }
    }

    /// The question that asks for one of the choices.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the case's texts are too long.
    pub fn question(
        &self,
        prompt: &Prompt<'_>,
        settings: &Settings,
    ) -> Result<Question, ScoreError> {
        let mut form = String::from("Choose one of these:\n");
        for Choice { name, meaning, .. } in self.choices {
            form.push_str(&format!("\n- \"{name}\""));
            if !meaning.is_empty() {
                form.push_str(&format!(": {meaning}"));
            }
        }
        form.push_str("\n\nAnswer with one JSON object and nothing else: ");
        form.push_str(match settings.reasoning.0 {
            true => {
                "{\"reason\": \"your reasons, step by step, before you decide\", \"choice\": \"your choice\"}"
            }
            false => "{\"choice\": \"your choice\"}",
        });
        let schema = with_reason(settings, "choice", &schema::one_of(&self.names()));
        let question = prompt.question(self.criteria, &form)?;
        Ok(question.schema(schema).model(settings.model.0.clone()))
    }

    /// The choices' names.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.choices.iter().map(|choice| choice.name).collect()
    }

    /// The score of a decision.
    #[must_use]
    pub fn scored(&self, decision: Decision) -> Score {
        let choice = self.choices[decision.place];
        let score = Score::new(choice.score).label(choice.name);
        let reason = decision.reason.unwrap_or_else(|| format!("the judge chose {}", choice.name));
        score.reason(reason).meta(json!({ "choice": choice.name }))
    }
}

/// The judge's decision on each of several questions, which are asked concurrently.
///
/// # Errors
/// [`Unread`] if one of the answers cannot be read.
pub fn decide_all(questions: &[Question], names: &[&str]) -> Result<Vec<Decision>, Unread> {
    ask_all_for(questions, |answer| {
        let place = reading::choice(answer, names)?;
        Ok(Decision { place, reason: reason(answer) })
    })
}

/// The schema of an object with a verdict and, before it, the reasons.
pub(crate) fn with_reason(settings: &Settings, key: &str, verdict: &str) -> String {
    match settings.reasoning.0 {
        true => schema::object(&[("reason", schema::TEXT), (key, verdict)]),
        false => schema::object(&[(key, verdict)]),
    }
}

/// The reasons that an answer gives, in its JSON or next to the line with the verdict.
pub(crate) fn reason(answer: &Answer) -> Option<String> {
    let keys = ["reason", "reasons", "reasoning", "explanation", "rationale"];
    let read = |value: &Value| reading::text(value, &keys).ok_or_else(String::new);
    reading::json(answer, read).ok().or_else(|| {
        let beside = reading::beside_verdict(answer)?.trim().to_owned();
        Some(beside).filter(|text| !text.is_empty() && !text.contains('{'))
    })
}
