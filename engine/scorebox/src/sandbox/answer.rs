//! Converts the outcome of a score to the answer in a row. It knows neither the case nor the scorer.

use crate::row::{Answer, AnswerError, Json, Status, milliseconds};

use super::{ErrorKind, Outcome, ScoreError};

impl From<ScoreError> for AnswerError {
    fn from(error: ScoreError) -> AnswerError {
        let mut answer = AnswerError::new(error.kind.as_str(), error.message);
        answer.advice = error.advice;
        answer
    }
}

impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Answer {
        let mut answer = match outcome.result {
            Err(error) => Answer::of_error(error.into()),
            Ok(result) => Answer {
                score: result.score,
                label: result.label,
                reason: result.reason,
                meta: result.meta.map(Json::from),
                // Without a score, assertions would be the parts of nothing.
                assertions: result.score.and_then(|_| Json::of_list(&result.assertions)),
                ..Answer::new(match result.score {
                    Some(_) => Status::Scored,
                    None => Status::NotApplicable,
                })
            },
        };
        answer.log = Json::of_list(&outcome.log);
        answer.fuel = outcome.fuel;
        answer.memory_bytes = Some(outcome.memory_bytes);
        answer.duration_ms = Some(milliseconds(outcome.duration));
        answer.calls = outcome.calls;
        answer
    }
}

impl Answer {
    /// Whether there is no score because the task failed, so that the scorer was not run.
    pub fn is_of_failed_task(&self) -> bool {
        let kind = self.error.as_ref().map(|error| error.kind.as_str());
        kind == Some(ErrorKind::TaskFailed.as_str())
    }
}
