//! `scorebox scores`: pages through stored scores.

use std::collections::{BTreeSet, HashMap};

use scorebox::{
    aggregate::Decisive,
    row::{Answer, Row, Status},
    sandbox::ErrorKind,
    store::{RunRecord, ScoreFilter, ScoreRecord, ScorerRecord, Store},
    verdict::{Policy, Standing},
};
use serde::Serialize;

use crate::{
    arguments::{Database, completing, must_be_there, number},
    failure::{Exit, Failure, WriteError},
    output::{self, Format, Page},
    report::{self, Align, summaries},
    waiting::Waiting,
    words,
};

/// The rows that are read at once: each may have some MiB of meta.
const AT_ONCE: usize = 32;

/// Show the stored scores of a run
#[derive(Debug, clap::Args)]
pub(crate) struct Scores {
    /// The run [default: the newest]
    #[arg(add = completing::runs())]
    run: Option<String>,

    /// Only scores of this node (the task)
    #[arg(long, value_name = "NODE", help_heading = "Filters")]
    node: Option<String>,

    /// Only scores of this scorer
    #[arg(long, value_name = "NAME", help_heading = "Filters", add = completing::stored_scorers())]
    scorer: Option<String>,

    /// Only scores of the case with this id
    #[arg(long, value_name = "ID", add = completing::cases(), help_heading = "Filters")]
    case: Option<String>,

    /// Only errors and failing scores: those beyond their scorer's threshold, and those with an assertion that fails
    #[arg(long, help_heading = "Filters")]
    failed: bool,

    /// Only errors
    #[arg(long, help_heading = "Filters")]
    errors: bool,

    /// Only scores below this
    #[arg(long, value_name = "X", value_parser = number, help_heading = "Filters")]
    below: Option<f64>,

    /// Show at most N rows (0: all) [default: 50 for a table]
    #[arg(long, value_name = "N", help_heading = "Output")]
    limit: Option<u64>,

    /// Skip the first N rows
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Output")]
    skip: u64,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    database: Database,
}

impl Scores {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let store = self.database.read()?;
        let record = self.database.run(self.run.as_deref(), &store)?;
        let filter = self.filter(&record);
        let waiting = Waiting::counting("reading scores", store.rows_read());
        must_be_there(&store, &filter)?;
        drop(waiting);
        store.snapshot(|store| self.show(store, &filter))?;
        report::not_whole(&record).iter().for_each(|line| words::warn(line));
        Ok(Exit::Done)
    }

    fn filter(&self, run: &RunRecord) -> ScoreFilter {
        ScoreFilter::of_run(run.spec.id.as_str())
            .with_node(self.node.clone())
            .with_scorer(self.scorer.clone())
            .with_case(self.case.clone())
            .with_failed(self.failed)
            .with_errors(self.errors)
            .with_below(self.below)
    }

    fn show(&self, store: &Store, filter: &ScoreFilter) -> Result<(), Failure> {
        let waiting = Waiting::counting("reading scores", store.rows_read());
        let total = store.score_count(filter)?;
        drop(waiting);
        let shown = total.saturating_sub(self.skip).min(self.format.most(self.limit, 50));
        let standings = Standings::of(store, filter)?;
        let mut error_kinds = BTreeSet::new();
        let rows = Rows { store, filter, skip: self.skip, left: shown };
        Page::new(self.format, 0, shown, &standings.columns()).print(|page, out| {
            rows.for_each(|record| {
                let listed = Listed { record: &record, standing: standings.of_row(&record.row) };
                Ok(page.add(out, &listed, || {
                    error_kinds.extend(error_kind(&record.row));
                    standings.cells(&record.row)
                })?)
            })
        })?;
        if self.format == Format::Table {
            words::limit_hints(error_kinds);
            words::page_of(total, self.skip, shown, "scores");
        }
        self.say_errors_of_the_run(store, filter)
    }

    /// Prints the errors of scorers' summaries of the run, which no row shows.
    fn say_errors_of_the_run(&self, store: &Store, filter: &ScoreFilter) -> Result<(), Failure> {
        let Some(run) = filter.run.as_deref().filter(|_| self.errors) else { return Ok(()) };
        let record = store.run(run)?;
        let mut summaries = store.summaries(record.key)?;
        summaries.retain(|it| self.scorer.as_ref().is_none_or(|asked| *asked == it.scorer_id));
        summaries::said_errors(&summaries, record.state).for_each(|it| words::warn(&it));
        Ok(())
    }
}

/// A listed row: the stored data, and how it counts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    #[serde(flatten)]
    record: &'a ScoreRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<Standing>,
}

/// The requested rows, read a few at a time.
struct Rows<'a> {
    store: &'a Store,
    filter: &'a ScoreFilter,
    skip: u64,
    left: u64,
}

