//! Selects the events of a sample that scorers of traces read: tool calls, agents, and questions to a person. Finds out
//! which of these the messages lack, and leaves their meaning to the scorers.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Number, Value, value::RawValue};

use crate::record::MAX_RECORD_BYTES;

/// The events of a sample. All others, mainly those of models, repeat the conversation so far, and are never completely
/// in memory.
#[derive(Debug, Default)]
pub(crate) struct Events {
    kept: Vec<Event>,
    bytes: usize,
    grading: Grading,
}

/// Finds the events of Inspect's scorers, which grade the sample. What an agent does in them is not part of the sample.
#[derive(Debug, Default)]
struct Grading {
    /// The ids of their spans, and of the spans inside these.
    spans: BTreeSet<String>,
    /// How many steps enclose the next event, with a scorer's step as the outermost one: for logs from before there
    /// were spans.
    steps: usize,
}

/// The parts of an event that are kept.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Event {
    event: Simple,
    #[serde(skip_serializing_if = "Simple::is_absent")]
    id: Simple,
    #[serde(skip_serializing_if = "Simple::is_absent")]
    function: Simple,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Simple::is_absent")]
    failed: Simple,
    #[serde(skip_serializing_if = "Simple::is_absent")]
    agent: Simple,
    #[serde(skip_serializing_if = "Simple::is_absent")]
    timestamp: Simple,
    #[serde(skip_serializing_if = "Simple::is_absent")]
    working_time: Simple,
    #[serde(skip_serializing_if = "Simple::is_absent")]
    r#type: Simple,
    #[serde(skip_serializing_if = "Simple::is_absent")]
    name: Simple,
    #[serde(skip_serializing_if = "Simple::is_absent")]
    parent_id: Simple,
    /// The span that contains the event.
    #[serde(skip_serializing)]
    span_id: Simple,
    /// Whether a step begins or ends.
    #[serde(skip_serializing)]
    action: Simple,
    /// A text if a person was asked; a model's messages are not kept.
    #[serde(skip_serializing_if = "Simple::is_absent")]
    input: Simple,
    /// The events inside a tool, in old logs.
    #[serde(skip_serializing)]
    events: Option<Vec<Event>>,
}

impl Event {
    fn is(&self, kind: &str) -> bool {
        self.event.text() == Some(kind)
    }

    fn is_kept(&self) -> bool {
        ["tool", "span_begin", "input"].iter().any(|kind| self.is(kind))
    }

    fn bytes(&self) -> usize {
        let raw = [&self.arguments, &self.result, &self.error].into_iter().flatten();
        let simple = [&self.id, &self.function, &self.agent, &self.name, &self.input];
        let texts = simple.into_iter().filter_map(|it| it.text()).map(str::len);
        size_of::<Event>() + raw.map(|it| it.get().len()).chain(texts).sum::<usize>()
    }
}

impl Events {
    /// Whether the events are too large for a record; not all are kept then.
    pub(crate) fn are_too_large(&self) -> bool {
        self.bytes > MAX_RECORD_BYTES
    }

    /// Whether the messages lack something: a call inside a sub-agent's tool or to submit an answer, a hand-off, or a
    /// question to a person.
    pub(crate) fn say_more_than(&self, messages: Option<&RawValue>) -> bool {
        let mut calls = messages.map(calls).unwrap_or_default();
        self.kept.iter().any(|event| {
            if !event.is("tool") {
                return event.is("input");
            }
            let call = event.id.text().and_then(|id| calls.get_mut(id)).filter(|left| **left > 0);
            let is_in_messages = call.map(|left| *left -= 1).is_some();
            !is_in_messages || event.agent.text().is_some()
        })
    }

    fn keep(&mut self, mut event: Event) {
        let inside = event.events.take().unwrap_or_default();
        if !self.grading.has(&event) && event.is_kept() {
            self.bytes = self.bytes.saturating_add(event.bytes());
            self.kept.push(event);
        }
        inside.into_iter().for_each(|event| self.keep(event));
    }
}

impl Grading {
    /// Whether the event is inside a scorer; records what begins and ends.
    fn has(&mut self, event: &Event) -> bool {
        let is_a_scorer = matches!(event.r#type.text(), Some("scorer" | "scorers"));
        let is_inside = |id: &Simple| id.text().is_some_and(|id| self.spans.contains(id));
        let was_inside = self.steps > 0 || is_inside(&event.span_id) || is_inside(&event.parent_id);
        if event.is("span_begin") && (is_a_scorer || was_inside) {
            self.spans.extend(event.id.text().map(str::to_owned));
        }
        match event.action.text().filter(|_| event.is("step")) {
            Some("begin") if is_a_scorer || self.steps > 0 => self.steps += 1,
            Some("end") => self.steps = self.steps.saturating_sub(1),
            _ => {}
        }
        was_inside
    }
}

/// How many calls in messages have each id; empty if the messages cannot be interpreted.
fn calls(messages: &RawValue) -> BTreeMap<String, usize> {
    #[derive(Deserialize)]
    struct Message {
        #[serde(default)]
        tool_calls: Option<Vec<Call>>,
    }

    #[derive(Deserialize)]
    struct Call {
        #[serde(default)]
        id: Simple,
    }

    let messages: Vec<Message> = serde_json::from_str(messages.get()).unwrap_or_default();
    let mut calls = BTreeMap::new();
    for call in messages.into_iter().filter_map(|message| message.tool_calls).flatten() {
        if let Value::String(id) = call.id.0 {
            *calls.entry(id).or_default() += 1;
        }
    }
    calls
}

impl Serialize for Events {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.kept.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Events {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Events, D::Error> {
        struct List;

