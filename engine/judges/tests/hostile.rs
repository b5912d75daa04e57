//! Tests servers that send too much, nest too deeply, or redirect.

use std::time::Duration;

use scorebox::judge::AskErrorKind;

use crate::{
    asking::{LONG, asked, judge, judge_with, question, says, texts},
    server::{Answer, Server},
};

#[tokio::test]
async fn an_answer_that_is_too_large_is_not_read_to_its_end() {
    let endless = || Answer::status(200, "{").with("content-type", "application/json").endless();
    for answer in [endless(), endless().with("content-length", (1_u64 << 30).to_string())] {
        let server = Server::start(move |_| Some(answer.clone())).await;
        let error = asked(&*judge(&server), &question("Is it?")).await.unwrap_err();
        assert_eq!((error.kind, error.attempts), (AskErrorKind::Unavailable, 1));
        assert!(error.message.ends_with("with more than 4194304 bytes"), "{}", error.message);
        assert!(server.sent() < 64 << 20, "{} bytes", server.sent());
    }
}

#[tokio::test]
async fn an_error_without_an_end_says_its_status() {
    let server = Server::start(|_| Some(Answer::status(400, "no").endless())).await;
    let error = asked(&*judge(&server), &question("Is it?")).await.unwrap_err();
    assert_eq!(error.kind, AskErrorKind::Refused);
    assert!(error.message.contains("status 400: no"), "{}", error.message);
    let server = Server::start(|_| Some(Answer::status(400, "no").unended())).await;
    let judge = judge_with(&server, |settings| settings.timeout = Duration::from_millis(50));
    let error = asked(&*judge, &question("Is it?")).await.unwrap_err();
    assert_eq!(error.kind, AskErrorKind::TimedOut);
}

#[tokio::test]
async fn an_answer_that_is_deep_or_has_a_million_empty_parts_is_read_without_harm() {
    let deep = format!(r#"{{"choices": [{{"message": {{"content": {}"#, "[".repeat(2 << 20));
    let aside = format!(r#"{{"aside": {}"#, "[".repeat(2 << 20));
    let many = format!(r#"{{"choices": [{}{{}}]}}"#, "{},".repeat(1 << 20));
    for (body, what) in [(deep, "expected an object"), (aside, "EOF"), (many, "no `message`")] {
        let server = Server::start(move |_| {
            Some(Answer::status(200, body.clone()).with("content-type", "application/json"))
        })
        .await;
        let error = asked(&*judge(&server), &question("Is it?")).await.unwrap_err();
        assert_eq!(error.kind, AskErrorKind::Unavailable);
        assert!(error.message.contains(what), "{}", error.message);
        let error = judge(&server).ask(&texts(&["a"]), LONG).await.unwrap_err();
        assert_eq!(error.kind, AskErrorKind::Unavailable);
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Server::start(|_| Some(says("Yes."))).await;
    for status in [301, 302, 303, 307, 308] {
        let to = other.url("/v1/chat/completions?token=hidden#x").replace("//", "//user:hidden@");
        let server =
            Server::start(move |_| Some(Answer::status(status, "").with("location", &to))).await;
        let error = asked(&*judge(&server), &question("Is it?")).await.unwrap_err();
        assert_eq!((error.kind, error.attempts), (AskErrorKind::Unavailable, 1));
        let to = other.url("/v1/chat/completions");
        assert!(error.message.contains(&format!("redirects to {to} (status")), "{}", error.message);
        assert!(!error.message.contains("hidden"), "{}", error.message);
    }
    assert_eq!(other.count(), 0);
}
