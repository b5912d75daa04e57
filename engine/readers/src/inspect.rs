//! Turns samples of Inspect's logs into cases. It leaves to `inspect_document` and `inspect_archive` where a log
//! contains them.
//!
//! The shapes are those of `EvalLog` and `EvalSample` in `inspect_ai/log/_log.py` (0.3.285; older logs lack members).

use std::{collections::BTreeMap, mem};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    format::Format,
    inspect_events::Events,
    problem::Problem,
    record::{
        MAX_RECORD_BYTES, NO_ANSWER, Origin, Part, Record, because, error_of_sample, single, usage,
    },
    source_file::SourceFile,
};

/// The most bytes of a sample in its log, including its events, of which few are kept: 256 MiB.
pub(crate) const MAX_SAMPLE_BYTES: usize = 256 << 20;

/// The part of a log that applies to all of its samples.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Header {
    run_id: Option<String>,
    created: Option<String>,
    task: Option<String>,
    model: Option<String>,
}

/// A sample. Values that are passed on are kept as text.
#[derive(Debug, Deserialize)]
pub(crate) struct Sample {
    id: Value,
    #[serde(default = "first_epoch")]
    epoch: u64,
    input: Box<RawValue>,
    #[serde(default)]
    choices: Option<Value>,
    #[serde(default)]
    target: Value,
    #[serde(default)]
    messages: Option<Box<RawValue>>,
    #[serde(default)]
    output: Option<Box<RawValue>>,
    /// The only score, in old logs.
    #[serde(default)]
    score: Option<Score>,
    #[serde(default)]
    scores: Option<BTreeMap<String, Score>>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
    #[serde(default)]
    model_usage: Option<BTreeMap<String, Usage>>,
    #[serde(default)]
    total_time: Option<f64>,
    #[serde(default)]
    working_time: Option<f64>,
    #[serde(default)]
    error: Option<SampleError>,
    #[serde(default)]
    limit: Option<Value>,
    #[serde(default)]
    attachments: Option<BTreeMap<String, String>>,
    #[serde(default)]
    events: Option<Events>,
}

fn first_epoch() -> u64 {
    1
}

#[derive(Debug, Deserialize)]
struct Score {
    #[serde(default)]
    value: Value,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    total_tokens: Option<u64>,
    input_tokens_cache_write: Option<u64>,
    input_tokens_cache_read: Option<u64>,
    total_cost: Option<f64>,
}

/// The trace of a sample, if it is more than the messages: its members have the same names as in a sample.
#[derive(Serialize)]
struct Trace<'a> {
    messages: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<&'a RawValue>,
    /// Scorers recognize a sample by this member among objects with events.
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_usage: Option<BTreeMap<&'a str, Usage>>,
}

#[derive(Debug, Deserialize)]
struct SampleError {
    #[serde(default)]
    message: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Output {
    completion: Option<String>,
    choices: Vec<Choice>,
    usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Debug, Deserialize)]
struct Message {
    #[serde(default)]
    content: Value,
}

