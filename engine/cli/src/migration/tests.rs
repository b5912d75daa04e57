//! Tests that convert configurations to the scorers of a suite. The tests of single assertions are beside `assertion`.

use serde_json::json;

use super::*;

fn of(yaml: &str) -> Migration {
    migrated(read(yaml).unwrap())
}

fn scorers(migration: &Migration) -> Vec<(String, Vec<String>)> {
    migration.scorers.iter().map(|it| (it.name.clone(), it.nodes.clone())).collect()
}

#[test]
fn an_assertion_of_several_tests_is_one_scorer_for_them() {
    let migration = of("
        defaultTest: {assert: [{type: not-contains, value: sorry}]}
        tests:
        - assert: [{type: contains, value: a}, {type: contains, value: a}]
        - vars: {x: [one, two]}
          assert: [{type: contains, value: b}]
        - assert: [{type: contains, value: a}]
    ");
    let expected = [
        ("not-contains", vec![]),
        ("contains", vec!["test-0", "test-3"]),
        ("contains-2", vec!["test-1", "test-2"]),
    ];
    let expected = expected.map(|(name, nodes)| {
        (name.to_owned(), nodes.into_iter().map(str::to_owned).collect::<Vec<String>>())
    });
    assert_eq!(scorers(&migration), expected);
    assert_eq!((migration.translated(), migration.left_out.len()), (5, 0));
}

#[test]
fn a_variable_alone_is_the_ground_truth_and_others_are_put_in() {
    let migration = of("
        defaultTest: {assert: [{type: equals, value: '{{answer}}'}, {type: icontains, value: 'the {{ city }}'}]}
        tests:
        - vars: {answer: a, city: Lima}
        - vars: {answer: b, city: Rome}
    ");
    assert_eq!(migration.ground_truth.as_deref(), Some("answer"));
    assert_eq!(migration.scorers[0].config.get("value"), None);
    assert_eq!(migration.scorers[1].config["value"], "the Lima");
    assert_eq!(migration.scorers[2].nodes, ["test-1"]);
}

#[test]
fn texts_with_commas_between_them_are_put_in_for_each_test() {
    for kind in ["contains-any", "icontains-all", "not-contains-any"] {
        let migration = of(&format!(
            "
            defaultTest: {{assert: [{{type: {kind}, value: '{{{{words}}}}'}}]}}
            tests:
            - vars: {{words: 'a, b'}}
            - vars: {{words: c}}
        "
        ));
        assert_eq!(migration.ground_truth, None);
        assert_eq!(migration.scorers[0].config["values"], "a, b", "{kind}");
        assert_eq!(migration.scorers[1].config["values"], "c", "{kind}");
        assert_eq!(migration.scorers[1].nodes, ["test-1"]);
    }
}

#[test]
fn blanks_around_a_variable_are_part_of_what_is_expected() {
    let migration = of("
        tests:
        - vars: {city: \"Lima\\n\"}
          assert:
          - type: equals
            value: |
              {{city}}
          - {type: equals, value: ' {{city}}'}
    ");
    assert_eq!(migration.ground_truth, None);
    let values: Vec<&Value> = migration.scorers.iter().map(|it| &it.config["value"]).collect();
    assert_eq!(values, ["Lima\n", " Lima"]);
}

#[test]
fn a_value_is_read_after_its_variables_are_put_in() {
    let migration = of("
        tests:
        - vars: {tools: 'search, book', most: 5, tool: find}
          assert:
          - {type: tool-call-f1, value: '{{tools}}'}
          - {type: word-count, value: '{{most}}'}
          - {type: 'trajectory:tool-used', value: '{{tool}}_*'}
    ");
    let configs: Vec<Value> =
        migration.scorers.iter().map(|it| Value::Object(it.config.clone())).collect();
    assert_eq!(configs[0]["value"], json!(["search", "book"]));
    assert_eq!((&configs[1]["min"], &configs[1]["max"]), (&json!(5), &json!(5)));
    assert_eq!(configs[2]["names"], json!([{"regex": "^find_.*$"}]));
}

#[test]
fn the_expected_answer_of_context_recall_is_the_ground_truth_before_that_of_others() {
    let migration = of("
        defaultTest:
          assert:
          - {type: equals, value: '{{short}}'}
          - {type: context-recall, value: '{{long}}'}
          - {type: context-recall, value: It is Lima.}
        tests:
        - vars: {short: Lima, long: It is Lima.}
    ");
    assert_eq!(migration.ground_truth.as_deref(), Some("long"));
    let options: Vec<String> = migration.maps().iter().map(Mapped::to_string).collect();
    assert_eq!(
        options,
        ["--map groundTruth=/metadata/vars/long", "--map context=/metadata/vars/context"]
    );
    assert_eq!(migration.scorers[0].config["value"], "Lima");
    assert_eq!(migration.scorers[1].config, Map::new());
    assert_eq!(migration.left_out[0].place, "defaultTest.assert[2]");
}

#[test]
fn what_a_scorer_refuses_is_left_out_and_the_others_keep_their_names_in_order() {
    let migration = of("
        defaultTest: {assert: [{type: contains, value: 'a{{x}}'}, {type: contains, value: b}]}
        tests: [{vars: {x: 1}}, {vars: {x: 2}}]
    ");
    assert_eq!(scorers(&migration).len(), 3);
    let why = BTreeMap::from([("contains".to_owned(), "too short".to_owned())]);
    let migration = migration.without_refused(&why);
    let names: Vec<String> = migration.scorers.iter().map(|it| it.name.clone()).collect();
    assert_eq!(names, ["contains", "contains-2"]);
    assert_eq!((migration.translated(), migration.left_out.len()), (2, 1));
    assert_eq!(migration.left_out[0].why, "for test-0: too short");
}

#[test]
fn options_of_the_default_test_hold_for_each_test_that_does_not_say_otherwise() {
    let migration = of("
        defaultTest: {options: {disableVarExpansion: true}}
        tests:
        - vars: {list: [a, b]}
        - vars: {list: [a, b]}
          options: {disableVarExpansion: false}
          assert: [{type: contains, value: a}]
        - assert: [{type: contains, value: b}]
    ");
    let nodes: Vec<&[String]> = migration.scorers.iter().map(|it| &*it.nodes).collect();
    assert_eq!(nodes, [&["test-1", "test-2"][..], &["test-3"]]);
}

#[test]
fn repeats_do_not_count_and_tests_that_are_the_same_have_one_number() {
    let migration = of("
        defaultTest: {options: {prefix: a}}
        commandLineOptions: {repeat: 2}
        evaluateOptions: {repeat: 3}
        tests:
        - {vars: {x: [one, one, two]}, options: {repeat: 4}, assert: [{type: contains, value: a}]}
        - {vars: {x: one}, assert: [{type: contains, value: b}]}
        - {vars: {x: one}, options: {prefix: a}, metadata: {}, assert: [{type: contains, value: b}]}
        - {vars: {x: one}, description: another, assert: [{type: contains, value: c}]}
        - {vars: {x: '{\"a\": 1}'}, assert: [{type: contains, value: d}]}
        - {vars: {x: '{\"a\":1}'}, assert: [{type: contains, value: d}]}
    ");
    let nodes: Vec<&[String]> = migration.scorers.iter().map(|it| &*it.nodes).collect();
    assert_eq!(nodes, [&["test-0", "test-1"][..], &["test-2"], &["test-3"], &["test-4"]]);
}

#[test]
fn assertions_of_tests_whose_numbers_are_unknown_are_listed() {
    for elsewhere in ["file://more.csv", "{path: 'file://more.csv'}", "{$ref: more.yaml}"] {
        let migration = of(&format!("
            defaultTest: {{assert: [{{type: contains, value: a}}, {{type: contains, value: 'b {{{{x}}}}'}}]}}
            tests:
            - vars: {{x: 1}}
            - {elsewhere}
            - {{vars: {{x: 2}}, assert: [{{type: contains, value: c}}]}}
            - vars: {{x: 3}}
        "));
        let nodes: Vec<&[String]> = migration.scorers.iter().map(|it| &*it.nodes).collect();
        assert_eq!(nodes, [&[][..], &["test-0"]], "{elsewhere}");
        let places: Vec<&str> = migration.left_out.iter().map(|it| it.place.as_str()).collect();
        assert_eq!(places, ["tests[1]", "tests[2].assert", "defaultTest.assert"]);
    }
}

#[test]
fn default_assertions_are_for_the_tests_that_do_not_disable_them() {
    let migration = of("
        defaultTest: {assert: [{type: contains, value: a}]}
        tests: [{vars: {list: [a, b]}}, {options: {disableDefaultAsserts: true}}, {}]
    ");
    assert_eq!(migration.scorers[0].nodes, ["test-0", "test-1", "test-3"]);
    // Only a test can disable them.
    let migration = of("
        defaultTest: {options: {disableDefaultAsserts: true}, assert: [{type: contains, value: a}]}
        tests: [{}]
    ");
    assert!(migration.scorers[0].nodes.is_empty());
    let migration = of("
        defaultTest: {assert: [{type: contains, value: a}]}
        tests: [{options: {disableDefaultAsserts: true}}]
    ");
    assert!(migration.scorers.is_empty());
    assert_eq!(migration.left_out[0].place, "defaultTest.assert");
}

#[test]
fn what_is_said_about_judges_is_listed_unless_it_is_the_suites_judge() {
    let places = |yaml: &str| {
        let migration = of(yaml);
        let place = |it: &LeftOut| format!("{} {}", it.place, it.what);
        migration.left_out.iter().map(place).collect::<Vec<_>>()
    };
    let listed = places("
        defaultTest: {options: {provider: 'openai:a', rubricPrompt: Judge.}}
        tests:
        - vars: {x: [one, two]}
          options: {provider: 'openai:b'}
          assert:
          - {type: llm-rubric, value: 'It is {{x}}.', provider: {id: 'openai:b'}, rubricPrompt: Judge.}
          - {type: contains, value: a, provider: 'openai:b'}
        - options: {provider: {text: 'openai:a'}}
          assert: [{type: llm-rubric, value: Fine., provider: 'openai:a'}]
    ");
    let expected = [
        "defaultTest.options.rubricPrompt rubricPrompt",
        "tests[0].options.provider provider",
        "tests[0].assert[0] provider",
        "tests[0].assert[0] rubricPrompt",
    ];
    assert_eq!(listed, expected);
    let embeds = "
        defaultTest: {options: {provider: {embedding: 'openai:embedding:a'}}}
        tests: []
    ";
    assert_eq!(places(embeds), ["defaultTest.options.provider provider"]);
}

#[test]
fn a_list_of_texts_is_what_promptfoo_makes_of_it() {
    let migration = of("
        tests:
        - assert:
          - {type: llm-rubric, value: [Is short, Is true]}
          - {type: g-eval, value: [Is kind]}
          - {type: g-eval, value: [Is short, Is true]}
          - {type: model-graded-closedqa, value: [Is short, Is true]}
    ");
    let instructions = migration.scorers.iter().map(|it| it.config["instructions"].clone());
    assert_eq!(instructions.collect::<Vec<_>>(), ["Is short,Is true", "Is kind"]);
    let listed = migration.left_out.iter().map(|it| (it.place.as_str(), it.why.as_str()));
    let listed: Vec<_> = listed.collect();
    assert_eq!(listed.len(), 2, "{listed:?}");
    assert_eq!(listed[0].0, "tests[0].assert[2]");
    assert!(listed[0].1.starts_with("promptfoo grades each text of its list alone"), "{listed:?}");
    assert_eq!(listed[1], ("tests[0].assert[3]", "its value is not text"));
}

#[test]
fn variables_in_files_make_the_numbers_of_tests_unknown() {
    let migration = of("
        tests:
        - vars: file://a.yaml
        - vars: {page: 'file://pages/*.txt', one: 'file://one.txt'}
        - vars: [a.yaml, b.yaml]
          options: {disableVarExpansion: true}
        - vars: {page: 'file://pages/*.txt'}
          options: {disableVarExpansion: true}
    ");
    let said = migration
        .left_out
        .iter()
        .map(|it| (it.place.as_str(), it.what.as_str(), it.why.contains("is unknown")));
    let expected = [
        ("tests[0].vars", "file://a.yaml", true),
        ("tests[1].vars.page", "file://pages/*.txt", true),
        ("tests[2].vars", "a.yaml, b.yaml", false),
    ];
    assert_eq!(said.collect::<Vec<_>>(), expected);
}

#[test]
fn what_has_no_equal_is_listed_with_its_place() {
    let migration = of("
        tests:
        - assert: [{type: javascript, value: 'output.length'}, {type: g-evil}, {type: contains}]
        - file://more.yaml
    ");
    let places: Vec<&str> = migration.left_out.iter().map(|it| it.place.as_str()).collect();
    assert_eq!(
        places,
        ["tests[1]", "tests[0].assert[0]", "tests[0].assert[1]", "tests[0].assert[2]"]
    );
    assert!(migration.scorers.is_empty());
}

#[test]
fn code_that_decides_beside_the_assertions_is_listed() {
    let migration = of("
        extensions: ['file://hooks.js:beforeAll']
        derivedMetrics: [{name: f1, value: 2 * p}]
        defaultTest: {assertScoringFunction: 'file://score.js', assert: [{type: contains, value: a}]}
        tests: [{assertScoringFunction: 'file://other.js'}]
    ");
    let places: Vec<&str> = migration.left_out.iter().map(|it| it.place.as_str()).collect();
    let expected = [
        "defaultTest.assertScoringFunction",
        "tests[0].assertScoringFunction",
        "extensions",
        "derivedMetrics",
    ];
    assert_eq!(places, expected);
    assert_eq!(of("{extensions: [], derivedMetrics: null, tests: []}").left_out.len(), 0);
}

#[test]
fn what_references_name_is_migrated_in_their_place() {
    let migration = of("
        definitions:
          default: {assert: {$ref: '#/definitions/asserts'}}
          asserts: [{type: not-contains, value: sorry}]
          test: {vars: {city: Lima}, assert: [{$ref: '#/definitions/asserts/0'}, {$ref: '#/definitions/city'}]}
          city: {type: contains, value: 'in {{city}}'}
        defaultTest: {$ref: '#/definitions/default'}
        tests:
        - $ref: '#/definitions/test'
        - {vars: {city: Rome}, assert: {$ref: '#/definitions/asserts'}}
    ");
    assert_eq!(migration.left_out.len(), 0);
    assert_eq!(migration.scorers[0].config["value"], "sorry");
    assert_eq!(migration.scorers[1].config["value"], "in Lima");
    assert_eq!(migration.scorers[1].nodes, ["test-0"]);
    assert_eq!(migration.scorers.len(), 2);
}

#[test]
fn a_reference_that_names_nothing_here_is_listed() {
    let migration = of("
        defaultTest: {$ref: default.yaml}
        tests:
        - assert: {$ref: asserts.yaml}
        - {assert: {type: contains, value: a}, vars: {$ref: vars.yaml}}
        - {assert: [{$ref: 'assert.yaml#/0'}, {type: contains, value: b}]}
        - $ref: '#/none'
    ");
    let listed: Vec<(&str, &str)> =
        migration.left_out.iter().map(|it| (it.place.as_str(), it.what.as_str())).collect();
    let expected = [
        ("defaultTest", "default.yaml"),
        ("tests[0].assert", "asserts.yaml"),
        ("tests[1].vars", "vars.yaml"),
        ("tests[1].assert", ""),
        ("tests[2].assert[0]", "assert.yaml#/0"),
        ("tests[3]", "#/none"),
    ];
    assert_eq!(listed, expected);
    let why = &migration.left_out[5].why;
    assert!(why.ends_with("The numbers of the tests behind it are unknown"), "{why}");
    assert_eq!(migration.scorers.len(), 1);
}
