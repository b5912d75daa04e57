//! Turns OpenTelemetry spans into cases, one for each trace in which a model was asked: documents of OTLP JSON, or one
//! object for each span. It leaves the content of a single span to `span`.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, de::Deserializer};
use serde_json::Value;

use crate::{
    emit::Emit,
    format::Format,
    lenient_json::LenientJson,
    problem::Problem,
    record::{Origin, Part, Record, because, usage},
    source_file::SourceFile,
    span::Span,
    spans_failure::failed_at_the_end,
    text::{Allowance, text},
    walk::{EACH, Path, Take, refuse, walk},
    window::Window,
};

/// The paths of spans in OTLP's documents, including older ones with `instrumentationLibrarySpans`.
const IN_DOCUMENTS: &[Path] = &[
    &["resourceSpans", EACH, "scopeSpans", EACH, "spans", EACH],
    &["resourceSpans", EACH, "instrumentationLibrarySpans", EACH, "spans", EACH],
];
/// Spans as objects, and lists of them.
const AS_OBJECTS: &[Path] = &[&[]];
const IN_LISTS: &[Path] = &[&[EACH]];

/// Which of these paths a text uses. All its documents have the same format.
fn paths(source: &SourceFile) -> Result<&'static [Path], Problem> {
    let mut start = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(text(&source.path)?, 1 << 16), &mut start)?;
    let start = String::from_utf8_lossy(&start);
    Ok(match start.trim_start().starts_with('[') {
        true => IN_LISTS,
        false if start.contains("\"resourceSpans\"") => IN_DOCUMENTS,
        false => AS_OBJECTS,
    })
}

pub(crate) fn read(source: &SourceFile, emit: &mut Emit) -> Result<(), Problem> {
    let allowance = Allowance::new();
    let text = allowance.on(LenientJson::new(text(&source.path)?, emit.left_out()));
    let mut traces =
        Traces { open: Window::new(), record: 0, source, allowance, emit, problem: None };
    walk(text, paths(source)?, &mut traces, "the file of spans")?;
    while let Some((trace, spans)) = traces.open.oldest() {
        traces.put(trace, spans)?;
    }
    Ok(())
}

struct Traces<'a> {
    open: Window<Vec<Span>>,
    record: u64,
    source: &'a SourceFile,
    allowance: Allowance,
    emit: &'a mut Emit,
    problem: Option<Problem>,
}

impl Take for Traces<'_> {
    fn take<'de, D: Deserializer<'de>>(&mut self, _: usize, element: D) -> Result<(), D::Error> {
        let written = Value::deserialize(element)?;
        self.allowance.renew();
        let taken = self.note(written);
        refuse(&mut self.problem, taken)
    }

    fn problem(&mut self) -> Option<Problem> {
        self.problem.take()
    }
}

impl Traces<'_> {
    fn note(&mut self, written: Value) -> Result<(), Problem> {
        let Some(span) = Span::read(written) else {
            self.emit.leave_out("objects that are not spans");
            return Ok(());
        };
        let trace = span.trace.clone();
        match self.open.case(&trace, size(&span.written)) {
            Some(spans) => spans.push(span),
            None => self.emit.leave_out("spans that came long after the others of their trace"),
        }
        while let Some((trace, spans)) = self.open.overflow() {
            self.put(trace, spans)?;
        }
        Ok(())
    }

    fn put(&mut self, trace: String, mut spans: Vec<Span>) -> Result<(), Problem> {
        // Exporters write a span when it ends. Spans with equal times keep the order in which they were written.
        spans.sort_by_key(|span| span.start);
        if !spans.iter().any(Span::is_of_a_model) {
            self.emit.leave_out("traces in which no model was asked");
            return Ok(());
        }
        self.record += 1;
        let of_models: Vec<&Span> = spans.iter().filter(|span| span.is_of_a_model()).collect();
        let calls: Vec<&Span> = of_models.iter().copied().filter(|span| span.is_call()).collect();
        let ids: HashSet<&str> = of_models.iter().map(|span| span.id.as_str()).collect();
        let is_outer = |span: &&Span| !span.parent.as_deref().is_some_and(|it| ids.contains(it));
        let outer: Vec<&Span> = of_models.iter().copied().filter(is_outer).collect();
        let asked = outer.iter().chain(&of_models).find_map(|span| span.input());
        // The last answer is the answer to the task.
        let answered = outer.iter().rev().find_map(|span| span.output());
        let last = |spans: &[&Span]| {
            let mut by_end: Vec<&Span> = spans.to_vec();
            by_end.sort_by_key(|span| span.end);
            by_end.iter().rev().find_map(|span| span.output())
        };
        let answered = answered.or_else(|| last(&calls)).or_else(|| last(&of_models));
        let model = calls.iter().chain(&of_models).find_map(|span| span.model());
        let origin = Origin::new(Format::OpenTelemetry, &self.source.file, self.record)
            .with("model", model)
            .with("spans", spans.len());
        let mut case = Record::new(trace, origin);
        case.input = asked.map(Part::from);
        // An intermediate output is not an answer.
        let failed = failed_at_the_end(&spans);
        let answered = failed.map_or(answered, Span::output);
        case.error = failed.map(|span| because("the run broke off", &span.why_it_failed()));
        case.output = answered.map(Part::from);
        case.usage = match calls.is_empty() {
            true => consumed(&of_models),
            false => consumed(&each_request_once(&calls, &spans)),
        };
        case.latency_ms = milliseconds(&outer);
        let written = spans.iter().map(|span| span.written.clone()).collect();
        case.trace = Some(Value::Array(written).into());
        self.emit.case(&case)
    }
}

