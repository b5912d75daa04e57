//! Runs in which nothing decides: pass rates that nothing can break, gates that decide no case, cases that are all skipped.

use insta::assert_snapshot;

use crate::command_verdict::{CHECKS, folder};

#[test]
fn a_pass_rate_is_not_met_if_no_scorer_decides() {
    let folder = folder();
    let run = "scorebox run cases.jsonl -q -s exact-match --allow-errors";
    folder.sh(run).exits_with(0);
    let said = folder.sh(&format!("{run} --min-pass-rate 0.5")).exits_with(3).stderr;
    assert!(!said.contains("cases passed"), "{said}");
    assert!(
        said.ends_with(
            "error: there is no pass rate: no scorer decides whether a case passes; required: 50.0 %\n\
             hint: in the suite, give a scorer `severity = \"gate\"`, or a `threshold` with --strict; or require a \
             mean: --fail-below NAME=X\n"
        ),
        "{said}"
    );
    let strict = folder.sh(&format!("{run} --strict")).exits_with(0).stderr;
    assert!(strict.contains("warning: --strict changes nothing: no scorer decides"), "{strict}");
    folder.write("checks.js", CHECKS);
    folder.write("soft.toml", "[scorers.checks]\nuse = \"./checks.js\"\nseverity = \"soft\"\n");
    folder.write("fine.jsonl", "{\"output\": \"fine\"}\n");
    folder.sh("scorebox run soft.toml fine.jsonl -q --min-pass-rate 1").exits_with(3);
    folder.sh("scorebox run soft.toml fine.jsonl -q --min-pass-rate 1 --strict").exits_with(0);
}

/// Every case passes a suite whose only requirement is soft, so its rate would be 100 % whatever the answers are.
#[test]
fn a_soft_threshold_makes_no_pass_rate_unless_it_is_strict() {
    let folder = folder();
    folder.write("soft.toml", "[scorers.right]\nuse = \"exact-match\"\nthreshold = 1\n");
    folder.sh("head -3 cases.jsonl > judged.jsonl").exits_with(0);
    let run = "scorebox run soft.toml judged.jsonl -q --run-id";
    let said = folder.sh(&format!("{run} r --min-pass-rate 0.1")).exits_with(3).stderr;
    for says in [
        "verdict: no scorer can fail a case; 1 of 3 cases have regressions, which --strict counts as failures\n",
        "error: there is no pass rate: no scorer decides whether a case passes; required: 10.0 %\n",
    ] {
        assert!(said.contains(says), "{said}");
    }
    let json = folder.sh(&format!("{run} soft --format json")).exits_with(0).json();
    let verdict = &json["verdict"];
    assert_eq!(
        (&verdict["decides"], &verdict["passRate"], &verdict["regressed"]),
        (&false.into(), &serde_json::Value::Null, &1.into())
    );
    let strict = folder.sh(&format!("{run} strict --strict --min-pass-rate 0.9")).exits_with(3);
    assert!(
        strict.stderr.contains("error: 66.7 % of the cases passed; required: 90.0 %"),
        "{strict}"
    );
    let live = "scorebox live soft.toml -q --run-id live --min-pass-rate 0.1 < judged.jsonl";
    let live = folder.sh(live).exits_with(3).stderr;
    assert!(live.contains("error: there is no pass rate"), "{live}");
    assert_snapshot!(folder.sh("scorebox cases r"), @"
    case   verdict     score  decided by
    good   -          1.0000
    wrong  regressed  0.0000  right 0.0000
    slow   -          1.0000
    [exit code 0]
    ");
}

#[test]
fn what_only_measures_passes_no_case_and_has_no_rate() {
    let folder = folder();
    let run = "scorebox run cases.jsonl -s length --config 'length={\"max\": 9}' -q --run-id r";
    let json = folder.sh(&format!("{run} --format json")).exits_with(0).json();
    let verdict = &json["verdict"];
    assert_eq!(
        (&verdict["decides"], &verdict["passRate"]),
        (&false.into(), &serde_json::Value::Null)
    );
    let cases = folder.sh("scorebox cases r").exits_with(0).stdout;
    let verdicts: Vec<&str> =
        cases.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(verdicts, ["-", "-", "-", "-", "skipped"]);
    let repeats = folder.sh("scorebox repeats r").exits_with(0);
    assert!(!repeats.stdout.contains("verdict"), "{repeats}");
    assert!(repeats.stderr.contains("verdict: no scorer can fail a case\n"), "{repeats}");
    let json = folder.sh("scorebox repeats r --format json").json();
    assert_eq!(json["verdict"], serde_json::Value::Null);
}

/// The gate would hold whatever the answers are.
#[test]
fn a_gate_that_decides_no_case_at_all_does_not_hold() {
    let folder = folder();
    folder.write("null.js", "export default () => null;");
    let gate = |more: &str| {
        folder.write("idle.toml", format!("[scorers.right]\nseverity = \"gate\"\n{more}\n"));
    };
    let exact = "use = \"exact-match\"";
    for idle in [
        &format!("{exact}\nwhen = '.metadata.lable == 2'"),
        &format!("{exact}\nnodes = [\"nothing-*\"]"),
        "use = \"./null.js\"",
    ] {
        gate(idle);
        let said = folder.sh("scorebox run idle.toml cases.jsonl -q").exits_with(3).stderr;
        assert!(
            said.contains(
                "error: no case was decided: of 5 cases, the scorers that decide whether a case passes skip all, or apply \
                 to none\nhint: look at `when`, `nodes` and `sampling` of these scorers"
            ),
            "{idle}: {said}"
        );
        folder.sh("scorebox run idle.toml cases.jsonl -q --allow-failures").exits_with(0);
        folder.sh("scorebox live idle.toml -q < cases.jsonl").exits_with(3);
    }
}

/// As in other test runners, tests that are all skipped are no failure; but a rate of none is no rate.
#[test]
fn cases_that_all_say_skip_are_pointed_out_and_break_nothing() {
    let folder = folder();
    folder.sh("tail -1 cases.jsonl > left.jsonl").exits_with(0);
    let run = folder.sh("scorebox run suite.toml left.jsonl -q").exits_with(0);
    assert!(
        run.stderr.contains("warning: no case was decided: each of them says `skip`\n"),
        "{run}"
    );
    let rate = folder.sh("scorebox run suite.toml left.jsonl -q --min-pass-rate 0.5").exits_with(3);
    assert!(rate.stderr.ends_with("error: no case was decided\n"), "{rate}");
}
