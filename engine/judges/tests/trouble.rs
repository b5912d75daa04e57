//! Tests which attempts are repeated and which are not, and the error messages.

use std::time::Duration;

use scorebox::judge::{AskError, AskErrorKind};
use serde_json::json;

use crate::{
    asking::{LONG, asked, judge, judge_with, question, refuses, says, settings},
    server::{Answer, Asked, SELF_SIGNED, SIGNED, Server},
};

/// A server whose first answer is this one, and whose other answers are valid.
async fn at_first(answer: Option<Answer>) -> Server {
    Server::start(move |asked| match asked.number {
        0 => answer.clone(),
        _ => Some(says("Yes.")),
    })
    .await
}

/// Asks a judge that makes a second attempt.
async fn ask_twice(server: &Server) -> Result<(String, u32), AskError> {
    let judge = judge_with(server, |settings| settings.retries = 1);
    let answer = judge.ask(&question("Is it?"), LONG).await?;
    assert_eq!(judge.load().retries, u64::from(answer.attempts) - 1);
    Ok((crate::asking::text(&answer.reply).to_owned(), answer.attempts))
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    let wait = |status, name| refuses(status, "later").with(name, "0");
    for answer in [
        Some(wait(429, "retry-after")),
        Some(wait(429, "retry-after-ms")),
        Some(refuses(429, "later").with("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")),
        Some(wait(503, "retry-after")),
        Some(refuses(408, "later")),
        Some(refuses(409, "later")),
        Some(Answer::status(500, "<html>oops</html>")),
        Some(Answer::status(502, "")),
        Some(Answer::status(529, "")),
        // OpenRouter answers this if the model's own server fails.
        Some(Answer::json(
            &json!({"choices": [{"error": {"code": 502, "message": "Provider error"},
            "finish_reason": "error", "message": {"content": ""}}]}),
        )),
        Some(Answer::json(&json!({"choices": [{"error": {"code": 502}, "message": null}]}))),
        Some(Answer::json(
            &json!({"choices": [{"finish_reason": "error", "message": {"content": "Y"}}]}),
        )),
        // The connection ends before an answer, or within it.
        None,
        Some(says("Yes.").broken()),
    ] {
        let words = format!("{answer:?}");
        let server = at_first(answer).await;
        assert_eq!(ask_twice(&server).await.expect(&words), ("Yes.".to_owned(), 2), "{words}");
        assert_eq!(server.count(), 2, "{words}");
        assert_eq!(server.asked()[0].body, server.asked()[1].body);
    }
}

#[tokio::test]
async fn what_lasts_is_not_tried_again() {
    let empty =
        r#"{"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}}"#;
    for (answer, kind) in [
        (refuses(400, "no"), AskErrorKind::Refused),
        (refuses(401, "no"), AskErrorKind::Refused),
        (refuses(403, "no"), AskErrorKind::Refused),
        (refuses(404, "no"), AskErrorKind::Refused),
        (refuses(413, "no"), AskErrorKind::Refused),
        (refuses(422, "no"), AskErrorKind::Refused),
        (Answer::status(429, empty), AskErrorKind::Unavailable),
        (
            Answer::status(200, "{").with("content-type", "application/json"),
            AskErrorKind::Unavailable,
        ),
        (Answer::status(200, "Yes.").with("content-type", "text/html"), AskErrorKind::Unavailable),
        (
            Answer::status(200, "data: {}\n\n").with("content-type", "text/event-stream"),
            AskErrorKind::Unavailable,
        ),
        (Answer::status(204, ""), AskErrorKind::Unavailable),
    ] {
        let words = format!("{answer:?}");
        let server = at_first(Some(answer)).await;
        let error = ask_twice(&server).await.expect_err(&words);
        assert_eq!((error.kind, error.attempts, server.count()), (kind, 1, 1), "{words}");
    }
}