        impl<'de> Visitor<'de> for List {
            type Value = Events;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of events")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Events, A::Error> {
                let mut events = Events::default();
                while !events.are_too_large() {
                    match elements.next_element()? {
                        Some(event) => events.keep(event),
                        None => return Ok(events),
                    }
                }
                while elements.next_element::<IgnoredAny>()?.is_some() {}
                Ok(events)
            }
        }

        deserializer.deserialize_seq(List)
    }
}

/// A text, a number or a boolean. A list or an object counts as absent, and is not built.
#[derive(Debug, Default, Serialize)]
struct Simple(Value);

impl Simple {
    fn text(&self) -> Option<&str> {
        self.0.as_str()
    }

    fn is_absent(&self) -> bool {
        self.0.is_null()
    }
}

impl<'de> Deserialize<'de> for Simple {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Simple, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Simple;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a value")
            }

            fn visit_unit<E: Error>(self) -> Result<Simple, E> {
                Ok(Simple::default())
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Simple, E> {
                Ok(Simple(value.into()))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Simple, E> {
                Ok(Simple(value.into()))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Simple, E> {
                Ok(Simple(value.into()))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Simple, E> {
                Ok(Simple(Number::from_f64(value).map_or(Value::Null, Value::Number)))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Simple, E> {
                Ok(Simple(value.into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Simple, A::Error> {
                while elements.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Simple::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Simple, A::Error> {
                while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Simple::default())
            }
        }

        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn events(events: &Value) -> Events {
        serde_json::from_str(&events.to_string()).unwrap()
    }

    #[test]
    fn of_events_that_repeat_messages_nothing_is_kept() {
        let model = json!({"event": "model", "input": [{"role": "user"}], "output": {"usage": {}}});
        let tool = json!({"event": "tool", "id": "1", "function": "f", "arguments": {"a": [1]},
            "result": ["x"], "working_time": 0.5, "view": {"large": true}, "agent": null});
        let kept = serde_json::to_value(events(&json!([model, tool]))).unwrap();
        let expected = json!([{"event": "tool", "id": "1", "function": "f", "arguments": {"a": [1]},
            "result": ["x"], "working_time": 0.5}]);
        assert_eq!(kept, expected);
    }

    #[test]
    fn events_say_more_if_the_messages_lack_a_call_or_whom_it_went_to() {
        let messages =
            json!([{"role": "user"}, {"role": "assistant", "tool_calls": [{"id": "1"}]}]);
        let messages = RawValue::from_string(messages.to_string()).unwrap();
        let more = |written: Value| events(&written).say_more_than(Some(&messages));
        let call = |id: &str| json!({"event": "tool", "id": id, "function": "f"});
        assert!(!more(json!([call("1"), {"event": "span_begin", "type": "agent", "name": "a"}])));
        assert!(more(json!([call("1"), call("2")])));
        assert!(more(json!([call("1"), call("1")])), "two calls that have one id");
        assert!(more(json!([{"event": "tool", "id": "1", "function": "f", "agent": "a"}])));
        assert!(more(json!([{"event": "input", "input": "Go on?"}])));
        // The format of logs from before there were spans.
        assert!(more(
            json!([{"event": "tool", "id": "1", "function": "f", "events": [call("2")]}])
        ));
        assert!(events(&json!([call("1")])).say_more_than(None));
    }

    #[test]
    fn what_a_grading_agent_does_is_not_kept() {
        let call = |id: &str, span: &str| json!({"event": "tool", "id": id, "function": "f", "span_id": span});
        let begin = |id: &str, kind: &str, parent: Option<&str>| json!({"event": "span_begin", "id": id, "span_id": id, "parent_id": parent, "type": kind, "name": id});
        let kept = |written: Value| {
            let kept = serde_json::to_value(events(&written)).unwrap();
            let ids = kept.as_array().unwrap().iter().map(|event| event["id"].clone());
            ids.collect::<Vec<_>>()
        };
        let spans = json!([
            begin("solvers", "solvers", None), call("1", "solvers"), begin("scorers", "scorers", None),
            begin("grade", "scorer", Some("scorers")), begin("grader", "agent", Some("grade")),
            call("2", "grader"), begin("looks", "tool", Some("grader")), call("3", "looks"),
            {"event": "input", "input": "Is it right?", "span_id": "grade"},
        ]);
        assert_eq!(kept(spans), ["solvers", "1", "scorers"]);
        let step = |action: &str, kind: &str| json!({"event": "step", "action": action, "type": kind, "name": kind});
        let steps = json!([
            step("begin", "solver"),
            call("1", ""),
            step("end", "solver"),
            step("begin", "scorer"),
            step("begin", "tool"),
            call("2", ""),
            step("end", "tool"),
            call("3", ""),
            step("end", "scorer"),
            call("4", ""),
        ]);
        assert_eq!(kept(steps), ["1", "4"]);
        // The scorers' spans alone contain nothing that messages lack.
        let messages = RawValue::from_string("[]".to_owned()).unwrap();
        let graded = json!([begin("grade", "scorer", None), call("2", "grade")]);
        assert!(!events(&graded).say_more_than(Some(&messages)));
    }

    #[test]
    fn events_beyond_the_size_of_a_record_are_not_kept() {
        let long = "x".repeat(40 << 20);
        let call = json!({"event": "tool", "id": "1", "function": "f", "result": long});
        let events = events(&json!([call, call, call, call]));
        assert!(events.are_too_large());
        assert_eq!(events.kept.len(), 2);
    }
}
