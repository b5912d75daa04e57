//! `[policy]` in a suite and in the user's configuration: what is required of published scorers when they are added,
//! fetched and run.

use std::fs;

use insta::assert_snapshot;

use crate::{
    fixture::Output,
    scorer_desk::{Desk, SUITE, guest},
};

const TEAM: &str = include_str!("signing-keys/team.key");
const TEAM_SIGNER: &str = "RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI";

/// A desk with `team/word-f1` unsigned and `signed/word-f1` signed by the team, both added.
fn desk() -> Option<Desk> {
    let desk = Desk::new()?;
    desk.write("team.key", TEAM);
    desk.folder.write("word-f1.wasm", guest("word-f1"));
    let publish =
        "scorebox publish word-f1.wasm HOST/signed/word-f1:0.1.0 --plain-http --sign team.key";
    desk.sh(publish).exits_with(0);
    desk.add("HOST/signed/word-f1:0.1.0 --as signed --yes").exits_with(0);
    Some(desk)
}

/// Writes this policy into the user's configuration.
fn user_policy(desk: &Desk, policy: &str) {
    desk.write("user.toml", &format!("version = 1\n[policy]\n{policy}\n"));
}

/// Runs a command with that configuration.
fn sh(desk: &Desk, line: &str) -> Output {
    desk.sh(&format!("SCOREBOX_CONFIG=user.toml {line}"))
}

fn suite_policy(desk: &Desk, policy: &str) {
    let suite = desk.read("suite.toml");
    let (scorers, _) = suite.split_once("[policy]").unwrap_or((&suite, ""));
    let scorers = scorers.to_owned();
    desk.write("suite.toml", &format!("{}\n[policy]\n{policy}\n", scorers.trim_end()));
}

/// Checks that all commands that use a published scorer refuse it with this message.
fn is_refused_everywhere(desk: &Desk, words: &str) {
    for line in [
        "run suite.toml cases.jsonl -q",
        "suite check suite.toml",
        "compile suite.toml",
        "fetch --plain-http",
        "outdated --plain-http",
    ] {
        let refused = sh(desk, &format!("scorebox {line}"));
        let is_about_registry = words.contains("registry");
        if line.starts_with("outdated") && !is_about_registry {
            continue;
        }
        assert!(refused.stderr.contains(words) && refused.code == Some(2), "{line}: {refused}");
    }
}

