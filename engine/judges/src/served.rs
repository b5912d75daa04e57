//! A provider over HTTP: asks a question in a way that its server and model understand, which the first questions find
//! out. It leaves the protocols to `wire`.

use std::{borrow::Cow, collections::HashMap, fmt, time::Duration};

use bytes::Bytes;
use scorebox::judge::{
    Answer, AskError, AskErrorKind, BoxFuture, Embedding, Generation, Halt, JudgeSettings, Load,
    Message, Provider, Question, Reply, Role, StructuredOutput,
};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::{
    failure::Failure,
    form::{Form, Way},
    gate::{Call, Gate},
    http::Server,
    knowledge::{Knowledge, Known, Turn},
    openai,
    spoken::{Asking, Heard, MAX_TEXT_BYTES, Said, Unsaid, max_bytes, named},
    wire::Wire,
};

/// The form of the question that tests whether a server enforces forms: no model would answer in it by chance.
const GREETING: &str = r#"{"type":"object","properties":{"greeting":{"type":"string"}},"required":["greeting"],"additionalProperties":false}"#;

/// A server that answers questions.
pub(crate) struct Served {
    wire: Wire,
    server: Server,
    structured_output: StructuredOutput,
    gate: Gate,
    knowledge: Knowledge,
    patience: Duration,
}

impl Served {
    pub(crate) fn new(wire: Wire, server: Server, settings: &JudgeSettings) -> Served {
        Served {
            wire,
            server,
            structured_output: settings.structured_output,
            gate: Gate::new(settings),
            knowledge: Knowledge::default(),
            patience: settings.patience,
        }
    }

    async fn generate(
        &self,
        generation: &Generation,
        within: Duration,
        stop: Halt,
    ) -> Result<Answer, AskError> {
        let form = match generation.response_schema.as_deref().map(Form::of) {
            Some(None) => {
                let message = "the question's response schema is not a JSON object".to_owned();
                return Err(AskError::new(AskErrorKind::Refused, message, 0));
            }
            form => form.flatten(),
        };
        let known = self.knowledge.about(&generation.model);
        let arrived = self.gate.arrive(stop);
        // The first call finds out what is unknown, and the others wait for it. All calls take these two turns in this
        // order.
        let has_limit = self.wire == Wire::OpenAi && generation.max_output_tokens.is_some();
        let of_limit = match has_limit {
            true => known.with_limit.turn(self.patience).await,
            false => None,
        };
        let has_form = form.is_some_and(|form| form.is_of_objects);
        let of_form = match has_form && self.structured_output == StructuredOutput::Detect {
            true => known.with_form.turn(self.patience).await,
            false => None,
        };
        let mut call = arrived.enter(within).await?;
        let outcome = self.understood(&mut call, generation, form, &known).await;
        of_limit.into_iter().chain(of_form).for_each(Turn::end);
        self.answer(outcome, &call, &generation.model)
    }

    /// Asks, with the form in a way that the model understands.
    async fn understood(
        &self,
        call: &mut Call<'_>,
        generation: &Generation,
        form: Option<Form<'_>>,
        known: &Known,
    ) -> Result<Said, Failure> {
        let Some(form) = form else {
            return self.limited(call, generation, None, known).await;
        };
        let [best, _] = self.wire.ways();
        let (way, is_settled) = match self.structured_output {
            // No server enforces a form that does not describe objects.
            _ if !form.is_of_objects => (Way::Prompt, true),
            StructuredOutput::Schema => (Way::Schema, true),
            StructuredOutput::Tool => (Way::Tool, true),
            StructuredOutput::Prompt => (Way::Prompt, true),
            _ => match known.way.get() {
                Some(way) => (way.unwrap_or(best), true),
                None => (best, false),
            },
        };
        let outcome = self.limited(call, generation, Some((form, way)), known).await;
        if is_settled {
            return outcome;
        }
        let takes_questions = match &outcome {
            Ok(said) => match has_a_form(&said.reply) {
                Some(true) => {
                    // This fails if another call has found it out in the meantime.
                    let _ = known.way.set(Some(way));
                    return outcome;
                }
                None => return outcome,
                Some(false) => true,
            },
            Err(failure) if failure.may_be_of_the_form() => false,
            Err(_) => return outcome,
        };
        let finding = self.find_way(call, generation, known, takes_questions);
        match known.way.get_or_try_init(|| finding).await {
            Ok(Some(found)) if *found != way => {
                self.limited(call, generation, Some((form, *found)), known).await
            }
            // Then the outcome belongs to the question itself.
            Ok(_) | Err(_) => outcome,
        }
    }

