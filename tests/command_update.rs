//! `scorebox outdated` and `update` with a real registry: what they show about a newer version, what is refused until
//! the user agrees, and what a suite and its lock contain afterwards.

use std::fs;

use insta::assert_snapshot;
use scorebox::digest::Digest;

use crate::{
    fixture::Output,
    scorer_desk::{Desk, SUITE},
};

const TEAM: &str = include_str!("signing-keys/team.key");
const OTHER: &str = include_str!("signing-keys/other.key");

/// A version of a script that scores 1 if the answer has at most `max` words.
struct Version<'v> {
    version: &'v str,
    max: u32,
    reads: &'v str,
    /// The severity of its scores.
    counts: &'v str,
    /// Further keys of its configuration.
    keys: &'v str,
    /// Options of `publish`.
    options: &'v str,
}

const FIRST: Version<'_> = Version {
    version: "1.2.0",
    max: 10,
    reads: "",
    counts: "severity: 'soft'",
    keys: "",
    options: "--sign team.key",
};

/// A desk with a suite that uses version 1.2.0 of `brief`, signed by the team, and a stored run of twelve cases with 1
/// to 12 words.
fn desk() -> Option<Desk> {
    let desk = Desk::new()?;
    desk.write("team.key", TEAM);
    desk.write("other.key", OTHER);
    let cases = (1..=12).map(|words| {
        let output = vec!["word"; words].join(" ");
        format!("{{\"id\": \"c{words}\", \"output\": \"{output}\"}}\n")
    });
    desk.write("cases.jsonl", &cases.collect::<String>());
    publish(&desk, &FIRST);
    desk.add("HOST/team/brief:1 --yes").exits_with(0);
    desk.sh("scorebox run suite.toml cases.jsonl -q --run-id before").exits_with(1);
    Some(desk)
}

fn publish(desk: &Desk, version: &Version<'_>) {
    let Version { version, max, reads, counts, keys, options } = version;
    desk.write(
        "brief.js",
        &format!(
            "export const info = {{ id: 'brief', version: '{version}', reads: [{reads}], {counts}, configSchema: {{ type: 'object', \
             properties: {{ max: {{ type: 'integer', default: {max}, description: 'The most words.' }}{keys} }} }} }};\n\
             export default (input, config) => ({{ score: input.output.split(' ').length <= config.max ? 1 : 0 }});\n"
        ),
    );
    let publish = "scorebox publish brief.wasm HOST/team/brief";
    desk.sh(&format!(
        "scorebox build brief.js -o brief.wasm && {publish}:{version} --plain-http {options}"
    ))
    .exits_with(0);
}

fn update(desk: &Desk, options: &str) -> Output {
    desk.sh(&format!("scorebox update --plain-http {options}"))
}

