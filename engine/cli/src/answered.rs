//! What a scorer says about one case that is not stored: to standard output as data, and its error in words.

use scorebox::{
    row::{Answer, AnswerError, ScorerAnswer},
    sandbox::Outcome,
};
use serde::Serialize;

use crate::{
    advice,
    failure::{Exit, Failure},
    output, words,
};

/// The outcome of a score, apart from why it is missing.
pub(crate) struct Answered {
    pub answer: Answer,
    error: Option<Explained>,
}

/// Why there is no score, and what to do about it.
#[derive(Serialize)]
struct Explained {
    #[serde(flatten)]
    error: AnswerError,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// As JSON, the keys of a [`ScorerAnswer`], and `error.hint`.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    answered: ScorerAnswer<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Explained>,
}

impl Answered {
    pub(crate) fn new(outcome: Outcome) -> Answered {
        let mut answer = Answer::from(outcome);
        let error = answer.error.take().map(|error| {
            let hint = error.advice.as_ref().and_then(advice::words);
            Explained { error, hint }
        });
        Answered { answer, error }
    }

    /// Writes it as JSON, in one line or over several.
    pub(crate) fn write_json(&self, scorer_id: &str, in_one_line: bool) -> Result<(), Failure> {
        let answered = ScorerAnswer { scorer_id, answer: &self.answer };
        let shown = Shown { answered, error: self.error.as_ref() };
        output::stdout(|out| match in_one_line {
            true => output::json_line(out, &shown),
            false => output::json(out, &shown),
        })
    }

    /// Says why there is no score; the exit code for that. `None` if there is nothing to say.
    pub(crate) fn say_error(&self) -> Option<Exit> {
        let Explained { error, hint } = self.error.as_ref()?;
        words::error(&format!("{}: {}", error.kind, error.message), hint.as_deref());
        Some(Exit::SomeErrors)
    }
}
