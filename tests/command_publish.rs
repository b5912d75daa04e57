//! `scorebox publish` with a real registry: what it publishes, logins, certificates, and what it refuses.

use std::{fs, path::Path};

use insta::assert_snapshot;
use scorebox::digest::Digest;
use scorebox_community::Signature;
use serde_json::{Value, json};

use crate::{
    collector::{Collector, SELF_SIGNED},
    fixture::{Folder, Output},
    oci_registry::{Door, OciRegistry, is_installed},
    scorer_desk::with_example,
};

/// `Aladdin:open sesame`, as `docker login` writes it.
const LOGIN: &str = "QWxhZGRpbjpvcGVuIHNlc2FtZQ==";

/// A folder of a user who has not logged in to any registry.
fn folder() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("docker")).unwrap();
    folder
}

fn publish(folder: &Folder, options: &str) -> Output {
    let settings = "DOCKER_CONFIG=docker HOME=. XDG_RUNTIME_DIR=docker";
    folder.sh(&format!("unset REGISTRY_AUTH_FILE; {settings} scorebox publish {options}"))
}

#[test]
fn a_published_scorer_is_there_byte_for_byte_with_what_it_says_about_itself() {
    let Some(registry) = OciRegistry::start(Door::Open) else { return };
    let folder = folder();
    let address = format!("{}/team/misbehave:0.1.0", registry.host());
    let options =
        format!("misbehave.wasm {address} --plain-http --license MIT --source https://a.test/b");
    let first = publish(&folder, &options).exits_with(0);
    let bytes = fs::read(folder.path("misbehave.wasm")).unwrap();
    let digest = format!("sha256:{}", Digest::of(&bytes));
    assert!(first.stdout.contains(&digest), "{first}");
    let manifest = registry.get("/v2/team/misbehave/manifests/0.1.0");
    assert!(first.stdout.contains(&Digest::of(&manifest).to_string()), "{first}");
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(
        manifest["layers"],
        json!([{
            "mediaType": "application/wasm",
            "digest": digest,
            "size": bytes.len(),
            "annotations": {"org.opencontainers.image.title": "misbehave.wasm"},
        }])
    );
    assert_eq!(
        manifest["annotations"],
        json!({
            "org.opencontainers.image.title": "misbehave",
            "org.opencontainers.image.version": "0.1.0",
            "org.opencontainers.image.description": "Does one bad thing, which its configuration names.",
            "org.opencontainers.image.licenses": "MIT",
            "org.opencontainers.image.source": "https://a.test/b",
            "scorebox.contract": "0.1.0",
        })
    );
    assert_eq!(registry.get(&format!("/v2/team/misbehave/blobs/{digest}")), bytes);
    let config = manifest["config"]["digest"].as_str().unwrap();
    let config = registry.get(&format!("/v2/team/misbehave/blobs/{config}"));
    let config: Value = serde_json::from_slice(&config).unwrap();
    assert_eq!(config["layerDigests"], json!([digest]));
    assert_eq!(config["component"]["exports"], json!(["scorebox:scorer/scoring@0.1.0"]));
}

#[test]
fn a_licence_and_a_source_are_what_others_can_read_and_open() {
    let folder = folder();
    let refused = |options: &str| {
        let address = "localhost:1/misbehave:0.1.0";
        publish(&folder, &format!("misbehave.wasm {address} {options}")).exits_with(2).stderr
    };
    for license in ["'my own'", "MIT/Apache", "'MIT OR'", "'<script>'"] {
        let said = refused(&format!("--license {license}"));
        assert!(said.contains("it is not an SPDX expression"), "{said}");
    }
    for source in ["git@git.test:team/grade", "javascript:1", "https://me:secret@git.test/a"] {
        let said = refused(&format!("--source {source}"));
        assert!(said.contains("it is not the address of a page"), "{said}");
    }
    for options in ["--license 'MIT OR Apache-2.0'", "--license LicenseRef-own"] {
        let said = refused(options);
        assert!(said.contains("cannot publish at localhost:1"), "{said}");
    }
}

