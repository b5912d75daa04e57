//! A scorer whose code is compiled apart from its state, once for all configurations, compared with the same scorer
//! frozen with its code: all fields of their rows must be the same.

use std::sync::Arc;

use scorebox::{
    case::Case,
    component_bytes::ComponentBytes,
    contract::{Example, Fields, ScorerInput},
    registry::{Reference, Registry},
    sandbox::{
        Anatomy, ErrorKind, Grants, Limits, LoadedScorer, Outcome, Sandbox, ScoreError,
        ScorerConfig, Start,
    },
};
use serde_json::{Value, json};

use crate::{
    hostile_modules::Module,
    sandbox_fixture::{
        builtin, config, guest, kind, must_be_the_same_fuel, output, sandbox, sandbox_of_wholes,
    },
};

/// Sandboxes for the two ways.
pub(crate) struct Ways {
    apart: Sandbox,
    whole: Sandbox,
}

/// A scorer loaded both ways.
pub(crate) struct Both {
    pub(crate) apart: LoadedScorer,
    whole: LoadedScorer,
}

impl Ways {
    pub(crate) fn new() -> Ways {
        Ways { apart: sandbox(2), whole: sandbox_of_wholes(2) }
    }

    async fn try_load(
        &self,
        component: &[u8],
        config: &ScorerConfig,
        limits: &Limits,
    ) -> Result<Both, ScoreError> {
        let component = ComponentBytes::new(component.to_vec());
        let apart = self.apart.load(&component, config, limits, Grants::NONE).await;
        let whole = self.whole.load(&component, config, limits, Grants::NONE).await;
        match (apart, whole) {
            (Ok(apart), Ok(whole)) => {
                assert_eq!(apart.info(), whole.info());
                assert_eq!(apart.summarizes(), whole.summarizes());
                Ok(Both { apart, whole })
            }
            (Err(apart), Err(whole)) => {
                assert_eq!(apart, whole);
                Err(apart)
            }
            (apart, whole) => panic!("{:?} against {:?}", apart.err(), whole.err()),
        }
    }

    pub(crate) async fn load(&self, component: &[u8], settings: &Value, limits: &Limits) -> Both {
        self.try_load(component, &config(settings), limits).await.unwrap()
    }
}

impl Both {
    /// The outcome, which must be the same both ways.
    pub(crate) async fn score(&self, input: ScorerInput<'_>) -> Outcome {
        let (apart, whole) = (self.apart.score(input).await, self.whole.score(input).await);
        assert_eq!(apart.result, whole.result);
        must_be_the_same_fuel(&apart, &whole);
        assert_eq!(apart.memory_bytes, whole.memory_bytes);
        assert_eq!(apart.log, whole.log);
        apart
    }
}

