//! `scorebox export`: writes the scores of a run with their cases as one table, for spreadsheets, data engines and data
//! frames.

use std::io::{self, IsTerminal as _};

use scorebox::reports::{ReportError, ReportOptions};
use scorebox_exports::{ExportFormat, export};

use crate::{
    arguments::{Database, completing},
    failure::{Exit, Failure, WriteError},
    new_file::NewFileArguments,
    report::{counted, halves_replaced, not_whole, printable},
    waiting::Waiting,
    words,
};

/// Write the scores of a run with their cases as one table
///
/// There is a row for each score, in the order of the cases. In CSV, a text that a spreadsheet would take for a formula
/// begins with an apostrophe.
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// The run [default: the newest]
    #[arg(add = completing::runs())]
    run: Option<String>,

    /// What to write: `csv`, `jsonl` (a JSON object for each score) or `parquet` [default: the file's extension]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    format: Option<ExportFormat>,

    /// Treat soft scorers with a threshold as gates: regressions fail cases, and errors count
    #[arg(long, help_heading = "Filters")]
    strict: bool,

    #[command(flatten)]
    output: NewFileArguments,

    #[command(flatten)]
    database: Database,
}

impl Export {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let format = self.format()?;
        self.output.must_be_apart([self.database.path.as_path()])?;
        if format == ExportFormat::Parquet
            && self.output.path().is_none()
            && io::stdout().is_terminal()
        {
            return Err(Failure::new("Parquet is binary, and is not written to a terminal")
                .hint("name the file to write: -o scores.parquet"));
        }
        let store = self.database.read()?;
        let record = self.database.run(self.run.as_deref(), &store)?;
        let run = record.spec.id.to_string();
        let options = ReportOptions::new(&run).with_strict(self.strict);
        let waiting = Waiting::counting("writing scores", std::sync::Arc::default());
        let written = self.output.write(|out| {
            let exported = export(&store, options, format, out, |count| waiting.at(count));
            exported.map_err(|error| match error {
                ReportError::Write(error) => WriteError::Io(error),
                ReportError::Store(error) => Failure::from(error).into(),
                error => Failure::new(error.to_string()).into(),
            })
        });
        drop(waiting);
        let Some(exported) = written? else { return Ok(Exit::Done) };
        if let Some(path) = self.output.path() {
            words::say(&format!(
                "{}: {} of run {run}",
                printable(&path.display().to_string()),
                counted(exported.rows, "score", "scores")
            ));
        }
        if exported.halves > 0 {
            words::warn(&halves_replaced(exported.halves));
        }
        not_whole(&record).iter().for_each(|line| words::warn(line));
        Ok(Exit::Done)
    }

    fn format(&self) -> Result<ExportFormat, Failure> {
        let ending =
            || self.output.path()?.extension()?.to_str()?.to_ascii_lowercase().parse().ok();
        self.format.or_else(ending).ok_or_else(|| {
            Failure::new("nothing says the format of the table").hint(
                "`-o scores.csv` (or .jsonl, .parquet) writes a file, `--format csv` to standard output",
            )
        })
    }
}
