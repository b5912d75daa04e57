//! `scorebox suite`: shows what a suite file resolves to, checks whether its scorers load, and prints the JSON Schema.
//! It scores nothing.

use std::path::{Path, PathBuf};

use scorebox::{
    registry::Reference,
    run::ReadyScorer,
    suite::{SCHEMA, Suite as Resolved},
};

use serde_json::Value;

use crate::{
    arguments::{LockedArguments, unreadable_recordings},
    failure::{Exit, Failure},
    locked,
    output::{self, Format},
    report::{self, Align, Table},
    setup::{self, SandboxArguments},
};

/// Check a suite file, show what it resolves to, or print its JSON Schema
#[derive(Debug, clap::Args)]
pub(crate) struct Suite {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Check(Check),
    Show(Show),
    Schema(Schema),
}

/// Load and configure all scorers of a suite without scoring anything
///
/// All mistakes are reported, each with its file, line and column.
#[derive(Debug, clap::Args)]
struct Check {
    /// The suite file (TOML or JSON), or a bundle (.tar)
    suite: PathBuf,

    #[command(flatten)]
    locked: LockedArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

/// Show the plan that a suite resolves to
#[derive(Debug, clap::Args)]
struct Show {
    /// The suite file (TOML or JSON), or a bundle (.tar)
    suite: PathBuf,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,
}

/// Print the JSON Schema of suite files, for editors
#[derive(Debug, clap::Args)]
struct Schema {}

impl Suite {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        match &self.command {
            Command::Check(check) => check.run(),
            Command::Show(show) => show.run(),
            Command::Schema(Schema {}) => {
                output::stdout(|out| write!(out, "{SCHEMA}")).map(|()| Exit::Done)
            }
        }
    }
}

impl Check {
    fn run(&self) -> Result<Exit, Failure> {
        let suite = setup::suite_to_load(&self.suite, &self.sandbox, Ok)?;
        self.locked.check(&suite)?;
        let sandbox = self.sandbox.open(1, setup::unasked_judges(&suite))?;
        let loaded = locked::loaded(&suite, &sandbox);
        let loaded = setup::finish(setup::small_runtime()?, loaded);
        let mut failures = unreadable_recordings(&suite);
        let loaded = loaded.unwrap_or_else(|failure| {
            failures.insert(0, failure);
            Vec::new()
        });
        if let Some(failure) = Failure::of_all(failures) {
            return Err(failure);
        }
        let table = loaded_table(loaded.iter());
        output::stdout(|out| write!(out, "{table}")).map(|()| Exit::Done)
    }
}

/// The table of the loaded scorers.
fn loaded_table<'s>(scorers: impl Iterator<Item = &'s ReadyScorer>) -> Table {
    let columns =
        ["scorer", "component", "version", "severity", "threshold", "weight", "required", "reads"];
    let mut table = Table::new(&columns.map(|title| (title, Align::Left)));
    for ready in scorers {
        let info = ready.scorer.info();
        table.row([
            ready.id.to_string(),
            info.id.clone(),
            info.version.clone(),
            ready.policy.severity().as_str().to_owned(),
            said(ready.policy.threshold().map(report::score)),
            said(Some(ready.policy.weight()).filter(|it| *it != 1.0).map(|it| it.to_string())),
            said(Some(true).filter(|_| ready.policy.is_required()).map(yes_or_no)),
            report::reads(info),
        ]);
    }
    table.without_unsaid(&["weight", "required"]);
    table
}

impl Show {
    fn run(&self) -> Result<Exit, Failure> {
        let suite = setup::suite(&self.suite)?;
        let plan: Value = serde_json::from_str(&suite.to_json())
            .map_err(|error| Failure::new(format!("the plan is not JSON: {error}")))?;
        let plan = in_keys_of_rows(plan);
        output::stdout(|out| match self.format {
            Format::Table => write!(out, "{}", plan_table(&suite)),
            Format::Json => output::json(out, &plan),
            Format::Jsonl => output::json_line(out, &plan),
        })?;
        Ok(Exit::Done)
    }
}

/// The plan for printing. It is stored with the suite's own keys for a scorer's identity, and printed with the keys of
/// rows.
fn in_keys_of_rows(mut plan: Value) -> Value {
    let scorers = plan.get_mut("scorers").and_then(Value::as_array_mut);
    for scorer in scorers.into_iter().flatten().filter_map(Value::as_object_mut) {
        for (stored, printed) in [("id", "scorerId"), ("name", "scorerName")] {
            if let Some(value) = scorer.remove(stored) {
                scorer.insert(printed.to_owned(), value);
            }
        }
    }
    plan
}

/// The table of the scorers before they are loaded.
fn plan_table(suite: &Resolved) -> Table {
    let columns = [
        "scorer",
        "use",
        "config",
        "on",
        "severity",
        "threshold",
        "weight",
        "required",
        "sampling",
        "nodes",
        "when",
        "grants",
    ];
    let mut table = Table::new(&columns.map(|title| (title, Align::Left)));
    for scorer in &suite.scorers {
        let uses = match &scorer.uses {
            Reference::Name(name) => name.clone(),
            Reference::File(path) => shown(path),
            Reference::Published(_) => scorer.uses.to_string(),
        };
        let grants: Vec<&str> = scorer.grants.iter().map(|grant| grant.as_str()).collect();
        table.row([
            scorer.id.to_string(),
            uses,
            output::cell(scorer.config.as_str(), 60),
            said(scorer.output_from.as_ref().map(|pointer| output::cell(pointer.as_str(), 40))),
            said(scorer.policy.severity.map(|severity| severity.as_str().to_owned())),
            said(scorer.policy.threshold.map(report::score)),
            said(scorer.policy.weight.map(|weight| weight.to_string())),
            said(scorer.policy.required.map(yes_or_no)),
            said(scorer.selection.sampling_json()),
            said(scorer.selection.nodes.as_ref().map(|nodes| nodes.patterns().join(", "))),
            said(
                scorer.condition.as_ref().map(|condition| output::cell(&condition.expression, 40)),
            ),
            grants.join(", "),
        ]);
    }
    table.without_unsaid(&columns[3..]);
    table
}

fn yes_or_no(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

/// The suite's value for a cell, if it has one.
fn said(said: Option<String>) -> String {
    said.unwrap_or_else(|| "-".to_owned())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
