//! `scorebox scorers`: lists the built-in scorers, shows one of them in full, and scores its example.

mod page;

use scorebox::{
    advice::{Advice, Advised as _},
    case::Case,
    contract::{Example, Fields},
    digest::Digest,
    registry::{Registry, ScorerSource},
    sandbox::{Anatomy, Capabilities, Grants, Limits, Outcome, Sandbox, ScorerConfig},
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    advice,
    answered::Answered,
    arguments::completing,
    failure::{Exit, Failure},
    output::{self, Format, Out},
    report::{self, Align, ConfigKey, Table, config_keys, reads},
    setup::{self, SandboxArguments},
    waiting::{COMPILING, Waiting},
    words,
};

/// List the built-in scorers, or show one with its formula, configuration and an example
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("no_cache", |arg| arg.requires("name")),
    mut_arg("memory_budget", |arg| arg.requires("name")),
    mut_arg("compile_timeout", |arg| arg.requires("name")),
    mut_arg("compile_memory", |arg| arg.requires("name"))
)]
pub(crate) struct Scorers {
    /// The scorer to show
    #[arg(add = completing::built_in_scorers())]
    name: Option<String>,

    /// Only scorers that mention this text in their name, description or what they read
    #[arg(long, value_name = "TEXT", conflicts_with = "name", help_heading = "Filters")]
    search: Option<String>,

    /// Score the example that the scorer carries; exits with 1 if the result differs from the documented one
    #[arg(long, requires = "name", help_heading = "Output")]
    example: bool,

    /// How to print it [default: table; of an example json]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    format: Option<ScorersFormat>,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

/// How scorers are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ScorersFormat {
    /// A table for people.
    Table,
    /// One JSON document.
    Json,
    /// One JSON document on each line.
    Jsonl,
    /// A page with all of them in full, or the section of one.
    Markdown,
}

/// The listed data of a scorer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    scorer_id: String,
    scorer_name: String,
    version: String,
    description: String,
    reads: Fields,
    #[serde(skip)]
    reads_keys: String,
    scale: &'static str,
    direction: &'static str,
    #[serde(skip)]
    scale_words: String,
    severity: &'static str,
    threshold: Option<f64>,
    #[serde(skip)]
    severity_words: String,
    digest: Digest,
    config_schema: Option<Box<RawValue>>,
    example: Option<Example>,
}

impl Scorers {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let registry = setup::registry();
        let runtime = setup::small_runtime()?;
        let sandbox = || self.sandbox.open(1, Capabilities::none());
        if self.example {
            let name = self.name.as_deref().unwrap_or_default();
            let (format, sandbox) = (self.example_format()?, sandbox()?);
            return runtime.block_on(score_example(name, &registry.get(name)?, &sandbox, format));
        }
        let names: Vec<&str> = match &self.name {
            Some(name) => vec![registry.listing(name).map(|_| name.as_str())?],
            None => registry.list().collect(),
        };
        let waiting = Waiting::of("reading scorers", names.len() as u64);
        let read = names.into_iter().zip(1..).map(|(name, number)| {
            waiting.at(number);
            Entry::new(name, &registry)
        });
        let mut entries: Vec<Entry> = read.collect::<Result<_, _>>()?;
        drop(waiting);
        if let Some(text) = &self.search {
            entries.retain(|entry| entry.mentions(text));
            if entries.is_empty() {
                words::say(&format!("no built-in scorer mentions `{text}`"));
                let meant = registry.listing(text).err().and_then(|error| error.advice());
                let meant = meant.filter(|it| matches!(it, Advice::DidYouMean(_)));
                if let Some(hint) = meant.as_ref().and_then(advice::words) {
                    words::hint(&hint);
                }
            }
        }
        match (self.format.unwrap_or(ScorersFormat::Table), entries.as_slice()) {
            (ScorersFormat::Table, [entry]) if self.name.is_some() => {
                let (source, sandbox) = (registry.get(&entry.scorer_id)?, sandbox()?);
                let shown = runtime.block_on(example_of(entry, &source, &sandbox))?;
                output::stdout(|out| entry.write(out, shown.as_ref()))?;
            }
            (ScorersFormat::Table, _) => output::stdout(|out| output::table(out, table(&entries)))?,
            (ScorersFormat::Markdown, [entry]) if self.name.is_some() => {
                output::stdout(|out| page::section(out, entry))?;
            }
            (ScorersFormat::Markdown, _) => output::stdout(|out| page::write(out, &entries))?,
            (ScorersFormat::Json, [entry]) if self.name.is_some() => {
                output::stdout(|out| output::json(out, entry))?;
            }
            (format, _) => {
                let lines = format == ScorersFormat::Jsonl;
                output::stdout(|out| output::list(out, lines, &entries))?;
            }
        }
        Ok(Exit::Done)
    }

    /// How the score of an example is printed.
    fn example_format(&self) -> Result<Format, Failure> {
        match self.format {
            Some(ScorersFormat::Table) => Ok(Format::Table),
            Some(ScorersFormat::Json) | None => Ok(Format::Json),
            Some(ScorersFormat::Jsonl) => Ok(Format::Jsonl),
            Some(ScorersFormat::Markdown) => {
                Err(Failure::new("the score of an example is not printed in Markdown")
                    .hint("with --example, use --format json, jsonl or table; without it, the scorer's section has the example"))
            }
        }
    }
}

