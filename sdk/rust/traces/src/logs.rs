//! Reads the log records in which the first versions of OpenTelemetry's conventions for generative AI keep messages, if
//! they come without their spans. What a record contains is read elsewhere.

use serde_json::Value;

use crate::TraceError;
use crate::builder::Builder;
use crate::conversation::Conversation;
use crate::fields::{Object, has, list};
use crate::span_messages::{event_name, from_event, is_message_event};

/// The keys under which an exporter has its records.
const LISTS: [&str; 6] =
    ["resourceLogs", "resource_logs", "scopeLogs", "scope_logs", "logRecords", "log_records"];

/// The keys of spans in the same document, which contain more.
const SPANS: [&str; 4] = ["resourceSpans", "resource_spans", "scopeSpans", "scope_spans"];

/// Whether an object is a record of a message, or contains records as an exporter writes them.
pub(super) fn is_record(object: &Object) -> bool {
    let is_message = || event_name(object).is_some_and(is_message_event);
    !has(object, &SPANS) && (has(object, &LISTS) || is_message())
}

/// Reads records in their order in the document. Each model call first repeats its input, then gives the answer.
pub(super) fn read(builder: &mut Builder, value: Value) -> Result<(), TraceError> {
    let mut records = Vec::new();
    collect(value, &mut records);
    let found = records.len();
    let mut conversation = Conversation::default();
    let (mut asked, mut said) = (Vec::new(), Vec::new());
    for record in records {
        if !event_name(&record).is_some_and(is_message_event) {
            continue;
        }
        builder.understood += 1;
        from_event(record, &mut asked, &mut said);
        if !said.is_empty() {
            conversation.read(builder, std::mem::take(&mut asked));
            conversation.add(builder, std::mem::take(&mut said));
        }
    }
    conversation.read(builder, asked);
    if builder.understood == 0 && found > 0 {
        let what = "none of its log records is an event of `gen_ai.*`";
        return Err(TraceError::unknown(what));
    }
    Ok(())
}

fn collect(value: Value, into: &mut Vec<Object>) {
    match value {
        Value::Array(items) => items.into_iter().for_each(|item| collect(item, into)),
        Value::Object(mut object) => {
            let lists: Vec<_> = LISTS.iter().filter_map(|key| list(&mut object, &[key])).collect();
            if lists.is_empty() {
                into.push(object);
            }
            lists.into_iter().for_each(|items| collect(Value::Array(items), into));
        }
        _ => {}
    }
}
