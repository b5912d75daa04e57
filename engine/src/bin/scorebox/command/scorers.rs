//! `scorebox scorers`: which scorers are built in; one of them in full.

use scorebox::{
    contract::{Fields, ScorerInfo},
    digest::Digest,
    registry::Registry,
    report::{self, Align, Table},
    sandbox::{Grants, Limits},
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::inspect::{pretty, reads};
use crate::{
    failure::{Exit, Failure},
    output::{self, Format, Out},
    setup::{self, Global},
};

/// List the built-in scorers, or show one with its configuration
#[derive(Debug, clap::Args)]
pub struct Scorers {
    /// The scorer to show
    name: Option<String>,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    name: String,
    title: String,
    version: String,
    description: String,
    reads: Fields,
    #[serde(skip)]
    reads_keys: String,
    digest: Digest,
    config_schema: Option<Box<RawValue>>,
}

impl Scorers {
    pub fn run(&self, global: &Global) -> Result<Exit, Failure> {
        let registry = Registry::with_builtins();
        let names: Vec<&str> = match &self.name {
            Some(name) => vec![registry.get(name).map(|_| name.as_str())?],
            None => registry.list().collect(),
        };
        let sandbox = global.sandbox(1)?;
        let runtime = setup::small_runtime()?;
        let entries = names
            .into_iter()
            .map(|name| {
                let source = registry.get(name)?;
                let info = runtime.block_on(sandbox.describe(
                    &source.bytes,
                    &Limits::default(),
                    Grants::NONE,
                ))?;
                Ok(Entry::new(name, Digest::of(&source.bytes), info))
            })
            .collect::<Result<Vec<_>, Failure>>()?;
        output::stdout(|out| match (self.format, &self.name, entries.as_slice()) {
            (Format::Table, Some(_), [entry]) => entry.write(out),
            (Format::Table, ..) => write!(out, "{}", table(&entries)),
            (Format::Json, Some(_), [entry]) => output::json(out, entry),
            (format, ..) => output::list(out, format == Format::Jsonl, &entries),
        })?;
        Ok(Exit::Done)
    }
}

impl Entry {
    fn new(name: &str, digest: Digest, info: ScorerInfo) -> Entry {
        Entry {
            name: name.to_owned(),
            reads_keys: reads(&info),
            title: info.name,
            version: info.version,
            description: info.description,
            reads: info.reads,
            digest,
            config_schema: info.config_schema.and_then(|schema| RawValue::from_string(schema).ok()),
        }
    }

    fn write(&self, out: &mut Out<'_>) -> std::io::Result<()> {
        writeln!(out, "{} ({}), version {}", self.name, self.title, self.version)?;
        writeln!(out, "\n{}\n", report::printable(&self.description))?;
        writeln!(out, "reads    {}", self.reads_keys)?;
        writeln!(out, "sha-256  {}", self.digest)?;
        if let Some(schema) = &self.config_schema {
            writeln!(
                out,
                "\nconfiguration (JSON Schema):\n{}",
                report::printable(&pretty(schema.get()))
            )?;
        }
        Ok(())
    }
}

fn table(entries: &[Entry]) -> Table {
    let mut table = Table::new(&[
        ("scorer", Align::Left),
        ("reads", Align::Left),
        ("what it scores", Align::Left),
    ]);
    for entry in entries {
        let first_line = entry.description.lines().next().unwrap_or_default();
        table.row([&entry.name, &entry.reads_keys, &report::one_line(first_line, 100)]);
    }
    table
}
