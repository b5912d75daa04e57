//! Scores know nothing of each other, nor of the machine: nothing survives a score, and the same case
//! gives the same result and takes the same fuel wherever and whenever it is scored.

use std::{collections::BTreeMap, sync::Arc};

use insta::assert_snapshot;
use scorebox::{
    case::Case,
    contract::ScorerInput,
    sandbox::{LoadedScorer, Start},
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
    assert_eq!((input.ground_truth, input.context, input.trace), (None, None, None));
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

/// A case that each built-in scorer has something to do with.
const CASE: ScorerInput<'static> = ScorerInput {
    output: r#""The answer is 18""#,
    input: Some(r#""How many?""#),
    ground_truth: Some(r#""18""#),
    context: None,
    latency_ms: Some(1234.5),
    output_schema: Some(r#"{"type": "string", "maxLength": 5}"#),
    trace: None,
    usage: None,
    metadata: None,
    baseline: None,
    workspace: None,
};

const BUILTINS: [&str; 6] =
    ["contains", "exact-match", "latency", "levenshtein", "numeric-answer", "schema-adherence"];

async fn all_builtins(slots: u32) -> Vec<(&'static str, Arc<LoadedScorer>)> {
    let sandbox = sandbox(slots);
    let mut scorers = Vec::new();
    for name in BUILTINS {
        let settings = match name {
            "latency" => json!({"targetMs": 1000, "maxMs": 2000}),
            _ => json!({}),
        };
        scorers.push((name, Arc::new(load(&sandbox, &builtin(name), &settings).await)));
    }
    scorers
}

/// Score, reason, meta, fuel and memory.
type Trail = (Option<f64>, Option<String>, Option<String>, Option<u64>, u64);

async fn trail(scorer: &LoadedScorer) -> Trail {
    let outcome = scorer.score(CASE).await;
    let (fuel, memory) = (outcome.fuel, outcome.memory_bytes);
    let result = result(outcome);
    (result.score, result.reason, result.meta, fuel, memory)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_case_gives_the_same_score_reason_and_fuel_in_any_order_and_at_once() {
    let (one, another) = (all_builtins(1).await, all_builtins(4).await);
    let mut expected: BTreeMap<&str, Trail> = BTreeMap::new();
    for (name, scorer) in &one {
        expected.insert(name, trail(scorer).await);
    }
    for (name, scorer) in one.iter().rev().chain(another.iter().rev()) {
        assert_eq!(trail(scorer).await, expected[name], "{name}");
    }
    let mut scores = JoinSet::new();
    for _ in 0..8 {
        for (name, scorer) in another.iter().cloned() {
            scores.spawn(async move { (name, trail(&scorer).await) });
        }
    }
    for (name, trail) in scores.join_all().await {
        assert_eq!(trail, expected[name], "{name}");
    }
}

/// A schema whose compilation takes its time.
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
    // The same schema, brought by the case, has to be compiled by the score.
    let schema = schema_of_patterns(40).to_string();
    let each_time = load(&sandbox, &component, &json!({})).await;
    let compiling = each_time.score(ScorerInput { output_schema: Some(&schema), ..case }).await;
    let (started_frozen, compiled) = (frozen.fuel.unwrap(), compiling.fuel.unwrap());
    assert!(started_frozen * 20 < compiled, "{started_frozen} against {compiled}");
    assert_eq!(result(frozen), result(compiling));
}

#[tokio::test]
async fn clocks_and_random_numbers_are_made_of_the_case() {
    let sleeper = load(&sandbox(1), &guest("sleeper"), &json!({"ms": 5})).await;
    let Start::ConfigureEachTime { reason } = sleeper.start() else { panic!("it is frozen") };
    assert!(reason.contains("WASI"), "{reason}");
    let first = sleeper.score(output("1")).await;
    let again = sleeper.score(output("1")).await;
    let other = sleeper.score(output("2")).await;
    assert_eq!(first.fuel, again.fuel);
    let told = |outcome| result(outcome).reason.unwrap();
    let (first, again, other) = (told(first), told(again), told(other));
    assert_eq!(first, again);
    // For the same input the same on every machine and in every version, or receipts are worth nothing.
    assert_snapshot!(first, @"it is 1760662320.000000000 s, and 5000000 then 5001000 ns on; random numbers are 7190210636923906296, 4884382043129044517 and (5884129616207218030, 8199778885885584601)");
    assert_snapshot!(other, @"it is 1793023289.000000000 s, and 5000000 then 5001000 ns on; random numbers are 5462171594110932463, 16998662751835504039 and (14941760752017281849, 11896212819185039713)");
}
