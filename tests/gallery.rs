//! The gallery of built-in scorers: each has an example that holds, and the page about them matches their own
//! descriptions.

use std::{fs, path::Path};

use insta::assert_snapshot;
use serde_json::Value;

use crate::{all_builtins, fixture::Folder};

/// The description of each built-in scorer.
fn entries(folder: &Folder) -> Vec<Value> {
    let listed = folder.sh("scorebox scorers --format jsonl").exits_with(0).stdout;
    listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A scorer that asks a judge has no example, because a judge's answer cannot be promised.
fn has_example(entry: &Value) -> bool {
    !entry["example"].is_null()
}

#[test]
fn every_scorer_keeps_the_promise_of_its_example() {
    let folder = Folder::new();
    all_builtins::suite();
    for entry in entries(&folder) {
        let name = entry["scorerId"].as_str().unwrap();
        let shown = folder.sh(&format!("scorebox scorers {name} --example"));
        if has_example(&entry) {
            assert_ne!(shown.exits_with(0).json()["status"], "error", "{name}");
        } else {
            let failed = shown.exits_with(2);
            assert!(failed.stderr.contains("it asks a judge"), "{name}: {}", failed.stderr);
        }
    }
}

/// The manifest holds each scorer's description from when it was built, so that a list compiles nothing.
#[test]
fn every_scorer_says_about_itself_what_was_written_down() {
    let folder = Folder::new();
    all_builtins::suite();
    let listed = folder.sh("scorebox scorers --format jsonl").exits_with(0).stdout;
    for line in listed.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        // Without a judge, a scorer that asks a judge is not loaded.
        if !has_example(&entry) {
            continue;
        }
        let (name, example) = (entry["scorerId"].as_str().unwrap(), &entry["example"]);
        folder.write("config.json", example["config"].to_string());
        let seen = format!("scorebox inspect {name} --config @config.json --format json");
        let seen = folder.sh(&seen).exits_with(0).json();
        for key in
            ["scorerId", "scorerName", "version", "description", "reads", "digest", "configSchema"]
        {
            assert_eq!(entry[key], seen[key], "{name}: {key}");
        }
    }
}

#[test]
fn descriptions_are_whole_in_a_pipe() {
    let folder = Folder::new();
    let table = folder.sh("scorebox scorers").exits_with(0).stdout;
    let listed = folder.sh("scorebox scorers --format jsonl").exits_with(0).stdout;
    for line in listed.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let description = entry["description"].as_str().unwrap();
        let first = description.split("\n\n").next().unwrap();
        let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(table.contains(&format!("  {first}\n")), "{}", entry["scorerId"]);
    }
}

/// `script` provides a terminal.
#[test]
fn descriptions_fill_what_a_terminal_has_beside_the_other_columns() {
    let folder = Folder::new();
    for columns in [100, 130] {
        let list = format!("script -qec 'stty rows 50 cols {columns}; scorebox scorers' /dev/null");
        let table = folder.sh(&list).exits_with(0).stdout;
        let widths = table.lines().map(|line| line.trim_end().chars().count());
        assert_eq!(widths.max(), Some(columns), "{table}");
        assert!(table.lines().any(|line| line.trim_end().ends_with('…')), "{table}");
    }
}

/// schemars leaves out a default that cannot be serialized.
#[test]
fn every_choice_that_may_be_left_to_the_scorer_says_its_default() {
    let folder = Folder::new();
    let listed = folder.sh("scorebox scorers --format jsonl").exits_with(0).stdout;
    let mut choices = 0;
    for line in listed.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let schema = &entry["configSchema"];
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let target = property["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
            let target = target.and_then(|pointer| schema.pointer(pointer)).unwrap_or(property);
            if !target["oneOf"].is_null() && !required.contains(&Value::from(key.as_str())) {
                assert!(!property["default"].is_null(), "{}: {key}", entry["scorerId"]);
                choices += 1;
            }
        }
    }
    assert!(choices > 20, "{choices}");
}

#[test]
fn the_page_about_the_scorers_is_what_they_say_about_themselves() {
    let folder = Folder::new();
    let page = folder.sh("scorebox scorers --format markdown").exits_with(0).stdout;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scorers.md");
    let written = fs::read_to_string(path).unwrap();
    assert!(
        page == written,
        "write it again: scorebox scorers --format markdown > docs/scorers.md"
    );
}

#[test]
fn a_scorer_is_shown_with_its_configuration_and_an_example() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox scorers levenshtein"), @r#"
    levenshtein (Levenshtein), version 0.1.0

    Scores how similar the output and the expected text are: 1 - edit distance / length of the longer one.

    Distance and length count Unicode code points, and nothing is normalized; two empty texts have the score 1. The expected text is the case's ground truth or the configured `value`; if there are several, the most similar one counts. A value that is not a string is compared as its compact JSON text. Levenshtein 1966.

    Equals rapidfuzz's `Levenshtein.normalized_similarity` and, for texts (it writes other values as Python does), autoevals' `Levenshtein`. niceeval's `similarity` has the same formula. With `maxDistance` it passes or fails, as promptfoo's `levenshtein` does (whose default is 5). niceeval and promptfoo count UTF-16 units, so an emoji counts as two there.

    scale     0 to 1, higher-is-better
    severity  soft
    reads     output, groundTruth
    sha-256   [digest]

    configuration  value          default  meaning
    ignoreCase     true or false  false    Ignores upper and lower case.
    maxDistance    whole number            The maximum number of edits that passes: the score is then 1 up to it, and 0 beyond.
    negate         true or false  false    Inverts the score s: 1 - s. Assertions, if there are any, then require the opposite.
    value          any JSON                The expected value, in place of the ground truth. For JSON `null`, use `values`.
    values         list                    The expected values, in place of the ground truth.

    example
      case    {"groundTruth":"color","output":"colour"}
      config  {}
      score   0.8333: 1 edit away from the expected text
    [exit code 0]
    "#);
}

