//! `scorebox report`: reports of a stored run, for build servers, pull requests and spreadsheets.

use scorebox::reports::ReportOptions;

use crate::{
    arguments::{Database, ReportTarget, completing, open_reports, reports_again},
    failure::{Exit, Failure},
};

/// Write reports of a stored run
///
/// `junit` is JUnit XML with a test case for each case, `markdown` a summary with the cases that did not pass, `jsonl` a
/// JSON object for each case, and `csv` a line for each score.
#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// `junit`, `markdown`, `jsonl` or `csv`, and the file that is written (`-`: standard output)
    #[arg(required = true, value_name = "FORMAT=FILE")]
    reports: Vec<ReportTarget>,

    /// The run [default: the newest]
    #[arg(long, value_name = "RUN", add = completing::runs(), help_heading = "Filters")]
    run: Option<String>,

    /// Count a case with a soft score beyond its threshold as failed
    #[arg(long, help_heading = "Filters")]
    strict: bool,

    #[command(flatten)]
    database: Database,
}

impl Report {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let store = self.database.read()?;
        let run = self.database.run(self.run.as_deref(), &store)?.spec.id.to_string();
        let reports = open_reports(&self.reports, &[self.database.path.as_path()])?;
        let options = ReportOptions::new(&run).with_strict(self.strict);
        reports.write(&store, options, &reports_again(&run, self.strict, &self.database))?;
        Ok(Exit::Done)
    }
}
