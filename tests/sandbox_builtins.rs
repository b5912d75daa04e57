//! The built-in scorers as they are shipped, on cases as they are read from a file. Expected values were computed by
//! hand or by another program, never by this project.

use scorebox::{
    case::Case,
    contract::ScoreResult,
    sandbox::{ErrorKind, LoadedScorer, Outcome},
};
use serde_json::{Value, json};

use crate::sandbox_fixture::{builtin, error, load, result, sandbox};

async fn scorer(name: &str, settings: Value) -> LoadedScorer {
    load(&sandbox(1), &builtin(name), &settings).await
}

async fn outcome(scorer: &LoadedScorer, case: &Value) -> Outcome {
    let case = Case::from_json(case.to_string()).unwrap();
    scorer.score(case.scorer_input(scorer.info().reads)).await
}

async fn score(scorer: &LoadedScorer, case: &Value) -> ScoreResult {
    result(outcome(scorer, case).await)
}

fn meta(result: &ScoreResult) -> Option<Value> {
    result.meta.as_deref().map(|meta| serde_json::from_str(meta).unwrap())
}

/// Scores each output against its ground truth.
async fn expect(name: &str, settings: Value, pairs: &[(Value, Value, f64)]) {
    let scorer = scorer(name, settings.clone()).await;
    for (output, truth, expected) in pairs {
        let case = json!({"output": output, "groundTruth": truth});
        let score = score(&scorer, &case).await.score.unwrap();
        assert!((score - expected).abs() < 1e-9, "{name} {settings} {case}: {score}");
    }
}

#[tokio::test]
async fn levenshtein_counts_code_points() {
    let pairs = [
        ("kitten", "sitting", 4.0 / 7.0),
        ("Saturday", "Sunday", 0.625),
        ("rosettacode", "raisethysword", 5.0 / 13.0),
        ("intention", "execution", 4.0 / 9.0),
        ("flaw", "lawn", 0.5),
        ("한국어", "한국", 0.666_666_666_667),
        ("ﬁne", "fine", 0.5),
        ("naïve", "naive", 0.8),
        ("e\u{301}", "é", 0.0),
        ("👍🏽", "👍", 0.5),
        ("", "", 1.0),
        ("", "abc", 0.0),
        ("abc", "", 0.0),
        ("same", "same", 1.0),
    ];
    let pairs = pairs.map(|(output, truth, score)| (json!(output), json!(truth), score));
    expect("levenshtein", json!({}), &pairs).await;
    let folded = [(json!("PAREIL"), json!("pareil"), 1.0), (json!("Ünlü"), json!("ünl"), 0.75)];
    expect("levenshtein", json!({"ignoreCase": true}), &folded).await;
}

#[tokio::test]
async fn levenshtein_takes_the_best_of_a_list_and_json_as_its_text() {
    let pairs = [
        (json!("color"), json!(["hue", "colour", "tint"]), 5.0 / 6.0),
        (json!(42), json!("42"), 1.0),
        (json!(true), json!("tree"), 0.75),
        (json!("1234"), json!(1235), 0.75),
    ];
    expect("levenshtein", json!({}), &pairs).await;
    let scorer = scorer("levenshtein", json!({})).await;
    let case = json!({"output": "kitten", "groundTruth": "sitting"});
    let result = score(&scorer, &case).await;
    assert_eq!(result.reason.as_deref(), Some("3 edits away from the expected text"));
    assert_eq!(meta(&result), Some(json!({"distance": 3})));
}

#[tokio::test]
async fn exact_match_is_equality_of_json() {
    let pairs = [
        (json!("Paris"), json!("Paris"), 1.0),
        (json!("Paris"), json!("paris"), 0.0),
        (json!("Paris "), json!("Paris"), 0.0),
        (json!(1), json!(1.0), 1.0),
        (json!("1"), json!(1), 0.0),
        (json!(null), json!([null]), 1.0),
        (json!({"a": 1, "b": [2]}), json!({"b": [2.0], "a": 1}), 1.0),
        (json!([1, 2]), json!([2, 1]), 0.0),
        (json!([1, 2]), json!([1, 2]), 1.0),
        (json!("b"), json!(["a", "b"]), 1.0),
        (json!(""), json!(""), 1.0),
        (json!(false), json!(0), 0.0),
    ];
    expect("exact-match", json!({}), &pairs).await;
    let lenient = json!({"ignoreCase": true, "trim": true});
    expect("exact-match", lenient, &[(json!(" PARIS\n"), json!("paris"), 1.0)]).await;
    let negated = [(json!("a"), json!("a"), 0.0), (json!("a"), json!("b"), 1.0)];
    expect("exact-match", json!({"negate": true}), &negated).await;
}

