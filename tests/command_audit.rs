//! `scorebox audit`: its report about published scorers that pass, and the checks that fail for those that do not.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{
    fixture::Output,
    scorer_desk::{Desk, guest, with_example},
};

const TEAM: &str = include_str!("signing-keys/team.key");

/// A desk whose suite has a scorer with an example, signed by the team.
fn desk() -> Option<Desk> {
    let desk = Desk::new()?;
    desk.write("team.key", TEAM);
    let example = r#"{"case": {"output": "a b", "groundTruth": "a c"}, "score": 0.5}"#;
    desk.folder.write("shown.wasm", with_example(example));
    desk.sh("scorebox publish shown.wasm HOST/team/shown:0.1.0 --plain-http --sign team.key")
        .exits_with(0);
    desk.add("HOST/team/shown:0.1.0 --as shown --yes").exits_with(0);
    Some(desk)
}

/// The checks that are not `ok`, with what they show.
fn not_ok(output: &Output) -> Vec<String> {
    let checks = output.json();
    let all = checks.as_array().unwrap().iter();
    let text = |check: &Value, key: &str| check[key].as_str().unwrap().to_owned();
    all.filter(|check| check["status"] != "ok")
        .map(|it| format!("{} {}: {}", text(it, "check"), text(it, "status"), text(it, "message")))
        .collect()
}

fn audit(desk: &Desk, code: i32) -> Vec<String> {
    not_ok(&desk.sh("scorebox audit --format json").exits_with(code))
}

