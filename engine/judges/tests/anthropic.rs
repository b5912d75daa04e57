//! Tests Anthropic's protocol: what is sent, and how answers are read.

use std::sync::Arc;

use scorebox::judge::{
    AskErrorKind, Generation, JudgeSettings, Provider, ProviderSettings, Question, Reply,
    StructuredOutput, TokenUsage,
};
use scorebox_judges::{Key, connect};
use serde_json::{Value, json};

use crate::{
    asking::{FORM, KEY, LONG, generation, question, question_of_form, text, texts},
    server::{Answer, Server},
};

fn judge(server: &Server, structured_output: StructuredOutput) -> Arc<dyn Provider> {
    let base_url = server.url("");
    let mut settings = JudgeSettings::new(ProviderSettings::Anthropic { base_url, key_env: None });
    settings.retries = 0;
    settings.structured_output = structured_output;
    connect(&settings, Some(Key::new(KEY))).unwrap()
}

fn answers(content: Value, stop_reason: &str) -> Answer {
    Answer::json(&json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m-20250929", "content": content,
        "stop_reason": stop_reason, "stop_sequence": null,
        "usage": {"input_tokens": 11, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 4, "output_tokens": 6}
    }))
}

#[tokio::test]
async fn what_a_user_adds_is_sent_also_beside_a_form() {
    let server = Server::start(|_| {
        Some(answers(
            json!([{"type": "text", "text": "{\"why\": \"a\", \"mark\": 1}"}]),
            "end_turn",
        ))
    })
    .await;
    let mut asked = generation("Is it?");
    asked.extra_body =
        [("top_k".to_owned(), json!(5)), ("output_config".to_owned(), json!({"effort": "low"}))]
            .into();
    let judge = judge(&server, StructuredOutput::Schema);
    judge.ask(&Question::Generate(asked.clone()), LONG).await.unwrap();
    asked.response_schema = Some(FORM.to_owned());
    judge.ask(&Question::Generate(asked), LONG).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked[0].body["output_config"], json!({"effort": "low"}));
    assert_eq!(asked[1].body["output_config"]["effort"], "low");
    assert_eq!(asked[1].body["output_config"]["format"]["type"], "json_schema");
    assert!(asked.iter().all(|asked| asked.body["top_k"] == 5));
}

#[tokio::test]
async fn a_key_can_be_sent_as_a_bearer_token() {
    let server =
        Server::start(|_| Some(answers(json!([{"type": "text", "text": "Yes."}]), "end_turn")))
            .await;
    let base_url = server.url("");
    let mut settings = JudgeSettings::new(ProviderSettings::Anthropic { base_url, key_env: None });
    settings.key_header = Some("Authorization".to_owned());
    let judge = connect(&settings, Some(Key::new(KEY))).unwrap();
    judge.ask(&question("Is it?"), LONG).await.unwrap();
    let asked = &server.asked()[0];
    assert_eq!(asked.headers["authorization"], format!("Bearer {KEY}"));
    assert!(!asked.headers.contains_key("x-api-key"));
}

#[tokio::test]
async fn a_question_and_its_answer_are_as_anthropic_documents_them() {
    let server = Server::start(|_| {
        Some(answers(
            json!([{"type": "text", "text": "Yes"}, {"type": "text", "text": "."}]),
            "end_turn",
        ))
    })
    .await;
    let generation = Generation {
        system: Some("You judge.".to_owned()),
        temperature: Some(0.0),
        max_output_tokens: Some(64),
        ..generation("Is it?")
    };
    let judge = judge(&server, StructuredOutput::Detect);
    let answer = judge.ask(&Question::Generate(generation), LONG).await.unwrap();
    assert_eq!(answer.reply, Reply::Text { text: "Yes.".to_owned(), truncated: false });
    assert_eq!(answer.model, "m-20250929");
    assert_eq!(answer.usage, TokenUsage { input_tokens: Some(15), output_tokens: Some(6) });
    let asked = &server.asked()[0];
    assert_eq!(asked.target, "/v1/messages");
    assert_eq!(asked.headers["x-api-key"], KEY);
    assert_eq!(asked.headers["anthropic-version"], "2023-06-01");
    assert!(!asked.headers.contains_key("authorization"));
    let expected = json!({
        "model": "m", "max_tokens": 64, "system": "You judge.", "temperature": 0.0,
        "messages": [{"role": "user", "content": "Is it?"}]
    });
    assert_eq!(asked.body, expected);
}

