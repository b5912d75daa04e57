//! A scorer whose traps are detected by checks in its code, for hosts with their own signal handlers, compared with the
//! same scorer with traps by signals: all fields of their rows must be the same.

use scorebox::{
    case::Case,
    contract::{Example, Fields},
    sandbox::{Anatomy, ErrorKind, Limits, Outcome, Sandbox},
};
use serde_json::json;

use crate::hostile_fixture::attacker;
use crate::sandbox_fixture::{
    builtin, error, guest, must_be_the_same_fuel, sandbox, sandbox_without_signals, try_load,
};

struct Ways {
    signals: Sandbox,
    checks: Sandbox,
}

impl Ways {
    fn new() -> Ways {
        Ways { signals: sandbox(1), checks: sandbox_without_signals(1) }
    }

    /// The outcome, which must be the same both ways.
    async fn score(&self, component: &[u8], settings: &serde_json::Value, case: &Case) -> Outcome {
        let limits = Limits::default().with_fuel(200_000_000);
        let mut outcomes = Vec::new();
        for sandbox in [&self.signals, &self.checks] {
            let scorer = try_load(sandbox, component, settings, &limits).await.unwrap();
            outcomes.push(scorer.score(case.scorer_input(Fields::ALL)).await);
        }
        let (checks, signals) = (outcomes.pop().unwrap(), outcomes.pop().unwrap());
        assert_eq!(signals.result, checks.result, "{settings}");
        must_be_the_same_fuel(&signals, &checks);
        assert_eq!(signals.memory_bytes, checks.memory_bytes);
        assert_eq!(signals.log, checks.log);
        checks
    }
}

#[tokio::test]
async fn scorers_have_the_same_scores_and_fuel() {
    let ways = Ways::new();
    for name in ["exact-match", "numeric-answer", "rouge", "regex", "json-valid"] {
        let component = builtin(name);
        let example = Anatomy::read(&component).unwrap().example.unwrap();
        let example = Example::parse(&example).unwrap();
        let settings = serde_json::Value::Object(example.config.clone());
        let case = Case::from_json(example.case.get()).unwrap();
        let outcome = ways.score(&component, &settings, &case).await;
        assert!(example.promises(outcome.result.unwrap().score), "{name}");
    }
}

#[tokio::test]
async fn scorers_that_trap_have_the_same_errors() {
    let (ways, misbehave) = (Ways::new(), guest("misbehave"));
    let case = Case::from_json(r#"{"output": 1}"#).unwrap();
    for (deed, kind) in [
        (json!({"then": "panic"}), ErrorKind::Trap),
        (json!({"then": "recurse"}), ErrorKind::Trap),
        (json!({"then": "spin"}), ErrorKind::OutOfFuel),
        (json!({"then": "take-memory", "amount": 100 << 20}), ErrorKind::OutOfMemory),
    ] {
        let outcome = ways.score(&misbehave, &deed, &case).await;
        assert_eq!(outcome.result.unwrap_err().kind, kind, "{deed}");
    }
}

#[tokio::test]
async fn an_access_outside_its_memory_and_a_division_by_zero_are_traps() {
    let (ways, component) = (Ways::new(), attacker("attacker"));
    let case = Case::from_json(r#"{"output": 1}"#).unwrap();
    for attack in ["read-out-of-bounds", "divide-by-zero"] {
        let order = json!({ "score": attack });
        let error = error(ways.score(&component, &order, &case).await);
        assert!(error.message.starts_with("wasm trap: "), "{error}");
    }
}
