//! `scorebox trend`: shows the means of scorers over the runs of a database.

use scorebox::{
    aggregate::{Trend as ScorerTrend, TrendOptions, trend},
    store::{ScoreFilter, Store},
    verdict::mean_beside,
};

use crate::{
    arguments::{Database, completing, must_be_there, no_runs},
    failure::{Exit, Failure},
    output::{self, Format},
    report::{self, Align, Table, interval},
    waiting::Waiting,
    words,
};

/// The most runs that are read.
const MAX_RUNS: u64 = 1000;
/// The most runs that the warning about skipped lines lists.
const MAX_SAID: usize = 5;

/// Show the mean of each scorer over the runs in the database, the oldest run first
///
/// The runs may have different cases; `scorebox compare` says whether a change is more than chance. The column
/// `changed` shows what is different in a scorer since the run before.
#[derive(Debug, clap::Args)]
pub(crate) struct Trend {
    /// Only this scorer, in the newest runs that have it
    #[arg(long, value_name = "NAME", help_heading = "Filters", add = completing::stored_scorers())]
    scorer: Option<String>,

    /// Only runs of the suite with this name
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    suite: Option<String>,

    /// Only scores of this node (the task)
    #[arg(long, value_name = "NODE", help_heading = "Filters")]
    node: Option<String>,

    /// Show the newest N runs, at most 1000 [default: 20 for a table, else 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000), help_heading = "Output")]
    limit: Option<u64>,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    database: Database,
}

impl Trend {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let store = self.database.read()?;
        if store.latest_run()?.is_none() {
            return Err(no_runs(&self.database.path));
        }
        let filter =
            ScoreFilter::default().with_node(self.node.clone()).with_scorer(self.scorer.clone());
        must_be_there(&store, &filter)?;
        let most = self.format.most(self.limit, 20).min(MAX_RUNS) as usize;
        let options = TrendOptions::default()
            .with_scorer(self.scorer.as_deref())
            .with_node(self.node.as_deref())
            .with_suite(self.suite.as_deref())
            .with_limit(most);
        let waiting = Waiting::counting("reading scores", store.rows_read());
        let trends = trend(&store, options)?;
        drop(waiting);
        if trends.is_empty() {
            return Err(self.no_such_runs());
        }
        output::stdout(|out| match self.format {
            Format::Table => write!(out, "{}", table(&trends)),
            format => output::list(out, format == Format::Jsonl, &trends),
        })?;
        warn_of_skipped_lines(&store, &trends)?;
        if self.format == Format::Table {
            let points = trends.iter().flat_map(|trend| &trend.points);
            let methods = interval::methods(points.map(|point| point.interval));
            methods.iter().for_each(|line| words::say(line));
            if trends.iter().any(has_others) {
                words::say(
                    "`changed` names what is different in the scorer since the run before: a change of the mean may come from that",
                );
            }
        }
        Ok(Exit::Done)
    }

    /// The failure that no run is of the requested suite, or has the requested scorer.
    fn no_such_runs(&self) -> Failure {
        let suite = self.suite.as_ref();
        let suite = suite.map(|it| format!("is of a suite `{}`", report::one_line(it, 64)));
        let scorer = self.scorer.as_ref();
        let scorer = scorer.map(|it| format!("has a scorer `{}`", report::one_line(it, 64)));
        let asked: Vec<String> = suite.into_iter().chain(scorer).collect();
        let (newest, path) = (report::count(MAX_RUNS), self.database.path.display());
        Failure::new(format!(
            "none of the newest {newest} runs of `{path}` {}",
            asked.join(" and ")
        ))
        .hint("`scorebox runs` lists runs with their suites")
    }
}

/// Warns of runs with skipped lines. The figures themselves show how each run ended.
fn warn_of_skipped_lines(store: &Store, trends: &[ScorerTrend]) -> Result<(), Failure> {
    let points = trends.iter().flat_map(|trend| &trend.points);
    let mut runs: Vec<(i64, &str)> =
        points.map(|point| (point.created_at_ms, point.run_id.as_str())).collect();
    runs.sort_unstable();
    runs.dedup();
    let mut said = Vec::new();
    for (_, run) in runs {
        said.extend(report::without_lines(&store.run(run)?));
    }
    said.iter().take(MAX_SAID).for_each(|line| words::warn(line));
    if said.len() > MAX_SAID {
        words::say("and lines of more runs were skipped: `scorebox runs` lists all runs");
    }
    Ok(())
}

/// Whether the scorer changed in one of the runs.
fn has_others(trend: &ScorerTrend) -> bool {
    trend.points.iter().any(|point| !point.scorer_changes.is_empty())
}

fn table(trends: &[ScorerTrend]) -> Table {
    let has_others = trends.iter().any(has_others);
    let mut columns = vec![
        ("scorer", Align::Left),
        ("run", Align::Left),
        ("state", Align::Left),
        ("started (UTC)", Align::Left),
        ("scored", Align::Right),
        ("errors", Align::Right),
        ("mean", Align::Right),
        ("95 % interval", Align::Right),
        ("change", Align::Right),
    ];
    columns.extend(has_others.then_some(("changed", Align::Left)));
    let mut table = Table::new(&columns);
    for trend in trends {
        for (index, point) in trend.points.iter().enumerate() {
            let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            let mut cells = vec![
                if index == 0 { output::cell(&trend.scorer_id, 48) } else { String::new() },
                point.run_id.clone(),
                point.state.as_str().to_owned(),
                report::started(point.created_at_ms),
                report::count(point.count),
                report::count(point.errors),
                or_none(point.mean.map(|it| mean_beside(it, None))),
                interval::interval(point.interval),
                or_none(point.change.map(interval::difference)),
            ];
            if has_others {
                let others = point.scorer_changes.iter().map(|it| it.as_str());
                cells.push(others.collect::<Vec<_>>().join(", "));
            }
            table.row(cells);
        }
    }
    table
}
