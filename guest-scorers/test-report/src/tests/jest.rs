//! The JSON of Vitest and Jest.

use super::*;

#[test]
fn json_of_vitest_and_jest() {
    let expected = "\
+ sum.test.js > sum > adds
- sum.test.js > sum > of texts > refuses \"a\" & <b>: {first}
. sum.test.js > sum > is skipped
. sum.test.js > sum > is to be done
- broken/syntax.test.js: {second}
";
    let first = "AssertionError: expected [Function] to throw an error";
    let second = "Parse failure: Parse failed with 1 error:";
    let vitest = expected.replace("{first}", first).replace("{second}", second);
    assert_eq!(outline(include_str!("../../fixtures/vitest.json")), vitest);
    let first = "Error: expect(received).toThrow()";
    let second = "● Test suite failed to run";
    let jest = expected.replace("{first}", first).replace("{second}", second);
    assert_eq!(outline(include_str!("../../fixtures/jest.json")), jest);
}

#[test]
fn an_interrupted_run_of_jest_fails() {
    let run = |was_interrupted: Value| {
        let test = json!({"title": "adds", "status": "passed"});
        let file =
            json!({"name": "/p/sum.test.js", "status": "passed", "assertionResults": [test]});
        json!({"wasInterrupted": was_interrupted, "testResults": [file]}).to_string()
    };
    let passed = "+ sum.test.js > adds\n";
    assert_eq!(outline(&run(json!(false))), passed);
    assert_eq!(outline(&run(json!(null))), passed);
    let interrupted = format!("{passed}- the run: it broke off: it was interrupted\n");
    assert_eq!(outline(&run(json!(true))), interrupted);
    assert_eq!(report(&run(json!(true))).unwrap().score, Some(0.5));
}

#[test]
fn a_run_of_jest_fails_that_says_so_without_a_failing_test() {
    let run = |summary: Value, status: &str| {
        let test = json!({"title": "a", "status": status});
        let file = json!({"name": "f.ts", "assertionResults": [test]});
        let mut report = json!({"testResults": [file]});
        report.as_object_mut().unwrap().extend(summary.as_object().unwrap().clone());
        report.to_string()
    };
    let summaries = [
        (json!({"numFailedTests": 1, "success": false}), "`numFailedTests: 1`"),
        (json!({"numFailedTestSuites": 2}), "`numFailedTestSuites: 2`"),
        (json!({"numRuntimeErrorTestSuites": 1}), "`numRuntimeErrorTestSuites: 1`"),
        (json!({"numFailedTests": 0, "success": false}), "`success: false`"),
    ];
    for (summary, stated) in summaries {
        let why = format!("the report says {stated}, but none of its tests fails");
        let expected = format!("+ f.ts > a\n- the run: {why}\n");
        assert_eq!(outline(&run(summary.clone(), "passed")), expected);
        assert_eq!(report(&run(summary.clone(), "passed")).unwrap().score, Some(0.5));
        assert_eq!(outline(&run(summary, "failed")), "- f.ts > a: it failed\n");
    }
    let well = json!({"numFailedTests": 0, "numFailedTestSuites": null, "success": true});
    assert_eq!(outline(&run(well, "passed")), "+ f.ts > a\n");
    let empty = outline(&json!({"success": false, "testResults": []}).to_string());
    assert_eq!(empty, "- the run: the report says `success: false`, but none of its tests fails\n");
}

#[test]
fn a_report_of_jest_that_counts_more_tests_than_it_lists_fails() {
    let run = |total: u64, statuses: &[&str]| {
        let test = |status: &&str| json!({"title": status, "status": status});
        let tests: Vec<_> = statuses.iter().map(test).collect();
        let file = json!({"name": "f.ts", "assertionResults": tests});
        json!({"numTotalTests": total, "success": true, "testResults": [file]}).to_string()
    };
    let why = "the report says `numTotalTests: 5`, but lists 1: the others are missing";
    assert_eq!(outline(&run(5, &["passed"])), format!("+ f.ts > passed\n- the run: {why}\n"));
    assert_eq!(report(&run(5, &["passed"])).unwrap().score, Some(0.5));
    // A failing test says enough.
    assert_eq!(outline(&run(5, &["failed"])), "- f.ts > failed: it failed\n");
    let whole = outline(&run(3, &["passed", "skipped", "todo"]));
    assert_eq!(whole, "+ f.ts > passed\n. f.ts > skipped\n. f.ts > todo\n");
}

#[test]
fn where_all_tests_fail_the_score_is_zero_and_not_less() {
    let xml = r#"<testsuite name="s"><testcase name="a"><failure/></testcase></testsuite>"#;
    let score = report(xml).unwrap().score.unwrap();
    assert!(score == 0.0 && score.is_sign_positive());
}
