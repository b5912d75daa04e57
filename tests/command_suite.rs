//! `scorebox suite`, and suites of several files, in JSON, with variables: what they resolve to, and all their
//! mistakes.

use std::{collections::BTreeMap, fs, path::Path};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fixture::Folder;

#[test]
fn all_mistakes_are_reported_at_once_each_with_its_hint() {
    let folder = Folder::new();
    folder.write(
        "suite.toml",
        "[scorers.a]\nuse = \"contains\"\nconfg = {}\n[scorers.b]\nlimits = { fuel = true }\ngrants = [\"workspaces\"]\n",
    );
    let commands =
        ["suite check suite.toml", "suite show suite.toml", "run suite.toml answers.jsonl"];
    let said = commands.map(|command| folder.sh(&format!("scorebox {command}")).to_string());
    assert!(said.iter().all(|words| *words == said[0]), "{said:?}");
    assert_snapshot!(said[0], @"
    [stderr]
    error: suite.toml:3:1: unknown key `confg`; the keys of a scorer are `use`, `name`, `config`, `on`, `limits`, `grants`, `severity`, `threshold`, `weight`, `required`, `sampling`, `nodes`, `when`, `judge`, `jury`, `meta`
    hint: did you mean `config`?
    error: suite.toml:5:19: `fuel` must be a whole number; found a boolean
    error: suite.toml:6:11: `workspaces` is not a grant; use `wasi`, `workspace` or `judge`
    hint: did you mean `workspace`?
    [exit code 2]
    ");
    assert!(!folder.path("scorebox.db").exists());
}

#[test]
fn a_suite_without_a_scorer_and_what_is_no_suite_are_named() {
    let folder = Folder::new();
    folder.write("empty.toml", "name = \"x\"\n");
    let commands = ["suite check empty.toml", "run empty.toml answers.jsonl"];
    let said = commands.map(|command| folder.sh(&format!("scorebox {command}")).to_string());
    assert_eq!(said[0], said[1]);
    assert_snapshot!(said[0], @r"
    [stderr]
    error: `empty.toml` names no scorer
    hint: a suite has one: `[scorers.NAME]`; what takes a file of judges alone is `score --judges FILE` and `judges check FILE`
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox suite check answers.jsonl"), @r"
    [stderr]
    error: `answers.jsonl` is JSON Lines, and a suite is TOML or JSON
    hint: if these are the cases, name the suite before them: scorebox run SUITE answers.jsonl
    [exit code 2]
    ");
    folder.write("suite.json", "{\"scorers\": {\"a\": {\"use\": \"length\"},}}");
    assert_snapshot!(folder.sh("scorebox suite check suite.json"), @r"
    [stderr]
    error: suite.json:1:37: trailing comma
    [exit code 2]
    ");
}

#[test]
fn a_suite_in_utf_16_is_named_as_one_with_a_mark_and_without() {
    let folder = Folder::new();
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    folder.write("marked.toml", wide("\u{feff}[scorers.contains]\n"));
    folder.write("unmarked.toml", wide("[scorers.contains]\n"));
    let refused = folder.sh("scorebox suite check marked.toml; scorebox suite check unmarked.toml");
    assert_snapshot!(refused.stderr, @"
    error: cannot read the suite `marked.toml`: it is UTF-16 text, not UTF-8
    hint: `iconv -f utf-16 -t utf-8 FILE` converts a file
    error: cannot read the suite `unmarked.toml`: it is UTF-16LE text, not UTF-8
    hint: `iconv -f utf-16le -t utf-8 FILE` converts a file
    ");
}

#[test]
fn a_scorer_that_could_score_nothing_is_a_mistake() {
    let folder = Folder::new();
    folder.write("suite.toml", "[scorers.contains]\nlimits = { fuel = 0 }\nnodes = []\n");
    let refused = folder.sh("scorebox suite show suite.toml").exits_with(2);
    assert_snapshot!(refused.stderr, @r#"
    error: suite.toml:2:19: `fuel` must be 1 or more: without fuel nothing is scored
    error: suite.toml:3:9: `nodes` is empty, so that the scorer would be for no case; `["*"]` is for all nodes, and sampling of the type `none` for no case
    "#);
}

#[test]
fn mistakes_of_the_file_and_those_that_only_loading_finds_are_reported_together() {
    let folder = Folder::new();
    folder.write(
        "suite.toml",
        r#"
[scorers.latency]
config = { targetms = 1, foo = 2 }
sampling = { type = "ratio", rate = 3 }
[scorers.typo]
use = "latncy"
[scorers.relevancy]
threshold = 3
[scorers.exact-match]
when = ".metadata.lang =="
threshold = 7
[scorers.schema-adherence]
config = { schema = 5 }
nodes = 3
[scorers.unclear]
confg = {}
"#,
    );
    let commands = [
        "suite check suite.toml",
        "compile suite.toml",
        "run suite.toml answers.jsonl",
        "live suite.toml </dev/null",
    ];
    let said = commands.map(|command| folder.sh(&format!("scorebox {command}")).to_string());
    assert!(said.iter().all(|words| *words == said[0]), "{said:?}");
    assert_snapshot!(said[0], @r#"
    [stderr]
    error: suite.toml:3:12: scorer `latency` (built-in): invalid-config: unknown key `targetms`
    hint: did you mean `targetMs`?
    error: suite.toml:3:26: scorer `latency` (built-in): invalid-config: unknown key `foo`; known here: `maxMs`, `missing`, `targetMs`
    error: suite.toml:4:37: the rate 3 is not a number from 0 to 1
    error: suite.toml:5:10: there is no scorer `latncy`
    hint: did you mean `latency`?
    error: suite.toml:7:10: scorer `relevancy` (built-in): missing-grant: the component imports `scorebox:scorer/judge@0.1.0`, which was not granted
    hint: if you trust it with that, add `grants = ["judge"]` to the scorer in the suite, or use `--grant judge` (in a run: `--grant NAME=judge`)
    error: suite.toml:8:13: scorer `relevancy`: the threshold 3 is not on the scorer's scale, which is 0 to 1
    error: suite.toml:10:8: `when` of the scorer `exact-match`: invalid-config: `expression` is not a valid jq expression: expected term at its end
    error: suite.toml:11:13: scorer `exact-match`: the threshold 7 is not on the scorer's scale, which is 0 to 1
    error: suite.toml:13:1: scorer `schema-adherence` (built-in): invalid-config: `schema` is not a usable JSON Schema: want boolean or object, but got number
    error: suite.toml:14:9: `nodes` must be a list; found a number
    error: suite.toml:16:1: unknown key `confg`; the keys of a scorer are `use`, `name`, `config`, `on`, `limits`, `grants`, `severity`, `threshold`, `weight`, `required`, `sampling`, `nodes`, `when`, `judge`, `jury`, `meta`
    hint: did you mean `config`?
    [exit code 2]
    "#);
    assert!(!folder.path("scorebox.db").exists());
}

#[test]
fn a_judge_that_the_suite_describes_is_not_reported_beside_other_mistakes() {
    let folder = Folder::new();
    let judged = "[judges.default]\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n[scorers.relevancy]\ngrants = [\"judge\"]\n";
    folder.write("judged.toml", judged);
    folder.sh("scorebox compile judged.toml").exits_with(0);
    folder.write("suite.toml", format!("{judged}[scorers.exact-match]\nweight = true\n"));
    let refused = folder.sh("scorebox suite check suite.toml").exits_with(2);
    assert!(refused.stderr.starts_with("error: suite.toml:8:10: `weight`"), "{refused}");
    assert_eq!(refused.stderr.matches("error:").count(), 1, "{refused}");
}

#[test]
fn an_option_for_a_scorer_that_is_not_clear_hides_no_mistake_of_the_file() {
    let folder = Folder::new();
    folder.write("suite.toml", "[scorers.a]\nuse = \"length\"\nconfg = { max = 3 }\n");
    let command = "scorebox run suite.toml answers.jsonl --config 'a={\"max\": 4}'";
    let refused = folder.sh(command).exits_with(2);
    assert!(refused.stderr.starts_with("error: suite.toml:3:1: unknown key `confg`"), "{refused}");
    assert_eq!(refused.stderr.matches("error:").count(), 1, "{refused}");
}

#[test]
fn check_loads_all_scorers_and_scores_nothing() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox suite check suite.toml"), @"
    scorer           component       version  severity  threshold  reads
    numeric-answer   numeric-answer  0.1.0    soft      -          output, groundTruth
    mentions-answer  contains        0.1.0    soft      -          output, groundTruth
    marked           contains        0.1.0    soft      -          output, groundTruth
    levenshtein      levenshtein     0.1.0    soft      -          output, groundTruth
    [exit code 0]
    ");
    folder.write(
        "bad.toml",
        "[scorers.a]\nuse = \"latency\"\nconfig = { targetMS = 1 }\n[scorers.b]\nuse = \"latncy\"\n[scorers.contains]\n",
    );
    let refused = folder.sh("scorebox suite check bad.toml").exits_with(2);
    for words in [
        "error: bad.toml:3:12: scorer `a` (built-in): invalid-config: unknown key `targetMS`\nhint: did you mean `targetMs`?\n",
        "error: bad.toml:4:10: there is no scorer `latncy`\nhint: did you mean `latency`?\n",
    ] {
        assert!(refused.stderr.contains(words), "{refused}");
    }
    // Values from the command line have no location in the file.
    let run = r#"scorebox run bad.toml answers.jsonl --config 'a={"targetMS": 2}'"#;
    let refused = folder.sh(run).exits_with(2);
    assert!(refused.stderr.contains("bad.toml:1:10: scorer `a` (built-in): invalid"), "{refused}");
    assert!(!folder.path("scorebox.db").exists());
}

#[test]
fn check_opens_the_recordings_of_judges_that_are_asked() {
    let folder = Folder::new();
    let judges = ["default", "unasked"].map(|name| {
        format!("[judges.{name}]\nprovider = \"recorded\"\nfile = \"none.jsonl\"\nmodel = \"m\"\n")
    });
    let scorer = "[scorers.relevancy]\ngrants = [\"judge\"]\n";
    folder.write("suite.toml", format!("{}{scorer}", judges.concat()));
    let checked = folder.sh("scorebox suite check suite.toml");
    assert_snapshot!(checked, @"
    [stderr]
    error: suite.toml:1:9: judge `default`: none.jsonl: no such file
    [exit code 2]
    ");
    let run = folder.sh("scorebox run suite.toml answers.jsonl");
    assert_eq!(run.to_string(), checked.to_string());
    folder.write("suite.toml", format!("{}{scorer}config = {{ n = 1 }}\n", judges.concat()));
    let checked = folder.sh("scorebox suite check suite.toml").exits_with(2);
    assert_eq!(checked.stderr.matches("error:").count(), 2, "{checked}");
    folder.write("none.jsonl", "");
    folder.write("suite.toml", format!("{}{scorer}", judges.concat()));
    folder.sh("scorebox suite check suite.toml").exits_with(0);
}

#[test]
fn what_two_included_files_describe_differently_is_refused_with_its_places() {
    let folder = Folder::new();
    folder.write("one.toml", "[scorers.length]\nconfig = { max = 1 }\n");
    folder.write("other.toml", "[scorers.contains]\n[scorers.length]\nconfig = { max = 9 }\n");
    let main = "include = [\"one.toml\", \"other.toml\"]\n";
    folder.write("suite.toml", main);
    assert_snapshot!(folder.sh("scorebox suite show suite.toml"), @"
    [stderr]
    error: other.toml:2:10: the scorer `length` differs in `config` from what `one.toml:1:10` says; `suite.toml` includes both, and does not say which holds
    [exit code 2]
    ");
    folder.write("suite.toml", format!("{main}[scorers.length]\nconfig = {{ max = 5 }}\n"));
    folder.sh("scorebox suite show suite.toml").exits_with(0);
}

#[test]
fn show_prints_the_plan_that_a_run_stores() {
    let folder = Folder::new();
    folder.sh("scorebox run suite.toml answers.jsonl -q").exits_with(0);
    let shown = folder.sh("scorebox suite show suite.toml --format json").exits_with(0).json();
    let stored: Value =
        serde_json::from_str(&folder.rows("SELECT suite_json FROM runs")[0]).unwrap();
    // Printed with the keys of rows, stored with the keys of the suite.
    let first = &shown["scorers"][0];
    assert_eq!(first["scorerId"], stored["scorers"][0]["id"]);
    let printed = stored.to_string().replace(r#""id":"#, r#""scorerId":"#);
    let (start, scorers) = printed.split_once(r#""scorers":"#).unwrap();
    let scorers = scorers.replace(r#""name":"#, r#""scorerName":"#);
    let printed = format!(r#"{start}"scorers":{scorers}"#);
    assert_eq!(shown, serde_json::from_str::<Value>(&printed).unwrap());
    let table = folder.sh("scorebox suite show suite.toml").exits_with(0).stdout;
    assert!(table.starts_with("scorer "), "{table}");
}

#[test]
fn what_a_scorer_says_beyond_its_configuration_is_a_column() {
    let folder = Folder::new();
    folder.write("base.toml", "[defaults]\nrequired = true\n[scorers.token-f1]\nweight = 2.5\n");
    folder.write(
        "suite.toml",
        "include = [\"base.toml\"]\n[scorers.length]\nconfig = { max = 9 }\nrequired = false\nseverity = \"gate\"\n",
    );
    assert_snapshot!(folder.sh("scorebox suite show suite.toml"), @r#"
    scorer    use       config     severity  weight  required
    token-f1  token-f1  {}         -         2.5     yes
    length    length    {"max":9}  gate      -       no
    [exit code 0]
    "#);
    assert_snapshot!(folder.sh("scorebox suite check suite.toml"), @"
    scorer    component  version  severity  threshold  weight  required  reads
    token-f1  token-f1   0.1.0    soft      -          2.5     yes       output, groundTruth
    length    length     0.1.0    gate      1.0000     -       -         output
    [exit code 0]
    ");
}

#[test]
fn a_suite_in_json_with_files_that_it_includes_runs() {
    let folder = Folder::new();
    fs::create_dir(folder.path("parts")).unwrap();
    folder.write("parts/base.toml", "[scorers.brief]\nuse = \"length\"\nconfig = { max = 1 }\n");
    let suite = json!({
        "name": "mixed",
        "include": ["parts/base.toml"],
        "scorers": {"brief": {"config": {"max": 100_000}}, "${x}": {}},
    });
    folder.write("suite.json", suite.to_string());
    let refused = folder.sh("scorebox run --suite suite.json answers.jsonl").exits_with(2);
    assert!(refused.stderr.contains("`${x}` cannot be a scorer's name"), "{refused}");
    folder.write("suite.json", suite.to_string().replace("${x}", "contains"));
    let config = "'contains={\"value\": \"the\"}'";
    folder
        .sh(&format!("scorebox run --suite suite.json answers.jsonl -q --config {config}"))
        .exits_with(0);
    let scored = "SELECT scorer_id, count(*) FROM scores GROUP BY scorer_id";
    assert_eq!(folder.rows(scored), ["brief | 400", "contains | 400"]);
    assert_eq!(folder.rows("SELECT suite_name FROM runs"), ["mixed"]);
}

#[test]
fn variables_of_the_environment_are_put_where_they_are_written() {
    let folder = Folder::new();
    folder.write("suite.toml", "[scorers.contains]\nconfig = { value = \"${SOUGHT}\" }\n");
    let command = "scorebox run suite.toml answers.jsonl -q";
    let refused = folder.sh(command).exits_with(2);
    assert_snapshot!(refused, @"
    [stderr]
    error: suite.toml:2:20: the variable `SOUGHT` has no value
    [exit code 2]
    ");
    folder.sh(&format!("SOUGHT=apples {command}")).exits_with(0);
    assert_eq!(folder.rows("SELECT config_json FROM scorers"), [r#"{"value":"apples"}"#]);
}

/// Suites that are accepted, in JSON.
fn good() -> Vec<Value> {
    vec![
        json!({"scorers": {"contains": {}}}),
        json!({"version": 1, "name": "n", "scorers": {"a.b-c_9": {"use": "./x.wasm", "name": "A"}}}),
        json!({"defaults": {"limits": {"fuel": 1, "memory": "64MiB", "timeout": "1.5 s"}},
               "scorers": {"a": {"limits": {"host-timeout": "2min", "reason": 10, "meta": "1 kB",
                                             "assertions": 0, "log": "9"}}}}),
        json!({"scorers": {"a": {"config": {"any": [1, null, {"x": "${y"}]}, "grants": ["wasi", "workspace"]}}}),
        json!({"include": [], "scorers": {"a": {}}}),
        json!({"seed": "7", "defaults": {"severity": "soft", "threshold": 0, "weight": 0.5, "required": true,
                                         "sampling": {"type": "none"}, "nodes": ["write-*"]},
               "scorers": {"a": {"severity": "gate", "threshold": 70.5, "weight": 2, "required": false,
                                 "sampling": {"type": "ratio", "rate": 0.1}, "nodes": ["*"]},
                           "b": {"sampling": {"type": "all"}}}}),
        json!({"scorers": {"a": {"limits": {"timeout": " .5 s", "host-timeout": "10.min", "memory": "0.05MB"},
                                 "when": " . "}}}),
        judged(
            json!({"provider": "openai", "model": "m", "base_url": "http://localhost:8000/v1", "key_env": "K",
                      "max_output_tokens": 4_294_967_295_u32, "price": {"input": 1, "output": 2}, "budget": {"cost_usd": 1}}),
        ),
        judged(json!({"provider": "command", "command": ["x", ""], "budget": {"cost_usd": 1}})),
        judged(json!({"provider": "recorded", "file": "r.jsonl"})),
        judged(
            json!({"provider": "recorded", "file": "r.jsonl", "model": "m", "budget": {"calls": 0}}),
        ),
        json!({"judges": {"default": {"provider": "command", "command": ["x"]}},
               "scorers": {"a": {"judge": {"timeout": "1h"}, "jury": {"judges": [], "models": ["m"]}}}}),
    ]
}

/// A suite with this judge `default`.
fn judged(judge: Value) -> Value {
    json!({"judges": {"default": judge}, "scorers": {"a": {}}})
}

/// A suite with this time as a limit.
fn timed(time: &str) -> Value {
    json!({"scorers": {"a": {"limits": {"timeout": time}}}})
}

/// Suites that are refused, in JSON.
fn bad() -> Vec<Value> {
    let entry = |entry: Value| json!({"scorers": {"a": entry}});
    vec![
        json!({"scorers": {"a": {}}, "nam": "x"}),
        json!({"version": 2, "scorers": {"a": {}}}),
        json!({"version": "1", "scorers": {"a": {}}}),
        json!({"scorers": []}),
        json!({"scorers": {"a b": {}}}),
        json!({"scorers": {"a": {}}, "defaults": {"use": "contains"}}),
        json!({"include": "base.toml", "scorers": {"a": {}}}),
        entry(json!("contains")),
        entry(json!({"use": 1})),
        entry(json!({"config": []})),
        entry(json!({"grants": "wasi"})),
        entry(json!({"grants": ["network"]})),
        entry(json!({"limits": {"fuel": -1}})),
        entry(json!({"limits": {"fuel": 0}})),
        entry(json!({"limits": {"fuel": "1"}})),
        entry(json!({"limits": {"fuel": 1.5}})),
        entry(json!({"limits": {"timeout": 5}})),
        entry(json!({"limits": {"timeout": "5 parsecs"}})),
        entry(json!({"limits": {"memory": true}})),
        entry(json!({"limits": {"memory": 0}})),
        entry(json!({"limits": {"speed": 1}})),
        json!({"seed": 7, "scorers": {"a": {}}}),
        entry(json!({"severity": "hard"})),
        entry(json!({"threshold": "0.5"})),
        entry(json!({"threshold": -1})),
        entry(json!({"weight": -1})),
        entry(json!({"required": "yes"})),
        entry(json!({"sampling": "all"})),
        entry(json!({"sampling": {}})),
        entry(json!({"sampling": {"type": "some"}})),
        entry(json!({"sampling": {"type": "ratio"}})),
        entry(json!({"sampling": {"type": "ratio", "rate": 1.1}})),
        entry(json!({"sampling": {"type": "all", "rate": 0.5}})),
        entry(json!({"sampling": {"rate": 0.5}})),
        entry(json!({"nodes": "write-*"})),
        entry(json!({"nodes": [""]})),
        entry(json!({"nodes": []})),
        entry(json!({"when": " "})),
        timed("5"),
        timed("0s"),
        timed("0.0s"),
        timed(".s"),
        timed("1..2s"),
        entry(json!({"limits": {"memory": "0"}})),
        entry(json!({"limits": {"memory": "1.5.5MB"}})),
        entry(json!({"limits": {"log": "."}})),
        entry(json!({"judge": {"timeout": "5"}})),
        entry(json!({"judge": {"timeout": "-1s"}})),
        entry(json!({"jury": {"judges": ["a"], "models": ["m"]}})),
        judged(json!({"provider": "command", "model": "m"})),
        judged(json!({"provider": "command", "command": [""]})),
        judged(json!({"provider": "command", "command": ["x"], "base_url": "http://localhost"})),
        judged(json!({"provider": "command", "command": ["x"], "file": "r.jsonl"})),
        judged(json!({"provider": "recorded", "model": "m"})),
        judged(
            json!({"provider": "recorded", "file": "r.jsonl", "model": "m", "extra_headers": {"A": "b"}}),
        ),
        judged(json!({"provider": "openai"})),
        judged(json!({"provider": "openai", "model": "m", "command": ["x"]})),
        judged(json!({"provider": "openai", "model": "m", "base_url": "http:///v1"})),
        judged(json!({"provider": "openai", "model": "m", "max_output_tokens": 4_294_967_296_u64})),
        judged(
            json!({"provider": "anthropic", "model": "m", "requests_per_minute": 4_294_967_296_u64}),
        ),
        judged(json!({"provider": "anthropic", "model": "m", "budget": {"cost_usd": 1}})),
        judged(
            json!({"provider": "recorded", "file": "r.jsonl", "model": "m", "budget": {"cost_usd": 1}}),
        ),
    ]
}

#[test]
fn the_schema_takes_the_suites_that_are_read_and_no_others() {
    let folder = Folder::new();
    let suites: BTreeMap<String, (bool, Value)> = good()
        .into_iter()
        .map(|suite| (true, suite))
        .chain(bad().into_iter().map(|suite| (false, suite)))
        .enumerate()
        .map(|(number, suite)| (format!("suite-{number:03}"), suite))
        .collect();
    let mut cases = String::new();
    for (id, (is_good, suite)) in &suites {
        folder.write("suite.json", suite.to_string());
        let read = folder.sh("scorebox suite show suite.json");
        assert_eq!(read.code, Some(if *is_good { 0 } else { 2 }), "{suite}\n{read}");
        cases.push_str(&format!("{}\n", json!({"id": id, "output": suite})));
    }
    folder.write("suites.jsonl", cases);
    let schema = folder.sh("scorebox suite schema").exits_with(0).json();
    folder.write("config.json", json!({"schema": schema, "parse": "never"}).to_string());
    let validate =
        "scorebox run suites.jsonl -s schema-adherence -q --config schema-adherence=@config.json";
    folder.sh(validate).exits_with(0);
    for row in folder.rows("SELECT case_id, score, reason FROM scores ORDER BY case_id") {
        let (id, row) = row.split_once(" | ").unwrap();
        let (is_good, suite) = &suites[id];
        assert_eq!(row.starts_with('1'), *is_good, "{suite}\n{row}");
    }
}

#[test]
fn the_schema_is_published_as_it_is_printed() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/suite.schema.json");
    let folder = Folder::new();
    let printed = folder.sh("scorebox suite schema").exits_with(0).stdout;
    assert_eq!(fs::read_to_string(page).unwrap(), printed);
}

#[test]
fn the_suites_of_the_page_are_suites() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/suite.md");
    let page = fs::read_to_string(page).unwrap();
    let folder = Folder::new();
    folder.write("base.toml", "[scorers.right]\nuse = \"numeric-answer\"\n");
    let suites = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let mut read = 0;
    for suite in suites {
        folder.write("page.toml", suite);
        folder.sh("SCHEMA=x scorebox suite show page.toml").exits_with(0);
        read += 1;
    }
    assert!(read >= 2, "{read}");
}