impl Sample {
    /// The sample as a case; it is the record at this position in the file, from 1.
    pub(crate) fn case(
        mut self,
        header: &Header,
        record: u64,
        format: Format,
        source: &SourceFile,
    ) -> Result<Record, Problem> {
        let id = match &self.id {
            Value::String(id) => id.clone(),
            other => other.to_string(),
        };
        let in_sample = |problem: &str| Problem::content(format!("sample `{id}`: {problem}"));
        if self.kept_bytes() > MAX_RECORD_BYTES {
            return Err(in_sample("it has more than 64 MiB without its events"));
        }
        let events = self.events.take().unwrap_or_default();
        if events.are_too_large() {
            return Err(in_sample("the tool calls in its events have more than 64 MiB"));
        }
        let messages = self.messages.take().filter(|raw| raw.get() != "[]");
        let attachments = self.attachments.take().unwrap_or_default();
        let attached = |raw: Box<RawValue>| attach(raw, &attachments);
        let output: Output = match &self.output {
            None => Output::default(),
            Some(raw) => serde_json::from_str(attached(raw.clone())?.get())
                .map_err(|error| in_sample(&format!("its output is not understood: {error}")))?,
        };
        let mut origin = Origin::new(format, &source.file, record)
            .with("task", header.task.clone())
            .with("model", header.model.clone())
            .with("runId", header.run_id.clone())
            .with("created", header.created.clone())
            .with("epoch", self.epoch);
        let messages = messages.map(&attached).transpose()?;
        let answers = messages.as_deref().is_some_and(has_answers);
        let limit = self.limit.as_ref().and_then(|it| it.get("type")?.as_str().map(str::to_owned));
        let consumed = self.consumed(header, output.usage);
        let events = match events.say_more_than(messages.as_deref()) {
            true => Some(attached(raw(&events)?)?),
            false => None,
        };
        // The usage of a case has no members for cached tokens.
        let cached = consumed.filter(|(_, usage)| usage.has_cache());
        let trace = trace(messages, events.as_deref(), self.epoch, cached)?;
        let usage = consumed.and_then(|(_, usage)| usage.of_case());
        origin = origin
            .with("choices", self.choices.take().unwrap_or_default())
            .with("limit", self.limit.take().unwrap_or_default())
            .with("scores", self.own_scores());
        let mut case = Record::new(id.clone(), origin);
        case.attempt = self.epoch.saturating_sub(1);
        case.usage = usage;
        case.trace = trace.map(Part::from);
        let seconds = self.working_time.or(self.total_time);
        case.latency_ms = seconds.map(|seconds| seconds * 1000.0);
        let answer = output.text();
        case.error = match &self.error {
            Some(error) => Some(error_of_sample(&error.message)),
            None => (answer.is_none() && !answers).then(|| no_answer(limit.as_deref())),
        };
        case.output = answer.map(Part::from);
        case.ground_truth = self.ground_truth();
        case.input = Some(attached(self.input)?.into());
        Ok(case.with_metadata(self.metadata.unwrap_or_default()))
    }

    /// How many bytes are kept of the sample, without its events.
    fn kept_bytes(&self) -> usize {
        let texts = [Some(&self.input), self.messages.as_ref(), self.output.as_ref()];
        let texts = texts.into_iter().flatten().map(|raw| raw.get().len());
        let attached = self.attachments.iter().flat_map(BTreeMap::values).map(String::len);
        texts.chain(attached).sum()
    }

    /// The target; `None` if it is empty.
    fn ground_truth(&mut self) -> Option<Part> {
        match single(mem::take(&mut self.target)) {
            Value::Null => None,
            Value::String(text) if text.is_empty() => None,
            Value::Array(targets) if targets.is_empty() => None,
            target => Some(target.into()),
        }
    }

    /// The scores of Inspect's own scorers.
    fn own_scores(&mut self) -> Value {
        let old = self.score.take().map(|score| ("score".to_owned(), score));
        let all = self.scores.take().unwrap_or_default().into_iter().chain(old);
        Value::Object(all.map(|(name, score)| (name, score.value)).collect())
    }

    /// The evaluated model and what it consumed; without the consumption of graders.
    fn consumed<'a>(
        &'a self,
        header: &'a Header,
        of_output: Option<Usage>,
    ) -> Option<(&'a str, Usage)> {
        let model = header.model.as_deref();
        let by_model = self.model_usage.as_ref();
        let own = model.and_then(|model| by_model?.get_key_value(model));
        let only = || by_model.filter(|it| it.len() == 1)?.first_key_value();
        let found = own.or_else(only).map(|(model, usage)| (model.as_str(), *usage));
        found.or_else(|| Some((model.unwrap_or("model"), of_output?)))
    }
}

impl Usage {
    /// Whether tokens were read from a prompt cache or written to one.
    fn has_cache(&self) -> bool {
        [self.input_tokens_cache_write, self.input_tokens_cache_read]
            .into_iter()
            .flatten()
            .any(|it| it > 0)
    }

