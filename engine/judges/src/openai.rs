//! Writes requests and reads answers of OpenAI's chat completions and embeddings. Sends nothing.

use std::{borrow::Cow, collections::BTreeMap};

use bytes::Bytes;
use scorebox::judge::{Embedding, Reply, Role, TokenUsage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use crate::{
    form::{NAME, Way},
    pieces::{Amount, Calls, Content, Count, First, Object, counted},
    spoken::{Asking, Heard, Said, Unsaid, document},
};

/// The path that conversations are sent to.
pub(crate) const CHAT: &str = "/chat/completions";

/// The path that texts are sent to for their vectors.
pub(crate) const EMBEDDINGS: &str = "/embeddings";

#[derive(Serialize)]
struct Conversation<'a> {
    model: &'a str,
    messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tool<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Chosen>,
    /// Contains none of the members above.
    #[serde(flatten)]
    extra: &'a BTreeMap<String, Value>,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: Cow<'a, str>,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    json_schema: Schema<'a>,
}

#[derive(Serialize)]
struct Schema<'a> {
    name: &'static str,
    strict: bool,
    schema: &'a RawValue,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'static str,
    description: &'static str,
    parameters: &'a RawValue,
}

#[derive(Serialize)]
struct Chosen {
    r#type: &'static str,
    function: Named,
}

#[derive(Serialize)]
struct Named {
    name: &'static str,
}

