//! The report as an HTML page: what a real browser shows, that it requests nothing, and that texts of strangers cannot
//! do anything in it.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::{
    browser::Browser,
    fixture::Folder,
    sums_fixture::{cases, folder},
};

fn url(folder: &Folder, name: &str) -> String {
    format!("file://{}", folder.path(name).display())
}

#[test]
fn a_report_shows_how_a_run_went_and_what_did_not_pass() {
    let folder = folder();
    folder.sh("scorebox report -o report.html").exits_with(0);
    let Some(browser) = Browser::start() else { return };
    browser.goto(&url(&folder, "report.html"));
    assert_eq!(browser.title(), "sums <i>and</i> more – scorebox report");
    assert_eq!(browser.texts("h1"), ["sums <i>and</i> more"]);
    assert_eq!(browser.texts(".went .says"), ["2 of 6 passed 33.3 %; 95 % interval 9.7 to 70.0 %"]);
    assert_eq!(
        browser.texts(".key li"),
        ["passed 1", "passed with regressions 1", "failed 3", "errored 1", "skipped 1"]
    );
    assert_eq!(browser.texts("tbody th"), ["right", "fast"]);
    let bad = browser.texts("#run-1-failed summary .id");
    assert_eq!(bad[..2], ["wrong", "broken"], "in the order of the cases");
    assert_eq!(bad[3], "agent");
    let why = browser.texts("#run-1-failed summary .why");
    assert_eq!(
        why[1],
        "right: the case has no `groundTruth`, which this scorer needs, and the configuration has no `value` in its place"
    );
    assert_eq!(browser.barriers(), [""; 0]);
}

#[test]
fn a_score_that_is_not_its_threshold_does_not_look_like_it() {
    let folder = Folder::new();
    folder.write("almost.js", "export default () => 0.99999999;\n");
    folder.write(
        "suite.toml",
        "[scorers.almost]\nuse = \"./almost.js\"\nseverity = \"gate\"\nthreshold = 1\n",
    );
    folder.write("cases.jsonl", "{\"id\": \"a\", \"output\": 1}\n");
    folder.sh("scorebox run suite.toml cases.jsonl -q --report html=report.html").exits_with(3);
    let page = fs::read_to_string(folder.path("report.html")).unwrap();
    assert!(page.contains("almost</b> 0.99999999"), "the line of the case");
    assert!(page.contains("<span class=\"value\">0.99999999</span>"), "the case in full");
}

#[test]
fn a_link_to_a_case_opens_it_with_its_difference_and_what_the_agent_did() {
    let folder = folder();
    folder.sh("scorebox report -o report.html").exits_with(0);
    let Some(browser) = Browser::start() else { return };
    browser.goto(&url(&folder, "report.html"));
    let anchors =
        "return [...document.querySelectorAll('#run-1-failed details')].map((it) => it.id)";
    let anchors: Vec<String> = serde_json::from_value(browser.script(anchors)).unwrap();
    browser.goto(&format!("{}#{}", url(&folder, "report.html"), anchors[0]));
    let open = "return [...document.querySelectorAll('.cases > details[open]')].map((it) => it.id)";
    assert_eq!(browser.script(open), json!([anchors[0]]));
    assert_eq!(browser.texts("details[open] .diff del"), ["expected: It is Paris,"]);
    assert_eq!(browser.texts("details[open] .diff ins b"), ["Lyon"]);
    assert_eq!(browser.barriers(), [""; 0]);
    browser.goto(&format!("{}#{}", url(&folder, "report.html"), anchors[3]));
    let steps = browser.texts(&format!("#{} .timeline .who b", anchors[3]));
    assert_eq!(steps, ["user", "cancel", "assistant"]);
}

