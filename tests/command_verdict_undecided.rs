//! Runs in which nothing decides: pass rates that no score can break, gates that decide no case, cases that are all
//! skipped.

use std::fs;

use insta::assert_snapshot;

use crate::{
    command_serve::Server,
    command_verdict::{CHECKS, folder},
    fixture::Folder,
};

/// `exact-match` only measures unless it has a threshold, so each case passes, and a pass rate would require nothing.
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

/// Every case passes a suite whose only requirement is soft, so its rate would be 100 % for any answers.
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
    let run = "scorebox run cases.jsonl -s length --config 'length={\"max\": 9}' -q --run-id r --events e.jsonl";
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
    // A program is not told that they passed, either.
    let none = serde_json::Value::Null;
    let json = folder.sh("scorebox cases r --format json").json();
    assert_eq!((&json[0]["verdict"], &json[4]["verdict"]), (&none, &"skipped".into()));
    assert_eq!(folder.sh("scorebox show good r --format json").json()[0]["verdict"], none);
    let shown = folder.sh("scorebox show good r").exits_with(0).stdout;
    assert!(shown.starts_with("good: -, score "), "{shown}");
    let lines = folder.sh("scorebox export r --format jsonl").exits_with(0).stdout;
    let verdicts: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["verdict"].clone())
        .collect();
    assert_eq!((&verdicts[0], &verdicts[4]), (&none, &"skipped".into()));
    let report = folder.sh("scorebox report r --format jsonl").exits_with(0).stdout;
    assert!(report.lines().next().unwrap().contains("\"verdict\":null"), "{report}");
    let report = folder.sh("scorebox report r --format csv").exits_with(0).stdout;
    let mut table = csv::Reader::from_reader(report.as_bytes());
    let verdicts: Vec<String> =
        table.records().map(|record| record.unwrap().get(5).unwrap().to_owned()).collect();
    assert_eq!(verdicts, ["", "", "", "", "skipped"], "{report}");
    let report = folder.sh("scorebox report r --format md").exits_with(0).stdout;
    assert!(!report.contains("passed"), "{report}");
    // An event is written before it is known whether an assertion will be a gate.
    let events = fs::read_to_string(folder.path("e.jsonl")).unwrap();
    let passed = |line: &&str| line.contains("CaseFinished") && line.contains("\"passed\"");
    assert_eq!(events.lines().filter(passed).count(), 4, "{events}");
    let repeats = folder.sh("scorebox repeats r").exits_with(0);
    assert!(!repeats.stdout.contains("verdict"), "{repeats}");
    assert!(repeats.stderr.contains("verdict: no scorer can fail a case\n"), "{repeats}");
    let json = folder.sh("scorebox repeats r --format json").json();
    assert_eq!(json["verdict"], serde_json::Value::Null);
}

