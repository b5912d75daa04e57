//! `scorebox migrate`: a suite of a promptfoo configuration's assertions, and what of it has no equal. Runs nothing.

use std::path::PathBuf;

use scorebox::input_file::MOST_CONFIGURATION_BYTES;

use crate::{
    failure::{Exit, Failure},
    input::read_file_or_stdin,
    migration::{Migration, migrated, read, suite_text},
    new_file::NewFileArguments,
    report::{counted, one_line},
    words,
};

/// Write a suite of a promptfoo configuration's assertions
///
/// Assertions that have an equal become gates of the suite; those of one test are for the node `test-N`, as the results of promptfoo are read.
/// What has no equal is listed with the reason, and stands as a comment in the suite. If the suite needs an option of `run`, it
/// says so.
#[derive(Debug, clap::Args)]
pub(crate) struct Migrate {
    /// The configuration of promptfoo (YAML or JSON); `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    output: NewFileArguments,
}

impl Migrate {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let text = read_file_or_stdin(&self.file, MOST_CONFIGURATION_BYTES)?;
        let name = self.file.display().to_string();
        let config = read(&text).map_err(|error| {
            Failure::new(format!("{name}: {error}"))
                .hint("a configuration is YAML or JSON with `tests`; one in JavaScript or Python must be written out first")
        })?;
        let migration = migrated(config);
        if migration.scorers.is_empty() {
            let why = listed(&migration);
            let message = format!(
                "{name}: no assertion has an equal{}{why}",
                if why.is_empty() { "" } else { ":\n" }
            );
            return Err(Failure::new(message));
        }
        let file = self.file.file_name().unwrap_or(self.file.as_os_str()).to_string_lossy();
        let suite = suite_text(&migration, &file);
        self.output.write(|out| Ok(out.write_all(suite.as_bytes())?))?;
        say(&migration);
        Ok(Exit::Done)
    }
}

fn say(migration: &Migration) {
    words::say(&format!(
        "{} became {}",
        counted(migration.translated as u64, "assertion", "assertions"),
        counted(migration.scorers.len() as u64, "scorer", "scorers")
    ));
    if !migration.left_out.is_empty() {
        words::warn(&format!("not in the suite:\n{}", listed(migration)));
    }
    if let Some(name) = &migration.ground_truth {
        words::hint(&format!(
            "the variable `{name}` is the expected output: run the suite with --map groundTruth=/metadata/vars/{name}"
        ));
    }
    if migration.scorers.iter().any(|scorer| scorer.judged) {
        words::hint("some scorers ask a language model: check `[judges.default]` in the suite");
    }
}

/// What has no equal, a line each.
fn listed(migration: &Migration) -> String {
    let line = |left_out: &crate::migration::LeftOut| {
        let what =
            if left_out.what.is_empty() { String::new() } else { format!(" ({})", left_out.what) };
        one_line(&format!("{}{what}: {}", left_out.place, left_out.why), usize::MAX)
    };
    migration.left_out.iter().map(line).collect::<Vec<_>>().join("\n")
}