    /// Finds out, with its own question, how to ask the model for a form. The question contains nothing from scorers,
    /// only what the user has sent with every question. `None` if the model answers no such question.
    async fn find_way(
        &self,
        call: &mut Call<'_>,
        asked: &Generation,
        known: &Known,
        takes_questions: bool,
    ) -> Result<Option<Way>, Failure> {
        let question = Generation {
            model: asked.model.clone(),
            messages: vec![Message { role: Role::User, text: "Say hello.".to_owned() }],
            extra_body: asked.extra_body.clone(),
            ..Generation::default()
        };
        let Some(form) = Form::of(GREETING) else { return Ok(None) };
        if !takes_questions {
            match self.limited(call, &question, None, known).await {
                Ok(_) => {}
                Err(failure) if failure.kind == AskErrorKind::Refused => return Ok(None),
                Err(failure) => return Err(failure),
            }
        }
        for way in self.wire.ways() {
            match self.limited(call, &question, Some((form, way)), known).await {
                Ok(said) if is_a_greeting(&said.reply) => return Ok(Some(way)),
                Ok(_) => {}
                Err(failure) if failure.may_be_of_the_form() => {}
                Err(failure) if failure.kind == AskErrorKind::Refused => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(Some(Way::Prompt))
    }

    /// Asks, with the token limit under the name that the model takes.
    async fn limited(
        &self,
        call: &mut Call<'_>,
        generation: &Generation,
        form: Option<(Form<'_>, Way)>,
        known: &Known,
    ) -> Result<Said, Failure> {
        let with_completion_tokens = known.takes_completion_tokens();
        let mut asking = Asking { generation, form, with_completion_tokens };
        let outcome = self.converse(call, &asking).await;
        let wants_other_name =
            matches!(&outcome, Err(failure) if failure.names_completion_tokens());
        let is_sent = self.wire == Wire::OpenAi && generation.max_output_tokens.is_some();
        if with_completion_tokens || !is_sent || !wants_other_name {
            return outcome;
        }
        known.learn_completion_tokens();
        asking.with_completion_tokens = true;
        self.converse(call, &asking).await
    }

    async fn converse(&self, call: &mut Call<'_>, asking: &Asking<'_>) -> Result<Said, Failure> {
        let document = self.wire.conversation(asking);
        let way = asking.form.map(|(_, way)| way);
        let path = self.wire.path();
        let read = |answer: &[u8]| self.wire.read(answer, way);
        self.exchange(call, path, &document, MAX_TEXT_BYTES, read).await
    }

    async fn embed(
        &self,
        embedding: &Embedding,
        within: Duration,
        stop: Halt,
    ) -> Result<Answer, AskError> {
        let Some((path, document)) = self.wire.vectors(embedding) else {
            let message = format!("{} has no embeddings", self.server.base_url());
            return Err(AskError::new(AskErrorKind::Refused, message, 0));
        };
        let texts = embedding.texts.len();
        let read = |answer: &[u8]| openai::read_vectors(answer, texts);
        let mut call = self.gate.arrive(stop).enter(within).await?;
        let outcome = self.exchange(&mut call, path, &document, max_bytes(texts), read).await;
        self.answer(outcome, &call, &embedding.model)
    }

    /// Sends a document until there is an answer, or none can be expected.
    async fn exchange(
        &self,
        call: &mut Call<'_>,
        path: &str,
        document: &Bytes,
        max_bytes: usize,
        read: impl Fn(&[u8]) -> Heard,
    ) -> Result<Said, Failure> {
        loop {
            call.begin().await?;
            let outcome = call.in_time(self.server.post(path, document, max_bytes)).await;
            let outcome = outcome.and_then(|answer| {
                let Heard { said, usage, cost_usd } = read(&answer);
                call.consume(usage, cost_usd);
                said.map_err(|unsaid| self.failure(unsaid, &answer))
            });
            if let Some(outcome) = call.settle(outcome).await {
                return outcome;
            }
        }
    }

    fn failure(&self, unsaid: Unsaid, answer: &[u8]) -> Failure {
        let place = self.server.base_url();
        match unsaid {
            Unsaid::Refused(words) => Failure::refused(format!(
                "the model behind {place} refuses to answer: {}",
                self.server.foreign(&words)
            )),
            Unsaid::Failed(words) => Failure::passing(format!(
                "the model behind {place} fails while it answers: {}",
                self.server.foreign(&words)
            )),
            Unsaid::Misshapen(what) => Failure::unavailable(format!(
                "cannot read the answer of {place}: {}: {}",
                self.server.foreign(&what),
                self.server.foreign(&String::from_utf8_lossy(answer))
            )),
        }
    }

    fn answer(
        &self,
        outcome: Result<Said, Failure>,
        call: &Call<'_>,
        model: &str,
    ) -> Result<Answer, AskError> {
        let said = outcome.map_err(|failure| call.error(failure))?;
        let reply = match said.reply {
            Reply::Text { text, truncated } => {
                Reply::Text { text: self.server.conceal(text), truncated }
            }
            reply => reply,
        };
        let model = named(said.model.map(|name| self.server.conceal(name)), model);
        Ok(call.answer(reply, model))
    }
}

impl Failure {
    /// Whether the server may have refused the question because of its form.
    fn may_be_of_the_form(&self) -> bool {
        self.refusal.as_ref().is_some_and(|refusal| matches!(refusal.status, 400 | 422 | 500))
    }

    /// Whether the server reports that the token limit has another name, as OpenAI's newer models do.
    fn names_completion_tokens(&self) -> bool {
        self.refusal.as_ref().is_some_and(|refusal| {
            matches!(refusal.status, 400 | 422) && refusal.text.contains("max_completion_tokens")
        })
    }
}

/// Whether the reply is a JSON object; `None` if it was cut off.
fn has_a_form(reply: &Reply) -> Option<bool> {
    match reply {
        Reply::Text { truncated: true, .. } => None,
        Reply::Text { text, .. } => {
            Some(serde_json::from_str::<HashMap<Cow<'_, str>, IgnoredAny>>(text).is_ok())
        }
        _ => Some(false),
    }
}

fn is_a_greeting(reply: &Reply) -> bool {
    let Reply::Text { text, .. } = reply else { return false };
    let value = serde_json::from_str::<Value>(text);
    value.is_ok_and(|value| value.get("greeting").is_some_and(Value::is_string))
}

impl Provider for Served {
    fn ask<'a>(
        &'a self,
        question: &'a Question,
        within: Duration,
    ) -> BoxFuture<'a, Result<Answer, AskError>> {
        self.ask_until(question, within, Halt::default())
    }

    fn ask_until<'a>(
        &'a self,
        question: &'a Question,
        within: Duration,
        stop: Halt,
    ) -> BoxFuture<'a, Result<Answer, AskError>> {
        match question {
            Question::Generate(generation) => Box::pin(self.generate(generation, within, stop)),
            Question::Embed(embedding) => Box::pin(self.embed(embedding, within, stop)),
            _ => Box::pin(async {
                let message =
                    format!("{} does not support this kind of question", self.server.base_url());
                Err(AskError::new(AskErrorKind::Refused, message, 0))
            }),
        }
    }

    fn load(&self) -> Load {
        self.gate.load()
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Served")
            .field("kind", &self.wire.kind())
            .field("place", &self.server.base_url())
            .finish_non_exhaustive()
    }
}