#[test]
fn an_example_is_scored_in_the_format_that_is_asked_for() {
    let folder = Folder::new();
    let example =
        |format: &str| folder.sh(&format!("scorebox scorers levenshtein --example {format}"));
    let whole = example("").exits_with(0);
    assert_eq!(whole.json()["score"], example("--format json").exits_with(0).json()["score"]);
    assert!(whole.stdout.lines().count() > 1, "{whole}");
    let line = example("--format jsonl").exits_with(0);
    assert_eq!(
        (line.stdout.lines().count(), line.json()["score"].clone()),
        (1, whole.json()["score"].clone())
    );
    let table = example("--format table").exits_with(0).stdout;
    assert!(table.starts_with("scorer       status   score  "), "{table}");
    assert!(table.contains("\nlevenshtein  scored  0.8333  "), "{table}");
    assert!(table.ends_with("  1 edit away from the expected text\n"), "{table}");
    assert_snapshot!(example("--format markdown"), @"
    [stderr]
    error: the score of an example is not printed in Markdown
    hint: with --example, use --format json, jsonl or table; without it, the scorer's section has the example
    [exit code 2]
    ");
}

#[test]
fn the_section_of_one_scorer_is_the_one_of_the_page() {
    let folder = Folder::new();
    let page = folder.sh("scorebox scorers --format markdown").exits_with(0).stdout;
    let section = folder.sh("scorebox scorers levenshtein --format markdown").exits_with(0).stdout;
    assert!(section.starts_with("## levenshtein\n\nScores how similar"), "{section}");
    assert!(
        !section[3..].contains("\n## ") && page.contains(&format!("\n\n{section}")),
        "{section}"
    );
}

#[test]
fn choices_and_keys_inside_keys_are_shown_with_their_meanings() {
    let folder = Folder::new();
    assert_snapshot!(folder.sh("scorebox scorers cost-budget"), @r#"
    cost-budget (Cost Budget), version 0.1.0

    Scores 1 if the task cost no more than its budget. Beyond the budget it scores 0 or, with `mode` `proportional`, budget divided by cost (twice the budget is 0.5).

    The cost is `usage.costUsd` of the case, or else its input and output tokens times the `prices` of the model that `metadata.model` of the case names. If the case has no `usage`, the cost or the tokens that its trace states are used, also those read from a cache and written to one. If `prices` has no `cacheRead` or `cacheWrite` for them, they cost as much as input, and the reason says so. A case's own `usage` has no such tokens: if it has no cost, and the trace states some, the trace counts. If its `totalTokens` are more than input and output together, the rest costs as much as output (some models count their thinking in the total only), and the reason says so. A hard requirement: a gate that only 1 passes, unless the suite sets another threshold.

    Equals niceeval's `maxCost`, which also sees the tokens of a cache in a case's own `usage`: for the same cost, state `costUsd`, or give the usage in a trace.

    scale     0 to 1, higher-is-better
    severity  gate, threshold 1
    reads     output, trace, usage, metadata
    sha-256   [digest]

    configuration        value                                                                             default   meaning
    maxCost              number                                                                            required  The highest cost that scores 1, in US dollars; 0 or more.
    mode                 one of                                                                            "hard"    The score beyond the budget.
                           "hard"                                                                                    0.
                           "proportional"                                                                            The budget divided by the cost.
    model                text                                                                                        The name of the model, in place of `metadata.model`.
    prices               object of {cacheRead: number, cacheWrite: number, input: number, output: number}            Prices by model name; `*` applies to every other model.
    prices.*.cacheRead   number                                                                                      Per million tokens of the prompt that were read from a cache; `input` by default.
    prices.*.cacheWrite  number                                                                                      Per million tokens of the prompt that were written to a cache; `input` by default.
    prices.*.input       number                                                                            required  Per million tokens of the prompt.
    prices.*.output      number                                                                            required  Per million tokens of the answer.

    example
      case    {"metadata":{"model":"gpt-4o"},"output":"done","usage":{"inputTokens":200000,"outputTokens":50000}}
      config  {"maxCost":0.5,"mode":"proportional","prices":{"gpt-4o":{"input":2.5,"output":10}}}
      score   0.5000: $1.0000 of at most $0.5
    [exit code 0]
    "#);
}

#[test]
fn scorers_are_found_by_what_they_say() {
    let folder = Folder::new();
    let found = folder.sh("scorebox scorers --search 'EDIT distance'").exits_with(0).stdout;
    assert!(found.contains("levenshtein"), "{found}");
    assert_snapshot!(folder.sh("scorebox scorers --search nonsense"), @r#"
    scorer  reads  what it scores
    [stderr]
    no built-in scorer mentions `nonsense`
    [exit code 0]
    "#);
    let other_tool = folder.sh("scorebox scorers --search schemaAdherenceScorer").exits_with(0);
    assert!(other_tool.stdout.contains("\nschema-adherence  "), "{other_tool}");
    folder.write("suite.toml", "[scorers.tone]\nuse = \"llmJudge\"\n");
    assert_snapshot!(folder.sh("scorebox suite check suite.toml").exits_with(2), @"
    [stderr]
    error: suite.toml:1:10: there is no scorer `llmJudge`
    hint: did you mean `rubric`?
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox scorers levenstein").exits_with(2), @"
    [stderr]
    error: there is no scorer `levenstein`
    hint: did you mean `levenshtein`?
    [exit code 2]
    ");
}
