//! `when`: selects the cases of a scorer by their contents; evaluated in a sandbox, stored, and verified like a score.

use insta::assert_snapshot;
use scorebox::{case::Key, contract::Field};

use crate::fixture::Folder;

/// Six cases in two languages, one of them without any.
const CASES: &str = r#"{"id": "1", "output": "yes", "metadata": {"lang": "en"}}
{"id": "2", "output": "oui", "metadata": {"lang": "fr"}}
{"id": "3", "output": "yes", "metadata": {"lang": "en"}}
{"id": "4", "output": "yes"}
{"id": "5", "output": "ja", "metadata": {"lang": null}}
{"id": "6", "output": "no", "metadata": {"lang": "en"}}
"#;

const SUITE: &str = "[scorers.english]\nuse = 'contains'\nconfig = { value = 'yes' }\n\
                     when = '.metadata.lang == \"en\"'\n[scorers.all]\nuse = 'length'\nconfig = { max = 3 }\n";

/// A scorer for a node that no case has, one that sampling excludes from all cases, and one with both.
const IDLE: &str = "[scorers.nowhere]\nuse = 'contains'\nconfig = { value = 'x' }\nnodes = ['analyze']\nsampling = { type = 'ratio', rate = 1e-9 }\n\
                    [scorers.never]\nuse = 'contains'\nconfig = { value = 'x' }\nnodes = ['*']\nsampling = { type = 'ratio', rate = 1e-9 }\n\
                    [scorers.rarely]\nuse = 'contains'\nconfig = { value = 'x' }\nnodes = ['1']\nsampling = { type = 'ratio', rate = 1e-9 }\n";

fn folder(suite: &str) -> Folder {
    let folder = Folder::new();
    folder.write("cases.jsonl", CASES);
    folder.write("s.toml", suite);
    folder
}

fn rows(folder: &Folder, run: &str, scorer: &str) -> Vec<String> {
    folder.rows(&format!(
        "SELECT case_id, status, score, coalesce(error_kind || ': ' || error_message, reason) FROM scores
         WHERE run_id = '{run}' AND scorer_id = '{scorer}' ORDER BY case_id"
    ))
}

#[test]
fn a_scorer_that_is_for_no_case_is_pointed_out() {
    let suite =
        SUITE.replace("en\"'", "xx\"'").replace("max = 3 }", "max = 3 }\nnodes = ['write']");
    let output = folder(&suite).sh("scorebox run s.toml cases.jsonl").exits_with(0);
    let warned = output.stderr.lines().filter(|line| line.starts_with("warning"));
    assert_eq!(
        warned.collect::<Vec<_>>(),
        [
            "warning: `english` applies to no case: look at its `when`",
            "warning: `all` applies to no case: look at its `nodes`",
        ]
    );
}