#[tokio::test]
async fn a_server_that_fails_again_and_again_is_asked_as_often_as_the_suite_says() {
    let server = Server::start(|_| Some(refuses(500, "The model\nis \u{1b}[31mnot loaded."))).await;
    let judge = judge_with(&server, |settings| settings.retries = 2);
    let error = judge.ask(&question("Is it?"), LONG).await.unwrap_err();
    assert_eq!((error.kind, error.attempts, server.count()), (AskErrorKind::Unavailable, 3, 3));
    let words = "answered with status 500: The model\\nis \\u{1b}[31mnot loaded.";
    assert_eq!(error.message, format!("{} {words}", server.url("/v1")));
    assert_eq!(judge.load().retries, 2);
}

#[tokio::test]
async fn an_answer_that_does_not_come_in_time_is_waited_for_once_more() {
    for unended in [false, true] {
        let server = Server::start(move |_| {
            let answer = says("Yes.").with("content-length", "1000");
            Some(if unended { answer.unended() } else { never() })
        })
        .await;
        let judge = judge_with(&server, |settings| {
            settings.retries = 4;
            settings.timeout = Duration::from_millis(50);
        });
        let error = judge.ask(&question("Is it?"), LONG).await.unwrap_err();
        assert_eq!((error.kind, error.attempts), (AskErrorKind::TimedOut, 2));
        assert!(error.message.ends_with("did not answer within 50ms"), "{}", error.message);
    }
}

/// An answer that never begins.
fn never() -> Answer {
    says("Yes.").after(&std::sync::Arc::new(tokio::sync::Semaphore::new(0)))
}

#[tokio::test]
async fn a_server_that_is_not_there_is_tried_again() {
    // The port was free a moment ago, and nothing listens on it.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut settings = settings(format!("http://{free}/v1"));
    settings.retries = 1;
    let judge = scorebox_judges::connect(&settings, None).unwrap();
    let error = judge.ask(&question("Is it?"), LONG).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (AskErrorKind::Unavailable, 2));
    assert!(error.message.contains("cannot connect"), "{}", error.message);
}

/// The message of the only attempt, if the server has this answer to everything.
async fn refused_answer(scheme: &str, bytes: &'static [u8]) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("{scheme}://{}/v1", listener.local_addr().unwrap());
    let mut settings = settings(url.clone());
    settings.retries = 4;
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(bytes).await;
        }
    });
    let judge = scorebox_judges::connect(&settings, None).unwrap();
    let error = judge.ask(&question("Is it?"), LONG).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (AskErrorKind::Unavailable, 1), "{}", error.message);
    error.message.strip_prefix(&format!("{url} ")).unwrap().to_owned()
}

#[tokio::test]
async fn a_server_that_speaks_another_protocol_than_its_address_says_is_not_asked_again() {
    let refuses = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(
        refused_answer("https", refuses).await,
        "answered without TLS: the `base_url` of a server without TLS begins with `http://`"
    );
    let alert = b"\x15\x03\x01\x00\x02\x02\x46";
    assert_eq!(
        refused_answer("http", alert).await,
        "did not answer in HTTP (invalid HTTP version parsed): the `base_url` of a server with TLS begins with `https://`"
    );
    let endless = b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n";
    assert_eq!(
        refused_answer("http", endless).await,
        "answered with headers that are too large, or an impossible `Content-Length`"
    );
}

