//! Tests registries that have no scorer, send more or something else, or redirect: the result is the component with the
//! digest, or nothing.

use std::{collections::BTreeMap, sync::Mutex};

use scorebox::digest::Digest;
use scorebox_community::{
    Credentials, Failed, MAX_COMPONENT_BYTES, Pulled, Registry, Transport, newest, pull,
    pull_component, releases,
};
use serde_json::{Value, json};

use crate::{
    hostile::{ALADDIN, aladdin},
    server::{Answer, Asked, Server},
};

const COMPONENT: &[u8] = b"a component";
const SIZE: u64 = COMPONENT.len() as u64;

fn registry(server: &Server, credentials: Option<Credentials>) -> Registry {
    let address = format!("{}/team/grade:1.2.0", server.host()).parse().unwrap();
    Registry::new(&address, Transport::PlainHttp, credentials).unwrap()
}

async fn pulled(server: &Server) -> Result<Pulled, Failed> {
    pull(&registry(server, None)).await.map_err(|error| {
        assert_eq!(error.registry, server.host());
        error.failed
    })
}

/// Why the artifact in the registry is not a scorer.
async fn not_a_scorer(manifest: impl Into<Vec<u8>>) -> &'static str {
    let manifest = manifest.into();
    let server = Server::start(move |_| Answer::status(200, manifest.clone()));
    let failed = pulled(&server).await.unwrap_err();
    assert_eq!(server.asked().len(), 1, "no component is asked for");
    let Failed::NotAScorer { name, tag, reason } = failed else { panic!("{failed:?}") };
    assert_eq!((name.as_str(), tag.as_str()), ("team/grade", "1.2.0"));
    reason
}

fn digest() -> String {
    format!("sha256:{}", Digest::of(COMPONENT))
}

fn layer(digest: &str, size: impl Into<Value>) -> Value {
    json!({"mediaType": "application/wasm", "digest": digest, "size": size.into()})
}

fn manifest(layers: impl Into<Value>) -> Value {
    let kind = "application/vnd.wasm.config.v0+json";
    json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {"mediaType": kind, "digest": format!("sha256:{}", Digest::of(b"{}")), "size": 2},
        "layers": layers.into(),
        "annotations": {"org.opencontainers.image.licenses": "MIT"},
    })
}

/// A registry with a scorer, which gives this answer for its component.
fn answering(component: impl Fn(&Asked) -> Answer + Send + 'static) -> Server {
    let manifest = manifest([layer(&digest(), SIZE)]).to_string();
    Server::start(move |asked| match asked.target.contains("/manifests/") {
        true => Answer::status(200, manifest.clone()),
        false => component(asked),
    })
}

fn redirect(place: &str) -> Answer {
    Answer::status(307, "").with("Location", place)
}

#[tokio::test]
async fn a_scorer_is_the_component_that_its_manifest_names() {
    let server = answering(|_| Answer::status(200, COMPONENT));
    let pulled = pulled(&server).await.unwrap();
    assert_eq!(&pulled.component[..], COMPONENT);
    assert_eq!(pulled.digest, Digest::of(COMPONENT));
    let named = manifest([layer(&digest(), SIZE)]).to_string();
    assert_eq!(pulled.manifest, Digest::of(named.as_bytes()));
    assert_eq!(pulled.annotations["org.opencontainers.image.licenses"], "MIT");
    let targets: Vec<String> = server.asked().into_iter().map(|asked| asked.target).collect();
    let blob = format!("/v2/team/grade/blobs/{}", digest());
    assert_eq!(targets, ["/v2/team/grade/manifests/1.2.0".to_owned(), blob]);
}

#[tokio::test]
async fn a_component_of_a_digest_is_had_whatever_the_tag_names() {
    let server = answering(|_| Answer::status(200, COMPONENT));
    let component = pull_component(&registry(&server, None), Digest::of(COMPONENT)).await.unwrap();
    assert_eq!(&component[..], COMPONENT);
    assert!(server.asked().iter().all(|asked| asked.target.contains("/blobs/")));
}

#[tokio::test]
async fn no_more_is_read_of_a_component_than_the_size_that_its_manifest_states() {
    let max_bytes = COMPONENT.len();
    for server in [
        answering(|_| Answer::status(200, [b'a'; 1000]).without_end()),
        answering(|_| Answer::status(200, COMPONENT).with("Content-Length", "1073741824")),
        answering(|_| Answer::status(200, [COMPONENT, b"s"].concat())),
    ] {
        let failed = pulled(&server).await.unwrap_err();
        assert_eq!(failed, Failed::TooLarge { what: "a component", max_bytes });
    }
}