#[tokio::test]
async fn contains_looks_for_any_all_or_none() {
    let text = "The capital of France is Paris.";
    let truths = [
        (json!("Paris"), 1.0),
        (json!("paris"), 0.0),
        (json!(["Rome", "Paris"]), 1.0),
        (json!(["Rome", "Oslo"]), 0.0),
        (json!(""), 1.0),
        (json!("."), 1.0),
    ];
    let pairs = truths.map(|(truth, score)| (json!(text), truth, score));
    expect("contains", json!({}), &pairs).await;
    let all = [
        (json!(text), json!(["Paris", "France"]), 1.0),
        (json!(text), json!(["Paris", "Rome"]), 0.0),
    ];
    expect("contains", json!({"mode": "all"}), &all).await;
    let none = [(json!(text), json!(["Rome", "Oslo"]), 1.0), (json!(text), json!("Paris"), 0.0)];
    expect("contains", json!({"mode": "none"}), &none).await;
    let start = [(json!(text), json!("the"), 1.0), (json!(text), json!("Paris."), 0.0)];
    expect("contains", json!({"at": "start", "ignoreCase": true}), &start).await;
    let end = [(json!(text), json!("Paris."), 1.0), (json!(text), json!("The"), 0.0)];
    expect("contains", json!({"at": "end"}), &end).await;
}

#[tokio::test]
async fn numeric_answer_reads_the_final_number() {
    let pairs = [
        ("5 + 5 = 10.\nA: 10", "10", 1.0),
        ("A: 10\nA: 11", "11", 1.0),
        ("first 3, then 4\n#### 7", "7", 1.0),
        ("The answer is $1,234.50.", "1234.5", 1.0),
        ("So the answer is -3", "-3", 1.0),
        ("\\boxed{42}", "42", 1.0),
        ("Final answer: 15%", "15", 1.0),
        ("18", "18.0", 1.0),
        ("A: 18", "81", 0.0),
        ("I think it may be 18 apples", "18", 0.0),
        ("no number at all", "18", 0.0),
        ("", "18", 0.0),
        ("A: 18", "so 9 + 9 = 18\n#### 18", 1.0),
    ];
    let pairs = pairs.map(|(output, truth, score)| (json!(output), json!(truth), score));
    expect("numeric-answer", json!({}), &pairs).await;
    let near = [(json!("A: 2.72"), json!(2.7202), 1.0), (json!("A: 2.7"), json!(2.7202), 0.0)];
    expect("numeric-answer", json!({"tolerance": 0.01}), &near).await;
    let last = [(json!("I think it may be 18 apples"), json!(18), 1.0)];
    expect("numeric-answer", json!({"fallback": "last-number"}), &last).await;
    let total = [(json!("total=5\nA: 6"), json!(5), 1.0)];
    expect("numeric-answer", json!({"pattern": r"total=(\d+)"}), &total).await;
}

#[tokio::test]
async fn latency_speaks_smithers_words() {
    let scorer = scorer("latency", json!({"targetMs": 5000, "maxMs": 30000})).await;
    for (latency, expected, reason) in [
        (0.0, 1.0, "0ms is within target (5000ms)"),
        (3000.0, 1.0, "3000ms is within target (5000ms)"),
        (5000.0, 1.0, "5000ms is within target (5000ms)"),
        (5000.4, 1.0 - 0.4 / 25_000.0, "5000ms (target: 5000ms, max: 30000ms)"),
        (10_000.0, 0.8, "10000ms (target: 5000ms, max: 30000ms)"),
        (10_000.5, 0.79998, "10001ms (target: 5000ms, max: 30000ms)"),
        (17_500.0, 0.5, "17500ms (target: 5000ms, max: 30000ms)"),
        (29_999.0, 0.00004, "29999ms (target: 5000ms, max: 30000ms)"),
        (30_000.0, 0.0, "30000ms exceeds max (30000ms)"),
        (60_000.0, 0.0, "60000ms exceeds max (30000ms)"),
        (1e12, 0.0, "1000000000000ms exceeds max (30000ms)"),
    ] {
        let result = score(&scorer, &json!({"output": 1, "latencyMs": latency})).await;
        let got = result.score.unwrap();
        assert!((got - expected).abs() < 1e-12, "{latency}: {got}");
        assert_eq!((result.reason.as_deref(), meta(&result)), (Some(reason), None));
    }
    let skipped = score(&scorer, &json!({"output": 1})).await;
    assert_eq!(skipped.score, Some(1.0));
    assert_eq!(skipped.reason.as_deref(), Some("No latency data available"));
    assert_eq!(meta(&skipped), Some(json!({"skipped": true})));
}