/// The gate would hold for any answers.
#[test]
fn a_gate_that_decides_no_case_at_all_does_not_hold() {
    let folder = folder();
    folder.write("null.js", "export default () => null;");
    let gate = |more: &str| {
        folder.write("idle.toml", format!("[scorers.right]\nseverity = \"gate\"\n{more}\n"));
    };
    let exact = "use = \"exact-match\"";
    let look_at = |key: &str| format!("look at its `{key}` in the suite, and at its rows");
    for (idle, hint) in [
        (format!("{exact}\nwhen = '.metadata.lable == 2'"), look_at("when")),
        (format!("{exact}\nnodes = [\"nothing-*\"]"), look_at("nodes")),
        ("use = \"./null.js\"".to_owned(), "look at why it does not apply".to_owned()),
    ] {
        gate(&idle);
        let run = "scorebox run idle.toml cases.jsonl -q --run-id";
        let said = folder.sh(&format!("{run} r --db a.db")).exits_with(3).stderr;
        // The fifth case says `skip`.
        let error = format!(
            "error: `right`, which decides whether a case passes, decided none of 4 cases: it skips them, or does not apply to \
             them\nhint: {hint}: scorebox scores r --db a.db --scorer right; if the scorer is not meant for these cases: \
             --allow-idle right\n"
        );
        for says in ["\n  right (gate, at least 1.0000): decided none of 4 cases\n", &error] {
            assert!(said.contains(says), "{idle}: {said}");
        }
        // The error says so, without a warning in addition.
        assert!(!said.contains("warning:"), "{idle}: {said}");
        fs::remove_file(folder.path("a.db")).unwrap();
        let allowed = folder.sh("scorebox run idle.toml cases.jsonl -q --allow-idle right");
        let is_warned_of =
            allowed.exits_with(0).stderr.contains("warning: `right` applies to no case: ");
        assert_eq!(is_warned_of, hint.contains('`'), "{idle}");
        folder.sh("scorebox run idle.toml cases.jsonl -q --allow-failures").exits_with(0);
        folder.sh("scorebox live idle.toml -q < cases.jsonl").exits_with(3);
        folder.sh("scorebox live idle.toml -q --allow-idle right < cases.jsonl").exits_with(0);
    }
    let refused = folder.sh("scorebox run idle.toml cases.jsonl -q --allow-idle rihgt");
    assert!(refused.exits_with(2).stderr.contains("did you mean `right`?"));
}

/// `--max-errors` allows some errors among scores. A gate that cannot score at all would let everything pass.
#[test]
fn a_gate_that_has_nothing_but_errors_does_not_hold_where_errors_are_allowed() {
    let folder = folder();
    folder.write("throws.js", "export default () => { throw new Error('no'); };");
    folder.write("gate.toml", "[scorers.right]\nuse = \"./throws.js\"\nseverity = \"gate\"\n");
    let run =
        |options: &str| folder.sh(&format!("scorebox run gate.toml cases.jsonl -q {options}"));
    let said = run("--max-errors 9").exits_with(3).stderr;
    let error = "\nerror: `right`, which decides whether a case passes, decided none: it has 4 errors and no score\n\
                 hint: look at why: scorebox scores ";
    assert!(said.contains(error), "{said}");
    assert!(said.ends_with("; if it need not decide any case: --allow-idle right\n"), "{said}");
    for (options, code) in [
        ("", 1),
        ("--max-errors 9 --min-pass-rate 0", 0),
        ("--max-errors 9 --allow-idle right", 0),
        ("--max-errors 9 --allow-failures", 0),
        ("--allow-errors", 0),
    ] {
        run(options).exits_with(code);
    }
    folder.sh("scorebox live gate.toml -q --max-errors 9 < cases.jsonl").exits_with(3);
}

/// A misspelt gate stays open whatever other scorers decide, and a rate of their decisions tells nothing about it.
#[test]
fn a_gate_that_decides_no_case_does_not_hold_whatever_others_decide() {
    let folder = folder();
    let cases = ["a", "b"].map(|id| format!("{{\"id\": \"{id}\", \"output\": \"x\"}}\n"));
    folder.write("cases.jsonl", cases.concat());
    let idle = "severity = \"gate\"\nthreshold = 1.0\nwhen = '.metadata.split == \"tset\"'\n";
    let length = "[scorers.length]\nconfig = { max = 9 }\nthreshold = 0.5\n";
    // A soft scorer leaves the cases skipped, so there is no rate.
    for (severity, verdict, without_a_rate) in
        [("soft", "0 of 0 cases passed, 2 skipped", 3), ("gate", "2 of 2 cases passed", 0)]
    {
        let suite = format!("[scorers.exact-match]\n{idle}{length}severity = \"{severity}\"\n");
        folder.write("idle.toml", suite);
        for (options, code) in [
            ("", 3),
            ("--min-pass-rate 0.9", 3),
            ("--allow-idle length", 3),
            ("--allow-idle exact-match", 0),
            ("--min-pass-rate 0.9 --allow-idle exact-match", without_a_rate),
            // It requires nothing of the cases.
            ("--min-pass-rate 0", 0),
        ] {
            let run =
                format!("scorebox run idle.toml cases.jsonl -q --report junit=r.xml {options}");
            let said = folder.sh(&run);
            assert_eq!(said.code, Some(code), "{severity} {options}: {said}");
            assert!(said.stderr.contains(&format!("\nverdict: {verdict}")), "{said}");
            let is_broken = code == 3 && !options.contains("--allow-idle exact-match");
            let broken = "error: `exact-match`, which decides whether a case passes, decided none of 2 cases";
            assert_eq!(said.stderr.contains(broken), is_broken, "{said}");
            let junit = fs::read_to_string(folder.path("r.xml")).unwrap();
            let named = "name=\"requirement: a case that exact-match decides\"";
            assert_eq!(junit.contains(named), is_broken, "{junit}");
        }
    }
}

