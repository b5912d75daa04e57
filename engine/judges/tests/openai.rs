//! Tests OpenAI's protocol: what is sent, and how answers are read.

use scorebox::judge::{AskErrorKind, Generation, Message, Question, Reply, Role, TokenUsage};
use serde_json::{Value, json};

use crate::{
    asking::{
        FORM, KEY, LONG, asked, generation, judge, judge_with, question, refuses, says, text, texts,
    },
    server::{Answer, Server},
};

#[tokio::test]
async fn a_question_and_its_answer_are_as_openai_documents_them() {
    let server = Server::start(|_| {
        Some(Answer::json(&json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-2024-07-18",
            "choices": [{"index": 0, "logprobs": null, "finish_reason": "stop",
                "message": {"role": "assistant", "content": "Yes.\n", "refusal": null, "annotations": []}}],
            "usage": {"prompt_tokens": 19, "completion_tokens": 2, "total_tokens": 21, "cost": 0.00025,
                "prompt_tokens_details": {"cached_tokens": 0}},
            "system_fingerprint": "fp_1"
        })))
    })
    .await;
    let turn = |role, text: &str| Message { role, text: text.to_owned() };
    let conversation = Generation {
        system: Some("You judge.".to_owned()),
        messages: vec![
            turn(Role::User, "Is it?"),
            turn(Role::Assistant, "What?"),
            turn(Role::User, "Blue."),
        ],
        temperature: Some(0.5),
        max_output_tokens: Some(64),
        sample: 3,
        ..generation("")
    };
    let answer = judge(&server).ask(&Question::Generate(conversation), LONG).await.unwrap();
    assert_eq!(answer.reply, Reply::Text { text: "Yes.\n".to_owned(), truncated: false });
    assert_eq!(answer.model, "m-2024-07-18");
    assert_eq!(answer.usage, TokenUsage { input_tokens: Some(19), output_tokens: Some(2) });
    assert_eq!((answer.cost_usd, answer.attempts), (Some(0.00025), 1));
    let asked = &server.asked()[0];
    assert_eq!(asked.target, "/v1/chat/completions");
    assert_eq!(asked.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(asked.headers["content-type"], "application/json");
    let expected = json!({
        "model": "m",
        "messages": [
            {"role": "system", "content": "You judge."},
            {"role": "user", "content": "Is it?"},
            {"role": "assistant", "content": "What?"},
            {"role": "user", "content": "Blue."}
        ],
        "temperature": 0.5,
        "max_tokens": 64
    });
    assert_eq!(asked.body, expected);
}

#[tokio::test]
async fn what_a_user_adds_is_sent_with_each_text_and_also_with_what_finds_out_a_form() {
    // A server that does not enforce forms is sent the greeting to find that out.
    let server = Server::start(|_| Some(says("Yes."))).await;
    let judge = judge_with(&server, |settings| {
        let headers = [("OpenAI-Organization", "org-1"), ("X-Team", "a b")];
        settings.extra_headers = headers.map(|(name, it)| (name.to_owned(), it.to_owned())).into();
        settings.key_header = Some("Api-Key".to_owned());
    });
    let mut asked = generation("Is it?");
    asked.response_schema = Some(FORM.to_owned());
    let thinks = json!({"enable_thinking": false});
    asked.extra_body =
        [("seed".to_owned(), json!(7)), ("chat_template_kwargs".to_owned(), thinks.clone())].into();
    judge.ask(&Question::Generate(asked), LONG).await.unwrap();
    let asked = server.asked();
    assert!(asked.len() > 1);
    for asked in asked {
        assert_eq!(
            (&asked.body["seed"], &asked.body["chat_template_kwargs"]),
            (&json!(7), &thinks)
        );
        assert_eq!(asked.body["model"], "m");
        assert_eq!(asked.headers["openai-organization"], "org-1");
        assert_eq!(asked.headers["x-team"], "a b");
        assert_eq!(asked.headers["api-key"], KEY);
        assert!(!asked.headers.contains_key("authorization"));
    }
}

