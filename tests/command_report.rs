//! Reports of a run for other programs: what they contain, where they go, and what happens if they cannot be written.

use std::fs;

use insta::assert_snapshot;
use quick_junit::{NonSuccessKind, Report, TestCaseStatus};
use serde_json::json;

use crate::{
    fixture::Folder,
    sums_fixture::{OTHERS, suite},
};

/// A case that passes, and a case that fails a gate for a reason that looks like Markdown; the others follow.
const CASES: &str = r#"{"id": "good", "nodeId": "sums", "output": "4", "groundTruth": "4", "latencyMs": 100}
{"id": "wrong", "nodeId": "sums", "output": "<b>@all | *5*", "groundTruth": "4", "latencyMs": 100}
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("cases.jsonl", [CASES, OTHERS].concat());
    folder.write("suite.toml", suite(r#"sums | and \"more\""#));
    folder
}

const RUN: &str = "scorebox run suite.toml cases.jsonl -q --run-id r";

#[test]
fn a_summary_in_markdown_shows_what_did_not_pass_and_text_stays_text() {
    let folder = folder();
    let run = folder.sh(&format!("{RUN} --report markdown=summary.md")).exits_with(3);
    assert!(run.stdout.starts_with("scorer "), "{run}");
    // An invisible character keeps an `@` from being a mention.
    let summary = read(&folder, "summary.md").replace('\u{200b}', "[zero width]");
    assert_snapshot!(summary, @r#"
    ## sums \| and "more": 2 of 4 cases passed (50.0 %; 95 % interval 15.0 to 85.0 %), 1 failed, 1 errored, 1 passed with regressions, 1 skipped

    | scorer | counts as | scored | n/a | skipped | errors | mean | min | max | failed | regressed |
    |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
    | right | gate, threshold 1 | 3 | 0 | 1 | 1 | 0.6667 | 0.0000 | 1.0000 | 1 | 0 |
    | fast | soft, threshold 0.5 | 4 | 0 | 1 | 0 | 0.7000 | 0.1000 | 0.9000 | 0 | 1 |

    ### Cases that did not pass

    | case | verdict | score | decided by |
    |---|---|--:|---|
    | wrong | failed | 0.2250 | right 0.0000: "&lt;b&gt;@[zero width]all \| \*5\*" does not equal "4" |
    | broken | errored | 0.9000 | right: invalid-input\: the case has no \`groundTruth\`, which this scorer needs, and the configuration has no \`value\` in its place |

    Run `r`, root `[digest]`
    "#);
}

#[test]
fn a_summary_in_markdown_shows_how_sure_means_are_if_asked() {
    let folder = folder();
    folder.sh(&format!("{RUN} --ci --report markdown=summary.md")).exits_with(3);
    let again = folder.sh("scorebox report --format md --ci").exits_with(0);
    assert_eq!(read(&folder, "summary.md"), again.stdout);
    let table: Vec<&str> = again.stdout.lines().skip(2).take(4).collect();
    assert_eq!(
        table,
        [
            "| scorer | counts as | scored | n/a | skipped | errors | mean | 95 % interval | min | max | failed | regressed |",
            "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
            "| right | gate, threshold 1 | 3 | 0 | 1 | 1 | 0.6667 | 0.2077 to 0.9385 | 0.0000 | 1.0000 | 1 | 0 |",
            "| fast | soft, threshold 0.5 | 4 | 0 | 1 | 0 | 0.7000 | 0.0635 to 1.0000 | 0.1000 | 0.9000 | 0 | 1 |",
        ]
    );
}

#[test]
fn junit_has_a_test_case_for_each_case() {
    let folder = folder();
    folder.sh(&format!("{RUN} --report junit=out.xml")).exits_with(3);
    let report = Report::deserialize_from_str(&read(&folder, "out.xml")).unwrap();
    assert_eq!((report.tests, report.failures, report.errors), (5, 1, 1));
    let [suite] = &report.test_suites[..] else { panic!("{report:?}") };
    assert_eq!(suite.name.as_str(), "sums | and \"more\"");
    let properties: Vec<&str> = suite.properties.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(properties, ["run", "state", "root"]);
    let said = suite.test_cases.iter().map(|case| {
        let class = case.classname.as_ref().unwrap().as_str();
        let status = match &case.status {
            TestCaseStatus::Success { .. } => "passed".to_owned(),
            TestCaseStatus::Skipped { message, .. } => format!("skipped: {}", text(message)),
            TestCaseStatus::NonSuccess { kind, message, description, .. } => {
                let kind = match kind {
                    NonSuccessKind::Failure => "failed",
                    NonSuccessKind::Error => "errored",
                };
                format!("{kind}: {}\n    {}", text(message), text(description))
            }
        };
        let out = case.system_out.as_ref().map_or("", |out| out.as_str());
        let said = format!("{} in {class}: {status} {out}", case.name.as_str());
        said.trim_end().to_owned() + "\n"
    });
    assert_snapshot!(said.collect::<String>(), @r#"
    good in sums: passed
    wrong in sums: failed: right 0
        right failed: 0, threshold 1: "<b>@all | *5*" does not equal "4"
    slow (iteration 0, attempt 2) in sums | and "more": passed fast regressed: 0.09999999999999998, threshold 0.5: 900ms (target: 0ms, max: 1000ms)
    broken in sums | and "more": errored: right errored
        right errored: invalid-input: the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place
    left in sums | and "more": skipped: flaky
    "#);
}

/// The violations of the schema that Jenkins publishes; empty if the document is valid.
fn broken_rules(xml: &str) -> Vec<String> {
    let schema = uppsala::parse(include_str!("schemas/junit-10.xsd")).unwrap();
    let schema = uppsala::XsdValidator::from_schema(&schema).unwrap();
    let document = uppsala::parse(xml).unwrap();
    schema.validate(&document).iter().map(ToString::to_string).collect()
}

/// A CI runner reads its log, which contains a report to standard output.
#[test]
fn no_report_in_markup_has_a_command_for_a_runner_of_ci() {
    let folder = Folder::new();
    let output = "##[error]x\n::add-mask::y\n ##vso[task.complete]z";
    let case = json!({"id": "##[error]a", "input": output, "output": output, "groundTruth": output.to_lowercase() + "."});
    folder.write("cases.jsonl", case.to_string());
    folder.write("s.js", "export default (it) => ({ score: 0, reason: it.output });");
    let run = "scorebox run cases.jsonl -s exact-match -s s=./s.js -q --run-id r --allow-failures";
    folder.sh(run).exits_with(0);
    for format in ["junit", "html", "markdown", "jsonl"] {
        let report =
            folder.sh(&format!("scorebox report r --format {format}")).exits_with(0).stdout;
        assert!(report.contains("add-mask"), "{report}");
        assert!(!report.contains("##[") && !report.contains("##vso["), "{report}");
        assert!(!report.lines().any(|line| line.trim_start().starts_with("::")), "{report}");
    }
}

#[test]
fn junit_is_valid_by_the_published_schema() {
    let folder = folder();
    folder.sh(&format!("{RUN} --report junit=out.xml")).exits_with(3);
    let valid = read(&folder, "out.xml");
    assert_eq!(broken_rules(&valid), [""; 0], "{valid}");
    // Texts of strangers, no case at all, and every kind of repeated attempt.
    let strange = "]]> <&\"' \u{1b}\u{0} \u{fffe} é";
    let cases = [
        json!({"id": "q\u{a0}]]>", "nodeId": strange.replace(['\u{0}', '\u{1b}'], ""), "output": strange, "groundTruth": "a"}),
        json!({"id": "again", "attempt": 1, "iteration": 2, "output": strange}),
        json!({"id": "left", "output": 1, "skip": strange.replace(['\u{0}', '\u{1b}'], "")}),
    ];
    folder.write("cases.jsonl", cases.map(|case| format!("{case}\n")).concat());
    folder.sh(&format!("{RUN} --db s.db --report junit=s.xml")).exits_with(3);
    assert_eq!(broken_rules(&read(&folder, "s.xml")), [""; 0]);
    folder.sh("scorebox run suite.toml cases.jsonl -q -s contains --db n.db --config contains='{\"value\": \"a\"}' --report junit=n.xml --allow-failures --allow-errors").exits_with(0);
    assert_eq!(broken_rules(&read(&folder, "n.xml")), [""; 0]);

    // The schema also refuses a document that is not valid.
    for (valid_part, broken_part) in [
        ("<testsuites ", "<testsuites skipped=\"1\" "),
        ("<testsuite name=", "<testsuite title="),
        ("<property name=", "<property key="),
        ("<testcase name=", "<testcase title="),
        ("<failure ", "<failed/><failure "),
        ("</testsuite>", "words</testsuite>"),
    ] {
        let broken = valid.replacen(valid_part, broken_part, 1);
        assert_ne!(broken, valid, "{valid_part}");
        let rules = uppsala::parse(&broken).map(|_| broken_rules(&broken));
        assert!(rules.is_err() || !rules.unwrap().is_empty(), "{broken_part}\n{broken}");
    }
}

fn text(text: &Option<quick_junit::XmlString>) -> &str {
    text.as_ref().map_or("", |text| text.as_str())
}

#[test]
fn a_table_has_a_line_for_each_score() {
    let folder = folder();
    folder.sh(&format!("{RUN} --report csv=scores.csv")).exits_with(3);
    let mut table = csv::Reader::from_path(folder.path("scores.csv")).unwrap();
    let columns = table.headers().unwrap().clone();
    // The cost of a score differs between runs.
    let steady: Vec<usize> = (0..columns.len())
        .filter(|place| {
            !["fuel", "memory_bytes", "duration_ms", "scored_at_ms"].contains(&&columns[*place])
        })
        .collect();
    let line = |record: &csv::StringRecord| {
        let values: Vec<&str> = steady.iter().map(|place| &record[*place]).collect();
        values.join("; ") + "\n"
    };
    let lines: String = table.records().map(|record| line(&record.unwrap())).collect();
    assert_snapshot!(line(&columns) + &lines, @r#"
    run_id; case_id; node_id; iteration; attempt; verdict; case_score; scorer_id; status; score; label; reason; error_kind; error_message; severity; threshold; standing; decisive_assertions
    r; good; sums; 0; 0; passed; 0.975; right; scored; 1; ; "4" equals the expected answer; ; ; gate; 1; holds; 
    r; good; sums; 0; 0; passed; 0.975; fast; scored; 0.9; ; 100ms (target: 0ms, max: 1000ms); ; ; soft; 0.5; holds; 
    r; wrong; sums; 0; 0; failed; 0.225; right; scored; 0; ; "<b>@all | *5*" does not equal "4"; ; ; gate; 1; failed; 
    r; wrong; sums; 0; 0; failed; 0.225; fast; scored; 0.9; ; 100ms (target: 0ms, max: 1000ms); ; ; soft; 0.5; holds; 
    r; slow; slow; 0; 2; passed; 0.775; right; scored; 1; ; "4" equals the expected answer; ; ; gate; 1; holds; 
    r; slow; slow; 0; 2; passed; 0.775; fast; scored; 0.09999999999999998; ; 900ms (target: 0ms, max: 1000ms); ; ; soft; 0.5; regressed; 
    r; broken; broken; 0; 0; errored; 0.9; right; error; ; ; ; invalid-input; the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place; gate; 1; errored; 
    r; broken; broken; 0; 0; errored; 0.9; fast; scored; 0.9; ; 100ms (target: 0ms, max: 1000ms); ; ; soft; 0.5; holds; 
    r; left; left; 0; 0; skipped; ; right; skipped; ; ; the case is skipped: flaky; ; ; gate; 1; ; 
    r; left; left; 0; 0; skipped; ; fast; skipped; ; ; the case is skipped: flaky; ; ; soft; 0.5; ;
    "#);
}

#[test]
fn no_text_of_a_table_is_a_formula() {
    let folder = Folder::new();
    let case = json!({"id": "=1+1|a", "nodeId": "@n", "output": "=HYPERLINK(\"http://x\")"});
    folder.write("cases.jsonl", format!("{case}\n"));
    folder
        .write("echo.js", "export default (c) => ({ score: 1, reason: c.output, label: '-1' });\n");
    folder.sh("scorebox run cases.jsonl -s ./echo.js -q --report csv=r.csv").exits_with(0);
    let mut table = csv::Reader::from_path(folder.path("r.csv")).unwrap();
    let columns = table.headers().unwrap().clone();
    let row = table.records().next().unwrap().unwrap();
    let cell = |name: &str| &row[columns.iter().position(|it| it == name).unwrap()];
    assert_eq!(
        ["case_id", "node_id", "reason", "label", "score"].map(cell),
        ["'=1+1|a", "'@n", "'=HYPERLINK(\"http://x\")", "-1", "1"]
    );
}

/// A case whose texts contain characters that a terminal acts on, and characters that are invisible.
fn folder_with_what_is_not_seen() -> Folder {
    let folder = Folder::new();
    let case = json!({"id": "a\u{202e}b\u{200b}c", "output": "\u{1b}[31mred\u{1b}]0;title\u{7}"});
    folder.write("cases.jsonl", format!("{case}\n"));
    folder.write(
        "echo.js",
        "export default (c) => ({ score: 0, reason: `visit www.evil.com, $x^2$ ${c.output}` });\n",
    );
    folder.write("suite.toml", "[scorers.echo]\nuse = \"./echo.js\"\nseverity = \"gate\"\n");
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r").exits_with(3);
    folder
}

#[test]
fn what_is_not_seen_is_shown_in_reports_for_people_and_escaped_in_json() {
    let folder = folder_with_what_is_not_seen();
    let lines = folder.sh("scorebox report --format jsonl").exits_with(0).stdout;
    assert!(lines.starts_with(r#"{"runId":"r","caseId":"a\u202eb\u200bc","#), "{lines}");
    let case: serde_json::Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(case["caseId"], "a\u{202e}b\u{200b}c");
    let junit = folder.sh("scorebox report --format junit").exits_with(0).stdout;
    assert!(junit.contains(r#"testcase name="a\u{202e}b\u{200b}c""#), "{junit}");
    let summary = folder.sh("scorebox report --format md").exits_with(0).stdout;
    let summary = summary.replace('\u{200b}', "[zero width]");
    let of_case: Vec<&str> = summary.lines().filter(|line| line.starts_with("| a")).collect();
    assert_snapshot!(of_case.join("\n"), @r"| a\\u{202e}b\\u{200b}c | failed | 0.0000 | echo 0.0000: visit www[zero width].evil.com, <span>\$</span>x^2<span>\$</span> \\u{1b}\[31mred\\u{1b}\]0;title\\u{7} |");
}

/// `script` provides a terminal.
#[cfg(unix)]
#[test]
fn a_terminal_shows_a_table_with_escapes_made_visible_and_a_file_has_it_as_it_is() {
    let folder = folder_with_what_is_not_seen();
    for command in ["report --format csv", "export --format csv"] {
        let shown = folder.sh(&format!("script -qec 'scorebox {command}' /dev/null")).stdout;
        assert!(shown.contains(r"a\u{202e}b\u{200b}c"), "{command}: {shown}");
        assert!(shown.contains(r"\u{1b}[31mred\u{1b}]0;title\u{7}"), "{command}: {shown}");
        assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{command}: {shown}");
        let piped = folder.sh(&format!("scorebox {command}")).exits_with(0).stdout;
        assert!(piped.contains("\u{1b}[31mred"), "{command}: {piped}");
        assert!(piped.contains("a\u{202e}b\u{200b}c"), "{command}: {piped}");
    }
}

#[test]
fn lines_have_each_case_with_its_verdict_and_its_scores() {
    let folder = folder();
    let printed = folder.sh(&format!("{RUN} --report jsonl=-")).exits_with(3).stdout;
    let cases: Vec<serde_json::Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |key: &str| cases.iter().map(|case| case[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("caseId"), ["good", "wrong", "slow", "broken", "left"]);
    assert_eq!(of("verdict"), ["passed", "failed", "passed", "errored", "skipped"]);
    assert_eq!(cases[1]["against"][0]["scorerId"], "right");
    assert_eq!(cases[1]["scores"][0]["score"], 0.0);
    assert_eq!(cases[4]["skip"], "flaky");
}

#[test]
fn a_stored_run_is_reported_again_and_equally() {
    let folder = folder();
    let reports = "junit=a.xml csv=a.csv jsonl=a.jsonl markdown=a.md";
    let with_options: String = reports.split(' ').map(|it| format!(" --report {it}")).collect();
    folder.sh(&format!("{RUN}{with_options}")).exits_with(3);
    folder.sh(&format!("scorebox report {}", reports.replace("a.", "b."))).exits_with(0);
    for kind in ["xml", "csv", "jsonl", "md"] {
        assert_eq!(read(&folder, &format!("a.{kind}")), read(&folder, &format!("b.{kind}")));
    }
    folder.sh("scorebox report --strict junit=strict.xml markdown=strict.md").exits_with(0);
    let strict = Report::deserialize_from_str(&read(&folder, "strict.xml")).unwrap();
    assert_eq!((strict.failures, strict.errors), (2, 1));
    let says = |name: &str, words: &str| read(&folder, name).contains(words);
    for (kind, words) in [("xml", "\"strict\""), ("md", "threshold count as gates")] {
        let both = [format!("strict.{kind}"), format!("b.{kind}")];
        assert_eq!(both.map(|name| says(&name, words)), [true, false], "{kind}");
    }
}

#[test]
fn a_reader_that_goes_away_ends_a_report_without_a_word() {
    let folder = Folder::new();
    // More than the capacity of a pipe.
    let case =
        |number: u32| format!("{{\"id\": \"{number}\", \"output\": 1, \"groundTruth\": 2}}\n");
    folder.write("cases.jsonl", (0..2000).map(case).collect::<String>());
    let run = "scorebox run cases.jsonl -s exact-match -q --allow-failures";
    folder.sh(run).exits_with(0);
    for format in ["csv", "jsonl", "junit"] {
        let report = format!("(scorebox report {format}=-; echo $? > code) | head -c 20");
        let printed = folder.sh(&report);
        assert_eq!((printed.stdout.len(), printed.stderr.as_str()), (20, ""), "{format}");
        assert_eq!(read(&folder, "code"), "0\n", "{format}");
    }
}

/// Pages of rows end in the middle of a case.
#[test]
fn a_report_of_many_cases_has_each_of_them_once() {
    let folder = Folder::new();
    let case = |number: u32| {
        format!("{{\"id\": \"{number}\", \"output\": \"a\", \"groundTruth\": \"a\"}}\n")
    };
    folder.write("cases.jsonl", (0..1500).map(case).collect::<String>());
    let scorers = "-s exact-match -s equals -s contains";
    let run = format!("scorebox run cases.jsonl {scorers} -q --report jsonl=all.jsonl");
    folder.sh(&run).exits_with(0);
    for (number, line) in read(&folder, "all.jsonl").lines().enumerate() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(case["caseId"], number.to_string());
        assert_eq!(case["scores"].as_array().unwrap().len(), 3, "{line}");
    }
    assert_eq!(read(&folder, "all.jsonl").lines().count(), 1500);
}

#[test]
fn a_report_that_cannot_be_written_is_an_error_before_the_first_score() {
    let folder = folder();
    folder.write("config.json", "{}");
    folder.write("other.db", "");
    for (report, why) in [
        (
            "junit=missing/out.xml",
            "cannot write the report to `missing/out.xml`: there is no folder",
        ),
        ("junit=.", "cannot write the report to `.`: is a directory"),
        ("pdf=out.pdf", "`pdf` is not a format of a report; there are html, junit, markdown"),
        ("junit=out --report csv=out", "two reports go to `out`"),
        ("junit=out --report csv=./out", "two reports go to `./out`"),
        ("junit=- --report csv=-", "two reports go to standard output"),
        ("junit", "name a format and a file: `junit=report.xml`"),
        (
            "csv=cases.jsonl",
            "a report cannot go to `cases.jsonl`: the command itself uses this file",
        ),
        ("csv=./suite.toml", "the command itself uses this file"),
        ("csv=scorebox.db", "the command itself uses this file"),
        ("csv=config.json", "the command itself uses this file"),
        ("csv=other.db-wal", "SQLite uses this file for the database beside it"),
    ] {
        let refused = format!("{RUN} --config right=@config.json --report {report}");
        let refused = folder.sh(&refused).exits_with(2);
        assert!(refused.stderr.contains(why), "{refused}");
        assert!(!folder.path("scorebox.db").exists());
    }
}

/// A file that receives standard output contains what was written before, then the report, then the rest.
#[test]
fn standard_output_by_its_path_is_standard_output() {
    let folder = folder();
    folder.sh(RUN).exits_with(3);
    folder.sh("scorebox report csv=expected.csv").exits_with(0);
    let expected = format!("before\n{}after\n", read(&folder, "expected.csv"));
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        folder.sh(&format!("(echo before; scorebox report csv={name}; echo after) > all"));
        assert_eq!(read(&folder, "all"), expected, "{name}");
    }
    let two = folder.sh("scorebox report csv=/dev/stdout junit=-").exits_with(2);
    assert!(two.stderr.contains("two reports go to standard output"), "{two}");
}

#[cfg(unix)]
#[test]
fn a_pipe_that_no_program_reads_is_refused_and_one_that_is_read_gets_the_report() {
    let folder = folder();
    folder.sh("mkfifo pipe").exits_with(0);
    let refused = folder.sh(&format!("timeout 60 {RUN} --report csv=pipe")).exits_with(2);
    assert!(
        refused.stderr.contains("cannot write the report to `pipe`: no program reads it"),
        "{refused}"
    );
    assert!(!folder.path("scorebox.db").exists());
    let mut reader = folder.shell("exec cat pipe > read.csv").spawn().unwrap();
    // The pipe is refused until the reader has opened it.
    folder
        .sh(&format!("until {RUN} --allow-failures --allow-errors --report csv=pipe; do :; done"));
    assert!(reader.wait().unwrap().success());
    assert_eq!(read(&folder, "read.csv").lines().count(), 11);
}

/// A folder that disappears during the run.
#[test]
fn a_report_that_fails_in_the_end_loses_no_scores_and_leaves_what_was_there() {
    let folder = folder();
    folder.sh("mkdir out && echo old > out/kept.xml && mkfifo cases").exits_with(0);
    let run =
        "scorebox run suite.toml cases -q --run-id r --report junit=out/new.xml --report csv=x.csv";
    let child = format!(
        "({run}; echo $? > code) & sleep 0; (sleep 0; cat cases.jsonl; rm -r out) > cases; wait"
    );
    let ended = folder.sh(&child);
    assert!(ended.stderr.contains("cannot write the report junit=out/new.xml"), "{ended}");
    let again = "write the report again with: scorebox report --run r junit=out/new.xml";
    assert!(ended.stderr.contains(again), "{ended}");
    assert_eq!(read(&folder, "code"), "2\n");
    assert_eq!(read(&folder, "x.csv").lines().count(), 11);
    folder.sh("mkdir out && scorebox report --run r junit=out/new.xml").exits_with(0);
    assert!(read(&folder, "out/new.xml").contains("tests=\"5\""));
}

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path(name)).unwrap()
}

/// A build server shows the report and not the exit code.
#[test]
fn requirements_that_do_not_hold_are_in_the_reports() {
    let folder = folder();
    folder.write("measures.toml", "[scorers.right]\nuse = \"exact-match\"\n");
    let reports = "--report junit=r.xml --report md=r.md --report html=r.html";
    let required = "--fail-below right=0.9 --min-pass-rate 0.5 --max-errors 0";
    folder
        .sh(&format!("scorebox run measures.toml cases.jsonl -q {required} {reports}"))
        .exits_with(3);
    let report = Report::deserialize_from_str(&read(&folder, "r.xml")).unwrap();
    let failed: Vec<(&str, &str)> = report.test_suites[0]
        .test_cases
        .iter()
        .filter_map(|test| match &test.status {
            TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, message, .. } => {
                Some((test.name.as_str(), message.as_ref().unwrap().as_str()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        failed,
        [
            ("requirement: mean of right", "the mean of `right` is 0.6667; required: 0.9000"),
            (
                "requirement: pass rate",
                "there is no pass rate: no scorer decides whether a case passes; required: 50.0 %"
            ),
            ("requirement: errors", "1 score is an error; allowed: 0"),
        ]
    );
    let markdown = read(&folder, "r.md");
    assert!(
        markdown.contains(
            "\n**A requirement does not hold**: the mean of \\`right\\` is 0.6667; required\\: 0.9000\n"
        ),
        "{markdown}"
    );
    let page = read(&folder, "r.html");
    assert!(
        page.contains(
            "A requirement does not hold: the mean of `right` is 0.6667; required: 0.9000."
        )
    );
    // What the cases show is not repeated.
    folder.sh(&format!("{RUN} --report junit=r.xml")).exits_with(3);
    assert!(!read(&folder, "r.xml").contains("requirement"));
}

#[test]
fn errors_of_scorers_that_do_not_decide_are_said_in_junit() {
    let folder = folder();
    folder.write("measures.toml", "[scorers.right]\nuse = \"exact-match\"\n");
    folder.sh("scorebox run measures.toml cases.jsonl -q --report junit=r.xml").exits_with(1);
    let report = Report::deserialize_from_str(&read(&folder, "r.xml")).unwrap();
    let said: Vec<(&str, &str)> = report.test_suites[0]
        .test_cases
        .iter()
        .filter_map(|test| Some((test.name.as_str(), test.system_out.as_ref()?.as_str())))
        .collect();
    assert_eq!(
        said,
        [(
            "broken",
            "right error: invalid-input: the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place"
        )]
    );
}

#[test]
fn attempts_at_a_case_can_be_told_apart_in_markdown() {
    let folder = Folder::new();
    folder.write(
        "right.js",
        "export default ({ output }) => output;
        export const info = { reads: [], severity: 'gate' };",
    );
    let case = |attempt: u32| format!("{{\"id\":\"c\",\"attempt\":{attempt},\"output\":0}}\n");
    folder.write("cases.jsonl", [0, 1].map(case).concat());
    folder.sh("scorebox run cases.jsonl -s ./right.js -q").exits_with(3);
    let markdown = folder.sh("scorebox report --format md").exits_with(0).stdout;
    for row in ["| c | failed |", "| c (iteration 0, attempt 1) | failed |"] {
        assert!(markdown.contains(row), "{markdown}");
    }
}
