//! Signatures of published scorers: `scorebox publish --sign`, and how `scorebox add` checks a signature, with a real
//! registry.

use insta::assert_snapshot;
use serde_json::Value;

use crate::scorer_desk::{Desk, SUITE, guest};

const TEAM: &str = include_str!("signing-keys/team.key");
const OTHER: &str = include_str!("signing-keys/other.key");
/// The public half of `TEAM`.
const TEAM_SIGNER: &str = "RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI";

/// A desk with the keys, and `team/word-f1` published without a signature.
fn desk() -> Option<Desk> {
    let desk = Desk::new()?;
    desk.write("team.key", TEAM);
    desk.write("other.key", OTHER);
    desk.folder.write("word-f1.wasm", guest("word-f1"));
    Some(desk)
}

/// Publishes `word-f1` under that name, signed by the team.
fn publish_signed(desk: &Desk, name: &str) -> String {
    let line =
        format!("scorebox publish word-f1.wasm HOST/{name}:0.1.0 --plain-http --sign team.key");
    desk.sh(&line).exits_with(0).stdout
}

fn manifest(desk: &Desk, name: &str) -> Value {
    let manifest = desk.registry.get(&format!("/v2/{name}/manifests/0.1.0"));
    serde_json::from_slice(&manifest).unwrap()
}

/// Checks that this is refused with this message, and that neither suite nor lock changes.
fn is_refused(desk: &Desk, options: &str, words: &str) {
    let refused = desk.add(&format!("{options} --yes")).exits_with(2);
    assert!(refused.stderr.contains(words), "{refused}");
    assert_eq!(desk.read("suite.toml"), SUITE);
    assert!(!desk.folder.path("scorebox.lock").exists());
}

#[test]
fn a_signed_scorer_is_shown_and_locked_with_its_signer() {
    let Some(desk) = desk() else { return };
    let said = publish_signed(&desk, "signed/word-f1");
    assert!(said.contains(&format!("signed by  {TEAM_SIGNER}")), "{said}");
    let options = format!("HOST/signed/word-f1:0.1.0 --yes --signer {TEAM_SIGNER}");
    let added = desk.add(&options).exits_with(0);
    assert!(added.stdout.contains(&format!("signed by     {TEAM_SIGNER}\n")), "{added}");
    assert!(desk.read("scorebox.lock").contains(&format!("signer = \"{TEAM_SIGNER}\"")));
    desk.sh("scorebox run suite.toml cases.jsonl").exits_with(0);
}

