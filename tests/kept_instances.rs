//! A scorer whose instance is reset after each score, compared with the same scorer in a fresh instance for each:
//! nothing that a score did may be there in the next. The unit tests in `sandbox` cover what is reset, and where that
//! is possible.

use std::sync::Arc;

use scorebox::{
    contract::ScorerInput,
    sandbox::{LoadedScorer, Outcome},
};
use serde_json::json;

use crate::{
    hostile_modules::Module,
    sandbox_fixture::{
        builtin, kind, load, must_be_the_same_fuel, output, result, sandbox,
        sandbox_of_fresh_instances,
    },
    split_and_whole_memory::HASHES_ITS_MEMORY,
};

/// A scorer whose instance is kept, and one whose instance is not.
struct Both {
    kept: LoadedScorer,
    fresh: LoadedScorer,
}

impl Both {
    async fn of(component: &[u8]) -> Both {
        let (kept, fresh) = (sandbox(2), sandbox_of_fresh_instances(2));
        Both {
            kept: load(&kept, component, &json!({})).await,
            fresh: load(&fresh, component, &json!({})).await,
        }
    }

    /// The outcome, which must be the same both ways.
    async fn score(&self, input: ScorerInput<'_>) -> Outcome {
        let (kept, fresh) = (self.kept.score(input).await, self.fresh.score(input).await);
        assert_eq!(kept.result, fresh.result);
        must_be_the_same_fuel(&kept, &fresh);
        assert_eq!((kept.memory_bytes, &kept.log), (fresh.memory_bytes, &fresh.log));
        kept
    }
}

/// A scorer whose score depends on every byte of its memory and on its globals, and that runs this code before it
/// answers.
fn leaves_behind(pages: u32, what: &str) -> Vec<u8> {
    let score = format!(
        "(local $score f64)
         (local.set $score (f64.div (f64.add (call $hash) (call $globals)) (f64.const 2)))
         {what}
         (i32.store8 (i32.const 4104) (i32.const 1))
         (f64.store (i32.const 4112) (local.get $score))
         (i32.const 4096)"
    );
    let more = format!(
        "(global $i32 (mut i32) (i32.const 3)) (global $i64 (mut i64) (i64.const 5))
         (global $f32 (mut f32) (f32.const 0.5)) (global $f64 (mut f64) (f64.const 0.25))
         (global $v128 (mut v128) (v128.const i64x2 7 8))
         (func $globals (result f64)
           (f64.div (f64.add
             (f64.add (f64.convert_i32_s (global.get $i32)) (f64.convert_i64_s (global.get $i64)))
             (f64.add (f64.add (f64.promote_f32 (global.get $f32)) (global.get $f64))
               (f64.convert_i64_s (i64x2.extract_lane 1 (global.get $v128)))))
             (f64.const 1000)))
         (func $change
           (global.set $i32 (i32.const -1)) (global.set $i64 (i64.const -1))
           (global.set $f32 (f32.const 9)) (global.set $f64 (f64.const 9))
           (global.set $v128 (v128.const i64x2 -1 -1)))
         {HASHES_ITS_MEMORY}"
    );
    let memory = format!("(memory (export \"memory\") {pages})");
    Module { memory: &memory, score: &score, more: &more, ..Module::default() }.component()
}

#[tokio::test]
async fn nothing_that_a_score_did_is_there_in_the_next() {
    let rest = "(i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 8192))";
    let everything = format!("(memory.fill (i32.const 8192) (i32.const 170) {rest})");
    let mut scores = std::collections::BTreeSet::new();
    let deeds = [
        (2, "(call $change)"),
        (
            3,
            "(i64.store (i32.const 0) (i64.const -1)) (i32.store8 (i32.const 196607) (i32.const 1))",
        ),
        // A third of a megabyte, and more than is reset.
        (5, everything.as_str()),
        (40, everything.as_str()),
        (6, "(drop (memory.grow (i32.const 1))) (i32.store (i32.const 458748) (i32.const 9))"),
        (7, "(drop (memory.grow (i32.const 0))) (call $change)"),
    ];
    for (pages, deed) in deeds {
        let both = Both::of(&leaves_behind(pages, deed)).await;
        for _ in 0..10 {
            let score = result(both.score(output("1")).await).score.unwrap();
            scores.insert((pages, score.to_bits()));
        }
        // A longer case is not at the address of a shorter one.
        for text in ["\"a\"".to_owned(), format!("\"{}\"", "b".repeat(50_000)), "\"a\"".to_owned()]
        {
            both.score(output(&text)).await;
        }
    }
    assert_eq!(scores.len(), deeds.len(), "{scores:?}");
}

