//! Tests that the key is in the header of a request and nowhere else.

use scorebox::judge::{JudgeSettings, ProviderSettings};
use scorebox_judges::{Key, connect};

use crate::{
    asking::{KEY, LONG, asked, judge, question, says, settings},
    server::{Answer, Server},
};

#[tokio::test]
async fn a_key_is_in_no_error_and_no_answer_even_if_the_server_repeats_it() {
    let repeated = |name: &'static str| {
        move |asked: &crate::server::Asked| {
            let key = asked.headers["authorization"].to_str().unwrap().to_owned();
            Some(match name {
                "text" => says(&key),
                "status" => Answer::status(401, format!("wrong key {key}")),
                "failure" => Answer::status(500, format!("{{\"error\": \"{key}\"}}")),
                "kind" => Answer::status(200, "").with("content-type", format!("text/{key}")),
                "json" => Answer::status(200, key).with("content-type", "application/json"),
                _ => Answer::status(307, "").with("location", format!("/{key}")),
            })
        }
    };
    for place in ["text", "status", "failure", "kind", "json", "location"] {
        let server = Server::start(repeated(place)).await;
        let judge = judge(&server);
        let outcome = judge.ask(&question("Is it?"), LONG).await;
        assert_eq!(outcome.is_ok(), place == "text");
        let shown = format!("{outcome:?} {judge:?}");
        assert!(!shown.to_lowercase().contains(KEY), "{shown}");
        assert!(server.asked()[0].headers["authorization"].to_str().unwrap().contains(KEY));
    }
}

#[tokio::test]
async fn a_key_is_in_no_error_even_if_it_is_escaped_in_the_json_that_is_quoted() {
    let key = r#"sk-abc"d\0123456789"#;
    let server = Server::start(|asked| {
        let key = asked.headers["authorization"].to_str().unwrap();
        Some(Answer::json(&serde_json::json!({ "error": key })))
    })
    .await;
    let judge = connect(&settings(server.url("/v1")), Some(Key::new(key))).unwrap();
    let message = judge.ask(&question("Is it?"), LONG).await.unwrap_err().message;
    assert!(message.contains("[key]") && !message.contains("0123456789"), "{message}");
}

#[tokio::test]
async fn a_key_is_in_no_answer_even_if_the_model_writes_it_as_numbers() {
    let server = Server::start(|asked| {
        let key = asked.headers["authorization"].to_str().unwrap().trim_start_matches("Bearer ");
        let escaped: String = key.chars().map(|it| format!("\\u{:04x}", it as u32)).collect();
        Some(says(&format!(r#"{{"reason": "{escaped}"}}"#)))
    })
    .await;
    let said = asked(&*judge(&server), &question("Is it?")).await.unwrap();
    assert_eq!(said, r#"{"reason": "[key]"}"#);
}

#[tokio::test]
async fn no_part_of_a_key_is_in_an_error_that_is_cut_within_it() {
    // A message is cut at 4 KiB, and an answer at 64 KiB.
    for before in [4 << 10, 64 << 10] {
        let server = Server::start(move |asked| {
            let key = asked.headers["authorization"].to_str().unwrap();
            let key = key.trim_start_matches("Bearer ");
            let message = format!("{}{key} end", " ".repeat(before - key.len() / 2));
            Some(Answer::status(401, message))
        })
        .await;
        let message = judge(&server).ask(&question("Is it?"), LONG).await.unwrap_err().message;
        assert!(!message.contains(&KEY[..4]), "{message}");
    }
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let server = Server::start(|_| Some(says("Yes."))).await;
    let judge = connect(&settings(server.url("/v1")), None).unwrap();
    asked(&*judge, &question("Is it?")).await.unwrap();
    assert!(!server.asked()[0].headers.contains_key("authorization"));
}

#[test]
fn what_would_replace_a_part_of_the_protocol_is_refused() {
    let refusal = |change: fn(&mut JudgeSettings)| {
        let mut settings = settings("http://127.0.0.1:1/v1".to_owned());
        change(&mut settings);
        connect(&settings, None).unwrap_err().to_string()
    };
    let body = refusal(|it| it.extra_body = [("stream".to_owned(), true.into())].into());
    assert_eq!(body, "`extra_body` cannot have `stream`: scorebox decides it");
    let header = refusal(|it| it.extra_headers = [("Host".to_owned(), "a".to_owned())].into());
    assert_eq!(header, "`extra_headers` cannot have `Host`");
    let key = refusal(|it| it.key_header = Some("Content-Length".to_owned()));
    assert_eq!(key, "`key_header` cannot be `Content-Length`");
}

#[test]
fn a_key_that_no_header_can_have_is_refused_and_not_shown() {
    for key in ["sk-one\nsk-two", "sk-\0", ""] {
        let error = connect(&settings("https://host/v1".into()), Some(Key::new(key))).unwrap_err();
        let shown = format!("{error} {error:?} {:?}", Key::new(key));
        assert!(shown.contains("the key") && !shown.contains("sk-"), "{shown}");
    }
}

#[test]
fn settings_that_leave_nothing_to_do_are_refused() {
    let refused = |change: fn(&mut JudgeSettings)| {
        let mut settings = settings("https://host/v1".into());
        change(&mut settings);
        connect(&settings, None).unwrap_err().to_string()
    };
    assert_eq!(refused(|it| it.concurrency = 0), "`concurrency` must be more than 0");
    assert_eq!(
        refused(|it| it.requests_per_minute = Some(0)),
        "`requests_per_minute` must be more than 0"
    );
    assert_eq!(refused(|it| it.timeout = Default::default()), "`timeout` must be more than 0");
    let no_program =
        |it: &mut JudgeSettings| it.provider = ProviderSettings::Command { command: vec![] };
    assert_eq!(refused(no_program), "`command` names no program");
}
