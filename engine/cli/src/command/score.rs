//! `scorebox score`: one scorer on one case, and its result. Stores nothing.

use std::{path::PathBuf, time::Duration};

use scorebox::{
    case::{Case, Key},
    contract::ScorerInput,
    input_file::MOST_CASE_BYTES,
    sandbox::{Capabilities, ErrorKind, Outcome, Sandbox},
    workspace::TaskFolder,
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    capabilities::capabilities,
    failure::{Exit, Failure},
    input,
    output::{self, Format},
    report::{self, Align, Table},
    scorer_arguments::{ScorerArguments, read_if_file},
    setup::{self, Global},
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
    pub case: CaseArguments,

    /// Exit with 0 even if the score is an error
    #[arg(long)]
    allow_errors: bool,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: Format,
}

/// One case, on the command line.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "The case")]
pub struct CaseArguments {
    /// A file with the case as one JSON object; `-` reads standard input
    #[arg(long = "case", value_name = "FILE", conflicts_with_all = ["output", "output_text"])]
    file: Option<PathBuf>,

    /// What the task produced, as JSON
    #[arg(long, value_name = "JSON", conflicts_with = "output_text")]
    output: Option<String>,

    /// What the task produced, as plain text
    #[arg(long, value_name = "TEXT")]
    output_text: Option<String>,

    /// The expected output, as JSON
    #[arg(long, value_name = "JSON")]
    ground_truth: Option<String>,

    /// The task's input, as JSON
    #[arg(long, value_name = "JSON")]
    input: Option<String>,

    /// Additional context, as JSON
    #[arg(long, value_name = "JSON")]
    context: Option<String>,

    /// How long the task took, in milliseconds
    #[arg(long, value_name = "MS")]
    latency_ms: Option<String>,

    /// A JSON Schema that the output should match
    #[arg(long, value_name = "JSON")]
    output_schema: Option<String>,

    /// What the agent did, as JSON
    #[arg(long, value_name = "JSON")]
    trace: Option<String>,

    /// Tokens and cost, as JSON
    #[arg(long, value_name = "JSON")]
    usage: Option<String>,

    /// Anything else about the case, as JSON
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,

    /// Another output for the same input, as JSON
    #[arg(long, value_name = "JSON")]
    baseline: Option<String>,

    /// The folder with the files that the task left, for a scorer that is granted `workspace`; with
    /// --case, the folder in which the case's own `workspace` is
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,

    /// Leave out files and folders of a workspace: a path from there, or a glob such as `**/*.log`; may be
    /// repeated (`.git` and `node_modules` are always left out)
    #[arg(long, value_name = "GLOB", requires = "workspace")]
    workspace_exclude: Vec<String>,
}

impl CaseArguments {
    /// The case, if one is given.
    pub fn case(&self) -> Result<Option<Case>, Failure> {
        if let Some(file) = &self.file {
            let text = input::read_file_or_stdin(file, MOST_CASE_BYTES)?;
            return Ok(Some(Case::from_json(text)?));
        }
        let parts = [
            (Key::Output, &self.output),
            (Key::GroundTruth, &self.ground_truth),
            (Key::Input, &self.input),
            (Key::Context, &self.context),
            (Key::LatencyMs, &self.latency_ms),
            (Key::OutputSchema, &self.output_schema),
            (Key::Trace, &self.trace),
            (Key::Usage, &self.usage),
            (Key::Metadata, &self.metadata),
            (Key::Baseline, &self.baseline),
        ];
        let mut builder = Case::builder();
        let mut any = false;
        for (key, written) in parts {
            let Some(written) = written else { continue };
            let document = read_if_file(written, MOST_CASE_BYTES)?;
            serde_json::from_str::<&RawValue>(&document).map_err(|error| not_json(key, &error))?;
            builder = builder.json(key, document);
            any = true;
        }
        if let Some(text) = &self.output_text {
            builder = builder.text(Key::Output, text);
            any = true;
        }
        any.then(|| builder.build().map_err(Failure::from)).transpose()
    }

    /// What scorers may be shown where they are granted it.
    pub fn capabilities(&self) -> Result<Capabilities, Failure> {
        capabilities(self.workspace.as_deref(), &self.workspace_exclude)
    }

    /// The case's folder, with its files already read, where the sandbox has these; reading may take so long.
    pub async fn task_folder(
        &self,
        case: &Case,
        sandbox: &Sandbox,
        time: Duration,
    ) -> Result<Option<TaskFolder>, Failure> {
        let Some(folder) = sandbox.capabilities().workspace() else { return Ok(None) };
        let task = case.task_folder().unwrap_or_else(|| TaskFolder::new("."));
        task.files(folder, time).await?;
        Ok(Some(task))
    }
}

fn not_json(key: Key, error: &serde_json::Error) -> Failure {
    let failure = Failure::new(format!("`{key}` is not JSON: {error}"));
    match key {
        Key::Output => failure.hint("text is written '\"like this\"', or with --output-text"),
        _ => failure.hint("text is written '\"like this\"'"),
    }
}

impl Score {
    pub fn run(&self, global: &Global) -> Result<Exit, Failure> {
        let case = self.case.case()?.ok_or_else(|| {
            Failure::new("there is nothing to score")
                .hint("give the output with --output, or a whole case with --case")
        })?;
        let source = self.scorer.source()?;
        let sandbox = global.sandbox(1, self.case.capabilities()?)?;
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
                words::error(&error.to_string(), error.hint.as_deref());
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
    hint: Option<&'a str>,
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
                hint: error.hint.as_deref(),
            }),
            fuel: outcome.fuel,
            memory_bytes: outcome.memory_bytes,
            duration_ms: outcome.duration.as_secs_f64() * 1e3,
            log: &outcome.log,
        }
    }
}
