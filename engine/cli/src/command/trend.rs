//! `scorebox trend`: the means of scorers over the runs of a database.

use scorebox::{
    aggregate::{Trend as ScorerTrend, TrendOptions, trend},
    store::ScoreFilter,
};

use crate::{
    arguments::{Database, completing, must_be_there, no_runs},
    failure::{Exit, Failure},
    output::{self, Format},
    report::{self, Align, Table, interval},
    waiting::Waiting,
    words,
};

/// Show the mean of each scorer over the runs in the database, the oldest run first
///
/// Runs may have other cases and other scorers of the same name: `scorebox compare` says whether a change is more than chance.
#[derive(Debug, clap::Args)]
pub(crate) struct Trend {
    /// Only this scorer
    #[arg(long, value_name = "NAME", help_heading = "Filters", add = completing::stored_scorers())]
    scorer: Option<String>,

    /// Only runs of the suite with this name
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    suite: Option<String>,

    /// Only scores of this node (the task)
    #[arg(long, value_name = "NODE", help_heading = "Filters")]
    node: Option<String>,

    /// Show the newest N runs
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Output")]
    limit: u32,

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
        let options = TrendOptions::default()
            .with_scorer(self.scorer.as_deref())
            .with_node(self.node.as_deref())
            .with_suite(self.suite.as_deref())
            .with_limit(self.limit as usize);
        let waiting = Waiting::counting("reading scores", store.rows_read());
        let trends = trend(&store, options)?;
        drop(waiting);
        if let (true, Some(suite)) = (trends.is_empty(), &self.suite) {
            let (suite, newest) = (report::one_line(suite, 64), report::count(1000));
            let path = self.database.path.display();
            return Err(Failure::new(format!(
                "none of the newest {newest} runs of `{path}` is of a suite `{suite}`"
            ))
            .hint("`scorebox runs` lists runs with their suites"));
        }
        output::stdout(|out| match self.format {
            Format::Table => write!(out, "{}", table(&trends)),
            format => output::list(out, format == Format::Jsonl, &trends),
        })?;
        if self.format == Format::Table {
            let points = trends.iter().flat_map(|trend| &trend.points);
            let methods = interval::methods(points.map(|point| point.interval));
            methods.iter().for_each(|line| words::say(line));
        }
        Ok(Exit::Done)
    }
}

fn table(trends: &[ScorerTrend]) -> Table {
    let mut table = Table::new(&[
        ("scorer", Align::Left),
        ("run", Align::Left),
        ("state", Align::Left),
        ("started (UTC)", Align::Left),
        ("scored", Align::Right),
        ("errors", Align::Right),
        ("mean", Align::Right),
        ("95 % interval", Align::Right),
        ("change", Align::Right),
    ]);
    for trend in trends {
        for (place, point) in trend.points.iter().enumerate() {
            let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            table.row([
                if place == 0 { output::cell(&trend.scorer_id, 48) } else { String::new() },
                point.run_id.clone(),
                point.state.as_str().to_owned(),
                report::started(point.created_at_ms),
                report::count(point.count),
                report::count(point.errors),
                or_none(point.mean.map(report::score)),
                interval::interval(point.interval),
                or_none(point.change.map(interval::difference)),
            ]);
        }
    }
    table
}
