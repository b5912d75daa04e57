//! Attacks that JavaScript makes easy: exceptions, texts that make regular expressions run forever, values of a type
//! that the contract does not allow, prototypes that all objects share.

use insta::assert_snapshot;
use serde_json::json;

use crate::hostile_other_languages::Ring;

/// Enough fuel for every attack that ends; the interpreter takes 100 for one step.
const LITTLE_FUEL: &str = "--fuel 300000000";

fn ring() -> Ring {
    Ring::new("javascript")
}

#[test]
fn a_scorer_that_behaves_has_its_score() {
    assert_snapshot!(ring().attack_by_case(&["behave"], ""), @r#"
    -- behave
    scored 1.0: "was told to behave"
    [exit code 0]
    "#);
}

#[test]
fn an_exception_that_is_not_caught_is_a_crash() {
    // QuickJS writes its message to a standard error that a scorer without WASI does not have.
    let words = [
        "throw",
        "throw-deep-down",
        "throw-a-text",
        "throw-a-number",
        "throw-nothing",
        "throw-a-case-that-there-is-not",
        "throw-what-throws",
        "throw-for-a-terminal",
        "throw-a-long-text",
        "use-what-is-not-there",
    ];
    assert_snapshot!(ring().attack_by_case(&words, ""), @r#"
    -- throw
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- throw-deep-down
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- throw-a-text
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- throw-a-number
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- throw-nothing
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- throw-a-case-that-there-is-not
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- throw-what-throws
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- throw-for-a-terminal
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- throw-a-long-text
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- use-what-is-not-there
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn an_exception_that_the_scorer_makes_an_error_of_is_read_by_the_user() {
    let words = ["throw-and-catch", "throw-an-error-of-the-contract", "throw-forged-lines"];
    assert_snapshot!(ring().attack_by_case(&words, ""), @r#"
    -- throw-and-catch
    error: failed: TypeError: was told to throw
          at throw (/attacker.js:54:15)
          at throw-and-catch (/attacker.js:227:20)
          at score (/attacker.js:294:28)
    [exit code 1]
    -- throw-an-error-of-the-contract
    error: failed: was told to fail
    [exit code 1]
    -- throw-forged-lines
    error: failed: \u{1b}[2Jnothing
      error: forged
      hint: run \u{202e}this
    [exit code 1]
    "#);
}

/// The second one is a match that is found at once.
fn regular_expressions() -> [String; 2] {
    let long = "a".repeat(36);
    ["!", ""].map(|end| format!("match-a-regular-expression {long}{end}"))
}

#[test]
fn a_regular_expression_that_chokes_on_a_text_is_ended_by_fuel() {
    let words = regular_expressions();
    let words = words.each_ref().map(String::as_str);
    assert_snapshot!(ring().attack_by_case(&words, LITTLE_FUEL), @r#"
    -- match-a-regular-expression aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!
    error: out-of-fuel: the scorer used up its 300000000 fuel
    hint: if it needs more, raise it: `limits = { fuel = … }` in the suite, or --fuel
    [exit code 1]
    -- match-a-regular-expression aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    scored 1.0: "matches"
    [exit code 0]
    "#);
}

#[test]
fn a_regular_expression_that_chokes_on_a_text_is_ended_by_the_clock() {
    let words = regular_expressions();
    let words = words.each_ref().map(String::as_str);
    let options = "--fuel 1000000000000000 --timeout 1s";
    assert_snapshot!(ring().attack_by_case(&words, options), @r#"
    -- match-a-regular-expression aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!
    error: timed-out: no answer within [time]; the scorer was stopped
    hint: if it needs longer, raise it: `limits = { timeout = "…s" }` in the suite, or --timeout
    [exit code 1]
    -- match-a-regular-expression aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    scored 1.0: "matches"
    [exit code 0]
    "#);
}

#[test]
fn computing_without_end_is_ended_by_the_clock() {
    let words = ["spin", "eval-and-spin", "a-getter-that-spins", "grow-an-array"];
    assert_snapshot!(ring().attack_by_case(&words, LITTLE_FUEL), @r#"
    -- spin
    error: out-of-fuel: the scorer used up its 300000000 fuel
    hint: if it needs more, raise it: `limits = { fuel = … }` in the suite, or --fuel
    [exit code 1]
    -- eval-and-spin
    error: out-of-fuel: the scorer used up its 300000000 fuel
    hint: if it needs more, raise it: `limits = { fuel = … }` in the suite, or --fuel
    [exit code 1]
    -- a-getter-that-spins
    error: out-of-fuel: the scorer used up its 300000000 fuel
    hint: if it needs more, raise it: `limits = { fuel = … }` in the suite, or --fuel
    [exit code 1]
    -- grow-an-array
    error: out-of-fuel: the scorer used up its 300000000 fuel
    hint: if it needs more, raise it: `limits = { fuel = … }` in the suite, or --fuel
    [exit code 1]
    "#);
}

#[test]
fn a_recursion_without_end_cannot_be_caught() {
    let words = ["recurse", "recurse-and-catch", "nest-json", "nest-a-regular-expression"];
    assert_snapshot!(ring().attack_by_case(&words, LITTLE_FUEL), @r#"
    -- recurse
    error: trap: wasm trap: call stack exhausted
        at [frames]
    [exit code 1]
    -- recurse-and-catch
    error: trap: wasm trap: call stack exhausted
        at [frames]
    [exit code 1]
    -- nest-json
    error: trap: wasm trap: call stack exhausted
        at [frames]
    [exit code 1]
    -- nest-a-regular-expression
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn memory_without_end_is_refused() {
    let words = ["grow-a-text", "grow-at-once", "be-refused-memory-and-live"];
    assert_snapshot!(ring().attack_by_case(&words, LITTLE_FUEL), @r#"
    -- grow-a-text
    error: out-of-memory: the scorer needs 91691000 bytes of memory, more than its limit of 67108864
      wasm trap: wasm `unreachable` instruction executed
        at [frames]
    hint: if it needs more, raise it: `limits = { memory = "…MiB" }` in the suite, or --memory
    [exit code 1]
    -- grow-at-once
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- be-refused-memory-and-live
    scored 1.0: "InternalError: out of memory"
    [exit code 0]
    "#);
}

#[test]
fn an_answer_that_comes_later_never_comes() {
    let words = [
        "promise-and-never-keep-it",
        "promise-and-keep-it",
        "promise-and-break-it",
        "settle-again-and-again",
    ];
    assert_snapshot!(ring().attack_by_case(&words, LITTLE_FUEL), @r#"
    -- promise-and-never-keep-it
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- promise-and-keep-it
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- promise-and-break-it
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- settle-again-and-again
    scored 1.0: "went on after its answer"
    [exit code 0]
    "#);
}

#[test]
fn a_score_of_another_type_is_not_a_score() {
    let words = [
        "score-a-text",
        "score-a-text-that-is-no-number",
        "score-not-a-number",
        "score-infinite",
        "score-an-object",
        "score-an-integer-of-any-size",
        "score-true",
    ];
    assert_snapshot!(ring().attack_by_case(&words, ""), @r#"
    -- score-a-text
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- score-a-text-that-is-no-number
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- score-not-a-number
    error: invalid-score: the score is NaN; it must be 0 to 1
    [exit code 1]
    -- score-infinite
    error: invalid-score: the score is -inf; it must be 0 to 1
    [exit code 1]
    -- score-an-object
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- score-an-integer-of-any-size
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- score-true
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn an_answer_of_another_type_is_a_crash_or_refused() {
    let words = [
        "answer-nothing",
        "answer-a-text",
        "answer-a-function",
        "answer-without-assertions",
        "reason-a-number",
        "meta-an-object",
        "meta-no-json",
        "meta-a-cycle",
        "a-severity-that-there-is-not",
    ];
    assert_snapshot!(ring().attack_by_case(&words, ""), @r#"
    -- answer-nothing
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- answer-a-text
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- answer-a-function
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- answer-without-assertions
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- reason-a-number
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- meta-an-object
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- meta-no-json
    error: invalid-score: meta is not a JSON document: key must be a string at line 1 column 2
    hint: a JSON document of a scorer is nested at most 127 deep, and its text is Unicode
    [exit code 1]
    -- meta-a-cycle
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- a-severity-that-there-is-not
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn a_text_that_is_not_unicode_is_a_crash() {
    assert_snapshot!(ring().attack_by_case(&["reason-half-a-character", "reason-with-zeros"], ""), @r#"
    -- reason-half-a-character
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- reason-with-zeros
    scored 1.0: "a\u0000b"
    [exit code 0]
    "#);
}

#[test]
fn a_list_with_a_false_length_is_a_crash() {
    let words = [
        "assertions-without-end",
        "assertions-that-say-they-are-many",
        "assertions-of-a-lying-length",
    ];
    assert_snapshot!(ring().attack_by_case(&words, LITTLE_FUEL), @r#"
    -- assertions-without-end
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- assertions-that-say-they-are-many
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- assertions-of-a-lying-length
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn an_answer_that_does_something_when_it_is_looked_at_does_it_inside() {
    let words = ["a-getter-that-throws", "a-getter-that-changes-its-answer", "a-proxy"];
    assert_snapshot!(ring().attack_by_case(&words, ""), @r#"
    -- a-getter-that-throws
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- a-getter-that-changes-its-answer
    scored 1.0: "asked once"
    [exit code 0]
    -- a-proxy
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn code_that_is_made_of_text_may_no_more_than_the_scorer() {
    assert_snapshot!(ring().attack_by_case(&["eval", "make-a-function"], ""), @r#"
    -- eval
    scored 1.0: "42"
    [exit code 0]
    -- make-a-function
    scored 1.0: "42"
    [exit code 0]
    "#);
}

#[test]
fn there_is_nothing_to_reach_out_to() {
    let words = ["list-what-is-there", "import-a-file", "import-what-was-not-granted", "print"];
    assert_snapshot!(ring().attack_by_case(&words, ""), @r#"
    -- list-what-is-there
    scored 1.0: "process: undefined, require: undefined, fetch: undefined, WebAssembly: undefined, Atomics: undefined, std: undefined, os: undefined, scriptArgs: undefined, console: undefined, performance: object, setTimeout: undefined, crypto: undefined, Worker: undefined, navigator: undefined, Deno: undefined, Bun: undefined, gc: undefined, print: undefined, load: undefined, wit: object"
    [exit code 0]
    -- import-a-file
    scored 1.0: "asked for a file"
    [exit code 0]
    -- import-what-was-not-granted
    scored 1.0: "asked for files"
    [exit code 0]
    -- print
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn there_is_no_clock() {
    assert_snapshot!(ring().attack_by_case(&["look-at-the-clock", "look-at-the-date"], ""), @r#"
    -- look-at-the-clock
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- look-at-the-date
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn random_numbers_are_the_same_in_every_score() {
    let ring = ring();
    // They are drawn from a seed that the build left in the component.
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"0\.\d+", "[number]");
    let _filters = settings.bind_to_scope();
    assert_snapshot!(ring.attack_by_case(&["draw-a-number"], ""), @r#"
    -- draw-a-number
    scored 1.0: "[number] [number]"
    [exit code 0]
    "#);
}

#[test]
fn what_is_kept_is_gone_with_the_score() {
    assert_snapshot!(ring().attack_by_case(&["keep-state"], ""), @r#"
    -- keep-state
    scored 1.0: "module 1, closure 1, global 1, prototype 1, Math 1, function 1, symbol 1, pattern 1"
    [exit code 0]
    "#);
    let configured = json!({"configure": "keep-state"});
    assert_snapshot!(ring().attack_by_case_configured(&configured, &["keep-state"], ""), @r#"
    -- keep-state
    scored 1.0: "module 2, closure 2, global 2, prototype 2, Math 2, function 2, symbol 2, pattern 2"
    [exit code 0]
    "#);
}

#[test]
fn poisoned_prototypes_are_gone_with_the_score() {
    let words = ["poison-the-prototypes", "poison-the-builtins"];
    assert_snapshot!(ring().attack_by_case(&words, ""), @r#"
    -- poison-the-prototypes
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- poison-the-builtins
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn configure_may_no_more_than_score() {
    let words = ["throw", "throw-and-catch", "recurse"];
    assert_snapshot!(ring().attack_configure(&words, ""), @r#"
    -- {"configure":"throw"}
    error: scorer `./attacker.wasm`: invalid-config: was told to throw
    [exit code 2]
    -- {"configure":"throw-and-catch"}
    error: scorer `./attacker.wasm`: trap: in `configure`: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 2]
    -- {"configure":"recurse"}
    error: scorer `./attacker.wasm`: trap: in `configure`: wasm trap: call stack exhausted
        at [frames]
    [exit code 2]
    "#);
}
