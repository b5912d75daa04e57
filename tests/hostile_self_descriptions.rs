//! Scorers whose description in `describe` is false.

use insta::assert_snapshot;
use serde_json::{Map, Value, json};

use crate::{
    hostile_fixture::{Arena, attacker_in_describe, words},
    hostile_modules::Module,
};

/// A scorer whose configuration has this schema.
fn with_schema(schema: &str) -> Vec<u8> {
    let (text, length) = (schema.replace('"', "\\22"), schema.len());
    Module {
        memory: "(memory (export \"memory\") 32)",
        describe: &format!(
            "(i32.store8 (i32.const 2080) (i32.const 1))
             (i32.store (i32.const 2084) (i32.const 131072))
             (i32.store (i32.const 2088) (i32.const {length}))
             (i32.const 2048)"
        ),
        more: &format!("(data (i32.const 131072) \"{text}\")"),
        ..Module::default()
    }
    .component()
}

/// Definitions, each of which refers to the next.
fn chain() -> Value {
    let link = |at: usize| (at.to_string(), json!({"$ref": format!("#/$defs/{}", at + 1)}));
    let definitions: Map<String, Value> = (0..25_000).map(link).collect();
    json!({"type": "object", "$ref": "#/$defs/0", "$defs": definitions})
}

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
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`; the limit of a label is fixed
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
fn a_schema_that_is_put_together_without_end_is_refused() {
    let arena = Arena::new();
    let script = format!(
        "export const info = {{id: 'chain', configSchema: {}}}; export default () => 1;",
        chain()
    );
    arena.write("chain.js", script);
    assert_snapshot!(words(&arena.run("scorebox score ./chain.js --output 1")), @"
    error: scorer `./chain.js`: invalid-script: the configuration schema: it is put together from more than 4000 schemas
    [exit code 2]
    ");
    arena.write("chain.wasm", with_schema(&chain().to_string()));
    assert_snapshot!(words(&arena.run("scorebox inspect ./chain.wasm")), @"
    error: scorer `./chain.wasm`: invalid-component: the configuration schema: it is put together from more than 4000 schemas
    [exit code 2]
    ");
    let parts = json!({"anyOf": vec![json!({}); 340_000]}).to_string();
    arena.write("parts.wasm", with_schema(&parts));
    assert_snapshot!(words(&arena.run("scorebox score ./parts.wasm --output 1")), @"
    error: scorer `./parts.wasm`: invalid-component: the configuration schema: it is put together from more than 4000 schemas
    [exit code 2]
    ");
}

#[test]
fn a_large_schema_is_shown_in_part() {
    let arena = Arena::new();
    let choice = |at: usize| json!({"const": at, "description": "x".repeat(100)});
    let choices: Vec<Value> = (0..4500).map(choice).collect();
    let property = |at: usize| (format!("k{at}"), json!({"$ref": "#/$defs/Choices"}));
    let properties: Map<String, Value> = (0..500).map(property).collect();
    let defaults = json!({"default": "y".repeat(300_000), "$ref": "#"});
    let schema = json!({
        "properties": properties, "$defs": {"Choices": {"oneOf": choices}, "Whole": defaults},
    });
    arena.write("large.wasm", with_schema(&schema.to_string()));
    let shown = arena.run("scorebox inspect ./large.wasm").exits_with(0).stdout;
    assert!(shown.len() < 200_000, "{}", shown.len());
    assert!(shown.contains("all of it with --format json"), "{shown}");
    let whole = arena.run("scorebox inspect ./large.wasm --format json").exits_with(0).json();
    assert_eq!(whole["configSchema"], schema);
    arena.run("scorebox card ./large.wasm -o card.html").exits_with(0);
    let page = std::fs::metadata(arena.path("card.html")).unwrap().len();
    assert!(page < 5 << 20, "{page}");
}

#[test]
fn a_threshold_is_on_the_scale() {
    let arena = Arena::new();
    assert_snapshot!(arena.attack_describe("threshold-that-is-no-number", 0, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the threshold NaN is off the scale: it must be 0 to 1, unless the scorer's scale is `points`
    [exit code 2]
    ");
    assert_snapshot!(arena.attack_describe("infinite-threshold", 0, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the threshold inf is off the scale: it must be 0 to 1, unless the scorer's scale is `points`
    [exit code 2]
    ");
    assert_snapshot!(arena.attack_describe("negative-threshold", 0, ""), @"
    error: scorer `./attacker.wasm`: invalid-component: in `describe`: the threshold -1 is off the scale: it must be 0 to 1, unless the scorer's scale is `points`
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
