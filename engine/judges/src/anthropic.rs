//! Writes requests and reads answers of Anthropic's messages protocol. Sends nothing.

use std::{borrow::Cow, collections::BTreeMap};

use bytes::Bytes;
use scorebox::judge::{Reply, Role, TokenUsage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    form::{NAME, Way},
    pieces::{Content, Count, Object, counted},
    spoken::{Asking, Heard, Said, Unsaid, document},
};

/// The path that conversations are sent to.
pub(crate) const MESSAGES: &str = "/v1/messages";

/// The version of the protocol, which each request names.
pub(crate) const VERSION: &str = "2023-06-01";

/// The most tokens of an answer if the question has no limit: the protocol requires a number.
const MAX_TOKENS: u32 = 1024;

#[derive(Serialize)]
struct Conversation<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<Cow<'a, str>>,
    messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tool<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Chosen>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    /// Contains none of the members above.
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a Value>,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: Role,
    content: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'static str,
    description: &'static str,
    input_schema: &'a RawValue,
}

#[derive(Serialize)]
struct Chosen {
    r#type: &'static str,
    name: &'static str,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
    /// Contains none of the members above.
    #[serde(flatten)]
    extra: Option<&'a Map<String, Value>>,
}

/// The member that asks for a form. Its other members are the user's.
const OUTPUT_CONFIG: &str = "output_config";

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    schema: &'a RawValue,
}

/// The document that asks for a conversation's next turn.
pub(crate) fn conversation(asking: &Asking<'_>) -> Bytes {
    let generation = asking.generation;
    let system = match &asking.form {
        Some((form, Way::Prompt)) => Some(Cow::Owned(form.in_words(generation.system.as_deref()))),
        _ => generation.system.as_deref().map(Cow::Borrowed),
    };
    let turns = generation.messages.iter().map(|it| Turn { role: it.role, content: &it.text });
    let by = |way: Way| asking.form.filter(|(_, asked)| *asked == way).map(|(form, _)| form);
    let format = by(Way::Schema).map(|form| Format { r#type: "json_schema", schema: form.schema });
    let of_output = generation.extra_body.get(OUTPUT_CONFIG).and_then(Value::as_object);
    let extra = generation.extra_body.iter().filter(|(key, _)| *key != OUTPUT_CONFIG);
    let extra = extra.map(|(key, value)| (key.as_str(), value)).collect();
    document(&Conversation {
        model: &generation.model,
        max_tokens: generation.max_output_tokens.unwrap_or(MAX_TOKENS),
        system,
        messages: turns.collect(),
        temperature: generation.temperature,
        tools: by(Way::Tool).map(|form| {
            let description = "Give the answer.";
            [Tool { name: NAME, description, input_schema: form.schema }]
        }),
        tool_choice: by(Way::Tool).map(|_| Chosen { r#type: "tool", name: NAME }),
        output_config: (format.is_some() || of_output.is_some())
            .then_some(OutputConfig { format, extra: of_output }),
        extra,
    })
}

#[derive(Deserialize)]
struct Answer {
    content: Option<Content>,
    model: Option<String>,
    stop_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: Count,
    #[serde(default)]
    cache_creation_input_tokens: Count,
    #[serde(default)]
    cache_read_input_tokens: Count,
    #[serde(default)]
    output_tokens: Count,
}

impl Usage {
    fn tokens(&self) -> TokenUsage {
        let cached = [self.cache_creation_input_tokens, self.cache_read_input_tokens];
        let cached = cached.into_iter().filter_map(|count| count.0).fold(0, u64::saturating_add);
        let input_tokens = self.input_tokens.0.map(|count| count.saturating_add(cached));
        TokenUsage { input_tokens, output_tokens: self.output_tokens.0 }
    }
}

/// Reads what the server answered when it was asked in this way.
pub(crate) fn read(document: &[u8], way: Option<Way>) -> Heard {
    let usage = counted::<Usage>(document).tokens();
    match serde_json::from_slice(document) {
        Ok(Object(answer)) => Heard { said: said(answer, way), usage, cost_usd: None },
        Err(error) => Heard::misshapen(error, usage, None),
    }
}

fn said(answer: Answer, way: Option<Way>) -> Result<Said, Unsaid> {
    let content = answer.content.ok_or_else(|| Unsaid::Misshapen("no `content`".to_owned()))?;
    let stop_reason = answer.stop_reason.as_deref();
    if stop_reason == Some("refusal") {
        return Err(Unsaid::Refused(content.text.unwrap_or_else(|| "refusal".to_owned())));
    }
    let truncated = matches!(stop_reason, Some("max_tokens" | "model_context_window_exceeded"));
    let text = match way {
        Some(Way::Tool) => content.calls.arguments().or(content.text),
        _ => content.text,
    };
    // The text may be missing, for example if the model used all its tokens for thinking.
    let text = text.unwrap_or_default();
    Ok(Said { reply: Reply::Text { text, truncated }, model: answer.model })
}
