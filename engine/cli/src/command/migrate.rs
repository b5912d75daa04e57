//! `scorebox migrate`: makes a suite from the assertions of a promptfoo configuration, and lists those without an
//! equivalent. It loads the scorers to find configurations that they refuse, and scores nothing.

use std::{collections::BTreeMap, path::PathBuf};

use scorebox::{
    input_file::MAX_CONFIGURATION_BYTES, run::RunError, sandbox::ErrorKind, suite::Suite,
};

use crate::{
    failure::{Exit, Failure},
    input::read_file_or_stdin,
    migration::{Migration, migrated, read, suite_text},
    new_file::NewFileArguments,
    report::{counted, one_line},
    setup::{self, SandboxArguments},
    words,
};

/// Convert the assertions of a promptfoo configuration to a suite
///
/// Assertions with an equivalent scorer become gates; those of one test apply to the node `test-N`, as in promptfoo's
/// results. All others are listed with the reason and kept as comments in the suite. The command also names the options
/// that `run` needs for the suite.
#[derive(Debug, clap::Args)]
pub(crate) struct Migrate {
    /// The configuration of promptfoo (YAML or JSON); `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    output: NewFileArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

impl Migrate {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        self.output.must_be_apart([self.file.as_path()])?;
        let text = read_file_or_stdin(&self.file, MAX_CONFIGURATION_BYTES)?;
        let name = self.file.display().to_string();
        let config = read(&text).map_err(|error| {
            Failure::new(format!("{name}: {error}"))
                .hint("a configuration is YAML or JSON with `tests`; one in JavaScript or Python must be written out first")
        })?;
        let file = self.file.file_name().unwrap_or(self.file.as_os_str()).to_string_lossy();
        let migration = self.accepted(migrated(config), &file)?;
        if migration.scorers.is_empty() {
            let why = listed(&migration);
            let message = format!(
                "{name}: no assertion has an equivalent{}{why}",
                if why.is_empty() { "" } else { ":\n" }
            );
            return Err(Failure::new(message));
        }
        let suite = suite_text(&migration, &file);
        self.output.write(|out| Ok(out.write_all(suite.as_bytes())?))?;
        say(&migration);
        Ok(Exit::Done)
    }

    /// The migration without the scorers that refuse their configurations, for which `suite check` would refuse the
    /// suite.
    fn accepted(&self, migration: Migration, file: &str) -> Result<Migration, Failure> {
        if migration.scorers.is_empty() {
            return Ok(migration);
        }
        if migration.scorers.len() > MAX_SCORERS {
            let scorers = migration.scorers.len();
            let message = format!(
                "{file}: its assertions are {scorers} scorers, and a suite has at most {MAX_SCORERS}"
            );
            return Err(Failure::new(message).hint("a value that is one variable and nothing else, `{{name}}`, is one scorer for all tests; a variable in other text makes one for each test"));
        }
        let suite = Suite::parse(&suite_text(&migration, file))?;
        let sandbox = self.sandbox.open(1, setup::unasked_judges(&suite))?;
        let registry = setup::registry();
        let loaded =
            setup::finish(setup::small_runtime()?, setup::loaded(&suite, &registry, &sandbox));
        let Err(error) = loaded else { return Ok(migration) };
        Ok(migration.without_refused(&refused(error)?))
    }
}

/// The most scorers of a suite. Reading a suite checks it, too, but only here is the reason known.
const MAX_SCORERS: usize = 1000;

/// The errors of a configuration, not of this machine: with another configuration the scorer would load.
const IN_CONFIGURATIONS: [ErrorKind; 3] =
    [ErrorKind::InvalidConfig, ErrorKind::OutOfFuel, ErrorKind::OutOfMemory];

/// Why scorers are refused, by their names.
fn refused(error: RunError) -> Result<BTreeMap<String, String>, Failure> {
    let errors = match error {
        RunError::Unusable(errors) => errors,
        error => vec![error],
    };
    let mut refused = BTreeMap::new();
    for error in errors {
        let (id, why) = match error {
            RunError::Scorer { id, error, .. } if IN_CONFIGURATIONS.contains(&error.kind) => {
                (id, error.message)
            }
            RunError::Policy { id, error, .. } => (id, error.to_string()),
            error => return Err(error.into()),
        };
        // One reason is enough.
        refused.entry(id.to_string()).or_insert(why);
    }
    Ok(refused)
}

fn say(migration: &Migration) {
    words::say(&format!(
        "{} became {}",
        counted(migration.translated() as u64, "assertion", "assertions"),
        counted(migration.scorers.len() as u64, "scorer", "scorers")
    ));
    if !migration.left_out.is_empty() {
        words::warn(&format!("not in the suite:\n{}", listed(migration)));
    }
    for mapped in migration.maps() {
        let what = if mapped.key == "context" { "context" } else { "expected output" };
        let name = mapped.variable;
        words::hint(&format!("the variable `{name}` is the {what}: run the suite with {mapped}"));
    }
    if migration.scorers.iter().any(|scorer| scorer.uses == "tool-call-f1") {
        words::hint("to `tool-call-f1`, a text without a call is an error; promptfoo scores it 0");
    }
    if migration.scorers.iter().any(|scorer| scorer.judged) {
        words::hint("some scorers ask a language model: check `[judges.default]` in the suite");
    }
}

/// The parts without an equivalent, a line each.
fn listed(migration: &Migration) -> String {
    let line = |left_out: &crate::migration::LeftOut| {
        let what =
            if left_out.what.is_empty() { String::new() } else { format!(" ({})", left_out.what) };
        one_line(&format!("{}{what}: {}", left_out.place, left_out.why), usize::MAX)
    };
    migration.left_out.iter().map(line).collect::<Vec<_>>().join("\n")
}
