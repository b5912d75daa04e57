//! One case, given by its parts or as a whole. Scores nothing.

use std::{path::PathBuf, time::Duration};

use scorebox::{
    case::{Case, Key},
    input_file::MOST_CASE_BYTES,
    sandbox::{Capabilities, Sandbox},
    workspace::TaskFolder,
};
use serde_json::value::RawValue;

use super::{WorkspaceArguments, read_if_file};
use crate::{failure::Failure, input};

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

    #[command(flatten)]
    workspace: WorkspaceArguments,
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

    /// What scorers may be shown if they are granted it.
    pub fn capabilities(&self) -> Result<Capabilities, Failure> {
        self.workspace.capabilities()
    }

    /// The case's folder, with its files already read, if the sandbox has these; reading may take so long.
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
