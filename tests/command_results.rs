//! Scorers of the results of other scorers: those named in `meta`, and a target; stored, resumed, reused and verified
//! like scores of cases.

use std::{
    thread,
    time::{Duration, Instant},
};

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::Folder;

/// Answers that people labelled.
const ITEMS: &str = r#"{"id": "good", "input": "q", "output": "42", "groundTruth": "42"}
{"id": "bad", "input": "q", "output": "41", "groundTruth": "42"}
{"id": "none", "input": "q", "output": "I do not know.", "groundTruth": "42"}
"#;

/// Each score is scored in turn: its reason must be long enough, and a bad answer must have zero.
const SUITE: &str = r#"
[scorers.answer]
use = "numeric-answer"
meta = ["explained", "right"]

[scorers.explained]
use = "satisfies"
config = { expression = "(.output.reason | length) > 10" }

[scorers.right]
use = "satisfies"
config = { expression = ".output.score == 1" }
when = ".output.score != null"
"#;

fn folder(suite: &str) -> Folder {
    let folder = Folder::new();
    folder.write("items.jsonl", ITEMS);
    folder.write("s.toml", suite);
    folder
}

fn rows(folder: &Folder, run: &str) -> Vec<String> {
    folder.rows(&format!(
        "SELECT case_id, scorer_id, status, score, reason FROM scores WHERE run_id = '{run}'
         ORDER BY case_id, scorer_id"
    ))
}