/// An error is reported anyway, and the number of cases in a sample is not known.
#[test]
fn a_gate_on_results_that_an_error_or_sampling_took_from_it_is_not_idle() {
    let folder = folder();
    folder.write("cases.jsonl", "{\"output\": \"x\"}\n");
    let gate = "[scorers.explained]\nuse = \"satisfies\"\nconfig = { expression = \".output.score == 1\" }\nseverity = \"gate\"\n";
    let subject = "[scorers.answer]\nuse = \"exact-match\"\nmeta = [\"explained\"]\n";
    for (more, cases, code) in [
        // There is no `groundTruth`, which it needs.
        ("", "{\"output\": \"x\"}\n", 1),
        ("sampling = { type = \"none\" }\n", "{\"output\": \"x\"}\n", 0),
        ("nodes = [\"misspelt\"]\n", "{\"output\": \"x\"}\n", 3),
    ] {
        folder.write("cases.jsonl", cases);
        folder.write("meta.toml", format!("{subject}{more}{gate}"));
        let run = folder.sh("scorebox run meta.toml cases.jsonl -q");
        assert_eq!(run.code, Some(code), "{more}: {run}");
    }
}

/// Sampling may leave out the few cases that a gate applies to, but `nodes` and `when` may not: if one of them is
/// misspelt, every run would pass.
#[test]
fn a_sampled_gate_is_idle_unless_sampling_may_have_left_out_all_that_it_is_for() {
    let folder = folder();
    let case =
        |id: usize| format!("{{\"id\": \"{id}\", \"nodeId\": \"analyze\", \"output\": \"x\"}}\n");
    folder.write("cases.jsonl", (0..60).map(case).collect::<String>());
    let ratio = |rate: &str| format!("sampling = {{ type = \"ratio\", rate = {rate} }}\n");
    let nodes = |node: &str| format!("nodes = [\"{node}\"]\n");
    let when = "when = '.metadata.lang == \"en\"'\n";
    // Of 60 cases, a rate of 0.5 lets 32 through, and 0.1 lets 6 through.
    for (more, code, says) in [
        (ratio("1") + &nodes("analyse"), 3, "decided none of 60 cases\n"),
        (ratio("0.5") + &nodes("analyse"), 3, "decided none of 60 cases\n"),
        (ratio("0.5") + when, 3, "decided none of 60 cases, 28 of them left out by `sampling`\n"),
        (ratio("0.1") + when, 0, "decided none of 60 cases, 54 of them left out by `sampling`\n"),
        (ratio("1e-9"), 0, "decided none of 60 cases, left out by `sampling`\n"),
        (ratio("0") + &nodes("analyze"), 0, "switched off by `sampling`\n"),
        (ratio("0"), 0, "switched off by `sampling`\n"),
    ] {
        let gate = "[scorers.contains]\nconfig = { value = \"x\" }\nseverity = \"gate\"\n";
        folder.write("sampled.toml", format!("{gate}{more}"));
        let run = folder.sh("scorebox run sampled.toml cases.jsonl -q");
        assert_eq!(run.code, Some(code), "{more}: {run}");
        let line = format!("\n  contains (gate, at least 1.0000): {says}");
        assert!(run.stderr.contains(&line), "{more}: {run}");
        let markdown = folder.sh("scorebox report --format md").exits_with(0).stdout;
        assert!(markdown.contains("**contains**, which can fail a case: "), "{markdown}");
        folder.sh("scorebox report -o page.html --force").exits_with(0);
        let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
        let says = format!("<b>contains</b>, which can fail a case: {}", says.trim_end());
        assert!(page.contains(&says), "{more}");
    }
}

