//! Reads one OpenTelemetry span: ids, times, and a model's input, output and tokens, by the conventions for generative
//! AI (their attributes, and the older ones and events), OpenLLMetry's and OpenInference's. It leaves to `spans` which
//! span represents a trace.

use jiff::Timestamp;
use serde_json::{Map, Value};

/// A span.
#[derive(Debug)]
pub(crate) struct Span {
    pub trace: String,
    pub id: String,
    pub parent: Option<String>,
    /// Nanoseconds since 1970.
    pub start: Option<i128>,
    pub end: Option<i128>,
    attributes: Map<String, Value>,
    events: Vec<(String, Map<String, Value>)>,
    /// Why the span failed, if it did.
    failure: Option<Failure>,
    /// The span as it was written.
    pub written: Value,
}

/// The role of a span in its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// One call of a model.
    Call,
    /// An intermediate step: a tool, a search, an embedding.
    Step,
    /// The parent of model calls and steps: an agent, a chain, a workflow.
    Whole,
}

/// How a failed span describes its failure.
#[derive(Debug)]
struct Failure {
    message: Option<String>,
}

/// Operations that are one call of a model.
const CALLS: [&str; 4] = ["chat", "text_completion", "generate_content", "completion"];

/// Operations and kinds of spans, in lower case, that are intermediate steps.
const STEPS: [&str; 13] = [
    "execute_tool",
    "tool",
    "embeddings",
    "embedding",
    "retrieval",
    "retriever",
    "rerank",
    "reranker",
    "guardrail",
    "evaluator",
    "prompt",
    "create_agent",
    "annotation",
];

/// Prefixes of the attributes of generative AI.
const MARKS: [&str; 4] = ["gen_ai.", "llm.", "openinference.", "traceloop."];

impl Span {
    /// A span in OTLP's format, or as one JSON object; `None` if it has no ids.
    pub(crate) fn read(written: Value) -> Option<Span> {
        let members = written.as_object()?;
        let context = members.get("context").and_then(Value::as_object).unwrap_or(members);
        let text = |of: &Map<String, Value>, keys: &[&str]| {
            let found = keys.iter().find_map(|key| of.get(*key)?.as_str());
            found
                .map(|id| id.trim_start_matches("0x").to_ascii_lowercase())
                .filter(|id| !id.is_empty())
        };
        let time = |keys: &[&str]| keys.iter().find_map(|key| nanoseconds(members.get(*key)?));
        let events = members.get("events").and_then(Value::as_array).into_iter().flatten();
        let events = events.filter_map(|event| {
            let name = event.get("name")?.as_str()?.to_owned();
            Some((name, attributes(event.get("attributes"))))
        });
        Some(Span {
            trace: text(context, &["traceId", "trace_id"])?,
            id: text(context, &["spanId", "span_id"])?,
            parent: text(members, &["parentSpanId", "parent_span_id", "parentId", "parent_id"]),
            start: time(&["startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime"]),
            end: time(&["endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime"]),
            attributes: attributes(members.get("attributes")),
            events: events.collect(),
            failure: failure(members),
            written,
        })
    }

    /// Whether the span describes a model or an agent.
    pub(crate) fn is_of_a_model(&self) -> bool {
        let is_mark = |key: &String| MARKS.iter().any(|mark| key.starts_with(mark));
        self.attributes.keys().any(is_mark)
    }

    /// Whether the span is one call of a model, and not an agent's whole work or a tool.
    pub(crate) fn is_call(&self) -> bool {
        match self.text(&["gen_ai.operation.name", "llm.request.type"]) {
            Some(operation) => CALLS.contains(&operation),
            None => match self.text(&["openinference.span.kind"]) {
                Some(kind) => kind == "LLM",
                None => self.model().is_some() && self.tokens(INPUT_TOKENS).is_some(),
            },
        }
    }

    /// The role of the span in its run.
    pub(crate) fn role(&self) -> Role {
        let kinds = ["openinference.span.kind", "traceloop.span.kind"];
        let named = self.text(&["gen_ai.operation.name", "llm.request.type"]);
        let named = named.or_else(|| self.text(&kinds)).map(str::to_ascii_lowercase);
        let is_of_a_tool = || self.attributes.keys().any(|key| key.starts_with("gen_ai.tool."));
        match named.as_deref() {
            Some("llm") => Role::Call,
            Some(named) if CALLS.contains(&named) => Role::Call,
            Some(named) if STEPS.contains(&named) => Role::Step,
            Some(_) => Role::Whole,
            None if is_of_a_tool() => Role::Step,
            None if self.model().is_some() => Role::Call,
            None => Role::Whole,
        }
    }