#[test]
fn wkg_pulls_what_is_published_and_what_it_pushes_is_added_to_a_suite() {
    if !is_installed("wkg") {
        return;
    }
    let Some(registry) = OciRegistry::start(Door::Open) else { return };
    let (folder, host) = (folder(), registry.host());
    let key = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/signing-keys/team.key");
    let options = format!(
        "misbehave.wasm {host}/team/misbehave:0.1.0 --plain-http --sign '{}'",
        key.display()
    );
    publish(&folder, &options).exits_with(0);
    let wkg = |line: &str| {
        let settings = "export DOCKER_CONFIG=docker HOME=$PWD XDG_RUNTIME_DIR=docker";
        folder.sh(&format!("{settings}; unset REGISTRY_AUTH_FILE; wkg oci {line}")).exits_with(0);
    };
    wkg(&format!("pull --insecure {host} {host}/team/misbehave:0.1.0 -o pulled.wasm"));
    let bytes = fs::read(folder.path("misbehave.wasm")).unwrap();
    assert_eq!(fs::read(folder.path("pulled.wasm")).unwrap(), bytes);
    wkg(&format!("push --insecure {host} {host}/team/pushed:0.1.0 pulled.wasm"));
    let add = "DOCKER_CONFIG=docker HOME=. SCOREBOX_DATA_DIR=data scorebox add --plain-http --yes";
    let added = folder.sh(&format!("{add} {host}/team/pushed:0.1.0")).exits_with(0);
    assert!(added.stdout.contains(&format!("sha256:{}", Digest::of(&bytes))), "{added}");
}

#[test]
fn what_is_published_stays_as_it_is() {
    let Some(registry) = OciRegistry::start(Door::Open) else { return };
    let folder = folder();
    let address = format!("{}/misbehave:0.1.0", registry.host());
    let options = format!("misbehave.wasm {address} --plain-http");
    publish(&folder, &options).exits_with(0);
    let before = registry.get("/v2/misbehave/manifests/0.1.0");
    let again = publish(&folder, &options).exits_with(0);
    assert!(again.stderr.contains("is published already, as it is here"), "{again}");
    let other = publish(&folder, &format!("{options} --license MIT")).exits_with(2);
    assert!(other.stderr.contains("is published already, with other content"), "{other}");
    assert!(other.stderr.contains("hint: what is published stays as it is"), "{other}");
    assert_eq!(registry.get("/v2/misbehave/manifests/0.1.0"), before);
}