#[test]
fn a_gate_that_sampling_switches_off_is_said_to_be_off_and_not_warned_of() {
    let folder = folder();
    let gate = "[scorers.exact-match]\nseverity = \"gate\"\n";
    let (none, never) = ("{ type = \"none\" }", "{ type = \"ratio\", rate = 0 }");
    for (sampling, nodes) in [(none, ""), (none, "nodes = [\"nothing\"]\n"), (never, "")] {
        folder.write("off.toml", format!("{gate}sampling = {sampling}\n{nodes}"));
        let run = folder.sh("scorebox run off.toml cases.jsonl -q").exits_with(0);
        let says = "\n  exact-match (gate, at least 1.0000): switched off by `sampling`\n";
        assert!(run.stderr.contains(says) && !run.stderr.contains("warning"), "{run}");
    }
}

/// As in other test runners, it is not a failure if all tests are skipped; but there is no pass rate of no cases.
#[test]
fn cases_that_all_say_skip_are_pointed_out_and_break_nothing() {
    let folder = folder();
    folder.sh("tail -1 cases.jsonl > left.jsonl").exits_with(0);
    let run = folder.sh("scorebox run suite.toml left.jsonl -q").exits_with(0);
    assert!(
        run.stderr.contains("warning: no case was decided: every case is marked `skip`\n"),
        "{run}"
    );
    let rate = folder.sh("scorebox run suite.toml left.jsonl -q --min-pass-rate 0.5").exits_with(3);
    assert!(rate.stderr.ends_with("error: no case was decided\n"), "{rate}");
}

#[test]
fn no_page_says_of_a_case_that_it_passed_if_no_scorer_can_fail_it() {
    let folder = Folder::new();
    let cases = "{\"id\": \"a\", \"output\": \"{}\"}\n{\"id\": \"b\", \"output\": \"x\"}\n";
    folder.write("cases.jsonl", cases);
    for (run, threshold) in [("measured", ""), ("soft", "threshold = 0.5\n")] {
        folder
            .write("suite.toml", format!("[scorers.json-valid]\nseverity = \"soft\"\n{threshold}"));
        folder.sh(&format!("scorebox run suite.toml cases.jsonl -q --run-id {run}")).exits_with(0);
        folder.sh(&format!("scorebox report {run} -o {run}.html")).exits_with(0);
    }
    let server = Server::ready(&folder, "");
    let regressed = "1 case has regressions, which count as failures with <code>--strict</code>.";
    for (name, has_regressions) in [
        ("measured.html", false),
        ("soft.html", true),
        ("/", false),
        ("/runs/measured", false),
        ("/runs/soft", true),
        ("/runs/measured/case?id=a", false),
        ("/runs/soft/case?id=a", false),
        ("/compare?a=measured&b=soft&all=yes", true),
    ] {
        let page = match name.strip_prefix('/') {
            Some(_) => server.until(name, |page| !page.contains("being compared")),
            None => fs::read_to_string(folder.path(name)).unwrap(),
        };
        assert!(!page.contains(">passed</span>"), "{name}: {page}");
        assert_eq!(page.contains(regressed), has_regressions, "{name}: {page}");
    }
}
