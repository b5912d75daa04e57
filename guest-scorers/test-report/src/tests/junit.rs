//! JUnit XML: how a test is marked as failed. Other formats have their own files.

use super::*;

#[test]
fn junit_of_vitest_and_of_node() {
    assert_eq!(
        outline(include_str!("../../fixtures/vitest.xml")),
        "\
+ sum.test.js > sum > adds
- sum.test.js > sum > of texts > refuses \"a\" & <b>: expected [Function] to throw an error
. sum.test.js > sum > is skipped
. sum.test.js > sum > is to be done
- broken/syntax.test.js: Parse failure: Parse failed with 1 error: Unexpected token 1: const = ;          ^ At file: /broken/syntax.test.js:1:6
"
    );
    assert_eq!(
        outline(include_str!("../../fixtures/node.xml")),
        "\
+ sum > adds
- sum > of texts > refuses # hashes: Missing expected exception.
. sum > is skipped
. sum > is to be done
+ a test with a step > step
"
    );
}

#[test]
fn a_junit_test_may_say_in_an_attribute_how_it_ended() {
    let xml = r#"<testsuite name="s">
        <testcase name="a" status="run" result="completed"/>
        <testcase name="b" status="failed"/>
        <testcase name="c" status="notrun" result="suppressed"/>
        <testcase name="d" status="disabled"/>
        <testcase name="e" status="run"><failure message="no"/></testcase>
    </testsuite>"#;
    assert_eq!(outline(xml), "+ s > a\n- s > b: it failed\n. s > c\n. s > d\n- s > e: no\n");
}

#[test]
fn a_skipped_junit_test_fails_where_its_tear_down_does() {
    // As pytest's junitxml writes it.
    let xml = r#"<testsuite name="s">
        <testcase name="a"><skipped type="pytest.skip"/><error message="failed on teardown"/></testcase>
        <testcase name="b"><error message="failed on setup"/><skipped/></testcase>
        <testcase name="c"><skipped type="pytest.skip"/></testcase>
    </testsuite>"#;
    assert_eq!(outline(xml), "- s > a: failed on teardown\n- s > b: failed on setup\n. s > c\n");
    assert_eq!(report(xml).unwrap().score, Some(0.0));
    // Node runs tests that are to do or skip themselves; neither has to pass.
    let node = r#"<testsuite name="s">
        <testcase name="a"><skipped type="todo"/><failure message="not yet"/></testcase>
        <testcase name="b"><skipped type="skipped"/><failure message="no"/></testcase>
    </testsuite>"#;
    assert_eq!(outline(node), ". s > a\n. s > b\n");
}

#[test]
fn only_an_element_directly_inside_a_junit_test_says_how_it_ended() {
    let xml = r#"<testsuite name="s">
        <testcase name="a"><properties><skipped/></properties></testcase>
        <testcase name="b"><system-out><disabled/><failure/></system-out></testcase>
    </testsuite>"#;
    assert_eq!(outline(xml), "+ s > a\n+ s > b\n");
}

#[test]
fn a_junit_suite_that_counts_failures_fails_however_many_they_are() {
    let xml = format!("<testsuite name='s' failures='{}' errors='1'/>", u64::MAX);
    assert_eq!(
        outline(&xml),
        format!("- s: it reports {} failures and 1 error, but has no tests\n", u64::MAX)
    );
}

#[test]
fn a_junit_suite_fails_that_counts_failures_and_has_none() {
    let of = |counts: &str, tests: &str| {
        outline(&format!("<testsuite name='x' {counts}>{tests}</testsuite>"))
    };
    let test = "<testcase name='a'/>";
    assert_eq!(
        of("tests='3' failures='2'", test),
        "+ x > a\n- x: it reports 2 failures, but none of its tests fails\n"
    );
    assert_eq!(of("errors='1'", ""), "- x: it reports 1 error, but has no tests\n");
    assert_eq!(of("failures='1'", ""), "- x: it reports 1 failure, but has no tests\n");
    assert_eq!(
        of("failures='1' errors='2'", test),
        "+ x > a\n- x: it reports 1 failure and 2 errors, but none of its tests fails\n"
    );
    assert_eq!(of("failures='0' errors='0'", test), "+ x > a\n");
    let all = format!(
        "<testsuites name='tool' failures='1'><testsuite name='x'>{test}</testsuite></testsuites>"
    );
    assert_eq!(
        outline(&all),
        "+ x > a\n- the run: it reports 1 failure, but none of its tests fails\n"
    );
}

#[test]
fn a_junit_suite_may_count_failures_otherwise_than_its_tests() {
    let of = |xml: &str| outline(&format!("<testsuites>{xml}</testsuites>"));
    // From PHPUnit: a parent counts the failures of its children, and counts them once.
    let nested = "<testsuite name='x' failures='1'><testsuite name='y' failures='1'>\
        <testcase name='a'>{}</testcase></testsuite><testcase name='b'/></testsuite>";
    assert_eq!(of(&nested.replace("{}", "<failure message='no'/>")), "- x > y > a: no\n+ x > b\n");
    assert_eq!(
        of(&nested.replace("{}", "")),
        "+ x > y > a\n- y: it reports 1 failure, but none of its tests fails\n+ x > b\n"
    );
    // pytest counts a test that fails twice once; others count every failure.
    for failures in [1, 2, 3] {
        let twice = "<testcase name='a'><failure message='no'/><failure/></testcase>";
        let suite = format!("<testsuite name='x' failures='{failures}'>{twice}</testsuite>");
        assert_eq!(of(&suite), "- x > a: no\n");
    }
    // Node counts failing tests that are to do.
    let to_do = "<testsuite name='x' failures='1'><testcase name='a'>\
        <skipped type='todo'/><failure message='no'/></testcase></testsuite>";
    assert_eq!(of(to_do), ". x > a\n");
    // Surefire may count a failure that a later run of the test repaired.
    let flaky = "<testsuite name='x' failures='1'><testcase name='a'>\
        <flakyFailure message='no'/></testcase></testsuite>";
    assert_eq!(of(flaky), "+ x > a\n");
    let status = "<testsuite name='x' errors='1'><testcase name='a' status='error'/></testsuite>";
    assert_eq!(of(status), "- x > a: it failed\n");
}

#[test]
fn an_error_outside_of_the_tests_of_a_junit_suite_fails() {
    let of = |inside: &str| outline(&format!("<testsuite name='x'>{inside}</testsuite>"));
    let outside = "- x: it reports an error outside of its tests\n";
    assert_eq!(of("<error message='no'/><testcase name='a'/>"), format!("+ x > a\n{outside}"));
    assert_eq!(of("<testcase name='a'/><failure/>"), format!("+ x > a\n{outside}"));
    let both = "<error message='no'/><testcase name='a'><failure message='no'/></testcase>";
    assert_eq!(of(both), "- x > a: no\n");
}
