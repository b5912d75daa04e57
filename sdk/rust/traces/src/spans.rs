//! Reads OpenTelemetry spans: finds them in what an exporter wrote, and converts each into one form. What they mean is
//! decided elsewhere.

use serde_json::{Map, Value};

use crate::fields::{self, Object, has, id, list, take, text, word};
use crate::times::{Time, Unit};

/// How many ancestors of a span are visited, because parents may form a circle.
pub(super) const ANCESTORS: i32 = 64;

/// One span.
#[derive(Debug, Default)]
pub(super) struct Span {
    /// The trace in which its id is unique.
    pub trace_id: Option<String>,
    pub id: Option<String>,
    pub parent_id: Option<String>,
    /// The span that encloses it in the document, if spans are nested.
    pub inside: Option<usize>,
    pub name: String,
    /// The kind of step, in the terms of a format other than OpenTelemetry.
    pub kind: Option<String>,
    pub start: Option<Time>,
    pub end: Option<Time>,
    pub attributes: Object,
    pub events: Vec<Value>,
    /// What went wrong.
    pub error: Option<String>,
}

/// Whether an object is a span, or contains spans as an exporter writes them.
pub(super) fn is_span(object: &Object) -> bool {
    let attributes = object.get("attributes").is_some_and(|a| a.is_object() || a.is_array());
    let ids = ["spanId", "span_id", "context", "traceId", "trace_id", "startTimeUnixNano"];
    has(object, &["resourceSpans", "resource_spans", "scopeSpans", "scope_spans"])
        || attributes && (has(object, &ids) || has(object, &["start_time", "startTime", "startMs"]))
        || object.get("children").is_some_and(Value::is_array) && has(object, &["name", "type"])
        || is_attributes(object)
        || attributes && object.get("attributes").is_some_and(names_gen_ai)
}

/// Whether an object is itself the attributes of a span.
fn is_attributes(object: &Object) -> bool {
    object.keys().any(|key| key.starts_with("gen_ai."))
}

fn names_gen_ai(attributes: &Value) -> bool {
    match attributes {
        Value::Object(object) => is_attributes(object),
        Value::Array(pairs) => pairs.iter().any(|pair| {
            let key = pair.get("key").and_then(Value::as_str);
            key.is_some_and(|key| key.starts_with("gen_ai."))
        }),
        _ => false,
    }
}

/// Collects all spans of a value, in the order of the document.
pub(super) fn collect(value: Value, inside: Option<usize>, into: &mut Vec<Span>) {
    match value {
        Value::Array(items) => items.into_iter().for_each(|item| collect(item, inside, into)),
        Value::Object(mut object) => {
            let mut lists = false;
            for key in LISTS {
                if let Some(items) = list(&mut object, &[key]) {
                    lists = true;
                    collect(Value::Array(items), inside, into);
                }
            }
            if !lists {
                read_span(object, inside, into);
            }
        }
        _ => {}
    }
}

const LISTS: [&str; 8] = [
    "resourceSpans",
    "resource_spans",
    "scopeSpans",
    "scope_spans",
    "instrumentationLibrarySpans",
    "spans",
    "batches",
    "traces",
];

/// The units of the numbers under the keys of a span's times.
const UNITS: [Unit; 5] =
    [Unit::Nanoseconds, Unit::Nanoseconds, Unit::BySize, Unit::BySize, Unit::Milliseconds];

