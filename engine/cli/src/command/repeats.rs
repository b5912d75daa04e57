//! `scorebox repeats`: shows the figures of several attempts at the same cases, for a run or for each case.

use std::collections::BTreeSet;

use scorebox::{
    aggregate::{OfScorers, RepeatOptions, RepeatedCase, RepeatedScorer, repeats},
    stats::{Reduced, Reducer, Tries, usual_draws},
    store::{ScoreFilter, Store},
};
use serde::Serialize;

use crate::{
    arguments::{Database, completing, must_be_there, number, reducers},
    failure::{Exit, Failure},
    output::{self, Format, Page},
    report::{
        self, Align, Table,
        repeats::{figure, share},
    },
    waiting::Waiting,
    words,
};

/// Show pass@k, pass^k and reduced scores of cases that were tried more than once
///
/// Cases with the same id and another iteration or attempt are attempts at one case. An attempt passes if its verdict
/// is `passed`; for a scorer, if its score passes the threshold. Skipped attempts do not count, and for a scorer only
/// scored ones do.
#[derive(Debug, clap::Args)]
pub(crate) struct Repeats {
    /// The run [default: the newest]
    #[arg(add = completing::runs())]
    run: Option<String>,

    /// Show each case instead of the run: by its verdicts, or by --scorer
    #[arg(long, help_heading = "Output")]
    cases: bool,

    /// Only this scorer
    #[arg(long, value_name = "NAME", help_heading = "Filters", add = completing::stored_scorers())]
    scorer: Option<String>,

    /// The worst score that passes [default: the scorer's threshold, or else the best score]
    #[arg(long, value_name = "X", value_parser = number, requires = "scorer", help_heading = "Filters")]
    threshold: Option<f64>,

    /// Only cases of this node (the task)
    #[arg(long, value_name = "NODE", help_heading = "Filters")]
    node: Option<String>,

    /// Treat soft scorers with a threshold as gates: regressions fail attempts, and errors count
    #[arg(long, help_heading = "Filters")]
    strict: bool,

    /// Values of k for pass@k and pass^k [default: 1, 2, 4, 8 and the most attempts at a case]
    #[arg(long, value_name = "K", value_delimiter = ',', value_parser = draws, help_heading = "Output")]
    k: Vec<u64>,

    /// How a table shows the scores of a case as one score [default: all of them]
    #[arg(long, value_name = "REDUCER", value_delimiter = ',', value_parser = reducers(), help_heading = "Output")]
    reducer: Vec<Reducer>,

    /// Show at most N cases (0: all) [default: 50 for a table]
    #[arg(long, value_name = "N", requires = "cases", help_heading = "Output")]
    limit: Option<u64>,

    /// Skip the first N cases
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        requires = "cases",
        help_heading = "Output"
    )]
    skip: u64,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    database: Database,
}

/// A run's figures as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OfRun<'a> {
    run_id: &'a str,
    #[serde(flatten)]
    repeats: &'a scorebox::aggregate::Repeats,
}

/// Parses a value of k.
fn draws(text: &str) -> Result<u64, String> {
    let number = text.parse::<u64>().map_err(|error| error.to_string())?;
    if number > 0 { Ok(number) } else { Err("must be 1 or more".to_owned()) }
}

