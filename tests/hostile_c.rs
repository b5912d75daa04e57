//! Attacks that C makes easy: wrong addresses, lengths and types, a broken heap, a stack in the scorer's own memory. A
//! scorer can only break itself.

use insta::assert_snapshot;
use serde_json::json;

use crate::{hostile_fixture::is_ended_by_the_clock_in, hostile_other_languages::Ring};

/// Enough fuel for every attack that ends.
const LITTLE_FUEL: &str = "--fuel 200000000";

fn ring() -> Ring {
    Ring::new("c")
}

#[test]
fn a_scorer_that_behaves_has_its_score() {
    assert_snapshot!(ring().attack(&["behave"], ""), @r#"
    -- {"score":"behave"}
    scored 1.0: "was told to behave"
    [exit code 0]
    "#);
}

#[test]
fn a_null_pointer_points_into_its_own_memory() {
    assert_snapshot!(ring().attack(&["read-null", "write-null"], ""), @r#"
    -- {"score":"read-null"}
    scored 1.0: "at address 0 is 0"
    [exit code 0]
    -- {"score":"write-null"}
    scored 1.0: "at address 0 is now 7"
    [exit code 0]
    "#);
}

#[test]
fn outside_of_its_memory_there_is_nothing_to_read_or_write() {
    let words = ["read-outside", "write-outside", "read-just-outside", "measure-the-unterminated"];
    assert_snapshot!(ring().attack(&words, ""), @r#"
    -- {"score":"read-outside"}
    error: trap: wasm trap: out of bounds memory access
        at [frames]
    [exit code 1]
    -- {"score":"write-outside"}
    error: trap: wasm trap: out of bounds memory access
        at [frames]
    [exit code 1]
    -- {"score":"read-just-outside"}
    error: trap: wasm trap: out of bounds memory access
        at [frames]
    [exit code 1]
    -- {"score":"measure-the-unterminated"}
    error: trap: wasm trap: out of bounds memory access
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn arithmetic_without_a_result_is_a_trap() {
    let words = ["divide-by-zero", "divide-beyond-the-greatest", "convert-what-does-not-fit"];
    assert_snapshot!(ring().attack(&words, ""), @r#"
    -- {"score":"divide-by-zero"}
    error: trap: wasm trap: integer divide by zero
        at [frames]
    [exit code 1]
    -- {"score":"divide-beyond-the-greatest"}
    error: trap: wasm trap: integer overflow
        at [frames]
    [exit code 1]
    -- {"score":"convert-what-does-not-fit"}
    error: trap: wasm trap: integer overflow
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn arithmetic_that_c_leaves_open_has_a_result_that_repeats() {
    assert_snapshot!(ring().attack(&["overflow-a-number", "shift-too-far"], ""), @r#"
    -- {"score":"overflow-a-number"}
    scored 1.0: "greatest + 1 = -2147483648"
    [exit code 0]
    -- {"score":"shift-too-far"}
    scored 1.0: "1 << 33 = 2"
    [exit code 0]
    "#);
}

#[test]
fn giving_up_is_a_trap() {
    assert_snapshot!(ring().attack(&["unreachable", "abort"], ""), @r#"
    -- {"score":"unreachable"}
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- {"score":"abort"}
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn a_function_is_called_as_what_it_is_or_not_at_all() {
    let words = ["call-a-wrong-type", "call-a-null-pointer", "call-a-number"];
    assert_snapshot!(ring().attack(&words, ""), @r#"
    -- {"score":"call-a-wrong-type"}
    error: trap: wasm trap: indirect call type mismatch
        at [frames]
    [exit code 1]
    -- {"score":"call-a-null-pointer"}
    error: trap: wasm trap: uninitialized element
        at [frames]
    [exit code 1]
    -- {"score":"call-a-number"}
    error: trap: wasm trap: undefined element: out of bounds table access
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn an_overwritten_function_pointer_leads_to_its_own_functions_only() {
    assert_snapshot!(ring().attack(&["overwrite-a-function-pointer"], ""), @r#"
    -- {"score":"overwrite-a-function-pointer"}
    scored 1.0: "called another function of its own"
    [exit code 0]
    "#);
}

#[test]
fn a_buffer_that_overflows_overwrites_what_is_its_own() {
    let words = ["overflow-a-buffer", "overflow-and-go-on", "overflow-all-memory"];
    assert_snapshot!(ring().attack(&words, ""), @r#"
    -- {"score":"overflow-a-buffer"}
    scored 1.0: "AAAAAAAAd"
    [exit code 0]
    -- {"score":"overflow-and-go-on"}
    scored 1.0: "went on with a broken heap"
    [exit code 0]
    -- {"score":"overflow-all-memory"}
    error: trap: wasm trap: out of bounds memory access
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn a_broken_heap_is_its_own() {
    let words = ["free-twice", "free-what-was-not-given", "use-after-free"];
    assert_snapshot!(ring().attack(&words, LITTLE_FUEL), @r#"
    -- {"score":"free-twice"}
    scored 1.0: "two blocks are one"
    [exit code 0]
    -- {"score":"free-what-was-not-given"}
    not-applicable null: "freed its own data"
    [exit code 0]
    -- {"score":"use-after-free"}
    scored 1.0: "what is here now"
    [exit code 0]
    "#);
}

#[test]
fn a_smashed_stack_has_no_return_address_in_it() {
    assert_snapshot!(ring().attack(&["smash-the-stack"], ""), @r#"
    -- {"score":"smash-the-stack"}
    scored 1.0: "came back all the same: 1"
    [exit code 0]
    "#);
}

#[test]
fn a_stack_runs_into_its_own_data_or_out_of_its_own_memory() {
    assert_snapshot!(ring().attack(&["recurse-into-data", "recurse"], LITTLE_FUEL), @r#"
    -- {"score":"recurse-into-data"}
    scored 1.0: "its stack ran into its data"
    [exit code 0]
    -- {"score":"recurse"}
    error: trap: wasm trap: out of bounds memory access
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn a_loop_without_end_is_ended_by_fuel() {
    assert_snapshot!(ring().attack(&["spin", "jump-without-end"], LITTLE_FUEL), @r#"
    -- {"score":"spin"}
    error: out-of-fuel: the scorer used up its 200000000 fuel
    hint: if it needs more, raise it: `limits = { fuel = … }` in the suite, or --fuel
    [exit code 1]
    -- {"score":"jump-without-end"}
    error: out-of-fuel: the scorer used up its 200000000 fuel
    hint: if it needs more, raise it: `limits = { fuel = … }` in the suite, or --fuel
    [exit code 1]
    "#);
}

#[test]
fn a_loop_without_end_is_ended_by_the_clock() {
    let options = "--fuel 1000000000000000 --timeout 200ms";
    assert_snapshot!(ring().attack(&["spin"], options), @r#"
    -- {"score":"spin"}
    error: timed-out: no answer within [time]; the scorer was stopped
    hint: if it needs longer, raise it: `limits = { timeout = "…s" }` in the suite, or --timeout
    [exit code 1]
    "#);
}

#[test]
fn memory_that_is_refused_is_not_memory_of_another_scorer() {
    let words =
        ["grow-in-steps", "grow-at-once", "allocate-and-do-not-look", "allocate-until-refused"];
    assert_snapshot!(ring().attack(&words, LITTLE_FUEL), @r#"
    -- {"score":"grow-in-steps"}
    scored 1.0: "was refused below its limit"
    [exit code 0]
    -- {"score":"grow-at-once"}
    scored 1.0: "grew: -1"
    [exit code 0]
    -- {"score":"allocate-and-do-not-look"}
    scored 1.0: "wrote to what it was refused"
    [exit code 0]
    -- {"score":"allocate-until-refused"}
    scored 1.0: "lives without more memory"
    [exit code 0]
    "#);
}

#[test]
fn memory_that_was_not_written_is_empty() {
    let words = ["look-for-leftovers"];
    assert_snapshot!(ring().attack(&words, LITTLE_FUEL), @r#"
    -- {"score":"look-for-leftovers"}
    scored 1.0: "bytes that somebody left: 0"
    [exit code 0]
    "#);
}

#[test]
fn what_is_kept_is_gone_with_the_score() {
    assert_snapshot!(ring().attack(&["keep-state"], ""), @r#"
    -- {"score":"keep-state"}
    scored 1.0: "calls seen: 1001"
    [exit code 0]
    "#);
    let orders = serde_json::json!({"configure": "keep-state", "score": "keep-state"});
    assert_snapshot!(ring().attack_configured(&[orders], ""), @r#"
    -- {"configure":"keep-state","score":"keep-state"}
    scored 1.0: "calls seen: 2002"
    [exit code 0]
    "#);
}

#[test]
fn an_invalid_text_is_an_error() {
    let words =
        ["answer-uninitialised", "answer-truncated", "answer-overlong", "answer-surrogates"];
    assert_snapshot!(ring().attack(&words, ""), @r#"
    -- {"score":"answer-uninitialised"}
    error: trap: what the scorer handed over breaks the contract: invalid utf-8 sequence of 1 bytes from index 0
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"answer-truncated"}
    error: trap: what the scorer handed over breaks the contract: incomplete utf-8 byte sequence from index 8
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"answer-overlong"}
    error: trap: what the scorer handed over breaks the contract: invalid utf-8 sequence of 1 bytes from index 0
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"answer-surrogates"}
    error: trap: what the scorer handed over breaks the contract: invalid utf-8 sequence of 1 bytes from index 0
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    "#);
}

#[test]
fn a_text_is_in_the_scorers_memory_or_refused() {
    let words = [
        "answer-outside",
        "answer-across-the-end",
        "answer-around-the-end",
        "answer-longest",
        "answer-longest-from-zero",
    ];
    assert_snapshot!(ring().attack(&words, ""), @r#"
    -- {"score":"answer-outside"}
    error: trap: what the scorer handed over breaks the contract: string pointer/length out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"answer-across-the-end"}
    error: trap: what the scorer handed over breaks the contract: string pointer/length out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"answer-around-the-end"}
    error: trap: what the scorer handed over breaks the contract: string pointer/length out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"answer-longest"}
    error: trap: what the scorer handed over breaks the contract: string pointer/length out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"answer-longest-from-zero"}
    error: trap: what the scorer handed over breaks the contract: string pointer/length out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    "#);
}

#[test]
fn a_list_is_in_the_scorers_memory_or_refused() {
    let words = ["list-longest", "list-around-the-end", "list-misaligned", "list-outside"];
    assert_snapshot!(ring().attack(&words, ""), @r#"
    -- {"score":"list-longest"}
    error: trap: what the scorer handed over breaks the contract: list pointer/length out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"list-around-the-end"}
    error: trap: what the scorer handed over breaks the contract: list pointer/length out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"list-misaligned"}
    error: trap: what the scorer handed over breaks the contract: list pointer is not aligned
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"list-outside"}
    error: trap: what the scorer handed over breaks the contract: list pointer/length out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    "#);
}

#[test]
fn a_text_that_is_shared_counts_each_time() {
    assert_snapshot!(ring().attack(&["list-shared"], ""), @r#"
    -- {"score":"list-shared"}
    error: output-too-large: the scorer handed over more than 5603328 bytes, the most of one result with its log
    hint: have the scorer shorten it, or raise the limit of what is long: `limits = { meta = "…MiB" }` in the suite, or --limit meta=…MiB; likewise `reason`, `assertions`, `log`; the limit of a label is fixed
    [exit code 1]
    "#);
}

#[test]
fn an_answer_has_the_cases_of_the_contract() {
    let words = ["severity-unknown", "option-unknown", "result-unknown"];
    assert_snapshot!(ring().attack(&words, ""), @r#"
    -- {"score":"severity-unknown"}
    error: trap: what the scorer handed over breaks the contract: unexpected discriminant: 9
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"option-unknown"}
    error: trap: what the scorer handed over breaks the contract: invalid option discriminant
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"result-unknown"}
    error: trap: what the scorer handed over breaks the contract: invalid expected discriminant
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    "#);
}

#[test]
fn an_answer_is_in_the_scorers_memory_or_refused() {
    let words = ["result-outside", "result-misaligned", "result-null"];
    assert_snapshot!(ring().attack(&words, ""), @r#"
    -- {"score":"result-outside"}
    error: trap: what the scorer handed over breaks the contract: pointer out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"result-misaligned"}
    error: trap: what the scorer handed over breaks the contract: return pointer not aligned
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"result-null"}
    not-applicable null: null
    [exit code 0]
    "#);
}

#[test]
fn an_invalid_log_message_breaks_the_contract() {
    let words = ["log-outside", "log-longest", "log-at-no-level", "log-no-text"];
    assert_snapshot!(ring().attack(&words, ""), @r#"
    -- {"score":"log-outside"}
    error: trap: what the scorer handed over breaks the contract: string pointer/length out of bounds of memory
        at [frames]
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"log-longest"}
    error: trap: what the scorer handed over breaks the contract: string pointer/length out of bounds of memory
        at [frames]
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"log-at-no-level"}
    error: trap: what the scorer handed over breaks the contract: unexpected discriminant: 77
        at [frames]
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"log-no-text"}
    error: trap: what the scorer handed over breaks the contract: invalid utf-8 sequence of 1 bytes from index 0
        at [frames]
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    "#);
}

#[test]
fn memory_for_the_case_is_checked_before_it_is_written() {
    let words = [
        "allocate-outside",
        "allocate-across-the-end",
        "allocate-null",
        "allocate-over-the-answer",
    ];
    assert_snapshot!(ring().attack(&words, ""), @r#"
    -- {"score":"allocate-outside"}
    error: trap: what the scorer handed over breaks the contract: realloc return: beyond end of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"allocate-across-the-end"}
    error: trap: what the scorer handed over breaks the contract: realloc return: beyond end of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"allocate-null"}
    scored 1.0: "behaves in `score`"
    [exit code 0]
    -- {"score":"allocate-over-the-answer"}
    error: trap: what the scorer handed over breaks the contract: invalid expected discriminant
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    "#);
}

#[test]
fn memory_for_the_case_must_be_aligned() {
    assert_snapshot!(ring().attack_every_case(&["allocate-misaligned"], ""), @r#"
    -- {"score":"allocate-misaligned"}
    error: trap: what the scorer handed over breaks the contract: realloc return: result not aligned
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    "#);
}

#[test]
fn memory_for_the_case_that_never_comes_is_the_scorers_own_crash() {
    let words =
        ["allocate-and-crash", "allocate-and-spin", "allocate-and-log", "allocate-and-grow"];
    assert_snapshot!(ring().attack(&words, LITTLE_FUEL), @r#"
    -- {"score":"allocate-and-crash"}
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- {"score":"allocate-and-spin"}
    error: out-of-fuel: the scorer used up its 200000000 fuel
    hint: if it needs more, raise it: `limits = { fuel = … }` in the suite, or --fuel
    [exit code 1]
    -- {"score":"allocate-and-log"}
    error: trap: what the scorer handed over breaks the contract: wasm trap: cannot leave component instance
        at [frames]
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"allocate-and-grow"}
    scored 1.0: "behaves in `score`"
    [exit code 0]
    "#);
}

#[test]
fn cleaning_up_may_no_more_than_score() {
    let words = [
        "clean-up-and-crash",
        "clean-up-and-spin",
        "clean-up-and-log",
        "clean-up-what-is-no-memory",
    ];
    assert_snapshot!(ring().attack(&words, LITTLE_FUEL), @r#"
    -- {"score":"clean-up-and-crash"}
    error: trap: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 1]
    -- {"score":"clean-up-and-spin"}
    error: out-of-fuel: the scorer used up its 200000000 fuel
    hint: if it needs more, raise it: `limits = { fuel = … }` in the suite, or --fuel
    [exit code 1]
    -- {"score":"clean-up-and-log"}
    error: trap: what the scorer handed over breaks the contract: wasm trap: cannot leave component instance
        at [frames]
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 1]
    -- {"score":"clean-up-what-is-no-memory"}
    error: trap: wasm trap: out of bounds memory access
        at [frames]
    [exit code 1]
    "#);
}

#[test]
fn configure_may_no_more_than_score() {
    let words = ["write-outside", "abort", "recurse", "grow-in-steps", "log-outside"];
    assert_snapshot!(ring().attack_configure(&words, ""), @r#"
    -- {"configure":"write-outside"}
    error: scorer `./attacker.wasm`: trap: in `configure`: wasm trap: out of bounds memory access
        at [frames]
    [exit code 2]
    -- {"configure":"abort"}
    error: scorer `./attacker.wasm`: trap: in `configure`: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 2]
    -- {"configure":"recurse"}
    error: scorer `./attacker.wasm`: trap: in `configure`: wasm trap: out of bounds memory access
        at [frames]
    [exit code 2]
    -- {"configure":"grow-in-steps"}
    scored 0.0: "behaves on this case"
    [exit code 0]
    -- {"configure":"log-outside"}
    error: scorer `./attacker.wasm`: trap: in `configure`: what the scorer handed over breaks the contract: string pointer/length out of bounds of memory
        at [frames]
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 2]
    "#);
}

#[test]
fn a_loop_without_end_is_ended_by_the_clock_in_configure() {
    is_ended_by_the_clock_in("configure", ring().component(), &json!({"configure": "spin"}));
}

#[test]
fn describe_may_no_more_than_score() {
    let words = [
        "write-outside",
        "abort",
        "recurse",
        "describe-outside",
        "describe-longest",
        "describe-no-text",
        "describe-no-scale",
        "describe-all-flags",
    ];
    assert_snapshot!(ring().attack_describe(&words, ""), @r#"
    -- describe: write-outside
    error: scorer `./attacker.wasm`: trap: in `describe`: wasm trap: out of bounds memory access
        at [frames]
    [exit code 2]
    -- describe: abort
    error: scorer `./attacker.wasm`: trap: in `describe`: wasm trap: wasm `unreachable` instruction executed
        at [frames]
    [exit code 2]
    -- describe: recurse
    error: scorer `./attacker.wasm`: trap: in `describe`: wasm trap: out of bounds memory access
        at [frames]
    [exit code 2]
    -- describe: describe-outside
    error: scorer `./attacker.wasm`: trap: in `describe`: what the scorer handed over breaks the contract: pointer out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 2]
    -- describe: describe-longest
    error: scorer `./attacker.wasm`: trap: in `describe`: what the scorer handed over breaks the contract: string pointer/length out of bounds of memory
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 2]
    -- describe: describe-no-text
    error: scorer `./attacker.wasm`: trap: in `describe`: what the scorer handed over breaks the contract: invalid utf-8 sequence of 1 bytes from index 0
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 2]
    -- describe: describe-no-scale
    error: scorer `./attacker.wasm`: trap: in `describe`: what the scorer handed over breaks the contract: unexpected discriminant: 200
    hint: a bug in the scorer or in what generated its bindings; build it again against the folder wit/, or with the scorebox-sdk crate
    [exit code 2]
    -- describe: describe-all-flags
    scored 1.0: "behaves in `score`"
    [exit code 0]
    "#);
}
