//! A call, the digest that identifies it, and its recorded answer. Where recordings are stored is decided elsewhere.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    AskedBy, BoxFuture, Question, Reply, TokenUsage,
    answer::{MAX_COST_USD, MAX_TOKENS},
};
use crate::digest::Digest;

/// One question to one provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Call {
    /// The provider's kind: `openai`, `anthropic`, `command`.
    pub provider: String,
    /// Its address: a base URL, or a command.
    pub place: String,
    /// What is asked.
    pub question: Question,
    /// The iteration of the case for which it is asked; repeats are independent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub iteration: u32,
    /// The attempt of the case for which it is asked.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempt: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Call {
    /// The digest that identifies it. It covers the provider's kind and place, everything in the question, including
    /// the number of its sample, and the case's iteration and attempt.
    pub fn digest(&self) -> Digest {
        // A question is strings, numbers and booleans: writing it as JSON cannot fail.
        let question = serde_json::to_vec(&self.question).unwrap_or_default();
        Digest::of_parts([
            b"scorebox call 1",
            self.provider.as_bytes(),
            self.place.as_bytes(),
            &question,
            &self.iteration.to_le_bytes(),
            &self.attempt.to_le_bytes(),
        ])
    }
}

/// A call and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Recording {
    /// The call.
    #[serde(flatten)]
    pub call: Call,
    /// The content of the answer.
    pub reply: Reply,
    /// The model that answered, as its provider names it.
    pub model: String,
    /// The tokens that it consumed.
    #[serde(default)]
    pub usage: TokenUsage,
    /// Its cost in US dollars; `None` if neither the provider nor the judge's price determines it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Milliseconds from the first attempt to the answer.
    #[serde(default)]
    pub latency_ms: f64,
    /// How many attempts were made.
    #[serde(default = "once")]
    pub attempts: u32,
    /// When it was answered, in milliseconds since 1970 UTC.
    #[serde(default)]
    pub answered_at_ms: i64,
}

fn once() -> u32 {
    1
}

impl Recording {
    /// The answer to a call by the model with this name, in one attempt.
    pub fn new(call: Call, reply: Reply, model: String) -> Recording {
        Recording {
            call,
            reply,
            model,
            usage: TokenUsage::default(),
            cost_usd: None,
            latency_ms: 0.0,
            attempts: 1,
            answered_at_ms: 0,
        }
    }

    /// The same with this [`usage`](Recording::usage).
    #[must_use]
    pub fn with_usage(self, usage: TokenUsage) -> Recording {
        Recording { usage, ..self }
    }

    /// The same with this [`cost_usd`](Recording::cost_usd).
    #[must_use]
    pub fn with_cost_usd(self, cost_usd: Option<f64>) -> Recording {
        Recording { cost_usd, ..self }
    }

    /// The same with this [`latency_ms`](Recording::latency_ms).
    #[must_use]
    pub fn with_latency_ms(self, latency_ms: f64) -> Recording {
        Recording { latency_ms, ..self }
    }

    /// The same with these [`attempts`](Recording::attempts).
    #[must_use]
    pub fn with_attempts(self, attempts: u32) -> Recording {
        Recording { attempts, ..self }
    }

    /// The same, answered at this time ([`answered_at_ms`](Recording::answered_at_ms)).
    #[must_use]
    pub fn answered_at(self, answered_at_ms: i64) -> Recording {
        Recording { answered_at_ms, ..self }
    }

