//! TAP 12 to 14.

use super::*;

#[test]
fn tap_of_node_of_node_tap_and_of_vitest() {
    assert_eq!(
        outline(include_str!("../../fixtures/node.tap")),
        "\
+ sum > adds
- sum > of texts > refuses # hashes: Missing expected exception.
. sum > is skipped
. sum > is to be done
+ a test with a step > step
- a test with a step: after the step
"
    );
    assert_eq!(
        outline(include_str!("../../fixtures/node-tap.tap")),
        "\
+ sum > adds
- sum > of texts > refuses # hashes: it failed
. sum > is skipped
. sum > is to be done
"
    );
    assert_eq!(
        outline(include_str!("../../fixtures/vitest.tap")),
        "\
+ sum.test.js > sum > adds
- sum.test.js > sum > of texts > refuses \"a\" & <b>: expected [Function] to throw an error
. sum.test.js > sum > is skipped
. sum.test.js > sum > is to be done
- broken/syntax.test.js: Parse failure: Parse failed with 1 error:
"
    );
}

#[test]
fn tap_of_old() {
    // The examples of the TAP 12 and 13 documents.
    assert_eq!(
        outline(
            "1..4\nok 1 - Input file opened\nnot ok 2 - First line of the input valid\nok 3\nnot ok 4 # TODO not written yet\n"
        ),
        "+ Input file opened\n- First line of the input valid: it failed\n+ test 3\n. test 4\n"
    );
    assert_eq!(
        outline("1..3\nok 1\nnot ok - Failed to open\nBail out! No database\n"),
        "+ test 1\n- Failed to open: it failed\n- the run: it bailed out: No database\n"
    );
    assert_eq!(
        outline("1..0 # skip because English-to-French translator isn't installed"),
        ". all tests\n"
    );
    assert_eq!(
        outline("ok 1 - a\nok 2 - b # SKIP no network\n1..3\n"),
        "+ a\n. b\n- the run: 3 tests were planned, 2 reported\n"
    );
    assert_eq!(outline("ok 1 - a\n"), "+ a\n- the run: it broke off: there is no plan\n");
}

#[test]
fn the_reason_of_a_tap_test_may_be_a_text_of_several_lines() {
    let reason = |diagnostics: &str| {
        let tap = format!("TAP version 13\nnot ok 1 - a\n  ---\n{diagnostics}\n  ...\n1..1\n");
        match Format::Tap.read(&tap).unwrap().as_slice() {
            [Reported { outcome: Outcome::Failed(why), .. }] => why.clone(),
            other => panic!("one failing test should be reported, not {other:?}"),
        }
    };
    // Node's, of `assert.ok(0)`.
    assert_eq!(
        reason(
            "  error: |-\n    The expression is falsy:\n    \n      assert.ok(0)\n    \n  code: 'E'"
        ),
        "The expression is falsy:\n\n  assert.ok(0)"
    );
    // Whatever the lines look like, they are part of the text.
    assert_eq!(
        reason("  error: |-\n    boom\n    ...\n    ok 9 - fake\n  code: 'E'"),
        "boom\n...\nok 9 - fake"
    );
    assert_eq!(reason("  stack: |-\n    error: no\n  message: >2-\n    yes"), "yes");
    let long = format!("  error: |\n{}", "    line\n".repeat(1000));
    assert_eq!(reason(&long).lines().count(), 20);
    assert_eq!(reason("  error: |-"), "it failed");
}

#[test]
fn a_run_of_tap_fails_whose_numbers_are_not_those_of_the_plan() {
    let run = |lines: &str| outline(&format!("1..2\n{lines}"));
    let why = "a test has the number 3, but the plan is 1..2";
    assert_eq!(run("ok 1 - a\nok 3 - c\n"), format!("+ a\n+ c\n- the run: {why}\n"));
    let twice = "- the run: two tests have the number 1\n";
    assert_eq!(run("ok 1 - a\nok 1 - a\n"), format!("+ a\n+ a\n{twice}"));
    assert!(run("ok 0\nok 1\n").ends_with("has the number 0, but the plan is 1..2\n"));
    assert_eq!(run("ok 2 - b\nok 1 - a\n"), "+ b\n+ a\n");
    assert_eq!(run("ok - a\nok - b\n"), "+ a\n+ b\n");
    // Subtests have separate numbers.
    assert_eq!(run("    ok 1 - x\nok 1 - a\n    ok 1 - x\nok 2 - b\n"), "+ a > x\n+ b > x\n");
}

#[test]
fn what_go_says_of_a_package_is_no_tap() {
    assert!(Format::of("ok  \tp\t0.1s\n").is_err());
    assert_eq!(outline("1..1\nok  \tp\t0.1s\nok 1 - a\n"), "+ a\n");
}