#[tokio::test]
async fn a_score_that_fails_leaves_nothing_either() {
    let fails = "(call $change) (memory.fill (i32.const 8192) (i32.const 7) (i32.const 8192))
        (if (i32.eq (i32.load8_u (i32.load (local.get 0))) (i32.const 0x36)) (then (unreachable)))";
    let both = Both::of(&leaves_behind(2, fails)).await;
    let mut scores = std::collections::BTreeSet::new();
    for round in 0..8 {
        let outcome = both.score(output("1")).await;
        scores.insert(result(outcome).score.unwrap().to_bits());
        // Not often enough that the component itself is asked at once.
        if round % 4 == 0 {
            assert!(kind(&both.score(output("6")).await).is_some());
        }
    }
    assert_eq!(scores.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn scores_at_the_same_time_do_not_meet() {
    let fills = "(call $change) (memory.fill (i32.const 8192) (i32.const 7) (i32.const 90000))";
    let sandbox = sandbox(4);
    let scorer = Arc::new(load(&sandbox, &leaves_behind(2, fills), &json!({})).await);
    let score_of = |number: usize| {
        let scorer = scorer.clone();
        let text = format!("\"{}\"", "x".repeat(number * 1000));
        async move { result(scorer.score(output(&text)).await).score.unwrap().to_bits() }
    };
    let mut expected = Vec::new();
    for number in 0..8 {
        expected.push(score_of(number).await);
    }
    let at_once = (0..400).map(|round| tokio::spawn(score_of(round % 8)));
    for (round, score) in at_once.collect::<Vec<_>>().into_iter().enumerate() {
        assert_eq!(score.await.unwrap(), expected[round % 8], "{round}");
    }
}

/// If a score leaves something outside of its memory and its globals, each score gets a fresh instance.
#[tokio::test]
async fn what_making_an_instance_takes_and_what_exceptions_leave_is_the_same_for_each_score() {
    let throws = "(block $caught (try_table (catch $tag $caught) (throw $tag))) (i32.const 4096)";
    let usual = Module::default().score;
    for (score, more) in [
        (throws, "(tag $tag)"),
        (usual, "(func $idle) (elem func $idle)"),
        (usual, "(func $idle) (table 2 funcref) (elem (i32.const 0) funcref (ref.func $idle))"),
    ] {
        let both = Both::of(&Module { score, more, ..Module::default() }.component()).await;
        for _ in 0..5 {
            assert_eq!(kind(&both.score(output("1")).await), None, "{more}");
        }
    }
}

#[tokio::test]
async fn errors_of_its_own_and_messages_without_end_are_of_one_score() {
    // The second case is an error of the scorer, the third a score that is off the scale.
    let score = "(local $letter i32)
        (local.set $letter (i32.load8_u (i32.load (local.get 0))))
        (call $letter_of_log (local.get $letter))
        (if (i32.eq (local.get $letter) (i32.const 0x32)) (then
          (i32.store8 (i32.const 4096) (i32.const 1)) (i32.store8 (i32.const 4104) (i32.const 1))
          (i32.store (i32.const 4108) (i32.const 1024)) (i32.store (i32.const 4112) (i32.const 7))))
        (if (i32.eq (local.get $letter) (i32.const 0x33)) (then
          (f64.store (i32.const 4112) (f64.const 9))))
        (if (i32.eq (local.get $letter) (i32.const 0x34)) (then (call $end_of_log (i32.const 1))))
        (i32.const 4096)";
    let module = Module {
        score,
        imports: r#"(import "scorebox:scorer/log@0.1.0" "letter" (func $letter_of_log (param i32)))
            (import "scorebox:scorer/log@0.1.0" "end" (func $end_of_log (param i32)))"#,
        ..Module::default()
    };
    let both = Both::of(&module.component()).await;
    let mut kinds = Vec::new();
    for case in ["1", "1", "2", "1", "3", "1", "4", "1", "4"] {
        let outcome = both.score(output(case)).await;
        let logged: Vec<&str> = outcome.log.iter().map(|line| line.message.as_str()).collect();
        assert_eq!(logged, if case == "4" { vec!["4"] } else { vec![] }, "{case}");
        kinds.push(kind(&outcome).map(|kind| kind.as_str()));
    }
    let (failed, off) = (Some("failed"), Some("invalid-score"));
    assert_eq!(kinds, [None, None, failed, None, off, None, None, None, None]);
}

/// The other tests compare nothing on a machine that keeps no instances.
#[test]
fn instances_are_kept_where_the_system_knows_what_was_written() {
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|n| n.parse().ok());
    let version: (u32, u32) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let knows = system.sysname().to_bytes() == b"Linux" && version >= (6, 7);
    assert_eq!(sandbox(1).keeps_instances(), knows, "{release}");
    assert!(!sandbox_of_fresh_instances(1).keeps_instances());
}

/// Kept instances take no slots from running ones.
#[tokio::test]
async fn more_scorers_than_are_kept_all_score() {
    let sandbox = sandbox(1);
    let component = builtin("contains");
    let mut scorers = Vec::new();
    for number in 0..40 {
        scorers.push(load(&sandbox, &component, &json!({"value": number.to_string()})).await);
    }
    for _ in 0..3 {
        for (number, scorer) in scorers.iter().enumerate() {
            let outcome = scorer.score(output(&format!("\"({number})\""))).await;
            assert_eq!(result(outcome).score, Some(1.0));
        }
    }
}
