//! `scorebox cases`: lists the cases of a run with their verdicts, and the scorers and assertions that decided against
//! them.

use scorebox::{
    aggregate::{Against, DecidedCase, VerdictOptions, decides, verdicts},
    store::{ScoreFilter, Store},
    verdict::{Standing, Verdict},
};

use crate::{
    arguments::{Database, completing, must_be_there},
    failure::{Exit, Failure, WriteError},
    output::{self, Format, Out, Page},
    report::{self, Align, verdict},
    words,
};

/// The columns of the table.
const COLUMNS: [(&str, Align); 4] = [
    ("case", Align::Left),
    ("verdict", Align::Left),
    ("score", Align::Right),
    ("decided by", Align::Left),
];

/// List the cases of a run with their verdicts
///
/// A case is errored if a gate or a required scorer has no score because of an error, failed if a gate does not hold,
/// skipped if the case says so or none of its deciding scorers ran on it, undecided if a row is still missing, and else
/// passed.
#[derive(Debug, clap::Args)]
pub(crate) struct Cases {
    /// The run [default: the newest]
    #[arg(add = completing::runs())]
    run: Option<String>,

    /// Only cases that failed or are errored
    #[arg(long, help_heading = "Filters")]
    failed: bool,

    /// Only cases that this scorer decided against
    #[arg(long, value_name = "NAME", help_heading = "Filters", add = completing::stored_scorers())]
    scorer: Option<String>,

    /// Only cases of this node (the task)
    #[arg(long, value_name = "NODE", help_heading = "Filters")]
    node: Option<String>,

    /// Treat soft scorers with a threshold as gates: regressions fail cases, and errors count
    #[arg(long, help_heading = "Filters")]
    strict: bool,

    /// Show at most N cases (0: all) [default: 50 for a table]
    #[arg(long, value_name = "N", help_heading = "Output")]
    limit: Option<u64>,

    /// Skip the first N cases
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Output")]
    skip: u64,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    database: Database,
}

impl Cases {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let store = self.database.read()?;
        let record = self.database.run(self.run.as_deref(), &store)?;
        let run = record.spec.id.to_string();
        let filter =
            ScoreFilter::of_run(&run).with_node(self.node.clone()).with_scorer(self.scorer.clone());
        must_be_there(&store, &filter)?;
        let most = self.format.most(self.limit, 50);
        let mut page = Page::new(self.format, self.skip, most, &COLUMNS);
        page.print(|page, out| self.list(&store, &run, page, out))?;
        report::not_whole(&record).iter().for_each(|line| words::warn(line));
        if self.format == Format::Table {
            self.say_what_is_left(&page);
        }
        Ok(Exit::Done)
    }

    /// Writes each case as soon as it has a verdict.
    fn list(
        &self,
        store: &Store,
        run: &str,
        page: &mut Page,
        out: &mut Out<'_>,
    ) -> Result<(), WriteError> {
        let options =
            VerdictOptions::default().with_node(self.node.as_deref()).with_strict(self.strict);
        let decides = decides(store, run, options).map_err(Failure::from)?;
        let mut written = Ok(());
        verdicts(store, run, options, |case| {
            if !self.is_asked_for(&case) {
                return true;
            }
            written = page.add(out, &case.shown(decides), || cells(&case, decides, self.strict));
            written.is_ok()
        })
        .map_err(Failure::from)?;
        Ok(written?)
    }

    fn is_asked_for(&self, case: &DecidedCase<'_>) -> bool {
        let is_bad = matches!(case.verdict.verdict, Verdict::Failed | Verdict::Errored);
        let is_against = |id: &String| case.against.iter().any(|it| it.scorer_id == id);
        (is_bad || !self.failed) && self.scorer.as_ref().is_none_or(is_against)
    }

    fn say_what_is_left(&self, page: &Page) {
        match (&self.scorer, self.failed) {
            (Some(scorer), _) if page.found() == 0 => words::say(&format!(
                "no case failed or is errored because of `{}`",
                report::printable(scorer)
            )),
            (None, true) if page.found() == 0 => words::say("no case failed"),
            _ => words::page_of(page.found(), self.skip, page.shown(), "cases"),
        }
    }
}

/// The row of a case. Unless a scorer `decides` whether cases pass, `passed` would mean nothing.
fn cells(decided: &DecidedCase<'_>, decides: bool, strict: bool) -> Vec<String> {
    vec![
        output::cell(&name(decided), 48),
        verdict::verdict_where(decides, &decided.verdict),
        decided.verdict.score.map_or_else(|| "-".to_owned(), report::score),
        output::last_cell(&deciders(decided, strict)),
    ]
}

/// The case's id, with iteration and attempt if they are not the first.
fn name(decided: &DecidedCase<'_>) -> String {
    let case = decided.case;
    report::case_name(&case.case_id, case.iteration, case.attempt)
}

/// The scorers and assertions that decided against the case, and why it was skipped or why its task failed. If
/// something failed it, regressions are left out, unless `strict`.
fn deciders(decided: &DecidedCase<'_>, strict: bool) -> String {
    let is_bad = matches!(decided.verdict.verdict, Verdict::Failed | Verdict::Errored);
    let decides = |it: &&Against<'_>| strict || !is_bad || it.standing != Standing::Regressed;
    let each = decided.against.iter().filter(decides).map(|against| {
        let assertions: Vec<String> = against.assertions.iter().map(verdict::decisive).collect();
        let assertions = match assertions.is_empty() {
            true => String::new(),
            false => format!(" ({})", assertions.join("; ")),
        };
        match against.score {
            Some(score) => {
                let score = report::score_beside(score, against.threshold);
                format!("{} {score}{assertions}", against.scorer_id)
            }
            None => format!("{} {}", against.scorer_id, against.standing.as_str()),
        }
    });
    let mut all: Vec<String> = each.collect();
    match (&decided.case.skip, &decided.case.error) {
        (Some(why), _) if !why.is_empty() => all.push(why.clone()),
        (None, Some(why)) => all.push(format!("the task failed: {why}")),
        _ => {}
    }
    all.join(", ")
}
