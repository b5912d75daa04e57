//! A scorer's question, before a model is chosen for it: checked, and converted to a question to a model. It is
//! untrusted, so every part is bounded.

use serde_json::value::RawValue;

use super::{
    Embedding, Generation, JudgeError, JudgeErrorKind, JudgeSettings, Message, Question, Role,
};

/// The most bytes of all texts of one question.
const MAX_TEXT_BYTES: usize = 4 << 20;
/// The most bytes of the schema of an answer.
const MAX_SCHEMA_BYTES: usize = 256 << 10;
/// The most messages of one conversation.
const MAX_MESSAGES: usize = 1000;
/// The most texts in one request for vectors.
const MAX_TEXTS: usize = 2048;
/// The longest name of a model, in bytes.
const MAX_MODEL_BYTES: usize = 200;

/// A scorer's question.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "what the contract has")]
pub enum Request {
    /// A request for a text. The generation's model is ignored.
    Generate {
        /// The conversation.
        generation: Generation,
        /// The model that the scorer names.
        model: Option<String>,
    },
    /// A request for vectors.
    Embed {
        /// The texts.
        texts: Vec<String>,
        /// The model that the scorer names.
        model: Option<String>,
    },
}

impl Request {
    /// The model that the scorer names.
    pub fn model(&self) -> Option<&str> {
        match self {
            Request::Generate { model, .. } | Request::Embed { model, .. } => model.as_deref(),
        }
    }

    /// The question to `model`, with the judge's settings for what the scorer leaves open.
    ///
    /// # Errors
    /// What is not valid in it.
    pub(super) fn to_question(
        &self,
        model: &str,
        settings: &JudgeSettings,
    ) -> Result<Question, JudgeError> {
        if model.len() > MAX_MODEL_BYTES {
            return Err(invalid(format!("the model's name has {} bytes", model.len())));
        }
        let model = model.to_owned();
        match self {
            Request::Generate { generation, .. } => {
                check(generation)?;
                Ok(Question::Generate(Generation {
                    model,
                    temperature: generation.temperature.or(settings.temperature),
                    max_output_tokens: generation.max_output_tokens.or(settings.max_output_tokens),
                    extra_body: settings.extra_body.clone(),
                    ..generation.clone()
                }))
            }
            Request::Embed { texts, .. } => {
                if texts.is_empty() || texts.len() > MAX_TEXTS {
                    return Err(invalid(format!(
                        "{} texts; allowed: 1 to {MAX_TEXTS}",
                        texts.len()
                    )));
                }
                within(texts.iter().map(String::len).sum(), MAX_TEXT_BYTES, "the texts have")?;
                Ok(Question::Embed(Embedding { model, texts: texts.clone() }))
            }
        }
    }
}

fn check(generation: &Generation) -> Result<(), JudgeError> {
    let Generation { system, messages, response_schema, temperature, max_output_tokens, .. } =
        generation;
    if messages.is_empty() || messages.len() > MAX_MESSAGES {
        return Err(invalid(format!("{} messages; allowed: 1 to {MAX_MESSAGES}", messages.len())));
    }
    if messages.last().is_some_and(|last| last.role != Role::User) {
        return Err(invalid("the last message must be the user's"));
    }
    let said: usize = messages.iter().map(|Message { text, .. }| text.len()).sum();
    let bytes = said + system.as_ref().map_or(0, String::len);
    within(bytes, MAX_TEXT_BYTES, "the messages have")?;
    if let Some(schema) = response_schema {
        within(schema.len(), MAX_SCHEMA_BYTES, "the schema of the answer has")?;
        let json: Result<&RawValue, _> = serde_json::from_str(schema);
        if !json.is_ok_and(|json| json.get().starts_with('{')) {
            return Err(invalid("the schema of the answer is not a JSON object"));
        }
    }
    if let Some(temperature) = temperature.filter(|it| !(0.0..=2.0).contains(it)) {
        return Err(invalid(format!("the temperature is {temperature}; allowed: 0 to 2")));
    }
    match max_output_tokens {
        Some(0) => Err(invalid("an answer of 0 tokens")),
        _ => Ok(()),
    }
}

fn within(bytes: usize, most: usize, what: &str) -> Result<(), JudgeError> {
    match bytes <= most {
        true => Ok(()),
        false => Err(invalid(format!("{what} {bytes} bytes; the limit is {most}"))),
    }
}

fn invalid(why: impl std::fmt::Display) -> JudgeError {
    JudgeError::new(
        JudgeErrorKind::InvalidQuestion,
        format!("what the scorer asks the judge is not valid: {why}"),
    )
}
