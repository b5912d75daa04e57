//! Scorers that import what they were not granted, and what those that were granted an empty WASI find
//! there.

use insta::assert_snapshot;

use crate::hostile_fixture::{Arena, words};

/// What the user reads where a component imports `name`, without a grant and with one.
#[track_caller]
fn import(name: &str) -> String {
    let arena = Arena::new();
    let text = format!(
        r#"(component (import "{name}" (instance))
            (instance $i) (export "scorebox:scorer/scoring@0.1.0" (instance $i)))"#
    );
    arena.write("importer.wasm", wat::parse_str(text).unwrap());
    let without = arena.run("scorebox score ./importer.wasm --output 1");
    let with = arena.run("scorebox score ./importer.wasm --output 1 --grant wasi");
    format!("{}\n-- with --grant wasi\n{}", words(&without), words(&with))
}

#[test]
fn files_sockets_environment_and_exit_have_to_be_granted() {
    assert_snapshot!(import("wasi:filesystem/preopens@0.2.0"), @"");
    assert_snapshot!(import("wasi:sockets/tcp@0.2.0"), @"");
    assert_snapshot!(import("wasi:cli/environment@0.2.0"), @"");
    assert_snapshot!(import("wasi:cli/exit@0.2.0"), @"");
}

#[test]
fn what_nobody_can_grant_is_named() {
    assert_snapshot!(import("wasi:http/outgoing-handler@0.2.0"), @"");
    assert_snapshot!(import("evil:spy/everything@1.0.0"), @"");
    assert_snapshot!(import("unlocked-dep=<wasi:filesystem>"), @"");
}

#[test]
fn judges_embedders_and_workspaces_cannot_be_called_in_a_loop_nor_at_all() {
    assert_snapshot!(import("scorebox:scorer/judge@0.1.0"), @"");
    assert_snapshot!(import("scorebox:scorer/embedder@0.1.0"), @"");
    assert_snapshot!(import("scorebox:scorer/workspace@0.1.0"), @"");
}

#[test]
fn what_an_interface_of_the_contract_does_not_have_cannot_be_imported_through_it() {
    let arena = Arena::new();
    let text = r#"(component
        (import "scorebox:scorer/log@0.1.0" (instance (export "read-file" (func))))
        (instance $i) (export "scorebox:scorer/scoring@0.1.0" (instance $i)))"#;
    arena.write("importer.wasm", wat::parse_str(text).unwrap());
    assert_snapshot!(words(&arena.run("scorebox score ./importer.wasm --output 1")), @"");
}

#[test]
fn without_the_grant_the_attacker_is_not_even_loaded() {
    let arena = Arena::new();
    assert_snapshot!(words(&arena.score("wasi-attacker", "{}", "")), @"");
    let output = arena.run("scorebox run -s exact-match -s ./wasi-attacker.wasm cases.jsonl");
    assert_snapshot!(words(&output), @"");
}

/// What the user reads of an attack through WASI; a good scorer beside it is none the worse.
#[track_caller]
fn attack(deed: &str, amount: u64, options: &str) -> String {
    let arena = Arena::new();
    let config = format!(r#"{{"then": "{deed}", "amount": {amount}}}"#);
    let options = format!("--grant wasi {options}");
    let alone = arena.score("wasi-attacker", &config, &options);
    arena.run_beside_a_good_scorer("wasi-attacker", &config, &options);
    words(&alone)
}

/// The reason of the score that an attack through WASI ends with.
#[track_caller]
fn reason(deed: &str, amount: u64) -> String {
    let arena = Arena::new();
    let config = format!(r#"{{"then": "{deed}", "amount": {amount}}}"#);
    let output = arena.score("wasi-attacker", &config, "--grant wasi").exits_with(0);
    output.json()["reason"].as_str().unwrap().to_owned()
}

#[test]
fn there_is_nothing_in_the_wasi_that_is_granted() {
    assert_snapshot!(reason("look-around", 0), @"");
}

#[test]
fn the_environment_of_the_command_is_not_the_scorers() {
    let arena = Arena::new();
    let command = "env SECRET=hush scorebox score ./wasi-attacker.wasm --grant wasi --output 1 \
                   --config '{\"then\": \"look-around\"}'";
    let output = arena.run(command).exits_with(0);
    assert!(!output.stdout.contains("hush") && !output.stdout.contains("SECRET"), "{output}");
}

#[test]
fn an_exit_ends_the_score_and_not_the_process() {
    assert_snapshot!(attack("exit-well", 0, ""), @"");
    assert_snapshot!(attack("exit-badly", 0, ""), @"");
}

#[test]
fn sleeping_in_a_host_call_is_ended_by_the_clock() {
    assert_snapshot!(attack("sleep", 0, "--timeout 200ms"), @"");
    assert_snapshot!(attack("sleep-in-steps", 0, "--timeout 200ms"), @"");
}

#[test]
fn waiting_for_a_clock_that_stands_still_is_ended_by_the_clock() {
    assert_snapshot!(attack("wait-for-the-clock", 0, "--timeout 200ms"), @"");
}

#[test]
fn handles_are_counted() {
    assert_snapshot!(attack("open-handles", 100_000, ""), @"");
    assert_snapshot!(attack("poll-nothing", 0, ""), @"");
    assert_snapshot!(attack("poll-one-many-times", 100_000, ""), @"");
    assert_snapshot!(attack("poll-one-many-times", 2_000_000, ""), @"");
}

#[test]
fn printing_goes_to_the_log_and_ends_there() {
    assert_snapshot!(attack("print-without-end", 0, "--timeout 200ms"), @"");
    assert_snapshot!(attack("print-for-a-terminal", 0, ""), @"");
    assert_snapshot!(attack("print-one-long-text", 1 << 20, ""), @"");
    assert_snapshot!(attack("print-one-long-text", 30 << 20, ""), @"");
    assert_snapshot!(attack("write-zeroes", 1 << 62, ""), @"");
}

#[test]
fn reading_gives_nothing() {
    assert_snapshot!(reason("read-input", 1 << 62), @"");
}

#[test]
fn random_bytes_are_bounded() {
    assert_snapshot!(attack("random-bytes", 1 << 40, ""), @"");
    assert_snapshot!(attack("insecure-random-bytes", 1 << 40, ""), @"");
    assert_snapshot!(attack("random-bytes-without-end", 1 << 20, "--timeout 200ms"), @"");
}

#[test]
fn sockets_cannot_be_opened() {
    assert_snapshot!(reason("open-sockets", 10_000), @"");
}
