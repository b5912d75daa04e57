//! Tests indexes from web servers and registries that have none, or another's, or send too much or something else: the
//! result is what the signer signed, or nothing.

use scorebox::digest::Digest;
use scorebox_community::{
    Failed, Index, IndexError, IndexFailed, IndexPlace, MAX_INDEX_BYTES, NotAnIndex, Signature,
    SignedIndex, Signer, Transport, fetch_index,
};
use serde_json::{Value, json};

use crate::server::{Answer, Asked, Server};

/// A key, with an index and its signature.
struct Publisher {
    key: String,
    signer: Signer,
    document: String,
    signature: String,
}

impl Publisher {
    fn new() -> Publisher {
        Publisher::of(Index::new("team", 3, Vec::new()).unwrap().text())
    }

    fn of(document: String) -> Publisher {
        let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
        let key = pair.sk.to_box(None).unwrap().into_string();
        let signature = Signature::make(document.as_bytes(), &key, None).unwrap();
        let (signer, text) = (signature.signer().clone(), signature.text().to_owned());
        Publisher { key, signer, document, signature: text }
    }

    fn signature_of(&self, document: &str) -> String {
        Signature::make(document.as_bytes(), &self.key, None).unwrap().text().to_owned()
    }
}

/// A web server with an index and a signature.
fn web(document: impl Into<Answer>, signature: impl Into<Answer>) -> Server {
    let (document, signature) = (document.into(), signature.into());
    Server::start(move |asked: &Asked| match asked.target.as_str() {
        "/team/index.json" => document.clone(),
        "/team/index.json.minisig" => signature.clone(),
        _ => Answer::status(404, ""),
    })
}

impl From<&String> for Answer {
    fn from(body: &String) -> Answer {
        Answer::status(200, body.as_bytes())
    }
}

async fn fetched_from(place: &str, signer: &Signer) -> Result<SignedIndex, IndexFailed> {
    let place: IndexPlace = place.parse().unwrap();
    let fetched = fetch_index(&place, Transport::PlainHttp, None, signer).await;
    fetched.map_err(|IndexError { place: named, failed, .. }| {
        assert_eq!(named, place.to_string());
        failed
    })
}

async fn fetched(server: &Server, signer: &Signer) -> Result<SignedIndex, IndexFailed> {
    fetched_from(&format!("http://{}/team/index.json", server.host()), signer).await
}

#[tokio::test]
async fn an_index_is_a_file_with_its_signature_beside_it() {
    let team = Publisher::new();
    let server = web(&team.document, &team.signature);
    let signed = fetched(&server, &team.signer).await.unwrap();
    assert_eq!((signed.index().name.as_str(), signed.index().serial), ("team", 3));
    assert_eq!(&signed.document()[..], team.document.as_bytes());
    let asked = server.asked();
    let targets: Vec<&str> = asked.iter().map(|asked| asked.target.as_str()).collect();
    assert_eq!(targets, ["/team/index.json", "/team/index.json.minisig"]);
    assert!(asked.iter().all(|asked| asked.authorization.is_none()));
}

#[tokio::test]
async fn what_its_signer_did_not_sign_is_not_an_index() {
    let (team, other) = (Publisher::new(), Publisher::new());
    let missing = || Answer::status(404, "");
    let of_another_document = team.signature_of("something else");
    let half = team.signature[..team.signature.len() / 2].to_owned();
    let changed = team.document.replace("\"serial\": 3", "\"serial\": 4");
    let signer = || team.signer.clone();
    for (server, expected) in [
        (web(missing(), &team.signature), IndexFailed::Missing),
        (web(&team.document, missing()), IndexFailed::NotSigned),
        (web(&team.document, &other.signature), IndexFailed::OtherSigner(signer())),
        (web(&team.document, &of_another_document), IndexFailed::OtherDocument(signer())),
        (web(&changed, &team.signature), IndexFailed::OtherDocument(signer())),
        (web(&team.document, &half), IndexFailed::BadSignature),
        (web(&team.document, &String::new()), IndexFailed::BadSignature),
        (web(&team.document, Answer::status(200, [0xff; 9])), IndexFailed::BadSignature),
    ] {
        assert_eq!(fetched(&server, &team.signer).await, Err(expected));
    }
}

