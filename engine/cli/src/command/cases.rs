//! `scorebox cases`: the cases of a run with their verdicts, and the scorers and assertions that decided against them.

use scorebox::{
    aggregate::{DecidedCase, VerdictOptions, decides, verdicts},
    store::{ScoreFilter, Store},
    verdict::Verdict,
};

use crate::{
    arguments::{Database, completing, must_be_there},
    failure::{Exit, Failure},
    output::{self, Format, Out},
    report::{self, Align, Table, verdict},
    words,
};

/// Rows that one table is laid out from: only their short cells are held.
const TABLE_ROWS: usize = 1000;

/// List the cases of a run with their verdicts
///
/// A case is errored if a gate or a required scorer has no score because of an error, failed if a gate does not hold,
/// skipped if the case says so or none of its deciding scorers ran on it, and else passed.
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

    /// Count a case with a soft score beyond its threshold as failed
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
        let mut listing =
            Listing { shown: 0, found: 0, decides: false, table: empty_table(), in_table: 0 };
        let mut failure = None;
        output::stdout(|out| {
            if self.format == Format::Json {
                out.write_all(b"[")?;
            }
            match self.list(&store, &run, &mut listing, out) {
                Ok(written) => written?,
                Err(error) => failure = Some(error),
            }
            match self.format {
                Format::Json => out.write_all(if listing.shown == 0 { b"]\n" } else { b"\n]\n" }),
                Format::Table if listing.in_table > 0 => {
                    output::table(out, std::mem::replace(&mut listing.table, empty_table()))
                }
                _ => Ok(()),
            }
        })?;
        if let Some(failure) = failure {
            return Err(failure);
        }
        if let Some(unfinished) = report::unfinished(&record) {
            words::warn(&unfinished);
        }
        if self.format == Format::Table {
            self.say_what_is_left(&listing);
        }
        Ok(Exit::Done)
    }

    /// Writes the cases as they are judged; returns the outcome of writing.
    fn list(
        &self,
        store: &Store,
        run: &str,
        listing: &mut Listing,
        out: &mut Out<'_>,
    ) -> Result<std::io::Result<()>, Failure> {
        let options =
            VerdictOptions::default().with_node(self.node.as_deref()).with_strict(self.strict);
        listing.decides = self.format != Format::Table || decides(store, run, options)?;
        let most = self.format.most(self.limit, 50);
        let mut written = Ok(());
        verdicts(store, run, options, |case| {
            if !self.is_asked_for(&case) {
                return true;
            }
            listing.found += 1;
            if listing.found <= self.skip || listing.shown == most {
                return true;
            }
            written = listing.add(&case, self.format, out);
            written.is_ok()
        })?;
        Ok(written)
    }

    fn is_asked_for(&self, case: &DecidedCase<'_>) -> bool {
        let is_bad = matches!(case.verdict.verdict, Verdict::Failed | Verdict::Errored);
        let is_against = |id: &String| case.against.iter().any(|it| it.scorer_id == id);
        (is_bad || !self.failed) && self.scorer.as_ref().is_none_or(is_against)
    }

    fn say_what_is_left(&self, listing: &Listing) {
        let seen = self.skip.min(listing.found) + listing.shown;
        if listing.found == 0 {
            words::say(&match (&self.scorer, self.failed) {
                (Some(scorer), _) => {
                    format!(
                        "no case failed or is errored because of `{}`",
                        report::printable(scorer)
                    )
                }
                (None, true) => "no case failed".to_owned(),
                (None, false) => "no cases".to_owned(),
            });
        } else if self.skip >= listing.found {
            words::nothing_after(self.skip, listing.found, "cases");
        } else if seen < listing.found {
            words::say(&format!(
                "{} of {} cases; next page: --skip {seen}; all: --limit 0",
                report::count(listing.shown),
                report::count(listing.found)
            ));
        }
    }
}

/// How far the list is.
struct Listing {
    /// Cases that were asked for.
    found: u64,
    /// Those that were written.
    shown: u64,
    /// Whether a scorer can keep a case from passing: if none can, that it passed says nothing.
    decides: bool,
    table: Table,
    in_table: usize,
}

impl Listing {
    fn add(
        &mut self,
        decided: &DecidedCase<'_>,
        format: Format,
        out: &mut Out<'_>,
    ) -> std::io::Result<()> {
        let is_first = self.shown == 0;
        self.shown += 1;
        match format {
            Format::Jsonl => output::json_line(out, decided),
            Format::Json => {
                out.write_all(if is_first { b"\n" } else { b",\n" })?;
                let json = serde_json::to_string(decided).map_err(std::io::Error::from)?;
                out.write_all(report::printable_json_line(&json).as_bytes())
            }
            Format::Table => {
                self.table.row([
                    output::cell(&name(decided), 48),
                    match self.decides {
                        true => verdict::verdict(&decided.verdict),
                        false => verdict::undecided(&decided.verdict).to_owned(),
                    },
                    decided.verdict.score.map_or_else(|| "-".to_owned(), report::score),
                    output::last_cell(&deciders(decided)),
                ]);
                self.in_table += 1;
                if self.in_table == TABLE_ROWS {
                    output::table(out, std::mem::replace(&mut self.table, empty_table()))?;
                    self.in_table = 0;
                }
                Ok(())
            }
        }
    }
}

fn empty_table() -> Table {
    Table::new(&[
        ("case", Align::Left),
        ("verdict", Align::Left),
        ("score", Align::Right),
        ("decided by", Align::Left),
    ])
}

/// The case's id, with iteration and attempt if they are not the first.
fn name(decided: &DecidedCase<'_>) -> String {
    let case = decided.case;
    report::case_name(&case.case_id, case.iteration, case.attempt)
}

/// What decided against the case, with the assertions that did, and why it was skipped, or why its task failed.
fn deciders(decided: &DecidedCase<'_>) -> String {
    let each = decided.against.iter().map(|against| {
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
