//! The trace and span that a case belongs to, found in the case. It reads only the first id of a trace.

use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Case, Key};

/// How many bytes of a `trace` are searched for its id.
const SEARCHED_BYTES: usize = 1 << 20;

/// The trace that a case belongs to, and the span if it names one: the ids of W3C Trace Context and OpenTelemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    trace_id: [u8; 16],
    span_id: Option<[u8; 8]>,
}

impl Case {
    /// The trace that the case belongs to, if it names one: `traceId` and `spanId` (or `trace_id`, `span_id`), or
    /// `traceparent`, as its own keys or those of its metadata, or the first id in its trace, in which case there is no
    /// span. No scorer gets this.
    pub fn trace_context(&self) -> Option<TraceContext> {
        [self.other_json(), self.raw(Key::Metadata)]
            .into_iter()
            .flatten()
            .find_map(Named::in_object)
            .or_else(|| self.raw(Key::Trace).and_then(first_in))
    }
}

impl TraceContext {
    /// The trace's id: 16 bytes, not all zero.
    pub fn trace_id(&self) -> [u8; 16] {
        self.trace_id
    }

    /// The span's id: 8 bytes, not all zero.
    pub fn span_id(&self) -> Option<[u8; 8]> {
        self.span_id
    }

    /// The trace's id as 32 lower-case hexadecimal digits.
    pub fn trace_id_hex(&self) -> String {
        Hex(&self.trace_id).to_string()
    }

    /// The span's id as 16 lower-case hexadecimal digits.
    pub fn span_id_hex(&self) -> Option<String> {
        self.span_id.map(|id| Hex(&id).to_string())
    }

    fn new(trace_id: &str, span_id: Option<&str>) -> Option<TraceContext> {
        let span_id = span_id.and_then(id);
        Some(TraceContext { trace_id: id(trace_id)?, span_id })
    }

    /// `00-TRACE-SPAN-FLAGS`, as in the header of W3C Trace Context.
    fn of_header(header: &str) -> Option<TraceContext> {
        let mut parts = header.split('-');
        let (version, trace_id, span_id) = (parts.next()?, parts.next()?, parts.next()?);
        let has_flags = parts.next().is_some_and(|flags| flags.len() == 2);
        (version.len() == 2 && version != "ff" && has_flags)
            .then(|| TraceContext::new(trace_id, Some(span_id)))?
            .filter(|context| context.span_id.is_some())
    }
}

/// The keys of an object that name a trace.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    traceparent: Option<&'a RawValue>,
    #[serde(borrow, rename = "traceId")]
    trace_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "trace_id")]
    trace_id_snake: Option<&'a RawValue>,
    #[serde(borrow, rename = "spanId")]
    span_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "span_id")]
    span_id_snake: Option<&'a RawValue>,
}

impl Named<'_> {
    fn in_object(json: &str) -> Option<TraceContext> {
        let named: Named<'_> = serde_json::from_str(json).ok()?;
        let span_id = named.span_id.or(named.span_id_snake).and_then(string);
        let by_id = named.trace_id.or(named.trace_id_snake).and_then(string);
        by_id
            .and_then(|trace_id| TraceContext::new(trace_id, span_id))
            .or_else(|| TraceContext::of_header(named.traceparent.and_then(string)?))
    }
}

/// The text between the quotes of a string. Ids need no escapes.
fn string(raw: &RawValue) -> Option<&str> {
    raw.get().strip_prefix('"')?.strip_suffix('"')
}

/// The first trace id in a JSON text. A key inside a string has a backslash before its closing quote, so it is not
/// mistaken for a key.
fn first_in(json: &str) -> Option<TraceContext> {
    let searched = &json[..json.floor_char_boundary(SEARCHED_BYTES)];
    let found = ["\"traceId\"", "\"trace_id\""].into_iter().filter_map(|key| {
        let start = searched.find(key)?;
        Some((start, start + key.len()))
    });
    let (_, after_key) = found.min()?;
    let value = searched[after_key..].trim_start().strip_prefix(':')?.trim_start();
    TraceContext::new(value.strip_prefix('"')?.split('"').next()?, None)
}

/// An id of `N` bytes, from twice as many hexadecimal digits; all zeros are not valid.
fn id<const N: usize>(digits: &str) -> Option<[u8; N]> {
    if digits.len() != 2 * N || !digits.is_ascii() {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        let digit =
            |letter: u8| char::from(letter).to_digit(16).and_then(|it| u8::try_from(it).ok());
        *byte = 16 * digit(pair[0])? + digit(pair[1])?;
    }
    bytes.iter().any(|byte| *byte != 0).then_some(bytes)
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    fn found(mut case: Value) -> Option<(String, Option<String>)> {
        case["output"] = json!("x");
        let case: Case = case.to_string().parse().unwrap();
        let context = case.trace_context()?;
        Some((context.trace_id_hex(), context.span_id_hex()))
    }

    #[test]
    fn a_case_names_its_trace_beside_its_parts_or_in_its_metadata() {
        let both = Some((TRACE.to_owned(), Some(SPAN.to_owned())));
        let header = format!("00-{TRACE}-{SPAN}-01");
        for named in [
            json!({"traceId": TRACE, "spanId": SPAN}),
            json!({"trace_id": TRACE.to_uppercase(), "span_id": SPAN}),
            json!({"traceparent": header, "other": [1]}),
        ] {
            assert_eq!(found(json!({"metadata": named})), both);
            assert_eq!(found(named), both);
        }
        let trace_alone = Some((TRACE.to_owned(), None));
        assert_eq!(found(json!({"metadata": {"traceId": TRACE, "spanId": 7}})), trace_alone);
    }

    #[test]
    fn otherwise_it_is_the_first_one_in_the_trace() {
        let span = json!({"spanId": SPAN, "traceId": TRACE, "name": "chat"});
        let trace = json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]});
        let trace_alone = Some((TRACE.to_owned(), None));
        assert_eq!(found(json!({"trace": trace})), trace_alone);
        assert_eq!(found(json!({"trace": [{"trace_id": TRACE}]})), trace_alone);
        let said = format!("{{\"traceId\":\"{TRACE}\"}}");
        assert_eq!(found(json!({"trace": [{"role": "user", "content": said}]})), None);
    }

    #[test]
    fn what_is_not_a_valid_id_is_not_taken() {
        for wrong in [
            json!({"traceId": "0".repeat(32)}),
            json!({"traceId": &TRACE[1..]}),
            json!({"traceId": format!("{}g", &TRACE[1..])}),
            json!({"traceId": "é".repeat(16)}),
            json!({"traceId": [TRACE]}),
            json!({"traceparent": format!("ff-{TRACE}-{SPAN}-01")}),
            json!({"traceparent": format!("00-{TRACE}-{}-01", "0".repeat(16))}),
            json!({"traceparent": format!("00-{TRACE}-{SPAN}")}),
            json!({"spanId": SPAN}),
            json!([TRACE]),
            json!(TRACE),
        ] {
            assert_eq!(found(json!({"metadata": wrong})), None, "{wrong}");
        }
    }

    #[test]
    fn no_more_than_the_beginning_of_a_trace_is_searched() {
        let late = json!(["é".repeat(SEARCHED_BYTES), {"traceId": TRACE}]);
        assert_eq!(found(json!({"trace": late})), None);
    }
}
