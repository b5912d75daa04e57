//! Tests what is found out about servers: how to ask them for an answer of a form, and their name for the token limit.

use scorebox::judge::{AskErrorKind, Generation, Question, StructuredOutput, TokenUsage};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::sync::Semaphore;

use crate::{
    asking::{
        FORM, LONG, asked, ends_at_once, generation, judge, judge_with, question, question_of_form,
        refuses, says, until,
    },
    server::{Answer, Asked, Server},
};

/// How a request asks for a form.
fn way(body: &Value) -> &'static str {
    let system = body["messages"][0]["content"].as_str().unwrap_or_default();
    match () {
        () if body.get("response_format").is_some() => "schema",
        () if body.get("tools").is_some() => "tool",
        () if system.contains("JSON Schema") => "prompt",
        () => "none",
    }
}

/// An object that fits every form of these tests.
const OBJECT: &str = r#"{"why": "So.", "mark": 1, "greeting": "Hello"}"#;

fn calls_a_tool() -> Answer {
    let call =
        json!({"id": "1", "type": "function", "function": {"name": "answer", "arguments": OBJECT}});
    let message = json!({"content": null, "tool_calls": [call]});
    Answer::json(&json!({"choices": [{"message": message, "finish_reason": "stop"}]}))
}

/// A server that enforces forms in these ways, and refuses the others.
fn enforcing(ways: &'static [&'static str]) -> impl Fn(&Asked) -> Option<Answer> {
    move |asked| {
        let way = way(&asked.body);
        Some(match way {
            "schema" | "tool" if !ways.contains(&way) => {
                refuses(400, "Extra inputs are not permitted")
            }
            "tool" => calls_a_tool(),
            "schema" | "prompt" => says(OBJECT),
            _ => says("Hello!"),
        })
    }
}

/// Asks twenty questions at once and then one more. Returns the ways in which the server was asked before the last
/// question, and the way of the last one.
async fn asked_in(server: &Server) -> (Vec<&'static str>, &'static str) {
    let judge = judge_with(server, |settings| settings.concurrency = 100);
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let judge = Arc::clone(&judge);
            tokio::spawn(async move { asked(&*judge, &question_of_form("Is it?", FORM)).await })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap(), OBJECT);
    }
    let before: Vec<_> = server.asked().iter().map(|asked| way(&asked.body)).collect();
    asked(&*judge, &question_of_form("Is it?", FORM)).await.unwrap();
    assert_eq!(server.count(), before.len() + 1);
    (before, way(&server.asked().last().unwrap().body))
}

#[tokio::test]
async fn a_server_that_takes_schemas_is_asked_with_them_and_nothing_more() {
    let server = Server::start(enforcing(&["schema", "tool"])).await;
    let (before, last) = asked_in(&server).await;
    assert_eq!((before, last), (vec!["schema"; 20], "schema"));
    let format = &server.asked()[0].body["response_format"];
    assert_eq!(format["type"], "json_schema");
    assert_eq!(format["json_schema"]["strict"], true);
    assert_eq!(format["json_schema"]["schema"], serde_json::from_str::<Value>(FORM).unwrap());
}

#[tokio::test]
async fn a_server_that_takes_only_tools_is_found_out_once_for_all_calls() {
    let server = Server::start(enforcing(&["tool"])).await;
    let (before, last) = asked_in(&server).await;
    assert_eq!(before[..4], ["schema", "none", "schema", "tool"]);
    assert_eq!(before[4..], ["tool"; 20]);
    assert_eq!(last, "tool");
    let body = &server.asked()[4].body;
    assert_eq!(body["tool_choice"], json!({"type": "function", "function": {"name": "answer"}}));
}

#[tokio::test]
async fn a_server_that_fails_at_schemas_is_asked_in_another_way_without_a_second_attempt() {
    // What llama-cpp-python's server answers.
    let failing = |asked: &Asked| match way(&asked.body) {
        "schema" => Some(refuses(
            500,
            "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), \
             'msg': \"Input should be 'text' or 'json_object'\"}",
        )),
        _ => enforcing(&["tool"])(asked),
    };
    let server = Server::start(failing).await;
    let (before, last) = asked_in(&server).await;
    assert_eq!(before[..4], ["schema", "none", "schema", "tool"]);
    assert_eq!(before[4..], ["tool"; 20]);
    assert_eq!(last, "tool");
}