    /// Whether the span reports a failure: by its status, or by the type of its error.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some() || self.text(&["error.type"]).is_some()
    }

    /// Why the span failed, as far as it reports that: its status, the recorded exception, or the type of its error.
    pub(crate) fn why_it_failed(&self) -> String {
        let exceptions = self.events.iter().rev().filter(|(name, _)| name == "exception");
        let exception = |key: &str| {
            let mut said = exceptions.clone().filter_map(|(_, said)| said.get(key)?.as_str());
            said.find(|text| !text.trim().is_empty())
        };
        let stated = self.failure.as_ref().and_then(|failure| failure.message.as_deref());
        stated
            .or_else(|| exception("exception.message"))
            .or_else(|| self.text(&["error.type"]))
            .or_else(|| exception("exception.type"))
            .unwrap_or_default()
            .to_owned()
    }

    pub(crate) fn model(&self) -> Option<&str> {
        self.text(&["gen_ai.response.model", "gen_ai.request.model", "llm.model_name"])
    }

    /// The input of the model or the agent.
    pub(crate) fn input(&self) -> Option<Value> {
        let messages = self.json(&["gen_ai.input.messages"]).map(|it| only_text(&it).unwrap_or(it));
        messages
            .or_else(|| self.json(&["gen_ai.prompt"]))
            .or_else(|| self.numbered("gen_ai.prompt"))
            .or_else(|| self.event(&["gen_ai.content.prompt"], "gen_ai.prompt"))
            .or_else(|| {
                self.event(&["gen_ai.client.inference.operation.details"], "gen_ai.input.messages")
            })
            .or_else(|| self.user_events())
            .or_else(|| self.json(&["input.value", "traceloop.entity.input"]))
    }

    /// The output of the model or the agent: only the text, if its message contains nothing else.
    pub(crate) fn output(&self) -> Option<Value> {
        let messages = self.json(&["gen_ai.output.messages"]);
        let found = messages
            .or_else(|| self.json(&["gen_ai.completion"]))
            .or_else(|| self.numbered("gen_ai.completion"))
            .or_else(|| self.event(&["gen_ai.content.completion"], "gen_ai.completion"))
            .or_else(|| {
                self.event(&["gen_ai.client.inference.operation.details"], "gen_ai.output.messages")
            })
            .or_else(|| self.event(&["gen_ai.choice"], "message"))
            .or_else(|| self.event(&["gen_ai.choice"], "content"))
            .or_else(|| self.json(&["output.value", "traceloop.entity.output"]))?;
        Some(only_text(&found).unwrap_or(found))
    }

    /// The tokens of the input and of the output, and their total if it is reported.
    pub(crate) fn usage(&self) -> [Option<u64>; 3] {
        [self.tokens(INPUT_TOKENS), self.tokens(OUTPUT_TOKENS), self.tokens(ALL_TOKENS)]
    }

    /// Whether this span and a span inside it describe the same request, which two libraries recorded: they name the
    /// same response or, if one of them names none, the same tokens. The scorers of traces use the same rule.
    pub(crate) fn is_the_request_of(&self, inside: &Span) -> bool {
        let id = |span: &Span| {
            span.text(&["gen_ai.response.id"]).filter(|id| !id.is_empty()).map(str::to_owned)
        };
        match (id(self), id(inside)) {
            (Some(around), Some(inside)) => around == inside,
            _ => {
                let tokens = |[input, output, _]: [Option<u64>; 3]| input.zip(output);
                let around = tokens(self.usage());
                around.is_some() && around == tokens(inside.usage())
            }
        }
    }

    fn tokens(&self, keys: &[&str]) -> Option<u64> {
        keys.iter().find_map(|key| self.attributes.get(*key)?.as_u64())
    }

    fn text(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.attributes.get(*key)?.as_str())
    }

    /// The attribute, parsed if it is JSON inside a text.
    fn json(&self, keys: &[&str]) -> Option<Value> {
        keys.iter().find_map(|key| self.attributes.get(*key).map(unwrapped))
    }

    /// The attribute of the last event with one of these names.
    fn event(&self, names: &[&str], attribute: &str) -> Option<Value> {
        let of = self.events.iter().rev().filter(|(name, _)| names.contains(&name.as_str()));
        of.filter_map(|(_, attributes)| attributes.get(attribute).map(unwrapped)).next()
    }

    /// The messages that are separate events: `gen_ai.user.message` and the like.
    fn user_events(&self) -> Option<Value> {
        let messages = self.events.iter().filter_map(|(name, attributes)| {
            let role = name.strip_prefix("gen_ai.")?.strip_suffix(".message")?;
            let content = attributes.get("content").map(unwrapped)?;
            Some(serde_json::json!({"role": role, "content": content}))
        });
        let messages: Vec<Value> = messages.collect();
        let found = (!messages.is_empty()).then_some(Value::Array(messages))?;
        Some(only_text(&found).unwrap_or(found))
    }

    /// `PREFIX.0.role`, `PREFIX.0.content`, `PREFIX.1.role` … as messages.
    fn numbered(&self, prefix: &str) -> Option<Value> {
        let message = |index: usize| {
            let part = |key: &str| self.attributes.get(&format!("{prefix}.{index}.{key}")).cloned();
            let content = part("content")?;
            let role = part("role").unwrap_or_default();
            Some(serde_json::json!({"role": role, "content": content}))
        };
        let messages: Vec<Value> = (0..).map_while(message).collect();
        let found = (!messages.is_empty()).then_some(Value::Array(messages))?;
        Some(only_text(&found).unwrap_or(found))
    }
}

