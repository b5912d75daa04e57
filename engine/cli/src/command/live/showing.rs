//! Shows live scoring while it runs: a table that is redrawn on a terminal, an occasional plain line elsewhere, and
//! errors as they happen; and the totals at the end. It counts events, and reads no database.

use std::{
    collections::BTreeSet,
    io::{self, IsTerminal as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use scorebox::{
    row::{Row, Status},
    run::{CaseFinished, Event, ReadyScorer, RunReport, Sink},
    verdict::Verdict,
};

use crate::{
    report::{self, Align, Table},
    run_end, words,
};

/// How often the table is drawn.
const REDRAW: Duration = Duration::from_millis(250);
/// How often a line is written without a terminal, if anything happened.
const LINE: Duration = Duration::from_secs(10);
/// The most invalid lines that are shown; further ones are only counted.
const BAD_SHOWN: u64 = 10;

/// The display of live scoring.
#[derive(Clone)]
pub(super) struct Showing {
    heard: Arc<Mutex<Heard>>,
    is_quiet: bool,
}

/// The counts of the events so far.
#[derive(Default)]
struct Heard {
    cases: u64,
    verdicts: Verdicts,
    /// Whether a scorer decides whether a case passes.
    decides: bool,
    bad: u64,
    scorers: Vec<OfScorer>,
    /// The scorers and error kinds whose first error was shown: few, however many cases fail.
    errors_shown: BTreeSet<(String, String)>,
    /// The display on the terminal; messages are written above it.
    bar: Option<ProgressBar>,
}

/// The verdicts of the cases whose verdict is known.
#[derive(Clone, Copy, Default)]
struct Verdicts {
    passed: u64,
    regressed: u64,
    failed: u64,
    errored: u64,
    skipped: u64,
}

impl Verdicts {
    fn hear(&mut self, case: &CaseFinished) {
        match case.verdict {
            None => {}
            Some(Verdict::Passed) => {
                self.passed += 1;
                self.regressed += u64::from(case.regressions > Some(0));
            }
            Some(Verdict::Failed) => self.failed += 1,
            Some(Verdict::Errored) => self.errored += 1,
            Some(Verdict::Skipped) => self.skipped += 1,
            // A case's event comes once all of its rows are stored.
            Some(Verdict::Undecided) => {}
        }
    }

    /// ` (3 passed, 1 of them with regressions, 2 failed)`, or nothing if nothing was decided.
    fn words(&self, decides: bool) -> String {
        if !decides && self.regressed + self.failed + self.errored + self.skipped == 0 {
            return String::new();
        }
        let each = [
            (self.passed, "passed"),
            (self.regressed, "of them with regressions"),
            (self.failed, "failed"),
            (self.errored, "errored"),
            (self.skipped, "skipped"),
        ];
        let each = each.into_iter().filter(|(number, _)| *number > 0);
        let each: Vec<String> =
            each.map(|(number, what)| format!("{} {what}", report::count(number))).collect();
        match each.is_empty() {
            true => String::new(),
            false => format!(" ({})", each.join(", ")),
        }
    }
}

/// The scores of one scorer.
struct OfScorer {
    id: String,
    scored: u64,
    not_applicable: u64,
    errors: u64,
    sum: f64,
    last: Option<f64>,
}

impl Showing {
    pub(super) fn new(is_quiet: bool) -> Showing {
        Showing { heard: Arc::default(), is_quiet }
    }

    /// The scorers of the run are loaded: whether one of them decides whether a case passes.
    pub(super) fn loaded(&self, scorers: &[ReadyScorer]) {
        locked(&self.heard).decides = scorers.iter().any(|scorer| scorer.policy.can_fail(false));
    }

    /// The sink for the run's events. It shows invalid lines at once, as long as they are few, and the first error of
    /// each scorer and kind.
    pub(super) fn sink(&self) -> impl Sink + use<> {
        let heard = Arc::clone(&self.heard);
        move |event: &Event| {
            locked(&heard).hear(event);
            Ok(())
        }
    }

    /// Prints a warning now, even with `--quiet`.
    pub(super) fn warn(&self, text: &str) {
        locked(&self.heard).warn(text);
    }

    /// Shows the progress until [`Shown::end`].
    pub(super) fn while_it_runs(&self) -> Shown {
        if self.is_quiet {
            return Shown { drawing: None, bar: None };
        }
        let heard = Arc::clone(&self.heard);
        if !io::stderr().is_terminal() {
            let drawing = tokio::spawn(async move {
                let mut before = (0, 0);
                loop {
                    tokio::time::sleep(LINE).await;
                    let heard = locked(&heard);
                    if (heard.cases, heard.bad) != before {
                        words::say(&heard.line());
                        before = (heard.cases, heard.bad);
                    }
                }
            });
            return Shown { drawing: Some(drawing), bar: None };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        let drawn = bar.clone();
        locked(&self.heard).bar = Some(bar.clone());
        let drawing = tokio::spawn(async move {
            loop {
                tokio::time::sleep(REDRAW).await;
                let heard = locked(&heard);
                drawn.set_message(format!("{}{}", heard.table(), heard.line()));
            }
        });
        Shown { drawing: Some(drawing), bar: Some(bar) }
    }
}

/// A visible display.
pub(super) struct Shown {
    drawing: Option<tokio::task::JoinHandle<()>>,
    bar: Option<ProgressBar>,
}

impl Shown {
    /// Removes the display.
    pub(super) fn end(self) {
        if let Some(drawing) = self.drawing {
            drawing.abort();
        }
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Heard {
    fn hear(&mut self, event: &Event) {
        match event {
            Event::Started(started) => {
                let scorer = |id: String| OfScorer {
                    id,
                    scored: 0,
                    not_applicable: 0,
                    errors: 0,
                    sum: 0.0,
                    last: None,
                };
                self.scorers = started.scorer_ids.iter().map(|id| scorer(id.to_string())).collect();
            }
            Event::CaseFinished(case) => {
                self.cases += 1;
                self.verdicts.hear(case);
            }
            Event::BadCase(refused) => {
                self.bad += 1;
                if self.bad <= BAD_SHOWN {
                    self.warn(&format!("not scored: {}", refused.message));
                }
                if self.bad == BAD_SHOWN {
                    self.above_the_bar(|| {
                        words::say("further invalid lines are counted and not shown");
                    });
                }
            }
            event => {
                let Some(row) = event.row() else { return };
                self.say_first_error(row);
                let mut scorers = self.scorers.iter_mut();
                let Some(scorer) = scorers.find(|scorer| scorer.id == row.scorer_id) else {
                    return;
                };
                match row.answer.status {
                    Status::Scored => {
                        scorer.scored += 1;
                        scorer.sum += row.answer.score.unwrap_or_default();
                        scorer.last = row.answer.score;
                    }
                    Status::NotApplicable => scorer.not_applicable += 1,
                    Status::Error => scorer.errors += 1,
                    Status::Skipped => {}
                }
            }
        }
    }

    /// Shows an error if it is the scorer's first of its kind.
    fn say_first_error(&mut self, row: &Row) {
        let Some(error) = &row.answer.error else { return };
        if self.errors_shown.insert((row.scorer_id.clone(), error.kind.clone())) {
            let words = run_end::error_words(row, error);
            self.warn(&format!("no score (further errors of this kind are counted): {words}"));
        }
    }

    fn warn(&self, text: &str) {
        self.above_the_bar(|| words::warn(text));
    }

    /// Prints something while the display is hidden.
    fn above_the_bar(&self, say: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&[
            ("scorer", Align::Left),
            ("scored", Align::Right),
            ("n/a", Align::Right),
            ("errors", Align::Right),
            ("mean", Align::Right),
            ("last", Align::Right),
        ]);
        for scorer in &self.scorers {
            let figure = |value: Option<f64>| value.map_or_else(|| "-".into(), report::score);
            let mean = (scorer.scored > 0).then(|| scorer.sum / scorer.scored as f64);
            table.row(vec![
                scorer.id.clone(),
                report::count(scorer.scored),
                report::count(scorer.not_applicable),
                report::count(scorer.errors),
                figure(mean),
                figure(scorer.last),
            ]);
        }
        table
    }

    /// The progress, in one line.
    fn line(&self) -> String {
        let scores = self.scorers.iter().map(|it| it.scored + it.not_applicable).sum();
        let errors: u64 = self.scorers.iter().map(|scorer| scorer.errors).sum();
        let mut line = format!(
            "{}{}, {}",
            report::counted(self.cases, "case", "cases"),
            self.verdicts.words(self.decides),
            report::counted(scores, "score", "scores")
        );
        if errors > 0 {
            line.push_str(&format!(", {}", report::counted(errors, "error", "errors")));
        }
        if self.bad > 0 {
            let bad = report::counted(self.bad, "invalid line", "invalid lines");
            line.push_str(&format!(", {bad}"));
        }
        line
    }
}

/// Prints the totals.
pub(super) fn totals(run: &RunReport, scores: &str) {
    let progress = &run.progress;
    let mut text = format!(
        "\nrun {}: {}, {}",
        run.run,
        report::counted(progress.cases_done, "case", "cases"),
        report::counted(progress.scores_written.saturating_sub(progress.errors), "score", "scores"),
    );
    for (count, one, many) in [
        (progress.errors, "error", "errors"),
        (progress.scores_skipped, "skipped", "skipped"),
        (progress.cases_bad, "invalid line", "invalid lines"),
        (progress.cases_finished_before, "case known before", "cases known before"),
    ] {
        if count > 0 {
            text.push_str(&format!(", {}", report::counted(count, one, many)));
        }
    }
    words::say(&text);
    words::say(&format!("see the scores with: {scores}"));
}

fn locked(heard: &Mutex<Heard>) -> MutexGuard<'_, Heard> {
    // The locked data is consistent after every statement, so a panic elsewhere does no harm.
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_said_as_far_as_there_are_any() {
        let mut verdicts = Verdicts::default();
        assert_eq!(verdicts.words(true), "");
        verdicts.passed = 3;
        assert_eq!(
            (verdicts.words(false).as_str(), verdicts.words(true).as_str()),
            ("", " (3 passed)")
        );
        (verdicts.passed, verdicts.regressed, verdicts.errored) = (1200, 1, 2);
        assert_eq!(verdicts.words(false), " (1,200 passed, 1 of them with regressions, 2 errored)");
    }
}
