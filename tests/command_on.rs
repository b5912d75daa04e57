//! `on`: selects the value of a case that a scorer is given as the output; such scores are stored, reused, resumed and
//! verified like those of whole outputs.

use std::fs;

use insta::assert_snapshot;

use crate::fixture::Folder;

/// An answer of two parts with the first words of the agent, an answer that lacks a part, and a case whose task failed.
const CASES: &str = r#"{"id": "1", "output": {"summary": "a refund is due", "title": "Refunds"}, "trace": [{"role": "assistant", "content": "Hello there"}]}
{"id": "2", "output": {"title": null}, "messages": [{"role": "assistant", "content": "Bye"}]}
{"id": "3", "error": "no connection"}
"#;

const SUITE: &str = r#"
[scorers.summary]
use = "contains"
config = { value = "refund" }
on = "/output/summary"

[scorers.title]
use = "equals"
config = { value = "Refunds" }
on = "/output/title"

[scorers.greeting]
use = "contains"
config = { value = "Hello" }
on = "/trace/0/content"

[scorers.whole]
use = "contains"
config = { value = "title" }
meta = ["explained"]

[scorers.explained]
use = "contains"
config = { value = "found" }
on = "/output/reason"
"#;

fn folder(suite: &str) -> Folder {
    let folder = Folder::new();
    folder.write("cases.jsonl", CASES);
    folder.write("s.toml", suite);
    folder
}

fn rows(folder: &Folder, run: &str) -> String {
    folder
        .rows(&format!(
            "SELECT case_id, scorer_id, status, score, coalesce(error_kind || ': ' || error_message, reason)
             FROM scores WHERE run_id = '{run}' AND case_id <> '3' ORDER BY case_id, scorer_id"
        ))
        .join("\n")
}