#[tokio::test]
async fn a_question_without_a_limit_of_tokens_gets_the_one_that_the_protocol_wants() {
    let server =
        Server::start(|_| Some(answers(json!([{"type": "text", "text": "Y"}]), "max_tokens")))
            .await;
    let answer =
        judge(&server, StructuredOutput::Detect).ask(&question("Is it?"), LONG).await.unwrap();
    assert_eq!(answer.reply, Reply::Text { text: "Y".to_owned(), truncated: true });
    assert_eq!(server.asked()[0].body["max_tokens"], 1024);
}

#[tokio::test]
async fn an_answer_of_a_form_comes_as_the_call_of_a_tool() {
    let server = Server::start(|_| {
        let input = json!({"why": "It is blue.", "mark": 1});
        let call = json!({"type": "tool_use", "id": "toolu_1", "name": "answer", "input": input});
        Some(answers(
            json!([{"type": "thinking", "thinking": "Hm.", "signature": ""}, call]),
            "tool_use",
        ))
    })
    .await;
    let judge = judge(&server, StructuredOutput::Detect);
    for _ in 0..2 {
        let answer = judge.ask(&question_of_form("Is it?", FORM), LONG).await.unwrap();
        let value: Value = serde_json::from_str(text(&answer.reply)).unwrap();
        assert_eq!(value, json!({"why": "It is blue.", "mark": 1}));
    }
    assert_eq!(server.count(), 2);
    let body = &server.asked()[0].body;
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "answer"}));
    assert_eq!(body["tools"][0]["input_schema"], serde_json::from_str::<Value>(FORM).unwrap());
}

#[tokio::test]
async fn an_answer_of_a_form_can_be_asked_for_with_the_schema() {
    let server =
        Server::start(|_| Some(answers(json!([{"type": "text", "text": "{}"}]), "end_turn"))).await;
    let judge = judge(&server, StructuredOutput::Schema);
    judge.ask(&question_of_form("Is it?", FORM), LONG).await.unwrap();
    let body = &server.asked()[0].body;
    let schema: Value = serde_json::from_str(FORM).unwrap();
    assert_eq!(body["output_config"], json!({"format": {"type": "json_schema", "schema": schema}}));
    assert!(body.get("tools").is_none());
}

#[tokio::test]
async fn a_model_that_says_nothing_answers_with_an_empty_text() {
    for content in [json!([]), json!([{"type": "thinking", "thinking": "Hm.", "signature": ""}])] {
        let words = content.to_string();
        let server = Server::start(move |_| Some(answers(content.clone(), "end_turn"))).await;
        let judge = judge(&server, StructuredOutput::Detect);
        let answer = judge.ask(&question("Is it?"), LONG).await.unwrap();
        let nothing = Reply::Text { text: String::new(), truncated: false };
        assert_eq!(answer.reply, nothing, "{words}");
    }
}

#[tokio::test]
async fn a_refusal_is_not_an_answer_and_there_are_no_vectors() {
    let server = Server::start(|_| Some(answers(json!([]), "refusal"))).await;
    let judge = judge(&server, StructuredOutput::Detect);
    let error = judge.ask(&question("Is it?"), LONG).await.unwrap_err();
    assert_eq!(error.kind, AskErrorKind::Refused);
    let error = judge.ask(&texts(&["a"]), LONG).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (AskErrorKind::Refused, 0));
    assert!(error.message.ends_with("has no embeddings"), "{}", error.message);
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn an_address_that_would_name_the_version_twice_is_refused() {
    let base_url = "https://host/v1".to_owned();
    let settings = JudgeSettings::new(ProviderSettings::Anthropic { base_url, key_env: None });
    assert!(connect(&settings, None).unwrap_err().to_string().contains("`/v1`"));
}
