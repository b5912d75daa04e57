//! Tests registries that misbehave: a bounded amount is read, and nothing is sent where it does not belong.

use std::collections::BTreeMap;

use scorebox_community::{
    Artifact, Credentials, Failed, MAX_MANIFEST_BYTES, Published, Registry, Transport, publish,
};

use crate::server::{Answer, Asked, SELF_SIGNED, SIGNED, Server, refused};

pub(crate) const ALADDIN: &str = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==";

pub(crate) fn aladdin() -> Option<Credentials> {
    Some(Credentials::new("Aladdin", "open sesame"))
}

pub(crate) fn artifact() -> Artifact {
    Artifact::new(&b"a component"[..], &[], &[], &BTreeMap::new()).unwrap()
}

/// Publishes at the server, without TLS.
pub(crate) async fn published(
    server: &Server,
    credentials: Option<Credentials>,
) -> Result<Published, Failed> {
    let address = format!("{}/team/grade:1.2.0", server.host()).parse().unwrap();
    let registry = Registry::new(&address, Transport::PlainHttp, credentials).unwrap();
    publish(&registry, &artifact()).await.map_err(|error| {
        assert_eq!(error.registry, server.host());
        error.failed
    })
}

/// An empty registry that accepts everything; its uploads are at `place`.
pub(crate) fn empty(asked: &Asked, place: &str) -> Answer {
    match asked.method.as_str() {
        "POST" => Answer::status(202, "").with("Location", place),
        "PUT" => Answer::status(201, ""),
        _ => Answer::status(404, ""),
    }
}

#[tokio::test]
async fn a_manifest_that_is_too_large_is_not_read() {
    let stated = |_: &Asked| Answer::status(200, "{}").with("Content-Length", "1073741824");
    let endless = |_: &Asked| Answer::status(200, [b' '; 1000]).without_end();
    for server in [Server::start(stated), Server::start(endless)] {
        let failed = published(&server, None).await.unwrap_err();
        let max_bytes = MAX_MANIFEST_BYTES;
        assert_eq!(failed, Failed::TooLarge { what: "a manifest", max_bytes });
        assert_eq!(server.asked().len(), 1);
    }
}

#[tokio::test]
async fn an_error_without_end_is_an_error() {
    let server = Server::start(|_| Answer::status(500, "no ".repeat(1000)).without_end());
    let failed = published(&server, None).await.unwrap_err();
    assert_eq!(failed, Failed::Refused { status: 500, said: String::new() });
}

