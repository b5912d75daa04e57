//! `scorebox runs`: lists the runs of a database, newest first. It reads no scores: a run's size is stored when the run
//! ends.

use std::time::Duration;

use scorebox::store::{RunState, Store};
use serde::Serialize;

use crate::{
    arguments::Database,
    failure::{Exit, Failure},
    output::{self, Format},
    report::{self, Align, Table},
    waiting::Waiting,
    words,
};

/// List the runs in the database, newest first
#[derive(Debug, clap::Args)]
pub(crate) struct Runs {
    /// Show at most N runs (0: all) [default: 20 for a table]
    #[arg(long, value_name = "N", help_heading = "Output")]
    limit: Option<u64>,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    database: Database,
}

/// A listed run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    run_id: String,
    state: RunState,
    state_reason: Option<String>,
    suite: Option<String>,
    scorer_ids: Vec<String>,
    cases: u64,
    rows: u64,
    cases_bad: u64,
    size_bytes: Option<u64>,
    created_at_ms: i64,
    finished_at_ms: Option<i64>,
    root: Option<scorebox::digest::Digest>,
}

impl Runs {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let store = self.database.read()?;
        let most = usize::try_from(self.format.most(self.limit, 20)).unwrap_or(usize::MAX);
        let waiting = Waiting::on("counting cases and scores");
        let mut listed = store.snapshot(|store| listed(store, most.saturating_add(1)))?;
        drop(waiting);
        let more = listed.len() > most;
        listed.truncate(most);
        output::stdout(|out| match self.format {
            Format::Table if listed.is_empty() => Ok(()),
            Format::Table => write!(out, "{}", table(&listed)),
            format => output::list(out, format == Format::Jsonl, &listed),
        })?;
        if self.format == Format::Table {
            if listed.is_empty() {
                words::say("no runs; `scorebox run` stores one");
                return Ok(Exit::Done);
            }
            if more {
                words::say(&format!("the newest {most} runs; all: --limit 0"));
            }
            say_size(&store)?;
        }
        Ok(Exit::Done)
    }
}

/// Prints the size of the file, which includes data that does not belong to a single run: components, indexes, unused
/// pages.
fn say_size(store: &Store) -> Result<(), Failure> {
    let size = store.size()?;
    let free = match size.free_bytes {
        0 => String::new(),
        free => format!(", {} of it unused", report::bytes(free)),
    };
    let (path, all) = (store.path().display(), report::bytes(size.bytes));
    words::say(&format!("{path}: {all}{free}; `scorebox rm RUN` removes a run"));
    Ok(())
}

fn listed(store: &Store, most: usize) -> Result<Vec<Listed>, Failure> {
    let listed = store.runs(most)?.into_iter().map(|run| {
        Ok(Listed {
            scorer_ids: store.scorer_ids(Some(run.spec.id.as_str()))?,
            cases: store.case_count(run.key)?,
            rows: store.row_count(run.key)?,
            cases_bad: run.cases_bad,
            size_bytes: run.size_bytes,
            run_id: run.spec.id.to_string(),
            state: run.state,
            state_reason: run.state_reason,
            suite: run.spec.suite_name,
            created_at_ms: run.spec.created_at_ms,
            finished_at_ms: run.finished_at_ms,
            root: run.root,
        })
    });
    listed.collect()
}

fn table(listed: &[Listed]) -> Table {
    let mut table = Table::new(&[
        ("run", Align::Left),
        ("state", Align::Left),
        ("suite", Align::Left),
        ("scorers", Align::Right),
        ("cases", Align::Right),
        ("rows", Align::Right),
        ("size", Align::Right),
        ("started (UTC)", Align::Left),
        ("took", Align::Right),
    ]);
    for run in listed {
        table.row([
            run.run_id.clone(),
            run.state.as_str().to_owned(),
            output::cell(run.suite.as_deref().unwrap_or_default(), 40),
            report::count(run.scorer_ids.len() as u64),
            report::count(run.cases),
            report::count(run.rows),
            run.size_bytes.map_or_else(|| "-".to_owned(), report::bytes),
            report::started(run.created_at_ms),
            run.finished_at_ms.map_or_else(|| "-".into(), |end| took(run.created_at_ms, end)),
        ]);
    }
    table
}

fn took(start_ms: i64, end_ms: i64) -> String {
    match end_ms.checked_sub(start_ms).and_then(|ms| u64::try_from(ms).ok()) {
        Some(ms) => report::duration(Duration::from_millis(ms)),
        None => "-".to_owned(),
    }
}
