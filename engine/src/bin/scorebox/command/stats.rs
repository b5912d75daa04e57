//! `scorebox stats`: count, mean, min, max, p50 and standard deviation by scorer.

use std::path::PathBuf;

use scorebox::{
    report::{self, Align, Table},
    run::{Aggregate, aggregate},
    store::{ScoreFilter, Store},
};

use super::scores::DEFAULT_DATABASE;
use crate::{
    failure::{Exit, Failure},
    output::{self, Format},
};

/// Show count, mean, min, max, p50 and standard deviation of stored scores, by scorer
///
/// Only scored rows count; the others stand beside them. The filters combine.
#[derive(Debug, clap::Args)]
pub struct Stats {
    /// Only scores of this run
    #[arg(long, value_name = "RUN")]
    run: Option<String>,

    /// Only scores of this node (the task)
    #[arg(long, value_name = "NODE")]
    node: Option<String>,

    /// Only scores of this scorer
    #[arg(long, value_name = "NAME")]
    scorer: Option<String>,

    /// The database
    #[arg(long, value_name = "FILE", env = "SCOREBOX_DB", hide_env = true, default_value = DEFAULT_DATABASE)]
    db: PathBuf,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

impl Stats {
    pub fn run(&self) -> Result<Exit, Failure> {
        let store = Store::open_read_only(&self.db)?;
        let filter = ScoreFilter {
            run: self.run.clone(),
            node: self.node.clone(),
            scorer: self.scorer.clone(),
            ..ScoreFilter::default()
        };
        let aggregates = aggregate(&store, &filter)?;
        output::stdout(|out| match self.format {
            Format::Table => write!(out, "{}", table(&aggregates)),
            format => output::list(out, format == Format::Jsonl, &aggregates),
        })?;
        Ok(Exit::Done)
    }
}

fn table(aggregates: &[Aggregate]) -> Table {
    let mut table = Table::new(&[
        ("scorer", Align::Left),
        ("count", Align::Right),
        ("mean", Align::Right),
        ("min", Align::Right),
        ("max", Align::Right),
        ("p50", Align::Right),
        ("stddev", Align::Right),
        ("n/a", Align::Right),
        ("skipped", Align::Right),
        ("errors", Align::Right),
    ]);
    for aggregate in aggregates {
        let figure = |value: Option<f64>| value.map_or_else(|| "-".into(), report::score);
        table.row([
            aggregate.scorer_id.clone(),
            report::count(aggregate.count),
            figure(aggregate.mean),
            figure(aggregate.min),
            figure(aggregate.max),
            figure(aggregate.p50),
            figure(aggregate.stddev),
            report::count(aggregate.not_applicable),
            report::count(aggregate.skipped),
            report::count(aggregate.errors),
        ]);
    }
    table
}
