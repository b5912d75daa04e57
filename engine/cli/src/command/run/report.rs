//! What the user reads of a run: the progress bar, the table at the end, the first errors.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use scorebox::{
    aggregate::{Aggregate, DecidedRun, Repeats, VerdictOptions, add_intervals, repeated_verdicts},
    digest::Digest,
    judge::{JudgeCounts, Judges},
    row::{AnswerError, milliseconds},
    run::{Control, Progress, RunReport},
    sandbox::ErrorKind,
    store::{CallCounts, RunRecord, ScoreFilter, Store, SummaryRecord},
    verdict::{Broken, Requirements},
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::idle;
use crate::{
    arguments::Database,
    decision::Decision,
    failure::Failure,
    output::{self, Format, Out},
    report::{self, Align, Table, pretty},
    words,
};

/// How often the progress bar is drawn.
const REDRAW: Duration = Duration::from_millis(100);

/// Errors that are shown at the end.
const ERRORS_SHOWN: usize = 3;

/// A progress bar that follows the run until it is finished.
pub(super) struct Bar {
    bar: ProgressBar,
    redraw: tokio::task::JoinHandle<()>,
}

/// Begins to draw, if standard error is a terminal.
pub(super) fn progress_bar(control: Arc<Control>, judges: Judges) -> Bar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let drawn = bar.clone();
    let redraw = tokio::spawn(async move {
        let started = Instant::now();
        let mut every = tokio::time::interval(REDRAW);
        loop {
            every.tick().await;
            draw(&drawn, &control, &judges, started);
        }
    });
    Bar { bar, redraw }
}

