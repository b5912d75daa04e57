//! Writes JSON Lines: an object for each case, with its verdict and each scorer's answer. Invisible characters in texts
//! are escaped.

use std::io;

use serde::Serialize;

use crate::{
    aggregate::{ShownCase, VerdictOptions, decides},
    row::ScorerAnswer,
    store::{RunId, Store},
    terminal::visible_json_line,
};

use super::{
    ReportError, ReportOptions,
    cases::{ReportedCase, for_each_case},
};

/// A case in the form that is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    run_id: &'a RunId,
    #[serde(flatten)]
    case: ShownCase<'a>,
    scores: Vec<ScorerAnswer<'a>>,
}

pub(super) fn write(
    store: &Store,
    options: ReportOptions<'_>,
    out: &mut dyn io::Write,
) -> Result<(), ReportError> {
    let run = store.run(options.run)?.spec.id;
    let how = VerdictOptions { node: None, strict: options.strict };
    let decides = decides(store, options.run, how)?;
    for_each_case(store, options, |case| {
        let json = serde_json::to_string(&line(&run, case, decides)).map_err(io::Error::from)?;
        Ok(writeln!(out, "{}", visible_json_line(&json))?)
    })?;
    Ok(())
}

fn line<'a>(run_id: &'a RunId, reported: &'a ReportedCase<'_>, decides: bool) -> Line<'a> {
    let answer = |record: &'a crate::store::ScoreRecord| ScorerAnswer {
        scorer_id: &record.row.scorer_id,
        answer: &record.row.answer,
    };
    let scores = reported.rows.iter().map(answer).collect();
    Line { run_id, case: reported.decided.shown(decides), scores }
}