#[tokio::test]
async fn without_a_manifest_no_more_is_read_of_a_component_than_one_may_have() {
    let server = answering(|_| Answer::status(200, COMPONENT).with("Content-Length", "134217729"));
    let failed = pull_component(&registry(&server, None), Digest::of(COMPONENT)).await;
    let max_bytes = MAX_COMPONENT_BYTES;
    assert_eq!(failed.unwrap_err().failed, Failed::TooLarge { what: "a component", max_bytes });
}

#[tokio::test]
async fn other_bytes_under_the_digest_are_not_had() {
    for other in [&b"A component"[..], b"a componen", b""] {
        let server = answering(move |_| Answer::status(200, other));
        let failed = Failed::OtherBytes(Digest::of(COMPONENT));
        assert_eq!(pulled(&server).await.unwrap_err(), failed);
        let error = pull_component(&registry(&server, None), Digest::of(COMPONENT)).await;
        assert_eq!(error.unwrap_err().failed, failed);
    }
}

#[tokio::test]
async fn a_component_that_is_cut_off_is_not_had() {
    let server = answering(|_| Answer::status(200, b"a comp").with("Content-Length", "11"));
    let failed = pulled(&server).await.unwrap_err();
    assert!(matches!(failed, Failed::EndedEarly(_)), "{failed:?}");
}

/// A registry with a scorer that is busy for the first two requests of each resource.
fn busy_twice(status: u16) -> Server {
    let manifest = manifest([layer(&digest(), SIZE)]).to_string();
    let seen = Mutex::new(BTreeMap::<String, u32>::new());
    Server::start(move |asked| {
        let mut seen = seen.lock().unwrap();
        let times = seen.entry(asked.target.clone()).or_default();
        *times += 1;
        match asked.target.contains("/manifests/") {
            _ if *times <= 2 => Answer::status(status, "").with("Retry-After", "0"),
            true => Answer::status(200, manifest.clone()),
            false => Answer::status(200, COMPONENT),
        }
    })
}

#[tokio::test]
async fn a_busy_registry_is_asked_again() {
    for status in [429, 502, 503, 504] {
        let server = busy_twice(status);
        assert_eq!(&pulled(&server).await.unwrap().component[..], COMPONENT);
        assert_eq!(server.asked().len(), 6);
    }
}

#[tokio::test]
async fn a_registry_that_stays_busy_is_left_alone() {
    let said = r#"{"errors": [{"message": "slow down"}]}"#;
    for (retry_after, times, words) in [
        ("0", 4, "it answered with status 429: slow down, 4 times"),
        ("600", 1, "it answered with status 429: slow down, and asks to wait 600 seconds"),
    ] {
        let answer = Answer::status(429, said).with("Retry-After", retry_after);
        let server = Server::start(move |_| answer.clone());
        let failed = pulled(&server).await.unwrap_err();
        assert!(matches!(failed, Failed::Busy { status: 429, .. }), "{failed:?}");
        assert_eq!((failed.to_string().as_str(), server.asked().len()), (words, times));
    }
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let nothing = Server::start(|_| Answer::status(404, ""));
    let (name, tag) = ("team/grade".to_owned(), "1.2.0".to_owned());
    assert_eq!(pulled(&nothing).await.unwrap_err(), Failed::Missing { name, tag });
    let no_component = answering(|_| Answer::status(404, ""));
    let failed = Failed::NoComponent(Digest::of(COMPONENT));
    assert_eq!(pulled(&no_component).await.unwrap_err(), failed);
}

#[tokio::test]
async fn a_size_that_no_component_has_is_refused_before_anything_is_read() {
    let most = MAX_COMPONENT_BYTES as u64;
    for size in [most + 1, 1 << 40, u64::MAX] {
        let manifest = manifest([layer(&digest(), size)]).to_string();
        assert_eq!(not_a_scorer(manifest).await, "its component is larger than 128 MiB");
    }
    for size in [json!(-1), json!(1.5), json!(1e300), json!("11"), Value::Null] {
        let manifest = manifest([layer(&digest(), size)]).to_string();
        assert_eq!(not_a_scorer(manifest).await, "its manifest is not valid");
    }
}

