//! Scorers, suites and cases that are not valid: each gives a clear error, and nothing is lost.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{command_serve::Server, fixture::Folder};

/// The output when the file `scorer.wasm` has this content and should score something.
fn scored_with(content: &[u8]) -> String {
    let folder = Folder::new();
    folder.write("scorer.wasm", content);
    folder.sh("scorebox score ./scorer.wasm --output 1").exits_with(2).to_string()
}

#[test]
fn a_scorer_is_a_component_and_no_other_file() {
    assert_snapshot!(scored_with(b"hello\n"), @r#"
    [stderr]
    error: scorer `./scorer.wasm`: invalid-component: not a WebAssembly file: it starts with `hello\n`
    hint: a scorer is a WebAssembly component; `scorebox build` makes one from sources in many languages
    [exit code 2]
    "#);
    assert_snapshot!(scored_with(b""), @"
    [stderr]
    error: scorer `./scorer.wasm`: invalid-component: the file is empty
    [exit code 2]
    ");
    assert_snapshot!(scored_with(&wat::parse_str("(module)").unwrap()), @"
    [stderr]
    error: scorer `./scorer.wasm`: invalid-component: a core WebAssembly module, not a component
    hint: this is a core module; `scorebox build FILE -o COMPONENT.wasm` makes a component of it
    [exit code 2]
    ");
}

#[test]
fn a_component_of_another_world_is_refused_with_what_is_needed() {
    let other = r#"(component
        (component $inner)
        (instance $run (instantiate $inner))
        (export "wasi:cli/run@0.2.0" (instance $run)))"#;
    assert_snapshot!(scored_with(&wat::parse_str("(component)").unwrap()), @"
    [stderr]
    error: scorer `./scorer.wasm`: invalid-component: the component exports nothing; a scorer exports `scorebox:scorer/scoring@0.1.0`
    hint: build it against scorebox's contract: the folder wit/, or the scorebox-sdk crate
    [exit code 2]
    ");
    assert_snapshot!(scored_with(&wat::parse_str(other).unwrap()), @"
    [stderr]
    error: scorer `./scorer.wasm`: invalid-component: the component exports `wasi:cli/run@0.2.0`; a scorer exports `scorebox:scorer/scoring@0.1.0`
    hint: build it against scorebox's contract: the folder wit/, or the scorebox-sdk crate
    [exit code 2]
    ");
}

#[test]
fn a_component_of_another_version_of_the_contract_is_refused_with_the_version_that_is_needed() {
    let newer = r#"(component
        (component $inner)
        (instance $scoring (instantiate $inner))
        (export "scorebox:scorer/scoring@0.2.0" (instance $scoring)))"#;
    assert_snapshot!(scored_with(&wat::parse_str(newer).unwrap()), @"
    [stderr]
    error: scorer `./scorer.wasm`: invalid-component: the component speaks version 0.2.0 of the contract; this engine speaks 0.1.0
    hint: build it again with an SDK of that version, or use the scorebox that it was made for
    [exit code 2]
    ");
}

#[test]
fn a_component_that_is_cut_off_says_so() {
    let folder = Folder::new();
    let whole = fs::read(folder.path("misbehave.wasm")).unwrap();
    assert_snapshot!(scored_with(&whole[..100_000]), @"
    [stderr]
    error: scorer `./scorer.wasm`: invalid-component: the component is cut off: it ends at byte 100000, in the middle of a section
    hint: download or build it again
    [exit code 2]
    ");
}

#[test]
fn a_scorer_that_is_a_folder_or_missing_says_so() {
    let folder = Folder::new();
    fs::create_dir(folder.path("folder.wasm")).unwrap();
    assert_snapshot!(folder.sh("scorebox score ./folder.wasm --output 1"), @"
    [stderr]
    error: the scorer `./folder.wasm` is a folder
    hint: name the .wasm file; `scorebox build` makes one from the folder of a crate
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox score ./none.wasm --output 1"), @"
    [stderr]
    error: cannot read the scorer `./none.wasm`: no such file
    hint: a relative path starts at the folder where the command was started
    [exit code 2]
    ");
}

/// The output when `suite.toml` has this text. Nothing is stored then.
fn suite(text: &str) -> String {
    let folder = Folder::new();
    folder.write("suite.toml", text);
    let output = folder.sh("scorebox run suite.toml answers.jsonl").exits_with(2);
    assert!(!folder.path("scorebox.db").exists());
    output.to_string()
}

#[test]
fn a_wrong_key_of_a_suite_file_has_its_line_and_column_and_the_key_meant() {
    assert_snapshot!(suite("[scorers.a]\nuse = \"contains\"\nconfg = {}\n"), @"
    [stderr]
    error: suite.toml:3:1: unknown key `confg`; the keys of a scorer are `use`, `name`, `config`, `on`, `limits`, `grants`, `severity`, `threshold`, `weight`, `required`, `sampling`, `nodes`, `when`, `judge`, `jury`, `meta`
    hint: did you mean `config`?
    [exit code 2]
    ");
}

#[test]
fn a_wrong_type_in_a_suite_file_has_its_line_and_column() {
    assert_snapshot!(suite("version = \"one\"\n[scorers.a]\nuse = \"contains\"\n"), @r#"
    [stderr]
    error: suite.toml:1:11: `version` must be a number; found a text
    [exit code 2]
    "#);
    assert_snapshot!(suite("[scorers.a]\nuse = \"contains\"\nlimits = { fuel = true }\n"), @"
    [stderr]
    error: suite.toml:3:19: `fuel` must be a whole number; found a boolean
    [exit code 2]
    ");
}

#[test]
fn a_name_with_a_line_break_is_shown_in_one_line() {
    let output = suite("[scorers.\"a\\nb\"]\nuse = \"contains\"\n");
    assert!(output.contains("suite.toml:1:10: `a\\nb` cannot be a scorer's name\n"), "{output}");
}

#[test]
fn a_number_that_json_does_not_have_is_refused_in_a_suite_file() {
    assert_snapshot!(suite("[scorers.a]\nuse = \"contains\"\nconfig = { deep = [{ x = nan }] }\n"), @r#"
    [stderr]
    error: suite.toml:3:26: `config.deep` has a number that JSON does not have: nan
    [exit code 2]
    "#);
}

/// No JSON reader would accept it, neither that of the scorer nor that of the verification.
#[test]
fn a_configuration_that_is_nested_too_deep_is_refused() {
    let keys = vec!["k"; 60].join(".");
    let deep = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        suite(&format!("[scorers.a]\nuse = \"none\"\nconfig.{keys} = {open}{close}\n"))
    };
    // The object of all keys, then one for each part of the key but the first, and the lists.
    assert!(deep(120 - 60).contains("there is no scorer `none`"));
    assert_snapshot!(deep(120 - 60 + 1), @"
    [stderr]
    error: suite.toml:3:190: `config.k` is nested too deep: more than 120 levels
    [exit code 2]
    ");
    let (open, close) = (format!("{{ {keys} = ").repeat(75), " }".repeat(75));
    let deepest = suite(&format!("[scorers.a]\nuse = \"none\"\nconfig.{keys} = {open}1{close}\n"));
    assert!(deepest.contains("`config.k` is nested too deep"), "{deepest}");
}

#[test]
fn a_suite_file_that_is_not_toml_is_refused_with_line_and_column() {
    let output = suite("[scorers.a\nuse = \"contains\"\n");
    assert!(output.contains("error: suite.toml:1:11: "), "{output}");
}

#[test]
fn an_unknown_scorer_of_a_suite_file_is_refused_with_the_name_meant() {
    let output = suite("[scorers.a]\nuse = \"latncy\"\n");
    assert!(
        output.contains("there is no scorer `latncy`\nhint: did you mean `latency`?"),
        "{output}"
    );
}

#[test]
fn a_scorer_of_a_suite_file_that_is_missing_is_looked_for_beside_that_file() {
    let folder = Folder::new();
    fs::create_dir(folder.path("suites")).unwrap();
    folder.write("suites/suite.toml", "[scorers.own]\nuse = \"./own.wasm\"\n");
    assert_snapshot!(folder.sh("scorebox run suites/suite.toml answers.jsonl"), @"
    [stderr]
    error: suites/suite.toml:1:10: cannot read the scorer `suites/./own.wasm`: no such file
    hint: a relative path in a suite file starts at the folder of that file
    [exit code 2]
    ");
}

#[test]
fn a_configuration_of_a_suite_file_that_the_scorer_refuses_names_the_scorer() {
    let output = suite("[scorers.fast]\nuse = \"latency\"\nconfig = { targetMS = 1 }\n");
    let words = "scorer `fast` (built-in): invalid-config: unknown key `targetMS`\nhint: did you mean `targetMs`?";
    assert!(output.contains(words), "{output}");
}

#[test]
fn two_scorers_with_one_name_are_refused() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox run -s contains -s contains answers.jsonl"), @"
    [stderr]
    error: two scorers are called `contains`
    hint: give this one another name: `-s other-name=contains`
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox run suite.toml -s marked=contains answers.jsonl"), @"
    [stderr]
    error: two scorers are called `marked`
    hint: give this one another name: `-s other-name=contains`
    [exit code 2]
    ");
    let output = suite("[scorers.a]\nuse = \"contains\"\n[scorers.a]\nuse = \"contains\"\n");
    assert!(output.contains("error: suite.toml:3:10: duplicate key `a`"), "{output}");
    assert_eq!(output.matches("duplicate key").count(), 1, "{output}");
}

#[test]
fn what_is_not_a_suite_is_refused_for_what_it_is() {
    let folder = Folder::new();
    folder.write("suite.yaml", "scorers: []\n");
    let refused = folder.sh(
        "scorebox run suite.yaml answers.jsonl; scorebox run --suite - answers.jsonl; scorebox live -",
    );
    assert_snapshot!(refused.stderr, @"
    error: `suite.yaml` is YAML, and a suite is TOML or JSON
    hint: `scorebox migrate suite.yaml` makes a suite of a configuration of promptfoo
    error: a suite cannot come from standard input
    hint: name a file: relative paths in a suite start at its folder; a file called `-` is `./-`
    error: a suite cannot come from standard input
    hint: name a file: relative paths in a suite start at its folder; a file called `-` is `./-`
    ");
}

#[test]
fn standard_input_that_is_not_json_lines_is_to_be_a_file() {
    let folder = Folder::new();
    let table = folder.sh("printf 'output,groundTruth\n1,1\n' | scorebox run - -s exact-match -q");
    assert!(
        table.stderr.starts_with(
            "error: <stdin>:1:1: not valid JSON: expected value\n\
             hint: standard input is JSON Lines: save another format, such as CSV, to a file, and name that\n"
        ),
        "{table}"
    );
}

#[test]
fn a_file_in_a_folder_that_is_missing_is_refused_with_what_to_do() {
    let folder = Folder::new();
    let run = "scorebox run suite.toml answers.jsonl";
    let refused = folder.sh(&format!(
        "scorebox calls --import none.jsonl; scorebox merge none.parquet -o x.parquet; scorebox bundle suite.toml -o no/x.tar; \
         {run} --report junit='no where/x.xml'; {run} --events no/x"
    ));
    assert_snapshot!(refused.stderr, @"
    error: cannot read `none.jsonl`: no such file
    hint: a relative path starts at the folder where the command was started
    error: `none.parquet`: no such file or folder
    hint: a relative path starts at the folder where the command was started
    error: cannot write `no/x.tar`: there is no folder `no`
    hint: make it first: mkdir -p no
    error: cannot write the report to `no where/x.xml`: there is no folder `no where`
    hint: make it first: mkdir -p 'no where'
    error: cannot write the events to `no/x`: there is no folder `no`
    hint: make it first: mkdir -p no
    ");
}

#[test]
fn an_option_for_a_scorer_that_is_not_in_the_run_is_refused_with_the_name_meant() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox run -s contains --config contain='{}' answers.jsonl"), @"
    [stderr]
    error: there is no scorer `contain` in this run
    hint: did you mean `contains`?
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox run -s contains -s regex --config x='{}' answers.jsonl"), @"
    [stderr]
    error: there is no scorer `x` in this run
    hint: choose a scorer from `contains`, `regex`
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox run -s contains --config '{}' answers.jsonl"), @"
    [stderr]
    error: --config needs the scorer's name: NAME={}
    hint: NAME is the scorer's name in this run
    [exit code 2]
    ");
}

#[test]
fn a_run_needs_scorers_and_cases() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox run answers.jsonl"), @"
    [stderr]
    error: no scorer is named
    hint: name one with `-s`, or write a suite file; `scorebox scorers` lists the built-in ones
    [exit code 2]
    ");
    folder.write("suite.json", "{\"scorers\": {\"contains\": {}}}");
    assert_snapshot!(folder.sh("scorebox run suite.json answers.jsonl"), @"
    [stderr]
    error: no scorer is named
    hint: name one with `-s`, or a suite in JSON with `--suite suite.json`
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox run suite.toml"), @"
    [stderr]
    error: no file with cases is named
    hint: name a JSON Lines file, or `-` for standard input
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox run -s contains none.jsonl"), @"
    [stderr]
    error: none.jsonl: no such file
    hint: a relative path starts at the folder where the command was started
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox run -s contains ."), @"
    [stderr]
    error: .: this is a folder, not a file of cases
    hint: name the files in it: `./*.jsonl`
    [exit code 2]
    ");
    assert!(!folder.path("scorebox.db").exists());
}

#[test]
fn a_file_of_cases_that_is_empty_is_an_error() {
    let folder = Folder::new();
    folder.write("empty.jsonl", "");
    folder.write("blank.jsonl", "\n\n");
    for name in ["empty.jsonl", "blank.jsonl"] {
        let output = folder.sh(&format!("scorebox run -s contains {name}")).exits_with(2);
        let expected = format!("error: {name}: there are no cases in it\n");
        assert!(output.stderr.starts_with(&expected), "{output}");
    }
}

const GOOD: &str = r#"{"id": "a", "output": "x", "groundTruth": "x"}"#;
const LAST: &str = r#"{"id": "c", "output": "z", "groundTruth": "x"}"#;

/// A run over three lines, of which the second is not valid, and the message about it. Then the line is fixed, and the
/// printed command resumes the run.
fn stopped_at(bad: &str) -> String {
    let folder = Folder::new();
    folder.write("cases.jsonl", format!("{GOOD}\n{bad}\n{LAST}\n"));
    let output = folder.sh("scorebox run -s exact-match cases.jsonl --run-id r").exits_with(2);
    let scored = "SELECT node_id, score FROM _smithers_scorers ORDER BY node_id";
    assert_eq!(folder.rows(scored).len(), 1, "what came before is scored, and nothing more");

    let (words, command) = output.stderr.split_once("resume with:\n  ").unwrap();
    folder.write("cases.jsonl", format!("{GOOD}\n{}\n{LAST}\n", GOOD.replace("\"a\"", "\"b\"")));
    folder.sh(command).exits_with(0);
    assert_eq!(folder.rows(scored), ["a | 1", "b | 1", "c | 0"]);
    assert_eq!(folder.rows("SELECT DISTINCT run_id FROM _smithers_scorers"), ["r"]);
    words[words.find("error: ").unwrap()..].to_owned()
}

#[test]
fn a_line_that_is_not_json_stops_the_run_which_resumes_when_it_is_fixed() {
    assert_snapshot!(stopped_at("Paris"), @"
    error: cases.jsonl:2:1: not valid JSON: expected value
    Stopped there. Scores so far are kept. Fix the input, then
    ");
    assert_snapshot!(stopped_at(r#"{"id": "b", "output": "x""#), @"
    error: cases.jsonl:2:25: not valid JSON: EOF while parsing an object
    hint: a case is one whole line; `jq -c . FILE` writes each document on one, and `jq -c '.[]' FILE` each element of an array
    Stopped there. Scores so far are kept. Fix the input, then
    ");
}

#[test]
fn a_line_that_is_not_an_object_stops_the_run_which_resumes_when_it_is_fixed() {
    assert_snapshot!(stopped_at("[1]"), @"
    error: cases.jsonl:2:1: a case must be a JSON object; found an array
    hint: `jq -c '.[]' FILE` writes each element of an array on one line
    Stopped there. Scores so far are kept. Fix the input, then
    ");
}

#[test]
fn a_case_without_output_stops_the_run_which_resumes_when_it_is_fixed() {
    assert_snapshot!(stopped_at(r#"{"id": "b", "answer": 1}"#), @"
    error: cases.jsonl:2: no `output`; found the keys `id`, `answer`
    hint: if `answer` is what to score: `--map output=/answer`
    Stopped there. Scores so far are kept. Fix the input, then
    ");
}

#[test]
fn a_second_case_with_an_id_stops_the_run_which_resumes_when_it_is_fixed() {
    assert_snapshot!(stopped_at(GOOD), @"
    error: cases.jsonl:2: duplicate id `a`, first used at cases.jsonl:1
    hint: an id (with iteration and attempt) names one case of a run
    Stopped there. Scores so far are kept. Fix the input, then
    ");
}

#[test]
fn what_was_scored_before_a_bad_line_is_kept() {
    let folder = Folder::new();
    let mut lines = fs::read_to_string(folder.path("answers.jsonl")).unwrap();
    lines.push_str("Paris\n");
    folder.write("answers.jsonl", lines);
    let output = folder.sh("scorebox run -s exact-match answers.jsonl").exits_with(2);
    assert!(output.stderr.contains("answers.jsonl:401:1: not valid JSON"), "{output}");
    let kept = folder.rows("SELECT count(*) FROM _smithers_scorers")[0].parse::<u32>().unwrap();
    assert!(output.stderr.contains(&format!(": {kept} cases, {kept} scores in ")), "{output}");
}

#[test]
fn bad_lines_can_be_skipped_and_are_counted() {
    let folder = Folder::new();
    folder.write("cases.jsonl", format!("{GOOD}\nParis\n{{}}\n{GOOD}\n{LAST}\n"));
    let command = "scorebox run -s exact-match cases.jsonl --on-bad-case skip --run-id r";
    assert_snapshot!(folder.sh(command).exits_with(0).stderr, @"

    run r: 2 cases, 2 scores in [time]
    stored in scorebox.db; see them with: scorebox scores r
    root [digest]
    warning: 3 lines are not valid cases and were skipped:
      cases.jsonl:2:1: not valid JSON: expected value
      cases.jsonl:3: no `output`; the object is empty
      cases.jsonl:4: duplicate id `a`, first used at cases.jsonl:1
    ");
    let scored = folder.rows("SELECT node_id, score FROM _smithers_scorers ORDER BY node_id");
    assert_eq!(scored, ["a | 1", "c | 0"]);
}

#[test]
fn bad_lines_that_are_not_shown_are_spoken_of_and_no_case_is_both_read_and_bad() {
    let folder = Folder::new();
    folder.write("cases.jsonl", format!("{GOOD}\n{}{GOOD}\n{LAST}\n", "{}\n".repeat(10)));
    let run = "scorebox run -s exact-match cases.jsonl --on-bad-case skip --format json";
    let run = folder.sh(run).exits_with(0);
    let summary: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&summary["casesRead"], &summary["casesBad"]), (&2.into(), &11.into()));
    let heading = "11 lines are not valid cases and were skipped; the first 5:\n";
    assert!(run.stderr.contains(heading), "{run}");
    let converted = folder.sh("scorebox convert cases.jsonl").exits_with(2);
    let heading = "11 cases are not valid and left out; the first 10:\n";
    assert!(converted.stderr.contains(heading), "{converted}");
}

/// A folder with the run `r` of two cases, in which three lines were skipped.
fn skipped_three() -> Folder {
    let folder = Folder::new();
    folder.write("cases.jsonl", format!("{GOOD}\nParis\n{{}}\n{GOOD}\n{LAST}\n"));
    let command = "scorebox run -s exact-match cases.jsonl --on-bad-case skip --run-id r -q";
    folder.sh(command).exits_with(0);
    folder
}

#[test]
fn a_reader_of_a_run_learns_of_the_lines_that_were_skipped() {
    let folder = skipped_three();
    let skipped = "3 lines are not valid cases and were skipped";
    for (format, said) in [
        ("markdown", format!("**Not in this report**: {skipped}")),
        ("junit", format!("<system-out>{skipped}</system-out>")),
        ("html", format!("Not shown here: {skipped}.")),
        ("csv", String::new()),
    ] {
        let output = folder.sh(&format!("scorebox report --format {format} r")).exits_with(0);
        assert!(output.stdout.contains(&said), "{format}: {output}");
        assert!(output.stderr.contains(&format!("warning: run r: {skipped}\n")), "{output}");
    }
    for command in ["stats", "cases", "scores", "export --format csv"] {
        let output = folder.sh(&format!("scorebox {command} r")).exits_with(0);
        assert!(output.stderr.contains(&format!("warning: run r: {skipped}\n")), "{output}");
    }
    folder
        .sh("scorebox run -s exact-match cases.jsonl --on-bad-case skip --run-id s -q")
        .exits_with(0);
    for command in [
        "agree exact-match --with /groundTruth --positive x --run r",
        "trend --limit 2",
        "show a r",
    ] {
        let output = folder.sh(&format!("scorebox {command}"));
        assert!(output.stderr.contains(&format!("warning: run r: {skipped}\n")), "{output}");
    }
    let compared = folder.sh("scorebox compare r s").exits_with(0).stderr;
    for run in ["A", "B"] {
        assert!(compared.contains(&format!("warning: {run}: {skipped}\n")), "{compared}");
    }
    let server = Server::ready(&folder, "");
    for path in ["/", "/scorer?id=exact-match", "/compare?a=r&b=s"] {
        let page = server.get(path, &[]).text;
        assert_eq!(page.matches("3 lines skipped").count(), 2, "{path}: {page}");
    }
    let runs = folder.sh("scorebox runs --format json").exits_with(0).json();
    assert_eq!(runs[1]["casesBad"], 3);
}

#[test]
fn a_run_that_is_resumed_counts_a_skipped_line_once() {
    let folder = skipped_three();
    let counted = || folder.rows("SELECT cases_bad, root FROM runs");
    let before = counted();
    let resume = "scorebox run -s exact-match cases.jsonl --on-bad-case skip --resume r -q";
    folder.sh(resume).exits_with(0);
    assert_eq!(counted(), before, "nothing is written");
    // The state that a killed process leaves.
    let killed = "DELETE FROM score_rows WHERE case_key % 1024 > 0; UPDATE runs SET state = 'running', finished_at_ms = NULL, root = NULL, root_version = NULL, size_bytes = NULL";
    folder.database("scorebox.db").execute_batch(killed).unwrap();
    folder.sh(resume).exits_with(0);
    assert_eq!(folder.rows("SELECT cases_bad FROM runs"), ["3"]);
}

#[test]
fn lines_that_are_said_to_be_skipped_later_change_the_root() {
    let folder = skipped_three();
    folder.sh("scorebox verify r").exits_with(0);
    folder.database("scorebox.db").execute_batch("UPDATE runs SET cases_bad = 0").unwrap();
    let output = folder.sh("scorebox verify r").exits_with(1);
    assert!(output.stdout.contains("root"), "{output}");
}

#[test]
fn a_suite_of_a_newer_version_says_so_before_anything_else() {
    let folder = Folder::new();
    folder
        .write("suite.toml", "version = 2\n[defaults]\nseverity = \"gate\"\n[scorers.contains]\n");
    assert_snapshot!(folder.sh("scorebox run suite.toml answers.jsonl"), @"
    [stderr]
    error: suite.toml:1:11: version 2 of the suite format; this scorebox reads version 1
    hint: update scorebox: a newer version reads it
    [exit code 2]
    ");
}