#[test]
fn a_report_asks_for_nothing_and_texts_of_strangers_do_nothing() {
    let folder = folder();
    folder.sh("scorebox report -o report.html").exits_with(0);
    let html = fs::read_to_string(folder.path("report.html")).unwrap();
    for asks in
        ["http://", "https://", "<link", "<iframe", "<img", "<script src", "url(", "@import"]
    {
        assert!(!html.contains(asks), "{asks}");
    }
    let Some(browser) = Browser::start() else { return };
    browser.goto(&url(&folder, "report.html"));
    browser.script("document.querySelectorAll('details').forEach((it) => { it.open = true })");
    let asked = "return performance.getEntriesByType('resource').map((it) => it.name)";
    assert_eq!(browser.script(asked), json!([]));
    assert_eq!(browser.title(), "sums <i>and</i> more – scorebox report");
    let strangers = "return document.querySelectorAll('main script, main img, main style, main i, a[href^=\"javascript\"]').length";
    assert_eq!(browser.script(strangers), json!(0));
    let marks = browser.texts("#run-1-failed summary .id .act");
    assert_eq!(marks, ["\\u{202e}"], "a mark that turns the direction of writing is shown");
    // Its content security policy blocks what a mistake in the escaping would let in.
    let injected = "const it = document.createElement('script'); it.textContent = \"document.title = 'owned'\";
                        document.body.append(it); return document.title";
    assert_eq!(browser.script(injected), json!("sums <i>and</i> more – scorebox report"));
}

#[test]
fn a_report_fits_a_telephone_and_a_dark_room() {
    let folder = folder();
    folder.sh("scorebox report -o report.html").exits_with(0);
    let Some(browser) = Browser::start() else { return };
    browser.goto(&url(&folder, "report.html"));
    browser.script("document.querySelectorAll('details').forEach((it) => { it.open = true })");
    for width in [400, 800, 1280] {
        browser.set_width(width);
        assert!(!browser.is_too_wide(), "at {width} pixels");
    }
    assert_eq!(browser.barriers(), [""; 0]);
    browser.prefer_dark();
    assert_eq!(browser.barriers(), [""; 0]);
}

/// Text without a position to break a line, in every text of a scorer and of a case.
#[test]
fn nothing_of_a_case_reaches_beyond_the_edge_of_a_telephone() {
    let folder = Folder::new();
    folder.write(
        "long.js",
        "export default () => ({ score: 0, label: 'l'.repeat(199), reason: 'r'.repeat(999), \
         meta: { ['m'.repeat(199)]: 'v'.repeat(999) }, assertions: [{ name: 'n'.repeat(199), \
         score: 0, severity: 'gate', threshold: 1, reason: 'a'.repeat(999) }] });",
    );
    let name = "s".repeat(64);
    folder.write("suite.toml", format!("[scorers.{name}]\nuse = \"./long.js\"\n"));
    let long = |letter: &str| letter.repeat(199);
    let case = json!({
        "id": long("i"), "nodeId": long("o"), "input": long("n"), "output": long("u"),
        "groundTruth": long("g"), "metadata": {long("k"): long("t")},
        "trace": [{"role": "assistant", "content": long("c")}],
    });
    folder.write("cases.jsonl", format!("{case}\n"));
    folder.sh("scorebox run suite.toml cases.jsonl -q --report html=report.html").exits_with(3);
    let Some(browser) = Browser::start() else { return };
    browser.goto(&url(&folder, "report.html"));
    browser.script("document.querySelectorAll('details').forEach((it) => { it.open = true })");
    for width in [320, 375, 1280] {
        browser.set_width(width);
        assert!(!browser.is_too_wide(), "at {width} pixels");
        let beyond = browser.beyond_the_edge(".cases *:not(.scrolls, .scrolls *)");
        assert_eq!(beyond, [""; 0], "at {width} pixels");
    }
}

/// Paper cannot be scrolled: A4 and Letter upright, with the browser's margins.
#[test]
fn a_table_of_scorers_fits_on_paper() {
    let folder = folder();
    folder.sh("scorebox report -o report.html").exits_with(0);
    let Some(browser) = Browser::start() else { return };
    browser.goto(&url(&folder, "report.html"));
    for width in [717, 739] {
        browser.print_on(width);
        assert_eq!(browser.beyond_the_edge("main th, main td"), [""; 0], "at {width} pixels");
    }
}

