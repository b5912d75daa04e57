//! One case, given by its parts or as a whole. It scores nothing.

use std::{
    path::{Path, PathBuf},
    sync::LazyLock,
    time::Duration,
};

use clap::{Arg, ArgMatches, Command, FromArgMatches};
use scorebox::{
    advice::{Advice, Advised},
    case::{BadCaseReason, Case, Key, Location, Mapping},
    contract::Field,
    input_file::MAX_CASE_BYTES,
    sandbox::{Capabilities, LoadedScorer, Sandbox},
    workspace::TaskFolder,
};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::{WorkspaceArguments, completing, read_if_file};
use crate::{failure::Failure, input};

/// One case, on the command line.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "The case")]
pub(crate) struct CaseArguments {
    /// A file with the case as one JSON object; `-` reads standard input
    #[arg(long = "case", value_name = "FILE", conflicts_with = "output_text")]
    file: Option<PathBuf>,

    /// What the task produced, as plain text
    #[arg(long, value_name = "TEXT")]
    output_text: Option<String>,

    #[command(flatten)]
    parts: PartArguments,

    #[command(flatten)]
    workspace: WorkspaceArguments,
}

/// The parts of a case that are JSON, as the user wrote them: an option for the output, and one for each optional part
/// that the library knows.
#[derive(Debug)]
struct PartArguments(Vec<(Key, String)>);

/// Each part with its option: `groundTruth` is `--ground-truth`.
static PARTS: LazyLock<Vec<(Key, String)>> = LazyLock::new(|| {
    let keys = [Key::Output].into_iter().chain(Field::ALL.map(Key::from));
    keys.map(|key| (key, kebab_case(key.name()))).collect()
});

fn kebab_case(name: &str) -> String {
    let mut option = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            option.push('-');
        }
        option.push(character.to_ascii_lowercase());
    }
    option
}

fn part_argument(key: Key, option: &'static str) -> Arg {
    let argument =
        Arg::new(key.name()).long(option).conflicts_with("file").add(completing::text_or_file());
    match key {
        Key::LatencyMs => argument.value_name("MS").help(key.meaning()),
        Key::Output => argument
            .value_name("JSON")
            .help(format!("{}, as JSON", key.meaning()))
            .conflicts_with("output_text"),
        _ => argument.value_name("JSON").help(format!("{}, as JSON", key.meaning())),
    }
}

impl FromArgMatches for PartArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<PartArguments, clap::Error> {
        let written = |key: Key| matches.get_one::<String>(key.name()).cloned();
        let parts = PARTS.iter().filter_map(|(key, _)| Some((*key, written(*key)?)));
        Ok(PartArguments(parts.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = PartArguments::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for PartArguments {
    fn augment_args(command: Command) -> Command {
        PARTS
            .iter()
            .fold(command, |command, (key, option)| command.arg(part_argument(*key, option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        PartArguments::augment_args(command)
    }
}

impl CaseArguments {
    /// The case, if the user gave one.
    pub(crate) fn case(&self) -> Result<Option<Case>, Failure> {
        if let Some(file) = &self.file {
            let text = input::read_file_or_stdin(file, MAX_CASE_BYTES)?;
            return case_of(file, &text).map(Some);
        }
        let mut builder = Case::builder();
        let mut any = false;
        for (key, written) in &self.parts.0 {
            let document = read_if_file(written, MAX_CASE_BYTES)?;
            serde_json::from_str::<&RawValue>(&document)
                .map_err(|error| not_json(*key, &document, &error))?;
            builder = builder.json(*key, document);
            any = true;
        }
        if let Some(text) = &self.output_text {
            builder = builder.text(Key::Output, text);
            any = true;
        }
        any.then(|| builder.build().map_err(Failure::from)).transpose()
    }

    /// What scorers with a grant may see.
    pub(crate) fn capabilities(&self) -> Result<Capabilities, Failure> {
        self.workspace.capabilities()
    }

    /// The case's folder, with its files already read, if the sandbox has files and the scorer reads them. Reading may
    /// take `time`.
    pub(crate) async fn task_folder(
        &self,
        case: &Case,
        scorer: &LoadedScorer,
        sandbox: &Sandbox,
        time: Duration,
    ) -> Result<Option<TaskFolder>, Failure> {
        self.workspace.say_if_unused(scorer.reads_workspace());
        if !scorer.reads_workspace() {
            return Ok(None);
        }
        let Some(folder) = sandbox.capabilities().workspace() else { return Ok(None) };
        let task = case.task_folder().unwrap_or_else(|| TaskFolder::new("."));
        task.files(folder, time).await?;
        Ok(Some(task))
    }
}

/// The case in a file.
fn case_of(file: &Path, text: &str) -> Result<Case, Failure> {
    let source = match file == Path::new("-") {
        true => "<stdin>".to_owned(),
        false => file.display().to_string(),
    };
    Case::parse(text, 0, &Mapping::NONE, Location::new(source, 1)).map_err(|error| {
        match error.reason {
            BadCaseReason::NotJson { .. } if has_several_documents(text) => {
                Failure::new(error.to_string())
                    .hint("one case is scored here; `scorebox run` scores all of a file")
            }
            _ => not_a_case(&error),
        }
    })
}

fn has_several_documents(text: &str) -> bool {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    (0..2).all(|_| matches!(documents.next(), Some(Ok(_))))
}

/// The error of an invalid case. Commands that take one case have no option for the location of a part, so the advice
/// is to change the case itself.
fn not_a_case<E: Advised>(error: &E) -> Failure {
    let failure = Failure::new(error.to_string());
    match error.advice() {
        Some(Advice::Map { part, member: Some(member) }) => {
            failure.hint(format!("if `{member}` is what to score, call it `{part}` in the case"))
        }
        Some(Advice::Map { part, member: None }) => {
            failure.hint(format!("a case has it as `{part}`, at its top"))
        }
        advice => Failure { hint: advice.as_ref().and_then(crate::advice::words), ..failure },
    }
}

fn not_json(key: Key, written: &str, error: &serde_json::Error) -> Failure {
    let failure = Failure::new(format!("`{key}` is not JSON: {error}"));
    if written.trim_start().starts_with(['{', '[']) {
        return failure.hint("names and texts are in double quotes, and a shell keeps them within single ones: '{\"name\": \"value\"}'");
    }
    match key {
        Key::Output => failure.hint("text is written '\"like this\"', or with --output-text"),
        _ => failure.hint("text is written '\"like this\"'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_case_has_an_option() {
        let options: Vec<&str> = PARTS.iter().map(|(_, option)| option.as_str()).collect();
        assert_eq!(
            options,
            [
                "output",
                "input",
                "ground-truth",
                "context",
                "latency-ms",
                "output-schema",
                "trace",
                "usage",
                "metadata",
                "baseline"
            ]
        );
    }
}