fn draw(bar: &ProgressBar, control: &Control, judges: &Judges, started: Instant) {
    let progress = control.progress();
    let style = match progress.bytes_total {
        Some(total) => {
            let done = bytes_done(&progress).min(total);
            bar.set_length(total);
            bar.set_position(done);
            match done {
                0 => "{bar:30} {percent:>3}% {msg}",
                _ => "{bar:30} {percent:>3}%, {eta} left; {msg}",
            }
        }
        None => "{spinner} {msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    let elapsed = started.elapsed();
    let asking = report::judge::asking(&judges.counts(), elapsed);
    let asking = asking.map(|words| format!("; {words}")).unwrap_or_default();
    bar.set_message(format!("{}{asking}", how_far(&progress, elapsed)));
    bar.tick();
}

/// The bytes of the cases that are done: of those read, as many as of the cases read. All of a small file is read long before its
/// scores are there.
fn bytes_done(progress: &Progress) -> u64 {
    let Progress { cases_read, cases_done, cases_finished_before, cases_bad, .. } = progress;
    let done = u128::from(cases_done + cases_finished_before + cases_bad);
    let read = u128::from(cases_read + cases_bad).max(1);
    let bytes = u128::from(progress.bytes_read) * done.min(read) / read;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// How far a run is, in the words of the progress bar.
fn how_far(progress: &Progress, elapsed: Duration) -> String {
    let mut words = format!(
        "{} cases, {} scores, {} a second",
        report::count(progress.cases_done),
        report::count(progress.scores_written),
        report::rate(progress.scores_written, elapsed)
    );
    if progress.cases_bad > 0 {
        let bad = report::counted(progress.cases_bad, "bad line", "bad lines");
        words.push_str(&format!(", {bad}"));
    }
    words
}

impl Bar {
    /// Takes the bar away.
    pub(super) fn finish(self) {
        self.redraw.abort();
        self.bar.finish_and_clear();
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary<'a> {
    run_id: &'a str,
    state: &'a str,
    cases_read: u64,
    cases_bad: u64,
    cases_finished_before: u64,
    scores_written: u64,
    scores_reused: u64,
    duration_ms: f64,
    scores_skipped: u64,
    root: Option<Digest>,
    database: String,
    verdict: Option<&'a DecidedRun>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<&'a Repeats>,
    broken: &'a [Broken],
    scorers: &'a [Aggregate],
    #[serde(skip_serializing_if = "<[CallCounts]>::is_empty")]
    judges: &'a [CallCounts],
    summaries: Vec<OfTheRun<'a>>,
}

/// A scorer's summary of the run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OfTheRun<'a> {
    scorer_id: &'a str,
    summary: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<AnswerError>,
}

/// What the user wants to see.
pub(super) struct Asked<'a> {
    pub requirements: &'a Requirements,
    pub strict: bool,
    /// Whether the summary is printed to standard output.
    pub summary: bool,
    /// Whether each mean has its interval.
    pub intervals: bool,
    pub format: Format,
    pub database: &'a Database,
    /// What the judges did.
    pub judges: &'a JudgeCounts,
}

/// What was reported.
pub(super) struct Told {
    /// Scores of the run that are errors.
    pub errors: u64,
    /// Scorers whose words on the whole run are errors.
    pub summary_errors: u64,
    /// Whether a requirement of the run is broken.
    pub broken: bool,
}

/// Prints the summary, the verdict, and what is wrong.
pub(super) fn print(store: &Store, run: &RunReport, asked: &Asked<'_>) -> Result<Told, Failure> {
    let (format, database) = (asked.format, asked.database);
    let filter = ScoreFilter::of_run(run.run.as_str());
    let mut decision = Decision::of_run(store, &run.run, asked.requirements, asked.strict)?;
    if asked.intervals {
        add_intervals(store, run.run.as_str(), None, &mut decision.aggregates)?;
    }
    let Decision { aggregates, decided, broken, .. } = &decision;
    let errors = decision.errors();
    let options = VerdictOptions::default().with_strict(asked.strict);
    let repeats = repeated_verdicts(store, run.run.as_str(), options)?;
    let record = store.run(run.run.as_str())?;
    let said = store.summaries(record.key)?;
    let judges = store.call_counts(record.key)?;
    let mut summary = summary(&record, run, &database.path, aggregates, &said);
    summary.verdict = Some(decided);
    summary.repeats = repeats.as_ref();
    summary.broken = broken;
    summary.judges = &judges;
    let print_summary = |out: &mut Out<'_>| match format {
        Format::Table => {
            write!(out, "{}", table(aggregates, asked.intervals))?;
            if !judges.is_empty() {
                write!(out, "\n{}", report::judge::table(&judges))?;
            }
            said.iter().try_for_each(|said| write!(out, "\n{}", said_of_the_run(said)))
        }
        Format::Json => output::json(out, &summary),
        Format::Jsonl => output::json_line(out, &summary),
    };
    if asked.summary {
        output::stdout(print_summary)?;
    }
    if format == Format::Table {
        let methods = report::interval::methods(aggregates.iter().map(|it| it.interval));
        methods.iter().for_each(|line| words::say(line));
        say_totals(run, database);
        words::limit_hints(kinds(said.iter().map(|said| &said.error_kind)));
        report::judge::left_out(asked.judges).iter().for_each(|line| words::say(line));
    }
    report::judge::silent_jurors(&judges).iter().for_each(|line| words::warn(line));
    say_bad_cases(run);
    idle::say(store, &record, aggregates)?;
    if errors > 0 {
        say_errors(store, run, &filter, errors, database)?;
    }
    if format == Format::Table {
        decision.say_verdict();
    }
    if let (Format::Table, Some(repeats)) = (format, &repeats) {
        let command = database.command("repeats", run.run.as_str());
        let lines = report::repeats::of_run(repeats, decided, &command);
        lines.iter().for_each(|line| words::say(line));
    }
    // A run that ended early is judged when it is whole.
    let broken = run.stopped.is_none() && !broken.is_empty();
    if broken {
        decision.say_broken(&run.run, database);
    }
    let summary_errors = said.iter().filter(|said| said.error_kind.is_some()).count() as u64;
    Ok(Told { errors, summary_errors, broken })
}

fn summary<'a>(
    record: &'a RunRecord,
    run: &'a RunReport,
    database: &Path,
    scorers: &'a [Aggregate],
    summaries: &'a [SummaryRecord],
) -> Summary<'a> {
    Summary {
        run_id: run.run.as_str(),
        state: record.state.as_str(),
        cases_read: run.progress.cases_read,
        cases_bad: run.progress.cases_bad,
        cases_finished_before: run.progress.cases_finished_before,
        scores_written: run.progress.scores_written,
        scores_reused: run.progress.scores_reused,
        duration_ms: milliseconds(run.duration),
        scores_skipped: run.progress.scores_skipped,
        root: run.root,
        database: database.display().to_string(),
        verdict: None,
        repeats: None,
        broken: &[],
        scorers,
        judges: &[],
        summaries: summaries.iter().map(OfTheRun::new).collect(),
    }
}