impl Repeats {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let store = self.database.read()?;
        let run = self.database.run(self.run.as_deref(), &store)?;
        let filter = ScoreFilter::of_run(run.spec.id.as_str())
            .with_node(self.node.clone())
            .with_scorer(self.scorer.clone());
        must_be_there(&store, &filter)?;
        let ks = match self.k.is_empty() {
            true => usual_draws(store.most_attempts(run.key, self.node.as_deref())?),
            false => self.k.iter().copied().collect::<BTreeSet<u64>>().into_iter().collect(),
        };
        let is_table = self.format == Format::Table;
        let scorers = match &self.scorer {
            Some(scorer_id) => OfScorers::One { scorer_id, threshold: self.threshold },
            None if self.cases && is_table => OfScorers::None,
            None => OfScorers::Each,
        };
        let options = RepeatOptions::default()
            .with_node(self.node.as_deref())
            .with_strict(self.strict)
            .with_ks(&ks)
            .with_scorers(scorers);
        match self.cases {
            true => self.list_cases(&store, run.spec.id.as_str(), options)?,
            false => self.show_run(&store, run.spec.id.as_str(), options)?,
        }
        report::not_whole(&run).iter().for_each(|line| words::warn(line));
        Ok(Exit::Done)
    }

    fn show_run(
        &self,
        store: &Store,
        run: &str,
        options: RepeatOptions<'_>,
    ) -> Result<(), Failure> {
        let waiting = Waiting::counting("reading attempts", store.rows_read());
        let repeats = repeats(store, run, options, |_| true)?;
        drop(waiting);
        let as_json = OfRun { run_id: run, repeats: &repeats };
        output::stdout(|out| match self.format {
            Format::Table => {
                write!(out, "{}", self.tries(&repeats))?;
                match repeats.scorers.is_empty() {
                    true => Ok(()),
                    false => write!(out, "\n{}", self.reduced(&repeats.scorers)),
                }
            }
            Format::Json => output::json(out, &as_json),
            Format::Jsonl => output::json_line(out, &as_json),
        })?;
        if self.format == Format::Table {
            say_of_run(run, &repeats, self.scorer.is_some());
        }
        Ok(())
    }

    /// The table of verdicts and scorers, with a row for each k.
    fn tries(&self, repeats: &scorebox::aggregate::Repeats) -> Table {
        let mut table = Table::new(&[
            ("by", Align::Left),
            ("cases", Align::Right),
            ("attempts", Align::Right),
            ("passed", Align::Right),
            ("pass rate", Align::Right),
            ("k", Align::Right),
            ("pass@k", Align::Right),
            ("pass^k", Align::Right),
            ("at least k", Align::Right),
        ]);
        if let (None, Some(tries)) = (&self.scorer, &repeats.verdict) {
            add_tries(&mut table, "verdict", tries);
        }
        for scorer in &repeats.scorers {
            match &scorer.tries {
                Some(tries) => add_tries(&mut table, &scorer.scorer_id, tries),
                None => table.row([output::cell(&scorer.scorer_id, 48), "no threshold".to_owned()]),
            }
        }
        table
    }

    fn reducers(&self) -> &[Reducer] {
        if self.reducer.is_empty() { &Reducer::ALL } else { &self.reducer }
    }

    /// The table of reduced scores, with a row for each scorer.
    fn reduced(&self, scorers: &[RepeatedScorer]) -> Table {
        let mut columns = vec![("scorer", Align::Left)];
        columns.extend(self.reducers().iter().map(|it| (it.as_str(), Align::Right)));
        let mut table = Table::new(&columns);
        for scorer in scorers {
            let mut cells = vec![output::cell(&scorer.scorer_id, 48)];
            cells.extend(reduced_cells(&scorer.reduced, self.reducers()));
            table.row(cells);
        }
        table
    }

    fn list_cases(
        &self,
        store: &Store,
        run: &str,
        options: RepeatOptions<'_>,
    ) -> Result<(), Failure> {
        let reducers = if self.scorer.is_some() { self.reducers() } else { &[] };
        let columns = columns(options.ks, reducers);
        let columns: Vec<_> =
            columns.iter().map(|(title, align)| (title.as_str(), *align)).collect();
        let most = self.format.most(self.limit, 50);
        let mut page = Page::new(self.format, self.skip, most, &columns);
        page.print(|page, out| {
            let mut written = Ok(());
            repeats(store, run, options, |case| {
                written = page.add(out, case, || cells(case, options.ks, reducers));
                written.is_ok()
            })
            .map_err(Failure::from)?;
            Ok(written?)
        })?;
        if self.format == Format::Table {
            words::page_of(page.found(), self.skip, page.shown(), "cases");
        }
        Ok(())
    }
}