/// Outputs that scorers of texts, of JSON and of traces encounter.
fn further_cases() -> Vec<Case> {
    let trace = json!([
        {"role": "user", "content": "How many?"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function",
            "function": {"name": "count", "arguments": "{\"of\": \"eggs\"}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "16 eggs"},
        {"role": "assistant", "content": "There are 16."},
    ]);
    let text = "The duck lays 16 eggs a day. She eats 3, and bakes with 4: 16 - 3 - 4 = 9. A: 9";
    let cases = [
        json!({"output": "Paris", "groundTruth": "paris"}),
        json!({"output": text, "groundTruth": "9", "input": "How many?", "trace": trace,
            "context": ["She eats 3."], "metadata": {"n": 1}, "latencyMs": 12.5}),
        json!({"output": {"a": [1, 2.5, null], "b": "x"}, "groundTruth": {"a": [1, 2.5], "b": "y"},
            "outputSchema": {"type": "object", "required": ["a", "c"]}}),
        json!({"output": format!("{}é😀", "word ".repeat(400)), "baseline": "word"}),
        json!({"output": null}),
    ];
    cases.iter().map(|case| Case::from_json(case.to_string()).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_built_in_scorer_is_the_same_both_ways_whatever_the_fuel() {
    let ways = Arc::new(Ways::new());
    let registry = Registry::with_builtins();
    let names: Vec<String> = registry.list().map(str::to_owned).collect();
    assert!(names.len() >= 57, "{}", names.len());
    let mut scored = 0;
    for name in names {
        let component = builtin(&name);
        // A scorer that asks a judge has no example.
        let Some(example) = Anatomy::read(&component).unwrap().example else { continue };
        let example = Example::parse(&example).unwrap();
        let settings = ScorerConfig::new(&example.config);
        let cases = [Case::from_json(example.case.get()).unwrap()];
        let cases: Vec<Case> = cases.into_iter().chain(further_cases()).collect();
        let both = ways.try_load(&component, &settings, &Limits::default()).await.unwrap();
        assert_eq!(*both.apart.start(), Start::Frozen, "{name}");
        assert_eq!(both.apart.own_code(), None, "{name}");
        let mut most = 0;
        for case in &cases {
            let outcome = both.score(case.scorer_input(Fields::ALL)).await;
            most = most.max(outcome.fuel.unwrap());
            scored += usize::from(outcome.result.is_ok());
        }
        for part in 0..4 {
            let limits = Limits::default().with_fuel(most * part / 4 + part);
            let both = ways.try_load(&component, &settings, &limits).await.unwrap();
            for case in &cases[..3] {
                both.score(case.scorer_input(Fields::ALL)).await;
            }
        }
    }
    assert!(scored > 150, "{scored}");
}

#[tokio::test]
async fn a_score_ends_at_the_same_place_at_each_of_a_hundred_fuel_limits() {
    let ways = Ways::new();
    let component = builtin("contains");
    let settings = json!({"value": "eggs"});
    let case = &further_cases()[1];
    let full = ways.load(&component, &settings, &Limits::default()).await;
    let full = full.score(case.scorer_input(Fields::ALL)).await.fuel.unwrap();
    let mut ends = std::collections::BTreeSet::new();
    for part in 0..=100 {
        let limits = Limits::default().with_fuel(full * part / 100);
        let both = ways.load(&component, &settings, &limits).await;
        let outcome = both.score(case.scorer_input(Fields::ALL)).await;
        let expected = (part < 100).then_some(ErrorKind::OutOfFuel);
        assert_eq!(kind(&outcome), expected, "{part} %");
        ends.insert(outcome.fuel);
    }
    assert!(ends.len() > 90, "{}", ends.len());
}

#[tokio::test]
async fn whatever_a_scorer_does_wrong_is_the_same_both_ways() {
    let ways = Ways::new();
    let component = guest("misbehave");
    let mut kinds = std::collections::BTreeSet::new();
    let limits = Limits::default().with_fuel(20_000_000);
    // Each is a configuration, and so a component to compile if code and state are frozen together.
    for (deed, amount) in [
        ("panic", 0),
        ("fail", 0),
        ("not-applicable", 0),
        ("invalid-input", 0),
        ("spin", 0),
        ("recurse", 0),
        ("take-memory", 100_000_000),
        ("long-reason", 100_000),
        ("many-assertions", 2000),
        ("log", 2000),
        ("keep-state", 0),
    ] {
        let settings = json!({"then": deed, "first": "keep-state", "amount": amount});
        let both = ways.load(&component, &settings, &limits).await;
        kinds.insert(kind(&both.score(output("1")).await));
    }
    assert!(kinds.len() >= 7, "{kinds:?}");
    for first in ["panic", "fail", "take-memory", "recurse"] {
        let settings = json!({"first": first, "amount": 100_000_000});
        assert!(ways.try_load(&component, &config(&settings), &Limits::default()).await.is_err());
    }
}

/// Compiled apart from their state they share their code, and otherwise nothing.
#[tokio::test]
async fn scripts_are_the_same_both_ways() {
    let ways = Ways::new();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grade.js");
    for (script, kinds) in [
        ("let n = 0; export default () => ({ score: ++n / 4, reason: `${n}` });", [None, None]),
        (
            "export default ({ output }) => { console.log(output); return output ? NaN : [].x.y; };",
            [Some(ErrorKind::InvalidScore), Some(ErrorKind::Failed)],
        ),
        (
            "export default ({ output }) => { if (output) for (;;); return new ArrayBuffer(2 ** 31 - 1); };",
            [Some(ErrorKind::OutOfFuel), Some(ErrorKind::OutOfMemory)],
        ),
    ] {
        std::fs::write(&path, script).unwrap();
        let reference = Reference::File(path.clone());
        let component = Registry::with_builtins().resolve(&reference).unwrap().component;
        let limits = Limits::default().with_fuel(20_000_000);
        let both = ways.load(component.bytes().unwrap(), &json!({}), &limits).await;
        assert_eq!((both.apart.own_code(), both.whole.own_code()), (None, None));
        for (json, expected) in ["1", "0"].into_iter().zip(kinds) {
            assert_eq!(kind(&both.score(output(json)).await), expected, "{script}");
        }
    }
}

/// Memory that is too small for the scorer: which of its memories and tables is refused first may differ, but one must
/// be refused.
#[tokio::test]
async fn memory_ends_a_score_both_ways() {
    let ways = Ways::new();
    let settings = json!({"then": "take-memory", "amount": 1 << 20});
    let component = guest("misbehave");
    for memory_bytes in [1, 65_536, 600_000, 1 << 20] {
        let limits = Limits::default().with_memory_bytes(memory_bytes);
        let both = ways.load(&component, &settings, &limits).await;
        let (apart, whole) = (both.apart.score(output("1")), both.whole.score(output("1")));
        let (apart, whole) = (apart.await, whole.await);
        assert_eq!((kind(&apart), apart.fuel), (kind(&whole), whole.fuel), "{memory_bytes}");
        assert_eq!(kind(&apart), Some(ErrorKind::OutOfMemory), "{memory_bytes}");
    }
}

/// A scorer that imports nothing has no shim, and its state is a separate instance.
#[tokio::test]
async fn state_of_every_type_goes_from_configure_to_every_score_and_no_further() {
    let ways = Ways::new();
    let globals = r#"
        (global $i32 (mut i32) (i32.const 1)) (global $i64 (mut i64) (i64.const 2))
        (global $f32 (mut f32) (f32.const 3)) (global $f64 (mut f64) (f64.const 4))
        (global $still i32 (i32.const 7))
        (func $change
          (global.set $i32 (i32.add (global.get $i32) (i32.const -9)))
          (global.set $i64 (i64.mul (global.get $i64) (i64.const -5000000000)))
          (global.set $f32 (f32.div (global.get $f32) (f32.const 7)))
          (global.set $f64 (f64.sqrt (global.get $f64)))
          (i32.store (i32.const 100000) (i32.add (i32.load (i32.const 100000)) (i32.const 1)))
          (i64.store (i32.const 0) (i64.const 0x0102030405060708)))
        (func $seen (result i32)
          (i32.and (i32.eq (global.get $i32) (i32.const -8))
          (i32.and (i64.eq (global.get $i64) (i64.const -10000000000))
          (i32.and (i32.eq (i32.reinterpret_f32 (global.get $f32)) (i32.const 0x3edb6db7))
          (i32.and (f64.eq (global.get $f64) (f64.const 2))
          (i32.and (i32.eq (i32.load (i32.const 100000)) (i32.const 1))
          (i32.and (i64.eq (i64.load (i32.const 0)) (i64.const 0x0102030405060708))
          (i32.eq (global.get $still) (i32.const 7)))))))))"#;
    let module = Module {
        configure: "(call $change) (i32.const 3072)",
        score: "(if (i32.eqz (call $seen)) (then (unreachable))) (call $change) (i32.const 4096)",
        more: globals,
        ..Module::default()
    };
    let both = ways.load(&module.component(), &json!({}), &Limits::default()).await;
    assert_eq!((both.apart.start(), both.apart.own_code()), (&Start::Frozen, None));
    for _ in 0..3 {
        assert_eq!(kind(&both.score(output("1")).await), None);
    }
}

/// A module one of whose functions calls itself once for each byte of the output.
fn descends(place: &str) -> Vec<u8> {
    let usual = Module::default();
    let realloc = format!(
        "(if (i32.eq (local.get 2) (i32.const 1)) (then (call $down (local.get 3)))) {}",
        usual.realloc
    );
    let score = "(call $down (i32.load offset=4 (local.get 0))) (i32.const 4096)";
    let keeps_length =
        "(i32.store (i32.const 8) (i32.load offset=4 (local.get 0))) (i32.const 4096)";
    let after = "(func (export \"cabi_post_scorebox:scorer/scoring@0.1.0#score\") (param i32)
        (call $down (i32.load (i32.const 8))))";
    let down = "(func $down (param i32) (if (local.get 0)
        (then (call $down (i32.sub (local.get 0) (i32.const 1))))))";
    let more = if place == "post-return" { format!("{down} {after}") } else { down.to_owned() };
    let module = Module {
        realloc: if place == "realloc" { &realloc } else { usual.realloc },
        score: match place {
            "score" => score,
            "post-return" => keeps_length,
            _ => usual.score,
        },
        more: &more,
        ..Module::default()
    };
    module.component()
}

/// The stack size of a guest does not depend on its caller.
#[tokio::test]
async fn a_scorer_can_call_itself_as_often_both_ways() {
    let ways = Ways::new();
    for place in ["score", "realloc", "post-return"] {
        let both = ways.load(&descends(place), &json!({}), &Limits::default()).await;
        let deep = |letters: usize| format!("\"{}\"", "a".repeat(letters));
        let (mut fits, mut too_deep) = (1_000, 100_000);
        while too_deep - fits > 1 {
            let middle = usize::midpoint(fits, too_deep);
            match kind(&both.whole.score(output(&deep(middle))).await) {
                None => fits = middle,
                Some(ErrorKind::Trap) => too_deep = middle,
                other => panic!("{place}: {other:?}"),
            }
        }
        assert_eq!(kind(&both.score(output(&deep(fits))).await), None, "{place}");
        assert_eq!(
            kind(&both.score(output(&deep(too_deep))).await),
            Some(ErrorKind::Trap),
            "{place}"
        );
    }
}

/// A guest has its own stack, whatever stack the thread that waits for its answer has.
#[test]
fn a_scorer_without_end_is_a_trap_on_a_thread_with_little_stack() {
    let component = descends("score");
    let on_this_thread = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let sandbox = sandbox(1);
        let scored = async {
            let scorer = crate::sandbox_fixture::load(&sandbox, &component, &json!({})).await;
            kind(&scorer.score(output(&format!("\"{}\"", "a".repeat(1 << 20)))).await)
        };
        runtime.block_on(scored)
    };
    let thread = std::thread::Builder::new().stack_size(400 << 10);
    let kind = thread.spawn(on_this_thread).unwrap().join().unwrap();
    assert_eq!(kind, Some(ErrorKind::Trap));
}