/// The document that asks for a conversation's next turn.
pub(crate) fn conversation(asking: &Asking<'_>) -> Bytes {
    let generation = asking.generation;
    let system = generation.system.as_deref().map(Cow::Borrowed);
    let system = match &asking.form {
        Some((form, Way::Prompt)) => Some(Cow::Owned(form.in_words(generation.system.as_deref()))),
        _ => system,
    };
    let system = system.map(|content| Turn { role: "system", content });
    let turns = generation.messages.iter().map(|message| Turn {
        role: match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        },
        content: Cow::Borrowed(&message.text),
    });
    let most = generation.max_output_tokens;
    let by = |way: Way| asking.form.filter(|(_, asked)| *asked == way).map(|(form, _)| form);
    document(&Conversation {
        model: &generation.model,
        messages: system.into_iter().chain(turns).collect(),
        temperature: generation.temperature,
        max_tokens: most.filter(|_| !asking.with_completion_tokens),
        max_completion_tokens: most.filter(|_| asking.with_completion_tokens),
        response_format: by(Way::Schema).map(|form| ResponseFormat {
            r#type: "json_schema",
            json_schema: Schema { name: NAME, strict: form.is_strict, schema: form.schema },
        }),
        tools: by(Way::Tool).map(|form| {
            let description = "Give the answer.";
            let function = Function { name: NAME, description, parameters: form.schema };
            [Tool { r#type: "function", function }]
        }),
        tool_choice: by(Way::Tool)
            .map(|_| Chosen { r#type: "function", function: Named { name: NAME } }),
        extra: &generation.extra_body,
    })
}

#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    choices: First<Object<Choice>>,
    model: Option<String>,
    error: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Choice {
    message: Option<Object<Message>>,
    finish_reason: Option<String>,
    /// OpenRouter reports it here if the model's own server fails while it answers.
    error: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Content,
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Calls,
}

#[derive(Default, Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: Count,
    #[serde(default)]
    completion_tokens: Count,
    #[serde(default)]
    total_tokens: Count,
    #[serde(default)]
    cost: Amount,
}

impl Usage {
    fn tokens(&self) -> TokenUsage {
        TokenUsage { input_tokens: self.prompt_tokens.0, output_tokens: self.completion_tokens.0 }
    }

    /// Vectors contain no tokens: servers count the tokens of the texts, and some report only the total.
    fn tokens_of_vectors(&self) -> TokenUsage {
        let input_tokens = self.prompt_tokens.0.or(self.total_tokens.0);
        TokenUsage { input_tokens, output_tokens: input_tokens.map(|_| 0) }
    }
}

/// Reads what the server answered when it was asked in this way.
pub(crate) fn read(document: &[u8], way: Option<Way>) -> Heard {
    let usage: Usage = counted(document);
    let (tokens, cost_usd) = (usage.tokens(), usage.cost.0);
    match serde_json::from_slice(document) {
        Ok(Object(completion)) => Heard { said: said(completion, way), usage: tokens, cost_usd },
        Err(error) => Heard::misshapen(error, tokens, cost_usd),
    }
}

fn said(completion: Completion, way: Option<Way>) -> Result<Said, Unsaid> {
    let misshapen = |what: &str| Unsaid::Misshapen(what.to_owned());
    // Some gateways report errors with status 200.
    if let Some(error) = completion.error {
        return Err(Unsaid::Misshapen(format!("an error: {}", error.get())));
    }
    let Object(choice) = completion.choices.0.ok_or_else(|| misshapen("no `choices`"))?;
    if let Some(error) = choice.error {
        return Err(Unsaid::Failed(error.get().to_owned()));
    }
    if choice.finish_reason.as_deref() == Some("error") {
        return Err(Unsaid::Failed("`finish_reason` is `error`".to_owned()));
    }
    let Object(message) = choice.message.ok_or_else(|| misshapen("no `message`"))?;
    let refusal = message.refusal.or(message.content.refusal).filter(|it| !it.is_empty());
    if let Some(refusal) = refusal {
        return Err(Unsaid::Refused(refusal));
    }
    if choice.finish_reason.as_deref() == Some("content_filter") {
        return Err(Unsaid::Refused("content_filter".to_owned()));
    }
    let truncated = choice.finish_reason.as_deref() == Some("length");
    let text = match way {
        Some(Way::Tool) => message.tool_calls.arguments().or(message.content.text),
        _ => message.content.text,
    };
    // The text may be missing, for example if the model used all its tokens for thinking; servers write that
    // differently.
    let text = text.unwrap_or_default();
    Ok(Said { reply: Reply::Text { text, truncated }, model: completion.model })
}

#[derive(Serialize)]
struct Texts<'a> {
    model: &'a str,
    input: &'a [String],
}

/// The document that asks for the vectors of texts.
pub(crate) fn texts(embedding: &Embedding) -> Bytes {
    document(&Texts { model: &embedding.model, input: &embedding.texts })
}

#[derive(Deserialize)]
struct Vectors {
    #[serde(default)]
    data: Vec<Object<Vector>>,
    model: Option<String>,
}

#[derive(Deserialize)]
struct Vector {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Reads the vectors of this many texts.
pub(crate) fn read_vectors(document: &[u8], texts: usize) -> Heard {
    let usage: Usage = counted(document);
    let (tokens, cost_usd) = (usage.tokens_of_vectors(), usage.cost.0);
    match serde_json::from_slice(document) {
        Ok(Object(answer)) => Heard { said: vectors(answer, texts), usage: tokens, cost_usd },
        Err(error) => Heard::misshapen(error, tokens, cost_usd),
    }
}

fn vectors(answer: Vectors, texts: usize) -> Result<Said, Unsaid> {
    let mut data: Vec<Vector> = answer.data.into_iter().map(|Object(vector)| vector).collect();
    if data.iter().all(|vector| vector.index.is_some()) {
        data.sort_by_key(|vector| vector.index);
        let is_complete = data.iter().enumerate().all(|(index, it)| it.index == Some(index));
        if !is_complete {
            return Err(Unsaid::Misshapen("vectors with wrong numbers".to_owned()));
        }
    }
    let vectors = data.into_iter().map(|vector| vector.embedding).collect();
    Ok(Said {
        reply: Reply::vectors(vectors, texts).map_err(Unsaid::Misshapen)?,
        model: answer.model,
    })
}