#[test]
fn a_report_of_100_000_cases_counts_all_and_stays_small() {
    let folder = folder();
    // Cases that fail, the first of which have texts of 6 kB.
    folder
        .database("scorebox.db")
        .execute_batch(
            "WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 99992 + 100)
             INSERT INTO cases (case_key, run, ordinal, case_id, iteration, attempt, source_name, source_line, digest, output, ground_truth)
             SELECT (run << 40) + i, run, i, 'more-' || i, 0, 0, source_name, i + 1, digest, '\"' || printf('%.*c', CASE WHEN i < 1000 THEN 6000 ELSE 60 END, 'x') || i || '\"', '\"no\"'
             FROM n JOIN cases ON case_id = 'wrong' WHERE i > 100;
             INSERT INTO score_rows (case_key, scorer, status, score, duration_ms, scored_at_ms, reason)
             SELECT case_key, (SELECT scorer FROM scorers WHERE scorer_id = 'right'), 'scored', 0.0, 0.1, 1700000000000, 'they differ: ' || substr(output, 1, 2000)
             FROM cases WHERE case_id LIKE 'more-%';
             INSERT INTO score_rows (case_key, scorer, status, score, duration_ms, scored_at_ms)
             SELECT case_key, (SELECT scorer FROM scorers WHERE scorer_id = 'fast'), 'scored', 1.0, 0.1, 1700000000000
             FROM cases WHERE case_id LIKE 'more-%';",
        )
        .unwrap();
    folder.sh("scorebox report -o report.html").exits_with(0);
    let html = fs::read_to_string(folder.path("report.html")).unwrap();
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
    assert!(html.contains("2 of 99,998"), "all cases count");
    assert!(
        html.contains("The first 200 of 99,996, in the order of the cases"),
        "the rule is stated"
    );
}

#[test]
fn several_runs_are_one_report() {
    let folder = folder();
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id s").exits_with(3);
    folder.sh("scorebox report r s -o both.html").exits_with(0);
    let summary = folder.sh("scorebox report r s --format md").exits_with(0);
    assert_eq!(summary.stdout.matches("## sums").count(), 2, "{summary}");
    let refused = folder.sh("scorebox report r s -o both.csv").exits_with(2);
    assert!(refused.stderr.contains("a report in csv is of one run"), "{refused}");
    let Some(browser) = Browser::start() else { return };
    browser.goto(&url(&folder, "both.html"));
    assert_eq!(
        browser.texts("nav[aria-label=Runs] a"),
        ["Comparison", "sums <i>and</i> more r", "sums <i>and</i> more s"]
    );
    assert_eq!(browser.barriers(), [""; 0]);
}