#[tokio::test]
async fn schema_adherence_speaks_smithers_words() {
    let scorer = scorer("schema-adherence", json!({})).await;
    let skipped = score(&scorer, &json!({"output": {"any": "thing"}})).await;
    assert_eq!(skipped.score, Some(1.0));
    assert_eq!(skipped.reason.as_deref(), Some("No output schema defined; skipping validation"));
    assert_eq!(meta(&skipped), Some(json!({"skipped": true})));

    let person = json!({
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string", "minLength": 2}, "age": {"minimum": 0}},
        "additionalProperties": false,
    });
    for (output, schema, expected) in [
        (json!({"name": "Ada"}), &person, 1.0),
        (json!({"name": "Ada", "age": 0}), &person, 1.0),
        (json!({"name": "Ada", "age": -1}), &person, 0.0),
        (json!({"name": "A"}), &person, 0.0),
        (json!({"name": 7}), &person, 0.0),
        (json!({}), &person, 0.0),
        (json!({"name": "Ada", "more": 1}), &person, 0.0),
        (json!([]), &person, 0.0),
        (json!("ann@example"), &json!({"format": "date"}), 1.0),
        (json!(1.0), &json!({"type": "integer"}), 1.0),
        (json!("aab"), &json!({"pattern": "^a+b$"}), 1.0),
        (json!([1, 1]), &json!({"uniqueItems": true}), 0.0),
        (json!(1), &json!(true), 1.0),
        (json!(1), &json!(false), 0.0),
    ] {
        let case = json!({"output": output, "outputSchema": schema});
        let result = score(&scorer, &case).await;
        assert_eq!(result.score, Some(expected), "{case}");
        let reason = result.reason.as_deref().unwrap();
        if expected == 1.0 {
            assert_eq!((reason, meta(&result)), ("Output matches schema", None));
        } else {
            assert!(reason.starts_with("Schema validation failed: "), "{case}: {reason}");
            let issues = meta(&result).unwrap();
            assert!(!issues["issues"].as_array().unwrap().is_empty(), "{issues}");
        }
    }
}

#[tokio::test]
async fn a_case_that_a_scorer_cannot_read_is_an_invalid_input_that_names_the_part() {
    for (name, case, part) in [
        ("levenshtein", json!({"output": "x"}), "groundTruth"),
        ("exact-match", json!({"output": "x"}), "groundTruth"),
        ("contains", json!({"output": "x"}), "groundTruth"),
        ("contains", json!({"output": "x", "groundTruth": []}), "groundTruth"),
        ("numeric-answer", json!({"output": "x"}), "groundTruth"),
        ("numeric-answer", json!({"output": "x", "groundTruth": "many"}), "groundTruth"),
        ("schema-adherence", json!({"output": 1, "outputSchema": {"type": 1}}), "outputSchema"),
    ] {
        let error = error(outcome(&scorer(name, json!({})).await, &case).await);
        assert_eq!(error.kind, ErrorKind::InvalidInput, "{name} {case}: {error}");
        assert!(error.message.contains(&format!("`{part}`")), "{name} {case}: {error}");
    }
}

/// When a memory grows, all other sandboxes of the process wait.
#[tokio::test]
async fn a_score_of_a_few_kilobytes_does_not_grow_its_memory() {
    for name in ["numeric-answer", "bleu"] {
        let scorer = scorer(name, json!({})).await;
        let mut peaks = Vec::new();
        for repeats in [1, 1000] {
            let case = json!({"output": "7 a ".repeat(repeats), "groundTruth": "7"});
            let outcome = outcome(&scorer, &case).await;
            assert!(outcome.result.is_ok(), "{name}: {:?}", outcome.result);
            peaks.push(outcome.memory_bytes);
        }
        assert_eq!(peaks[0], peaks[1], "{name}");
    }
}