/// Guests that wasmtime-wizer cannot freeze, but that start frozen if their code is compiled apart from their state.
#[tokio::test]
async fn vectors_and_memories_that_cannot_grow_start_frozen() {
    let vector = Module {
        configure: "(global.set $v (v128.const i64x2 5 -6)) (i32.const 3072)",
        score: "(if (i32.eqz (i64x2.all_true (i64x2.eq (global.get $v) (v128.const i64x2 5 -6))))
            (then (unreachable))) (i32.const 4096)",
        more: "(global $v (mut v128) (v128.const i64x2 1 2))",
        ..Module::default()
    };
    let full = Module {
        memory: "(memory (export \"memory\") 2 2)",
        configure: "(i64.store (i32.const 0) (i64.const 99)) (i32.const 3072)",
        score: "(if (i64.ne (i64.load (i32.const 0)) (i64.const 99)) (then (unreachable)))
            (i32.const 4096)",
        ..Module::default()
    };
    for module in [vector, full] {
        let sandbox = sandbox(1);
        let component = module.component();
        let scorer = crate::sandbox_fixture::load(&sandbox, &component, &json!({})).await;
        assert_eq!(*scorer.start(), Start::Frozen);
        assert_eq!(kind(&scorer.score(output("1")).await), None);
    }
}

#[tokio::test]
async fn what_is_not_split_is_frozen_with_its_code_and_says_why() {
    let ways = Ways::new();
    for (more, why) in [
        ("(data \"passive\")", "has passive data segments"),
        ("(func $begin (global.set $g (i32.const 9))) (start $begin)", "has a start function"),
        (
            "(global funcref (ref.func $nothing)) (func $nothing)",
            "has a global that does not begin with a constant number",
        ),
    ] {
        let more = format!("(global $g (mut i32) (i32.const 9)) {more}");
        let module = Module {
            configure: "(global.set $g (i32.sub (global.get $g) (i32.const 4))) (i32.const 3072)",
            score: "(if (i32.ne (global.get $g) (i32.const 5)) (then (unreachable)))
                (i32.const 4096)",
            more: &more,
            ..Module::default()
        };
        let both = ways.load(&module.component(), &json!({}), &Limits::default()).await;
        assert_eq!(*both.apart.start(), Start::Frozen, "{why}");
        assert_eq!(both.apart.own_code(), Some(why));
        assert_eq!(both.whole.own_code(), None);
        assert_eq!(kind(&both.score(output("1")).await), None, "{why}");
    }
}