/// How a judge reads this answer.
async fn outcome(answer: Value) -> Result<Reply, (AskErrorKind, String)> {
    let server = Server::start(move |_| Some(Answer::json(&answer))).await;
    let outcome = judge(&server).ask(&question("Is it?"), LONG).await;
    outcome.map(|answer| answer.reply).map_err(|error| (error.kind, error.message))
}

#[tokio::test]
async fn what_counts_is_the_text_of_the_first_choice_however_it_is_written() {
    let bare = json!({"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}]});
    assert_eq!(text(&outcome(bare).await.unwrap()), "a");
    let parts = json!([{"type": "text", "text": "a"}, {"type": "thinking", "thinking": []}, {"type": "text", "text": "b"}]);
    let parts = json!({"choices": [{"message": {"content": parts}}]});
    assert_eq!(text(&outcome(parts).await.unwrap()), "ab");
    let fenced = json!({"choices": [{"message": {"content": " ```json\n{}\n```\n"}}]});
    assert_eq!(text(&outcome(fenced).await.unwrap()), " ```json\n{}\n```\n");
}

#[tokio::test]
async fn an_answer_that_ran_out_of_tokens_says_so() {
    let truncated = |text: &str| Ok(Reply::Text { text: text.to_owned(), truncated: true });
    let cut = json!({"choices": [{"message": {"content": "Ye"}, "finish_reason": "length"}]});
    assert_eq!(outcome(cut).await, truncated("Ye"));
    let thought = json!({"choices": [{"message": {"content": null, "reasoning_content": "Hm"}, "finish_reason": "length"}]});
    assert_eq!(outcome(thought).await, truncated(""));
}

#[tokio::test]
async fn a_model_that_says_nothing_answers_with_an_empty_text_however_that_is_written() {
    for message in [
        json!({"content": ""}),
        json!({"content": null}),
        json!({"role": "assistant"}),
        json!({"content": []}),
        json!({"content": [{"type": "thinking", "thinking": "Hm"}]}),
        json!({"content": null, "reasoning_content": "Hm", "tool_calls": []}),
    ] {
        let said = outcome(json!({"choices": [{"message": message, "finish_reason": "stop"}]}));
        let nothing = Reply::Text { text: String::new(), truncated: false };
        assert_eq!(said.await, Ok(nothing), "{message}");
    }
}

#[tokio::test]
async fn a_refusal_of_a_model_or_a_filter_is_not_an_answer() {
    let refusal =
        json!({"choices": [{"message": {"content": null, "refusal": "I cannot judge that."}}]});
    let (kind, message) = outcome(refusal).await.unwrap_err();
    assert_eq!(kind, AskErrorKind::Refused);
    assert!(message.ends_with("refuses to answer: I cannot judge that."), "{message}");
    let filter =
        json!({"choices": [{"message": {"content": "I"}, "finish_reason": "content_filter"}]});
    assert_eq!(outcome(filter).await.unwrap_err().0, AskErrorKind::Refused);
}

#[tokio::test]
async fn an_answer_without_its_parts_is_an_error_that_quotes_it() {
    for (answer, what) in [
        (json!({}), "no `choices`"),
        (json!({"choices": []}), "no `choices`"),
        (json!({"choices": [{}]}), "no `message`"),
        (json!({"choices": [{"message": {"content": 1}}]}), "expected a string"),
        (json!({"error": {"message": "overloaded"}}), "overloaded"),
        (
            json!({"choices": [{"error": {"message": "lost"}, "message": {"content": "a"}}]}),
            "fails while it answers: {\"message\":\"lost\"}",
        ),
        (json!([1, 2]), "[1,2]"),
    ] {
        let (kind, message) = outcome(answer).await.unwrap_err();
        assert_eq!(kind, AskErrorKind::Unavailable);
        assert!(message.contains(what), "{what}: {message}");
    }
}

#[tokio::test]
async fn tokens_and_costs_that_make_no_sense_are_not_taken() {
    let server = Server::start(|_| {
        Some(Answer::json(&json!({
            "choices": [{"message": {"content": "a"}}], "model": "x\u{1b}[31m",
            "usage": {"prompt_tokens": -1, "completion_tokens": null, "cost": -0.5}
        })))
    })
    .await;
    let answer = judge(&server).ask(&question("Is it?"), LONG).await.unwrap();
    assert_eq!((answer.usage, answer.cost_usd), (TokenUsage::default(), None));
    assert_eq!(answer.model, "m", "a name that no terminal can show is not taken either");
}

#[tokio::test]
async fn a_temperature_that_a_model_refuses_is_not_left_out() {
    let words = "Unsupported value: 'temperature' does not support 0 with this model.";
    let server = Server::start(move |_| Some(refuses(400, words))).await;
    let generation = Generation { temperature: Some(0.0), ..generation("Is it?") };
    let error = judge(&server).ask(&Question::Generate(generation), LONG).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (AskErrorKind::Refused, 1));
    assert!(error.message.ends_with(&format!("status 400: {words}")), "{}", error.message);
}

#[tokio::test]
async fn vectors_come_in_the_order_of_their_texts() {
    let server = Server::start(|_| {
        Some(Answer::json(&json!({
            "object": "list", "model": "m-embed", "usage": {"prompt_tokens": 8, "total_tokens": 8},
            "data": [
                {"object": "embedding", "index": 1, "embedding": [0.5, -1.0]},
                {"object": "embedding", "index": 0, "embedding": [1.0, 0.25]}
            ]
        })))
    })
    .await;
    let answer = judge(&server).ask(&texts(&["a", "b"]), LONG).await.unwrap();
    assert_eq!(answer.reply, Reply::Vectors(vec![vec![1.0, 0.25], vec![0.5, -1.0]]));
    assert_eq!(answer.model, "m-embed");
    assert_eq!(answer.usage, TokenUsage { input_tokens: Some(8), output_tokens: Some(0) });
    let asked = &server.asked()[0];
    assert_eq!(asked.target, "/v1/embeddings");
    assert_eq!(asked.body, json!({"model": "m", "input": ["a", "b"]}));
}

#[tokio::test]
async fn vectors_that_do_not_fit_their_texts_are_an_error() {
    for (data, what) in [
        (r#"[{"embedding": [1]}]"#, "1 vectors for 2 texts"),
        (r#"[{"embedding": [1]}, {"embedding": [1, 2]}]"#, "different lengths"),
        (r#"[{"embedding": []}, {"embedding": []}]"#, "without numbers"),
        (r#"[{"embedding": [1]}, {"embedding": [1e39]}]"#, "number out of range"),
        (r#"[{"embedding": [1]}, {"embedding": [NaN]}]"#, "expected value"),
        (r#"[{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]"#, "wrong numbers"),
    ] {
        let body = format!(r#"{{"data": {data}}}"#);
        let server = Server::start(move |_| {
            Some(Answer::status(200, body.clone()).with("content-type", "application/json"))
        })
        .await;
        let error = judge(&server).ask(&texts(&["a", "b"]), LONG).await.unwrap_err();
        assert_eq!(error.kind, AskErrorKind::Unavailable);
        assert!(error.message.contains(what), "{what}: {}", error.message);
    }
}

#[tokio::test]
async fn a_server_may_leave_out_what_kind_of_content_it_sends() {
    let server = Server::start(|_| {
        Some(Answer::status(200, r#"{"choices": [{"message": {"content": "a"}}]}"#))
    })
    .await;
    assert_eq!(asked(&*judge(&server), &question("Is it?")).await.unwrap(), "a");
    let server = Server::start(|_| Some(says("b"))).await;
    assert_eq!(asked(&*judge(&server), &question("Is it?")).await.unwrap(), "b");
}