impl Entry {
    fn new(name: &str, registry: &Registry) -> Result<Entry, Failure> {
        let listing = registry
            .listing(name)?
            .ok_or_else(|| Failure::new(format!("`{name}` is not a built-in scorer")))?;
        let example = listing.example.as_ref().map(|example| Example::parse(example.get()));
        let info = listing.info;
        Ok(Entry {
            scorer_id: name.to_owned(),
            reads_keys: reads(&info),
            scale: info.scale.as_str(),
            direction: info.direction.as_str(),
            scale_words: report::scale(&info),
            severity: info.severity.as_str(),
            threshold: info.threshold,
            severity_words: report::severity(&info),
            scorer_name: info.name,
            version: info.version,
            description: info.description,
            reads: info.reads,
            digest: listing.digest,
            config_schema: info.config_schema.and_then(|schema| RawValue::from_string(schema).ok()),
            example: example.transpose().map_err(Failure::new)?,
        })
    }

    fn mentions(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        [&self.scorer_id, &self.scorer_name, &self.description, &self.reads_keys]
            .iter()
            .any(|of| of.to_lowercase().contains(&text))
    }

    fn config_keys(&self) -> Vec<ConfigKey> {
        self.config_schema.as_ref().map_or_else(Vec::new, |schema| config_keys(schema.get()))
    }

    /// The first paragraph of the description.
    fn gist(&self) -> &str {
        self.description.split("\n\n").next().unwrap_or_default()
    }

    fn write(&self, out: &mut Out<'_>, shown: Option<&ShownExample>) -> std::io::Result<()> {
        writeln!(out, "{} ({}), version {}", self.scorer_id, self.scorer_name, self.version)?;
        writeln!(out, "\n{}\n", report::printable(&self.description))?;
        writeln!(out, "scale     {}", self.scale_words)?;
        writeln!(out, "severity  {}", self.severity_words)?;
        writeln!(out, "reads     {}", self.reads_keys)?;
        writeln!(out, "sha-256   {}", self.digest)?;
        let keys = self.config_keys();
        if !keys.is_empty() {
            let mut table = Table::new(&[
                ("configuration", Align::Left),
                ("value", Align::Left),
                ("default", Align::Left),
                ("meaning", Align::Left),
            ]);
            for key in keys {
                table.row([
                    output::cell(&key.name, 40),
                    output::cell(&key.kind, 60),
                    output::cell(&key.default, 30),
                    output::cell(&key.description, 320),
                ]);
                for choice in &key.choices {
                    let value = format!("  {}", output::cell(&choice.value, 60));
                    let meaning = output::cell(&choice.meaning, 320);
                    table.row([String::new(), value, String::new(), meaning]);
                }
            }
            write!(out, "\n{table}")?;
        }
        if let (Some(example), Some(shown)) = (&self.example, shown) {
            let config = serde_json::to_string(&example.config)?;
            writeln!(out, "\nexample")?;
            writeln!(out, "  case    {}", report::printable(example.case.get()))?;
            writeln!(out, "  config  {}", report::printable(&config))?;
            writeln!(out, "  score   {}", report::printable(&shown.0))?;
        }
        Ok(())
    }
}

/// The result of an example, as text.
struct ShownExample(String);

async fn example_of(
    entry: &Entry,
    source: &ScorerSource,
    sandbox: &Sandbox,
) -> Result<Option<ShownExample>, Failure> {
    let Some(example) = &entry.example else { return Ok(None) };
    let outcome = outcome_of(example, source, sandbox).await?;
    Ok(Some(ShownExample(match outcome.result {
        Err(error) => format!("error: {error}"),
        Ok(result) => {
            let score = result.score.map_or_else(|| "not applicable".into(), report::score);
            result.reason.map_or_else(|| score.clone(), |reason| format!("{score}: {reason}"))
        }
    })))
}

async fn outcome_of(
    example: &Example,
    source: &ScorerSource,
    sandbox: &Sandbox,
) -> Result<Outcome, Failure> {
    let case = Case::from_json(example.case.get())?;
    let config = ScorerConfig::new(&example.config);
    let waiting = Waiting::on(COMPILING);
    let scorer = sandbox.load(&source.component, &config, &Limits::default(), Grants::NONE).await?;
    drop(waiting);
    Ok(scorer.score(case.scorer_input(scorer.info().reads)).await)
}

async fn score_example(
    name: &str,
    source: &ScorerSource,
    sandbox: &Sandbox,
    format: Format,
) -> Result<Exit, Failure> {
    let anatomy = Anatomy::read(source.component.bytes()?)?;
    let text = anatomy.example.ok_or_else(|| {
        let failure = Failure::new(format!("the scorer `{name}` carries no example"));
        failure.hint(match anatomy.imports.iter().any(|import| asks(import)) {
            true => "it asks a judge, whose answers no example can promise",
            false => "`scorebox build` takes it from the crate's example.json",
        })
    })?;
    let example = Example::parse(&text).map_err(Failure::new)?;
    let outcome = outcome_of(&example, source, sandbox).await?;
    let answered = Answered::new(outcome);
    answered.write(name, format)?;
    if let Some(exit) = answered.say_error() {
        return Ok(exit);
    }
    if example.promises(answered.answer.score) {
        return Ok(Exit::Done);
    }
    let promised = example.score.map_or_else(|| "not applicable".into(), report::score);
    words::error(&format!("the documented result is {promised}"), None);
    Ok(Exit::SomeErrors)
}

/// Whether the import belongs to a scorer that asks a judge.
fn asks(import: &str) -> bool {
    ["scorebox:scorer/judge@", "scorebox:scorer/embedder@"].iter().any(|it| import.starts_with(it))
}

fn table(entries: &[Entry]) -> Table {
    let mut table = Table::new(&[
        ("scorer", Align::Left),
        ("reads", Align::Left),
        ("what it scores", Align::Left),
    ]);
    for entry in entries {
        table.row([
            entry.scorer_id.clone(),
            report::reads_briefly(entry.reads, &entry.reads_keys),
            output::last_cell(entry.gist()),
        ]);
    }
    table
}