impl Rows<'_> {
    /// How many rows to read at once: no more than are needed.
    fn at_once(&self) -> usize {
        let wanted = self.skip.saturating_add(self.left);
        usize::try_from(wanted).map_or(AT_ONCE, |wanted| wanted.min(AT_ONCE))
    }

    fn for_each(
        mut self,
        mut take: impl FnMut(ScoreRecord) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let mut after = None;
        while self.left > 0 {
            let some =
                self.store.scores(self.filter, after, self.at_once()).map_err(Failure::from)?;
            let Some(last) = some.last() else { return Ok(()) };
            after = Some(last.cursor);
            for record in some {
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

/// The kind of the row's error.
fn error_kind(row: &Row) -> Option<ErrorKind> {
    ErrorKind::from_word(&row.answer.error.as_ref()?.kind)
}

/// How the rows of a run count in the verdicts of their cases.
struct Standings {
    policies: HashMap<String, Policy>,
    /// Whether any of them decides anything; otherwise the column is not shown.
    shown: bool,
}

impl Standings {
    fn of(store: &Store, filter: &ScoreFilter) -> Result<Standings, Failure> {
        let scorers = match &filter.run {
            Some(run) => store.scorers(store.run(run)?.key)?,
            None => Vec::new(),
        };
        let policy = |scorer: ScorerRecord| (scorer.spec.scorer_id.clone(), scorer.spec.policy());
        let policies: HashMap<String, Policy> = scorers.into_iter().map(policy).collect();
        let shown = policies.values().any(Policy::decides);
        Ok(Standings { policies, shown })
    }

    fn columns(&self) -> Vec<(&'static str, Align)> {
        let mut columns = vec![
            ("case", Align::Left),
            ("scorer", Align::Left),
            ("score", Align::Right),
            ("verdict", Align::Left),
            ("reason", Align::Left),
        ];
        columns.retain(|(title, _)| self.shown || *title != "verdict");
        columns
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let case = report::case_name(&row.case_id, row.iteration, row.attempt);
        let mut cells =
            vec![output::cell(&case, 48), output::cell(&row.scorer_id, 64), self.score(row)];
        cells.extend(self.shown.then(|| self.word(row).to_owned()));
        let said = [self.decisive(row), reason(&row.answer)];
        let said: Vec<String> = said.into_iter().filter(|text| !text.is_empty()).collect();
        cells.push(output::last_cell(&said.join("; ")));
        cells
    }

    /// The row's score, with enough digits to distinguish it from its scorer's threshold.
    fn score(&self, row: &Row) -> String {
        let threshold = self.policies.get(&row.scorer_id).and_then(Policy::threshold);
        match (row.answer.status, row.answer.score) {
            (_, Some(score)) => report::score_beside(score, threshold),
            (Status::NotApplicable, _) => "n/a".into(),
            (status, _) => status.as_str().into(),
        }
    }

    /// The assertions that count against the row's case.
    fn decisive(&self, row: &Row) -> String {
        let (Some(policy), Some(score)) = (self.policies.get(&row.scorer_id), row.answer.score)
        else {
            return String::new();
        };
        let assertions = row.answer.assertions().unwrap_or_default();
        let standing = policy.standing(score, &assertions);
        let decisive = Decisive::of(policy, standing, &assertions);
        decisive.iter().map(report::verdict::decisive).collect::<Vec<_>>().join("; ")
    }

    /// How the row counts in its case's verdict; `None` if it has nothing to check.
    fn of_row(&self, row: &Row) -> Option<Standing> {
        let policy = self.policies.get(&row.scorer_id)?;
        match (row.answer.status, row.answer.score) {
            (Status::Scored, Some(score)) => {
                Some(policy.standing(score, &row.answer.assertions().unwrap_or_default()))
            }
            (Status::Error, _) if policy.needs_a_score() => Some(Standing::Errored),
            _ => None,
        }
    }

    /// The row's effect on its case; `-` if its scorer decides nothing about it.
    fn word(&self, row: &Row) -> &'static str {
        let has_threshold = |policy: &Policy| policy.threshold().is_some();
        match self.of_row(row) {
            Some(Standing::Holds)
                if self.policies.get(&row.scorer_id).is_some_and(has_threshold) =>
            {
                "passed"
            }
            None | Some(Standing::Holds) => "-",
            Some(other) => other.as_str(),
        }
    }
}

fn reason(answer: &Answer) -> String {
    match &answer.error {
        Some(error) => format!("{}: {}", error.kind, error.message),
        None => answer.reason.clone().or_else(|| answer.label.clone()).unwrap_or_default(),
    }
}