#[test]
fn the_result_of_a_scorer_is_the_output_that_others_score() {
    let folder = folder(SUITE);
    let output = folder.sh("scorebox run s.toml items.jsonl --run-id r").exits_with(0);
    assert_snapshot!(output.stdout, @"
    scorer            scored  n/a  errors    mean  0 … 1        p50     min     max fuel time
    answer                 3    0       0  0.3333  █      ▄  0.0000  0.0000  1.0000 [fuel] [time]
    answer.explained       3    0       0  1.0000         █  1.0000  1.0000  1.0000 [fuel] [time]
    answer.right           3    0       0  0.3333  █      ▄  0.0000  0.0000  1.0000 [fuel] [time]
    ");
    assert_snapshot!(rows(&folder, "r").join("\n"), @r#"
    bad | answer | scored | 0 | the answer is 41, expected 42
    bad | answer.explained | scored | 1 | (.output.reason | length) > 10: true
    bad | answer.right | scored | 0 | .output.score == 1: false
    good | answer | scored | 1 | the answer 42 is right
    good | answer.explained | scored | 1 | (.output.reason | length) > 10: true
    good | answer.right | scored | 1 | .output.score == 1: true
    none | answer | scored | 0 | no final answer found: the output does not have a number after `A:`, `####`, `answer is`, `answer:` or in `\boxed{}`; `fallback = "last-number"` would take the last number of the text
    none | answer.explained | scored | 1 | (.output.reason | length) > 10: true
    none | answer.right | scored | 0 | .output.score == 1: false
    "#);
    let verified = folder.sh("scorebox verify r --trust-cache").exits_with(0);
    assert_snapshot!(verified.stderr, @"9 verified, 0 different, 0 not verifiable");
}

#[test]
fn a_scorer_of_results_sees_the_case_with_the_result_as_its_output() {
    let folder = folder(
        "[scorers.a]\nuse = 'numeric-answer'\nmeta = ['seen']\n[scorers.seen]\nuse = 'satisfies'\n\
         config = { expression = '[.input, .groundTruth, .metadata.n, .latencyMs, .output.score, .output.label, \
         (.output | has(\"meta\"))] | error(tojson)' }\n",
    );
    folder.write(
        "items.jsonl",
        r#"{"id": "1", "input": "q", "output": "42", "groundTruth": "42", "metadata": {"n": 1}, "latencyMs": 12.5}"#,
    );
    folder.sh("scorebox run s.toml items.jsonl --run-id r").exits_with(1);
    let seen = folder.rows("SELECT error_message FROM scores WHERE scorer_id = 'a.seen'");
    assert_snapshot!(seen.join("\n"), @r#"`expression`: ["q","42",1,12.5,1.0,null,true]"#);
}

#[test]
fn a_scorer_without_a_result_leaves_nothing_to_score() {
    let folder = folder(
        "[scorers.broken]\nuse = './misbehave.wasm'\nconfig = { then = 'panic' }\nmeta = ['judge']\n\
         [scorers.spared]\nuse = 'length'\nconfig = { max = 1000 }\nsampling = { type = 'none' }\nmeta = ['judge']\n\
         [scorers.elsewhere]\nuse = 'length'\nconfig = { max = 1000 }\nwhen = '.metadata.x'\nmeta = ['judge']\n\
         [scorers.judge]\nuse = 'length'\nconfig = { max = 1000 }\nmeta = ['judge']\n",
    );
    folder.sh("scorebox run s.toml items.jsonl --run-id r").exits_with(1);
    let of_one = folder.rows("SELECT scorer_id, status, reason FROM scores WHERE case_id = 'good'");
    assert_snapshot!(of_one.join("\n"), @"
    broken | error | null
    broken.judge | skipped | there is no result to score
    broken.judge.judge | skipped | there is no result to score
    spared | skipped | left out by sampling
    spared.judge | skipped | there is no result to score
    spared.judge.judge | skipped | there is no result to score
    elsewhere | skipped | `when` does not hold
    elsewhere.judge | skipped | there is no result to score
    elsewhere.judge.judge | skipped | there is no result to score
    ");
    folder.sh("scorebox verify r --trust-cache").exits_with(0);
}

#[test]
fn scores_of_results_count_in_a_verdict_and_not_in_the_score_of_a_case() {
    let folder = folder(&SUITE.replace(
        "config = { expression = \".output.score == 1\" }",
        "config = { expression = \".output.score == 1\" }\nseverity = \"gate\"\nthreshold = 1",
    ));
    folder.sh("scorebox run s.toml items.jsonl --run-id r").exits_with(3);
    assert_snapshot!(folder.sh("scorebox cases r").stdout, @"
    case  verdict   score  decided by
    good  passed   1.0000
    bad   failed   0.0000  answer.right 0.0000
    none  failed   0.0000  answer.right 0.0000
    ");
}

#[test]
fn a_target_is_run_over_items_and_the_suite_scores_its_results() {
    let folder = folder(
        "[scorers.explained]\nuse = 'satisfies'\n\
         config = { expression = '(.output.reason | length) > 10' }\n",
    );
    let output = folder
        .sh("scorebox run s.toml items.jsonl --target numeric-answer --run-id r")
        .exits_with(0);
    assert_snapshot!(output.stdout, @"
    scorer                    scored  n/a  errors    mean  0 … 1        p50     min     max fuel time
    numeric-answer                 3    0       0  0.3333  █      ▄  0.0000  0.0000  1.0000 [fuel] [time]
    numeric-answer.explained       3    0       0  1.0000         █  1.0000  1.0000  1.0000 [fuel] [time]
    ");
    // The label that a person gave is next to the score; nothing compares them.
    let beside = folder.rows(
        "SELECT cases.case_id, cases.ground_truth, scores.status, scores.score FROM scores
         JOIN cases ON cases.case_id = scores.case_id WHERE scorer_id = 'numeric-answer'",
    );
    assert_snapshot!(beside.join("\n"), @r#"
    good | "42" | scored | 1
    bad | "42" | scored | 0
    none | "42" | scored | 0
    "#);
    folder.sh("scorebox verify r --trust-cache").exits_with(0);

    folder.write("t.toml", "[target]\nuse = 'numeric-answer'\n[scorers.short]\nuse = 'length'\nconfig = { max = 1000 }\n");
    let of_suite =
        folder.sh("scorebox run t.toml items.jsonl -s extra=exact-match --run-id t").exits_with(0);
    assert_snapshot!(of_suite.stdout, @"
    scorer        scored  n/a  errors    mean  0 … 1        p50     min     max fuel time
    target             3    0       0  0.3333  █      ▄  0.0000  0.0000  1.0000 [fuel] [time]
    target.short       3    0       0  1.0000         █  1.0000  1.0000  1.0000 [fuel] [time]
    target.extra       3    0       0  0.0000  █         0.0000  0.0000  0.0000 [fuel] [time]
    ");
    let twice = folder.sh("scorebox run t.toml items.jsonl --target length").exits_with(2);
    assert_snapshot!(twice.stderr, @"
    error: two targets: that of --target, and `[target]` of the suite
    hint: a run has one target
    ");
    folder.sh("scorebox run items.jsonl --target numeric-answer --run-id alone").exits_with(0);
}

#[test]
fn a_target_that_breaks_keeps_the_error_with_the_item_and_goes_on() {
    let folder = folder("[scorers.judge]\nuse = 'length'\nconfig = { max = 1000 }\n");
    let run = "scorebox run s.toml items.jsonl --target broken=./misbehave.wasm --config broken='{\"score\":\"not-a-number\"}' --run-id r";
    let output = folder.sh(run).exits_with(1);
    assert_snapshot!(output.stdout, @"
    scorer        scored  n/a  skipped  errors  mean  0 … 1     p50  min  max fuel time
    broken             0    0        0       3     -              -    -    - - -
    broken.judge       0    0        3       0     -              -    -    - - -
    ");
    let kept = folder
        .rows("SELECT case_id, status, score, error_kind FROM scores WHERE scorer_id = 'broken'");
    assert_eq!(kept.len(), 3, "{kept:?}");
    assert!(kept.iter().all(|row| row.ends_with("error | null | invalid-score")), "{kept:?}");
}

#[test]
fn an_item_without_an_output_is_found_before_the_target_runs() {
    let folder = folder("[scorers.judge]\nuse = 'length'\nconfig = { max = 1000 }\n");
    folder.write("items.jsonl", format!("{ITEMS}{{\"id\": \"e\", \"input\": \"q\"}}\n"));
    let run = "scorebox run s.toml items.jsonl --target numeric-answer";
    assert_snapshot!(folder.sh(run).exits_with(2).stderr, @"
    error: items.jsonl:4: no `output`; found the keys `id`, `input`
    hint: `--map output=/pointer` says where in the line it is
    ");
    assert!(!folder.path("scorebox.db").exists());
    let skipping = folder.sh(&format!("{run} --on-bad-case skip --run-id r")).exits_with(0);
    assert!(skipping.stderr.contains("3 cases"), "{skipping}");
}

#[test]
fn a_run_that_was_killed_scores_the_results_that_it_has_stored() {
    let folder = folder(SUITE);
    let lines: Vec<String> = (0..800)
        .flat_map(|round| {
            let named =
                move |line: &str| line.replacen("\"id\": \"", &format!("\"id\": \"{round}-"), 1);
            ITEMS.lines().map(named).collect::<Vec<_>>()
        })
        .collect();
    folder.write("items.jsonl", lines.join("\n"));
    let mut child = folder.spawn("scorebox run s.toml items.jsonl --run-id r -q -j 2");
    let since = Instant::now();
    let stored = || folder.sh("scorebox scores r --scorer answer.right | grep .").code == Some(0);
    while !stored() && since.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(20));
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let _ = kill_process(pid, Signal::KILL);
    child.wait().unwrap();
    // The state if the scores had been stored without the scores of their results.
    folder
        .database("scorebox.db")
        .execute_batch(
            "DELETE FROM score_rows WHERE scorer = 2 AND case_key % 3 = 0;
         DELETE FROM score_rows WHERE scorer = 3 AND case_key % 5 = 0;
         DELETE FROM score_rows WHERE scorer = 1 AND case_key % 7 = 0;",
        )
        .unwrap();
    folder.sh("scorebox run s.toml items.jsonl --resume r -q").exits_with(0);
    folder.sh("scorebox run s.toml items.jsonl --run-id whole -q").exits_with(0);
    assert_eq!(rows(&folder, "r"), rows(&folder, "whole"));
    let reused = folder.sh("scorebox run s.toml items.jsonl --run-id reused --reuse").exits_with(0);
    assert!(reused.stderr.contains("2,400 of them reused"), "{reused}");
    assert_eq!(rows(&folder, "reused"), rows(&folder, "whole"));
}

#[test]
fn a_changed_result_is_found_with_what_was_made_of_it() {
    let folder = folder(SUITE);
    folder.sh("scorebox run s.toml items.jsonl --run-id r -q").exits_with(0);
    let change = "UPDATE score_rows SET score = 0.0 WHERE scorer = 1 AND score = 1.0;
                  UPDATE runs SET root = NULL, root_version = NULL";
    folder.database("scorebox.db").execute_batch(change).unwrap();
    let verified = folder.sh("scorebox verify r --trust-cache").exits_with(1);
    assert!(verified.stdout.contains("r:answer:0:0:good"), "{verified}");
    assert!(verified.stdout.contains("r:answer.right:0:0:good"), "{verified}");
    for change in ["UPDATE scorers SET subject = NULL", "UPDATE scorers SET subject = 'nobody'"] {
        folder.sh("cp scorebox.db changed.db").exits_with(0);
        folder.database("changed.db").execute_batch(change).unwrap();
        folder.sh("scorebox verify r --db changed.db --trust-cache").exits_with(1);
    }
}

#[test]
fn mistakes_in_meta_are_known_before_anything_is_loaded() {
    let folder = folder(
        "[scorers.a]\nuse = 'length'\nconfig = { max = 1000 }\nmeta = ['b']\n[scorers.b]\nuse = 'length'\nconfig = { max = 1000 }\nmeta = ['a']\n\
                         [scorers.c]\nuse = 'length'\nconfig = { max = 1000 }\nmeta = ['answre']\n",
    );
    assert_snapshot!(folder.sh("scorebox suite check s.toml").exits_with(2).stderr, @"
    error: s.toml:4:9: `meta` leads in a circle: `a` scored by `b` scored by `a`
    error: s.toml:12:9: `meta`: there is no scorer `answre`
    ");
}

/// A name that two scorers could have does not make one the target instead of the other.
#[test]
fn a_target_of_the_command_line_is_the_scorer_that_it_names() {
    let folder = folder(
        "[scorers.a]\nuse = 'length'\nconfig = { max = 1000 }\n[scorers.b]\nuse = 'length'\nconfig = { max = 1000 }\n",
    );
    let run = "scorebox run s.toml items.jsonl -q --target";
    folder.sh(&format!("{run} a --run-id own")).exits_with(0);
    let of = |run: &str| {
        folder.rows(&format!(
            "SELECT scorer_id, component_id FROM scorers JOIN runs USING (run) WHERE id = '{run}' ORDER BY scorer"
        ))
    };
    assert_eq!(of("own"), ["a | length", "a.b | length"]);
    assert_snapshot!(folder.sh(&format!("{run} a=numeric-answer")).exits_with(2).stderr, @"
    error: the suite has a scorer `a`, and `--target a=numeric-answer` is another one of this name
    hint: `--target a` tests the scorer of the suite; another one needs another name: `--target other-name=numeric-answer`
    ");
    folder.write("a.js", "export default () => 1;");
    let by_path = folder.sh(&format!("{run} ./a.js")).exits_with(2);
    assert!(by_path.stderr.contains("`--target other-name=./a.js`"), "{by_path}");
    folder.sh(&format!("{run} c=numeric-answer --run-id other")).exits_with(0);
    assert_eq!(of("other"), ["c | numeric-answer", "c.a | length", "c.b | length"]);
    // In addition to `[target]`, a scorer with that name on the command line scores its results.
    folder.write("t.toml", "[target]\nuse = 'numeric-answer'\n");
    folder.sh("scorebox run t.toml items.jsonl -q -s target=is-refusal --run-id two").exits_with(0);
    assert_eq!(of("two"), ["target | numeric-answer", "target.target | is-refusal"]);
    folder.write("t.toml", "[target]\nuse = 'numeric-answer'\n[scorers.target]\nuse = 'length'\n");
    let both = folder.sh("scorebox suite check t.toml").exits_with(2);
    assert!(both.stderr.contains("t.toml:3:10: two scorers are called `target`"), "{both}");
}