    /// The recording in a line of a file, if the line is valid ([`check`](Recording::check)). If it has the digest of
    /// its call (`callDigest`), that must match.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of_line(line: &[u8]) -> Result<Recording, RecordingsError> {
        let read =
            |error: serde_json::Error| RecordingsError(format!("this is not a recording: {error}"));
        let recording: Recording = serde_json::from_slice(line).map_err(read)?;
        recording.check()?;
        let stated: Stated = serde_json::from_slice(line).map_err(read)?;
        match (stated.call_digest, recording.call.digest()) {
            (Some(stated), digest) if stated != digest => Err(RecordingsError(format!(
                "the call was changed: its digest is {digest}, and not the `callDigest` {stated}"
            ))),
            _ => Ok(recording),
        }
    }

    /// Checks the content of a file: whether the answer is valid for the question, and whether its numbers are
    /// possible.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), RecordingsError> {
        let wrong = |why: String| Err(RecordingsError(why));
        if let Err(why) = self.call.question.takes(&self.reply) {
            return wrong(format!("the answer does not fit its question: {why}"));
        }
        let is_amount = |number: f64| number.is_finite() && number >= 0.0;
        if let Some(cost) = self.cost_usd.filter(|cost| !is_amount(*cost)) {
            return wrong(format!("`costUsd` must be 0 or more; found {cost}"));
        }
        if let Some(cost) = self.cost_usd.filter(|cost| *cost > MAX_COST_USD) {
            return wrong(format!("`costUsd` must be {MAX_COST_USD} or less; found {cost:e}"));
        }
        if !is_amount(self.latency_ms) {
            return wrong(format!("`latencyMs` must be 0 or more; found {}", self.latency_ms));
        }
        let TokenUsage { input_tokens, output_tokens } = self.usage;
        for (name, tokens) in [("inputTokens", input_tokens), ("outputTokens", output_tokens)] {
            if let Some(tokens) = tokens.filter(|tokens| *tokens > MAX_TOKENS) {
                return wrong(format!("`{name}` must be {MAX_TOKENS} or less; found {tokens}"));
            }
        }
        if self.answered_at_ms < 0 {
            let found = self.answered_at_ms;
            return wrong(format!("`answeredAtMs` must be 0 or more; found {found}"));
        }
        match self.attempts {
            0 => wrong("`attempts` must be 1 or more; found 0".to_owned()),
            _ => Ok(()),
        }
    }

    /// The digest that identifies the answer: it covers everything that the scorer gets of it.
    pub fn reply_digest(&self) -> Digest {
        // Strings and numbers: writing them as JSON cannot fail.
        let given = (&self.reply, &self.model, &self.usage, self.cost_usd);
        let json = serde_json::to_vec(&given).unwrap_or_default();
        Digest::of_parts([&b"scorebox reply 1"[..], &json])
    }

    /// The approximate size of its texts, in bytes.
    pub fn bytes(&self) -> usize {
        let asked = match &self.call.question {
            Question::Generate(generation) => {
                let said = generation.messages.iter().map(|message| message.text.len());
                let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
                let extra = generation.extra_body.iter();
                let extra = extra.map(|(key, value)| key.len() + value.to_string().len());
                said.sum::<usize>()
                    + text(&generation.system)
                    + text(&generation.response_schema)
                    + extra.sum::<usize>()
            }
            Question::Embed(embedding) => embedding.texts.iter().map(String::len).sum(),
        };
        let said = match &self.reply {
            Reply::Text { text, .. } => text.len(),
            Reply::Vectors(vectors) => vectors.iter().map(|vector| vector.len() * 4).sum(),
        };
        size_of::<Recording>() + asked + said
    }
}

/// The digest that a line states for its call.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stated {
    call_digest: Option<Digest>,
}

/// One call that a score is based on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ScoreCall {
    /// The call's digest.
    pub digest: Digest,
    /// The digest of the answer ([`Recording::reply_digest`]).
    pub reply_digest: Digest,
    /// Whether the answer was recorded before this score asked.
    pub is_recorded: bool,
}

impl ScoreCall {
    /// The call with this digest, and the digest of its answer.
    pub fn new(digest: Digest, reply_digest: Digest, is_recorded: bool) -> ScoreCall {
        ScoreCall { digest, reply_digest, is_recorded }
    }
}