#[test]
fn a_report_of_two_runs_says_whether_the_second_is_better() {
    let folder = folder();
    // The same run, except for the case whose output was wrong.
    folder.write("better.jsonl", cases().replace("It is Lyon", "It is Paris"));
    folder.sh("scorebox run suite.toml better.jsonl -q --run-id s").exits_with(3);
    folder.write("elsewhere.jsonl", r#"{"id": "elsewhere", "output": "4", "groundTruth": "4"}"#);
    folder.sh("scorebox run suite.toml elsewhere.jsonl -q --run-id t").exits_with(0);
    folder.sh("scorebox report r s -o two.html").exits_with(0);
    folder.sh("scorebox report r t -o apart.html").exits_with(0);
    folder.sh("scorebox report r s t -o three.html").exits_with(0);
    let Some(browser) = Browser::start() else { return };
    browser.goto(&url(&folder, "two.html"));
    let cells = |table: &str, row: u8| {
        browser.texts(&format!("[aria-label='{table}'] tbody tr:nth-child({row}) > *"))
    };
    let right = cells("Differences", 2);
    assert_eq!(
        right[..5],
        ["right", "not shown to differ", "0.4000", "0.6000", "+0.2000−0.3553 to +0.7553"]
    );
    assert_eq!(right[6..], ["1.0000", "+0.45", "1", "0", "4"]);
    assert_eq!(cells("Differences", 3)[..2], ["fast", "the same"]);
    let changed = cells("Changed most", 1);
    assert_eq!(changed, ["verdict", "wrong", "0.0000", "1.0000", "+1.0000"]);
    // The case is shown in full among those of the first run.
    browser.script("document.querySelector(\"[aria-label='Changed most'] a\").click()");
    let open = "return document.querySelector('.cases > details[open] .id').textContent";
    assert_eq!(browser.script(open), json!("wrong"));
    for width in [400, 800, 1280] {
        browser.set_width(width);
        assert!(!browser.is_too_wide(), "at {width} pixels");
    }
    assert_eq!(browser.barriers(), [""; 0]);
    browser.goto(&url(&folder, "apart.html"));
    let why = browser.texts("#comparison .note");
    assert!(why[0].contains("the runs share no id of a case: r has `</title>"), "{why:?}");
    browser.goto(&url(&folder, "three.html"));
    assert_eq!(browser.texts("#comparison"), [""; 0]);
}

#[test]
fn a_report_of_two_runs_says_what_makes_their_comparison_doubtful() {
    let folder = folder();
    // Another question under the same id, and a case that the scorer cannot score.
    let other = cases().replace("What is 2 + 2?", "What is 1 + 3?");
    let other = other.replace(r#""groundTruth": "It is Paris,\nin the south.", "#, "");
    folder.write("other.jsonl", other);
    folder.sh("scorebox run suite.toml other.jsonl -q --run-id s --allow-errors").exits_with(3);
    folder.sh("scorebox report r s -o two.html").exits_with(0);
    let html = fs::read_to_string(folder.path("two.html")).unwrap();
    for says in [
        "2 of 7 cases have another input or ground truth in B",
        "right failed in B for 1 case that has a score in A.",
        "right: there is a score of 1 case only in A.",
    ] {
        assert!(html.contains(says), "{says}");
    }
}

#[test]
fn a_large_case_does_not_hide_the_cases_behind_it_from_a_report() {
    let folder = Folder::new();
    folder.write("suite.toml", crate::sums_fixture::suite("sums"));
    let trace: Vec<String> = (0..2000)
        .map(|_| format!(r#"{{"role": "user", "content": "{}"}}"#, "<".repeat(3000)))
        .collect();
    let large = format!(
        r#"{{"id": "large", "output": "5", "groundTruth": "4", "latencyMs": 1, "trace": [{}]}}"#,
        trace.join(",")
    );
    let small = r#"{"id": "small", "output": "5", "groundTruth": "4", "latencyMs": 1}"#;
    folder.write("cases.jsonl", format!("{large}\n{small}\n"));
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id r").exits_with(3);
    folder.sh("scorebox report -o report.html").exits_with(0);
    let html = fs::read_to_string(folder.path("report.html")).unwrap();
    assert!(html.contains(">small</span>") && html.contains(">large</span>"));
    assert!(html.contains("1 case is too large for this report and cut down."));
    assert!(html.len() < 1_000_000, "{} bytes", html.len());
}

/// Replies that people labelled. The figures are those of `agree`, which other tests compare with those of other
/// programs.
#[test]
fn a_report_shows_calibration_and_agreement_with_labels() {
    let folder = Folder::new();
    let example = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/begin");
    for name in ["cases.jsonl", "suite.toml"] {
        fs::copy(example.join(name), folder.path(name)).unwrap();
    }
    folder.sh("scorebox run suite.toml cases.jsonl -q --run-id begin").exits_with(0);
    folder.sh("scorebox report -o report.html --with /label").exits_with(0);
    let page = fs::read_to_string(folder.path("report.html")).unwrap();
    for (figure, value) in
        [("specificity", "0.6647"), ("balanced accuracy", "0.7995"), ("mean error", "0.1364")]
    {
        let row = format!(">{figure}</th><td class=\"number\">{value}</td>");
        assert!(page.contains(&row), "{row}");
    }
    assert!(page.contains("137 labels are positive (1, because higher is better)"));
    let printed =
        folder.sh("scorebox agree copied --with /label --format json").exits_with(0).json();
    let Some(browser) = Browser::start() else { return };
    browser.goto(&url(&folder, "report.html"));
    assert_eq!(browser.texts(".agreement h3"), ["copied", "short"]);
    let first = ".agreement:first-child";
    assert_eq!(browser.texts(&format!("{first} svg circle title")).len(), 10);
    let bins = browser.texts(&format!("{first} svg circle title"));
    assert_eq!(
        bins[9],
        "73 cases, mean score 0.9746: 98.6 % positive, 95 % interval 0.9264 to 0.9976"
    );
    let figures =
        browser.texts(&format!("{first} [aria-label='Figures of copied'] tr:nth-child(7) > *"));
    let kappa = &printed["intervals"]["kappa"];
    let ends = [0, 1].map(|place| format!("{:.4}", kappa[place].as_f64().unwrap()));
    assert_eq!(figures[..2], ["Cohen's kappa", "0.5793"]);
    assert_eq!(figures[2], ends.join(" to "));
    assert_eq!(browser.barriers(), [""; 0]);
    for width in [400, 800, 1280] {
        browser.set_width(width);
        assert!(!browser.is_too_wide(), "at {width} pixels");
    }
    browser.prefer_dark();
    assert_eq!(browser.barriers(), [""; 0]);
}

#[test]
fn labels_that_are_not_there_are_refused_and_nothing_is_written() {
    let folder = folder();
    for (options, said, hint) in [
        ("--with /label", "has a label at `/label`", ""),
        ("--with nobody", "the run has no scorer `nobody`", "choose a scorer from `right`, `fast`"),
        ("--with /a~x", "`/a~x` is not a valid JSON Pointer", "begins with `/`"),
        ("--positive yes", "--with <POINTER|SCORER>", ""),
    ] {
        let refused = folder.sh(&format!("scorebox report -o a.html {options}")).exits_with(2);
        assert!(refused.stderr.contains(said) && refused.stderr.contains(hint), "{refused}");
        assert!(!folder.path("a.html").exists());
    }
    let refused = folder.sh("scorebox report -o a.md --with right").exits_with(2);
    assert!(refused.stderr.contains("a report in markdown shows no agreement"), "{refused}");
    folder.sh("scorebox report -o a.html --with right").exits_with(0);
    let html = fs::read_to_string(folder.path("a.html")).unwrap();
    assert_eq!(html.matches("class=\"agreement\"").count(), 1, "it is not compared with itself");
}

#[test]
fn the_name_of_the_file_says_the_format_and_a_file_that_exists_is_kept() {
    let folder = folder();
    folder.sh("scorebox report -o out.xml && grep -q '<testsuites' out.xml").exits_with(0);
    folder.sh("scorebox report -o out.txt --format md && grep -q '^## sums' out.txt").exits_with(0);
    folder.sh("scorebox run suite.toml cases.jsonl -q --report html=ran.html; grep -q '<!DOCTYPE html>' ran.html").exits_with(0);
    for (command, said, hint) in [
        ("scorebox report -o out.xml", "`out.xml` exists", "--force"),
        ("scorebox report -o out.pdf", "does not say the format", "--format"),
        ("scorebox report", "nothing says which report is written", "-o report.html"),
        ("scorebox report -o a.html nightly", "no run `nightly`", "r"),
        ("scorebox report -o missing/a.html", "cannot write the report to `missing/a.html`", ""),
        ("scorebox report -o a.html --db none.db", "there is no database", ""),
    ] {
        let refused = folder.sh(command).exits_with(2);
        assert!(refused.stderr.contains(said) && refused.stderr.contains(hint), "{refused}");
        assert_eq!(refused.stdout, "");
    }
    folder.sh("scorebox report -o out.xml --force").exits_with(0);
}

#[test]
fn more_runs_than_a_page_shows_are_refused_with_what_takes_them() {
    let folder = Folder::new();
    folder.write("cases.jsonl", "{\"output\": \"a\"}\n");
    let ids: Vec<String> = (1..=9).map(|run| format!("r{run}")).collect();
    for id in &ids {
        folder
            .sh(&format!("scorebox run cases.jsonl -s json-valid -q --run-id {id}"))
            .exits_with(0);
    }
    let runs = ids.join(" ");
    let refused = folder.sh(&format!("scorebox report {runs} html=r.html md=r.md")).exits_with(2);
    assert_snapshot!(refused, @"
    [stderr]
    error: a report in html shows at most 8 runs, and 9 are named
    hint: name fewer runs, or write markdown, which takes any number
    [exit code 2]
    ");
    folder.sh(&format!("scorebox report {runs} md=r.md")).exits_with(0);
    folder.sh(&format!("scorebox report {} html=r.html", ids[..8].join(" "))).exits_with(0);
}
