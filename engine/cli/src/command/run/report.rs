//! Shows a run to the user: the progress bar, and the summary at the end. `run_end` has the parts that live runs share.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use scorebox::{
    aggregate::{Aggregate, DecidedRun, Repeats, VerdictOptions, add_intervals, repeated_verdicts},
    digest::Digest,
    judge::{JudgeCounts, Judges},
    row::milliseconds,
    run::{Control, Progress, RunReport},
    store::{CallCounts, RunRecord, Store, SummaryRecord},
    verdict::{Broken, Requirements},
};
use serde::Serialize;

use crate::{
    arguments::Database,
    decision::Decision,
    failure::Failure,
    output::{self, Format, Out},
    report::{
        self,
        summaries::{self, ScorerSummary},
    },
    run_end, words,
};

/// How often the progress bar is drawn.
const REDRAW: Duration = Duration::from_millis(100);

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
    let (progress, elapsed) = (control.progress(), started.elapsed());
    let total = progress.bytes_total.filter(|_| !control.is_ending());
    let place = total.map(|total| (bytes_done(&progress).min(total), total));
    let asking = report::judge::asking(&judges.counts(), elapsed);
    let asking = asking.map(|words| format!("; {words}")).unwrap_or_default();
    let ending = match control.is_ending() {
        true => "; checking what is stored, and its root",
        false => "",
    };
    show(bar, place, format!("{}{asking}{ending}", how_far(&progress, elapsed)));
}

/// Draws the position and the total, if known, and the text.
fn show(bar: &ProgressBar, place: Option<(u64, u64)>, words: String) {
    let style = match place {
        Some((0, _)) => "{bar:30} {percent:>3}% {msg}",
        Some(_) => "{bar:30} {percent:>3}%, {eta} left; {msg}",
        None => "{spinner} {msg}",
    };
    // The style comes first, because every other setting is drawn at once.
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar.set_message(words);
    if let Some((done, total)) = place {
        bar.set_length(total);
        bar.set_position(done);
    }
    bar.tick();
}

/// An estimate of the bytes of the cases that are done: the same share of the bytes read as of the cases read. A small
/// file is read long before its scores exist.
fn bytes_done(progress: &Progress) -> u64 {
    let Progress { cases_read, cases_done, cases_finished_before, cases_bad, .. } = progress;
    let done = u128::from(cases_done + cases_finished_before + cases_bad);
    let read = u128::from(cases_read + cases_bad).max(1);
    let bytes = u128::from(progress.bytes_read) * done.min(read) / read;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The progress of a run, as text for the progress bar.
fn how_far(progress: &Progress, elapsed: Duration) -> String {
    let mut words = format!(
        "{} cases, {} scores, {} a second",
        report::count(progress.cases_done),
        report::count(progress.scores_written),
        report::rate(progress.scores_written, elapsed)
    );
    if progress.cases_finished_before > 0 {
        let before = report::counted(progress.cases_finished_before, "case", "cases");
        words = format!("{before} finished before; {words}");
    }
    if progress.cases_bad > 0 {
        let bad = report::counted(progress.cases_bad, "bad line", "bad lines");
        words.push_str(&format!(", {bad}"));
    }
    words
}

impl Bar {
    /// Removes the bar.
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
    summaries: Vec<ScorerSummary<'a>>,
}

/// The parts that the user wants to see.
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

/// The printed results.
pub(super) struct Printed {
    /// Scores of the run that are errors.
    pub errors: u64,
    /// Whether a scorer's summary of the run is an error.
    pub has_summary_error: bool,
    /// The broken requirements; empty for a run that ended early.
    pub broken: Vec<Broken>,
}

/// Prints the summary, the verdict, errors and warnings.
pub(super) fn print(store: &Store, run: &RunReport, asked: &Asked<'_>) -> Result<Printed, Failure> {
    let (format, database) = (asked.format, asked.database);
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
            write!(out, "{}", run_end::table(aggregates, asked.intervals))?;
            if !judges.is_empty() {
                write!(out, "\n{}", report::judge::table(&judges))?;
            }
            said.iter()
                .try_for_each(|said| write!(out, "\n{}", summaries::said(said, record.state)))
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
        report::judge::left_out(asked.judges).iter().for_each(|line| words::say(line));
    }
    report::judge::silent_jurors(&judges).iter().for_each(|line| words::warn(line));
    say_bad_cases(run);
    // A run that ended early is judged once it is complete.
    let broken = if run.stopped.is_none() { broken.clone() } else { Vec::new() };
    run_end::say_what_is_wrong(store, &record, aggregates, decided, &broken, database)?;
    if format == Format::Table {
        decision.say_verdict();
    }
    if let (Format::Table, Some(repeats)) = (format, &repeats) {
        let command = database.command("repeats", run.run.as_str());
        let lines = report::repeats::of_run(repeats, &command);
        lines.iter().for_each(|line| words::say(line));
    }
    if !broken.is_empty() {
        decision.say_broken(&run.run, database);
    }
    let has_summary_error = summaries::have_error(&said);
    Ok(Printed { errors, has_summary_error, broken })
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
        summaries: summaries.iter().map(ScorerSummary::new).collect(),
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
    let shown = match run.bad_cases.len() as u64 {
        shown if shown < run.progress.cases_bad => format!("; the first {shown}"),
        _ => String::new(),
    };
    words::warn(&format!(
        "{} skipped{shown}:",
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

#[cfg(test)]
mod tests {
    use std::{io, sync::Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal that keeps what is written to it.
    #[derive(Clone, Debug, Default)]
    struct Written(Arc<Mutex<Vec<String>>>);

    impl TermLike for Written {
        fn width(&self) -> u16 {
            100
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push(text.trim_end().to_owned());
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_progress_bar_looks_the_same_from_its_first_frame_on() {
        let terminal = Written::default();
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let bar = ProgressBar::with_draw_target(None, target);
        show(&bar, Some((0, 100)), "0 cases".to_owned());
        show(&bar, Some((50, 100)), "5 cases".to_owned());
        let drawn = terminal.0.lock().unwrap();
        let frames: Vec<&String> = drawn.iter().filter(|text| !text.is_empty()).collect();
        assert_eq!(*frames[0], format!("{}   0% 0 cases", "░".repeat(30)));
        assert!(frames.iter().all(|frame| frame.contains('%') && frame.ends_with(" cases")));
        assert!(frames.last().unwrap().contains(" 50%, "), "{frames:?}");
    }

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
