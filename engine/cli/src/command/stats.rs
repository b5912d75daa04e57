//! `scorebox stats`: count, mean, min, max, p50 and standard deviation by scorer.

use scorebox::{
    aggregate::{
        Aggregate, DecidedRun, Repeats, ScorerChange, VerdictOptions, add_intervals, aggregate,
        repeated_verdicts, verdicts,
    },
    row::AnswerError,
    store::{RunRecord, RunState, ScoreFilter, Store, SummaryRecord},
    verdict::mean_beside,
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    arguments::{Database, completing, must_be_there},
    failure::{Exit, Failure},
    output::{self, Format},
    report::{self, Align, Table, interval, summaries, verdict},
    waiting::Waiting,
    words,
};

/// The most runs that are checked for completeness when the scores of all are pooled, and the most that a warning
/// lists.
const MAX_RUNS: usize = 10_000;
const MAX_SAID: usize = 5;

/// Show count, mean, min, max, p50 and standard deviation of stored scores, by scorer
///
/// The figures are over scored rows; all other rows are counted. Filters combine.
#[derive(Debug, clap::Args)]
pub(crate) struct Stats {
    /// The run [default: the newest]
    #[arg(value_name = "RUN", add = completing::runs(), conflicts_with_all = ["all_runs", "run"])]
    named: Option<String>,

    /// The run, named by an option
    #[arg(long, value_name = "RUN", add = completing::runs(), conflicts_with = "all_runs", help_heading = "Filters")]
    run: Option<String>,

    /// Pool the scores of all runs in the database; with a warning if a scorer is not the same in all of them
    #[arg(long, help_heading = "Filters")]
    all_runs: bool,

    /// Only scores of this node (the task)
    #[arg(long, value_name = "NODE", help_heading = "Filters")]
    node: Option<String>,

    /// Only scores of this scorer
    #[arg(long, value_name = "NAME", help_heading = "Filters", add = completing::stored_scorers())]
    scorer: Option<String>,

    /// Treat soft scorers with a threshold as gates: regressions fail cases, and errors count
    #[arg(long, help_heading = "Output")]
    strict: bool,

    /// Show the 95 % interval of each mean; attempts at a case count as one
    #[arg(long, conflicts_with = "all_runs", help_heading = "Output")]
    ci: bool,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    database: Database,
}

impl Stats {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let store = self.database.read()?;
        let run = match self.all_runs {
            true => None,
            false => Some(self.database.run(self.asked(), &store)?),
        };
        let mut filter =
            ScoreFilter::default().with_node(self.node.clone()).with_scorer(self.scorer.clone());
        filter.run = run.as_ref().map(|run| run.spec.id.to_string());
        let waiting = Waiting::counting("reading scores", store.rows_read());
        must_be_there(&store, &filter)?;
        let mut aggregates = aggregate(&store, &filter)?;
        if let (true, Some(run)) = (self.ci, &filter.run) {
            add_intervals(&store, run, filter.node.as_deref(), &mut aggregates)?;
        }
        let decided = self.decided(&store, &filter)?;
        let summaries = self.summaries(&store, run.as_ref())?;
        drop(waiting);
        let state = run.as_ref().map(|run| run.state);
        let verdict = decided.as_ref().map(|(decided, _)| decided);
        self.print(&aggregates, &summaries, state, verdict)?;
        match &run {
            Some(run) => report::not_whole(run).iter().for_each(|line| words::warn(line)),
            None => warn_of_runs(&store)?,
        }
        aggregates.iter().filter_map(mixed).for_each(|line| words::warn(&line));
        if self.format == Format::Table {
            let methods = interval::methods(aggregates.iter().map(|it| it.interval));
            methods.iter().for_each(|line| words::say(line));
            self.say_what_it_is_of(filter.run.as_deref(), decided.as_ref());
        }
        Ok(Exit::Done)
    }

    /// The verdicts, and their figures over repeats of cases; `None` for a part of the scores, or for several runs.
    fn decided(
        &self,
        store: &Store,
        filter: &ScoreFilter,
    ) -> Result<Option<(DecidedRun, Option<Repeats>)>, Failure> {
        let (Some(run), None) = (&filter.run, &filter.scorer) else { return Ok(None) };
        let options =
            VerdictOptions::default().with_node(filter.node.as_deref()).with_strict(self.strict);
        let decided = verdicts(store, run, options, |_| true)?;
        Ok(Some((decided, repeated_verdicts(store, run, options)?)))
    }

    fn print(
        &self,
        aggregates: &[Aggregate],
        summaries: &[SummaryRecord],
        state: Option<RunState>,
        verdict: Option<&DecidedRun>,
    ) -> Result<(), Failure> {
        output::stdout(|out| match self.format {
            Format::Table => {
                write!(out, "{}", table(aggregates, self.ci))?;
                let state = state.unwrap_or(RunState::Finished);
                summaries.iter().try_for_each(|it| write!(out, "\n{}", summaries::said(it, state)))
            }
            format => {
                let with_run = |aggregate| OfScorer::new(aggregate, summaries, state, verdict);
                let scorers: Vec<_> = aggregates.iter().map(with_run).collect();
                output::list(out, format == Format::Jsonl, &scorers)
            }
        })
    }

    /// Prints the verdicts, and names the run if the user did not.
    fn say_what_it_is_of(
        &self,
        run: Option<&str>,
        decided: Option<&(DecidedRun, Option<Repeats>)>,
    ) {
        if let Some((decided, repeats)) = decided {
            verdict::of_run(decided).iter().for_each(|line| words::say(line));
            let command = self.database.command("repeats", run.unwrap_or_default());
            let lines = |repeats| report::repeats::of_run(repeats, &command);
            repeats.iter().flat_map(lines).for_each(|line| words::say(&line));
        }
        if self.asked().is_none() {
            match run {
                Some(run) => words::say(&format!("run {run}; to pool all runs: --all-runs")),
                None => words::say("all runs, pooled"),
            }
        }
    }

    /// The requested run.
    fn asked(&self) -> Option<&str> {
        self.named.as_deref().or(self.run.as_deref())
    }

    /// The requested scorers' summaries of the run; empty if the figures cover only a part of its cases.
    fn summaries(
        &self,
        store: &Store,
        run: Option<&RunRecord>,
    ) -> Result<Vec<SummaryRecord>, Failure> {
        let Some(run) = run.filter(|_| self.node.is_none()) else { return Ok(Vec::new()) };
        let mut summaries = store.summaries(run.key)?;
        summaries.retain(|it| self.scorer.as_ref().is_none_or(|asked| *asked == it.scorer_id));
        Ok(summaries)
    }
}

