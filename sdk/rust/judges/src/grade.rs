//! A judge that gives a number on a scale, with its reasons: the form of Smithers' and Orbiter's judges. Prompts and
//! wording of criteria are up to the scorer.

use scorebox_sdk::{Score, ScoreError};
use serde_json::json;

use crate::classifier::{reason, with_reason};
use crate::{Answer, Prompt, Settings, Unreadable, ask_for, reading, schema};

/// Criteria, and the scale of the judge's numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grade<'g> {
    /// The system prompt: what is judged, and how.
    pub criteria: &'g str,
    /// The lowest and the highest number that the judge may give; the first is less than the second, and their
    /// difference is finite.
    pub scale: (f64, f64),
    /// What these two numbers mean, such as "0 is …, 1 is …"; empty if the criteria say so.
    pub meaning: &'g str,
}

impl Grade<'_> {
    /// The judge's number, mapped to 0 to 1: (number - lowest) / (highest - lowest). On a scale other than 0 to 1,
    /// `meta.grade` has the number itself.
    ///
    /// With [`Unreadable::Zero`], which promises Smithers' scores, a number in JSON that is off the scale is clamped to
    /// it, as in Smithers; `meta.grade` has the number, and `meta.clamped` is true.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the case's texts are too long; as `unreadable` decides if the answer cannot be
    /// read.
    pub fn score(&self, prompt: &Prompt<'_>, settings: &Settings) -> Result<Score, ScoreError> {
        let (least, most) = self.scale;
        let mut form = format!("Give a score from {least} to {most}. {}", self.meaning);
        form.push_str("\n\nAnswer with one JSON object and nothing else: ");
        form.push_str(&match settings.reasoning.0 {
            true => format!(
                "{{\"reason\": \"your reasons, in a few sentences\", \"score\": a number from {least} to {most}}}"
            ),
            false => format!("{{\"score\": a number from {least} to {most}}}"),
        });
        let question = prompt.question(self.criteria, &form)?;
        let question = question.schema(with_reason(settings, "score", schema::NUMBER));
        let question = question.model(settings.model.0.clone());
        let number = match settings.unreadable {
            Unreadable::Error => reading::number,
            Unreadable::Zero => reading::number_or_beyond,
        };
        let read = |answer: &Answer| Ok((number(answer, least, most)?, reason(answer)));
        match ask_for(&question, read) {
            Err(unread) => settings.unreadable.settle(unread),
            Ok((grade, reason)) => Ok(self.scored(grade, reason)),
        }
    }

    /// The score for the judge's number, which may be off the scale.
    fn scored(&self, grade: f64, reason: Option<String>) -> Score {
        let (least, most) = self.scale;
        let on_scale = grade.clamp(least, most);
        let score = Score::new((on_scale - least) / (most - least));
        let score = score.reason(reason.unwrap_or_else(|| format!("the judge gave {grade}")));
        if on_scale != grade {
            score.meta(json!({ "grade": grade, "clamped": true }))
        } else if self.scale != (0.0, 1.0) {
            score.meta(json!({ "grade": grade }))
        } else {
            score
        }
    }
}
