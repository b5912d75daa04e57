//! `scorebox score`: one scorer on one case, and its result. Stores nothing.

use std::time::Duration;

use scorebox::{
    contract::ScorerInput,
    sandbox::{ErrorKind, Outcome},
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    advice,
    arguments::{CaseArguments, ScorerArguments},
    failure::{Exit, Failure},
    output::{self, Format},
    report::{self, Align, Table},
    setup::{self, SandboxArguments},
    words,
};

/// Score one case and print the result
///
/// The case is given by its parts, each a JSON document or @FILE, or as a whole with --case. Nothing
/// is stored.
#[derive(Debug, clap::Args)]
pub struct Score {
    #[command(flatten)]
    scorer: ScorerArguments,

    #[command(flatten)]
    case: CaseArguments,

    /// Exit with 0 even if the score is an error
    #[arg(long, help_heading = "Output")]
    allow_errors: bool,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "json", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

impl Score {
    pub fn run(&self) -> Result<Exit, Failure> {
        let case = self.case.case()?.ok_or_else(|| {
            Failure::new("there is nothing to score")
                .hint("give the output with --output, or a whole case with --case")
        })?;
        let source = self.scorer.source()?;
        let sandbox = self.sandbox.open(1, self.case.capabilities()?)?;
        let outcome = setup::finish(setup::small_runtime()?, async {
            let time = self.scorer.timeout()?;
            let folder = self.case.task_folder(&case, &sandbox, time).await?;
            let scorer = self.scorer.load(&sandbox, &source.bytes).await?;
            let input = case.scorer_input(scorer.info().reads);
            let input = ScorerInput { workspace: folder.as_ref(), ..input };
            Ok::<_, Failure>(scorer.score(input).await)
        })?;
        let answer = Answer::of(&self.scorer.scorer, &outcome);
        output::stdout(|out| match self.format {
            Format::Table => write!(out, "{}", table(&answer)),
            Format::Json => output::json(out, &answer),
            Format::Jsonl => output::json_line(out, &answer),
        })?;
        match &outcome.result {
            Err(error) => {
                words::error_with(&error.to_string(), error.advice.as_ref());
                Ok(if self.allow_errors { Exit::Done } else { Exit::SomeErrors })
            }
            Ok(_) => Ok(Exit::Done),
        }
    }
}

fn table(answer: &Answer<'_>) -> Table {
    let mut table = Table::new(&[
        ("scorer", Align::Left),
        ("status", Align::Left),
        ("score", Align::Right),
        ("fuel", Align::Right),
        ("time", Align::Right),
        ("reason", Align::Left),
    ]);
    table.row([
        report::one_line(answer.scorer, 64),
        answer.status.to_owned(),
        answer.score.map_or_else(|| "-".into(), report::score),
        answer.fuel.map_or_else(|| "-".into(), report::count),
        report::duration(Duration::from_secs_f64(answer.duration_ms / 1e3)),
        report::one_line(answer.reason.unwrap_or_default(), output::most_characters()),
    ]);
    table
}

/// A score as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer<'a> {
    scorer: &'a str,
    status: &'static str,
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    assertions: &'a [scorebox::contract::Assertion],
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<AnswerError<'a>>,
    fuel: Option<u64>,
    memory_bytes: u64,
    duration_ms: f64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    log: &'a [scorebox::contract::LogLine],
}

#[derive(Serialize)]
struct AnswerError<'a> {
    kind: ErrorKind,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl<'a> Answer<'a> {
    pub fn of(scorer: &'a str, outcome: &'a Outcome) -> Answer<'a> {
        let result = outcome.result.as_ref().ok();
        let error = outcome.result.as_ref().err();
        Answer {
            scorer,
            status: match &outcome.result {
                Err(_) => "error",
                Ok(result) if result.score.is_none() => "not-applicable",
                Ok(_) => "scored",
            },
            score: result.and_then(|result| result.score),
            label: result.and_then(|result| result.label.as_deref()),
            reason: result.and_then(|result| result.reason.as_deref()),
            // Checked when it came over the wall.
            meta: result
                .and_then(|result| result.meta.as_deref())
                .and_then(|meta| serde_json::from_str(meta).ok()),
            assertions: result.map_or(&[], |result| &result.assertions),
            error: error.map(|error| AnswerError {
                kind: error.kind,
                message: &error.message,
                hint: error.advice.as_ref().and_then(advice::words),
            }),
            fuel: outcome.fuel,
            memory_bytes: outcome.memory_bytes,
            duration_ms: outcome.duration.as_secs_f64() * 1e3,
            log: &outcome.log,
        }
    }
}