#[tokio::test]
async fn what_is_not_a_scorer_is_refused_with_the_reason() {
    let of_an_image = |key: &str| {
        let mut manifest = manifest([layer(&digest(), SIZE)]);
        manifest[key]["mediaType"] = json!("application/vnd.oci.image.config.v1+json");
        manifest.to_string()
    };
    let archive = json!([{
        "mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": digest(), "size": SIZE,
    }]);
    let one = || layer(&digest(), SIZE);
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{
            "mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": digest(), "size": SIZE,
        }],
    });
    for (text, reason) in [
        (of_an_image("config"), "it is not a Wasm component"),
        (manifest(archive).to_string(), "it is not a Wasm component"),
        (manifest([one(), one()]).to_string(), "it has not one layer, as a component has"),
        (manifest(json!([])).to_string(), "it has not one layer, as a component has"),
        (index.to_string(), "its manifest is not valid"),
        ("[".repeat(1 << 20), "its manifest is not valid"),
        ("null".to_owned(), "its manifest is not valid"),
        (String::new(), "its manifest is not valid"),
    ] {
        assert_eq!(not_a_scorer(text.clone()).await, reason, "{text:.200}");
    }
    assert_eq!(not_a_scorer([0xFF; 10]).await, "its manifest is not valid");
}

#[tokio::test]
async fn a_digest_is_64_hexadecimal_digits_and_no_path() {
    let hex = Digest::of(COMPONENT).to_string();
    for written in [
        "sha256:../../../../v2/team/other/blobs/x".to_owned(),
        format!("sha256:../{}", &hex[3..]),
        format!("sha256:{}", &hex[1..]),
        format!("sha256:{hex}0"),
        format!("sha256:{hex}/.."),
        format!("sha512:{hex}{hex}"),
        format!("SHA256:{hex}"),
        "sha256:é".to_owned(),
        hex,
        String::new(),
    ] {
        let reason = not_a_scorer(manifest([layer(&written, SIZE)]).to_string()).await;
        assert_eq!(reason, "its component has no SHA-256 digest", "{written}");
    }
}

#[tokio::test]
async fn a_component_may_be_at_another_place_that_gets_no_password() {
    for status in [301, 302, 303, 307, 308] {
        let store = Server::start(|_| Answer::status(200, COMPONENT));
        let place = format!("http://{}/store?signature=s", store.host());
        let manifest = manifest([layer(&digest(), SIZE)]).to_string();
        let server = Server::start(move |asked| match asked.authorization {
            None => Answer::status(401, "").with("WWW-Authenticate", "Basic realm=\"here\""),
            Some(_) if asked.target.contains("/manifests/") => {
                Answer::status(200, manifest.clone())
            }
            Some(_) => Answer::status(status, "").with("Location", place.clone()),
        });
        let pulled = pull(&registry(&server, aladdin())).await.unwrap();
        assert_eq!(&pulled.component[..], COMPONENT);
        assert_eq!(server.asked().last().unwrap().authorization.as_deref(), Some(ALADDIN));
        let [asked] = &store.asked()[..] else { panic!("{:?}", store.asked()) };
        assert_eq!((asked.target.as_str(), &asked.authorization), ("/store?signature=s", &None));
    }
}

#[tokio::test]
async fn a_place_that_wants_a_login_gets_none() {
    let store = Server::start(|_| {
        Answer::status(401, "").with("WWW-Authenticate", "Basic realm=\"elsewhere\"")
    });
    let place = format!("http://{}/store", store.host());
    let server = answering(move |_| redirect(&place));
    let failed = pull(&registry(&server, aladdin())).await.unwrap_err().failed;
    assert_eq!(failed, Failed::Refused { status: 401, said: String::new() });
    let [asked] = &store.asked()[..] else { panic!("{:?}", store.asked()) };
    assert_eq!(asked.authorization, None);
}

#[tokio::test]
async fn what_another_place_sends_is_the_component_or_is_not_had() {
    let other = Server::start(|_| Answer::status(200, b"A component"));
    let endless = Server::start(|_| Answer::status(200, [b'a'; 1000]).without_end());
    let max_bytes = COMPONENT.len();
    for (store, expected) in [
        (other, Failed::OtherBytes(Digest::of(COMPONENT))),
        (endless, Failed::TooLarge { what: "a component", max_bytes }),
    ] {
        let place = format!("http://{}/store", store.host());
        let server = answering(move |_| redirect(&place));
        assert_eq!(pulled(&server).await.unwrap_err(), expected);
    }
}

