//! Commands that read stored scores and scorers: `scores`, `stats`, `scorers`, `inspect`, and the behaviour of their
//! output in pipes.

use std::{collections::BTreeSet, path::Path};

use insta::assert_snapshot;
use serde_json::Value;

use crate::fixture::Folder;

/// Four cases at two nodes, scored by `latency` with 0.9, 0.8, 0.6 and 0.1, and by a scorer that fails.
fn with_a_run() -> Folder {
    let folder = Folder::new();
    let case = |(id, node, ms)| {
        format!(
            "{{\"id\": \"{id}\", \"nodeId\": \"{node}\", \"output\": 1, \"latencyMs\": {ms}}}\n"
        )
    };
    let cases = [("a", "plan", 10), ("b", "plan", 20), ("c", "act", 40), ("d", "act", 90)];
    folder.write("cases.jsonl", cases.map(case).concat());
    let command = r#"scorebox run -s latency -s bad=./misbehave.wasm -j 1 --run-id r
        --config latency='{"targetMs": 0, "maxMs": 100}' --config bad='{"then": "fail"}' cases.jsonl"#;
    folder.sh(&command.replace('\n', " ")).exits_with(1);
    folder
}

/// The cases and scorers that `scorebox scores` shows with these options.
fn shown(folder: &Folder, options: &str) -> Vec<String> {
    let output = folder.sh(&format!("scorebox scores --format json {options}")).exits_with(0);
    let name = |row: &Value| format!("{} {}", text(&row["caseId"]), text(&row["scorerId"]));
    let mut shown: Vec<String> = output.json().as_array().unwrap().iter().map(name).collect();
    shown.sort();
    shown
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn scores_are_a_table() {
    let folder = with_a_run();
    assert_snapshot!(folder.sh("scorebox scores"), @"
    case  scorer    score  reason
    a     latency  0.9000  10ms (target: 0ms, max: 100ms)
    a     bad       error  failed: was told to fail
    b     latency  0.8000  20ms (target: 0ms, max: 100ms)
    b     bad       error  failed: was told to fail
    c     latency  0.6000  40ms (target: 0ms, max: 100ms)
    c     bad       error  failed: was told to fail
    d     latency  0.1000  90ms (target: 0ms, max: 100ms)
    d     bad       error  failed: was told to fail
    [exit code 0]
    ");
}

#[test]
fn scores_of_a_program_are_whole_rows() {
    let folder = with_a_run();
    let line = "scorebox scores r --case c --scorer latency --format jsonl";
    let row = folder.sh(line).exits_with(0).json();
    assert_eq!(row["id"], "r:latency:0:0:c");
    assert_eq!(row["nodeId"], "act");
    assert_eq!(row["score"], 0.6);
    assert_eq!(row["latencyMs"], 40.0);
    assert_eq!(row["status"], "scored");
}

#[test]
fn scores_are_chosen_by_filters_that_combine() {
    let folder = with_a_run();
    assert_eq!(shown(&folder, "").len(), 8);
    assert_eq!(shown(&folder, "--errors"), ["a bad", "b bad", "c bad", "d bad"]);
    assert_eq!(shown(&folder, "--below 0.8"), ["c latency", "d latency"]);
    assert_eq!(shown(&folder, "--node plan --scorer latency"), ["a latency", "b latency"]);
    assert_eq!(shown(&folder, "--node act --errors"), ["c bad", "d bad"]);
    assert_eq!(shown(&folder, "--case a"), ["a bad", "a latency"]);
}

#[test]
fn an_unknown_name_is_an_error_that_names_those_that_exist() {
    let folder = with_a_run();
    let words = [
        "scorebox scores --scorer latencie",
        "scorebox scores --case z",
        "scorebox stats --node none",
        "scorebox stats --node plna",
        "scorebox stats --scorer x --all-runs",
        "scorebox verify --scorer latencie",
    ]
    .map(|line| format!("$ {line}\n{}\n", folder.sh(line).exits_with(2)));
    assert_snapshot!(words.concat(), @"
    $ scorebox scores --scorer latencie
    [stderr]
    error: the run `r` has no scorer `latencie`
    hint: its scorers: latency, bad
    [exit code 2]
    $ scorebox scores --case z
    [stderr]
    error: the run `r` has no scores of a case `z`
    hint: its cases: a, b, c, d
    [exit code 2]
    $ scorebox stats --node none
    [stderr]
    error: the run `r` has no scores of a node `none`
    hint: its nodes: plan, act
    [exit code 2]
    $ scorebox stats --node plna
    [stderr]
    error: the run `r` has no scores of a node `plna`
    hint: did you mean `plan`?
    [exit code 2]
    $ scorebox stats --scorer x --all-runs
    [stderr]
    error: the database has no scorer `x`
    hint: its scorers: latency, bad
    [exit code 2]
    $ scorebox verify --scorer latencie
    [stderr]
    error: the run `r` has no scorer `latencie`
    hint: its scorers: latency, bad
    [exit code 2]
    ");
    let no_number = folder.sh("scorebox scores --below nan").exits_with(2);
    assert!(no_number.stderr.contains("invalid value 'nan' for '--below <X>'"), "{no_number}");
    // A filter of scores without a match is not an error.
    assert_snapshot!(folder.sh("scorebox scores --below 0.01"), @"
    [stderr]
    no scores
    [exit code 0]
    ");
}

#[test]
fn runs_are_listed_with_their_state() {
    let folder = with_a_run();
    folder.sh("scorebox run suite.toml answers.jsonl --run-id second").exits_with(0);
    folder.database("scorebox.db").execute_batch("UPDATE runs SET created_at_ms = finished_at_ms - 1500, finished_at_ms = 1700000001500, created_at_ms = 1700000000000, size_bytes = CASE id WHEN 'second' THEN 1234567 END").unwrap();
    let output = folder.sh("scorebox runs").exits_with(0);
    assert_snapshot!(output.stdout, @"
    run     state     suite         scorers  cases   rows     size  started (UTC)         took
    second  finished  gsm8k               4    400  1,600  1.2 MiB  2023-11-14 22:13:20 [time]
    r       finished  command line        2      4      8        -  2023-11-14 22:13:20 [time]
    ");
    assert!(output.stderr.ends_with(" MiB; `scorebox rm RUN` removes a run\n"), "{output}");
    let listed = folder.sh("scorebox runs --format json --limit 1").exits_with(0).json();
    assert_eq!(
        (listed[0]["runId"].as_str(), listed[0]["rows"].as_u64()),
        (Some("second"), Some(1600))
    );
    let (scores, runs) = ("scorebox scores --limit 0 --format json", &listed[0]["scorerIds"]);
    let scores = folder.sh(scores).exits_with(0).json();
    let of_rows: Vec<&Value> =
        scores.as_array().unwrap().iter().map(|row| &row["scorerId"]).collect();
    let ids = runs.as_array().unwrap();
    assert!(ids.len() == 4 && ids.iter().all(|id| of_rows.contains(&id)), "{runs}");
    assert_snapshot!(folder.sh("scorebox runs --db other.db"), @"
    [stderr]
    error: there is no database at [folder]/other.db
    hint: check the path; the first run creates the database
    [exit code 2]
    ");
}

#[test]
fn what_a_scorer_wrote_as_json_is_json() {
    let folder = Folder::new();
    folder.sh("scorebox run -s levenshtein answers.jsonl").exits_with(0);
    let row = folder.sh("scorebox scores --limit 1 --format json").exits_with(0).json();
    assert!(row[0]["meta"]["distance"].is_number(), "{row}");
}

#[test]
fn a_list_that_cannot_be_read_to_its_end_is_not_taken_for_the_whole_one() {
    let folder = Folder::new();
    let case = |number| format!("{{\"id\": \"c{number}\", \"output\": 1, \"expected\": 1}}\n");
    folder.write("cases.jsonl", (0..100).map(case).collect::<String>());
    folder.write("gate.toml", "[scorers.exact-match]\nseverity = \"gate\"\nthreshold = 1\n");
    folder.sh("scorebox run gate.toml cases.jsonl").exits_with(0);
    let damage = "PRAGMA ignore_check_constraints = on; UPDATE score_rows SET status = 'odd'
                  WHERE case_key = (SELECT max(case_key) - 20 FROM cases)";
    folder.database("scorebox.db").execute_batch(damage).unwrap();
    for command in ["scores", "cases", "repeats --cases"] {
        let cut = folder.sh(&format!("scorebox {command} --format json")).exits_with(2);
        assert!(cut.stderr.starts_with("error: ") && cut.stderr.contains("is damaged"), "{cut}");
        // The closing bracket is missing on purpose, and the error does not share the line of the last element.
        assert!(cut.stdout.starts_with("[\n{") && cut.stdout.ends_with("}\n"), "{command}: {cut}");
        assert!(serde_json::from_str::<Value>(&cut.stdout).is_err(), "{command}: {cut}");
        let lines = folder.sh(&format!("scorebox {command} --format jsonl")).exits_with(2).stdout;
        let lines = lines.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>();
        assert!(!lines.unwrap().is_empty(), "whole things, and the exit code");
        let table = folder.sh(&format!("scorebox {command} --limit 0")).exits_with(2);
        assert_eq!(table.stdout, "", "no table of some of them");
    }
}

/// The key of a column: `meta` for `meta_json`, `error` for `error_kind`.
fn key_of(column: &str) -> String {
    let mut words = column.trim_end_matches("_json").split('_');
    let first = words.next().unwrap().to_owned();
    match first.as_str() {
        "error" => first,
        _ => words.fold(first, |key, word| key + &word[..1].to_uppercase() + &word[1..]),
    }
}

#[test]
fn the_page_about_rows_lists_the_keys_that_rows_have() {
    let folder = with_a_run();
    let columns = folder.rows("SELECT name FROM pragma_table_info('scores')");
    let mut keys: BTreeSet<String> = columns.iter().map(|column| key_of(column)).collect();
    // A list, which has its own table.
    keys.insert("calls".to_owned());
    // A field that the other keys determine.
    keys.insert("standing".to_owned());
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rows.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let listed: BTreeSet<String> = rows.map(|(key, _)| key.to_owned()).collect();
    assert_eq!(listed, keys);
    for line in folder.sh("scorebox scores --format jsonl").exits_with(0).stdout.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        assert!(row.as_object().unwrap().keys().all(|key| keys.contains(key)), "{line}");
    }
}

#[test]
fn a_score_on_the_command_line_has_the_keys_of_a_row() {
    let folder = with_a_run();
    let row = folder.sh("scorebox scores r --errors --limit 1 --format json").exits_with(0).json();
    let score = "scorebox score ./misbehave.wasm --config '{\"then\": \"fail\"}' --output 1";
    let score = folder.sh(score).exits_with(1).json();
    assert_eq!(score["error"]["message"], row[0]["error"]["message"]);
    let row = row[0].as_object().unwrap();
    assert!(score.as_object().unwrap().keys().all(|key| row.contains_key(key)), "{score}");
}

#[test]
fn failed_scores_are_errors_and_those_beyond_a_threshold() {
    let folder = Folder::new();
    folder.write(
        "cases.jsonl",
        "{\"id\": \"right\", \"output\": 1, \"groundTruth\": 1}\n{\"id\": \"wrong\", \"output\": 1, \"groundTruth\": 2}\n",
    );
    let command = "scorebox run -s exact-match -s bad=./misbehave.wasm \
                   --config bad='{\"then\": \"panic\"}' cases.jsonl";
    folder.sh(command).exits_with(1);
    assert_eq!(shown(&folder, "--failed"), ["right bad", "wrong bad"], "no threshold was set");
    let threshold = "UPDATE scorers SET threshold = 1.0 WHERE scorer_id = 'exact-match'";
    folder.database("scorebox.db").execute_batch(threshold).unwrap();
    assert_eq!(shown(&folder, "--failed"), ["right bad", "wrong bad", "wrong exact-match"]);
}

#[test]
fn scores_come_in_pages() {
    let folder = Folder::new();
    folder.sh("scorebox run suite.toml answers.jsonl --run-id r").exits_with(0);
    assert_snapshot!(folder.sh("scorebox scores --limit 3"), @r#"
    case                      scorer            score  reason
    gsm8k-0001-6b_finetuning  numeric-answer   1.0000  the answer 3 is right
    gsm8k-0001-6b_finetuning  mentions-answer  1.0000  found "3"
    gsm8k-0001-6b_finetuning  marked           1.0000  found " A: "
    [stderr]
    3 of 1,600 scores; next page: --skip 3; all: --limit 0
    [exit code 0]
    "#);
    assert_snapshot!(folder.sh("scorebox scores --limit 3 --skip 1598"), @r#"
    case                          scorer        score  reason
    gsm8k-0543-175b_verification  marked       1.0000  found " A: "
    gsm8k-0543-175b_verification  levenshtein  0.0045  222 edits away from the expected text
    [exit code 0]
    "#);
    assert_snapshot!(folder.sh("scorebox scores --skip 5000"), @"
    [stderr]
    no scores after the first 5,000: there are 1,600
    [exit code 0]
    ");
    let ids = |options: &str| -> Vec<String> {
        let output = folder.sh(&format!("scorebox scores --format jsonl {options}")).exits_with(0);
        let id = |line| text(&serde_json::from_str::<Value>(line).unwrap()["id"]).to_owned();
        output.stdout.lines().map(id).collect()
    };
    let all = ids("");
    assert_eq!(all.len(), 1600);
    assert_eq!(ids("--limit 0"), all);
    assert_eq!(ids("--limit 7 --skip 996"), all[996..1003]);
}

#[test]
fn a_table_is_a_page_and_a_program_gets_all() {
    let folder = Folder::new();
    folder.sh("scorebox run suite.toml answers.jsonl -q").exits_with(0);
    for (command, all) in [("scores", 1600), ("cases", 400)] {
        let table = folder.sh(&format!("scorebox {command}")).exits_with(0).stdout;
        assert_eq!(table.lines().count(), 51, "{command}");
        let array = folder.sh(&format!("scorebox {command} --format json")).exits_with(0).json();
        assert_eq!(array.as_array().unwrap().len(), all, "{command}");
        let lines = folder.sh(&format!("scorebox {command} --format jsonl")).exits_with(0).stdout;
        assert_eq!(lines.lines().count(), all, "{command}");
        let some = folder.sh(&format!("scorebox {command} --format jsonl --limit 7")).stdout;
        assert_eq!(some.lines().count(), 7, "{command}");
    }
}

#[test]
fn stats_are_those_of_the_scored_rows() {
    let folder = with_a_run();
    assert_snapshot!(folder.sh("scorebox stats"), @"
    scorer   count    mean     min     max     p50  stddev  n/a  skipped  errors
    latency      4  0.6000  0.1000  0.9000  0.7000  0.3082    0        0       0
    bad          0       -       -       -       -       -    0        0       4
    [stderr]
    run r; to pool all runs: --all-runs
    [exit code 0]
    ");
}

/// The statistics of `latency`, as far as they were computed by hand.
fn stats(folder: &Folder, options: &str) -> [f64; 6] {
    let output = folder.sh(&format!("scorebox stats --format json {options}")).exits_with(0);
    let all = output.json();
    let latency = all.as_array().unwrap().iter().find(|row| row["scorerId"] == "latency").unwrap();
    ["count", "mean", "min", "max", "p50", "stddev"].map(|key| latency[key].as_f64().unwrap())
}

fn assert_near(found: [f64; 6], expected: [f64; 6]) {
    let near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-9);
    assert!(near, "{found:?} instead of {expected:?}");
}

#[test]
fn stats_agree_with_those_computed_by_hand() {
    let folder = with_a_run();
    // 0.9, 0.8, 0.6, 0.1: the middle two are 0.8 and 0.6; the squares of the deviations 0.3, 0.2, 0 and 0.5 sum to
    // 0.38, which is 0.095 each.
    let all = [4.0, 0.6, 0.1, 0.9, 0.7, 0.095_f64.sqrt()];
    assert_near(stats(&folder, ""), all);
    assert_near(stats(&folder, "--run r --scorer latency"), all);
    assert_near(stats(&folder, "--node plan"), [2.0, 0.85, 0.8, 0.9, 0.85, 0.05]);
    assert_near(stats(&folder, "--node act --scorer latency"), [2.0, 0.35, 0.1, 0.6, 0.35, 0.25]);
}

#[test]
fn stats_are_of_the_newest_run_of_a_named_one_or_of_all() {
    let folder = with_a_run();
    folder.write("more.jsonl", "{\"output\": 1, \"latencyMs\": 50}\n");
    let command = r#"scorebox run -s latency --config latency='{"targetMs": 0, "maxMs": 100}'"#;
    folder.sh(&format!("{command} more.jsonl --run-id second")).exits_with(0);
    assert_near(stats(&folder, ""), [1.0, 0.5, 0.5, 0.5, 0.5, 0.0]);
    assert_near(stats(&folder, "--run second"), [1.0, 0.5, 0.5, 0.5, 0.5, 0.0]);
    // The mean is 2.9 / 5 and the median is 0.6.
    let [count, mean, _, _, p50, _] = stats(&folder, "--all-runs");
    assert_near([count, mean, 0.0, 0.0, p50, 0.0], [5.0, 0.58, 0.0, 0.0, 0.6, 0.0]);
}

#[test]
fn the_built_in_scorers_are_listed() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox scorers"), @"
    scorer                reads                                   what it scores
    answer                output, groundTruth                     Scores 1 if the answer after `ANSWER:` is the expected one, else 0.
    answer-accuracy       output, input, groundTruth              Asks a judge how accurate the output is, compared with the correct answer, from 0 (wrong) to 1 (correct and complete).
    answer-correctness    output, input, groundTruth              Asks a judge which statements the output shares with the expected answer, which it adds and which it lacks: their F1, weighted with the similarity in meaning of the two texts.
    answer-relevancy      output, input                           Asks a judge several times which question the output answers, and scores how close these questions are to the input: the mean cosine of their embeddings. If the judge finds the output noncommittal each time, the score is 0.
    battle                output, input, groundTruth              Asks a judge whether the output is better than the expected response to the same instructions: yes scores 1, no 0.
    bleu                  output, groundTruth                     Scores how many runs of one to four words of the output occur in the reference texts: sentence BLEU, 0 to 1.
    called-subagent       output, trace                           Scores 1 if another agent was called as often as `count`, `min` and `max` require (by default at least once), else 0.
    called-tool           output, groundTruth, trace              Scores whether tools were called: the fraction of the named tools that were called as often as `count`, `min` and `max` require (by default at least once) and with the `arguments`.
    choice                output, groundTruth                     Scores 1 if the choices marked after `ANSWER:` are exactly the right ones, else 0.
    chrf                  output, groundTruth                     Scores how many runs of one to six characters the output shares with the reference text: chrF, 0 to 1.
    closed-qa             output, input                           Asks a judge whether the output meets the criterion: yes scores 1, no 0.
    commands              output, context, metadata               Scores how recorded commands ended: the fraction of checks in which the exit code is `exitCode`.
    contains              output, groundTruth                     Scores 1 if the output contains the expected texts, else 0.
    contains-json         output                                  Scores 1 if the output contains a JSON object, whatever surrounds it, else 0.
    context-precision     output, input, groundTruth, context     Asks a judge which documents of the context are useful for the answer, and scores how early these come: their average precision.
    context-recall        output, input, groundTruth, context     Asks a judge how much of the expected answer the context supports: statements of the ground truth that can be attributed to the context / all of its statements.
    context-relevancy     output, input, context                  Asks a judge which sentences of the context are needed to answer the input: their characters / the context's characters.
    cost-budget           output, trace, usage, metadata          Scores 1 if the task cost no more than its budget. Beyond the budget it scores 0 or, with `mode` `proportional`, budget divided by cost (twice the budget is 0.5).
    diff                  output, context, metadata               Scores what the diff of the work contains: the fraction of checks that hold. `isEmpty` is one check, and so is each expression.
    embedding-similarity  output, groundTruth                     Scores how close in meaning the output is to the expected text: the cosine of their embeddings, at least 0.
    equals                output, groundTruth                     Scores 1 if the output deeply equals the expected value, else 0; the reason names the first difference.
    event                 output, trace                           Scores 1 if events of a type happened as often as `count`, `min` and `max` require (by default at least once), else 0.
    event-order           output, trace                           Scores 1 if events of these types happened in this order, with any others between them, else 0.
    exact-match           output, groundTruth                     Scores 1 if the output equals the expected answer, else 0.
    factuality            output, input, groundTruth              Asks a judge how the facts of the output relate to those of the expected answer: a subset scores 0.4, a superset 0.6, the same facts 1, a contradiction 0, differences that do not matter 1.
    faithfulness          output, input, context                  Asks a judge how faithful the output is to the context, from 0 (entirely fabricated) to 1 (completely faithful): every claim of the output should be supported by the context.
    files                 output, groundTruth, context, metadata  Scores which files were changed, deleted and left alone: the fraction of checks that hold. Each path or glob is a check.
    gleu                  output, groundTruth                     Scores how many runs of one to four words the output shares with the reference text: the smaller of precision and recall.
    goal-success          output, input, groundTruth, trace       Asks a judge whether an agent reached its goal: yes scores 1, no 0.
    humor                 output                                  Asks a judge whether the output is funny: yes scores 1, unsure 0.5, no 0.
    is-refusal            output                                  Scores 1 if the model refuses to answer, else 0.
    json-diff             output, groundTruth                     Scores how similar the output and the expected value are, 0 to 1, part by part.
    json-valid            output                                  Scores 1 if the output is JSON, else 0: an object or a list, or with `schema` any value that matches it.
    keyword-coverage      output, input, groundTruth              Scores how many of the keywords occur in the output: keywords found / all keywords.
    label-distribution    output, input, metadata                 Reports how the labels of a run's cases are distributed: which labels there are, how frequent each is, and how skewed they are.
    latency               output, latencyMs                       Scores how fast the task answered: 1 up to `targetMs`, 0 from `maxMs` on, and linear between them.
    length                output                                  Scores whether the length of the output is within bounds: 1 from `min` to `max`, count / `min` below, `max` / count above.
    levenshtein           output, groundTruth                     Scores how similar the output and the expected text are: 1 - edit distance / length of the longer one.
    list-contains         output, groundTruth                     Scores how well the items of the output match the expected items, in any order.
    loaded-skill          output, trace                           Scores whether skills were loaded: the fraction of the named skills that were.
    loop-detection        output, trace                           Scores how free a run is of loops, from 1 (no loop) to 0.
    match                 output, groundTruth                     Scores 1 if the output has the expected text or number at a given place, else 0.
    math                  output, groundTruth                     Scores 1 if the final answer of a solution has the expected value, else 0.
    message-includes      output, groundTruth, trace              Scores whether the agent's messages contain texts: the fraction of the texts that occur in all of its messages together, joined by line breaks.
    no-failed-actions     output, trace                           Scores 1 if no tool call, skill or sub-agent failed, else 0.
    no-failed-commands    output, trace                           Scores 1 if no shell command that the agent ran failed, else 0.
    not-called-tool       output, trace                           Scores whether tools were not called: the fraction of the named tools without a call, or without a call with the `arguments`.
    not-event             output, trace                           Scores whether events did not happen: the fraction of the named types without an event.
    numeric-answer        output, groundTruth                     Scores 1 if the final number of a free-text answer is the expected one, else 0.
    numeric-diff          output, groundTruth                     Scores how close the output is to the expected number: 1 - |expected - output| / (|expected| + |output|), and 1 if both are 0.
    pairwise              output, input, baseline                 Asks a judge whether the output is better than the baseline, once in each order: 1 if the output wins both times, 0 if the baseline does, else 0.5.
    parked                output, trace                           Scores 1 if the run waits for a person, else 0.
    possible              output, input                           Asks a judge whether the output offers a solution to the task (1) or declares the task impossible (0).
    regex                 output, groundTruth                     Scores 1 if a regular expression matches the output, or captures the expected text, else 0.
    relevancy             output, input                           Asks a judge how relevant the output is to the input, from 0 (completely irrelevant) to 1 (perfectly relevant).
    rouge                 output, groundTruth                     Scores how much of a reference text is in the output, by ROUGE: shared words (`1`), pairs of words (`2`), or the longest common subsequence of words (`L`).
    rubric                8 parts of the case                     Asks a judge to grade the output by your instructions: a number on a scale, converted to 0 to 1, or one of your choices, each with its score.
    satisfies             the whole case                          Scores what a jq expression says about the case: `true` is 1, `false` is 0, and a number from 0 to 1 is the score itself.
    schema-adherence      output, outputSchema                    Scores 1 if the output matches a JSON Schema, else 0, with the issues found.
    security              output                                  Asks a judge whether the output is malicious: no scores 1, unsure 0.5, yes 0.
    sql                   output, input, groundTruth              Asks a judge whether the SQL in the output gives the same result as the expected query: yes scores 1, no 0.
    sql-valid             output                                  Scores 1 if the output parses as SQL, else 0.
    succeeded             output, trace                           Scores 1 if the run succeeded: it did not break off, no tool call and no sub-agent failed, and it is not waiting for a person; else 0.
    summarizes            output, input, groundTruth              Asks a judge whether the output is a good summary of a text. If the case has a ground truth, that is an expert's summary, and the output scores 1 if it describes the text better, else 0. Without one it scores 1 if it gives the text's main points and adds nothing, else 0.
    test-report           output, context, metadata               Scores the tests of a report: the fraction of the tests run that pass. Every test is a gate assertion, with its full name.
    time-cost             output, latencyMs                       Scores how much of a time budget is left: 1 - elapsed / `maxMs`, and 0 from `maxMs` on.
    token-budget          output, trace, usage                    Scores 1 if the task used no more tokens than its budget. Beyond the budget it scores 0 or, with `mode` `proportional`, budget divided by use (twice the budget is 0.5).
    token-f1              output, groundTruth                     Scores how many words the output shares with the expected answer: the harmonic mean of precision and recall (SQuAD's F1), in which a word counts as often as it occurs.
    tool-arguments-valid  output, trace, metadata                 Scores the fraction of a run's tool calls whose arguments match the schema of their tool.
    tool-call-f1          output, groundTruth, trace              Scores the F1 of the tool calls that were made against the expected ones.
    tool-correctness      output, groundTruth, trace              Scores how many of the expected tool calls were made, 0 to 1.
    tool-count            output, trace                           Scores 1 if the number of tool calls is within `min` and `max`, or exactly `count`, else 0.
    tool-order            output, groundTruth, trace              Scores 1 if tools were called in the expected order, else 0.
    toxicity              output                                  Asks a judge how toxic the output is, from 0 (clean) to 1 (highly toxic): lower is better.
    trajectory            output, trace                           Scores the fraction of a trajectory's steps that are valid: those that have a `step` or an `id`, and all `requiredKeys`.
    trajectory-judge      output, input, groundTruth, trace       Asks a judge whether an agent's path makes sense: yes scores 1, no 0; with `continuous`, how far it does, from 0 to 1.
    trajectory-match      output, groundTruth, trace              Scores 1 if the tool calls of a run match those of a reference, else 0.
    translation           output, input, groundTruth              Asks a judge whether the output means the same as the expert translation of the input: yes scores 1, no 0.
    weighted              output, latencyMs, usage, metadata      Gives points: `successBonus` for success, plus rating × `ratingWeight`, minus seconds × `timePenalty`, minus tokens × `tokenPenalty`; never less than 0.
    xml-valid             output                                  Scores 1 if the output is well-formed XML (1.0, with namespaces), else 0.
    [exit code 0]
    ");
    let names = folder.sh("scorebox scorers --format json").exits_with(0).json();
    assert_eq!(names.as_array().unwrap().len(), 80);
}

#[test]
fn a_scorer_is_shown_with_its_configuration() {
    let folder = Folder::new();
    let output = folder.sh("scorebox scorers latency").exits_with(0);
    assert!(output.stdout.starts_with("latency (Latency), version "), "{output}");
    assert!(output.stdout.contains("reads     output, latencyMs\n"), "{output}");
    let shown = folder.sh("scorebox scorers latency --format json").exits_with(0).json();
    assert_eq!(shown["configSchema"]["required"], serde_json::json!(["targetMs", "maxMs"]));
    assert_snapshot!(folder.sh("scorebox scorers latncy"), @"
    [stderr]
    error: there is no scorer `latncy`
    hint: did you mean `latency`?
    [exit code 2]
    ");
}

#[test]
fn a_component_is_inspected() {
    let folder = Folder::new();
    let shown = folder.sh("scorebox inspect ./misbehave.wasm --format json").exits_with(0).json();
    assert_eq!(shown["scorerId"], "misbehave");
    assert!(shown["scorerName"].is_string(), "{shown}");
    assert_eq!(shown["exports"], serde_json::json!(["scorebox:scorer/scoring@0.1.0"]));
    assert_eq!(shown["wasi"], serde_json::json!([]));
    assert_eq!(shown["frozen"], true);
    assert_eq!(shown["cost"], Value::Null);
    let lines = folder.sh("scorebox inspect ./misbehave.wasm").exits_with(0).stdout;
    assert!(lines.contains("\nreads         output, input, metadata\n"), "{lines}");
    assert!(lines.contains("\nWASI          uses none\n"), "{lines}");
}

#[test]
fn with_a_case_an_inspection_shows_what_it_used_of_the_limits() {
    let folder = Folder::new();
    let options = "--output-text Paris --ground-truth '\"Paris\"' --fuel 1000000";
    let shown = folder.sh(&format!("scorebox inspect exact-match {options}")).exits_with(0);
    let (_, cost) = shown.stdout.split_once("\nfuel ").unwrap();
    assert_snapshot!(format!("fuel {cost}"), @r#"
    fuel          [fuel] of 1.0 M
    memory        [memory] of 64.0 MiB
    time [time] of [time]
    score         1.0000
    "#);
}

#[test]
fn a_component_that_cannot_be_loaded_is_inspected_as_far_as_it_can_be() {
    let folder = Folder::new();
    let output = folder.sh("scorebox inspect latency").exits_with(2);
    assert!(output.stdout.contains("exports       scorebox:scorer/scoring@"), "{output}");
    assert_snapshot!(output.stderr, @"
    error: scorer `latency`: invalid-config: `targetMs` is required
    ");
}

#[test]
fn every_help_has_its_options_under_headings_and_those_of_all_commands_last() {
    let folder = Folder::new();
    let all = folder.sh("scorebox -h").exits_with(0).stdout;
    let named = |line: &str| Some(line.strip_prefix("  ")?.split_once("  ")?.0.to_owned());
    let mut commands: Vec<String> = all
        .lines()
        .filter_map(named)
        .filter(|it| it != "help" && it.chars().all(|letter| letter.is_ascii_lowercase()))
        .filter(|it| !it.is_empty())
        .collect();
    assert!(commands.len() > 30, "{commands:?}");
    commands.extend(
        ["", "suite check", "suite show", "suite schema", "judges check", "toolchain add"]
            .map(str::to_owned),
    );
    for command in commands {
        let help = folder.sh(&format!("scorebox {command} -h")).exits_with(0).stdout;
        let (others, last) = help.rsplit_once("\n\n").unwrap();
        assert!(last.starts_with("Global options:\n"), "{command}: {help}");
        assert!(!others.contains("\nOptions:\n"), "{command}: {help}");
    }
    let without_scorers = folder.sh("scorebox scores --no-cache").exits_with(2).stderr;
    assert!(without_scorers.starts_with("error: unexpected argument '--no-cache'"));
}

#[test]
fn there_is_colour_only_where_it_is_wanted() {
    let folder = Folder::new();
    let is_coloured = |line: &str| folder.sh(line).exits_with(2).stderr.contains('\x1b');
    assert!(!is_coloured("scorebox score none --output 1"));
    assert!(is_coloured("scorebox score none --output 1 --color always"));
    assert!(is_coloured("CLICOLOR_FORCE=1 scorebox score none --output 1"));
    assert!(!is_coloured("NO_COLOR=1 CLICOLOR_FORCE=1 scorebox score none --output 1"));
    // Errors about arguments have the colours that the arguments ask for, and so does help.
    assert!(is_coloured("scorebox score --nonsense --color always"));
    assert!(is_coloured("scorebox --color=always rnu"));
    assert!(!is_coloured("CLICOLOR_FORCE=1 scorebox score --nonsense --color never"));
    assert!(!is_coloured("scorebox score a b -- --color always"));
    let help = |options: &str| folder.sh(&format!("CLICOLOR_FORCE=1 scorebox run {options}"));
    assert!(help("-h").exits_with(0).stdout.contains('\x1b'));
    assert!(!help("-h --color never").exits_with(0).stdout.contains('\x1b'));
}

#[test]
fn a_reader_that_goes_away_is_not_an_error() {
    let folder = Folder::new();
    folder.sh("scorebox run suite.toml answers.jsonl").exits_with(0);
    for command in [
        "scores --limit 0",
        "scores --limit 0 --format json",
        "scores --limit 0 --format jsonl",
        "scorers",
    ] {
        let line = format!("{{ scorebox {command}; echo \"ended with $?\" >&2; }} | head -n 1");
        let output = folder.sh(&line);
        assert_eq!(output.stderr, "ended with 0\n", "{command}");
        assert_eq!(output.stdout.lines().count(), 1, "{command}");
    }
}