    /// The part of it that the usage of a case can contain.
    fn of_case(&self) -> Option<Value> {
        usage(self.input_tokens, self.output_tokens, self.total_tokens, self.total_cost)
    }
}

/// The messages; if events contain more than they do, or a cache was used, an object with all of these.
fn trace(
    messages: Option<Box<RawValue>>,
    events: Option<&RawValue>,
    epoch: u64,
    cached: Option<(&str, Usage)>,
) -> Result<Option<Box<RawValue>>, Problem> {
    let messages = match (messages, events) {
        (None, None) => return Ok(None),
        (Some(messages), None) if cached.is_none() => return Ok(Some(messages)),
        (Some(messages), _) => messages,
        (None, Some(_)) => raw(&[(); 0])?,
    };
    let model_usage = cached.map(|(model, usage)| BTreeMap::from([(model, usage)]));
    let epoch = events.map(|_| epoch);
    raw(&Trace { messages: &messages, events, epoch, model_usage }).map(Some)
}

/// Whether these messages contain an answer of a model. Those of the input may be examples.
fn has_answers(messages: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Said {
        #[serde(default)]
        role: String,
        #[serde(default)]
        source: Option<String>,
    }
    let messages: Vec<Said> = serde_json::from_str(messages.get()).unwrap_or_default();
    messages.iter().any(|it| it.role == "assistant" && it.source.as_deref() != Some("input"))
}

/// Why there is no answer, if no error ended the sample: the limit that ended it, if there is one.
fn no_answer(limit: Option<&str>) -> String {
    match limit {
        Some(limit) => because(NO_ANSWER, &format!("the sample reached its {limit} limit")),
        None => NO_ANSWER.to_owned(),
    }
}

fn raw(value: &impl Serialize) -> Result<Box<RawValue>, Problem> {
    serde_json::value::to_raw_value(value).map_err(|error| Problem::json("a sample", &error))
}

impl Output {
    /// The text of the answer; `None` if the model gave none.
    fn text(self) -> Option<String> {
        let Some(first) = self.choices.into_iter().next() else {
            return self.completion.filter(|text| !text.is_empty());
        };
        if let Some(text) = self.completion.filter(|text| !text.is_empty()) {
            return Some(text);
        }
        Some(match first.message.content {
            Value::String(text) => text,
            Value::Array(parts) => {
                let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => String::new(),
        })
    }
}

/// Replaces `attachment://HASH` in a value by what the log stores separately, mostly long texts.
fn attach(
    raw: Box<RawValue>,
    attachments: &BTreeMap<String, String>,
) -> Result<Box<RawValue>, Problem> {
    const MARK: &str = "attachment://";
    /// How many bytes may still be inserted, so that a small log with one long text in many positions stays bounded.
    struct Room(usize);

    fn put_in(value: &mut Value, attachments: &BTreeMap<String, String>, room: &mut Room) -> bool {
        match value {
            Value::String(text) => {
                let Some(found) = text.strip_prefix(MARK).and_then(|hash| attachments.get(hash))
                else {
                    return true;
                };
                let Some(left) = room.0.checked_sub(found.len()) else { return false };
                room.0 = left;
                text.clone_from(found);
                true
            }
            Value::Array(items) => items.iter_mut().all(|it| put_in(it, attachments, room)),
            Value::Object(members) => members.values_mut().all(|it| put_in(it, attachments, room)),
            _ => true,
        }
    }

    if attachments.is_empty() || !raw.get().contains(MARK) {
        return Ok(raw);
    }
    let mut value: Value =
        serde_json::from_str(raw.get()).map_err(|error| Problem::json("a sample", &error))?;
    match put_in(&mut value, attachments, &mut Room(MAX_RECORD_BYTES)) {
        true => self::raw(&value),
        false => Err(Problem::content("a sample has more than 64 MiB with its attachments")),
    }
}

#[cfg(test)]
mod tests {
    use scorebox::case::Mapping;
    use serde_json::json;

