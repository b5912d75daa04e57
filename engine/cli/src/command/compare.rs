//! `scorebox compare`: shows whether one run is better than another, on the cases that both have.

mod showing;

use std::path::PathBuf;

use scorebox::{
    aggregate::{Comparison, ComparisonOptions, Finding, RunIn, comparison},
    reports::skipped_lines,
    stats::Reducer,
    store::{RunId, Store},
};

use crate::{
    arguments::{Database, completing, must_be_there, reducers},
    failure::{Exit, Failure},
    output::{self, Format},
    waiting::Waiting,
    words,
};

/// Compare two runs on the cases that both have: is B better than A, or is it chance?
///
/// Cases are paired by id; attempts at a case count as one. Each scorer has the mean difference with its interval, the
/// p value of a permutation test, corrected for the number of scorers (Holm), and how many cases a difference takes to
/// be seen.
#[derive(Debug, clap::Args)]
pub(crate) struct Compare {
    /// The run to compare with
    #[arg(value_name = "A", add = completing::runs())]
    a: String,

    /// The run that is better or worse [default: the newest]
    #[arg(value_name = "B", add = completing::runs())]
    b: Option<String>,

    /// The database of B, if it is another one
    #[arg(long, value_name = "FILE", help_heading = "Database")]
    with_db: Option<PathBuf>,

    /// Only this scorer
    #[arg(long, value_name = "NAME", help_heading = "Filters", add = completing::stored_scorers())]
    scorer: Option<String>,

    /// Only cases of this node (the task)
    #[arg(long, value_name = "NODE", help_heading = "Filters")]
    node: Option<String>,

    /// Treat soft scorers with a threshold as gates: regressions fail cases, and errors count
    #[arg(long, help_heading = "Filters")]
    strict: bool,

    /// How the scores of several attempts at a case become one
    #[arg(long, value_name = "REDUCER", default_value = "mean", value_parser = reducers(), help_heading = "Filters")]
    reducer: Reducer,

    /// Exit with 3 if B is worse, in verdicts or by a scorer, or may be: it lacks cases, scores or scorers of A, or has
    /// not finished
    #[arg(long, help_heading = "Output")]
    fail_if_worse: bool,

    /// Say how many cases it takes to see this difference [default: the one that was found]
    #[arg(long, value_name = "X", value_parser = positive, help_heading = "Output")]
    difference: Option<f64>,

    /// Name the N cases that changed most, for each scorer
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=1000), help_heading = "Output")]
    changes: u32,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    database: Database,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("a difference is a number above 0".to_owned()),
    }
}

impl Compare {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let store_a = self.database.read()?;
        let other = self.with_db.as_ref().map(Store::open_read_only).transpose()?;
        let store_b = other.as_ref().unwrap_or(&store_a);
        let record_a = store_a.run(&self.a)?;
        let record_b = match (&self.b, &self.with_db) {
            (Some(b), _) => store_b.run(b)?,
            (None, None) => self.database.run(None, store_b)?,
            (None, Some(path)) => {
                store_b.latest_run()?.ok_or_else(|| crate::arguments::no_runs(path))?
            }
        };
        let [run_a, run_b] = [&record_a, &record_b].map(|record| &record.spec.id);
        if run_a == run_b && self.b.is_none() && self.with_db.is_none() {
            return Err(with_the_newest(run_a));
        }
        if let Some(node) = &self.node {
            for (store, run) in [(&store_a, run_a), (store_b, run_b)] {
                let filter = scorebox::store::ScoreFilter::of_run(run.as_str());
                must_be_there(store, &filter.with_node(node.clone()))?;
            }
        }
        let options = ComparisonOptions::default()
            .with_scorer(self.scorer.as_deref())
            .with_node(self.node.as_deref())
            .with_strict(self.strict)
            .with_reducer(self.reducer)
            .with_difference(self.difference)
            .with_changes(self.changes as usize);
        let waiting = Waiting::counting("comparing cases", store_a.rows_read());
        let compared = comparison(
            RunIn::new(&store_a, run_a.as_str()),
            RunIn::new(store_b, run_b.as_str()),
            options,
        )?;
        drop(waiting);
        self.print(&compared)?;
        for (name, record) in [("A", &record_a), ("B", &record_b)] {
            let skipped = skipped_lines(record).map(|skipped| format!("{name}: {skipped}"));
            skipped.iter().for_each(|line| words::warn(line));
        }
        if self.fail_if_worse && compared.is_worse() {
            words::error(&format!("B is worse: {}", worse(&compared).join(", ")), None);
            return Ok(Exit::BrokenRequirement);
        }
        let doubts = showing::may_be_worse(&compared);
        if self.fail_if_worse && !doubts.is_empty() {
            let message = format!("B may be worse: {}", doubts.join("; "));
            words::error(&message, None);
            return Ok(Exit::BrokenRequirement);
        }
        Ok(Exit::Done)
    }

    fn print(&self, compared: &Comparison) -> Result<(), Failure> {
        output::stdout(|out| match self.format {
            Format::Json => output::json(out, compared),
            Format::Jsonl => output::json_line(out, compared),
            Format::Table => {
                write!(out, "{}", showing::figures(compared))?;
                let more = [showing::passes(compared), showing::changes(compared)];
                more.iter().flatten().try_for_each(|table| write!(out, "\n{table}"))
            }
        })?;
        if self.format == Format::Table {
            showing::findings(compared, self.difference).iter().for_each(|line| words::say(line));
            showing::about(compared).iter().for_each(|line| words::say(line));
        }
        showing::doubts(compared).iter().for_each(|line| words::warn(line));
        Ok(())
    }
}

/// The failure that the only named run is the newest one.
fn with_the_newest(run: &RunId) -> Failure {
    Failure::new(format!(
        "run `{run}` is compared with itself: it is the newest run, which B is unless another is named"
    ))
    .hint(format!("name the run to compare it with first: `scorebox compare A {run}`; `scorebox runs` lists them"))
}

/// The names of the scores that are worse.
fn worse(compared: &Comparison) -> Vec<String> {
    let verdict = compared.verdict.iter().filter(|it| it.finding == Finding::Worse);
    let scorers = compared.scorers.iter().filter(|it| it.scores.finding == Finding::Worse);
    let scorers = scorers.map(|it| format!("`{}`", crate::report::one_line(&it.scorer_id, 64)));
    verdict.map(|_| "verdicts".to_owned()).chain(scorers).collect()
}