/// The text without what another compiler changes.
fn without_costs(text: &str) -> String {
    let lines = text.lines().map(|line| match line.starts_with("size ") {
        true => "size          [size]",
        false => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Checks that the suite and the lock are as before.
fn nothing_changes(desk: &Desk, work: impl FnOnce() -> Output) -> Output {
    let before = (desk.read("suite.toml"), desk.read("scorebox.lock"));
    let output = work();
    assert_eq!((desk.read("suite.toml"), desk.read("scorebox.lock")), before);
    output
}

#[test]
fn newer_versions_are_listed_compatible_or_not() {
    let Some(desk) = desk() else { return };
    let outdated = |options: &str| desk.sh(&format!("scorebox outdated --plain-http {options}"));
    assert_snapshot!(outdated("").exits_with(0), @"
    [stderr]
    all published scorers are up to date
    [exit code 0]
    ");
    assert_snapshot!(outdated("--all").exits_with(0).stdout, @"
    scorer  version  compatible  newest  published at
    brief   1.2.0    -           -       HOST/team/brief
    ");
    for version in ["1.2.1", "1.3.0", "2.0.0"] {
        publish(&desk, &Version { version, ..FIRST });
    }
    assert_snapshot!(outdated("").exits_with(0), @"
    scorer  version  compatible  newest  published at
    brief   1.2.0    1.3.0       2.0.0   HOST/team/brief
    [exit code 0]
    ");
    let listed = outdated("--format json").exits_with(0).json();
    assert_eq!(listed[0]["scorerId"], "brief");
    assert_eq!(listed[0]["compatible"], "1.3.0");
    desk.write("other.toml", "[scorers.exact-match]\n");
    assert_snapshot!(outdated("other.toml").exits_with(0), @"
    [stderr]
    the suite uses no published scorers
    [exit code 0]
    ");
}

#[test]
fn what_an_update_changes_is_shown_with_the_scores_that_would_be_others() {
    let Some(desk) = desk() else { return };
    publish(
        &desk,
        &Version { version: "1.3.0", max: 8, keys: ", unit: { type: 'string' }", ..FIRST },
    );
    let shown = nothing_changes(&desk, || update(&desk, "--dry-run").exits_with(0));
    assert_snapshot!(without_costs(&shown.stdout), @"
    scorer        brief: HOST/team/brief 1.2.0 → 1.3.0
    component     sha256:[digest]
                  → sha256:[digest]
    size          [size]
    scale         0 to 1, higher-is-better (as before)
    severity      soft (as before)
    reads         output (as before)
    needs         nothing (as before)
    imports       as before
    configuration - max: whole number (default 10): The most words.
                  + max: whole number (default 8): The most words.
                  + unit: text
    example       it has no example, so its score could not be checked
    signed by     RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI (as before)
    scores        12 of 12 scores of run before computed again: 2 change
                  c9: 1.0000 → 0.0000
                  c10: 1.0000 → 0.0000
    ");
    let updated = update(&desk, "brief --yes").exits_with(0);
    assert_snapshot!(updated.stderr, @"Updated `brief` in suite.toml to 1.3.0.");
    assert!(desk.read("suite.toml").starts_with(SUITE), "comments and order stay");
    assert!(desk.read("suite.toml").contains("use = \"oci://HOST/team/brief:1.3.0\""));
    let lock = desk.read("scorebox.lock");
    assert!(lock.contains("brief:1.3.0") && !lock.contains("brief:1.2.0"), "{lock}");
    // The scores are also those that were shown.
    desk.sh("scorebox run suite.toml cases.jsonl -q --run-id after --locked --offline")
        .exits_with(1);
    let changed = desk.folder.rows(
        "SELECT one.case_id FROM scores one JOIN scores other USING (case_id, scorer_id) \
         WHERE one.run_id = 'before' AND other.run_id = 'after' AND one.score IS NOT other.score ORDER BY one.case_id",
    );
    assert_eq!(changed, ["c10", "c9"]);
    assert_snapshot!(update(&desk, "").exits_with(0), @"
    [stderr]
    `brief` has the newest version, 1.3.0
    [exit code 0]
    ");
}

#[test]
fn an_update_never_widens_unless_it_is_said_by_name() {
    let Some(desk) = desk() else { return };
    publish(&desk, &Version { version: "1.3.0", reads: "'input', 'groundTruth'", ..FIRST });
    let refused = nothing_changes(&desk, || update(&desk, "--yes").exits_with(2));
    assert_snapshot!(refused.stderr, @"
    error: `brief`: 1.3.0 reads `groundTruth` of a case as well, and reads `input` of a case as well
    hint: if you want that: scorebox update brief --read groundTruth --read input --plain-http
    ");
    desk.sh("cp suite.toml other.toml").exits_with(0);
    let other = update(&desk, "brief --yes --suite other.toml --to 1.3").exits_with(2);
    let hint = "scorebox update brief --read groundTruth --read input --to 1.3 --suite other.toml --plain-http\n";
    assert!(other.stderr.ends_with(hint), "{other}");
    let partly = nothing_changes(&desk, || update(&desk, "brief --yes --read input").exits_with(2));
    assert!(
        partly.stderr.contains("`groundTruth`") && !partly.stderr.contains("`input`"),
        "{partly}"
    );
    update(&desk, "brief --yes --read input --read groundTruth").exits_with(0);
    assert!(desk.read("scorebox.lock").contains("reads = [\"groundTruth\", \"input\"]"));
}

#[test]
fn a_version_that_lets_more_pass_is_refused_unless_that_is_said() {
    let Some(desk) = desk() else { return };
    let gate = "severity: 'gate', threshold: 0.8";
    publish(&desk, &Version { version: "1.3.0", counts: gate, ..FIRST });
    let stricter = update(&desk, "--yes").exits_with(0);
    assert!(stricter.stdout.contains("severity      soft → gate, threshold 0.8\n"), "{stricter}");
    let laxer = |version: &str, counts: &str| {
        publish(&desk, &Version { version, counts, ..FIRST });
        nothing_changes(&desk, || update(&desk, "--yes").exits_with(2))
    };
    let soft = laxer("1.4.0", "severity: 'soft', threshold: 0.5");
    let counts = "scale         0 to 1, higher-is-better (as before)\n\
                  severity      gate, threshold 0.8 → soft, threshold 0.5\n";
    assert!(soft.stdout.contains(counts), "{soft}");
    assert_snapshot!(soft.stderr, @"
    error: `brief`: 1.4.0 counts otherwise in verdicts: threshold 0.8 → 0.5; severity gate → soft
    hint: if you want that: scorebox update brief --verdict --plain-http
    ");
    let turned = laxer("1.5.0", &format!("{gate}, direction: 'lower-is-better'"));
    assert_snapshot!(turned.stderr, @"
    error: `brief`: 1.5.0 counts otherwise in verdicts: scale 0 to 1, higher-is-better → 0 to 1, lower-is-better
    hint: if you want that: scorebox update brief --verdict --plain-http
    ");
    update(&desk, "brief --to 1.4.0 --verdict --yes").exits_with(0);
    assert!(desk.read("suite.toml").contains("brief:1.4.0"));
}

#[test]
fn what_the_suite_says_about_how_scores_count_no_version_changes() {
    let Some(desk) = desk() else { return };
    publish(&desk, &Version { version: "1.3.0", counts: "severity: 'gate'", ..FIRST });
    update(&desk, "--yes").exits_with(0);
    desk.sh("echo 'severity = \"gate\"\nthreshold = 1.0' >> suite.toml").exits_with(0);
    publish(&desk, &Version { version: "1.4.0", ..FIRST });
    let taken = update(&desk, "--yes").exits_with(0);
    let counts =
        "severity      gate → soft\n              without effect here: the suite says it itself\n";
    assert!(taken.stdout.contains(counts), "{taken}");
    assert!(desk.read("suite.toml").contains("brief:1.4.0"));
}

#[test]
fn nobody_knows_whether_a_version_lets_more_pass_than_one_that_is_gone() {
    let Some(desk) = desk() else { return };
    publish(&desk, &Version { version: "1.3.0", ..FIRST });
    let lock = desk.read("scorebox.lock");
    let (_, digest) = lock.split_once("component = \"sha256:").unwrap();
    fs::remove_file(desk.registry.blob_file(&digest[..64])).unwrap();
    desk.sh("rm -r data/components").exits_with(0);
    let refused = nothing_changes(&desk, || update(&desk, "--yes").exits_with(2));
    assert_snapshot!(refused.stderr, @"
    error: `brief`: 1.3.0 may count otherwise in verdicts: there is no locked component to compare it with
    hint: if you want that: scorebox update brief --verdict --plain-http
    ");
    update(&desk, "brief --verdict --yes").exits_with(0);
}

#[test]
fn what_a_publisher_says_otherwise_is_shown() {
    let Some(desk) = desk() else { return };
    let options = "--sign team.key --license MIT --source https://git.example.com/brief";
    publish(&desk, &Version { version: "1.3.0", options, ..FIRST });
    let shown = update(&desk, "--yes").exits_with(0).stdout;
    let said = "licence       not said\n              → MIT\n\
                source        not said\n              → https://git.example.com/brief\n";
    assert!(shown.contains(said), "{shown}");
    let options = options.replace("MIT", "BUSL-1.1");
    publish(&desk, &Version { version: "1.4.0", options: &options, ..FIRST });
    let shown = update(&desk, "--yes").exits_with(0).stdout;
    let said = "licence       MIT\n              → BUSL-1.1\n\
                source        https://git.example.com/brief (as before)\n";
    assert!(shown.contains(said), "{shown}");
}

#[test]
fn another_signer_or_none_is_refused_unless_it_is_said_by_name() {
    let Some(desk) = desk() else { return };
    publish(&desk, &Version { version: "1.3.0", options: "", ..FIRST });
    let unsigned = nothing_changes(&desk, || update(&desk, "--yes").exits_with(2));
    assert!(unsigned.stderr.contains("error: `brief`: 1.3.0 is no longer signed"), "{unsigned}");
    assert!(unsigned.stderr.contains("scorebox update brief --unsigned"), "{unsigned}");
    publish(&desk, &Version { version: "1.4.0", options: "--sign other.key", ..FIRST });
    let other = nothing_changes(&desk, || update(&desk, "--yes").exits_with(2));
    assert!(other.stderr.contains("1.4.0 is signed by another key, RW"), "{other}");
    let hint = other.stderr.lines().find(|line| line.starts_with("hint:")).unwrap();
    let (_, command) = hint.split_once("if you want that: ").unwrap();
    desk.sh(&format!("{command} --yes")).exits_with(0);
    assert!(desk.read("suite.toml").contains("brief:1.4.0"));
    // A scorer that is unsigned now may be signed later, which widens nothing.
    update(&desk, "brief --to 1.3.0 --unsigned --yes").exits_with(0);
    update(&desk, "--yes").exits_with(0);
    assert!(desk.read("suite.toml").contains("brief:1.4.0"));
}

#[test]
fn a_grant_that_a_version_needs_as_well_is_given_by_name_and_written() {
    let Some(desk) = desk() else { return };
    desk.write(
        "brief.js",
        "import { ask } from 'scorebox:judge';\nexport const info = { id: 'brief', version: '1.3.0', reads: [], severity: 'soft' };\n\
         export default () => ({ score: 1, reason: String(ask) });\n",
    );
    desk.sh("scorebox build brief.js -o brief.wasm && scorebox publish brief.wasm HOST/team/brief:1.3.0 --plain-http --sign team.key")
        .exits_with(0);
    let refused = nothing_changes(&desk, || update(&desk, "--yes").exits_with(2));
    assert!(refused.stderr.contains("1.3.0 needs the grant judge as well"), "{refused}");
    assert!(refused.stdout.contains("needs         nothing → the grant judge"), "{refused}");
    assert!(refused.stdout.contains("+ scorebox:scorer/judge@0.1.0"), "{refused}");
    update(&desk, "brief --yes --grant judge").exits_with(0);
    assert!(
        desk.read("suite.toml").contains("grants = [\"judge\"]"),
        "{}",
        desk.read("suite.toml")
    );
    assert!(desk.read("scorebox.lock").contains("grants = [\"judge\"]"));
}

#[test]
fn a_version_that_is_not_compatible_or_older_is_taken_only_if_it_is_named() {
    let Some(desk) = desk() else { return };
    publish(&desk, &Version { version: "2.0.0", ..FIRST });
    publish(&desk, &Version { version: "1.1.0", ..FIRST });
    let said = nothing_changes(&desk, || update(&desk, "--yes").exits_with(0));
    assert_snapshot!(said.stderr, @"`brief` has the newest version that is compatible, 1.2.0; 2.0.0 is out: scorebox update brief --to 2.0.0 --plain-http");
    let added = nothing_changes(&desk, || desk.add("HOST/team/brief:2.0.0 --yes").exits_with(2));
    assert_snapshot!(added.stderr, @"
    error: there is another version of the scorer `brief` in suite.toml already
    hint: see what differs, and take it: `scorebox update brief --to 2.0.0 --plain-http`
    ");
    update(&desk, "brief --to 2 --yes").exits_with(0);
    assert!(desk.read("suite.toml").contains("brief:2.0.0"));
    update(&desk, "brief --to 1.1.0 --yes").exits_with(0);
    assert!(desk.read("suite.toml").contains("brief:1.1.0"));
    let missing = nothing_changes(&desk, || update(&desk, "brief --to 7 --yes").exits_with(2));
    assert!(missing.stderr.contains("it has no `team/brief:7`"), "{missing}");
}

#[test]
fn who_has_a_pre_release_is_told_of_newer_ones_and_others_take_none_unasked() {
    let Some(desk) = desk() else { return };
    for version in ["2.0.0-rc.1", "2.0.0-rc.2"] {
        publish(&desk, &Version { version, ..FIRST });
    }
    let unasked = update(&desk, "--yes").exits_with(0);
    assert_eq!(unasked.stderr, "`brief` has the newest version, 1.2.0\n");
    assert_snapshot!(update(&desk, "brief --to 2 --yes").exits_with(2).stderr, @"
    error: `brief`: cannot fetch from HOST: it has no release of `team/brief:2`, only 2.0.0-rc.2, 2.0.0-rc.1
    hint: they are pre-releases, which are taken only by their whole version, such as 2.0.0-rc.2
    ");
    let added = desk.add("HOST/team/brief:2.0 --as other --yes").exits_with(2);
    assert!(added.stderr.contains("it has no release of `team/brief:2.0`, only"), "{added}");
    update(&desk, "brief --to 2.0.0-rc.1 --yes").exits_with(0);
    assert_snapshot!(desk.sh("scorebox outdated --plain-http").exits_with(0).stdout, @"
    scorer  version     compatible  newest      published at
    brief   2.0.0-rc.1  2.0.0-rc.2  2.0.0-rc.2  HOST/team/brief
    ");
    update(&desk, "--yes").exits_with(0);
    assert!(desk.read("suite.toml").contains("brief:2.0.0-rc.2"));
}

#[test]
fn what_cannot_be_updated_is_named_and_nothing_is_asked_without_a_terminal() {
    let Some(desk) = desk() else { return };
    publish(&desk, &Version { version: "1.3.0", ..FIRST });
    let refused = |options: &str| {
        let output = nothing_changes(&desk, || update(&desk, options).exits_with(2));
        output.stderr.lines().filter(|line| line.starts_with("error")).collect::<String>()
    };
    assert_snapshot!(refused("exact-match"), @"error: `exact-match` is not a published scorer of suite.toml");
    assert_snapshot!(refused("gone"), @"error: `gone` is not a published scorer of suite.toml");
    assert_snapshot!(refused(""), @"error: `brief`: cannot ask whether to update it: this is not a terminal");
    assert_snapshot!(refused("--to 2.0.0"), @"error: the following required arguments were not provided:");
    assert_snapshot!(refused("brief --read bogus"), @"error: invalid value 'bogus' for '--read <PART>'");
    assert_snapshot!(refused("--suite gone.toml"), @"error: there is no suite `gone.toml`");
}

#[test]
fn without_a_run_of_the_locked_component_no_scores_are_compared() {
    let Some(desk) = desk() else { return };
    publish(&desk, &Version { version: "1.3.0", max: 8, ..FIRST });
    let scores = |options: &str| {
        let shown = update(&desk, &format!("--dry-run {options}")).exits_with(0).stdout;
        shown.lines().find(|line| line.starts_with("scores ")).unwrap().to_owned()
    };
    assert_snapshot!(scores("--sample 3"), @"scores        3 of 12 scores of run before computed again: none changes");
    assert_snapshot!(scores("--sample 0"), @"scores        not computed again: there is no database");
    desk.sh("scorebox run cases.jsonl -q --scorer exact-match --db other.db").exits_with(1);
    assert_snapshot!(scores("--db other.db"), @"scores        not computed again: other.db has no run with the locked component");
}

#[test]
fn a_lock_of_version_1_gets_its_signatures_and_loses_what_nobody_uses() {
    let Some(desk) = desk() else { return };
    desk.add("HOST/team/word-f1:0.1.0 --as gone --yes").exits_with(0);
    desk.sh("scorebox remove gone").exits_with(0);
    let now = desk.read("scorebox.lock");
    let (head, signature) = now.split_once("signature = ").unwrap();
    assert!(signature.trim_end().ends_with("\"\"\""));
    let leftover =
        head[head.find("[scorer.").unwrap()..].replace("team/brief:1.2.0", "team/gone:1.0.0");
    let old = format!("{}\n{leftover}", head.replace("version = 2", "version = 1"));
    desk.write("scorebox.lock", &old);
    desk.sh("scorebox run suite.toml cases.jsonl -q").exits_with(1);
    let refused = desk.sh("scorebox run suite.toml cases.jsonl -q --locked").exits_with(2);
    assert!(refused.stderr.contains("was written by an older scorebox"), "{refused}");
    assert_snapshot!(update(&desk, "").exits_with(0).stderr, @"
    `brief` has the newest version, 1.2.0
    Wrote the signature of `brief` into scorebox.lock.
    Left `HOST/team/gone:1.0.0` out of scorebox.lock: no suite uses it.
    ");
    assert_eq!(desk.read("scorebox.lock"), now);
    desk.sh("scorebox run suite.toml cases.jsonl -q --locked").exits_with(1);
}

#[test]
fn another_component_under_the_same_version_is_not_signed_for_by_an_update() {
    let Some(desk) = desk() else { return };
    let lock = desk.read("scorebox.lock");
    let (head, _) = lock.split_once("signature = ").unwrap();
    let digest = head.lines().find(|line| line.starts_with("component = ")).unwrap();
    let other = format!("component = \"sha256:{}\"", Digest::of(b"other"));
    desk.write(
        "scorebox.lock",
        &head.replace("version = 2", "version = 1").replace(digest, &other),
    );
    let refused = nothing_changes(&desk, || update(&desk, "brief").exits_with(2));
    assert!(refused.stderr.contains("is locked to another component"), "{refused}");
}

#[test]
fn a_version_that_another_suite_beside_it_has_locked_is_not_locked_to_something_else() {
    let Some(desk) = desk() else { return };
    publish(&desk, &Version { version: "1.3.0", ..FIRST });
    desk.write("other.toml", "");
    desk.add("HOST/team/brief:1.3.0 --suite other.toml --yes").exits_with(0);
    let evil = "sed 's/? 1 : 0/? 0 : 1/' brief.js > evil.js && scorebox build evil.js -o evil.wasm && \
                scorebox publish evil.wasm HOST/evil/brief:1.3.0 --plain-http --sign team.key";
    desk.sh(evil).exits_with(0);
    desk.registry.move_tag("team/brief", "1.3.0", "evil/brief");
    for options in ["--yes", "--dry-run"] {
        let refused = nothing_changes(&desk, || update(&desk, options).exits_with(2));
        assert_eq!(refused.stdout, "", "nothing is shown that could be agreed to");
        insta::allow_duplicates! { assert_snapshot!(refused.stderr, @"
        error: `brief`: `HOST/team/brief:1.3.0` is locked to another component in scorebox.lock: what is published under this version has changed, or the lock was
        hint: a version that changes is a reason to ask its publisher; nothing was changed
        ") };
    }
}

#[test]
fn a_version_that_does_not_take_the_configuration_of_its_entry_is_refused() {
    let Some(desk) = desk() else { return };
    let keys = ", unit: { type: 'string' } }, required: ['unit'], $defs: {";
    publish(&desk, &Version { version: "1.3.0", keys, ..FIRST });
    let refused = nothing_changes(&desk, || update(&desk, "--yes").exits_with(2));
    let scores = refused.stdout.lines().find(|line| line.starts_with("scores ")).unwrap();
    assert_snapshot!(scores, @"scores        0 of 12 scores of run before computed again");
    assert_snapshot!(refused.stderr, @r#"
    error: `brief`: 1.3.0 does not load with what `brief` has in the suite: invalid-config: `unit` is required
    hint: nothing was changed; write `use = "oci://HOST/team/brief:1.3.0"` and its `config` by hand, and lock it: scorebox add HOST/team/brief:1.3.0 --as brief --plain-http
    "#);
    desk.sh("echo 'config = { unit = \"words\" }' >> suite.toml").exits_with(0);
    // The suite is no longer valid for 1.2.0, and its user changed it.
    update(&desk, "--yes").exits_with(0);
    desk.sh("scorebox run suite.toml cases.jsonl -q --locked").exits_with(1);
}

#[test]
fn what_is_not_known_is_said_of_each_scorer_behind_what_is_known() {
    let Some(desk) = desk() else { return };
    publish(&desk, &Version { version: "1.3.0", ..FIRST });
    desk.write(
        "brief.js",
        "export const info = { id: 'old', version: '2024-01' };\nexport default () => 1;\n",
    );
    let published = desk.sh(
        "scorebox build brief.js -o old.wasm && scorebox publish old.wasm HOST/team/old:2024-01 --plain-http",
    );
    let warning = "warning: 2024-01 is not a version such as 1.2.0: `scorebox outdated` and `update` cannot compare it with others";
    assert!(published.stderr.contains(warning), "{published}");
    desk.add("HOST/team/old:2024-01 --yes").exits_with(0);
    let suite = desk.read("suite.toml");
    let gone = "[scorers.gone]\nuse = \"oci://HOST/team/gone:1.0.0\"\n\
                [scorers.lost]\nuse = \"oci://HOST/team/brief:1.9.0\"\n";
    desk.write("suite.toml", &format!("{suite}{gone}"));
    assert_snapshot!(desk.sh("scorebox outdated --plain-http").exits_with(2), @"
    scorer  version  compatible  newest  published at
    brief   1.2.0    1.3.0       1.3.0   HOST/team/brief
    [stderr]
    error: `old`: its version 2024-01 cannot be compared: it is not one such as 1.2.0
    hint: name the version to update to: scorebox update NAME --to VERSION
    error: `gone`: cannot fetch from HOST: it has no `team/gone:1.0.0`
    hint: check the name and the version
    error: `lost`: 1.9.0 is no longer published at HOST/team/brief
    hint: versions there: 1.3.0, 1.2.0; take one: scorebox update NAME --to VERSION --plain-http
    [exit code 2]
    ");
    desk.write("suite.toml", &suite);
    let refused = nothing_changes(&desk, || update(&desk, "old").exits_with(2));
    assert!(refused.stderr.contains("its version 2024-01 cannot be compared"), "{refused}");
}

#[test]
fn a_scorer_is_updated_once_and_to_the_version_that_it_has_not_at_all() {
    let Some(desk) = desk() else { return };
    let same = nothing_changes(&desk, || update(&desk, "brief --to 1.2.0").exits_with(0));
    assert_eq!(same.stderr, "`brief` has the version 1.2.0 already\n");
    publish(&desk, &Version { version: "1.3.0", ..FIRST });
    let updated = update(&desk, "brief brief --yes").exits_with(0);
    assert_eq!(updated.stderr, "Updated `brief` in suite.toml to 1.3.0.\n");
}

#[test]
fn an_address_stays_locked_to_its_signer() {
    let Some(desk) = desk() else { return };
    let add = |options: &str| desk.add(&format!("HOST/team/brief:1.2.0 --yes {options}"));
    for (name, options, now) in
        [("none", "", "not signed"), ("other", "--sign other.key", "signed by RW")]
    {
        let publish = format!("scorebox publish brief.wasm HOST/{name}/brief:1.2.0 --plain-http");
        desk.sh(&format!("{publish} {options}")).exits_with(0);
        desk.registry.move_tag("team/brief", "1.2.0", &format!("{name}/brief"));
        // A second entry uses the same table of the lock.
        for entry in ["brief", "second"] {
            let refused = nothing_changes(&desk, || add(&format!("--as {entry}")).exits_with(2));
            let what = format!("in scorebox.lock, and now it is {now}");
            assert!(
                refused.stderr.contains(&what) && refused.stderr.contains("nothing was changed"),
                "{refused}"
            );
        }
    }
    let refused = add("").exits_with(2).stderr;
    let named = refused.split_once("--signer ").unwrap().1.split(';').next().unwrap();
    add(&format!("--signer {named}")).exits_with(0);
    assert!(desk.read("scorebox.lock").contains(named));
}
