//! The contents of a scorer's memory, and the address at which the case is put: they must be the same with its code
//! apart from its state and frozen with it.

use scorebox::{case::Case, sandbox::Limits};
use serde_json::json;

use crate::{
    hostile_modules::Module,
    sandbox_fixture::{kind, output},
    split_and_whole::Ways,
};

/// A module whose score depends on every byte of its memory at that moment.
pub(crate) const HASHES_ITS_MEMORY: &str = r#"
    (func $hash (result f64) (local $at i32) (local $hash i64)
      (local.set $hash (i64.const 0x6c62272e07bb0142))
      (loop $next
        (local.set $hash (i64.mul (i64.const 0x100000001b3)
          (i64.xor (local.get $hash) (i64.load (local.get $at)))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br_if $next (i32.lt_u (local.get $at) (i32.mul (memory.size) (i32.const 65536)))))
      (f64.div (f64.convert_i64_u (i64.shr_u (local.get $hash) (i64.const 11)))
        (f64.const 9007199254740992)))
    ;; It reads all parts of a case.
    (data (i32.const 2094) "\ff\01")"#;

/// A case with everything, one with nothing, and one between them.
fn cases_of_every_shape() -> Vec<Case> {
    let all = json!({
        "output": "é😀", "input": "", "groundTruth": {"a": [1]}, "context": ["x", "yz"],
        "latencyMs": 12.5, "outputSchema": {"type": "string"}, "trace": [{"role": "user"}],
        "usage": {"inputTokens": 7, "totalTokens": u64::MAX, "costUsd": 0.25},
        "metadata": {"n": 1}, "baseline": "other",
    });
    let some = json!({"output": 1, "usage": {"outputTokens": 3}, "baseline": ""});
    let cases = [all, some, json!({"output": ""})];
    cases.iter().map(|case| Case::from_json(case.to_string()).unwrap()).collect()
}

/// In one way a component writes the case, in the other the engine does so itself.
#[tokio::test]
async fn a_scorer_finds_the_same_in_its_memory_both_ways_wherever_it_has_the_case_put() {
    let ways = Ways::new();
    let usual = Module::default().realloc;
    let grows = format!("(drop (memory.grow (i32.const 1))) {usual}");
    let counts_what_it_finds = format!(
        "(global.set $sum (i32.add (i32.mul (global.get $sum) (i32.const 31))
           (i32.add (i32.load (i32.const 65536)) (i32.load (i32.const 65552)))))
         (i32.store (i32.const 90000) (global.get $sum)) {usual}"
    );
    let writes_into_the_record = format!(
        "(i64.store (i32.const 65560) (i64.const -1)) (i64.store (i32.const 65700) (i64.const -1)) {usual}"
    );
    let mut scores = std::collections::BTreeSet::new();
    for realloc in [
        usual,
        // All at one address.
        "(i32.const 65536)",
        "(i32.sub (i32.const 131072) (i32.const 184))",
        &grows,
        &counts_what_it_finds,
        &writes_into_the_record,
    ] {
        let module = Module {
            realloc,
            score: "(f64.store (i32.const 4112) (call $hash)) (i32.const 4096)",
            more: &format!("(global $sum (mut i32) (i32.const 0)) {HASHES_ITS_MEMORY}"),
            ..Module::default()
        };
        let both = ways.load(&module.component(), &json!({}), &Limits::default()).await;
        for case in cases_of_every_shape() {
            let outcome = both.score(case.scorer_input(both.apart.info().reads)).await;
            scores.insert(outcome.result.unwrap().score.unwrap().to_bits());
        }
    }
    assert_eq!(scores.len(), 6 * 3);
}

#[tokio::test]
async fn places_that_no_case_fits_in_and_answers_that_are_none_are_the_same_both_ways() {
    let ways = Ways::new();
    let answers = |numbers: &[(i32, i32)]| crate::hostile_modules::answer_with(numbers);
    let usual = (Module::default().realloc, Module::default().score.to_owned());
    let after = |body: &str| {
        format!(
            r#"(func (export "cabi_post_scorebox:scorer/scoring@0.1.0#score") (param i32) {body})"#
        )
    };
    let modules = [
        ("(i32.const 65537)", usual.1.clone(), String::new()),
        ("(i32.const -8)", usual.1.clone(), String::new()),
        ("(i32.const 131072)", usual.1.clone(), String::new()),
        ("(unreachable)", usual.1.clone(), String::new()),
        ("(call $letter (i32.const 65)) (i32.const 65536)", usual.1.clone(), String::new()),
        (usual.0, "(i32.const 4097)".to_owned(), String::new()),
        (usual.0, "(i32.const -8)".to_owned(), String::new()),
        (usual.0, answers(&[(4096, 2)]), String::new()),
        (usual.0, answers(&[(4096, 1), (4104, 1), (4108, 1024), (4112, 7)]), String::new()),
        (usual.0, answers(&[(4096, 1), (4104, 2), (4108, 1024), (4112, 7)]), String::new()),
        (usual.0, answers(&[(4132, 1), (4136, -9), (4140, 7)]), String::new()),
        (usual.0, answers(&[(4132, 1), (4136, 1024), (4140, 7)]), String::new()),
        (usual.0, answers(&[(4156, 4096), (4160, 100_000_000)]), String::new()),
        (usual.0, format!("(call $letter (i32.const 0xd800)) {}", usual.1), String::new()),
        (usual.0, format!("(call $letter (i32.const 65)) {}", usual.1), String::new()),
        (
            usual.0,
            format!("(call $letter (i32.const 65)) (call $end (i32.const 2)) {}", usual.1),
            String::new(),
        ),
        (usual.0, format!("(call $end (i32.const 4)) {}", usual.1), String::new()),
        (usual.0, usual.1.clone(), after("(call $letter (i32.const 65))")),
        (usual.0, usual.1.clone(), after("(unreachable)")),
        (usual.0, usual.1.clone(), after("(i32.store (i32.const 0) (local.get 0))")),
    ];
    let mut kinds = std::collections::BTreeSet::new();
    let mut scored = 0;
    for (realloc, score, more) in &modules {
        // The record of a case is aligned, and the text of a configuration is not.
        let realloc = format!(
            "(if (result i32) (i32.eq (local.get 2) (i32.const 8)) (then {realloc}) (else {}))",
            usual.0
        );
        let module = Module {
            realloc: &realloc,
            score,
            more,
            imports: r#"(import "scorebox:scorer/log@0.1.0" "letter" (func $letter (param i32)))
                (import "scorebox:scorer/log@0.1.0" "end" (func $end (param i32)))"#,
            ..Module::default()
        };
        let both = ways.load(&module.component(), &json!({}), &Limits::default()).await;
        // Several times: after a few failures, the component itself is asked at once.
        for _ in 0..12 {
            let outcome = both.score(output("1")).await;
            scored += usize::from(outcome.result.is_ok());
            kinds.insert(kind(&outcome));
        }
    }
    assert_eq!(kinds.len(), 3, "{kinds:?}");
    assert_eq!(scored, 12 * 4, "{kinds:?}");
}