impl OfTheRun<'_> {
    fn new(record: &SummaryRecord) -> OfTheRun<'_> {
        OfTheRun {
            scorer_id: &record.scorer_id,
            // Checked when it came over the wall.
            summary: record
                .summary_json
                .as_deref()
                .and_then(|json| serde_json::from_str(json).ok()),
            error: record.error_kind.as_ref().map(|kind| {
                AnswerError::new(kind, record.error_message.clone().unwrap_or_default())
            }),
        }
    }
}

/// A scorer's summary of the run, for people.
fn said_of_the_run(record: &SummaryRecord) -> String {
    let said = match (&record.summary_json, &record.error_kind, &record.error_message) {
        (Some(json), ..) => report::printable(&pretty(json)),
        (None, kind, message) => format!(
            "error: {}: {}",
            report::one_line(kind.as_deref().unwrap_or_default(), 40),
            report::printable(message.as_deref().unwrap_or_default()).replace('\n', "\n  ")
        ),
    };
    format!("{} of the run: {said}\n", report::one_line(&record.scorer_id, 64))
}

fn table(aggregates: &[Aggregate], with_intervals: bool) -> Table {
    let of_points = aggregates.iter().any(|aggregate| highest(aggregate) > 1.0);
    let has_skipped = aggregates.iter().any(|aggregate| aggregate.skipped > 0);
    let mut columns = vec![
        ("scorer", Align::Left),
        ("scored", Align::Right),
        ("n/a", Align::Right),
        ("skipped", Align::Right),
        ("errors", Align::Right),
        ("mean", Align::Right),
        ("95 % interval", Align::Right),
        (if of_points { "spread" } else { "0 … 1" }, Align::Left),
        ("p50", Align::Right),
        ("min", Align::Right),
        ("max", Align::Right),
        ("fuel", Align::Right),
        ("time", Align::Right),
    ];
    columns.retain(|(title, _)| match *title {
        "skipped" => has_skipped,
        "95 % interval" => with_intervals,
        _ => true,
    });
    let mut table = Table::new(&columns);
    for aggregate in aggregates {
        let figure = |value: Option<f64>| value.map_or_else(|| "-".into(), report::score);
        // A database that a stranger wrote may have any number there.
        let time = |ms: f64| {
            Duration::try_from_secs_f64(ms / 1e3).map_or_else(|_| "-".into(), report::duration)
        };
        let mut cells = vec![
            aggregate.scorer_id.clone(),
            report::count(aggregate.count),
            report::count(aggregate.not_applicable),
        ];
        cells.extend(has_skipped.then(|| report::count(aggregate.skipped)));
        cells.extend([report::count(aggregate.errors), figure(aggregate.mean)]);
        cells.extend(with_intervals.then(|| report::interval::interval(aggregate.interval)));
        cells.extend([
            match of_points {
                true => spread(aggregate),
                false => report::sparkline(&aggregate.distribution),
            },
            figure(aggregate.p50),
            figure(aggregate.min),
            figure(aggregate.max),
            aggregate.mean_fuel.map_or_else(|| "-".into(), report::fuel),
            aggregate.mean_duration_ms.map_or_else(|| "-".into(), time),
        ]);
        table.row(cells);
    }
    table
}

/// The end of the range that a distribution is over: 1, or the highest score of points.
fn highest(aggregate: &Aggregate) -> f64 {
    aggregate.max.unwrap_or(0.0).max(1.0)
}

/// A distribution with its range.
fn spread(aggregate: &Aggregate) -> String {
    let bars = report::sparkline(&aggregate.distribution);
    match highest(aggregate) {
        1.0 => format!("{bars} 0 … 1"),
        highest => format!("{bars} 0 … {}", report::score(highest)),
    }
}