    use super::*;

    fn case(sample: &Value) -> Value {
        let source = SourceFile::of(std::path::Path::new("log.json"), Mapping::NONE);
        // Raw values can be read only from text.
        let sample: Sample = serde_json::from_str(&sample.to_string()).unwrap();
        let header = Header { model: Some("m".to_owned()), ..Header::default() };
        let case = sample.case(&header, 1, Format::InspectJson, &source).unwrap();
        serde_json::to_value(case).unwrap()
    }

    #[test]
    fn tokens_of_a_cache_are_stated_by_the_trace() {
        let messages = json!([{"role": "user", "content": "q"}]);
        let of = |usage: &Value, messages: &Value| {
            let usage = json!({"m": usage, "grader": {"input_tokens": 9}});
            case(&json!({"id": "a", "input": "?", "messages": messages, "model_usage": usage}))
        };
        let mut usage = json!({"input_tokens": 4, "output_tokens": 1, "total_tokens": 35,
            "input_tokens_cache_write": 10, "input_tokens_cache_read": 20, "total_cost": null});
        let known = json!({"inputTokens": 4, "outputTokens": 1, "totalTokens": 35});
        let cached = of(&usage, &messages);
        let stated = json!({"messages": messages, "model_usage": {"m": usage}});
        assert_eq!((&cached["trace"], &cached["usage"]), (&stated, &known));
        // Without messages there is no trace that could contain the cached tokens.
        assert_eq!(of(&usage, &json!([]))["usage"], known);
        for way in ["read", "write"] {
            usage[format!("input_tokens_cache_{way}")] = 0.into();
        }
        let plain = of(&usage, &messages);
        assert_eq!((&plain["trace"], &plain["usage"]), (&messages, &known));
    }

    #[test]
    fn a_sample_without_an_answer_is_a_task_that_failed() {
        let of = |said: Value| {
            let mut sample = json!({"id": "a", "input": "?"});
            sample.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
            let case = case(&sample);
            (case["output"].clone(), case.get("error").cloned())
        };
        let nothing = json!({"model": "m", "choices": [], "completion": ""});
        let failed = |why: &str| (Value::Null, Some(why.into()));
        assert_eq!(of(json!({})), failed("the model gave no answer"));
        assert_eq!(of(json!({"output": nothing})), failed("the model gave no answer"));
        let limit = json!({"type": "time", "limit": 5});
        let why = "the model gave no answer: the sample reached its time limit";
        assert_eq!(of(json!({"output": nothing, "limit": limit})), failed(why));
        assert_eq!(of(json!({"error": {"message": "gone"}, "limit": limit})), failed("gone"));
        // An empty text is an answer, and so is a tool call.
        let empty = json!({"choices": [{"message": {"role": "assistant", "content": ""}}]});
        assert_eq!(of(json!({"output": empty, "limit": limit})), ("".into(), None));
        // What an agent did before the limit can be scored.
        let message =
            |source: &str| json!([{"role": "assistant", "content": "x", "source": source}]);
        let said = json!({"output": nothing, "messages": message("generate")});
        assert_eq!(of(said), (Value::Null, None));
        let example = json!({"output": nothing, "messages": message("input")});
        assert_eq!(of(example), failed("the model gave no answer"));
    }

    #[test]
    fn a_target_that_says_nothing_is_not_a_ground_truth() {
        let truth = |target: Value| {
            case(&json!({"id": "a", "input": "?", "target": target})).get("groundTruth").cloned()
        };
        for nothing in [json!(""), json!([]), json!([""]), json!(null)] {
            assert_eq!(truth(nothing), None);
        }
        assert_eq!(truth(json!(["Lima"])), Some("Lima".into()));
        assert_eq!(truth(json!(["Lima", ""])), Some(json!(["Lima", ""])));
    }
}