#[test]
fn a_scorer_without_a_trusted_signature_is_not_used() {
    let Some(desk) = desk() else { return };
    let signer = format!("signers = [\"{TEAM_SIGNER}\"]");
    for configure in [user_policy, suite_policy] {
        desk.write("user.toml", "");
        configure(&desk, &signer);
        sh(&desk, "scorebox run suite.toml cases.jsonl -q").exits_with(0);
        let before = desk.read("suite.toml");
        let refused =
            sh(&desk, "scorebox add --plain-http HOST/team/word-f1:0.1.0 --yes").exits_with(2);
        assert!(refused.stderr.contains("it is not signed"), "{refused}");
        assert_eq!(desk.read("suite.toml"), before);
    }
    user_policy(&desk, "signers = [\"RWQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"]");
    is_refused_everywhere(&desk, &format!("its signer {TEAM_SIGNER} is not allowed"));
    // None of its code was compiled.
    let compile = sh(&desk, "scorebox compile suite.toml --cache-dir empty").exits_with(2);
    assert_eq!(compile.stdout, "");
    let kept = desk.sh("find empty -name '*.code'");
    assert_eq!(kept.stdout, "", "{kept}");
    assert_snapshot!(sh(&desk, "scorebox run suite.toml cases.jsonl -q").stderr, @"
    error: user.toml:2:1: the policy refuses `HOST/signed/word-f1:0.1.0`: its signer RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI is not allowed
    hint: allowed signers: RWQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
    ");
}

#[test]
fn a_registry_that_is_not_allowed_is_not_even_asked() {
    let Some(desk) = desk() else { return };
    user_policy(&desk, "registries = [\"registry.example.com\"]");
    is_refused_everywhere(&desk, "is not allowed");
    let refused = sh(&desk, "scorebox add gone.example.com/team/grade:1.0.0 --yes").exits_with(2);
    assert_snapshot!(refused.stderr, @"
    error: user.toml:2:1: the policy refuses `gone.example.com/team/grade:1.0.0`: the registry gone.example.com is not allowed
    hint: allowed registries: registry.example.com
    ");
    user_policy(&desk, "registries = [\"HOST\", \"registry.example.com\"]");
    sh(&desk, "scorebox run suite.toml cases.jsonl -q").exits_with(0);
}

#[test]
fn a_component_that_is_too_large_or_needs_what_is_denied_is_not_used() {
    let Some(desk) = desk() else { return };
    suite_policy(&desk, "max-size = \"1kB\"");
    desk.write("user.toml", "");
    is_refused_everywhere(&desk, "at most 1000 B are allowed");
    suite_policy(&desk, "deny-grants = [\"judge\"]");
    sh(&desk, "scorebox run suite.toml cases.jsonl -q").exits_with(0);
    desk.folder.write("asker.wasm", guest("asker"));
    let version = sh(&desk, "scorebox inspect asker.wasm --grant judge").stdout;
    let version = version.split_whitespace().find(|word| word.starts_with("0.")).unwrap_or("0.1.0");
    sh(&desk, &format!("scorebox publish asker.wasm HOST/team/asker:{version} --plain-http"))
        .exits_with(0);
    let add = format!("scorebox add --plain-http HOST/team/asker:{version} --grant judge --yes");
    let refused = sh(&desk, &add).exits_with(2);
    assert!(refused.stderr.contains("it needs the grant judge, which is denied"), "{refused}");
}

#[test]
fn the_policy_of_a_suite_holds_before_it_has_scorers() {
    let Some(desk) = Desk::new() else { return };
    desk.write("suite.toml", "[policy]\nregistries = []\n");
    let refused = desk.add("HOST/team/word-f1:0.1.0 --yes").exits_with(2);
    assert!(refused.stderr.contains("suite.toml:1:2: the policy refuses"), "{refused}");
    assert!(refused.stderr.contains("allowed registries: none"), "{refused}");
    desk.write("suite.toml", "[policy]\nregistry = \"HOST\"\n");
    let unclear = desk.add("HOST/team/word-f1:0.1.0 --yes").exits_with(2);
    assert_snapshot!(unclear.stderr, @"
    error: suite.toml:2:1: unknown key `registry`; the keys of `policy` are `signers`, `registries`, `deny-grants`, `max-size`
    hint: did you mean `registries`?
    ");
    desk.write("suite.toml", "[policy]\nregistries = [\"HOST\"]\n");
    desk.add("HOST/team/word-f1:0.1.0 --yes").exits_with(0);
}

#[test]
fn built_in_scorers_and_files_are_not_published_and_no_policy_is_about_them() {
    let Some(desk) = Desk::new() else { return };
    desk.folder.write("word-f1.wasm", guest("word-f1"));
    let suite = format!(
        "{SUITE}[scorers.file]\nuse = \"./word-f1.wasm\"\n[policy]\nsigners = []\nregistries = []\nmax-size = 1\n"
    );
    desk.write("suite.toml", &suite);
    desk.sh("scorebox run suite.toml cases.jsonl -q").exits_with(0);
}

#[test]
fn a_signature_in_a_lock_is_of_the_component_that_is_locked() {
    let Some(desk) = desk() else { return };
    let lock = desk.read("scorebox.lock");
    // The signer counts only with the signature, and the signature only for its component.
    let at = lock.find("signature = ").unwrap();
    let (before, signature) = lock.split_at(at);
    let middle = signature.len() / 3;
    let other = if signature[middle..].starts_with('A') { "B" } else { "A" };
    let damaged = format!("{before}{}{other}{}", &signature[..middle], &signature[middle + 1..]);
    desk.write("scorebox.lock", &damaged);
    let refused = desk.sh("scorebox fetch --plain-http").exits_with(2);
    assert!(refused.stderr.contains("is not what it is locked as"), "{refused}");
    user_policy(&desk, &format!("signers = [\"{TEAM_SIGNER}\"]"));
    let refused = sh(&desk, "scorebox run suite.toml cases.jsonl -q").exits_with(2);
    assert!(refused.stderr.contains("is not what it is locked as"), "{refused}");
    // Without both the scorer counts as unsigned, which a policy refuses.
    let without = format!(
        "{}\n",
        before.lines().filter(|line| !line.starts_with("signer")).collect::<Vec<_>>().join("\n")
    );
    desk.write("scorebox.lock", &without);
    desk.sh("scorebox run suite.toml cases.jsonl -q").exits_with(0);
    suite_policy(&desk, &format!("signers = [\"{TEAM_SIGNER}\"]"));
    let refused = desk.sh("scorebox run suite.toml cases.jsonl -q").exits_with(2);
    assert!(refused.stderr.contains("it is not signed"), "{refused}");
}

#[test]
fn locked_refuses_a_lock_that_is_missing_or_has_more_than_its_suites_use() {
    let Some(desk) = desk() else { return };
    let run = |options: &str| desk.sh(&format!("scorebox run suite.toml cases.jsonl -q {options}"));
    run("--locked").exits_with(0);
    desk.sh("scorebox fetch --locked --offline").exits_with(0);
    let (suite, lock) = (desk.read("suite.toml"), desk.read("scorebox.lock"));
    desk.write("suite.toml", SUITE);
    run("").exits_with(0);
    assert_snapshot!(run("--locked").exits_with(2).stderr, @"
    error: `scorebox.lock` locks `HOST/signed/word-f1:0.1.0`, which no suite beside it uses
    hint: `scorebox update` leaves it out; or restore the suite that uses it
    ");
    // Another suite in the folder may use it.
    desk.write("other.toml", &suite);
    run("--locked").exits_with(0);
    fs::remove_file(desk.folder.path("scorebox.lock")).unwrap();
    run("--locked").exits_with(0);
    for line in [
        "run other.toml cases.jsonl -q",
        "suite check other.toml",
        "compile other.toml",
        "fetch other.toml",
    ] {
        let refused = desk.sh(&format!("scorebox {line} --locked")).exits_with(2);
        assert!(refused.stderr.contains("is not in `scorebox.lock`"), "{refused}");
    }
    desk.write("scorebox.lock", &lock);
    fs::remove_dir_all(desk.folder.path("data")).unwrap();
    assert_snapshot!(desk.sh("scorebox fetch other.toml --offline").exits_with(2).stderr, @"
    error: 1 component is missing, and --offline asks no registry; the first is `HOST/signed/word-f1:0.1.0`
    hint: fetch without --offline where there is a network, or bring a bundle: `scorebox bundle`
    ");
    desk.sh("scorebox fetch other.toml --plain-http && scorebox fetch other.toml --offline")
        .exits_with(0);
}

#[test]
fn a_policy_is_about_the_published_scorers_of_a_bundle_too() {
    let Some(desk) = desk() else { return };
    desk.sh("scorebox bundle suite.toml -o suite.tar").exits_with(0);
    desk.write("user.toml", "");
    sh(&desk, "scorebox run suite.tar cases.jsonl -q --locked --offline").exits_with(0);
    sh(&desk, "scorebox audit suite.tar").exits_with(0);
    user_policy(&desk, "registries = [\"registry.example.com\"]");
    let refused = sh(&desk, "scorebox run suite.tar cases.jsonl -q").exits_with(2);
    assert!(refused.stderr.contains("is not allowed"), "{refused}");
    sh(&desk, "scorebox audit suite.tar").exits_with(3);
    // A scorer that the suite's policy refuses is not bundled either.
    desk.write("user.toml", "");
    suite_policy(&desk, "max-size = \"1kB\"");
    let refused = desk.sh("scorebox bundle suite.toml -o other.tar").exits_with(2);
    assert!(refused.stderr.contains("at most 1000 B are allowed"), "{refused}");
}