#[tokio::test]
async fn what_is_signed_and_not_an_index_is_refused() {
    for (document, expected) in [
        ("<html>", "expected value at line 1 column 1"),
        ("{\"version\": 9}", "it has version 9 of the format; this scorebox reads version 1"),
    ] {
        let team = Publisher::of(document.to_owned());
        let server = web(&team.document, &team.signature);
        let failed = fetched(&server, &team.signer).await.unwrap_err();
        let IndexFailed::NotAnIndex(reason) = failed else { panic!("{failed:?}") };
        assert_eq!(reason.to_string(), expected);
    }
    let entry = "{\"address\": \"a.b/c:1\"},";
    let million = format!(
        "{{\"version\": 1, \"name\": \"team\", \"serial\": 1, \"scorers\": [{}{{}}]}}",
        entry.repeat(1_000_000)
    );
    let team = Publisher::of(million);
    let server = web(&team.document, &team.signature);
    let failed = fetched(&server, &team.signer).await.unwrap_err();
    assert!(matches!(failed, IndexFailed::NotAnIndex(NotAnIndex::Invalid(_))), "{failed:?}");
}

#[tokio::test]
async fn an_index_or_a_signature_without_end_is_not_read() {
    let team = Publisher::new();
    let gigabyte = || Answer::status(200, "{}").with("Content-Length", "1073741824");
    let endless = || Answer::status(200, " ".repeat(10_000)).without_end();
    for document in [gigabyte(), endless()] {
        let failed = fetched(&web(document, &team.signature), &team.signer).await;
        let max_bytes = MAX_INDEX_BYTES;
        let too_large = Failed::TooLarge { what: "an index", max_bytes };
        assert_eq!(failed, Err(IndexFailed::Server(too_large)));
    }
    for signature in [gigabyte(), endless()] {
        let failed = fetched(&web(&team.document, signature), &team.signer).await;
        let too_large = Failed::TooLarge { what: "a signature", max_bytes: 1024 };
        assert_eq!(failed, Err(IndexFailed::Server(too_large)));
    }
}

#[tokio::test]
async fn a_web_server_may_redirect_three_times_and_not_to_another_host_without_tls() {
    let team = Publisher::new();
    let home = web(&team.document, &team.signature);
    let host = home.host();
    // `/2/team/index.json` is two redirects away from `/team/index.json` of the other server.
    let away = Server::start(move |asked: &Asked| {
        let place = match asked.target.as_bytes()[1] {
            b'3' => asked.target.replacen('3', "2", 1),
            b'2' => asked.target.replacen('2', "1", 1),
            _ => format!("http://{host}{}", &asked.target[2..]),
        };
        Answer::status(302, "").with("Location", place)
    });
    for times in 1..=3 {
        let place = format!("http://{}/{times}/team/index.json", away.host());
        assert!(fetched_from(&place, &team.signer).await.is_ok(), "{times}");
    }
    let always = Server::start(|_| Answer::status(301, "").with("Location", "/team/index.json"));
    let failed = fetched(&always, &team.signer).await.unwrap_err();
    assert_eq!(failed, IndexFailed::Server(Failed::RedirectsTooOften(3)));
    assert_eq!(always.asked().len(), 4);
    let place = "http://elsewhere.test/index.json";
    let elsewhere = Server::start(move |_| Answer::status(307, "").with("Location", place));
    let failed = fetched(&elsewhere, &team.signer).await.unwrap_err();
    let without_tls = Failed::WithoutTls("http://elsewhere.test".to_owned());
    assert_eq!(failed, IndexFailed::Server(without_tls));
    let nowhere = Server::start(|_| Answer::status(302, ""));
    let failed = fetched(&nowhere, &team.signer).await.unwrap_err();
    assert_eq!(failed, IndexFailed::Server(Failed::Redirected(302)));
}