#[tokio::test]
async fn a_server_that_enforces_nothing_is_asked_in_words() {
    let server = Server::start(enforcing(&[])).await;
    let (before, last) = asked_in(&server).await;
    assert_eq!(before[..4], ["schema", "none", "schema", "tool"]);
    assert_eq!(before[4..], ["prompt"; 20]);
    assert_eq!(last, "prompt");
}

#[tokio::test]
async fn a_server_that_takes_forms_and_ignores_them_is_asked_in_words() {
    let ignoring = |asked: &Asked| {
        Some(says(if way(&asked.body) == "prompt" { OBJECT } else { "Well, hello!" }))
    };
    let server = Server::start(ignoring).await;
    let (before, last) = asked_in(&server).await;
    assert_eq!(before[..3], ["schema", "schema", "tool"]);
    assert_eq!(before[3..], ["prompt"; 20]);
    assert_eq!(last, "prompt");
}

#[tokio::test]
async fn a_scorer_whose_schema_is_refused_changes_nothing_for_others() {
    let server = Server::start(|asked| {
        let schema = &asked.body["response_format"]["json_schema"]["schema"];
        Some(match schema["properties"].get("wrong") {
            Some(_) => refuses(400, "Invalid schema for response_format 'answer'"),
            None => enforcing(&["schema"])(asked)?,
        })
    })
    .await;
    let judge = judge(&server);
    let wrong = r#"{"type": "object", "properties": {"wrong": {}}}"#;
    for _ in 0..2 {
        let error = asked(&*judge, &question_of_form("Is it?", wrong)).await.unwrap_err();
        assert_eq!(error.kind, AskErrorKind::Refused);
        assert!(error.message.contains("Invalid schema"), "{}", error.message);
    }
    assert_eq!(asked(&*judge, &question_of_form("Is it?", FORM)).await.unwrap(), OBJECT);
    let ways: Vec<_> = server.asked().iter().map(|asked| way(&asked.body)).collect();
    assert_eq!(ways, ["schema", "none", "schema", "schema", "schema"]);
    assert_eq!(server.asked()[0].body["response_format"]["json_schema"]["strict"], false);
}

#[tokio::test]
async fn a_server_that_refuses_every_question_is_not_asked_how_it_takes_forms() {
    let server = Server::start(|_| Some(refuses(400, "no such model"))).await;
    let judge = judge(&server);
    for _ in 0..3 {
        let error = asked(&*judge, &question_of_form("Is it?", FORM)).await.unwrap_err();
        assert_eq!(error.kind, AskErrorKind::Refused);
    }
    let ways: Vec<_> = server.asked().iter().map(|asked| way(&asked.body)).collect();
    assert_eq!(ways, ["schema", "none", "schema", "schema"]);
}

#[tokio::test]
async fn a_suite_can_say_how_a_form_is_asked_for() {
    for (setting, expected) in [
        (StructuredOutput::Schema, "schema"),
        (StructuredOutput::Tool, "tool"),
        (StructuredOutput::Prompt, "prompt"),
    ] {
        let server = Server::start(enforcing(&["schema", "tool"])).await;
        let judge = judge_with(&server, |settings| settings.structured_output = setting);
        assert_eq!(asked(&*judge, &question_of_form("Is it?", FORM)).await.unwrap(), OBJECT);
        let ways: Vec<_> = server.asked().iter().map(|asked| way(&asked.body)).collect();
        assert_eq!(ways, [expected]);
    }
}