/// How many ancestors of a call are searched for another call. Parents may form a circle.
const ANCESTORS: usize = 64;

/// The calls, without those that enclose another call for the same request.
fn each_request_once<'s>(calls: &[&'s Span], spans: &[Span]) -> Vec<&'s Span> {
    let parents: HashMap<&str, Option<&str>> =
        spans.iter().map(|span| (span.id.as_str(), span.parent.as_deref())).collect();
    let by_id: HashMap<&str, &Span> = calls.iter().map(|span| (span.id.as_str(), *span)).collect();
    let twice = calls.iter().filter_map(|inside| {
        let mut around = inside.parent.as_deref()?;
        for _ in 0..ANCESTORS {
            if let Some(call) = by_id.get(around).filter(|_| around != inside.id) {
                return call.is_the_request_of(inside).then_some(call.id.as_str());
            }
            around = parents.get(around).copied().flatten()?;
        }
        None
    });
    let twice: HashSet<&str> = twice.collect();
    calls.iter().copied().filter(|span| !twice.contains(span.id.as_str())).collect()
}

/// The tokens of all spans.
fn consumed(spans: &[&Span]) -> Option<Value> {
    let counts = spans.iter().map(|span| span.usage());
    sum_of(counts).and_then(|[input, output, total]| usage(input, output, total, None))
}

/// The sums of input, output and total. If some span reports a total, the total of a span without one is its input plus
/// its output; if a span lacks one of the two, the sum has no total, because it would be less than its parts.
fn sum_of(counts: impl Iterator<Item = [Option<u64>; 3]>) -> Option<[Option<u64>; 3]> {
    let mut has_a_total = false;
    let stated = counts.filter(|counts| counts.iter().any(Option::is_some));
    let stated = stated.inspect(|[_, _, total]| has_a_total |= total.is_some());
    let whole = stated.map(|[input, output, total]| {
        let of_both = || Some(input?.saturating_add(output?));
        [input, output, total.or_else(of_both)]
    });
    let either = |one: Option<u64>, other: Option<u64>| match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    };
    let [input, output, total] = whole.reduce(|one, other| {
        let total = one[2].zip(other[2]).map(|(one, other)| one.saturating_add(other));
        [either(one[0], other[0]), either(one[1], other[1]), total]
    })?;
    Some([input, output, total.filter(|_| has_a_total)])
}

/// The time from the first beginning to the last end.
fn milliseconds(spans: &[&Span]) -> Option<f64> {
    let start = spans.iter().filter_map(|span| span.start).min()?;
    let end = spans.iter().filter_map(|span| span.end).max()?;
    let nanoseconds = u64::try_from(end - start).ok()?;
    Some(nanoseconds as f64 / 1e6)
}

/// Approximately how many bytes a value takes as text.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|it| size(it) + 1).sum::<usize>() + 2,
        Value::Object(members) => {
            members.iter().map(|(key, it)| key.len() + size(it) + 4).sum::<usize>() + 2
        }
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_that_two_libraries_watch_counts_once() {
        let call = |id: &str, parent: &str, response: &str, input: u64| {
            let span = json!({"traceId": "a", "spanId": id, "parentSpanId": parent, "attributes": [
                {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
                {"key": "gen_ai.response.id", "value": {"stringValue": response}},
                {"key": "gen_ai.usage.input_tokens", "value": {"intValue": input.to_string()}},
                {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "5"}}]});
            Span::read(span).unwrap()
        };
        let counted = |spans: &[Span]| -> Vec<String> {
            let calls: Vec<&Span> = spans.iter().filter(|span| span.is_call()).collect();
            each_request_once(&calls, spans).iter().map(|span| span.id.clone()).collect()
        };
        let between = json!({"traceId": "a", "spanId": "b", "parentSpanId": "1", "name": "POST"});
        let between = Span::read(between).unwrap();
        let same =
            [call("1", "", "r1", 10), between, call("2", "b", "r1", 12), call("3", "2", "r1", 9)];
        assert_eq!(counted(&same), ["3"]);
        assert_eq!(counted(&[call("1", "", "r1", 10), call("2", "1", "r2", 10)]), ["1", "2"]);
        assert_eq!(counted(&[call("1", "2", "r1", 10), call("2", "1", "r2", 10)]), ["1", "2"]);
        assert_eq!(counted(&[call("1", "1", "r1", 10)]), ["1"]);
    }

    #[test]
    fn a_total_is_the_sum_of_all_spans_or_is_left_out() {
        let sum = |counts: &[[Option<u64>; 3]]| sum_of(counts.iter().copied());
        assert_eq!(sum(&[]), None);
        assert_eq!(sum(&[[None; 3]]), None);
        let stated = [Some(2), Some(3), Some(9)];
        // The other span reports its parts, nothing, or only one part.
        assert_eq!(sum(&[stated, [Some(4), Some(1), None]]), Some([Some(6), Some(4), Some(14)]));
        assert_eq!(sum(&[[None; 3], stated]), Some(stated));
        assert_eq!(sum(&[stated, [Some(4), None, None]]), Some([Some(6), Some(3), None]));
        assert_eq!(sum(&[[Some(1), Some(1), None]; 2]), Some([Some(2), Some(2), None]));
        let most = [Some(u64::MAX), None, Some(u64::MAX)];
        assert_eq!(sum(&[most, most]), Some(most));
    }
}
