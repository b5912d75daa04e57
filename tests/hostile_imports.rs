//! Scorers whose imports were not granted, and what scorers with the grant of an empty WASI find in it.

use insta::assert_snapshot;

use crate::hostile_fixture::{Arena, words};

/// The output that the user sees if a component imports `name`, without a grant and with one.
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
    assert_snapshot!(import("wasi:filesystem/preopens@0.2.0"), @r#"
    error: scorer `./importer.wasm`: missing-grant: the component imports `wasi:filesystem/preopens@0.2.0`, which was not granted
    hint: if you trust it with that, add `grants = ["wasi"]` to the scorer in the suite, or use `--grant wasi` (in a run: `--grant NAME=wasi`)
    [exit code 2]
    -- with --grant wasi
    error: scorer `./importer.wasm`: invalid-component: the component does not fit the contract: instance export `scorebox:scorer/scoring@0.1.0` does not have export `describe`
    hint: build it against scorebox's contract: the folder wit/, or the scorebox-sdk crate
    [exit code 2]
    "#);
    assert_snapshot!(import("wasi:sockets/tcp@0.2.0"), @r#"
    error: scorer `./importer.wasm`: missing-grant: the component imports `wasi:sockets/tcp@0.2.0`, which was not granted
    hint: if you trust it with that, add `grants = ["wasi"]` to the scorer in the suite, or use `--grant wasi` (in a run: `--grant NAME=wasi`)
    [exit code 2]
    -- with --grant wasi
    error: scorer `./importer.wasm`: invalid-component: the component does not fit the contract: instance export `scorebox:scorer/scoring@0.1.0` does not have export `describe`
    hint: build it against scorebox's contract: the folder wit/, or the scorebox-sdk crate
    [exit code 2]
    "#);
    assert_snapshot!(import("wasi:cli/environment@0.2.0"), @r#"
    error: scorer `./importer.wasm`: missing-grant: the component imports `wasi:cli/environment@0.2.0`, which was not granted
    hint: if you trust it with that, add `grants = ["wasi"]` to the scorer in the suite, or use `--grant wasi` (in a run: `--grant NAME=wasi`)
    [exit code 2]
    -- with --grant wasi
    error: scorer `./importer.wasm`: invalid-component: the component does not fit the contract: instance export `scorebox:scorer/scoring@0.1.0` does not have export `describe`
    hint: build it against scorebox's contract: the folder wit/, or the scorebox-sdk crate
    [exit code 2]
    "#);
    assert_snapshot!(import("wasi:cli/exit@0.2.0"), @r#"
    error: scorer `./importer.wasm`: missing-grant: the component imports `wasi:cli/exit@0.2.0`, which was not granted
    hint: if you trust it with that, add `grants = ["wasi"]` to the scorer in the suite, or use `--grant wasi` (in a run: `--grant NAME=wasi`)
    [exit code 2]
    -- with --grant wasi
    error: scorer `./importer.wasm`: invalid-component: the component does not fit the contract: instance export `scorebox:scorer/scoring@0.1.0` does not have export `describe`
    hint: build it against scorebox's contract: the folder wit/, or the scorebox-sdk crate
    [exit code 2]
    "#);
}

#[test]
fn what_cannot_be_granted_is_named() {
    assert_snapshot!(import("wasi:http/outgoing-handler@0.2.0"), @r#"
    error: scorer `./importer.wasm`: missing-grant: the component imports `wasi:http/outgoing-handler@0.2.0`, which this version of scorebox cannot grant
    hint: a scorer may import scorebox:scorer/log, WASI 0.2 where `wasi` is granted, scorebox:scorer/workspace where `workspace` is granted, and scorebox:scorer/judge and scorebox:scorer/embedder where `judge` is granted
    [exit code 2]
    -- with --grant wasi
    error: scorer `./importer.wasm`: missing-grant: the component imports `wasi:http/outgoing-handler@0.2.0`, which this version of scorebox cannot grant
    hint: a scorer may import scorebox:scorer/log, WASI 0.2 where `wasi` is granted, scorebox:scorer/workspace where `workspace` is granted, and scorebox:scorer/judge and scorebox:scorer/embedder where `judge` is granted
    [exit code 2]
    "#);
    assert_snapshot!(import("evil:spy/everything@1.0.0"), @r#"
    error: scorer `./importer.wasm`: missing-grant: the component imports `evil:spy/everything@1.0.0`, which this version of scorebox cannot grant
    hint: a scorer may import scorebox:scorer/log, WASI 0.2 where `wasi` is granted, scorebox:scorer/workspace where `workspace` is granted, and scorebox:scorer/judge and scorebox:scorer/embedder where `judge` is granted
    [exit code 2]
    -- with --grant wasi
    error: scorer `./importer.wasm`: missing-grant: the component imports `evil:spy/everything@1.0.0`, which this version of scorebox cannot grant
    hint: a scorer may import scorebox:scorer/log, WASI 0.2 where `wasi` is granted, scorebox:scorer/workspace where `workspace` is granted, and scorebox:scorer/judge and scorebox:scorer/embedder where `judge` is granted
    [exit code 2]
    "#);
    assert_snapshot!(import("unlocked-dep=<wasi:filesystem>"), @r#"
    error: scorer `./importer.wasm`: missing-grant: the component imports `unlocked-dep=<wasi:filesystem>`, which this version of scorebox cannot grant
    hint: a scorer may import scorebox:scorer/log, WASI 0.2 where `wasi` is granted, scorebox:scorer/workspace where `workspace` is granted, and scorebox:scorer/judge and scorebox:scorer/embedder where `judge` is granted
    [exit code 2]
    -- with --grant wasi
    error: scorer `./importer.wasm`: missing-grant: the component imports `unlocked-dep=<wasi:filesystem>`, which this version of scorebox cannot grant
    hint: a scorer may import scorebox:scorer/log, WASI 0.2 where `wasi` is granted, scorebox:scorer/workspace where `workspace` is granted, and scorebox:scorer/judge and scorebox:scorer/embedder where `judge` is granted
    [exit code 2]
    "#);
}

#[test]
fn judges_embedders_and_workspaces_cannot_be_called_in_a_loop_nor_at_all() {
    assert_snapshot!(import("scorebox:scorer/judge@0.1.0"), @r#"
    error: scorer `./importer.wasm`: missing-grant: it asks a judge, which was not granted
    hint: if you trust it with that: `scorebox score ./importer.wasm --grant judge --judges SUITE.toml …`, or with a server of OpenAI's protocol in place of a suite: `--judge-url http://127.0.0.1:11434/v1 --judge-model MODEL`
    [exit code 2]
    -- with --grant wasi
    error: scorer `./importer.wasm`: missing-grant: it asks a judge, which was not granted
    hint: if you trust it with that: `scorebox score ./importer.wasm --grant judge --judges SUITE.toml …`, or with a server of OpenAI's protocol in place of a suite: `--judge-url http://127.0.0.1:11434/v1 --judge-model MODEL`
    [exit code 2]
    "#);
    assert_snapshot!(import("scorebox:scorer/embedder@0.1.0"), @r#"
    error: scorer `./importer.wasm`: missing-grant: it asks a judge, which was not granted
    hint: if you trust it with that: `scorebox score ./importer.wasm --grant judge --judges SUITE.toml …`, or with a server of OpenAI's protocol in place of a suite: `--judge-url http://127.0.0.1:11434/v1 --judge-model MODEL`
    [exit code 2]
    -- with --grant wasi
    error: scorer `./importer.wasm`: missing-grant: it asks a judge, which was not granted
    hint: if you trust it with that: `scorebox score ./importer.wasm --grant judge --judges SUITE.toml …`, or with a server of OpenAI's protocol in place of a suite: `--judge-url http://127.0.0.1:11434/v1 --judge-model MODEL`
    [exit code 2]
    "#);
    assert_snapshot!(import("scorebox:scorer/workspace@0.1.0"), @r#"
    error: scorer `./importer.wasm`: missing-grant: the component imports `scorebox:scorer/workspace@0.1.0`, which was not granted
    hint: if you trust it with that, add `grants = ["workspace"]` to the scorer in the suite, or use `--grant workspace` (in a run: `--grant NAME=workspace`)
    [exit code 2]
    -- with --grant wasi
    error: scorer `./importer.wasm`: missing-grant: the component imports `scorebox:scorer/workspace@0.1.0`, which was not granted
    hint: if you trust it with that, add `grants = ["workspace"]` to the scorer in the suite, or use `--grant workspace` (in a run: `--grant NAME=workspace`)
    [exit code 2]
    "#);
}

#[test]
fn what_an_interface_of_the_contract_does_not_have_cannot_be_imported_through_it() {
    let arena = Arena::new();
    let text = r#"(component
        (import "scorebox:scorer/log@0.1.0" (instance (export "read-file" (func))))
        (instance $i) (export "scorebox:scorer/scoring@0.1.0" (instance $i)))"#;
    arena.write("importer.wasm", wat::parse_str(text).unwrap());
    assert_snapshot!(words(&arena.run("scorebox score ./importer.wasm --output 1")), @"
    error: scorer `./importer.wasm`: invalid-component: the component does not fit the contract: component imports instance `scorebox:scorer/log@0.1.0`, but a matching implementation was not found in the linker: instance export `read-file` has the wrong type: function implementation is missing
    hint: build it against scorebox's contract: the folder wit/, or the scorebox-sdk crate
    [exit code 2]
    ");
}

#[test]
fn without_the_grant_the_attacker_is_not_even_loaded() {
    let arena = Arena::new();
    assert_snapshot!(words(&arena.score("wasi-attacker", "{}", "")), @r#"
    error: scorer `./wasi-attacker.wasm`: missing-grant: the component imports `wasi:cli/environment@0.2.0`, which was not granted
    hint: if you trust it with that, add `grants = ["wasi"]` to the scorer in the suite, or use `--grant wasi` (in a run: `--grant NAME=wasi`)
    [exit code 2]
    "#);
    let output = arena.run("scorebox run -s exact-match -s ./wasi-attacker.wasm cases.jsonl");
    assert_snapshot!(words(&output), @r#"
    error: scorer `wasi-attacker` (./wasi-attacker.wasm): missing-grant: the component imports `wasi:cli/environment@0.2.0`, which was not granted
    hint: if you trust it with that, add `grants = ["wasi"]` to the scorer in the suite, or use `--grant wasi` (in a run: `--grant NAME=wasi`)
    [exit code 2]
    "#);
}

/// The output that the user sees of an attack through WASI; a good scorer next to it must not be affected.
#[track_caller]
fn attack(deed: &str, amount: u64, options: &str) -> String {
    let arena = Arena::new();
    let config = format!(r#"{{"then": "{deed}", "amount": {amount}}}"#);
    let options = format!("--grant wasi {options}");
    let alone = arena.score("wasi-attacker", &config, &options);
    arena.run_beside_a_good_scorer("wasi-attacker", &config, &options);
    words(&alone)
}

/// The reason of the score of an attack through WASI.
#[track_caller]
fn reason(deed: &str, amount: u64) -> String {
    let arena = Arena::new();
    let config = format!(r#"{{"then": "{deed}", "amount": {amount}}}"#);
    let output = arena.score("wasi-attacker", &config, "--grant wasi").exits_with(0);
    output.json()["reason"].as_str().unwrap().to_owned()
}

#[test]
fn there_is_nothing_in_the_wasi_that_is_granted() {
    assert_snapshot!(reason("look-around", 0), @r#"
    environment: []
    arguments: []
    folder: None
    folders: []
    time: 1760662320 s, 0 ns
    elapsed: 0, 1000
    random: 7190210636923906296, 4884382043129044517
    insecure random: 16733554843581119031
    seed: (5884129616207218030, 8199778885885584601)
    input: Err(StreamError::Closed)
    lookup: Err(ErrorCode { code: 20, name: "permanent-resolver-failure", message: "" })
    sockets: ErrorCode { code: 1, name: "access-denied", message: "" }, ErrorCode { code: 1, name: "access-denied", message: "" }
    "#);
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
    assert_snapshot!(attack("exit-well", 0, ""), @"
    error: trap: Exited with i32 exit status 0
        at [frames]
    [exit code 1]
    ");
    assert_snapshot!(attack("exit-badly", 0, ""), @"
    error: trap: Exited with i32 exit status 1
        at [frames]
    [exit code 1]
    ");
}

#[test]
fn sleeping_in_a_host_call_is_ended_by_the_clock() {
    assert_snapshot!(attack("sleep", 0, "--timeout 200ms"), @r#"
    error: timed-out: no answer within 200 ms; the scorer was stopped
    hint: if it needs longer, raise it: `limits = { timeout = "…s" }` in the suite, or --timeout
    [exit code 1]
    "#);
    assert_snapshot!(attack("sleep-in-steps", 0, "--timeout 200ms"), @r#"
    error: timed-out: no answer within 200 ms; the scorer was stopped
    hint: if it needs longer, raise it: `limits = { timeout = "…s" }` in the suite, or --timeout
    [exit code 1]
    "#);
}

#[test]
fn waiting_does_not_measure_time() {
    assert_snapshot!(reason("measure-by-waiting", 0), @"ready: [0, 1], asked: 1, elapsed: 100100000");
}

#[test]
fn waiting_for_another_year_is_ended_by_the_clock() {
    assert_snapshot!(attack("wait-for-another-year", 0, "--timeout 200ms"), @r#"
    error: timed-out: no answer within 200 ms; the scorer was stopped
    hint: if it needs longer, raise it: `limits = { timeout = "…s" }` in the suite, or --timeout
    [exit code 1]
    "#);
}

#[test]
fn handles_are_counted() {
    assert_snapshot!(attack("open-handles", 100_000, ""), @"
    error: trap: resource table has no free keys
        at [frames]
    hint: a sandbox has at most 1000 open handles; this bound is fixed
    [exit code 1]
    ");
    assert_snapshot!(attack("poll-nothing", 0, ""), @"
    error: trap: empty poll list
        at [frames]
    [exit code 1]
    ");
    assert_snapshot!(attack("poll-one-many-times", 100_000, ""), @"
    error: trap: cannot lend resource: store handle limit exceeded
        at [frames]
    hint: a sandbox has at most 1000 open handles; this bound is fixed
    [exit code 1]
    ");
    assert_snapshot!(attack("poll-one-many-times", 2_000_000, ""), @r#"
    error: output-too-large: the scorer handed over more than 5603328 bytes, the most of one result with its log
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`; the limit of a label is fixed
    [exit code 1]
    "#);
}

#[test]
fn printing_goes_to_the_log_and_ends_there() {
    assert_snapshot!(attack("print-without-end", 0, "--timeout 200ms"), @r#"
    error: timed-out: no answer within 200 ms; the scorer was stopped
    hint: if it needs longer, raise it: `limits = { timeout = "…s" }` in the suite, or --timeout
    [exit code 1]
    "#);
    assert_snapshot!(attack("print-for-a-terminal", 0, ""), @r#"
    error: trap: panicked at tests/hostile/wasi-attacker/src/lib.rs:110:17: \u{1b}[2J\u{202e}\u{9b}31m
      \u{1b}[2J\u{202e}\u{9b}31m\u{0}
      (wasm trap: wasm `unreachable` instruction executed)
        at [frames]
    [exit code 1]
    "#);
    assert_snapshot!(attack("print-one-long-text", 1 << 20, ""), @"
    error: trap: write beyond capacity of MemoryOutputPipe
        at [frames]
    hint: a sandbox has at most 65536 bytes of standard output or error; this bound is fixed
    [exit code 1]
    ");
    assert_snapshot!(attack("print-one-long-text", 30 << 20, ""), @r#"
    error: output-too-large: the scorer handed over more than 5603328 bytes, the most of one result with its log
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`; the limit of a label is fixed
    [exit code 1]
    "#);
    assert_snapshot!(attack("write-zeroes", 1 << 62, ""), @"
    error: trap: cannot write more zeroes than `check_write` allows
        at [frames]
    hint: a sandbox has at most 65536 bytes of standard output or error; this bound is fixed
    [exit code 1]
    ");
}

#[test]
fn reading_gives_nothing() {
    assert_snapshot!(reason("read-input", 1 << 62), @"Err(StreamError::Closed)");
}

#[test]
fn random_bytes_are_bounded() {
    assert_snapshot!(attack("random-bytes", 1 << 40, ""), @"
    error: trap: requested len 1099511627776 exceeds limit 1048576
        at [frames]
    hint: a sandbox has at most 1048576 random bytes of one call; this bound is fixed
    [exit code 1]
    ");
    assert_snapshot!(attack("insecure-random-bytes", 1 << 40, ""), @"
    error: trap: requested len 1099511627776 exceeds limit 1048576
        at [frames]
    hint: a sandbox has at most 1048576 random bytes of one call; this bound is fixed
    [exit code 1]
    ");
    assert_snapshot!(attack("random-bytes-without-end", 1 << 20, "--timeout 200ms"), @r#"
    error: timed-out: no answer within 200 ms; the scorer was stopped
    hint: if it needs longer, raise it: `limits = { timeout = "…s" }` in the suite, or --timeout
    [exit code 1]
    "#);
}

#[test]
fn sockets_cannot_be_opened() {
    assert_snapshot!(reason("open-sockets", 10_000), @r#"ErrorCode { code: 1, name: "access-denied", message: "" }, ErrorCode { code: 1, name: "access-denied", message: "" }"#);
}
