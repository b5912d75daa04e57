//! The scorers' summaries of a run, which are about all its cases together, as text and as JSON. It runs no scorer.

use std::collections::BTreeSet;

use scorebox::{
    row::AnswerError,
    sandbox::ErrorKind,
    store::{RunState, SummaryRecord},
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{one_line, pretty, printable};

/// A scorer's summary of the run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScorerSummary<'a> {
    scorer_id: &'a str,
    summary: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<AnswerError>,
}

impl ScorerSummary<'_> {
    pub(crate) fn new(record: &SummaryRecord) -> ScorerSummary<'_> {
        ScorerSummary {
            scorer_id: &record.scorer_id,
            // Checked when it left the sandbox.
            summary: summary(record),
            error: error(record),
        }
    }
}

/// The scorer's JSON; `None` if there is an error.
pub(crate) fn summary(record: &SummaryRecord) -> Option<&RawValue> {
    record.summary_json.as_deref().and_then(|json| serde_json::from_str(json).ok())
}

/// Why the scorer has no summary.
pub(crate) fn error(record: &SummaryRecord) -> Option<AnswerError> {
    let kind = record.error_kind.as_ref()?;
    Some(AnswerError::new(kind, record.error_message.clone().unwrap_or_default()))
}

/// A scorer's summary of the run, for people; if the run is not finished, the text says that it covers what was stored
/// by then.
pub(crate) fn said(record: &SummaryRecord, state: RunState) -> String {
    let said = match (&record.summary_json, &record.error_kind, &record.error_message) {
        (Some(json), ..) => printable(&pretty(json)),
        (None, kind, message) => format!(
            "error: {}: {}",
            one_line(kind.as_deref().unwrap_or_default(), 40),
            printable(message.as_deref().unwrap_or_default()).replace('\n', "\n  ")
        ),
    };
    let so_far = if state == RunState::Finished { "" } else { " so far" };
    format!("{} of the run{so_far}: {said}\n", one_line(&record.scorer_id, 64))
}

/// The summaries that are errors, for people.
pub(crate) fn said_errors(
    records: &[SummaryRecord],
    state: RunState,
) -> impl Iterator<Item = String> {
    let errors = records.iter().filter(|record| record.error_kind.is_some());
    errors.map(move |record| said(record, state).trim_end().to_owned())
}

/// The same, one line each, with only the first line of each message.
pub(crate) fn errors_in_short(records: &[SummaryRecord]) -> impl Iterator<Item = String> {
    records.iter().filter_map(|record| {
        let error = error(record)?;
        let first = error.message.lines().next().unwrap_or_default();
        let (scorer, kind) = (one_line(&record.scorer_id, 64), one_line(&error.kind, 40));
        Some(format!("the summary of `{scorer}` is an error: {kind}: {}", one_line(first, 200)))
    })
}

/// Whether a summary is an error.
pub(crate) fn have_error(records: &[SummaryRecord]) -> bool {
    records.iter().any(|record| record.error_kind.is_some())
}

/// The kinds of the errors among them.
pub(crate) fn error_kinds(records: &[SummaryRecord]) -> BTreeSet<ErrorKind> {
    let kinds = records.iter().filter_map(|record| record.error_kind.as_deref());
    kinds.filter_map(ErrorKind::from_word).collect()
}
