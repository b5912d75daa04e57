//! A complete question to a model. It sends no questions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Reply, answer::must_fit};

/// One question to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
#[non_exhaustive]
pub enum Question {
    /// A request for a text.
    Generate(Generation),
    /// A request for the vectors of some texts.
    Embed(Embedding),
}

/// A conversation that a model continues.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Generation {
    /// The model, as its provider names it.
    pub model: String,
    /// The system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The messages, oldest first; at least one, the last one by the user.
    pub messages: Vec<Message>,
    /// A JSON Schema (an object, as JSON text) that the answer should match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<String>,
    /// The temperature, 0 to 2; `None` for the provider's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The most tokens of the answer; `None` for the provider's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// Additional members of the document that is sent, as the provider names them: from a user, never from a scorer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra_body: BTreeMap<String, Value>,
    /// The number of this independent answer to the same question: 0, 1, 2 … It is part of the call's digest; no
    /// provider sees it.
    #[serde(default, skip_serializing_if = "is_first")]
    pub sample: u32,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// Its text.
    pub text: String,
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "a conversation has two sides")]
pub enum Role {
    /// The side that asks.
    User,
    /// The model.
    Assistant,
}

/// Texts whose vectors are requested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Embedding {
    /// The model, as its provider names it.
    pub model: String,
    /// The texts, at least one.
    pub texts: Vec<String>,
}

impl Question {
    /// Checks that `reply` is a valid answer: a text for a conversation; for texts, a vector each, all of the same
    /// length and with finite numbers.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn takes(&self, reply: &Reply) -> Result<(), String> {
        match (self, reply) {
            (Question::Generate(_), Reply::Text { .. }) => Ok(()),
            (Question::Embed(embedding), Reply::Vectors(vectors)) => {
                must_fit(vectors, embedding.texts.len())
            }
            (Question::Generate(_), _) => Err("vectors to a conversation".to_owned()),
            (Question::Embed(_), _) => Err("a text where vectors are wanted".to_owned()),
        }
    }

    /// The model to ask.
    pub fn model(&self) -> &str {
        match self {
            Question::Generate(generation) => &generation.model,
            Question::Embed(embedding) => &embedding.model,
        }
    }
}

fn is_first(sample: &u32) -> bool {
    *sample == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generation() -> Generation {
        Generation {
            model: "m".into(),
            messages: vec![Message { role: Role::User, text: "Is it?".into() }],
            ..Generation::default()
        }
    }

    #[test]
    fn a_question_reads_back_as_it_was_written() {
        let question = Question::Generate(Generation {
            extra_body: [("seed".to_owned(), 7.into())].into(),
            sample: 2,
            ..generation()
        });
        let written = serde_json::to_string(&question).unwrap();
        assert_eq!(serde_json::from_str::<Question>(&written).unwrap(), question);
    }
}
