//! trajectory, as a specification. The cases are those of Orbiter's documentation and its own
//! tests.

use super::*;

fn score(config: Value, case: &Case) -> Score {
    let scorer: Trajectory = scorebox_sdk::configure(config).unwrap();
    scorer.score(case).unwrap()
}

fn of_output(output: Value) -> Score {
    score(json!({}), &Case::new(output))
}

#[test]
fn the_example_of_orbiter_gives_its_score() {
    let trajectory = json!([
        {"step": 1, "action": "search", "observation": "found 3 results"},
        {"step": 2, "action": "click"},
        {"id": "s3", "action": "submit", "observation": "success"},
    ]);
    let config = json!({"requiredKeys": ["action", "observation"]});
    let score = score(config, &Case::new(trajectory));
    assert_eq!(score.score, Some(2.0 / 3.0));
    let errors = ["step 1: missing ['observation']"];
    assert_eq!(score.meta_value(), Some(json!({"valid": 2, "total": 3, "errors": errors})));
    assert_eq!(
        score.reason.as_deref(),
        Some("2 of 3 steps are valid; step 1: missing ['observation']")
    );
}

#[test]
fn a_step_needs_a_number_or_an_id_and_an_action() {
    assert_eq!(of_output(json!([{"step": 0, "action": {}}])).score, Some(1.0));
    assert_eq!(of_output(json!([{"id": "abc", "action": {}}])).score, Some(1.0));
    assert_eq!(of_output(json!([{"step": 0, "action": {}}, {"action": {}}])).score, Some(0.5));
    let neither = of_output(json!([{"thought": "hm"}]));
    assert_eq!(neither.score, Some(0.0));
    let errors = ["step 0: missing step/id, missing ['action']"];
    assert_eq!(neither.meta_value(), Some(json!({"valid": 0, "total": 1, "errors": errors})));
}

#[test]
fn a_key_with_null_is_there() {
    assert_eq!(of_output(json!([{"step": null, "action": null}])).score, Some(1.0));
}

#[test]
fn the_list_may_stand_under_trajectory_and_items_that_are_not_objects_do_not_count() {
    let steps = json!([{"step": 1, "action": "a"}, "bad", 42, {"step": 2, "action": "b"}]);
    let score = of_output(json!({"trajectory": {"trajectory": steps}, "answer": 5}));
    assert_eq!(score.meta_value(), Some(json!({"valid": 2, "total": 2, "errors": []})));
}

#[test]
fn without_a_trajectory_in_the_output_the_trace_is_one() {
    let trace = json!({"steps": [{"step": 1, "action": "a"}, {"step": 2}]});
    let case = Case::new(json!("done")).with_trace(trace.clone());
    assert_eq!(score(json!({}), &case).score, Some(0.5));
    let both = Case::new(json!([{"step": 1, "action": "a"}])).with_trace(trace);
    assert_eq!(score(json!({}), &both).score, Some(1.0));
}

#[test]
fn empty_or_invalid_scores_0() {
    for output in
        [json!([]), json!("not a list"), json!({"trajectory": []}), json!(["bad"]), json!(null)]
    {
        let score = of_output(output);
        assert_eq!(score.score, Some(0.0));
        assert_eq!(score.meta_value(), Some(json!({"error": "Empty or invalid trajectory"})));
    }
}

#[test]
fn no_more_errors_are_listed_than_a_person_reads_and_the_others_are_counted() {
    let meta = |invalid| {
        let mut steps = vec![json!({"step": 0, "action": "a"})];
        steps.resize(1 + invalid, json!({}));
        of_output(Value::Array(steps)).meta_value().unwrap()
    };
    let many = meta(5000);
    assert_eq!(many["errors"].as_array().unwrap().len(), ERROR_LIMIT);
    assert_eq!(many["notListed"], json!(4900));
    let all = meta(ERROR_LIMIT);
    assert_eq!(all["errors"].as_array().unwrap().len(), ERROR_LIMIT);
    assert_eq!(all.get("notListed"), None);
}

#[test]
fn keys_are_quoted_as_python_quotes_them() {
    // The results of Python's `repr`.
    for (key, written) in [
        ("action", "'action'"),
        ("it's", "\"it's\""),
        ("say \"x\"", "'say \"x\"'"),
        ("it's \"x\"", "'it\\'s \"x\"'"),
        ("a\\b\n\u{1}\u{85}é", "'a\\\\b\\n\\x01\\x85é'"),
    ] {
        assert_eq!(quoted(key), written);
    }
    let score = score(json!({"requiredKeys": ["it's"]}), &Case::new(json!([{"step": 1}])));
    assert_eq!(score.meta_value().unwrap()["errors"], json!(["step 0: missing [\"it's\"]"]));
}

#[test]
fn an_empty_key_is_refused() {
    let error = scorebox_sdk::configure::<Trajectory>(json!({"requiredKeys": ["a", ""]})).err();
    assert_eq!(
        error.unwrap().to_string(),
        "`requiredKeys[1]` is empty; name the key, or leave it out"
    );
}