#[test]
fn a_scorer_is_given_the_value_that_it_is_on() {
    let folder = folder(SUITE);
    folder.sh("scorebox run s.toml cases.jsonl --run-id r").exits_with(1);
    assert_snapshot!(rows(&folder, "r"), @r#"
    1 | greeting | scored | 1 | found "Hello"
    1 | summary | scored | 1 | found "refund"
    1 | title | scored | 1 | "Refunds" equals the expected value
    1 | whole | scored | 1 | found "title"
    1 | whole.explained | scored | 1 | found "found"
    2 | greeting | scored | 0 | missing "Hello"
    2 | summary | error | null | invalid-input: `on`: the case has no value at `/output/summary`
    2 | title | scored | 0 | is null, expected "Refunds"
    2 | whole | scored | 1 | found "title"
    2 | whole.explained | scored | 1 | found "found"
    "#);
    let failed = "SELECT count(*) FROM scores WHERE case_id = '3' AND error_kind = 'task-failed'";
    assert_eq!(folder.rows(failed), ["5"]);
}

#[test]
fn what_it_is_on_is_verified_with_the_score() {
    let folder = folder(SUITE);
    folder.sh("scorebox run s.toml cases.jsonl --run-id r").exits_with(1);
    let verified = folder.sh("scorebox verify r --trust-cache").exits_with(0);
    assert_snapshot!(verified.stderr, @"15 verified, 0 different, 0 not verifiable");
    let change = "UPDATE scorers SET output_from = '/output/title' WHERE scorer_id = 'summary'";
    folder.database("scorebox.db").execute(change, []).unwrap();
    let changed = folder.sh("scorebox verify r --trust-cache").exits_with(1);
    for what in [
        "r:summary:0:0:1  different       input ",
        "different       root ",
        "different       scorer of the plan ",
    ] {
        assert!(changed.stdout.contains(what), "{what}: {changed}");
    }
}

#[test]
fn a_score_of_the_same_value_is_reused_and_of_another_one_is_not() {
    let folder = folder(
        "[scorers.it]\nuse = 'contains'\nconfig = { value = 'refund' }\non = '/output/summary'\n",
    );
    folder.sh("scorebox run s.toml cases.jsonl -q --run-id a").exits_with(1);
    let again = folder.sh("scorebox run s.toml cases.jsonl --run-id b --reuse").exits_with(1);
    assert!(again.stderr.contains("1 of them reused"), "{again}");
    let suite = fs::read_to_string(folder.path("s.toml"))
        .unwrap()
        .replace("/output/summary", "/output/title");
    folder.write("s.toml", &suite);
    let other = folder.sh("scorebox run s.toml cases.jsonl --run-id c --reuse").exits_with(1);
    assert!(!other.stderr.contains("reused"), "{other}");
    let resumed = folder.sh("scorebox run s.toml cases.jsonl --resume a").exits_with(2);
    assert!(resumed.stderr.contains("`on` of `it` has changed"), "{resumed}");
    let compared = folder.sh("scorebox compare a c").exits_with(0);
    assert!(
        compared.stderr.contains("`it` is not the same component or configuration"),
        "{compared}"
    );
}

#[test]
fn a_receipt_names_the_value_that_was_scored() {
    let folder = folder(SUITE);
    folder.sh("scorebox run s.toml cases.jsonl -q --run-id r").exits_with(1);
    folder.sh("scorebox verify --receipt r:summary:0:0:1 > receipt.json").exits_with(0);
    assert!(
        fs::read_to_string(folder.path("receipt.json"))
            .unwrap()
            .contains("\"on\": \"/output/summary\"")
    );
    let case = CASES.lines().next().unwrap();
    folder.write("case.json", case);
    folder.sh("scorebox verify --trust-cache --check receipt.json --case case.json").exits_with(0);
    folder.write("case.json", case.replace("a refund is due", "a refund was due"));
    let other = folder.sh("scorebox verify --trust-cache --check receipt.json --case case.json");
    assert!(other.exits_with(1).stdout.contains("different  input"));
    folder.write("case.json", case.replace("summary", "abstract"));
    let lacking = folder.sh("scorebox verify --trust-cache --check receipt.json --case case.json");
    assert!(lacking.exits_with(1).stdout.contains("/output/summary  nothing"));
}

#[test]
fn a_value_that_no_case_can_have_is_refused_where_it_stands() {
    let folder = folder("[scorers.contains]\nconfig = { value = 'x' }\non = '/ouput/summary'\n");
    let refused = folder.sh("scorebox run s.toml cases.jsonl").exits_with(2);
    assert_snapshot!(refused.stderr, @r"
    error: s.toml:3:6: `/ouput/summary` is not in a part of a case that a scorer can be on (did you mean `/output`?); a pointer begins with one of `/output`, `/input`, `/groundTruth`, `/context`, `/outputSchema`, `/trace`, `/usage`, `/metadata`, `/baseline`
    ");
    folder.write("s.toml", "[scorers.contains]\nconfig = { value = 'x' }\non = 'output'\n");
    let refused = folder.sh("scorebox run s.toml cases.jsonl").exits_with(2);
    assert_snapshot!(refused.stderr, @"error: s.toml:3:6: `output` is not a JSON Pointer, such as `/output/summary`: it does not start with `/`");
}

#[test]
fn a_score_is_shown_with_the_value_that_it_is_of() {
    let folder = folder(SUITE);
    folder.sh("scorebox run s.toml cases.jsonl -q --run-id r --allow-errors");
    let shown = folder.sh("scorebox show 1").exits_with(0).stdout;
    assert!(shown.contains("title: 1.0000 (soft, on /output/title)"), "{shown}");
    assert!(shown.contains("whole: 1.0000 (soft)"), "{shown}");
    let json = folder.sh("scorebox show 1 --format json").exits_with(0).json();
    assert_eq!(json[0]["on"]["title"], "/output/title");
    let markdown = folder.sh("scorebox report --format md").exits_with(0).stdout;
    assert!(markdown.contains("| title | soft, on /output/title |"), "{markdown}");
    folder.sh("scorebox report -o r.html").exits_with(0);
    let html = fs::read_to_string(folder.path("r.html")).unwrap();
    assert!(html.contains(", on <code>/output/title</code>"), "{html}");
}
