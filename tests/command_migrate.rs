//! `migrate`: a promptfoo configuration becomes a suite that is checked and run over promptfoo's own results;
//! assertions without an equivalent are listed.

use std::fs;

use insta::assert_snapshot;

use serde_json::{Value, json};

use crate::fixture::Folder;

const CONFIG: &str = r##"description: Capitals
prompts: ["The capital of {{country}} is Paris"]
providers: [echo]
assertionTemplates:
  polite: { type: not-icontains, value: stupid }
defaultTest:
  options: { provider: openai:chat:gpt-4o }
  assert:
    - { type: icontains, value: "{{city}}", metric: names the city }
    - { type: llm-rubric, value: Answers the question. }
    - $ref: "#/assertionTemplates/polite"
tests:
  - vars: { country: France, city: Paris }
    assert:
      - { type: regex, value: "^The\\s", weight: 2 }
      - { type: javascript, value: output.length < 100 }
  - vars: { country: Peru, city: Lima }
    assert:
      - { type: regex, value: "^The\\s", weight: 2 }
      - { type: starts-with, value: "The capital of {{country}}" }
      - { type: is-json, value: { type: object, required: [capital] } }
      - { type: similar, value: Lima, threshold: 0.8 }
      - { type: moderation }
"##;

#[test]
fn assertions_become_scorers_and_the_rest_is_listed() {
    let folder = Folder::new();
    folder.write("promptfooconfig.yaml", CONFIG);
    let migrated =
        folder.sh("scorebox migrate promptfooconfig.yaml -o migrated.toml").exits_with(0);
    assert_snapshot!(migrated, @r#"
    [stderr]
    8 assertions became 7 scorers
    warning: not in the suite:
      tests[0].assert[1] (javascript): it is code: write it as a script (docs/scripts.md), or as one line of jq for `satisfies`
      tests[1].assert[4] (moderation): it asks its own service; `rubric` asks a language model
    hint: the variable `city` is the expected output: run the suite with --map groundTruth=/metadata/vars/city
    hint: some scorers ask a language model: check `[judges.default]` in the suite
    [exit code 0]
    "#);
    assert_snapshot!(fs::read_to_string(folder.path("migrated.toml")).unwrap(), @r#"
    # Made of promptfooconfig.yaml by `scorebox migrate`.
    # Run it with --map groundTruth=/metadata/vars/city
    #
    # Not in here:
    # - tests[0].assert[1] (javascript): it is code: write it as a script (docs/scripts.md), or as one line of jq for `satisfies`
    # - tests[1].assert[4] (moderation): it asks its own service; `rubric` asks a language model

    version = 1
    name = "Capitals"

    # The configuration says openai:chat:gpt-4o.
    [judges.default]
    provider = "openai"
    model = "gpt-4o"
    embedding_model = "text-embedding-3-large"

    [defaults]
    severity = "gate"

    [scorers."names-the-city"]
    use = "contains"
    config = { ignoreCase = true }

    [scorers."llm-rubric"]
    use = "rubric"
    config = { instructions = "Answers the question." }
    grants = ["judge"]
    threshold = 0.5

    [scorers."not-icontains"]
    use = "contains"
    config = { ignoreCase = true, negate = true, value = "stupid" }

    [scorers."regex"]
    use = "regex"
    config = { compare = false, pattern = "^The\\s" }
    weight = 2.0
    nodes = ["test-0", "test-1"]

    [scorers."starts-with"]
    use = "contains"
    config = { at = "start", value = "The capital of Peru" }
    nodes = ["test-1"]

    [scorers."is-json"]
    use = "json-valid"
    config = { formats = true, scalars = true, schema = { "$schema" = "http://json-schema.org/draft-07/schema#", required = ["capital"], type = "object" } }
    nodes = ["test-1"]

    [scorers."similar"]
    use = "embedding-similarity"
    config = { value = "Lima" }
    grants = ["judge"]
    threshold = 0.8
    nodes = ["test-1"]
    "#);
    let checked = folder.sh("scorebox suite check migrated.toml");
    assert_eq!(checked.code, Some(0), "{checked}");
}

#[test]
fn a_migrated_suite_judges_promptfoos_results_as_promptfoo_did() {
    let folder = Folder::new();
    let results = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/readers/promptfoo.json");
    fs::copy(results, folder.path("results.json")).unwrap();
    // The configuration that produced these results.
    folder.write(
        "promptfooconfig.yaml",
        "
        tests:
        - vars: {country: France, city: Paris}
          assert:
          - {type: contains, value: Paris}
          - {type: equals, value: The capital of France is Paris}
        - vars: {country: Peru, city: Lima}
          assert:
          - {type: icontains, value: '{{city}}', weight: 2}
        ",
    );
    folder.sh("scorebox migrate promptfooconfig.yaml -o suite2.toml").exits_with(0);
    folder
        .sh("scorebox run suite2.toml results.json -q --map groundTruth=/metadata/vars/city")
        .exits_with(3);
    let listed = folder.sh("scorebox cases --format jsonl").exits_with(0);
    let mut judged: Vec<(String, String)> = Vec::new();
    for line in listed.stdout.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| case[key].as_str().unwrap().to_owned();
        judged.push((text("caseId"), text("verdict")));
    }
    let results: Value =
        serde_json::from_str(&fs::read_to_string(folder.path("results.json")).unwrap()).unwrap();
    let theirs = results["results"]["results"].as_array().unwrap().iter().map(|result| {
        let verdict = if result["success"] == true { "passed" } else { "failed" };
        (format!("test-{}-prompt-{}", result["testIdx"], result["promptIdx"]), verdict.to_owned())
    });
    assert_eq!(judged, theirs.collect::<Vec<_>>());
}

/// A suite of these assertions for every case, which `suite check` accepts; with the messages of the command.
fn migrated(folder: &Folder, assertions: &[Value]) -> String {
    let config = json!({ "defaultTest": { "assert": assertions }, "tests": [{}] });
    folder.write("config.json", config.to_string());
    let migrated = folder.sh("scorebox migrate config.json -o migrated.toml --force").exits_with(0);
    folder.sh("scorebox suite check migrated.toml").exits_with(0);
    migrated.stderr
}

/// The result of the migrated suite for one case: scorers with their scores, and the verdict.
fn judged(folder: &Folder, case: &Value) -> (Vec<String>, String) {
    folder.write("case.jsonl", format!("{case}\n"));
    folder.sh("rm -f scorebox.db; scorebox run migrated.toml case.jsonl -q");
    let rows = folder.rows(
        "select scorer_id || ' ' || coalesce(printf('%.2f', score), status) from scores order by 1",
    );
    let listed = folder.sh("scorebox cases --format jsonl").exits_with(0);
    let case: Value = serde_json::from_str(&listed.stdout).unwrap();
    (rows, case["verdict"].as_str().unwrap().to_owned())
}

#[test]
fn no_text_of_a_configuration_reads_the_environment() {
    let folder = Folder::new();
    folder.write(
        "config.yaml",
        "
        description: The price of ${NOT_SET_ANYWHERE}
        tests:
        - assert:
          - {type: contains, value: '${HOME}'}
          - {type: equals, value: {path: 'cd $${HOME}', list: ['${NOT_SET_ANYWHERE}']}}
        ",
    );
    folder.sh("scorebox migrate config.yaml -o migrated.toml").exits_with(0);
    let shown: Value = serde_json::from_str(
        &folder.sh("scorebox suite show migrated.toml --format json").exits_with(0).stdout,
    )
    .unwrap();
    assert_eq!(shown["name"], "The price of ${NOT_SET_ANYWHERE}");
    folder.write(
        "cases.jsonl",
        r#"{"id": "test-0", "output": {"path": "cd $${HOME}", "list": ["${NOT_SET_ANYWHERE}"]}}"#,
    );
    folder.sh("scorebox run migrated.toml cases.jsonl -q").exits_with(0);
}

/// promptfoo reads YAML like js-yaml, where `no` is a text.
#[test]
fn yes_and_no_without_quotes_are_texts() {
    let folder = Folder::new();
    folder.write(
        "promptfooconfig.yaml",
        "tests:\n\
         - vars: {expected: no}\n  assert: [{type: equals, value: no}, {type: contains, value: 'says {{expected}}'}]\n\
         - assert: [{type: icontains-any, value: [yes, on, 1_000]}, {type: equals, value: 0o17}]\n",
    );
    folder.sh("scorebox migrate promptfooconfig.yaml -o made.toml").exits_with(0);
    let suite = fs::read_to_string(folder.path("made.toml")).unwrap();
    let configs: Vec<&str> = suite.lines().filter(|line| line.starts_with("config = ")).collect();
    assert_eq!(
        configs,
        [
            r#"config = { value = "no" }"#,
            r#"config = { value = "says no" }"#,
            r#"config = { ignoreCase = true, mode = "any", values = ["yes", "on", "1_000"] }"#,
            "config = { value = 15 }",
        ]
    );
}

#[test]
fn what_a_scorer_refuses_is_listed_with_its_reason() {
    let folder = Folder::new();
    let regex = |pattern: &str| json!({ "type": "regex", "value": pattern });
    let said = migrated(
        &folder,
        &[
            regex("(?<=a)b"),
            regex("^(?!.*error).*$"),
            regex("[[]x"),
            regex(r"\cA"),
            regex("[^]"),
            regex(r"\p{L}"),
            regex("^fine$"),
            json!({ "type": "contains", "value": "" }),
            json!({ "type": "gleu", "value": [] }),
            json!({ "type": "gleu", "value": "fine", "threshold": 2 }),
            json!({ "type": "is-json", "value": { "type": 5 } }),
        ],
    );
    assert_snapshot!(said, @r#"
    1 assertion became 1 scorer
    warning: not in the suite:
      defaultTest.assert[0] (regex): `pattern` is not a valid regular expression: look-around, including look-ahead and look-behind, is not supported, at character 1
      defaultTest.assert[1] (regex): `pattern` is not a valid regular expression: look-around, including look-ahead and look-behind, is not supported, at character 2
      defaultTest.assert[2] (regex): a `[` in `[…]` opens another class for `regex`: write `\[`
      defaultTest.assert[3] (regex): `pattern` is not a valid regular expression: unrecognized escape sequence, at character 1
      defaultTest.assert[4] (regex): `[^]` is any character in JavaScript: write `[\s\S]`
      defaultTest.assert[5] (regex): JavaScript takes `\p{` literally, and `regex` does not
      defaultTest.assert[7] (contains): `value` is empty, and would be in every output
      defaultTest.assert[8] (gleu): `values` is an empty list; name at least one accepted value
      defaultTest.assert[9] (gleu): the threshold 2 is not on the scorer's scale, which is 0 to 1
      defaultTest.assert[10] (is-json): `schema` is not a usable JSON Schema: at `/type`: value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string', or want array, but got number
    "#);
    let suite = fs::read_to_string(folder.path("migrated.toml")).unwrap();
    assert_eq!(suite.matches("[scorers.").count(), 1, "{suite}");
    assert!(suite.contains("[scorers.\"regex\"]"), "{suite}");
    assert_eq!(judged(&folder, &json!({ "output": "fine" })).1, "passed");
}

#[test]
fn what_a_scorer_refuses_for_one_test_stays_for_the_others() {
    let folder = Folder::new();
    folder.write(
        "config.yaml",
        "
        defaultTest: {assert: [{type: contains, value: '{{a}}{{b}}'}]}
        tests: [{vars: {a: x, b: y}}, {vars: {a: '', b: ''}}]
        ",
    );
    let said = folder.sh("scorebox migrate config.yaml -o migrated.toml").exits_with(0).stderr;
    assert_snapshot!(said, @"
    1 assertion became 1 scorer
    warning: not in the suite:
      defaultTest.assert[0] (contains): for test-1: `value` is empty, and would be in every output
    ");
    folder.sh("scorebox suite check migrated.toml").exits_with(0);
}

#[test]
fn an_assertion_without_weight_only_measures() {
    let folder = Folder::new();
    let said = migrated(
        &folder,
        &[
            json!({ "type": "contains", "value": "Paris" }),
            json!({ "type": "contains", "value": "Lima", "weight": 0 }),
            json!({ "type": "trajectory:tool-used", "value": "book", "weight": 0 }),
            json!({ "type": "contains", "value": "Rome", "weight": -1 }),
        ],
    );
    assert_snapshot!(said, @"
    3 assertions became 3 scorers
    warning: not in the suite:
      defaultTest.assert[3] (contains): its `weight` is negative
    ");
    let suite = fs::read_to_string(folder.path("migrated.toml")).unwrap();
    let measures = "severity = \"soft\"\nthreshold = 0.0\nweight = 0.0\n";
    assert_eq!(suite.matches(measures).count(), 2, "{suite}");
    // The component `called-tool` is a gate with its own threshold.
    let trace = json!([{ "tool": "search", "args": {}, "result": "done" }]);
    let case = |output: &str| json!({ "output": output, "trace": trace });
    assert_eq!(judged(&folder, &case("Paris")).1, "passed");
    folder.sh("scorebox run migrated.toml case.jsonl -q --strict").exits_with(0);
    assert_eq!(judged(&folder, &case("Lima")).1, "failed");
}

#[test]
fn options_of_the_default_test_and_files_decide_about_the_numbers_of_tests() {
    let folder = Folder::new();
    folder.write(
        "config.yaml",
        "
        defaultTest:
          options: {disableVarExpansion: true}
          assert: [{type: contains, value: a}]
        tests:
        - vars: {list: [a, b]}
          options: {disableDefaultAsserts: true}
        - vars: {page: 'file://pages/*.txt'}
          options: {disableVarExpansion: false}
          assert: [{type: contains, value: b}]
        ",
    );
    let said = folder.sh("scorebox migrate config.yaml -o migrated.toml").exits_with(0).stderr;
    assert_snapshot!(said, @"
    2 assertions became 2 scorers
    warning: not in the suite:
      tests[1].vars.page (file://pages/*.txt): each file that the pattern finds is a value: write a list of them. How many tests they make is unknown, and so are the numbers of those behind them
      defaultTest.assert: only for tests whose numbers are known, where it depends on the test: on its variables, or on `disableDefaultAsserts`
    ");
    let suite = fs::read_to_string(folder.path("migrated.toml")).unwrap();
    assert_eq!(suite.matches("nodes = [\"test-1\"]").count(), 2, "{suite}");
    folder.sh("scorebox suite check migrated.toml").exits_with(0);
}

#[test]
fn judges_and_their_prompts_that_are_not_taken_over_are_listed() {
    let folder = Folder::new();
    folder.write(
        "config.yaml",
        "
        defaultTest: {assert: [{type: llm-rubric, value: Fine.}]}
        tests:
        - options: {provider: 'openai:chat:gpt-4o', rubricPrompt: Judge.}
          assert: [{type: factuality, value: Lima, provider: 'anthropic:messages:claude'}]
        ",
    );
    let said = folder.sh("scorebox migrate config.yaml -o migrated.toml").exits_with(0).stderr;
    assert_snapshot!(said, @r#"
    2 assertions became 2 scorers
    warning: not in the suite:
      tests[0].options.rubricPrompt (rubricPrompt): a prompt for the judge: the scorers have their own, and only what they are to judge is configured
      tests[0].options.provider (provider): another judge than `[judges.default]`: write it as `[judges.NAME]`, and `judge = "NAME"` for the scorers that ask it
      tests[0].assert[0] (provider): another judge than `[judges.default]`: write it as `[judges.NAME]`, and `judge = "NAME"` for the scorers that ask it
    hint: some scorers ask a language model: check `[judges.default]` in the suite
    "#);
    let suite = fs::read_to_string(folder.path("migrated.toml")).unwrap();
    assert!(!suite.contains("names none"), "{suite}");
    assert!(suite.contains("judges in the places that are listed above"), "{suite}");
    folder.sh("scorebox suite check migrated.toml").exits_with(0);
}

#[test]
fn the_best_of_several_references_counts() {
    let folder = Folder::new();
    let references = ["It is Paris today", "Paris it is"];
    let kinds = ["gleu", "bleu", "similar"];
    let assertions = kinds.map(|kind| json!({ "type": kind, "value": references }));
    migrated(&folder, &assertions);
    let suite = fs::read_to_string(folder.path("migrated.toml")).unwrap();
    assert_eq!(suite.matches("values = [\"It is Paris today\", \"Paris it is\"]").count(), 3);

    migrated(&folder, &assertions[..2]);
    let (scores, verdict) = judged(&folder, &json!({ "output": "It is Paris today" }));
    assert_eq!(
        (scores.as_slice(), verdict.as_str()),
        (&["bleu 1.00", "gleu 1.00"].map(str::to_owned)[..], "passed")
    );

    // `equals` treats a list as one value.
    migrated(&folder, &[json!({ "type": "equals", "value": references })]);
    assert_eq!(judged(&folder, &json!({ "output": references })).1, "passed");
    assert_eq!(judged(&folder, &json!({ "output": references[0] })).1, "failed");
}

#[test]
fn bleu_and_gleu_ignore_case_as_in_promptfoo() {
    let folder = Folder::new();
    let assertions =
        ["gleu", "bleu"].map(|kind| json!({ "type": kind, "value": "It is PARIS today" }));
    migrated(&folder, &assertions);
    assert_eq!(
        judged(&folder, &json!({ "output": "it is Paris Today" })),
        (["bleu 1.00", "gleu 1.00"].map(str::to_owned).to_vec(), "passed".to_owned())
    );
}

#[test]
fn tools_in_one_text_are_separate() {
    let folder = Folder::new();
    migrated(&folder, &[json!({ "type": "tool-call-f1", "value": "search, book" })]);
    let call = |tool: &str| json!({ "tool": tool, "args": {}, "result": "done" });
    let case = |tools: &[&str]| json!({ "output": "", "trace": tools.iter().map(|it| call(it)).collect::<Vec<_>>() });
    assert_eq!(judged(&folder, &case(&["book", "search"])).1, "passed");
    assert_eq!(
        judged(&folder, &case(&["search"])),
        (vec!["tool-call-f1 0.67".to_owned()], "failed".to_owned())
    );
}

#[test]
fn a_distance_of_zero_allows_no_edit_and_none_is_five() {
    let folder = Folder::new();
    let of = |threshold: Value| json!({ "type": "levenshtein", "value": "Paris", "threshold": threshold });
    let verdict = |threshold: Value, output: &str| {
        migrated(&folder, &[of(threshold)]);
        judged(&folder, &json!({ "output": output })).1
    };
    assert_eq!(verdict(json!(0), "Paris"), "passed");
    assert_eq!(verdict(json!(0), "Pariz"), "failed");
    assert_eq!(verdict(Value::Null, "Paris, yes"), "passed");
    assert_eq!(verdict(Value::Null, "Paris, sure"), "failed");
}

#[test]
fn more_scorers_than_a_suite_has_are_refused() {
    let folder = Folder::new();
    let tests: Vec<Value> = (0..1001).map(|it| json!({ "vars": { "it": it } })).collect();
    let assertion = json!({ "type": "contains", "value": "no. {{it}}" });
    let config = json!({ "defaultTest": { "assert": [assertion] }, "tests": tests });
    folder.write("config.json", config.to_string());
    assert_snapshot!(folder.sh("scorebox migrate config.json -o migrated.toml").exits_with(2), @"
    [stderr]
    error: config.json: its assertions are 1001 scorers, and a suite has at most 1000
    hint: a value that is one variable and nothing else, `{{name}}`, is one scorer for all tests; a variable in other text makes one for each test
    [exit code 2]
    ");
    assert!(!folder.path("migrated.toml").exists());
}

/// Makes a program that always gives the same answer the judge of the migrated suite.
fn judge_says(folder: &Folder, answer: &Value) {
    let suite = fs::read_to_string(folder.path("migrated.toml")).unwrap();
    let answer = json!({ "text": answer.to_string() }).to_string();
    folder.write("answer.json", answer);
    let judge = "provider = \"command\"\ncommand = [\"cat\", \"answer.json\"]";
    folder.write("migrated.toml", suite.replace("provider = \"openai\"", judge));
}

#[test]
fn a_judged_assertion_without_a_threshold_passes_what_promptfoo_passes() {
    let folder = Folder::new();
    let case = json!({ "input": "Where?", "output": "Lima", "context": "It is Lima." });
    let verdict = |assertion: Value, answer: Value| {
        migrated(&folder, &[assertion]);
        judge_says(&folder, &answer);
        judged(&folder, &case).1
    };
    for (choice, expected) in [("A", "passed"), ("B", "passed"), ("C", "passed"), ("D", "failed")] {
        let assertion = json!({ "type": "factuality", "value": "Lima", "threshold": 0.9 });
        let said = verdict(assertion, json!({ "reason": "", "choice": choice }));
        assert_eq!(said, expected, "{choice}");
    }
    let faithfulness = |score: f64| json!({ "reason": "", "score": score });
    let kind = "context-faithfulness";
    assert_eq!(verdict(json!({ "type": kind }), faithfulness(0.9)), "passed");
    assert_eq!(verdict(json!({ "type": kind }), faithfulness(0.0)), "passed");
    assert_eq!(verdict(json!({ "type": kind, "threshold": 0.95 }), faithfulness(0.9)), "failed");
}

#[test]
fn the_expected_answer_of_context_recall_is_a_variable() {
    let folder = Folder::new();
    folder.write(
        "config.yaml",
        "
        defaultTest: {assert: [{type: context-recall, value: '{{answer}}'}]}
        tests:
        - vars: {answer: It is Lima., context: Lima is in Peru.}
          assert: [{type: context-recall, value: It is Lima.}]
        ",
    );
    let said = folder.sh("scorebox migrate config.yaml -o migrated.toml").exits_with(0).stderr;
    assert_snapshot!(said, @r#"
    1 assertion became 1 scorer
    warning: not in the suite:
      tests[0].assert[0] (context-recall): its expected answer must be the cases' ground truth, one variable for all tests: write `value: "{{answer}}"`
    hint: the variable `answer` is the expected output: run the suite with --map groundTruth=/metadata/vars/answer
    hint: the variable `context` is the context: run the suite with --map context=/metadata/vars/context
    hint: some scorers ask a language model: check `[judges.default]` in the suite
    "#);
    folder.sh("scorebox suite check migrated.toml").exits_with(0);
    judge_says(
        &folder,
        &json!({"statements": [{"statement": "Lima", "reason": "", "supported": true}, {"statement": "is", "reason": "", "supported": false}]}),
    );
    let vars = json!({ "answer": "It is Lima.", "context": "Lima is in Peru." });
    let case = json!({ "id": "test-0", "output": "Lima", "metadata": { "vars": vars } });
    folder.write("case.jsonl", format!("{case}\n"));
    let options = "--map groundTruth=/metadata/vars/answer --map context=/metadata/vars/context";
    folder.sh(&format!("scorebox run migrated.toml case.jsonl -q {options}")).exits_with(0);
    assert_eq!(folder.rows("select score from scores"), ["0.5"]);
}

#[test]
fn a_configuration_without_anything_to_migrate_is_refused() {
    let folder = Folder::new();
    for (name, text) in [
        ("empty.yaml", "prompts: [a]\n"),
        ("list.yaml", "- a\n"),
        ("broken.yaml", "tests: [\n"),
        ("code.yaml", "tests: [{assert: [{type: python, value: x}]}]\n"),
        (
            "bomb.yaml",
            "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g,*g]\n",
        ),
    ] {
        folder.write(name, text);
    }
    let said: String = ["empty", "list", "code"]
        .map(|name| {
            folder.sh(&format!("scorebox migrate {name}.yaml -o out.toml")).exits_with(2).stderr
        })
        .concat();
    assert_snapshot!(said, @r#"
    error: empty.yaml: it has neither `tests` nor `defaultTest`
    hint: a configuration is YAML or JSON with `tests`; one in JavaScript or Python must be written out first
    error: list.yaml: it is not a mapping with `tests` or `defaultTest`
    hint: a configuration is YAML or JSON with `tests`; one in JavaScript or Python must be written out first
    error: code.yaml: no assertion has an equivalent:
      tests[0].assert[0] (python): it is code: write it as a script (docs/scripts.md), or as one line of jq for `satisfies`
    "#);
    for name in ["broken", "bomb"] {
        let refused = folder.sh(&format!("scorebox migrate {name}.yaml -o out.toml")).exits_with(2);
        assert!(refused.stderr.starts_with(&format!("error: {name}.yaml: ")), "{refused}");
    }
    assert!(!folder.path("out.toml").exists());
}