#[test]
fn a_scorer_skips_the_cases_that_its_condition_does_not_hold_for() {
    let folder = folder(SUITE);
    let output = folder.sh("scorebox run s.toml cases.jsonl --run-id r").exits_with(0);
    assert_snapshot!(output.stdout, @"
    scorer   scored  n/a  skipped  errors    mean  0 … 1        p50     min     max fuel time
    english       3    0        3       0  0.6667  ▄      █  1.0000  0.0000  1.0000 [fuel] [time]
    all           6    0        0       0  1.0000         █  1.0000  1.0000  1.0000 [fuel] [time]
    ");
    assert_snapshot!(rows(&folder, "r", "english").join("\n"), @r#"
    1 | scored | 1 | found "yes"
    2 | skipped | null | `when` does not hold
    3 | scored | 1 | found "yes"
    4 | skipped | null | `when` does not hold
    5 | skipped | null | `when` does not hold
    6 | scored | 0 | missing "yes"
    "#);
    let verified = folder.sh("scorebox verify r --trust-cache").exits_with(0);
    assert_snapshot!(verified.stderr, @"12 verified, 0 different, 0 not verifiable");
}

#[test]
fn a_case_that_every_scorer_skips_is_neither_passed_nor_failed() {
    let folder = folder(
        "[scorers.english]\nuse = 'contains'\nconfig = { value = 'yes' }\n\
                         severity = 'gate'\nthreshold = 1\nwhen = '.metadata.lang == \"en\"'\n",
    );
    let output = folder.sh("scorebox run s.toml cases.jsonl --run-id r").exits_with(3);
    assert!(output.stderr.contains("2 of 3 cases passed"), "{output}");
    assert_snapshot!(folder.sh("scorebox cases r").stdout, @"
    case  verdict   score  decided by
    1     passed   1.0000
    2     skipped       -
    3     passed   1.0000
    4     skipped       -
    5     skipped       -
    6     failed   0.0000  english 0.0000
    ");
}

#[test]
fn a_condition_that_gives_no_answer_is_an_error_of_the_row() {
    let folder = folder(
        "[scorers.number]\nuse = 'length'\nconfig = { max = 3 }\nwhen = '0.5'\n\
         [scorers.text]\nuse = 'length'\nconfig = { max = 3 }\nwhen = '.output'\n\
         [scorers.two]\nuse = 'length'\nconfig = { max = 3 }\nwhen = 'true, true'\n\
         [scorers.fails]\nuse = 'length'\nconfig = { max = 3 }\nwhen = '.output | tonumber > 1'\n\
         [scorers.endless]\nuse = 'length'\nconfig = { max = 3 }\nwhen = '[range(0; infinite)] | length > 0'\n",
    );
    folder.sh("scorebox run s.toml cases.jsonl --run-id r").exits_with(1);
    let first = folder.rows(
        "SELECT scorer_id, status, error_kind, substr(error_message, 1, iif(error_kind = 'out-of-memory', 24, 80)), input_digest,
         fuel > 0 FROM scores
         WHERE case_id = '1' ORDER BY scorer_id",
    );
    assert_snapshot!(first.join("\n"), @r#"
    endless | error | out-of-memory | `when`: the scorer needs | null | 1
    fails | error | invalid-input | `when`: string ("yes") cannot be parsed as a number | null | 1
    number | error | invalid-input | `when` should give true or false; found 0.5 | null | 1
    text | error | invalid-input | `when` should give true or false; found "yes" | null | 1
    two | error | invalid-input | `when` yields more than one result; combine them, for example with `all(…)`, `an | null | 1
    "#);
    let verified = folder.sh("scorebox verify r --trust-cache").exits_with(0);
    assert_snapshot!(verified.stderr, @"30 verified, 0 different, 0 not verifiable");
}

#[test]
fn an_expression_that_does_not_parse_is_refused_with_its_place_before_the_first_score() {
    let folder =
        folder("[scorers.a]\nuse = 'length'\nconfig = { max = 3 }\nwhen = '.metadata.lang =='\n");
    let output = folder.sh("scorebox run s.toml cases.jsonl").exits_with(2);
    assert_snapshot!(output.stderr, @"error: s.toml:4:8: `when` of the scorer `a`: invalid-config: `expression` is not a valid jq expression: expected term at its end");
    let checked = folder.sh("scorebox suite check s.toml").exits_with(2);
    assert_eq!(checked.stderr, output.stderr);
    assert!(!folder.path("scorebox.db").exists());
}

#[test]
fn a_path_to_a_key_that_scorers_do_not_see_is_refused_with_the_one_that_is_meant() {
    let folder =
        folder("[scorers.a]\nuse = 'length'\nconfig = { max = 3 }\nwhen = '.latency_ms < 5'\n");
    let output = folder.sh("scorebox run s.toml cases.jsonl").exits_with(2);
    assert_snapshot!(output.stderr, @"error: s.toml:4:8: `when` of the scorer `a`: invalid-config: `expression`: a scorer sees no `.latency_ms`; did you mean `.latencyMs`?");
    let checked = folder.sh("scorebox suite check s.toml").exits_with(2);
    assert_eq!(checked.stderr, output.stderr);
    // Each spelling that a file of cases may use is recognized.
    for key in Field::ALL.map(Key::from).into_iter().chain([Key::Output]) {
        for spelling in key.spellings() {
            let config = format!("{{\"expression\": \".{spelling} | true\"}}");
            let command = format!("scorebox score satisfies --output 1 --config '{config}'");
            let output = folder.sh(&command);
            let is_name = *spelling == key.name();
            assert_eq!(output.stderr.is_empty(), is_name, "{spelling}: {output}");
            let meant = format!("did you mean `.{key}`?");
            assert!(is_name || output.stderr.contains(&meant), "{spelling}: {output}");
        }
    }
}

#[test]
fn the_plan_shows_the_condition_and_a_resume_with_another_one_is_refused() {
    let folder = folder(SUITE);
    assert_snapshot!(folder.sh("scorebox suite show s.toml").stdout, @r#"
    scorer   use       config           when
    english  contains  {"value":"yes"}  .metadata.lang == "en"
    all      length    {"max":3}        -
    "#);
    folder.sh("head -n 2 cases.jsonl | scorebox run s.toml - --run-id r -q").exits_with(0);
    folder.write("s.toml", SUITE.replace("\"en\"", "\"fr\""));
    let output = folder.sh("scorebox run s.toml cases.jsonl --resume r").exits_with(2);
    assert_snapshot!(output.stderr, @"
    error: the run `r` cannot be resumed like this: `when` of `english` has changed
    hint: name the same scorers with the same configurations, limits, grants and judges, or start a new run
    ");
}

#[test]
fn a_row_that_should_have_been_skipped_or_should_not_is_found() {
    let folder = folder(SUITE);
    folder.sh("scorebox run s.toml cases.jsonl --run-id r -q").exits_with(0);
    for change in [
        // Case 6, which fails, changed as if the scorer did not apply to it.
        "UPDATE score_rows SET status = 'skipped', score = NULL, reason = '`when` does not hold',
             assertions_json = NULL, meta_json = NULL, input_digest = NULL, fuel = NULL, memory_bytes = NULL
         WHERE case_key = (1 << 40) + 5 AND scorer = 1",
        // Case 2, to which the scorer does not apply, changed as if it had passed.
        "UPDATE score_rows SET status = 'scored', score = 1.0, reason = NULL
         WHERE case_key = (1 << 40) + 1 AND scorer = 1",
        "UPDATE scorers SET condition_config_json = '{\"expression\":\"true\"}' WHERE scorer = 1",
        "UPDATE scorers SET condition_digest = NULL, condition_config_json = NULL, condition_limits_json = NULL",
    ] {
        folder.sh("cp scorebox.db changed.db").exits_with(0);
        folder.database("changed.db").execute_batch(change).unwrap();
        folder.database("changed.db").execute_batch("UPDATE runs SET root = NULL, root_version = NULL").unwrap();
        let verified = folder.sh("scorebox verify r --db changed.db --trust-cache").exits_with(1);
        assert!(verified.stdout.contains("different"), "{change}\n{verified}");
    }
}

#[test]
fn the_component_of_a_condition_is_kept_with_the_run_and_goes_with_it() {
    let folder = folder(SUITE);
    folder.sh("scorebox run s.toml cases.jsonl --run-id r -q").exits_with(0);
    folder
        .sh("scorebox run -s numeric-answer cases.jsonl --run-id other -q --allow-errors")
        .exits_with(0);
    let components = || folder.rows("SELECT count(*) FROM components").join("");
    assert_eq!(
        components(),
        "4",
        "contains, length, satisfies, which the condition is, and numeric-answer"
    );
    folder.sh("scorebox rm other --yes").exits_with(0);
    assert_eq!(components(), "3");
    let changed =
        "UPDATE components SET bytes = x'00' WHERE digest = (SELECT condition_digest FROM scorers
                   WHERE condition_digest IS NOT NULL)";
    folder.sh("cp scorebox.db changed.db").exits_with(0);
    folder.database("changed.db").execute_batch(changed).unwrap();
    let verified = folder.sh("scorebox verify r --db changed.db --trust-cache").exits_with(1);
    assert!(verified.stdout.contains("component of english"), "{verified}");
    folder.sh("scorebox rm r --yes").exits_with(0);
    assert_eq!(components(), "0");
}

#[test]
fn scores_under_a_condition_are_computed_again_where_others_are_reused() {
    let folder = folder(SUITE);
    folder.sh("scorebox run s.toml cases.jsonl --run-id one -q").exits_with(0);
    let again = folder.sh("scorebox run s.toml cases.jsonl --run-id two --reuse").exits_with(0);
    assert!(again.stderr.contains("6 of them reused"), "{again}");
    assert_eq!(rows(&folder, "one", "english"), rows(&folder, "two", "english"));
}

#[test]
fn scorers_that_apply_to_no_case_are_pointed_out_but_for_those_that_summarize() {
    let folder = Folder::new();
    folder.write("null.js", "export default () => null;");
    let run = |scorers: &str| folder.sh(&format!("scorebox run answers.jsonl {scorers}"));
    // A script is a gate, and a gate that decides nothing does not hold unless it may be idle.
    let one = run("-s n=null.js -s length --config 'length={\"max\": 9}' --allow-idle n");
    let one = one.exits_with(0);
    assert!(one.stderr.contains("\nwarning: `n` applies to no case\n"), "{one}");
    let two = run("-s n=null.js -s m=null.js --allow-idle n --allow-idle m").exits_with(0);
    assert!(two.stderr.contains("\nwarning: 2 scorers apply to no case: `n`, `m`\n"), "{two}");
    folder.write("s.jsonl", "{\"output\": 1}\n{\"output\": 2, \"skip\": \"flaky\"}\n");
    let skipped = folder.sh("scorebox run s.jsonl -s n=null.js --allow-idle n").exits_with(0);
    assert!(skipped.stderr.contains("\nwarning: `n` applies to no case\n"), "{skipped}");
    folder.write("labels.jsonl", "{\"output\": 1, \"metadata\": {\"label\": \"x\"}}\n");
    let summarizing = folder.sh("scorebox run labels.jsonl -s label-distribution").exits_with(0);
    assert!(!summarizing.stderr.contains("warning:"), "{summarizing}");
}

#[test]
fn an_idle_scorer_is_told_by_what_left_its_cases_out() {
    let folder = folder(IDLE);
    let run = folder.sh("scorebox run s.toml cases.jsonl -q").exits_with(0);
    for (scorer, keys) in
        [("nowhere", "`nodes`"), ("never", "`sampling`"), ("rarely", "`nodes` and `sampling`")]
    {
        let said = format!("warning: `{scorer}` applies to no case: look at its {keys}\n");
        assert!(run.stderr.contains(&said), "{said}{run}");
    }
}

/// The `when` is right: the case itself asks not to be judged.
#[test]
fn the_condition_of_a_case_that_says_skip_is_not_evaluated() {
    let folder = Folder::new();
    folder.write("s.toml", "[scorers.order]\nuse = \"exact-match\"\nwhen = '.output != null'\n");
    folder.write("c.jsonl", "{\"output\": \"a\", \"groundTruth\": \"a\", \"skip\": \"flaky\"}\n");
    let run = folder.sh("scorebox run s.toml c.jsonl -q").exits_with(0);
    assert!(!run.stderr.contains("`when`"), "{run}");
}

/// A summarizing scorer is evaluated when all cases are known.
#[test]
fn a_run_that_stopped_does_not_say_that_a_scorer_applies_to_no_case() {
    let folder = Folder::new();
    folder.write("c.jsonl", "{\"output\": \"a\"}\nnot json\n");
    let run = folder.sh("scorebox run c.jsonl -s label-distribution -q").exits_with(2);
    assert!(!run.stderr.contains("applies to none"), "{run}");
}
