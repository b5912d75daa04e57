//! `scorebox report`: writes reports of stored runs, for people, build servers, pull requests and spreadsheets.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

use scorebox::{aggregate::AgreementOptions, store::Store};

use crate::{
    arguments::{
        Database, PositiveArguments, ReportFormat, ReportTarget, Reported, completing, labels_at,
        open_reports,
    },
    failure::{Exit, Failure},
    report::{not_whole, one_line},
    waiting::Waiting,
    words,
};

/// Write reports of stored runs
///
/// `html` is a page in one file that loads nothing else: how the run went, its scorers with their distributions, the
/// cases that did not pass in full, and what exactly ran; of two runs, whether the second is better. `markdown` (or
/// `md`) is a summary for a pull request, `junit` is JUnit XML with a test case for each case, `jsonl` a JSON object
/// for each case, and `csv` a line for each score.
#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// The runs of the report [default: the newest], or further reports: a format, and the file that is written (`-`:
    /// standard output)
    #[arg(value_name = "RUN|FORMAT=FILE", add = completing::runs_and_report_targets())]
    named: Vec<Named>,

    /// The file that is written (`-`: standard output); its extension selects the format: .html, .md, .xml, .jsonl,
    /// .csv
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// What the file is written as: `html`, `markdown` (`md`), `junit`, `jsonl` or `csv`; without a file, to standard
    /// output
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    format: Option<ReportFormat>,

    /// Replace the file if it exists
    #[arg(long, requires = "output", help_heading = "Output")]
    force: bool,

    /// The run [default: the newest]
    #[arg(long, value_name = "RUN", add = completing::runs(), help_heading = "Filters")]
    run: Option<String>,

    /// Treat soft scorers with a threshold as gates: regressions fail cases, and errors count
    #[arg(long, help_heading = "Filters")]
    strict: bool,

    /// Show in `markdown` the interval that each mean is in 95 times of 100; `html` shows it always
    #[arg(long, help_heading = "Output")]
    ci: bool,

    /// Show in `html` how well the scorers agree with labels: a JSON Pointer to the label of each case, or the name of
    /// a scorer, as in `agree`
    #[arg(long, value_name = "POINTER|SCORER", add = completing::stored_scorers(), help_heading = "Labels")]
    with: Option<String>,

    #[command(flatten)]
    positive: PositiveArguments,

    #[command(flatten)]
    database: Database,
}

/// The failure that a report cannot have this many runs.
fn too_many(target: &ReportTarget, runs: usize) -> Failure {
    let format = target.format();
    match target.most_runs() {
        1 => Failure::new(format!("a report in {format} is of one run"))
            .hint("write one for each run; html and markdown take several runs"),
        most => Failure::new(format!(
            "a report in {format} shows at most {most} runs, and {runs} are named"
        ))
        .hint("name fewer runs, or write markdown, which takes any number"),
    }
}

/// A positional argument.
#[derive(Clone, Debug)]
enum Named {
    Run(String),
    Report(ReportTarget),
}

impl FromStr for Named {
    type Err = String;

    /// No run's id has a `=`.
    fn from_str(written: &str) -> Result<Named, String> {
        match written.contains('=') {
            true => written.parse().map(Named::Report),
            false => Ok(Named::Run(written.to_owned())),
        }
    }
}

impl Report {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let targets = self.targets()?;
        let store = self.database.read()?;
        let runs = self.runs(&store)?;
        if let Some(target) = targets.iter().find(|target| runs.len() > target.most_runs()) {
            return Err(too_many(target, runs.len()));
        }
        if self.with.is_some()
            && let Some(target) = targets.iter().find(|target| !target.takes_labels())
        {
            let format = target.format();
            return Err(Failure::new(format!(
                "a report in {format} shows no agreement with labels"
            ))
            .hint("leave out --with, or write html; `scorebox agree` prints it"));
        }
        let reports = open_reports(&targets, &[self.database.path.as_path()])?;
        let name = if self.strict { "report --strict" } else { "report" };
        let again = self.database.command(name, &runs.join(" "));
        let waiting = Waiting::counting("reading scores", store.rows_read());
        let labels = self.with.as_deref().map(|with| {
            AgreementOptions::new(labels_at(with)).with_positive(self.positive.positive())
        });
        let reported = Reported { labels, intervals: self.ci, ..Reported::new(&runs, self.strict) };
        reports.write(&store, reported, &again)?;
        let changed: Vec<&String> = changed_since_they_ended(&store, &runs)?;
        drop(waiting);
        for run in changed {
            let verify = self.database.command("verify", run);
            words::warn(&format!(
                "run `{}` was changed since it ended: the root in the report is not that of its rows; `{verify}` says what is different",
                one_line(run, 64)
            ));
        }
        for run in &runs {
            not_whole(&store.run(run)?).iter().for_each(|line| words::warn(line));
        }
        Ok(Exit::Done)
    }

    /// The requested reports, from all options.
    fn targets(&self) -> Result<Vec<ReportTarget>, Failure> {
        let named = self.named.iter().filter_map(|named| match named {
            Named::Report(target) => Some(target.clone()),
            Named::Run(_) => None,
        });
        let mut targets: Vec<ReportTarget> = named.collect();
        let output = self.output.as_ref().map(|path| self.output(path)).transpose()?;
        targets.extend(output);
        if let (None, Some(format)) = (&self.output, self.format) {
            targets.push(ReportTarget::new(format, "-".into()));
        }
        match targets.is_empty() {
            true => Err(Failure::new("nothing says which report is written").hint(
                "`-o report.html` writes a page, `--format md` a summary to standard output",
            )),
            false => Ok(targets),
        }
    }

    /// The report for a file that is named without a format.
    fn output(&self, path: &Path) -> Result<ReportTarget, Failure> {
        let format = self.format.or_else(|| ReportFormat::of_file(path)).ok_or_else(|| {
            let message =
                format!("the name `{}` does not say the format of the report", path.display());
            Failure::new(message).hint(
                "name it with --format, or end the name with .html, .md, .xml, .jsonl or .csv",
            )
        })?;
        // A device or a pipe has no data to lose.
        if !self.force && path.is_file() {
            return Err(Failure::new(format!("`{}` exists", path.display()))
                .hint("name another file, or replace it with --force"));
        }
        Ok(ReportTarget::new(format, path.to_owned()))
    }

    /// The named runs, each once, or the newest.
    fn runs(&self, store: &Store) -> Result<Vec<String>, Failure> {
        let mut named: Vec<&str> = Vec::new();
        let positional = self.named.iter().filter_map(|named| match named {
            Named::Run(run) => Some(run.as_str()),
            Named::Report(_) => None,
        });
        for run in positional.chain(self.run.as_deref()) {
            if !named.contains(&run) {
                named.push(run);
            }
        }
        if named.is_empty() {
            return Ok(vec![self.database.run(None, store)?.spec.id.to_string()]);
        }
        named.into_iter().map(|run| Ok(store.run(run)?.spec.id.to_string())).collect()
    }
}

/// The runs whose rows do not match the stored root.
fn changed_since_they_ended<'r>(
    store: &Store,
    runs: &'r [String],
) -> Result<Vec<&'r String>, Failure> {
    let mut changed = Vec::new();
    for run in runs {
        let record = store.run(run)?;
        if let Some(root) = record.root
            && store.root_as_stored(record.key)? != root
        {
            changed.push(run);
        }
    }
    Ok(changed)
}
