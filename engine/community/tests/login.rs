//! Tests registries that require a login: with a password, or with a token of another service.

use std::time::Duration;

use scorebox_community::{Failed, Registry, Transport, newest, pull};

use crate::{
    hostile::{ALADDIN, aladdin, empty, published},
    server::{Answer, Server},
};

/// A registry that requires a token of the service at `realm`.
fn wanting_token(realm: String) -> Server {
    Server::start(move |asked| match asked.authorization.as_deref() {
        Some("Bearer a-token") => empty(asked, "/upload"),
        _ => {
            let challenge = format!("Bearer realm=\"{realm}\",service=\"a.test\"");
            Answer::status(401, "").with("WWW-Authenticate", challenge)
        }
    })
}

#[tokio::test]
async fn a_token_is_asked_for_once_with_the_password_which_the_registry_does_not_get() {
    for key in ["token", "access_token"] {
        let body = format!(r#"{{"{key}": "a-token"}}"#);
        let service = Server::start(move |_| Answer::status(200, body.clone()));
        let registry = wanting_token(format!("http://{}/token", service.host()));
        assert_eq!(published(&registry, aladdin()).await, Err(Failed::NotKept), "it forgot all");
        let [asked] = &service.asked()[..] else { panic!("{:?}", service.asked()) };
        assert_eq!(asked.authorization.as_deref(), Some(ALADDIN));
        let scope = "scope=repository%3Ateam%2Fgrade%3Apull%2Cpush";
        assert_eq!(asked.target, format!("/token?{scope}&service=a.test"));
        let logins = registry.asked().into_iter().map(|asked| asked.authorization);
        let logins: Vec<Option<String>> = logins.collect();
        assert_eq!(logins[0], None);
        assert!(logins[1..].iter().all(|it| it.as_deref() == Some("Bearer a-token")), "{logins:?}");
    }
}

#[tokio::test]
async fn who_reads_wants_a_token_for_reading_only_and_keeps_it() {
    let service = Server::start(|asked| match asked.target.contains("push") {
        // Some registries refuse anonymous users like this.
        true => Answer::status(403, ""),
        false => Answer::status(200, r#"{"token": "a-token"}"#),
    });
    let realm = format!("http://{}/token", service.host());
    let server = Server::start(move |asked| match asked.authorization.as_deref() {
        Some("Bearer a-token") if asked.target.contains("/tags/") => {
            Answer::status(200, r#"{"tags": ["1.2.0"]}"#)
        }
        Some("Bearer a-token") => Answer::status(404, ""),
        _ => Answer::status(401, "")
            .with("WWW-Authenticate", format!("Bearer realm=\"{realm}\",service=\"a.test\"")),
    });
    let address = format!("{}/team/grade:1", server.host()).parse().unwrap();
    let registry = Registry::new(&address, Transport::PlainHttp, None).unwrap();
    let registry = newest(registry).await.unwrap();
    assert_eq!(registry.address().tag(), "1.2.0");
    let missing = pull(&registry).await.unwrap_err().failed;
    assert!(matches!(missing, Failed::Missing { .. }), "{missing:?}");
    let [asked] = &service.asked()[..] else { panic!("{:?}", service.asked()) };
    assert_eq!(asked.target, "/token?scope=repository%3Ateam%2Fgrade%3Apull&service=a.test");
    assert_eq!(published(&server, None).await, Err(Failed::LoginWanted), "writing wants more");
}

#[tokio::test]
async fn a_service_without_tls_that_is_not_the_registry_gets_no_password() {
    let registry = wanting_token("http://elsewhere.test/token".to_owned());
    let failed = published(&registry, aladdin()).await;
    assert_eq!(failed, Err(Failed::WithoutTls("http://elsewhere.test".to_owned())));
}

#[tokio::test]
async fn a_token_that_is_too_large_is_not_read() {
    let service = Server::start(|_| Answer::status(200, [b' '; 1000]).without_end());
    let registry = wanting_token(format!("http://{}/token", service.host()));
    let failed = published(&registry, None).await;
    assert!(matches!(failed, Err(Failed::TooLarge { what: "a token", .. })), "{failed:?}");
}

#[tokio::test]
async fn a_service_for_logins_that_fails_is_named() {
    let busy = || Answer::status(503, "").with("Retry-After", "0");
    let broken = || Answer::status(500, "");
    for (answer, times, expected) in [
        (busy(), 4, Failed::Busy { status: 503, said: String::new(), times: 4, stated: zero() }),
        (broken(), 1, Failed::Refused { status: 500, said: String::new() }),
    ] {
        let service = Server::start(move |_| answer.clone());
        let registry = wanting_token(format!("http://{}/token", service.host()));
        let failed = published(&registry, aladdin()).await.unwrap_err();
        assert_eq!(failed.login_server(), Some(service.host().as_str()));
        assert_eq!(failed.cause(), &expected);
        assert!(failed.is_passing() && failed.to_string().contains(&service.host()), "{failed}");
        assert_eq!(service.asked().len(), times);
        assert_eq!(registry.asked().len(), 1);
    }
}

fn zero() -> Option<Duration> {
    Some(Duration::ZERO)
}

#[tokio::test]
async fn an_answer_without_a_token_or_with_one_that_no_header_can_have_is_refused() {
    for body in ["", "{}", "[]", r#"{"token": 1}"#, r#"{"token": "one\ntwo"}"#] {
        let service = Server::start(move |_| Answer::status(200, body));
        let registry = wanting_token(format!("http://{}/token", service.host()));
        let failed = published(&registry, None).await;
        assert!(matches!(failed, Err(Failed::NotARegistry(_))), "{body}: {failed:?}");
    }
}

#[tokio::test]
async fn without_a_login_one_is_wanted_and_another_one_is_refused() {
    let basic = || Answer::status(401, "").with("WWW-Authenticate", "Basic realm=\"here\"");
    let registry = Server::start(move |_| basic());
    assert_eq!(published(&registry, None).await, Err(Failed::LoginWanted));
    assert_eq!(published(&registry, aladdin()).await, Err(Failed::LoginRefused(String::new())));
    let service = Server::start(|_| Answer::status(401, ""));
    let registry = wanting_token(format!("http://{}/token", service.host()));
    assert_eq!(published(&registry, None).await, Err(Failed::LoginWanted));
    assert_eq!(published(&registry, aladdin()).await, Err(Failed::LoginRefused(String::new())));
}

#[tokio::test]
async fn a_registry_that_wants_token_after_token_is_asked_twice() {
    let service = Server::start(|_| Answer::status(200, r#"{"token": "another-token"}"#));
    let registry = wanting_token(format!("http://{}/token", service.host()));
    assert_eq!(published(&registry, aladdin()).await, Err(Failed::LoginRefused(String::new())));
    assert_eq!(registry.asked().len(), 2);
}
