//! Writes CSV: a line for each score, with the verdict of its case, for spreadsheets and data frames. The first line
//! has the names of the columns, and no text is a formula.

use std::io;

use crate::{
    aggregate::{VerdictOptions, decides},
    row::Status,
    store::{ScoreRecord, Store},
};

use super::{
    ReportError, ReportOptions,
    cases::{ReportedCase, for_each_case},
    spreadsheet::{cell_number, cell_text},
};

/// The columns, with their names in the database.
const COLUMNS: [&str; 22] = [
    "run_id",
    "case_id",
    "node_id",
    "iteration",
    "attempt",
    "verdict",
    "case_score",
    "scorer_id",
    "status",
    "score",
    "label",
    "reason",
    "error_kind",
    "error_message",
    "severity",
    "threshold",
    "standing",
    "fuel",
    "memory_bytes",
    "duration_ms",
    "scored_at_ms",
    "decisive_assertions",
];

pub(super) fn write(
    store: &Store,
    options: ReportOptions<'_>,
    out: &mut dyn io::Write,
) -> Result<(), ReportError> {
    let how = VerdictOptions { node: None, strict: options.strict };
    let decides = decides(store, options.run, how)?;
    let mut table = csv::Writer::from_writer(out);
    table.write_record(COLUMNS).map_err(io_error)?;
    for_each_case(store, options, |case| {
        case.rows.iter().try_for_each(|record| {
            table.write_record(values(case, record, decides)).map_err(io_error)?;
            Ok(())
        })
    })?;
    Ok(table.flush()?)
}

/// The values of a line, in the order of [`COLUMNS`]; missing values are empty, and so is the verdict of a case that
/// passed if no scorer `decides` whether one does.
fn values(case: &ReportedCase<'_>, record: &ScoreRecord, decides: bool) -> [String; COLUMNS.len()] {
    let number = |value: Option<f64>| value.map_or_else(String::new, cell_number);
    let integer = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let text =
        |text: Option<&String>| text.map_or_else(String::new, |it| cell_text(it).into_owned());
    let (row, verdict) = (&record.row, case.decided.verdict.shown(decides));
    let answer = &row.answer;
    let error = answer.error.as_ref();
    let against = case.decided.against.iter().find(|against| against.scorer_id == row.scorer_id);
    let decisive = against.into_iter().flat_map(|against| &against.assertions);
    let decisive: Vec<String> = decisive.map(ToString::to_string).collect();
    [
        cell_text(record.run_id.as_str()).into_owned(),
        text(Some(&row.case_id)),
        text(row.node_id.as_ref()),
        row.iteration.to_string(),
        row.attempt.to_string(),
        verdict.verdict.map_or_else(String::new, |it| it.as_str().to_owned()),
        number(verdict.score),
        text(Some(&row.scorer_id)),
        answer.status.as_str().to_owned(),
        number(answer.score),
        text(answer.label.as_ref()),
        text(answer.reason.as_ref()),
        text(error.map(|error| &error.kind)),
        text(error.map(|error| &error.message)),
        record.severity.as_str().to_owned(),
        number(record.threshold),
        match (against, answer.status) {
            (Some(against), _) => against.standing.as_str().to_owned(),
            (None, Status::Scored) => "holds".to_owned(),
            // Without a score, nothing can pass.
            (None, _) => String::new(),
        },
        integer(answer.fuel),
        integer(answer.memory_bytes),
        number(answer.duration_ms),
        row.scored_at_ms.to_string(),
        cell_text(decisive.join("\n")).into_owned(),
    ]
}

/// All values are strings, so no other error can occur.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
