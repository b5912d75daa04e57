//! A scorer's answer on one case that is not stored: as data on standard output, and its error as messages.

use std::time::Duration;

use scorebox::{
    row::{Answer, AnswerError, ScorerAnswer},
    sandbox::Outcome,
};
use serde::Serialize;

use crate::{
    advice,
    failure::{Exit, Failure},
    output::{self, Format},
    report::{self, Align, Table},
    words,
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

/// The JSON document: the keys of a [`ScorerAnswer`], and `error.hint`.
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

    /// Writes the answer to standard output.
    pub(crate) fn write(&self, scorer_id: &str, format: Format) -> Result<(), Failure> {
        let answered = ScorerAnswer { scorer_id, answer: &self.answer };
        let shown = Shown { answered, error: self.error.as_ref() };
        output::stdout(|out| match format {
            Format::Table => output::table(out, table(scorer_id, &self.answer)),
            Format::Json => output::json(out, &shown),
            Format::Jsonl => output::json_line(out, &shown),
        })
    }

    /// Reports why there is no score, and returns the exit code for that. `None` if there is no error.
    pub(crate) fn say_error(&self) -> Option<Exit> {
        let Explained { error, hint } = self.error.as_ref()?;
        words::error(&format!("{}: {}", error.kind, error.message), hint.as_deref());
        Some(Exit::SomeErrors)
    }
}

fn table(scorer_id: &str, answer: &Answer) -> Table {
    let mut table = Table::new(&[
        ("scorer", Align::Left),
        ("status", Align::Left),
        ("score", Align::Right),
        ("fuel", Align::Right),
        ("time", Align::Right),
        ("reason", Align::Left),
    ]);
    table.row([
        output::cell(scorer_id, 64),
        answer.status.as_str().to_owned(),
        answer.score.map_or_else(|| "-".into(), report::score),
        answer.fuel.map_or_else(|| "-".into(), report::count),
        answer.duration_ms.map_or_else(|| "-".into(), |ms| report::duration(milliseconds(ms))),
        output::last_cell(answer.reason.as_deref().unwrap_or_default()),
    ]);
    table
}

fn milliseconds(milliseconds: f64) -> Duration {
    Duration::try_from_secs_f64(milliseconds / 1e3).unwrap_or_default()
}
