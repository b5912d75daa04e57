//! Scorers that lie about themselves in `describe`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::hostile_fixture::{Arena, attacker_in_describe};

#[test]
fn an_id_is_a_short_word() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_describe("no-id", 0, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the component says no id
    [exit code 2]
    ");
    assert_snapshot!(arena.attack_describe("long-id", 1 << 20, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the component's id `longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglong… (cut)` is not made of 1 to 64 of a-z, 0-9 and -
    [exit code 2]
    ");
    assert_snapshot!(arena.attack_describe("id-for-a-terminal", 0, ""), @r"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the component's id `\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066}\r\u{8}\u{9b}31m\u{7f}\0\u{200f}` is not made of 1 to 64 of a-z, 0-9 and -
    [exit code 2]
    ");
}

#[test]
fn names_and_versions_are_short_and_harmless() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_describe("long-name", 1 << 20, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the component's name has 1048576 bytes; the most is 200
    [exit code 2]
    ");
    assert_snapshot!(arena.attack_describe("name-for-a-terminal", 0, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the component's name has control characters
    [exit code 2]
    ");
    assert_snapshot!(arena.attack_describe("name-from-right-to-left", 0, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the component's name has control characters
    [exit code 2]
    ");
    assert_snapshot!(arena.attack_describe("version-for-a-terminal", 0, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the component's version has control characters
    [exit code 2]
    ");
}

#[test]
fn descriptions_are_bounded_and_harmless() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_describe("long-description", 1 << 20, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the component's description has 1048576 bytes; the most is 65536
    [exit code 2]
    ");
    assert_snapshot!(arena.attack_describe("long-description", 50 << 20, ""), @r#"
    error: scorer `./attacker.wasm`: output-too-large: in `describe`: the scorer handed over more than 5603328 bytes, the most of one result with its log
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`
    [exit code 2]
    "#);
    assert_snapshot!(arena.attack_describe("description-for-a-terminal", 0, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the component's description has control characters
    [exit code 2]
    ");
}

#[test]
fn a_configuration_schema_is_bounded_json() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_describe("schema-that-is-no-json", 0, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the configuration schema is not JSON: EOF while parsing an object at line 1 column 1
    [exit code 2]
    ");
    assert_snapshot!(arena.attack_describe("long-schema", 2 << 20, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the configuration schema has 2097154 bytes; the most is 1048576
    [exit code 2]
    ");
    assert_snapshot!(arena.attack_describe("deep-schema", 100_000, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the configuration schema is not JSON: recursion limit exceeded at line 1 column 128
    [exit code 2]
    ");
}

#[test]
fn a_threshold_is_on_the_scale() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_describe("threshold-that-is-no-number", 0, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the threshold NaN is off the scale
    [exit code 2]
    ");
    assert_snapshot!(arena.attack_describe("infinite-threshold", 0, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the threshold inf is off the scale
    [exit code 2]
    ");
    assert_snapshot!(arena.attack_describe("negative-threshold", 0, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the threshold -1 is off the scale
    [exit code 2]
    ");
}

#[test]
fn who_is_another_with_every_call_is_always_the_first() {
    let arena = Arena::new();
    arena.write("changing.wasm", attacker_in_describe("another-self-every-time"));
    for cache in ["", "--no-cache", ""] {
        let output = arena.run(&format!("scorebox inspect ./changing.wasm --format json {cache}"));
        let json = output.exits_with(0).json();
        let described: Vec<&Value> =
            ["scorerId", "scorerName", "scale"].iter().map(|key| &json[key]).collect();
        assert_eq!(described, ["attacker-0", "Attacker 0", "unit"]);
    }
    let output =
        arena.run("scorebox score ./changing.wasm --config '{\"score\": \"1e308\"}' --output 1");
    assert_eq!(
        output.exits_with(1).json()["error"]["kind"],
        "invalid-score",
        "the scale is the first one's"
    );
}

#[test]
fn a_run_does_not_begin_with_a_scorer_that_cannot_be_described() {
    let arena = Arena::new();
    arena.write("liar.wasm", attacker_in_describe("no-id"));
    let command = "scorebox run -s exact-match -s liar=./liar.wasm cases.jsonl";
    assert_snapshot!(arena.run(command), @"
    [stderr]
    error: scorer `liar` (./liar.wasm): invalid-component: in `describe`: the component says no id
    [exit code 2]
    ");
}
