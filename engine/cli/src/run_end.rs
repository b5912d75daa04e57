//! What the user reads at the end of a run, whether its cases were in files or came one by one: the table of the
//! scorers; the first errors; in `idle` the scorers that scored no case; in `unseen` the parts of the cases that no
//! scorer reads; in `stopped` why the run stopped early; and in `broke_off` that the database stored no more scores.
//! Each command shows its own progress and totals.

pub(crate) mod broke_off;
pub(crate) mod idle;
pub(crate) mod stopped;
mod unseen;

use std::{collections::BTreeSet, time::Duration};

use scorebox::{
    aggregate::{Aggregate, DecidedRun},
    row::{AnswerError, Row},
    sandbox::ErrorKind,
    store::{RunRecord, ScoreFilter, Store, StoreError},
    verdict::Broken,
};

use crate::{
    arguments::Database,
    failure::Failure,
    report::{self, Align, Table, summaries},
    words,
};

/// The most errors that are shown at the end.
const ERRORS_SHOWN: usize = 3;

/// The most lines of an error's message that are shown, and the most characters of each.
const MESSAGE_SHOWN: (usize, usize) = (8, 160);

/// The most spaces at the beginning of such a line that are shown.
const MAX_INDENT: usize = 16;

/// Warnings of what the figures of a run do not show: scorers that scored nothing, except those that `broken` names,
/// and parts of the cases that no scorer reads.
pub(crate) fn warnings(
    store: &Store,
    run: &RunRecord,
    aggregates: &[Aggregate],
    decided: &DecidedRun,
    broken: &[Broken],
) -> Result<Vec<idle::Warning>, StoreError> {
    let mut warnings = idle::warnings(store, run, aggregates, broken)?;
    warnings.extend(unseen::warning(store, run, decided)?);
    Ok(warnings)
}

/// Warns of scorers that scored nothing, except those that `broken` names, and shows the first errors and those of
/// summaries, with what to do about them.
pub(crate) fn say_what_is_wrong(
    store: &Store,
    run: &RunRecord,
    aggregates: &[Aggregate],
    decided: &DecidedRun,
    broken: &[Broken],
    database: &Database,
) -> Result<(), Failure> {
    for warning in warnings(store, run, aggregates, decided, broken)? {
        words::warn(&warning.message);
        warning.hint.into_iter().for_each(words::hint);
    }
    match aggregates.iter().map(|aggregate| aggregate.errors).sum() {
        0 => {}
        errors => say_errors(store, run.spec.id.as_str(), errors, database)?,
    }
    let summaries = store.summaries(run.key)?;
    summaries::errors_in_short(&summaries).for_each(|it| words::warn(&it));
    words::limit_hints(summaries::error_kinds(&summaries));
    Ok(())
}

/// An error of a scorer, with the first lines of its message.
pub(crate) fn error_words(row: &Row, error: &AnswerError) -> String {
    format!(
        "{} on {}: {}: {}",
        report::one_line(&row.scorer_id, 64),
        report::case_name(&report::one_line(&row.case_id, 60), row.iteration, row.attempt),
        report::one_line(&error.kind, 40),
        message_words(&error.message)
    )
}

/// The first lines of a message, without empty ones; later lines keep their indentation.
fn message_words(message: &str) -> String {
    let (most_lines, most_characters) = MESSAGE_SHOWN;
    let mut lines = message.lines().filter(|line| !line.trim().is_empty());
    let mut words = report::one_line(lines.next().unwrap_or_default(), most_characters);
    for line in lines.by_ref().take(most_lines - 1) {
        let indent = line.chars().take_while(|it| it.is_whitespace()).take(MAX_INDENT).count();
        let text = report::one_line(line, most_characters);
        words.push_str(&format!("\n{:indent$}{text}", ""));
    }
    if lines.next().is_some() {
        words.push_str("\n…");
    }
    words
}

/// The figures of each scorer.
pub(crate) fn table(aggregates: &[Aggregate], with_intervals: bool) -> Table {
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
        // An untrusted database may contain any number here.
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

/// The upper end of a distribution's range: 1, or the highest score of points.
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

fn say_errors(store: &Store, run: &str, errors: u64, database: &Database) -> Result<(), Failure> {
    let errors = report::counted(errors, "score is an error", "scores are errors");
    words::warn(&format!("{errors}; first:"));
    let first = store.scores(&ScoreFilter::of_run(run).with_errors(true), None, ERRORS_SHOWN)?;
    let first = first.iter().map(|record| &record.row);
    let mut error_kinds = BTreeSet::new();
    for (row, error) in first.filter_map(|row| Some((row, row.answer.error.as_ref()?))) {
        words::item(&error_words(row, error));
        error_kinds.extend(ErrorKind::from_word(&error.kind));
    }
    words::limit_hints(error_kinds);
    let command = database.command("scores", run);
    words::hint(&format!("show all errors: {command} --errors"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_keeps_its_lines_up_to_a_number_of_them() {
        assert_eq!(message_words("one"), "one");
        assert_eq!(message_words(""), "");
        assert_eq!(message_words("\ntwo faults:\r\n  - a\n\n  - b\n"), "two faults:\n  - a\n  - b");
        let many: String = (0..20).map(|number| format!("{number}\n")).collect();
        assert_eq!(message_words(&many), "0\n1\n2\n3\n4\n5\n6\n7\n…");
        let wide = format!("a\n{}b", " ".repeat(1000));
        assert_eq!(message_words(&wide), format!("a\n{}b", " ".repeat(MAX_INDENT)));
    }
}
