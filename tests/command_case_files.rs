//! Files of cases that lack something or have another format: paths of --map that no case has, files without a case,
//! formats of other tools.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fixture::{Folder, Output};

const SLOW: &str = "{\"id\": \"a\", \"output\": \"x\", \"timing\": {\"ms\": 90000}}\n\
                    {\"id\": \"b\", \"output\": \"x\", \"timing\": {\"ms\": 90000}}\n";

const SUITE: &str = "[scorers.contains]\nseverity = \"gate\"\nconfig = { value = \"x\" }\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("slow.jsonl", SLOW);
    folder.write("suite.toml", SUITE);
    folder
}

/// The errors and hints of a command that exits with 2.
fn refused(folder: &Folder, command: &str) -> String {
    let output = folder.sh(command).exits_with(2);
    let lines = output.stderr.lines();
    let said = lines.filter(|line| line.starts_with("error: ") || line.starts_with("hint: "));
    said.map(|line| format!("{line}\n")).collect()
}

fn stored(folder: &Folder) -> Vec<String> {
    folder.rows("SELECT count(*) FROM _smithers_scorers")
}

#[test]
fn a_rule_that_finds_nothing_in_any_case_is_an_error_and_the_scores_stay() {
    let folder = folder();
    folder.sh("scorebox run suite.toml slow.jsonl -q --map latencyMs=/timing/ms").exits_with(0);
    assert_snapshot!(refused(&folder, "scorebox run suite.toml slow.jsonl -q --map latencyMs=/timing/msec --map id=/nope"), @"
    error: --map `latencyMs=/timing/msec` finds nothing in any case; `/timing` of the first has the keys `ms`
    hint: did you mean `latencyMs=/timing/ms`?
    error: --map `id=/nope` finds nothing in any case; the first has the keys `id`, `output`, `timing`
    ");
    assert_eq!(stored(&folder), ["4"]);
    // One case with it is enough.
    let some =
        format!("{SLOW}{{\"id\": \"c\", \"output\": \"x\", \"timing\": {{\"msec\": null}}}}\n");
    folder.write("some.jsonl", some);
    folder.sh("scorebox run suite.toml some.jsonl -q --map latencyMs=/timing/msec").exits_with(0);
}

#[test]
fn a_card_is_not_written_of_cases_in_which_a_rule_finds_nothing() {
    let folder = folder();
    let card =
        "scorebox card exact-match --cases slow.jsonl -o card.html --map latencyMs=/timing/msec";
    let said = refused(&folder, card);
    assert_snapshot!(said, @"
    error: --map `latencyMs=/timing/msec` finds nothing in any case; `/timing` of the first has the keys `ms`
    hint: did you mean `latencyMs=/timing/ms`?
    ");
    assert!(!folder.path("card.html").exists());
}

#[test]
fn convert_says_of_a_rule_that_it_finds_nothing() {
    let folder = folder();
    let said = refused(&folder, "scorebox convert slow.jsonl -o out.jsonl --map latencyMs=/time");
    assert_snapshot!(said, @"
    error: --map `latencyMs=/time` finds nothing in any case; the first has the keys `id`, `output`, `timing`
    hint: did you mean `latencyMs=/timing`?
    ");
}

#[test]
fn a_table_without_a_column_is_refused_before_its_first_row() {
    let folder = folder();
    folder.write("lat.csv", "id,output,lat\na,x,5\n");
    folder.write("qa.csv", "question,answer\nq,a\n");
    let mut said = refused(&folder, "scorebox run suite.toml lat.csv -q --map latencyMs=/latt");
    said.push_str(&refused(&folder, "scorebox run suite.toml qa.csv -q"));
    said.push_str(&refused(&folder, "scorebox convert qa.csv --map groundTruth=/right"));
    assert_snapshot!(said, @"
    error: lat.csv: there is no column `latt`, where `latencyMs` is to be; the columns are `id`, `output`, `lat`
    hint: did you mean `latencyMs=/lat`?
    error: qa.csv: there is no column `output`; the columns are `question`, `answer`
    hint: if `answer` is what to score: `--map output=/answer`
    error: qa.csv: there is no column `output`; the columns are `question`, `answer`
    hint: if `answer` is what to score: `--map output=/answer`
    ");
    assert!(!folder.path("scorebox.db").exists());
}

#[test]
fn a_file_without_a_case_is_an_error_beside_others() {
    let folder = folder();
    folder.write("empty.jsonl", "");
    folder.write("blank.jsonl", "\n\n");
    folder.write("header.csv", "id,output\n");
    folder.write("none.json", r#"{"evalId": "e", "results": {"results": [], "stats": {}}}"#);
    folder.sh("gzip -k empty.jsonl").exits_with(0);
    for empty in ["empty.jsonl", "blank.jsonl", "header.csv", "none.json", "empty.jsonl.gz"] {
        let expected = format!("error: {empty}: there are no cases in it\n");
        for command in [
            format!("scorebox run suite.toml -q slow.jsonl {empty}"),
            format!("scorebox run suite.toml -q {empty} slow.jsonl"),
            format!("scorebox convert {empty}"),
            format!("scorebox convert slow.jsonl {empty} -o out.jsonl"),
        ] {
            let said = refused(&folder, &command);
            assert!(said.starts_with(&expected), "{command}: {said}");
        }
        assert!(!folder.path("out.jsonl").exists());
        // The size of an empty file shows that it is empty, before anything is scored.
        assert_eq!(folder.path("scorebox.db").exists(), empty != "empty.jsonl", "{empty}");
    }
    let run = "scorebox run suite.toml -q --run-id r slow.jsonl";
    assert_snapshot!(refused(&folder, &format!("{run} empty.jsonl.gz")), @"
    error: empty.jsonl.gz: there are no cases in it
    hint: if there are other files, name them without this one
    ");
    folder.sh("scorebox run suite.toml -q --resume r slow.jsonl").exits_with(0);
    let said = refused(&folder, "scorebox run suite.toml -q - slow.jsonl </dev/null");
    assert!(said.starts_with("error: <stdin>: there are no cases in it\n"), "{said}");
}

#[test]
fn a_file_that_is_not_one_of_cases_is_named_as_what_it_is() {
    let folder = folder();
    folder.write("results.yaml", "evalId: e\nresults: []\n");
    folder.write("results.html", "<!DOCTYPE html>\n<p>");
    folder.write("config.yaml", "tests: []\n");
    folder.write("log.json", "{\"version\": 2, \"results\": []}");
    let commands = [
        "scorebox run suite.toml results.yaml",
        "scorebox convert results.html",
        "scorebox run --suite config.yaml slow.jsonl",
        "scorebox suite check config.yaml",
        "scorebox run suite.toml log.json --from inspect-json",
        "scorebox run suite.toml log.json --from inspect-eval",
        "scorebox run suite.toml slow.jsonl --limit 10",
    ];
    let said: String = commands.iter().map(|command| refused(&folder, command)).collect();
    assert_snapshot!(said, @"
    error: results.yaml: this is YAML, which is not read: of promptfoo's results, save those in JSON (`-o results.json`)
    error: results.html: this is HTML or XML, which is not read: of promptfoo's results, save those in JSON (`-o results.json`)
    error: `config.yaml` is YAML, and a suite is TOML or JSON
    hint: `scorebox migrate config.yaml` makes a suite of a configuration of promptfoo
    error: `config.yaml` is YAML, and a suite is TOML or JSON
    hint: `scorebox migrate config.yaml` makes a suite of a configuration of promptfoo
    error: log.json: this is not an Inspect log: it has neither `eval` nor `samples`
    error: log.json: this is not a zip archive, which an Inspect log (.eval) is
    error: `10` is not NAME=VALUE
    hint: it bounds one score, for instance `--limit meta=4MiB`; `scorebox convert FILE | head -10` writes the first cases of a file
    ");
}

/// The results of promptfoo's `--repeat 3` over two tests, in the order in which the answers arrived.
#[test]
fn repeats_of_a_test_of_promptfoo_are_attempts_at_one_case() {
    let folder = Folder::new();
    let result = |(number, city): (u64, &str)| {
        let output = if number == 2 { "Rome" } else { city };
        json!({
            "promptIdx": 0, "testIdx": number, "success": true, "score": 1, "latencyMs": 1,
            "testCase": {"vars": {"city": city}, "assert": [{"type": "contains", "value": "{{city}}"}]},
            "prompt": {"raw": format!("Say {city}."), "label": "Say {{city}}."}, "provider": {"id": "echo"},
            "vars": {"city": city}, "response": {"output": output},
        })
    };
    let order = [(1, "Lima"), (0, "Lima"), (4, "Paris"), (2, "Lima"), (3, "Paris"), (5, "Paris")];
    let results: Vec<Value> = order.into_iter().map(result).collect();
    let file = json!({"evalId": "e", "results": {"version": 3, "results": results, "stats": {}}});
    folder.write("results.json", file.to_string());
    folder.write("promptfooconfig.yaml", "evaluateOptions: {repeat: 3}\ntests:\n- vars: {city: Lima}\n  assert: [{type: contains, value: Lima}]\n- vars: {city: Paris}\n");
    let Output { stdout, .. } = folder.sh("scorebox convert results.json").exits_with(0);
    let cases = stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let names: Vec<String> = cases
        .map(|case| format!("{} {} {}", case["id"], case["nodeId"], case["attempt"]))
        .collect();
    assert_eq!(
        names,
        [
            r#""test-0-prompt-0" "test-0" 1"#,
            r#""test-0-prompt-0" "test-0" null"#,
            r#""test-1-prompt-0" "test-1" 1"#,
            r#""test-0-prompt-0" "test-0" 2"#,
            r#""test-1-prompt-0" "test-1" null"#,
            r#""test-1-prompt-0" "test-1" 2"#,
        ]
    );
    folder.sh("scorebox migrate promptfooconfig.yaml -o made.toml").exits_with(0);
    folder.sh("scorebox run made.toml results.json -q").exits_with(3);
    let repeats = folder.sh("scorebox repeats --format json").exits_with(0);
    let repeats: Value = serde_json::from_str(&repeats.stdout).unwrap();
    let tries = &repeats["scorers"][0]["tries"];
    assert_eq!(
        (&tries["cases"], &tries["attempts"], &tries["passed"]),
        (&json!(1), &json!(3), &json!(2))
    );
}
