//! Judges, questions and answers that most tests need.

use std::{future::poll_fn, pin::Pin, sync::Arc, task::Poll, time::Duration};

use scorebox::judge::{
    AskError, Embedding, Generation, JudgeSettings, Message, Provider, ProviderSettings, Question,
    Reply, Role,
};
use scorebox_judges::{Key, connect};
use serde_json::json;

use crate::server::{Answer, Server};

/// More time than any answer of these tests takes.
pub(crate) const LONG: Duration = Duration::from_secs(600);

/// A key like those of real servers.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// A form with the reason before the mark, which is not alphabetical order.
pub(crate) const FORM: &str = r#"{"type":"object","properties":{"why":{"type":"string"},"mark":{"type":"number"}},"required":["why","mark"],"additionalProperties":false}"#;

/// Settings for a judge of OpenAI's protocol at this address that makes one attempt.
pub(crate) fn settings(base_url: String) -> JudgeSettings {
    let mut settings = JudgeSettings::new(ProviderSettings::OpenAi { base_url, key_env: None });
    settings.retries = 0;
    // With this patience, other calls wait for what the first question finds out, however busy the machine is.
    settings.patience = LONG;
    settings
}

/// A judge at this server, with other settings.
pub(crate) fn judge_with(
    server: &Server,
    change: impl FnOnce(&mut JudgeSettings),
) -> Arc<dyn Provider> {
    let mut settings = settings(server.url("/v1"));
    change(&mut settings);
    connect(&settings, Some(Key::new(KEY))).unwrap()
}

/// A judge at this server that makes one attempt.
pub(crate) fn judge(server: &Server) -> Arc<dyn Provider> {
    judge_with(server, |_| {})
}

pub(crate) fn generation(text: &str) -> Generation {
    Generation {
        model: "m".to_owned(),
        messages: vec![Message { role: Role::User, text: text.to_owned() }],
        ..Generation::default()
    }
}

pub(crate) fn question(text: &str) -> Question {
    Question::Generate(generation(text))
}

pub(crate) fn question_of_form(text: &str, form: &str) -> Question {
    let response_schema = Some(form.to_owned());
    Question::Generate(Generation { response_schema, ..generation(text) })
}

pub(crate) fn texts(texts: &[&str]) -> Question {
    let texts = texts.iter().map(|it| (*it).to_owned()).collect();
    Question::Embed(Embedding { model: "m".to_owned(), texts })
}

/// An answer of OpenAI's protocol.
pub(crate) fn says(text: &str) -> Answer {
    Answer::json(&json!({
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
    }))
}

/// A refusal in OpenAI's format.
pub(crate) fn refuses(status: u16, message: &str) -> Answer {
    let error =
        json!({"error": {"message": message, "type": "invalid_request_error", "code": null}});
    Answer::status(status, error.to_string()).with("content-type", "application/json")
}

pub(crate) fn text(reply: &Reply) -> &str {
    match reply {
        Reply::Text { text, .. } => text,
        other => panic!("{other:?}"),
    }
}

/// The text that the judge answers.
pub(crate) async fn asked(judge: &dyn Provider, question: &Question) -> Result<String, AskError> {
    judge.ask(question, LONG).await.map(|answer| text(&answer.reply).to_owned())
}

/// Waits until the condition holds.
pub(crate) async fn until(holds: impl Fn() -> bool) {
    while !holds() {
        tokio::task::yield_now().await;
    }
}

/// Whether the future ends at once. Otherwise it has advanced as far as it can without waiting.
pub(crate) async fn ends_at_once<F: Future + ?Sized>(future: &mut Pin<Box<F>>) -> bool {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_ready())).await
}
