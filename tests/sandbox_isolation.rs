//! Scores know nothing of each other or of the machine: nothing survives a score, and the same case gives the same
//! result and uses the same fuel wherever and whenever it is scored.

use std::{collections::BTreeMap, sync::Arc};

use insta::assert_snapshot;
use scorebox::{
    case::Case,
    contract::{Example, Field},
    registry::Registry,
    row::Answer,
    sandbox::{Anatomy, LoadedScorer, Sandbox, Start},
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::sandbox_fixture::{builtin, guest, load, output, result, sandbox};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_survives_from_one_score_to_the_next() {
    let scorer = load(&sandbox(2), &guest("misbehave"), &json!({"then": "keep-state"})).await;
    for _ in 0..20 {
        assert_eq!(result(scorer.score(output("1")).await).reason.as_deref(), Some("1"));
    }
    let scorer = Arc::new(scorer);
    let mut scores = JoinSet::new();
    for _ in 0..50 {
        let scorer = Arc::clone(&scorer);
        scores.spawn(async move { result(scorer.score(output("1")).await).reason });
    }
    let reasons = scores.join_all().await;
    assert_eq!(reasons, vec![Some("1".to_owned()); 50]);
}

#[tokio::test]
async fn what_configure_counted_is_where_every_score_starts() {
    let both = json!({"first": "keep-state", "then": "keep-state"});
    let scorer = load(&sandbox(1), &guest("misbehave"), &both).await;
    assert_eq!(*scorer.start(), Start::Frozen);
    for _ in 0..5 {
        assert_eq!(result(scorer.score(output("1")).await).reason.as_deref(), Some("2"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_scores_than_slots_wait_for_one() {
    let sleeper = Arc::new(load(&sandbox(2), &guest("sleeper"), &json!({"ms": 20})).await);
    let mut scores = JoinSet::new();
    for _ in 0..12 {
        let sleeper = Arc::clone(&sleeper);
        scores.spawn(async move { result(sleeper.score(output("1")).await).score });
    }
    assert_eq!(scores.join_all().await, vec![Some(1.0); 12]);
}

#[tokio::test]
async fn a_scorer_sees_the_parts_that_it_reads_as_the_bytes_that_were_given() {
    let scorer = load(&sandbox(1), &guest("misbehave"), &json!({"then": "tell"})).await;
    let line = "{\"output\": 1, \"input\": { \"é\" :\t1.50e1 ,\"\\u0041\":[ ] }, \
                \"groundTruth\": \"secret\", \"metadata\" : [1 , 2]}";
    let case = Case::from_json(line).unwrap();
    let input = case.scorer_input(scorer.info().reads);
    assert_eq!(input.json(Field::GroundTruth), None);
    let told = result(scorer.score(input).await).reason.unwrap();
    let seen = ["{ \"é\" :\t1.50e1 ,\"\\u0041\":[ ] }", "[1 , 2]"];
    assert_eq!(told, format!("{:?} {:?}", Some(seen[0]), Some(seen[1])));
}

#[tokio::test]
async fn a_part_that_the_case_lacks_is_absent_and_not_null() {
    let scorer = load(&sandbox(1), &guest("misbehave"), &json!({"then": "tell"})).await;
    for (line, told) in [
        (r#"{"output": 1}"#, "None None"),
        (r#"{"output": 1, "metadata": {}}"#, "None Some(\"{}\")"),
    ] {
        let case = Case::from_json(line).unwrap();
        let outcome = scorer.score(case.scorer_input(scorer.info().reads)).await;
        assert_eq!(result(outcome).reason.as_deref(), Some(told));
    }
}

/// A built-in scorer with the configuration and the case of its example, and the same case with another output.
struct Builtin {
    name: String,
    scorer: LoadedScorer,
    case: Case,
    other: Case,
}

/// Every built-in scorer.
async fn all_builtins(sandbox: &Sandbox) -> Vec<Arc<Builtin>> {
    let registry = Registry::with_builtins();
    let mut builtins = Vec::new();
    for name in registry.list() {
        let component = registry.get(name).unwrap().component;
        let component = component.bytes().unwrap();
        // A scorer that asks a judge has no example.
        let Some(example) = Anatomy::read(component).unwrap().example else { continue };
        let example = Example::parse(&example).unwrap();
        let scorer = load(sandbox, component, &Value::from(example.config)).await;
        let case = example.case.get().to_owned();
        let mut other: Value = serde_json::from_str(&case).unwrap();
        other["output"] = json!(["something", {"else": "entirely"}]);
        builtins.push(Arc::new(Builtin {
            name: name.to_owned(),
            scorer,
            case: Case::from_json(case).unwrap(),
            other: Case::from_json(other.to_string()).unwrap(),
        }));
    }
    assert!(builtins.len() >= 57, "{}", builtins.len());
    builtins
}

/// The result and the cost of a score, without the time.
async fn trail(scorer: &LoadedScorer, case: &Case) -> Answer {
    let outcome = scorer.score(case.scorer_input(scorer.info().reads)).await;
    let mut answer = Answer::from(outcome);
    answer.duration_ms = None;
    answer
}

/// Nothing that a scorer keeps from one score reaches the next, whichever case comes between, in any order and next to
/// any other scores.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_built_in_scorer_says_the_same_at_the_same_cost_in_any_order_and_at_once() {
    let (one, another) = (all_builtins(&sandbox(1)).await, all_builtins(&sandbox(4)).await);
    let mut expected = BTreeMap::new();
    for Builtin { name, scorer, case, other } in one.iter().map(AsRef::as_ref) {
        let first = trail(scorer, case).await;
        assert_eq!(first.error, None, "{name}");
        let between = trail(scorer, other).await;
        assert_eq!(trail(scorer, case).await, first, "{name}, after another case");
        assert_eq!(trail(scorer, other).await, between, "{name}, after its example");
        expected.insert(name.clone(), (first, between));
    }
    for Builtin { name, scorer, case, .. } in another.iter().rev().map(AsRef::as_ref) {
        assert_eq!(trail(scorer, case).await, expected[name].0, "{name}, with other slots");
    }
    let mut scores = JoinSet::new();
    for builtin in another.iter().cycle().take(3 * another.len()).map(Arc::clone) {
        scores.spawn(async move {
            let Builtin { name, scorer, case, other } = builtin.as_ref();
            let both = (trail(scorer, case).await, trail(scorer, other).await);
            (name.clone(), both)
        });
    }
    for (name, both) in scores.join_all().await {
        assert_eq!(both, expected[&name], "{name}, beside others");
    }
}

/// A schema that takes noticeable time to compile.
fn schema_of_patterns(count: usize) -> Value {
    let property =
        |number| (format!("p{number}"), json!({"pattern": format!("^[a-z]{{{number},40}}x?$")}));
    json!({"properties": (1..=count).map(property).collect::<serde_json::Map<_, _>>()})
}

#[tokio::test]
async fn configure_is_paid_for_once_and_not_by_the_scores() {
    let sandbox = sandbox(1);
    let component = builtin("schema-adherence");
    let settings = json!({"schema": schema_of_patterns(40)});
    let scorer = load(&sandbox, &component, &settings).await;
    assert_eq!(*scorer.start(), Start::Frozen);
    let case = output(r#"{"p1": "a", "p2": "1"}"#);
    let frozen = scorer.score(case).await;
    let again = scorer.score(case).await;
    assert_eq!(frozen.fuel, again.fuel);
    // If the case contains the same schema, the score must compile it.
    let schema = schema_of_patterns(40).to_string();
    let each_time = load(&sandbox, &component, &json!({})).await;
    let compiling = each_time.score(case.with(Field::OutputSchema, &schema)).await;
    let (started_frozen, compiled) = (frozen.fuel.unwrap(), compiling.fuel.unwrap());
    assert!(started_frozen * 20 < compiled, "{started_frozen} against {compiled}");
    assert_eq!(result(frozen), result(compiling));
}

#[tokio::test]
async fn clocks_and_random_numbers_are_made_of_the_case() {
    let sleeper = load(&sandbox(1), &guest("sleeper"), &json!({"ms": 5})).await;
    // `configure` does not read the clock and leaves no handle.
    assert_eq!(*sleeper.start(), Start::Frozen);
    let first = sleeper.score(output("1")).await;
    let again = sleeper.score(output("1")).await;
    let other = sleeper.score(output("2")).await;
    assert_eq!(first.fuel, again.fuel);
    let told = |outcome| result(outcome).reason.unwrap();
    let (first, again, other) = (told(first), told(again), told(other));
    assert_eq!(first, again);
    // The same input must give the same on every machine and in every version, or receipts are worthless.
    assert_snapshot!(first, @"it is 1760662320.000000000 s, and 5000000 then 5001000 ns on; random numbers are 7190210636923906296, 4884382043129044517 and (5884129616207218030, 8199778885885584601)");
    assert_snapshot!(other, @"it is 1793023289.000000000 s, and 5000000 then 5001000 ns on; random numbers are 5462171594110932463, 16998662751835504039 and (14941760752017281849, 11896212819185039713)");
}