/// The row of a case.
fn cells(case: &RepeatedCase, ks: &[u64], reducers: &[Reducer]) -> Vec<String> {
    let scorer = case.scorers.first();
    let tries = match scorer {
        Some(scorer) => scorer.tries.as_ref(),
        None => case.verdict.as_ref(),
    };
    let passed = |tries: &Tries| {
        format!("{} of {}", report::count(tries.passed), report::count(tries.attempts))
    };
    let mut cells = vec![
        output::cell(&case.case_id, 48),
        report::count(case.attempts),
        tries.map_or_else(|| "-".to_owned(), passed),
        report::repeats::latency(case.mean_latency_ms),
    ];
    let draws = tries.map_or(&[][..], |tries| &tries.draws);
    // A scorer without a threshold has no draws.
    for index in 0..ks.len() {
        let draw = draws.get(index);
        cells.push(share(draw.and_then(|draw| draw.pass_at_k)));
        cells.push(share(draw.and_then(|draw| draw.pass_hat_k)));
    }
    let reduced = scorer.map(|scorer| scorer.reduced).unwrap_or_default();
    cells.extend(reduced_cells(&reduced, reducers));
    cells
}

/// The columns of the table of cases.
fn columns(ks: &[u64], reducers: &[Reducer]) -> Vec<(String, Align)> {
    let mut columns = vec![
        ("case".to_owned(), Align::Left),
        ("attempts".to_owned(), Align::Right),
        ("passed".to_owned(), Align::Right),
        ("latency".to_owned(), Align::Right),
    ];
    for k in ks {
        columns.push((format!("pass@{k}"), Align::Right));
        columns.push((format!("pass^{k}"), Align::Right));
    }
    columns.extend(reducers.iter().map(|reducer| (reducer.as_str().to_owned(), Align::Right)));
    columns
}

fn reduced_cells(reduced: &Reduced, reducers: &[Reducer]) -> Vec<String> {
    reducers.iter().map(|reducer| figure(reduced.by(*reducer))).collect()
}

/// Adds a row for each k; cells that are the same in all rows are only in the first.
fn add_tries(table: &mut Table, by: &str, tries: &Tries) {
    for (index, draw) in tries.draws.iter().enumerate() {
        let mut cells = match index {
            0 => vec![
                output::cell(by, 48),
                report::count(tries.cases),
                report::count(tries.attempts),
                report::count(tries.passed),
                share(tries.pass_rate),
            ],
            _ => vec![String::new(); 5],
        };
        cells.push(report::count(draw.k));
        cells.extend([draw.pass_at_k, draw.pass_hat_k, draw.at_least_k].map(share));
        table.row(cells);
    }
}

fn say_of_run(run: &str, repeats: &scorebox::aggregate::Repeats, by_scorer: bool) {
    let mut line = format!(
        "run {run}: {}, {}, at most {} at a case",
        report::counted(repeats.cases, "case", "cases"),
        report::counted(repeats.attempts, "attempt", "attempts"),
        report::count(repeats.most_attempts)
    );
    if repeats.mean_latency_ms.is_some() {
        let latency = report::repeats::latency(repeats.mean_latency_ms);
        line.push_str(&format!(", mean latency {latency}"));
    }
    words::say(&line);
    match &repeats.verdict {
        _ if by_scorer => {}
        Some(tries) => {
            let why = report::repeats::why_undefined("verdict", tries);
            why.iter().for_each(|line| words::say(line));
        }
        None => words::say("verdict: no scorer can fail a case"),
    }
    for scorer in &repeats.scorers {
        let by = report::one_line(&scorer.scorer_id, 64);
        let why = scorer.tries.as_ref().map(|tries| report::repeats::why_undefined(&by, tries));
        why.unwrap_or_default().iter().for_each(|line| words::say(line));
    }
    if repeats.most_attempts == 1 {
        words::say(
            "no case was tried more than once: attempts at a case have its id, and another iteration or attempt",
        );
    }
}