#[tokio::test]
async fn what_a_registry_says_is_short_and_on_one_line() {
    let message = format!("\\u001b[2Jno\\n{}", "x".repeat(1000));
    let body = format!(r#"{{"errors": [{{"code": "DENIED", "message": "{message}"}}]}}"#);
    let server = Server::start(move |_| Answer::status(500, body.clone()));
    let failed = published(&server, None).await.unwrap_err();
    let Failed::Refused { said, .. } = failed else { panic!("{failed:?}") };
    assert!(said.starts_with(": [2Jno xxx") && said.len() <= 302, "{said:?}");
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_gets_no_password() {
    let other = Server::start(|_| Answer::status(200, "{}"));
    let place = format!("http://{}/v2/team/grade/manifests/1.2.0", other.host());
    let server = Server::start(move |asked| match asked.authorization {
        None => Answer::status(401, "").with("WWW-Authenticate", "Basic realm=\"here\""),
        Some(_) => Answer::status(307, "").with("Location", place.clone()),
    });
    assert_eq!(published(&server, aladdin()).await, Err(Failed::Redirected(307)));
    let asked = server.asked();
    assert_eq!(asked[1].authorization.as_deref(), Some(ALADDIN));
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn an_upload_to_another_place_carries_no_password() {
    let other = Server::start(|_| Answer::status(201, ""));
    let place = format!("http://{}/upload?id=7", other.host());
    let server = Server::start(move |asked| match asked.authorization {
        None => Answer::status(401, "").with("WWW-Authenticate", "Basic realm=\"here\""),
        Some(_) => empty(asked, &place),
    });
    // The registry has lost what it accepted.
    assert_eq!(published(&server, aladdin()).await, Err(Failed::NotKept));
    let uploads = other.asked();
    assert_eq!(uploads.len(), 2);
    assert_eq!(uploads[0].body, b"a component");
    let digest = artifact().component_digest();
    assert_eq!(uploads[0].target, format!("/upload?id=7&digest=sha256%3A{digest}"));
    assert!(uploads.iter().all(|asked| asked.authorization.is_none()), "{uploads:?}");
}

#[tokio::test]
async fn an_upload_that_fails_leaves_no_tag() {
    let server = Server::start(|asked| match asked.method.as_str() {
        "PUT" => Answer::status(507, ""),
        _ => empty(asked, "/upload"),
    });
    let failed = published(&server, None).await.unwrap_err();
    assert_eq!(failed, Failed::Refused { status: 507, said: String::new() });
    let manifests = server.asked().into_iter().filter(|it| it.target.contains("/manifests/"));
    assert!({ manifests }.all(|asked| asked.method == "GET"));
}

#[tokio::test]
async fn what_may_have_been_done_is_not_sent_again() {
    for (status, times) in [(502, 1), (503, 4)] {
        let server = Server::start(move |asked| match asked.method.as_str() {
            "PUT" => Answer::status(status, "").with("Retry-After", "0"),
            _ => empty(asked, "/upload"),
        });
        let failed = published(&server, None).await.unwrap_err();
        assert!(matches!(failed, Failed::Busy { .. }), "{failed:?}");
        let sent = server.asked().into_iter().filter(|asked| asked.method == "PUT");
        let bodies: Vec<Vec<u8>> = sent.map(|asked| asked.body).collect();
        assert_eq!(bodies, vec![b"a component".to_vec(); times]);
    }
}

#[tokio::test]
async fn nothing_is_uploaded_to_a_place_without_tls_that_is_not_the_registry() {
    let server = Server::start(|asked| empty(asked, "http://elsewhere.test/upload"));
    let failed = published(&server, None).await;
    assert_eq!(failed, Err(Failed::WithoutTls("http://elsewhere.test".to_owned())));
}

#[tokio::test]
async fn a_registry_that_names_no_place_for_an_upload_is_none() {
    let server = Server::start(|asked| match asked.method.as_str() {
        "POST" => Answer::status(202, ""),
        _ => Answer::status(404, ""),
    });
    assert!(matches!(published(&server, None).await, Err(Failed::NotARegistry(_))));
}

#[tokio::test]
async fn plain_http_is_spoken_only_if_it_is_allowed() {
    let server = Server::start(|_| Answer::status(404, ""));
    let address = format!("{}/team/grade:1.2.0", server.host()).parse().unwrap();
    let registry = Registry::new(&address, Transport::Tls, aladdin()).unwrap();
    let error = publish(&registry, &artifact()).await.unwrap_err();
    assert!(matches!(error.failed, Failed::Unreachable(_)), "{error}");
    assert!(server.asked().is_empty(), "{:?}", server.asked());
}

#[tokio::test]
async fn the_certificate_of_an_authority_is_told_from_one_that_is_not_trusted() {
    let failed = async |host: String| {
        let address = format!("{host}/team/grade:1.2.0").parse().unwrap();
        let registry = Registry::new(&address, Transport::Tls, aladdin()).unwrap();
        publish(&registry, &artifact()).await.unwrap_err().failed
    };
    let untrusted = failed(refused(SIGNED)).await;
    assert!(matches!(untrusted, Failed::UnknownAuthority(_)), "{untrusted:?}");
    assert_eq!(failed(refused(SELF_SIGNED)).await, Failed::AuthorityCertificate);
}