#[test]
fn a_key_with_a_password_signs_with_the_one_of_the_environment() {
    let Some(desk) = desk() else { return };
    desk.write("locked.key", include_str!("signing-keys/locked.key"));
    let publish = |password: &str| {
        desk.sh(&format!(
            "{password} scorebox publish word-f1.wasm HOST/locked/word-f1:0.1.0 --plain-http --sign locked.key"
        ))
    };
    assert_snapshot!(publish("").exits_with(2).stderr, @"
    error: cannot sign with `locked.key`: the key has a password
    hint: set SCOREBOX_SIGNING_PASSWORD, or run the command on a terminal
    ");
    assert_snapshot!(publish("SCOREBOX_SIGNING_PASSWORD=sesame").exits_with(2).stderr, @"
    error: cannot sign with `locked.key`: the password is not the key's
    hint: it is the value of SCOREBOX_SIGNING_PASSWORD
    ");
    publish("SCOREBOX_SIGNING_PASSWORD='open sesame'").exits_with(0);
}

#[test]
fn the_same_scorer_signed_again_by_the_same_key_is_published_already() {
    let Some(desk) = desk() else { return };
    publish_signed(&desk, "signed/word-f1");
    let before = manifest(&desk, "signed/word-f1");
    let publish = |options: &str| {
        desk.sh(&format!(
            "scorebox publish word-f1.wasm HOST/signed/word-f1:0.1.0 --plain-http {options}"
        ))
    };
    let again = publish("--sign team.key").exits_with(0);
    assert!(again.stderr.contains("is published already"), "{again}");
    for options in ["--sign other.key", ""] {
        let refused = publish(options).exits_with(2);
        assert!(refused.stderr.contains("with other content"), "{refused}");
    }
    assert_eq!(manifest(&desk, "signed/word-f1"), before);
}

#[test]
fn a_scorer_that_another_key_signed_or_none_is_not_added_if_a_signer_is_named() {
    let Some(desk) = desk() else { return };
    let line =
        "scorebox publish word-f1.wasm HOST/signed/word-f1:0.1.0 --plain-http --sign other.key";
    desk.sh(line).exits_with(0);
    let signer = format!("--signer {TEAM_SIGNER}");
    is_refused(&desk, &format!("HOST/signed/word-f1:0.1.0 {signer}"), "and not by");
    is_refused(&desk, &format!("HOST/team/word-f1:0.1.0 {signer}"), "is not signed");
    is_refused(&desk, "HOST/team/word-f1:0.1.0 --signer nobody", "is not a public key of minisign");
}

#[test]
fn a_signature_of_another_component_is_refused_whoever_is_trusted() {
    let Some(desk) = desk() else { return };
    publish_signed(&desk, "signed/word-f1");
    desk.publish("other/asker", &guest("asker"));
    let mut forged = manifest(&desk, "other/asker");
    let signed = manifest(&desk, "signed/word-f1");
    for key in ["scorebox.signature", "scorebox.signer"] {
        forged["annotations"][key] = signed["annotations"][key].clone();
    }
    let put = |manifest: &Value| {
        desk.registry.put_manifest("other/asker", "0.1.0", manifest.to_string().as_bytes());
    };
    put(&forged);
    let options = "HOST/other/asker:0.1.0 --grant judge";
    is_refused(&desk, options, "its signature is not one of this component by");
    // Half of a signature is as wrong as all of it.
    forged["annotations"].as_object_mut().unwrap().remove("scorebox.signer");
    put(&forged);
    is_refused(&desk, options, "its signature is not valid");
}

#[test]
fn an_old_scorer_under_a_new_tag_is_refused_signed_or_not() {
    let Some(desk) = desk() else { return };
    publish_signed(&desk, "signed/word-f1");
    let old = manifest(&desk, "signed/word-f1").to_string();
    desk.registry.put_manifest("signed/word-f1", "0.2.0", old.as_bytes());
    is_refused(
        &desk,
        "HOST/signed/word-f1:0.2.0",
        "the component's version is 0.1.0, which differs from its tag",
    );
    // The newest version of the line is requested.
    is_refused(
        &desk,
        "HOST/signed/word-f1:0",
        "`HOST/signed/word-f1:0.2.0`: the component's version is 0.1.0",
    );
}

#[test]
fn a_line_of_versions_stands_for_its_newest_release() {
    let Some(desk) = desk() else { return };
    desk.add("HOST/team/word-f1:0.1 --yes").exits_with(0);
    assert!(desk.read("suite.toml").contains("use = \"oci://HOST/team/word-f1:0.1.0\""));
    let missing = desk.add("HOST/team/word-f1:3 --yes --as other").exits_with(2);
    assert!(missing.stderr.contains("it has no `team/word-f1:3`"), "{missing}");
}

#[test]
fn a_file_that_is_not_a_key_signs_nothing() {
    let Some(desk) = desk() else { return };
    for (file, words) in [
        ("suite.toml", "cannot sign with `suite.toml`: it is not a secret key of minisign"),
        ("missing.key", "cannot read `missing.key`"),
    ] {
        let line =
            format!("scorebox publish word-f1.wasm HOST/a/b:0.1.0 --plain-http --sign {file}");
        let refused = desk.sh(&line).exits_with(2);
        assert!(refused.stderr.contains(words), "{refused}");
    }
    let missing = desk.add("HOST/a/b:0.1.0 --yes").exits_with(2);
    assert!(missing.stderr.contains("it has no `a/b:0.1.0`"), "{missing}");
}