fn read_span(mut object: Object, inside: Option<usize>, into: &mut Vec<Span>) {
    let mut span = Span { inside, ..Span::default() };
    if is_attributes(&object) {
        span.attributes = object;
        into.push(span);
        return;
    }
    let mut context = match take(&mut object, &["context", "spanContext", "span_context"]) {
        Some(Value::Object(context)) => context,
        _ => Object::new(),
    };
    let ids = ["traceId", "trace_id"];
    span.trace_id = id(&mut object, &ids).or_else(|| id(&mut context, &ids));
    let ids = ["spanId", "span_id"];
    span.id = id(&mut object, &ids)
        .or_else(|| id(&mut context, &ids))
        .or_else(|| id(&mut object, &["uuid", "id"]));
    let parents = ["parentSpanId", "parent_span_id", "parentId", "parent_id", "parentUuid"];
    span.parent_id = id(&mut object, &parents);
    span.name = text(&mut object, &["name"]).unwrap_or_default();
    span.kind = text(&mut object, &["type"]);
    let time = |keys: [&str; 5]| {
        keys.iter().zip(UNITS).find_map(|(key, unit)| Time::read(object.get(*key), unit))
    };
    span.start =
        time(["startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "startMs"]);
    span.end = time(["endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime", "endMs"]);
    span.attributes = attributes(take(&mut object, &["attributes"]));
    for key in ["input", "output"] {
        if let Some(value) = take(&mut object, &[key]) {
            span.attributes.entry(format!("{key}.value")).or_insert(value);
        }
    }
    span.events = list(&mut object, &["events"]).unwrap_or_default();
    span.error = failure(&mut object, &span.attributes);
    let children = list(&mut object, &["children"]).unwrap_or_default();
    into.push(span);
    let inside = Some(into.len() - 1);
    children.into_iter().for_each(|child| collect(child, inside, into));
}

fn failure(object: &mut Object, attributes: &Object) -> Option<String> {
    let by_type = word(attributes, "error.type").map(str::to_owned);
    let codes = ["status_code", "statusCode"];
    let (code, message) = match take(object, &["status"]) {
        Some(Value::Object(mut status)) => (
            take(&mut status, &["code"]).or_else(|| take(&mut status, &codes)),
            text(&mut status, &["message", "description"]),
        ),
        status => (status, None),
    };
    // Phoenix has both next to the name of the span.
    let code = code.or_else(|| take(object, &codes));
    let message = message.or_else(|| text(object, &["status_message", "statusMessage"]));
    let failed = match code {
        Some(Value::Number(code)) => code.as_u64() == Some(2),
        Some(Value::String(code)) => {
            let code = code.to_ascii_lowercase();
            matches!(code.as_str(), "2" | "error" | "errored" | "status_code_error")
        }
        _ => false,
    };
    let stated = failed.then(|| {
        message.filter(|message| !message.is_empty()).unwrap_or_else(|| "error".to_owned())
    });
    let error = fields::error_text(take(object, &["error"]));
    match (stated, by_type) {
        (Some(stated), Some(kind)) if stated == "error" => Some(kind),
        (stated, kind) => stated.or(kind).or(error),
    }
}

/// Attributes as an object; also converts OTLP's list of keys with typed values.
pub(super) fn attributes(value: Option<Value>) -> Object {
    match value {
        Some(Value::Object(object)) => object,
        Some(Value::Array(pairs)) => {
            let mut object = Map::new();
            for pair in pairs {
                if let Value::Object(mut pair) = pair
                    && let Some(key) = text(&mut pair, &["key"])
                {
                    object.insert(key, any_value(take(&mut pair, &["value"])));
                }
            }
            object
        }
        _ => Object::new(),
    }
}

/// Converts OTLP's `AnyValue`. It recurses at most 127 levels, the limit of JSON.
pub(super) fn any_value(value: Option<Value>) -> Value {
    let Some(Value::Object(mut object)) = value else {
        return value.unwrap_or_default();
    };
    let keys = ["stringValue", "boolValue", "intValue", "doubleValue", "bytesValue"];
    let snake = ["string_value", "bool_value", "int_value", "double_value", "bytes_value"];
    let keys_of_integers = ["intValue", "int_value"];
    // 64-bit integers are texts in JSON.
    if let Some(Value::String(digits)) = keys_of_integers.iter().find_map(|key| object.get(*key))
        && let Ok(number) = digits.parse::<i64>()
    {
        return number.into();
    }
    if let Some(plain) = take(&mut object, &keys).or_else(|| take(&mut object, &snake)) {
        return plain;
    }
    if let Some(Value::Object(mut inside)) = take(&mut object, &["arrayValue", "array_value"]) {
        let values = list(&mut inside, &["values"]).unwrap_or_default();
        return values.into_iter().map(|value| any_value(Some(value))).collect();
    }
    if let Some(Value::Object(mut inside)) = take(&mut object, &["kvlistValue", "kvlist_value"]) {
        return Value::Object(attributes(take(&mut inside, &["values"])));
    }
    Value::Object(object)
}