#[test]
fn what_a_registry_has_lost_is_there_again_after_publishing_the_same() {
    let Some(registry) = OciRegistry::start(Door::Open) else { return };
    let folder = folder();
    let options = format!("misbehave.wasm {}/misbehave:0.1.0 --plain-http", registry.host());
    publish(&folder, &options).exits_with(0);
    let manifest = registry.get("/v2/misbehave/manifests/0.1.0");
    let parts: Value = serde_json::from_slice(&manifest).unwrap();
    for part in [&parts["layers"][0], &parts["config"]] {
        let digest = part["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap();
        let file = registry.blob_file(digest);
        let whole = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        let again = publish(&folder, &options).exits_with(0);
        let repaired = "is published already; something of it was missing or damaged";
        assert!(again.stderr.contains(repaired), "{again}");
        assert_eq!(fs::read(&file).unwrap(), whole);
        // This registry does not check a blob that it already has under its name.
        let mut damaged = whole.clone();
        *damaged.last_mut().unwrap() ^= 1;
        fs::write(&file, &damaged).unwrap();
        let refused = publish(&folder, &options).exits_with(2);
        let stays = format!("what it keeps under the digest {digest} is damaged");
        assert!(refused.stderr.contains(&stays), "{refused}");
        assert!(refused.stderr.contains("must delete it there; then publish again"), "{refused}");
        fs::write(&file, &whole).unwrap();
        let same = publish(&folder, &options).exits_with(0);
        assert!(same.stderr.contains("is published already, as it is here"), "{same}");
    }
    assert_eq!(registry.get("/v2/misbehave/manifests/0.1.0"), manifest);
}

#[test]
fn a_signature_that_is_not_one_of_the_component_is_replaced_by_its_signer() {
    let Some(registry) = OciRegistry::start(Door::Open) else { return };
    let folder = folder();
    let keys = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/signing-keys");
    let with_key = |key: &str| {
        let (host, key) = (registry.host(), keys.join(key));
        let options = format!("{host}/misbehave:0.1.0 --plain-http --sign '{}'", key.display());
        publish(&folder, &format!("misbehave.wasm {options}"))
    };
    with_key("team.key").exits_with(0);
    let there = || registry.get("/v2/misbehave/manifests/0.1.0");
    let mut manifest: Value = serde_json::from_slice(&there()).unwrap();
    let signature = manifest["annotations"]["scorebox.signature"].as_str().unwrap().to_owned();
    let of_something_else = Signature::make(b"else", include_str!("signing-keys/team.key"), None);
    for bad in [of_something_else.unwrap().text(), &signature[..signature.len() / 2], ""] {
        manifest["annotations"]["scorebox.signature"] = bad.into();
        let damaged = manifest.to_string();
        registry.put_manifest("misbehave", "0.1.0", damaged.as_bytes());
        let other = with_key("other.key").exits_with(2);
        assert!(other.stderr.contains("published already, with other content"), "{other}");
        assert_eq!(there(), damaged.as_bytes());
        let again = with_key("team.key").exits_with(0);
        assert!(again.stderr.contains("something of it was missing or damaged"), "{again}");
        let now: Value = serde_json::from_slice(&there()).unwrap();
        let (key, now) = (&now["annotations"]["scorebox.signer"], &now["annotations"]);
        let text = now["scorebox.signature"].as_str().unwrap();
        let signature = Signature::of_text(&key.as_str().unwrap().parse().unwrap(), text).unwrap();
        let component = fs::read(folder.path("misbehave.wasm")).unwrap();
        assert_eq!(signature.verify(&component), Ok(()));
    }
    let before = there();
    let same = with_key("team.key").exits_with(0);
    assert!(same.stderr.contains("is published already, as it is here"), "{same}");
    assert_eq!(there(), before);
}

#[test]
fn the_login_is_that_of_docker_and_its_lack_is_named_with_the_command() {
    let Some(registry) = OciRegistry::start(Door::Password) else { return };
    let folder = folder();
    let host = registry.host();
    let options = format!("misbehave.wasm {host}/misbehave:0.1.0 --plain-http");
    let hint = format!("hint: `docker login {host}` stores a login that may publish there");
    let unknown = publish(&folder, &options).exits_with(2);
    assert!(unknown.stderr.contains("it wants a login"), "{unknown}");
    assert!(unknown.stderr.contains(&hint), "{unknown}");
    let log_in = |login: &str| {
        let settings = json!({"auths": {&host: {"auth": login}}}).to_string();
        folder.write("docker/config.json", settings);
    };
    log_in("QWxhZGRpbjpzZXNhbWU=");
    let refused = publish(&folder, &options).exits_with(2);
    assert!(refused.stderr.contains("it refuses the login that is stored for it"), "{refused}");
    assert!(refused.stderr.contains(&hint), "{refused}");
    log_in(LOGIN);
    publish(&folder, &options).exits_with(0);
}

#[test]
fn a_registry_is_asked_without_a_login_if_the_helper_that_may_know_one_fails() {
    let Some(registry) = OciRegistry::start(Door::Open) else { return };
    let Some(closed) = OciRegistry::start(Door::Password) else { return };
    let folder = folder();
    let settings = json!({"credsStore": "broken"}).to_string();
    folder.write("docker/config.json", settings);
    let publish = |host: &str| {
        let options = format!("misbehave.wasm {host}/misbehave:0.1.0 --plain-http");
        let output = publish(&folder, &options);
        let stderr = output.stderr.replace(host, "HOST");
        (stderr, output)
    };
    let (said, output) = publish(&registry.host());
    output.exits_with(0);
    assert_snapshot!(said, @"warning: the login that may be stored for HOST cannot be read (`docker-credential-broken` is not installed); it is asked without one");
    let (said, output) = publish(&closed.host());
    output.exits_with(2);
    assert_snapshot!(said, @"
    warning: the login that may be stored for HOST cannot be read (`docker-credential-broken` is not installed); it is asked without one
    error: cannot publish at HOST: it wants a login
    hint: the login that may be stored for it cannot be read: `docker-credential-broken` is not installed; correct that in Docker's configuration, then `docker login HOST`
    ");
    // A registry that knows the login.
    let login = r#"{"Username": "Aladdin", "Secret": "open sesame"}"#;
    folder.write("docker-credential-broken", format!("#!/bin/sh\necho '{login}'\n"));
    folder.sh("chmod +x docker-credential-broken").exits_with(0);
    let options = format!("misbehave.wasm {}/misbehave:0.1.0 --plain-http", closed.host());
    let settings = "DOCKER_CONFIG=docker HOME=. XDG_RUNTIME_DIR=docker PATH=\"$PWD:$PATH\"";
    let line = format!("unset REGISTRY_AUTH_FILE; {settings} scorebox publish {options}");
    let published = folder.sh(&line).exits_with(0);
    assert_eq!(published.stderr, "");
}

#[test]
fn a_certificate_that_is_not_trusted_ends_it() {
    let Some(registry) = OciRegistry::start(Door::Tls) else { return };
    let folder = folder();
    let options = format!("misbehave.wasm {}/misbehave:0.1.0", registry.host());
    for (file, content) in [
        ("authority.pem", &include_bytes!("certificates/authority.pem")[..]),
        ("other.pem", include_bytes!("certificates/other-authority.pem")),
    ] {
        folder.write(file, content);
    }
    let publish_trusting = |authority: &str| {
        let settings = "DOCKER_CONFIG=docker HOME=. XDG_RUNTIME_DIR=docker";
        folder.sh(&format!("{settings} SSL_CERT_FILE={authority} scorebox publish {options}"))
    };
    let refused = publish_trusting("other.pem").exits_with(2);
    assert!(refused.stderr.contains("its certificate is not trusted"), "{refused}");
    assert!(refused.stderr.contains("SSL_CERT_FILE"), "{refused}");
    publish_trusting("authority.pem").exits_with(0);
}

#[test]
fn a_server_that_uses_the_certificate_of_an_authority_is_refused_in_words() {
    // Not a registry, but it is never contacted.
    let server = Collector::https(SELF_SIGNED);
    let folder = folder();
    folder.write("self-signed.pem", SELF_SIGNED[0]);
    let host = format!("localhost:{}", server.address.port());
    let settings =
        "DOCKER_CONFIG=docker HOME=. XDG_RUNTIME_DIR=docker SSL_CERT_FILE=self-signed.pem";
    let line = format!("{settings} scorebox publish misbehave.wasm {host}/misbehave:0.1.0");
    let refused = folder.sh(&line).exits_with(2);
    let because = "it uses the certificate of an authority (CA) as its own\n";
    assert!(refused.stderr.contains(&format!("{host}: {because}")), "{refused}");
    assert!(refused.stderr.contains("hint: if the server is yours, let an authority"), "{refused}");
}

#[test]
fn a_registry_without_tls_is_asked_only_if_that_is_allowed() {
    let Some(registry) = OciRegistry::start(Door::Open) else { return };
    let options = format!("misbehave.wasm {}/misbehave:0.1.0", registry.host());
    let refused = publish(&folder(), &options).exits_with(2);
    assert!(refused.stderr.contains("it answers without TLS"), "{refused}");
    assert!(refused.stderr.contains("needs --plain-http"), "{refused}");
}

#[test]
fn what_cannot_be_published_is_refused_before_a_registry_is_asked() {
    let folder = folder();
    folder.write("text.wasm", "no component");
    let of_another_score = r#"{"case": {"output": "a b", "groundTruth": "a c"}, "score": 1}"#;
    folder.write("false.wasm", with_example(of_another_score));
    folder.write("script.js", "export const score = () => 1;");
    for (arguments, message, hint) in [
        (
            "misbehave.wasm localhost:1/misbehave:0.2.0",
            "the scorer's own version is `0.1.0`, and the tag is `0.2.0`",
            "publish it as localhost:1/misbehave:0.1.0",
        ),
        (
            "false.wasm localhost:1/word-f1:0.1.0",
            "the scorer's own example does not have the score that it promises: scores 0.5000, and promises 1.0000",
            "correct its `example.json`",
        ),
        ("exact-match localhost:1/a:1", "`exact-match` is not the file of a component", ".wasm"),
        ("script.js localhost:1/a:1", "`script.js` is not the file of a component", ".wasm"),
        ("missing.wasm localhost:1/a:1", "cannot read the scorer `missing.wasm`", ""),
        ("text.wasm localhost:1/a:1", "error: ", ""),
        ("misbehave.wasm team/a:1", "host name with a dot", ""),
        ("misbehave.wasm localhost:1/A:1", "lower-case letters", ""),
    ] {
        let refused = publish(&folder, arguments).exits_with(2);
        assert!(refused.stderr.contains(message), "{arguments}: {refused}");
        assert!(refused.stderr.contains(hint), "{arguments}: {refused}");
        assert!(!refused.stderr.contains("cannot reach"), "{arguments}: {refused}");
    }
}

#[test]
fn a_registry_that_does_not_answer_is_named() {
    let refused = publish(&folder(), "misbehave.wasm localhost:1/misbehave:0.1.0").exits_with(2);
    assert!(refused.stderr.contains("cannot publish at localhost:1: cannot reach it"), "{refused}");
    assert!(refused.stderr.contains("hint: check the registry's name"), "{refused}");
}