#[tokio::test]
async fn a_form_that_is_not_of_objects_is_asked_for_in_words() {
    let server = Server::start(enforcing(&["schema", "tool"])).await;
    asked(&*judge(&server), &question_of_form("Is it?", r#"{"enum": ["A", "B"]}"#)).await.unwrap();
    assert_eq!(way(&server.asked()[0].body), "prompt");
    let error = asked(&*judge(&server), &question_of_form("Is it?", "not a schema")).await;
    let error = error.unwrap_err();
    assert_eq!((error.kind, error.attempts, server.count()), (AskErrorKind::Refused, 0, 1));
}

#[tokio::test]
async fn if_the_call_that_finds_out_is_dropped_the_next_one_does() {
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&gate);
    let server = Server::start(move |asked| match asked.number {
        0 => Some(says(OBJECT).after(&held)),
        _ => enforcing(&["tool"])(asked),
    })
    .await;
    let judge = judge(&server);
    let question = question_of_form("Is it?", FORM);
    let mut first = judge.ask(&question, LONG);
    let mut second = judge.ask(&question, LONG);
    assert!(!ends_at_once(&mut first).await);
    assert!(!ends_at_once(&mut second).await);
    tokio::select! {
        _ = &mut first => panic!("the server waits"),
        () = until(|| server.count() == 1) => {}
    }
    assert_eq!((judge.load().waiting, judge.load().running), (1, 1));
    drop(first);
    assert_eq!(second.await.unwrap().attempts, 5);
}

/// An answer that consumed 10 input tokens and 2 output tokens, and cost a quarter of a dollar.
fn says_for_a_price(text: &str) -> Answer {
    Answer::json(&json!({
        "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "cost": 0.25},
    }))
}

fn tokens(input: u64, output: u64) -> TokenUsage {
    TokenUsage { input_tokens: Some(input), output_tokens: Some(output) }
}

#[tokio::test]
async fn what_finding_out_consumes_counts_for_the_question_that_it_is_done_for() {
    let ignoring = |asked: &Asked| {
        Some(says_for_a_price(if way(&asked.body) == "prompt" { OBJECT } else { "Well, hello!" }))
    };
    let server = Server::start(ignoring).await;
    let judge = judge(&server);
    let question = question_of_form("Is it?", FORM);
    let first = judge.ask(&question, LONG).await.unwrap();
    assert_eq!((first.attempts, first.usage, first.cost_usd), (4, tokens(40, 8), Some(1.0)));
    let second = judge.ask(&question, LONG).await.unwrap();
    assert_eq!((second.attempts, second.usage, second.cost_usd), (1, tokens(10, 2), Some(0.25)));
}

#[tokio::test]
async fn what_finding_out_consumes_counts_even_if_the_question_is_refused() {
    let server = Server::start(|asked| {
        Some(match asked.number {
            0 => refuses(400, "Invalid schema for response_format 'answer'"),
            _ => says_for_a_price(OBJECT),
        })
    })
    .await;
    let question = question_of_form("Is it?", FORM);
    let error = judge(&server).ask(&question, LONG).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (AskErrorKind::Refused, 3));
    assert_eq!((error.usage, error.cost_usd), (tokens(20, 4), Some(0.5)));
}

#[tokio::test]
async fn questions_do_not_wait_for_a_first_one_that_is_slow() {
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&gate);
    let server = Server::start(move |asked| match asked.number {
        0 => Some(says(OBJECT).after(&held)),
        _ => Some(says(OBJECT)),
    })
    .await;
    let judge = judge_with(&server, |settings| settings.patience = Duration::from_millis(1));
    let question = question_of_form("Is it?", FORM);
    let mut first = judge.ask(&question, LONG);
    assert!(!ends_at_once(&mut first).await);
    tokio::select! {
        _ = &mut first => panic!("the server waits"),
        second = judge.ask(&question, LONG) => assert_eq!(second.unwrap().attempts, 1),
    }
    gate.add_permits(1);
    assert_eq!(first.await.unwrap().attempts, 1);
}

/// A server whose model requires the newer name of the token limit.
fn of_newer_models(asked: &Asked) -> Option<Answer> {
    Some(match asked.body.get("max_tokens") {
        Some(_) => refuses(
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        None => says("Yes."),
    })
}

#[tokio::test]
async fn the_name_of_the_limit_of_tokens_is_found_out_once_for_all_calls() {
    let server = Server::start(of_newer_models).await;
    let judge = judge_with(&server, |settings| settings.concurrency = 100);
    let limited =
        Question::Generate(Generation { max_output_tokens: Some(9), ..generation("Is it?") });
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let (judge, limited) = (Arc::clone(&judge), limited.clone());
            tokio::spawn(async move { asked(&*judge, &limited).await })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap(), "Yes.");
    }
    let all = server.asked();
    assert_eq!(all.len(), 21);
    assert_eq!(all[0].body["max_tokens"], 9);
    assert!(all[1..].iter().all(|asked| asked.body["max_completion_tokens"] == 9));
    assert_eq!(asked(&*judge, &question("Is it?")).await.unwrap(), "Yes.");
}