/// The figures of a scorer as JSON, with its summary of the run, the state of the run and its verdict, unless the
/// figures cover several runs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OfScorer<'a> {
    #[serde(flatten)]
    aggregate: &'a Aggregate,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<RunState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_error: Option<AnswerError>,
    /// The verdict of all cases. It lists only this scorer: the others have the verdict beside their own figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<DecidedRun>,
}

impl<'a> OfScorer<'a> {
    fn new(
        aggregate: &'a Aggregate,
        summaries: &'a [SummaryRecord],
        state: Option<RunState>,
        verdict: Option<&DecidedRun>,
    ) -> OfScorer<'a> {
        let of_it = summaries.iter().find(|it| it.scorer_id == aggregate.scorer_id);
        let mut verdict = verdict.cloned();
        if let Some(DecidedRun { scorers, .. }) = &mut verdict {
            scorers.retain(|it| it.scorer_id == aggregate.scorer_id);
        }
        OfScorer {
            aggregate,
            state,
            summary: of_it.and_then(summaries::summary),
            summary_error: of_it.and_then(summaries::error),
            verdict,
        }
    }
}

/// Warns of incomplete runs among all runs.
fn warn_of_runs(store: &Store) -> Result<(), Failure> {
    let said: Vec<String> =
        store.runs(MAX_RUNS)?.iter().flat_map(report::not_whole).take(MAX_SAID + 1).collect();
    said.iter().take(MAX_SAID).for_each(|line| words::warn(line));
    if said.len() > MAX_SAID {
        words::say("and more runs are not whole: `scorebox runs` lists the states of all");
    }
    Ok(())
}

/// The warning that the figures cover several scorers with one name, if they do.
fn mixed(aggregate: &Aggregate) -> Option<String> {
    let changes = &aggregate.scorer_changes;
    let has_another_unit =
        changes.iter().any(|it| matches!(it, ScorerChange::Scale | ScorerChange::Direction));
    let changes: Vec<&str> = changes.iter().map(|it| it.as_str()).collect();
    let (scorer, changes) = (report::one_line(&aggregate.scorer_id, 64), changes.join(", "));
    match (has_another_unit, changes.as_str()) {
        (_, "") => None,
        (true, _) => Some(format!(
            "`{scorer}` is not the same scorer in all of these runs ({changes}): its figures are of scores that cannot be compared"
        )),
        (false, _) => {
            Some(format!("`{scorer}` is not the same scorer in all of these runs ({changes})"))
        }
    }
}

fn table(aggregates: &[Aggregate], with_intervals: bool) -> Table {
    let mut columns = vec![
        ("scorer", Align::Left),
        ("count", Align::Right),
        ("mean", Align::Right),
        ("95 % interval", Align::Right),
        ("min", Align::Right),
        ("max", Align::Right),
        ("p50", Align::Right),
        ("stddev", Align::Right),
        ("n/a", Align::Right),
        ("skipped", Align::Right),
        ("errors", Align::Right),
    ];
    columns.retain(|(title, _)| with_intervals || *title != "95 % interval");
    let mut table = Table::new(&columns);
    for aggregate in aggregates {
        let figure = |value: Option<f64>| value.map_or_else(|| "-".into(), report::score);
        let end = |value: Option<f64>| {
            value.map_or_else(|| "-".into(), |it| report::score_beside(it, None))
        };
        let mut cells = vec![
            aggregate.scorer_id.clone(),
            report::count(aggregate.count),
            aggregate.mean.map_or_else(|| "-".into(), |it| mean_beside(it, None)),
        ];
        cells.extend(with_intervals.then(|| interval::interval(aggregate.interval)));
        cells.extend([
            end(aggregate.min),
            end(aggregate.max),
            figure(aggregate.p50),
            figure(aggregate.stddev),
            report::count(aggregate.not_applicable),
            report::count(aggregate.skipped),
            report::count(aggregate.errors),
        ]);
        table.row(cells);
    }
    table
}
