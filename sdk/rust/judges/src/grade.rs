//! A judge that gives a number on a scale, with its reasons: the shape of Smithers' and Orbiter's judges.

use scorebox_sdk::{Score, ScoreError};
use serde_json::json;

use crate::classifier::{reason, with_reason};
use crate::{Answer, Prompt, Settings, Unreadable, ask_for, reading, schema};

/// Criteria, and the scale of the judge's numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grade<'g> {
    /// The system prompt: what is judged, and how.
    pub criteria: &'g str,
    /// The least and the most number that the judge may give; the first is below the second, and their difference is finite.
    pub scale: (f64, f64),
    /// What the two mean, such as "0 is …, 1 is …"; empty if the criteria say so.
    pub meaning: &'g str,
}

impl Grade<'_> {
    /// The judge's number, brought to 0 to 1: (number - least) / (most - least). On another scale than 0 to 1 the number
    /// itself is `meta.grade`.
    ///
    /// With [`Unreadable::Zero`], which promises Smithers' numbers, a number of JSON that is off the scale is the end of the
    /// scale that it is beyond, as there; the number is `meta.grade`, and `meta.clamped` is true.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the case's texts are too long; what `unreadable` says if the answer cannot be
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

    /// The score of the judge's number, which may be off the scale.
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