#[tokio::test]
async fn an_empty_answer_is_named_with_its_status() {
    for status in [200, 204] {
        let server = Server::start(move |_| Some(Answer::status(status, ""))).await;
        let error = judge(&server).ask(&question("Is it?"), LONG).await.unwrap_err();
        let words = format!("{} answered with status {status} and nothing else", server.url("/v1"));
        assert_eq!((error.message, error.is_uncounted), (words, true));
    }
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_ends_it() {
    let (message, url) = refused_certificate(SIGNED).await;
    let begin = format!("the certificate of {url} is not trusted: ");
    assert!(message.starts_with(&begin), "{message}");
}

#[tokio::test]
async fn the_certificate_of_an_authority_ends_it_in_other_words() {
    let (message, url) = refused_certificate(SELF_SIGNED).await;
    let words = format!("{url} uses the certificate of an authority (CA) as its own");
    assert_eq!(message, words);
}

/// The message of the only attempt, and the address of the server with this certificate.
async fn refused_certificate(identity: [&'static [u8]; 2]) -> (String, String) {
    let server = Server::start_encrypted(identity, |_| Some(says("Yes."))).await;
    let url = format!("https://localhost:{}/v1", server.address.port());
    let mut settings = settings(url.clone());
    settings.retries = 4;
    let judge = scorebox_judges::connect(&settings, None).unwrap();
    let error = judge.ask(&question("Is it?"), LONG).await.unwrap_err();
    assert_eq!((error.kind, error.attempts), (AskErrorKind::Unavailable, 1));
    assert_eq!(server.count(), 0);
    (error.message, url)
}

#[tokio::test]
async fn an_error_quotes_what_came_in_short_and_on_one_line() {
    for (body, kind, quoted) in [
        (
            "<html>\u{1b}]0;x\u{7}</html>",
            "text/html",
            "answered with `text/html` instead of JSON: <html>\\u{1b}]0;x\\u{7}</html>",
        ),
        ("{\"choices\": [\u{202e}", "application/json", "\\u{202e}"),
        ("{\"choices\": 1\n}", "application/json", "{\"choices\": 1\\n}"),
    ] {
        let server = Server::start(move |_| {
            let body = body.to_owned() + &" x".repeat(10_000);
            Some(Answer::status(200, body).with("content-type", kind))
        })
        .await;
        let message = asked(&*judge(&server), &question("Is it?")).await.unwrap_err().message;
        assert!(message.contains(quoted), "{message}");
        assert!(message.len() < 1000 && !message.contains(char::is_control), "{message}");
    }
}

#[tokio::test]
async fn an_encoding_that_was_not_asked_for_is_named() {
    let server = Server::start(|_| Some(says("Yes.").with("content-encoding", "gzip"))).await;
    let message = asked(&*judge(&server), &question("Is it?")).await.unwrap_err().message;
    let expected = "answered in the encoding `gzip`, which was not asked for";
    assert!(message.ends_with(expected), "{message}");
    let server = Server::start(|_| Some(says("Yes.").with("content-encoding", "identity"))).await;
    assert_eq!(asked(&*judge(&server), &question("Is it?")).await.unwrap(), "Yes.");
}

#[tokio::test]
async fn servers_state_their_errors_in_several_ways() {
    for body in [
        r#"{"error": {"message": "model 'm' not found", "type": "api_error", "code": null}}"#,
        r#"{"type": "error", "error": {"type": "not_found_error", "message": "model 'm' not found"}}"#,
        r#"{"error": "model 'm' not found"}"#,
        r#"{"detail": "model 'm' not found"}"#,
        r#"{"message": "model 'm' not found", "object": "error"}"#,
        "model 'm' not found",
    ] {
        let server = Server::start(move |_: &Asked| Some(Answer::status(404, body))).await;
        let error = asked(&*judge(&server), &question("Is it?")).await.unwrap_err();
        assert!(error.message.ends_with("status 404: model 'm' not found"), "{}", error.message);
    }
}

#[tokio::test]
async fn what_is_not_found_below_an_address_without_a_version_may_be_below_it() {
    for (path, has_hint) in [("", true), ("/v1", false)] {
        let server = Server::start(|_| Some(refuses(404, "Not Found"))).await;
        let judge = scorebox_judges::connect(&settings(server.url(path)), None).unwrap();
        let error = judge.ask(&question("Is it?"), LONG).await.unwrap_err();
        assert_eq!(error.kind, AskErrorKind::Refused);
        let hint = "status 404 (most servers have a `base_url` that ends with `/v1`): Not Found";
        assert_eq!(error.message.ends_with(hint), has_hint, "{}", error.message);
    }
}