const INPUT_TOKENS: &[&str] = &[
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
];
const OUTPUT_TOKENS: &[&str] = &[
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
];
const ALL_TOKENS: &[&str] =
    &["gen_ai.usage.total_tokens", "llm.usage.total_tokens", "llm.token_count.total"];

/// The text, if there is only one message and it consists of text only:
/// `[{"role": …, "parts": [{"type": "text", "content": …}]}]`.
fn only_text(messages: &Value) -> Option<Value> {
    let message = match messages {
        Value::Array(items) if items.len() == 1 => &items[0],
        Value::Object(_) => messages,
        _ => return None,
    };
    let parts = message.get("parts").or_else(|| message.get("content"))?;
    match parts {
        Value::String(text) => Some(text.clone().into()),
        Value::Array(parts) if !parts.is_empty() => {
            let text = |part: &Value| {
                let is_text = part.get("type").is_none_or(|kind| kind == "text");
                let text = part.get("content").or_else(|| part.get("text"))?.as_str()?;
                is_text.then(|| text.to_owned())
            };
            let texts: Option<Vec<String>> = parts.iter().map(text).collect();
            Some(texts?.join("\n").into())
        }
        _ => None,
    }
}

/// The value in a text that is a JSON object or list; every other value unchanged.
fn unwrapped(value: &Value) -> Value {
    let inner = value.as_str().filter(|text| text.starts_with(['{', '[']));
    inner.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| value.clone())
}

/// Why a span failed, if its status reports that it did: OTLP's number, the words of consoles, or the words of Phoenix
/// next to the span's name. The scorers of traces use the same rule.
fn failure(span: &Map<String, Value>) -> Option<Failure> {
    let status = span.get("status");
    let inside = status.and_then(Value::as_object);
    fn first<'v>(keys: &[&str], of: &'v Map<String, Value>) -> Option<&'v Value> {
        keys.iter().filter_map(|key| of.get(*key)).find(|it| !it.is_null())
    }
    let code = match inside {
        Some(status) => first(&["code", "status_code", "statusCode"], status),
        None => status.filter(|it| !it.is_null()),
    };
    let failed = match code.or_else(|| first(&["status_code", "statusCode"], span))? {
        Value::Number(code) => code.as_u64() == Some(2),
        Value::String(code) => {
            let code = code.to_ascii_lowercase();
            matches!(code.as_str(), "2" | "error" | "errored" | "status_code_error")
        }
        _ => false,
    };
    let message = inside
        .and_then(|status| first(&["message", "description"], status))
        .or_else(|| first(&["status_message", "statusMessage"], span));
    let message = message.and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    failed.then(|| Failure { message: message.map(str::to_owned) })
}

/// Attributes as an object: OTLP stores them as a list of keys and typed values.
fn attributes(written: Option<&Value>) -> Map<String, Value> {
    match written {
        Some(Value::Object(members)) => members.clone(),
        Some(Value::Array(items)) => {
            let pair = |item: &Value| {
                Some((item.get("key")?.as_str()?.to_owned(), any_value(item.get("value")?)))
            };
            items.iter().filter_map(pair).collect()
        }
        _ => Map::new(),
    }
}

/// OTLP's `AnyValue`. It is nested as deeply as the JSON, which its parser bounds.
fn any_value(value: &Value) -> Value {
    let Some((kind, inner)) = value.as_object().and_then(|members| members.iter().next()) else {
        return Value::Null;
    };
    let list = || inner.get("values").and_then(Value::as_array).into_iter().flatten();
    match kind.as_str() {
        // 64-bit integers are texts in JSON.
        "intValue" => match inner.as_str().map(str::parse::<i64>) {
            Some(Ok(number)) => number.into(),
            _ => inner.clone(),
        },
        "arrayValue" => list().map(any_value).collect(),
        "kvlistValue" => Value::Object(attributes(inner.get("values"))),
        _ => inner.clone(),
    }
}

