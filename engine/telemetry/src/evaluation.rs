//! A score as an event of OpenTelemetry's conventions for generative AI, `gen_ai.evaluation.result`: a log record with
//! that name, in the trace of its case. Sends nothing.

use std::time::{Duration, SystemTime};

use opentelemetry::{
    SpanId, TraceId,
    logs::{AnyValue, LogRecord, Severity},
};
use scorebox::{row::Status, run::ScorerEnded};

/// The event's name.
const NAME: &str = "gen_ai.evaluation.result";
/// The most bytes of a text that are sent, because waiting events are kept in memory.
const TEXT_BYTES: usize = 2048;

/// Whether a score becomes an event: a scorer that does not apply has no result.
pub(crate) fn has_event(ended: &ScorerEnded) -> bool {
    matches!(ended.row.answer.status, Status::Scored | Status::Error)
}

/// Writes the result of a scorer into a log record.
pub(crate) fn fill(record: &mut impl LogRecord, ended: &ScorerEnded) {
    let row = &ended.row;
    let answer = &row.answer;
    record.set_event_name(NAME);
    let since = Duration::from_millis(u64::try_from(row.scored_at_ms).unwrap_or_default());
    record.set_timestamp(SystemTime::UNIX_EPOCH + since);
    let severity = if answer.error.is_some() { Severity::Warn } else { Severity::Info };
    record.set_severity_number(severity);
    record.set_severity_text(severity.name());
    record.add_attribute("gen_ai.evaluation.name", row.scorer_id.clone());
    if let Some(score) = answer.score {
        record.add_attribute("gen_ai.evaluation.score.value", score);
    }
    if let Some(label) = &answer.label {
        record.add_attribute("gen_ai.evaluation.score.label", cut(label));
    }
    if let Some(reason) = &answer.reason {
        record.add_attribute("gen_ai.evaluation.explanation", cut(reason));
    }
    if let Some(error) = &answer.error {
        record.add_attribute("error.type", error.kind.clone());
        record.set_body(AnyValue::from(cut(&error.message)));
    }
    record.add_attribute("scorebox.run.id", ended.run_id.to_string());
    record.add_attribute("scorebox.scorer.name", ended.scorer_name.clone());
    record.add_attribute("scorebox.case.id", row.case_id.clone());
    if let Some(node) = &row.node_id {
        record.add_attribute("scorebox.node.id", node.clone());
    }
    record.add_attribute("scorebox.iteration", i64::from(row.iteration));
    record.add_attribute("scorebox.attempt", i64::from(row.attempt));
    record.add_attribute("scorebox.reused", ended.is_reused);
    if let Some(trace) = ended.trace {
        let span = trace.span_id().map_or(SpanId::INVALID, SpanId::from_bytes);
        record.set_trace_context(TraceId::from_bytes(trace.trace_id()), span, None);
    }
}

/// A text, cut to the limit.
fn cut(text: &str) -> String {
    match text.len() <= TEXT_BYTES {
        true => text.to_owned(),
        false => format!("{}…", &text[..text.floor_char_boundary(TEXT_BYTES)]),
    }
}
