//! `scorebox scores`: pages through stored scores.

use std::path::{Path, PathBuf};

use scorebox::{
    report::{self, Align, Table},
    store::{ScoreFilter, ScoreRecord, Status, Store},
};

use crate::{
    failure::{Exit, Failure},
    output::{self, Format, Out},
    words,
};

/// The database of the current folder.
pub const DEFAULT_DATABASE: &str = "scorebox.db";

/// Rows that are read at once.
const PAGE: usize = 1000;

/// Show the stored scores of a run
#[derive(Debug, clap::Args)]
pub struct Scores {
    /// The run [default: the newest]
    run: Option<String>,

    /// Only scores of this node (the task)
    #[arg(long, value_name = "NODE")]
    node: Option<String>,

    /// Only scores of this scorer
    #[arg(long, value_name = "NAME")]
    scorer: Option<String>,

    /// Only scores of the case with this id
    #[arg(long, value_name = "ID")]
    case: Option<String>,

    /// Only errors, and scores on the wrong side of their scorer's threshold (without one: below 1)
    #[arg(long)]
    failed: bool,

    /// Only errors
    #[arg(long)]
    errors: bool,

    /// Only scores below this
    #[arg(long, value_name = "X")]
    below: Option<f64>,

    /// How many to show; 0: all
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// How many to leave out before
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,

    /// The database
    #[arg(long, value_name = "FILE", env = "SCOREBOX_DB", hide_env = true, default_value = DEFAULT_DATABASE)]
    db: PathBuf,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

impl Scores {
    pub fn run(&self) -> Result<Exit, Failure> {
        let store = Store::open_read_only(&self.db)?;
        let filter = self.filter(&store)?;
        store.snapshot(|store| self.show(store, &filter))?;
        Ok(Exit::Done)
    }

    fn filter(&self, store: &Store) -> Result<ScoreFilter, Failure> {
        let run = run_or_newest(self.run.as_deref(), store, &self.db)?;
        Ok(ScoreFilter {
            run: Some(run),
            node: self.node.clone(),
            scorer: self.scorer.clone(),
            case: self.case.clone(),
            failed: self.failed,
            errors: self.errors,
            below: self.below,
        })
    }

    fn show(&self, store: &Store, filter: &ScoreFilter) -> Result<(), Failure> {
        let total = store.score_count(filter)?;
        let shown = total.saturating_sub(self.skip).min(match self.limit {
            0 => u64::MAX,
            limit => limit as u64,
        });
        let mut trouble = None;
        output::stdout(|out| {
            let rows = Rows { store, filter, skip: self.skip, left: shown };
            let written = match self.format {
                Format::Table => write_table(out, rows),
                Format::Json => write_array(out, rows),
                Format::Jsonl => write_lines(out, rows),
            };
            // The two kinds of trouble: reading, which is told, and writing, which is handled here.
            written.or_else(|error| match error {
                Trouble::Reading(failure) => {
                    trouble = Some(failure);
                    Ok(())
                }
                Trouble::Writing(error) => Err(error),
            })
        })?;
        match trouble {
            Some(failure) => Err(failure),
            None => {
                if self.format == Format::Table {
                    self.say_what_is_left(total, shown);
                }
                Ok(())
            }
        }
    }

    fn say_what_is_left(&self, total: u64, shown: u64) {
        let seen = self.skip.min(total) + shown;
        if total == 0 {
            words::say("no scores");
        } else if seen < total {
            words::say(&format!(
                "{} of {} scores; go on with --skip {seen}, or see all with --limit 0",
                report::count(shown),
                report::count(total)
            ));
        }
    }
}

/// The run that is named, or the newest.
pub fn run_or_newest(
    named: Option<&str>,
    store: &Store,
    database: &Path,
) -> Result<String, Failure> {
    if let Some(run) = named {
        return Ok(run.to_owned());
    }
    match store.latest_run()? {
        Some(run) => Ok(run.spec.id.to_string()),
        None => Err(Failure::new(format!("there is no run in `{}`", database.display()))
            .hint("`scorebox run` makes one")),
    }
}

enum Trouble {
    Reading(Failure),
    Writing(std::io::Error),
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Trouble {
        Trouble::Writing(error)
    }
}

/// The rows that are asked for, page by page.
struct Rows<'a> {
    store: &'a Store,
    filter: &'a ScoreFilter,
    skip: u64,
    left: u64,
}

impl Rows<'_> {
    fn for_each(
        mut self,
        mut take: impl FnMut(ScoreRecord) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let mut after = None;
        while self.left > 0 {
            let page = self
                .store
                .scores(self.filter, after, PAGE)
                .map_err(|error| Trouble::Reading(error.into()))?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.cursor);
            for record in page {
                if self.skip > 0 {
                    self.skip -= 1;
                } else if self.left > 0 {
                    self.left -= 1;
                    take(record)?;
                }
            }
        }
        Ok(())
    }
}

fn write_lines(out: &mut Out<'_>, rows: Rows<'_>) -> Result<(), Trouble> {
    rows.for_each(|record| Ok(output::json_line(out, &record)?))
}

fn write_array(out: &mut Out<'_>, rows: Rows<'_>) -> Result<(), Trouble> {
    let mut first = true;
    out.write_all(b"[")?;
    rows.for_each(|record| {
        out.write_all(if first { b"\n" } else { b",\n" })?;
        first = false;
        let json = serde_json::to_string(&record).map_err(std::io::Error::from)?;
        Ok(out.write_all(report::printable_json(&json).as_bytes())?)
    })?;
    Ok(out.write_all(if first { b"]\n" } else { b"\n]\n" })?)
}

fn write_table(out: &mut Out<'_>, rows: Rows<'_>) -> Result<(), Trouble> {
    let mut page: Vec<ScoreRecord> = Vec::new();
    rows.for_each(|record| {
        page.push(record);
        if page.len() == PAGE {
            write!(out, "{}", table(&page))?;
            page.clear();
        }
        Ok(())
    })?;
    if !page.is_empty() {
        write!(out, "{}", table(&page))?;
    }
    Ok(())
}

fn table(records: &[ScoreRecord]) -> Table {
    let mut table = Table::new(&[
        ("case", Align::Left),
        ("scorer", Align::Left),
        ("score", Align::Right),
        ("reason", Align::Left),
    ]);
    for record in records {
        table.row([
            report::one_line(&case_name(record), 48),
            record.scorer_id.clone(),
            score(record),
            report::one_line(&reason(record), 100),
        ]);
    }
    table
}

/// The case's id, with iteration and attempt where they are not the first.
fn case_name(record: &ScoreRecord) -> String {
    match (record.iteration, record.attempt) {
        (0, 0) => record.case_id.clone(),
        (iteration, attempt) => {
            format!("{} (iteration {iteration}, attempt {attempt})", record.case_id)
        }
    }
}

fn score(record: &ScoreRecord) -> String {
    match (record.status, record.score) {
        (_, Some(score)) => report::score(score),
        (Status::NotApplicable, _) => "n/a".into(),
        (status, _) => status.as_str().into(),
    }
}

fn reason(record: &ScoreRecord) -> String {
    match (&record.error_kind, &record.error_message) {
        (Some(kind), Some(message)) => format!("{kind}: {message}"),
        _ => record.reason.clone().or_else(|| record.label.clone()).unwrap_or_default(),
    }
}