/// Stores recordings.
pub trait Recordings: fmt::Debug + Send + Sync {
    /// The recording of the call with this digest; `None` if it is not recorded.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn find(&self, call: Digest) -> Result<Option<Arc<Recording>>, RecordingsError>;

    /// The recording of the call whose answer has this digest ([`Recording::reply_digest`]); if there is none, another
    /// one of the same call, so that the caller can report what is recorded instead.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn find_reply(
        &self,
        call: Digest,
        reply: Digest,
    ) -> Result<Option<Arc<Recording>>, RecordingsError> {
        let _ = reply;
        self.find(call)
    }

    /// Stores `recording`, in addition to older ones of the same call, of which the latest is found. When this returns,
    /// the recording is found, and survives the end of the process: so no score is stored whose answers are not.
    ///
    /// # Errors
    /// Why it cannot be stored.
    fn keep(&self, recording: Arc<Recording>) -> BoxFuture<'_, Result<(), RecordingsError>>;

    /// Keeps `recording`, and who had the question answered, so that what a run consumed is known even if no score of it
    /// is stored that is based on the answer. Unless it is said otherwise, who that was is not kept.
    ///
    /// # Errors
    /// Why it cannot be kept.
    fn keep_for(
        &self,
        recording: Arc<Recording>,
        by: AskedBy,
    ) -> BoxFuture<'_, Result<(), RecordingsError>> {
        drop(by);
        self.keep(recording)
    }
}

/// Why recordings cannot be read or written.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct RecordingsError(pub String);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Embedding, Generation, Message, Role};

    fn call(change: impl FnOnce(&mut Generation)) -> Call {
        let mut generation = Generation {
            model: "m".into(),
            messages: vec![Message { role: Role::User, text: "Is it?".into() }],
            ..Generation::default()
        };
        change(&mut generation);
        Call {
            provider: "openai".into(),
            place: "http://a/v1".into(),
            question: Question::Generate(generation),
            iteration: 0,
            attempt: 0,
        }
    }

    #[test]
    fn whatever_a_call_says_changes_its_digest() {
        let plain = || call(|_| {});
        let embedding = Embedding { model: "m".into(), texts: vec!["Is it?".into()] };
        let calls = [
            plain(),
            call(|it| it.model = "n".into()),
            call(|it| it.system = Some(String::new())),
            call(|it| it.messages[0].text.push('!')),
            call(|it| it.messages[0].role = Role::Assistant),
            call(|it| it.response_schema = Some("{}".into())),
            call(|it| it.temperature = Some(0.0)),
            call(|it| it.max_output_tokens = Some(1)),
            call(|it| it.extra_body = [("seed".to_owned(), 7.into())].into()),
            call(|it| it.extra_body = [("seed".to_owned(), 8.into())].into()),
            call(|it| it.sample = 1),
            Call { provider: "anthropic".into(), ..plain() },
            Call { place: "http://b/v1".into(), ..plain() },
            Call { iteration: 1, ..plain() },
            Call { attempt: 1, ..plain() },
            Call { question: Question::Embed(embedding), ..plain() },
        ];
        let different: std::collections::HashSet<Digest> = calls.iter().map(Call::digest).collect();
        assert_eq!(different.len(), calls.len());
        assert_eq!(plain().digest(), calls[0].digest());
    }

    #[test]
    fn a_recording_reads_back_as_it_was_written() {
        let recording = Recording {
            call: Call { attempt: 2, ..call(|it| it.sample = 1) },
            reply: Reply::Text { text: "yes".into(), truncated: true },
            model: "m-2026".into(),
            usage: TokenUsage { input_tokens: Some(7), output_tokens: None },
            cost_usd: Some(0.25),
            latency_ms: 12.5,
            attempts: 3,
            answered_at_ms: 1_700_000_000_000,
        };
        let written = serde_json::to_string(&recording).unwrap();
        assert_eq!(serde_json::from_str::<Recording>(&written).unwrap(), recording);
    }
}