fn say_totals(run: &RunReport, database: &Database) {
    let progress = run.progress;
    let mut text = format!(
        "\nrun {}: {}, {} in {}",
        run.run,
        report::counted(progress.cases_done, "case", "cases"),
        report::counted(progress.scores_written, "score", "scores"),
        report::duration(run.duration)
    );
    if progress.scores_reused > 0 {
        let reused = report::count(progress.scores_reused);
        text.push_str(&format!(", {reused} of them reused from earlier runs"));
    }
    if progress.scores_skipped > 0 {
        text.push_str(&format!(", {} skipped", report::count(progress.scores_skipped)));
    }
    if progress.cases_finished_before > 0 {
        let before = report::counted(progress.cases_finished_before, "case was", "cases were");
        text.push_str(&format!(" ({before} finished before)"));
    }
    words::say(&text);
    if run.stopped.is_some() && progress.scores_written + progress.scores_skipped == 0 {
        return;
    }
    words::say(&format!(
        "stored in {}; see them with: {}",
        database.path.display(),
        database.command("scores", run.run.as_str())
    ));
    if let Some(root) = run.root {
        words::say(&format!("root {root}"));
    }
}

fn say_bad_cases(run: &RunReport) {
    if run.stopped.is_some() || run.progress.cases_bad == 0 {
        return;
    }
    words::warn(&format!(
        "{} skipped:",
        report::counted(
            run.progress.cases_bad,
            "line is not a valid case and was",
            "lines are not valid cases and were"
        )
    ));
    for message in &run.bad_cases {
        words::say(&format!("  {}", report::printable(message)));
    }
}

fn kinds<'a>(words: impl Iterator<Item = &'a Option<String>>) -> BTreeSet<ErrorKind> {
    words.flatten().filter_map(|word| ErrorKind::from_word(word)).collect()
}

fn say_errors(
    store: &Store,
    run: &RunReport,
    filter: &ScoreFilter,
    errors: u64,
    database: &Database,
) -> Result<(), Failure> {
    let errors = report::counted(errors, "score is an error", "scores are errors");
    words::warn(&format!("{errors}; first:"));
    let filter = filter.clone().with_errors(true);
    let first = store.scores(&filter, None, ERRORS_SHOWN)?;
    let first = first.iter().map(|record| &record.row);
    let mut error_kinds = BTreeSet::new();
    for (row, error) in first.filter_map(|row| Some((row, row.answer.error.as_ref()?))) {
        words::say(&format!(
            "  {} on {}: {}: {}",
            report::one_line(&row.scorer_id, 64),
            report::one_line(&row.case_id, 60),
            report::one_line(&error.kind, 40),
            report::one_line(&error.message, 160)
        ));
        error_kinds.extend(ErrorKind::from_word(&error.kind));
    }
    words::limit_hints(error_kinds);
    let command = database.command("scores", run.run.as_str());
    words::hint(&format!("show all errors: {command} --errors"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_bar_shows_what_is_done_and_not_what_is_read() {
        let mut progress = Progress::default();
        assert_eq!(bytes_done(&progress), 0);
        (progress.bytes_read, progress.cases_read) = (8000, 300);
        assert_eq!(bytes_done(&progress), 0);
        progress.cases_done = 75;
        assert_eq!(bytes_done(&progress), 2000);
        progress.cases_finished_before = 75;
        assert_eq!(bytes_done(&progress), 4000);
        (progress.cases_read, progress.cases_bad) = (200, 50);
        assert_eq!(bytes_done(&progress), 6400);
        (progress.bytes_read, progress.cases_done) = (u64::MAX, 300);
        assert_eq!(bytes_done(&progress), u64::MAX);
    }

    #[test]
    fn the_progress_bar_counts_bad_lines_where_there_are_any() {
        let mut progress = Progress::default();
        (progress.cases_done, progress.scores_written) = (1200, 2400);
        let said = |progress: &Progress| how_far(progress, Duration::from_secs(2));
        assert_eq!(said(&progress), "1,200 cases, 2,400 scores, 1,200 a second");
        progress.cases_bad = 1;
        assert_eq!(said(&progress), "1,200 cases, 2,400 scores, 1,200 a second, 1 bad line");
        progress.cases_bad = 3_000_000;
        assert!(said(&progress).ends_with(", 3,000,000 bad lines"));
    }
}