/// Nanoseconds since 1970, or a date and time.
fn nanoseconds(time: &Value) -> Option<i128> {
    match time {
        Value::Number(number) => number.as_u64().map(i128::from),
        Value::String(text) => match text.parse::<u64>() {
            Ok(number) => Some(number.into()),
            Err(_) => text.parse::<Timestamp>().ok().map(Timestamp::as_nanosecond),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn span(attributes: Value, events: Value) -> Span {
        Span::read(json!({
            "traceId": "AB", "spanId": "1", "name": "chat m", "attributes": attributes, "events": events,
            "startTimeUnixNano": "1000000", "endTimeUnixNano": 3000000
        }))
        .unwrap()
    }

    #[test]
    fn input_and_output_are_found_in_every_convention() {
        let messages =
            json!([{"role": "assistant", "parts": [{"type": "text", "content": "Paris"}]}]);
        for (attributes, events) in [
            (
                json!({"gen_ai.output.messages": messages.to_string(), "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Q"}]}]}),
                json!([]),
            ),
            (json!({"gen_ai.completion": "Paris", "gen_ai.prompt": "Q"}), json!([])),
            (
                json!({"gen_ai.completion.0.content": "Paris", "gen_ai.completion.0.role": "assistant", "gen_ai.prompt.0.content": "Q", "gen_ai.prompt.0.role": "user"}),
                json!([]),
            ),
            (json!({"output.value": "Paris", "input.value": "Q"}), json!([])),
            (
                json!({}),
                json!([{"name": "gen_ai.user.message", "attributes": {"content": "Q"}}, {"name": "gen_ai.choice", "attributes": {"message": "{\"content\":\"Paris\"}"}}]),
            ),
        ] {
            let span = span(attributes, events);
            assert_eq!(
                (span.input(), span.output()),
                (Some("Q".into()), Some("Paris".into())),
                "{span:?}"
            );
        }
    }

    #[test]
    fn a_message_with_a_tool_call_stays_whole() {
        let messages =
            json!([{"role": "assistant", "parts": [{"type": "tool_call", "name": "f"}]}]);
        assert_eq!(
            span(json!({"gen_ai.output.messages": messages}), json!([])).output(),
            Some(messages)
        );
    }

    #[test]
    fn a_span_says_that_it_failed_and_why() {
        let why = |around: Value| {
            let mut span =
                json!({"traceId": "a", "spanId": "1", "attributes": {"gen_ai.system": "m"}});
            span.as_object_mut().unwrap().extend(around.as_object().unwrap().clone());
            let span = Span::read(span).unwrap();
            span.has_failed().then(|| span.why_it_failed())
        };
        for around in [
            json!({"status": {"code": 2, "message": "429"}}),
            json!({"status": {"code": "STATUS_CODE_ERROR", "message": "429"}}),
            json!({"status": {"status_code": "ERROR", "description": "429"}}),
            json!({"status": "Error", "status_message": "429"}),
            json!({"status_code": "ERROR", "statusMessage": "429"}),
            json!({"status": {"code": 2}, "attributes": {"error.type": "429"}}),
            json!({"attributes": {"error.type": "429"}}),
            json!({"status": {"code": 2}, "attributes": {"error.type": "RateLimit"}, "events": [
                {"name": "exception", "attributes": {"exception.message": "429"}}]}),
        ] {
            assert_eq!(why(around.clone()).as_deref(), Some("429"), "{around}");
        }
        assert_eq!(why(json!({"status": {"code": 2}})).as_deref(), Some(""));
        // An exception may have been caught.
        let caught = json!([{"name": "exception", "attributes": {"exception.message": "429"}}]);
        for fine in [
            json!({"status": {}}),
            json!({"status": {"code": 1}}),
            json!({"status": {"status_code": "UNSET"}}),
            json!({"events": caught}),
        ] {
            assert_eq!(why(fine.clone()), None, "{fine}");
        }
    }

    #[test]
    fn typed_values_and_times_are_read() {
        let span = span(
            json!([
                {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "12"}},
                {"key": "gen_ai.response.finish_reasons", "value": {"arrayValue": {"values": [{"stringValue": "stop"}]}}},
            ]),
            json!([]),
        );
        assert_eq!(span.usage(), [Some(12), None, None]);
        assert_eq!(span.attributes["gen_ai.response.finish_reasons"], json!(["stop"]));
        assert_eq!(
            (span.start, span.end, span.trace.as_str()),
            (Some(1_000_000), Some(3_000_000), "ab")
        );
        assert_eq!(nanoseconds(&"1970-01-01T00:00:00.5Z".into()), Some(500_000_000));
    }
}