#[test]
fn all_checks_of_a_scorer_that_is_as_it_should_be_hold() {
    let Some(desk) = desk() else { return };
    assert_snapshot!(desk.sh("scorebox audit").exits_with(0), @"
    scorer  check          what it shows
    shown   component  ok  sha256:[digest]
            signature  ok  by RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI
            contract   ok  0.1.0
            grants     ok  it needs none, and has none
            policy     ok  no policy is set
            lock       ok  it reads output, groundTruth
            example    ok  scores 0.5000, as it promises; twice the same
            says       ok  nothing of a case that it does not declare to read
    [stderr]
    1 scorer: nothing is wrong
    [exit code 0]
    ");
    assert_eq!(audit(&desk, 0), [""; 0]);
    desk.write("plain.toml", "[scorers.exact-match]\n");
    assert_snapshot!(desk.sh("scorebox audit plain.toml").exits_with(0), @"
    [stderr]
    the suite uses no published scorers
    [exit code 0]
    ");
}

#[test]
fn what_is_not_signed_or_has_no_example_is_noted() {
    let Some(desk) = Desk::new() else { return };
    desk.add("HOST/team/word-f1:0.1.0 --yes").exits_with(0);
    assert_snapshot!(audit(&desk, 0).join("\n"), @"
    signature note: not signed: nothing proves who published it
    example skipped: it has no example, so its score could not be checked
    ");
}

#[test]
fn a_component_that_is_missing_damaged_or_not_locked_fails() {
    let Some(desk) = desk() else { return };
    let lock = desk.read("scorebox.lock");
    desk.write("scorebox.lock", &lock.replace("reads = [", "reads = [\"input\", "));
    assert_snapshot!(audit(&desk, 3).join("\n"), @"lock failed: `HOST/team/shown:0.1.0` is not what it is locked as: in addition to the output it reads groundTruth; the lock says input, groundTruth");
    desk.write("scorebox.lock", &lock.replace("shown:0.1.0", "shown:0.2.0"));
    assert_snapshot!(audit(&desk, 3).join("\n"), @"lock failed: `HOST/team/shown:0.1.0` is not in `scorebox.lock`");
    desk.write("scorebox.lock", &lock);
    fs::remove_dir_all(desk.folder.path("data")).unwrap();
    assert_snapshot!(audit(&desk, 3).join("\n"), @"component failed: it is not on this machine with the bytes of the lock; `scorebox fetch` fetches it");
    desk.sh("scorebox fetch --plain-http").exits_with(0);
    assert_eq!(audit(&desk, 0), [""; 0]);
}

#[test]
fn a_signature_that_is_of_another_component_fails() {
    let Some(desk) = desk() else { return };
    desk.folder.write("word-f1.wasm", guest("word-f1"));
    desk.sh("scorebox publish word-f1.wasm HOST/signed/word-f1:0.1.0 --plain-http --sign team.key")
        .exits_with(0);
    desk.add("HOST/signed/word-f1:0.1.0 --as signed --yes").exits_with(0);
    let lock = desk.read("scorebox.lock");
    let digests: Vec<&str> = lock.lines().filter(|line| line.starts_with("component = ")).collect();
    let swapped = lock.replace(digests[0], "FIRST").replace(digests[1], digests[0]);
    desk.write("scorebox.lock", &swapped.replace("FIRST", digests[1]));
    let failed = audit(&desk, 3);
    let signatures: Vec<&String> =
        failed.iter().filter(|check| check.starts_with("signature failed")).collect();
    assert_eq!(signatures.len(), 2, "{failed:?}");
}

#[test]
fn grants_that_are_missing_or_not_needed_are_named_and_a_policy_is_held() {
    let Some(desk) = desk() else { return };
    let suite = desk.read("suite.toml");
    desk.write("suite.toml", &format!("{suite}grants = [\"wasi\"]\n"));
    assert_eq!(audit(&desk, 0), ["grants note: the suite grants wasi, which it does not need"]);
    desk.write("suite.toml", &format!("{suite}[policy]\nregistries = []\n"));
    let failed = audit(&desk, 3);
    assert!(failed[0].contains("policy failed: suite.toml:") && failed.len() == 1, "{failed:?}");
}

#[test]
fn a_scorer_that_repeats_what_it_reads_is_noted() {
    let Some(desk) = desk() else { return };
    desk.write(
        "echo.js",
        "export const info = { id: 'echo', version: '1.0.0', reads: ['input'] };\n\
         export default (input) => ({ score: 1, reason: JSON.stringify(input) });\n",
    );
    desk.sh("scorebox build echo.js -o echo.wasm && scorebox publish echo.wasm HOST/team/echo:1.0.0 --plain-http --sign team.key")
        .exits_with(0);
    desk.add("HOST/team/echo:1.0.0 --yes").exits_with(0);
    let noted = audit(&desk, 0);
    assert!(noted.contains(&"says note: it repeats what it reads: input".to_owned()), "{noted:?}");
}

#[test]
fn a_scorer_that_does_not_come_to_a_score_is_not_said_to_repeat_nothing() {
    let Some(desk) = desk() else { return };
    for (name, thrown, said) in [
        ("quiet", "'no tool call'", "says skipped: not scored: "),
        ("loud", "JSON.stringify(input)", "says note: it repeats what it reads: input"),
    ] {
        desk.write(
            &format!("{name}.js"),
            &format!(
                "export const info = {{ id: '{name}', version: '1.0.0', reads: ['input'] }};\n\
                 export default (input) => {{ throw new Error({thrown}); }};\n"
            ),
        );
        desk.sh(&format!(
            "scorebox build {name}.js -o {name}.wasm && scorebox publish {name}.wasm HOST/team/{name}:1.0.0 --plain-http"
        ))
        .exits_with(0);
        desk.add(&format!("HOST/team/{name}:1.0.0 --yes")).exits_with(0);
        let found = audit(&desk, 0);
        assert!(found.iter().any(|check| check.starts_with(said)), "{found:?}");
        desk.sh(&format!("scorebox remove {name}")).exits_with(0);
    }
}

#[test]
fn a_lock_that_git_gave_the_line_ends_of_windows_proves_the_same() {
    let Some(desk) = desk() else { return };
    desk.sh("sed -i 's/$/\\r/' scorebox.lock suite.toml").exits_with(0);
    assert_eq!(audit(&desk, 0), [""; 0]);
    desk.sh("scorebox fetch --offline").exits_with(0);
}
