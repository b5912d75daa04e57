//! `migrate`: a configuration of promptfoo becomes a suite that is checked and run over promptfoo's own results; what has no
//! equal is listed.

use std::fs;

use insta::assert_snapshot;

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
      tests[1].assert[4] (moderation): it asks a service of its own; `rubric` asks a language model
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
    # - tests[1].assert[4] (moderation): it asks a service of its own; `rubric` asks a language model

    version = 1
    name = "Capitals"

    # The configuration says openai:chat:gpt-4o.
    [judges.default]
    provider = "openai"
    model = "gpt-4o"

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
    // The configuration that these are the results of.
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
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| case[key].as_str().unwrap().to_owned();
        judged.push((text("caseId"), text("verdict")));
    }
    let results: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path("results.json")).unwrap()).unwrap();
    let theirs = results["results"]["results"].as_array().unwrap().iter().map(|result| {
        let verdict = if result["success"] == true { "passed" } else { "failed" };
        (format!("test-{}-prompt-{}", result["testIdx"], result["promptIdx"]), verdict.to_owned())
    });
    assert_eq!(judged, theirs.collect::<Vec<_>>());
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
    error: list.yaml: it is no mapping with `tests` or `defaultTest`
    hint: a configuration is YAML or JSON with `tests`; one in JavaScript or Python must be written out first
    error: code.yaml: no assertion has an equal:
      tests[0].assert[0] (python): it is code: write it as a script (docs/scripts.md), or as one line of jq for `satisfies`
    "#);
    for name in ["broken", "bomb"] {
        let refused = folder.sh(&format!("scorebox migrate {name}.yaml -o out.toml")).exits_with(2);
        assert!(refused.stderr.starts_with(&format!("error: {name}.yaml: ")), "{refused}");
    }
    assert!(!folder.path("out.toml").exists());
}