#[tokio::test]
async fn a_server_that_fails_is_not_one_without_an_index() {
    let team = Publisher::new();
    for (document, signature) in [
        (Answer::status(500, "no"), Answer::from(&team.signature)),
        (Answer::from(&team.document), Answer::status(500, "no")),
    ] {
        let failed = fetched(&web(document, signature), &team.signer).await.unwrap_err();
        let refused = Failed::Refused { status: 500, said: String::new() };
        assert_eq!(failed, IndexFailed::Server(refused));
        assert!(failed.is_passing(), "what it has is not known");
    }
    let busy = || Answer::status(429, "").with("Retry-After", "3600");
    let failed = fetched(&web(busy(), &team.signature), &team.signer).await.unwrap_err();
    assert!(failed.is_passing(), "{failed}");
    let missing = web(Answer::status(404, ""), &team.signature);
    assert!(!fetched(&missing, &team.signer).await.unwrap_err().is_passing());
    for status in [401, 403] {
        let locked = web(Answer::status(status, ""), &team.signature);
        let failed = fetched(&locked, &team.signer).await;
        assert!(!failed.as_ref().unwrap_err().is_passing());
        assert_eq!(failed, Err(IndexFailed::Server(Failed::LoginWanted)));
    }
    // Nothing listens on a port that was released.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nobody = format!("http://127.0.0.1:{port}/index.json");
    assert!(fetched_from(&nobody, &team.signer).await.unwrap_err().is_passing());
}

/// The manifest of an index in a registry.
fn manifest(team: &Publisher) -> Value {
    let digest = format!("sha256:{}", Digest::of(team.document.as_bytes()));
    let kind = "application/vnd.scorebox.index.v1+json";
    json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "artifactType": kind,
        "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": digest, "size": 2},
        "layers": [{"mediaType": kind, "digest": digest, "size": team.document.len()}],
        "annotations": {"scorebox.signature": team.signature},
    })
}

/// The result of fetching from a registry with this manifest, which gives this answer for every blob.
async fn fetched_of(
    manifest: &Value,
    blob: Answer,
    team: &Publisher,
) -> Result<SignedIndex, IndexFailed> {
    let manifest = manifest.to_string();
    let server = Server::start(move |asked: &Asked| match asked.target.contains("/blobs/") {
        true => blob.clone(),
        false => Answer::status(200, manifest.clone()),
    });
    fetched_from(&format!("oci://{}/team/index:1", server.host()), &team.signer).await
}

#[tokio::test]
async fn an_index_in_a_registry_is_one_layer_with_its_signature_in_the_manifest() {
    let team = Publisher::new();
    let fetched = fetched_of(&manifest(&team), Answer::from(&team.document), &team).await.unwrap();
    assert_eq!(fetched.index().serial, 3);
}

#[tokio::test]
async fn what_a_registry_has_in_place_of_an_index_is_refused() {
    let (team, other) = (Publisher::new(), Publisher::new());
    let blob = || Answer::from(&team.document);
    let with = |pointer: &str, value: Value| {
        let mut manifest = manifest(&team);
        *manifest.pointer_mut(pointer).unwrap() = value;
        manifest
    };
    let layer = manifest(&team)["layers"][0].clone();
    for (manifest, expected) in [
        (json!({"schemaVersion": 2}), "it has not one layer, as an index has"),
        (with("/layers", json!([layer, layer])), "it has not one layer, as an index has"),
        (with("/layers/0/mediaType", json!("application/wasm")), "it is something else"),
        (with("/layers/0/digest", json!("sha256:../..")), "its document has no SHA-256 digest"),
        (with("/layers/0/size", json!(1_u64 << 30)), "its document is larger than 32 MiB"),
        (json!("no manifest"), "its manifest is not valid"),
    ] {
        let failed = fetched_of(&manifest, blob(), &team).await.unwrap_err();
        assert_eq!(failed, IndexFailed::NotAnArtifact(expected));
    }
    let unsigned = with("/annotations", json!({}));
    assert_eq!(fetched_of(&unsigned, blob(), &team).await, Err(IndexFailed::NotSigned));
    let by_another = with("/annotations/scorebox.signature", json!(other.signature));
    let failed = fetched_of(&by_another, blob(), &team).await;
    assert_eq!(failed, Err(IndexFailed::OtherSigner(team.signer.clone())));
    let digest = Digest::of(team.document.as_bytes());
    let other_bytes = Answer::status(200, " ".repeat(team.document.len()));
    let failed = fetched_of(&manifest(&team), other_bytes, &team).await;
    assert_eq!(failed, Err(IndexFailed::Server(Failed::OtherBytes(digest))));
    let endless = Answer::status(200, " ".repeat(10_000)).without_end();
    let failed = fetched_of(&manifest(&team), endless, &team).await;
    let max_bytes = team.document.len();
    let too_large = Failed::TooLarge { what: "an index", max_bytes };
    assert_eq!(failed, Err(IndexFailed::Server(too_large)));
}