#[tokio::test]
async fn three_redirects_are_followed_and_not_a_fourth() {
    let steps = |last: &'static str| {
        answering(move |asked| match asked.target.as_str() {
            target if target == last => Answer::status(200, COMPONENT),
            "/1" => redirect("/2"),
            "/2" => redirect("/3"),
            "/3" => redirect("/4"),
            _ => redirect("/1"),
        })
    };
    assert_eq!(&pulled(&steps("/3")).await.unwrap().component[..], COMPONENT);
    let server = steps("/4");
    assert_eq!(pulled(&server).await.unwrap_err(), Failed::RedirectsTooOften(3));
    assert_eq!(server.asked().len(), 1 + 4, "the manifest, the component and three places");
}

#[tokio::test]
async fn a_redirect_leads_to_a_place_that_may_be_asked() {
    for place in ["http://elsewhere.test/store", "//elsewhere.test/store"] {
        let server = answering(move |_| redirect(place));
        let failed = Failed::WithoutTls("http://elsewhere.test".to_owned());
        assert_eq!(pulled(&server).await.unwrap_err(), failed, "{place}");
    }
    let server = answering(|_| redirect("file:///etc/passwd"));
    let failed = pulled(&server).await.unwrap_err();
    assert!(matches!(failed, Failed::WithoutTls(_)), "{failed:?}");
    for answer in [Answer::status(307, ""), redirect("http://"), redirect("http://[")] {
        let server = answering(move |_| answer.clone());
        let failed = pulled(&server).await.unwrap_err();
        assert_eq!(failed, Failed::NotARegistry("it redirects to no place"));
    }
}

fn tags(tags: &[&str]) -> Answer {
    Answer::status(200, json!({"name": "team/grade", "tags": tags}).to_string())
}

#[tokio::test]
async fn a_list_of_tags_is_read_page_by_page() {
    let server = Server::start(|asked| match asked.target.as_str() {
        "/v2/team/grade/tags/list?n=1000" => {
            let next = "</v2/team/grade/tags/list?n=1000&last=1.2.0>; rel=\"next\"";
            tags(&["1.1.0", "1.2.0"]).with("Link", next)
        }
        "/v2/team/grade/tags/list?n=1000&last=1.2.0" => tags(&["1.10.0"])
            .with("Link", "</elsewhere>; rel=\"prev\", <?last=2>; title=x; rel=next"),
        "/v2/team/grade/tags/list?last=2" => Answer::status(200, r#"{"tags": null}"#),
        other => panic!("{other}"),
    });
    let releases = releases(&registry(&server, None)).await.unwrap();
    assert_eq!(releases.newest().as_deref(), Some("1.10.0"));
    assert!(releases.has("1.1.0") && !releases.has("1.3.0"));
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn a_list_of_tags_has_an_end_and_is_in_one_place() {
    let failed = async |answer: Answer| {
        let server = Server::start(move |_| answer.clone());
        let failed = releases(&registry(&server, None)).await.unwrap_err().failed;
        (failed, server.asked().len())
    };
    let same = || tags(&["1.0.0"]).with("Link", "<?n=1000>; rel=next");
    assert_eq!(failed(same()).await, (Failed::TooManyPages(100), 100));
    let large = Answer::status(200, format!("{{\"tags\": []{}}}", " ".repeat(3 << 20)));
    let large = large.with("Link", "<?n=1000>; rel=next");
    let too_large = Failed::TooLarge { what: "a list of tags", max_bytes: 8 << 20 };
    assert_eq!(failed(large).await, (too_large, 3));
    let other = tags(&[]).with("Link", "<http://elsewhere.test/v2/>; rel=next");
    let elsewhere = "its list of tags continues on another server";
    assert_eq!(failed(other).await, (Failed::NotARegistry(elsewhere), 1));
}

#[tokio::test]
async fn a_tag_that_is_moved_from_release_to_release_does_not_hide_the_release() {
    let server = Server::start(|_| tags(&["1.2", "1.2.0", "1.2.1", "1.3", "2"]));
    let newest_of = async |tag: &str| {
        let registry = registry(&server, None);
        let address = registry.address().with_tag(tag).unwrap();
        newest(registry.with_tag(address)).await.map(|it| it.address().tag().to_owned())
    };
    assert_eq!(newest_of("1.2").await.unwrap(), "1.2.1");
    assert_eq!(newest_of("1").await.unwrap(), "1.2.1");
    assert_eq!(newest_of("1.3").await.unwrap(), "1.3", "there is no release of it");
    assert!(newest_of("3").await.is_err());
}
