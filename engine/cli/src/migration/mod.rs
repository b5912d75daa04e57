//! A configuration of promptfoo as a suite: which of its assertions have an equal, and why the others have none. Opens no
//! file, runs nothing; what a scorer refuses is for others to find out.
//!
//! - `config`: what of the configuration counts: its tests, their variables and assertions.
//! - `assertion`: an assertion to a scorer with its configuration; `making` reads the assertion, `javascript_regex` its pattern.
//! - `template`: variables in values.
//! - `yaml`: the text of a configuration to values, as promptfoo reads it.
//! - `suite_text`: the scorers as the text of a suite file.
//! - here: the scorers of all tests together.

mod assertion;
mod config;
mod javascript_regex;
mod making;
mod suite_text;
mod template;
mod yaml;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde_json::{Map, Value};

use assertion::{Equal, NEEDS_GROUND_TRUTH, READ_CONTEXT, translated};
use config::{Config, OTHER_JUDGE, OTHER_PROMPT, Written, is_other_judge};

pub(crate) use config::read;
pub(crate) use suite_text::suite_text;

/// What was made of a configuration.
#[derive(Debug, Default)]
pub(crate) struct Migration {
    pub description: Option<String>,
    pub scorers: Vec<Scorer>,
    pub left_out: Vec<LeftOut>,
    /// The variable that is to be the cases' ground truth.
    pub ground_truth: Option<String>,
    /// The model that judges, as the configuration names it.
    pub judge: Option<String>,
    /// The place of each assertion in the order of all.
    order: BTreeMap<String, usize>,
}

/// A scorer of the suite.
#[derive(Clone, Debug)]
pub(crate) struct Scorer {
    /// Its name in the suite, which no other scorer has.
    pub name: String,
    /// What its assertion is called.
    label: String,
    pub uses: &'static str,
    pub config: Map<String, Value>,
    pub threshold: Option<f64>,
    pub weight: Option<f64>,
    pub judged: bool,
    /// The tests that it is for; empty for all.
    pub nodes: Vec<String>,
    /// The assertions that it is made of: where each stands, and its type.
    from: Vec<(String, String)>,
}

impl Scorer {
    /// Whether the other one is the same, for whichever tests.
    fn scores_as(&self, other: &Scorer) -> bool {
        let decides = |it: &Scorer| (it.uses, it.threshold, it.weight);
        self.label == other.label && decides(self) == decides(other) && self.config == other.config
    }
}

/// A part of a case that is a variable of the tests.
#[derive(Debug)]
pub(crate) struct Mapped<'m> {
    /// The part: `groundTruth`.
    pub key: &'static str,
    pub variable: &'m str,
}

impl fmt::Display for Mapped<'_> {
    /// The option of `scorebox run`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--map {}=/metadata/vars/{}", self.key, self.variable)
    }
}

/// What has no equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Where it stands: `tests[2].assert[0]`.
    pub place: String,
    /// What it is: the type of an assertion.
    pub what: String,
    pub why: String,
}

/// Makes scorers of all assertions.
pub(crate) fn migrated(config: Config) -> Migration {
    let mut migration = Migration {
        description: config.description,
        left_out: config.left_out,
        judge: config.judge,
        order: (config.assertions.iter().map(|it| it.place.clone())).zip(0..).collect(),
        ..Migration::default()
    };
    migration.ground_truth = config.assertions.iter().find_map(|written| {
        let needs = translated(&written.assertion, None).ok()?.uses == NEEDS_GROUND_TRUTH;
        let variable = template::variable_alone(written.assertion.get("value"));
        variable.filter(|_| needs).map(str::to_owned)
    });
    for written in &config.assertions {
        migration.add(written);
    }
    migration.name_scorers();
    migration
}

impl Migration {
    /// How many assertions the scorers are made of.
    pub(crate) fn translated(&self) -> usize {
        let places = self.scorers.iter().flat_map(|scorer| &scorer.from);
        places.map(|(place, _)| place).collect::<BTreeSet<_>>().len()
    }

    /// The parts of the cases that are variables.
    pub(crate) fn maps(&self) -> Vec<Mapped<'_>> {
        let truth = self.ground_truth.as_deref();
        let truth = truth.map(|variable| Mapped { key: "groundTruth", variable });
        let reads = self.scorers.iter().any(|scorer| READ_CONTEXT.contains(&scorer.uses));
        let context = reads.then_some(Mapped { key: "context", variable: "context" });
        truth.into_iter().chain(context).collect()
    }

    /// Whether the configuration names judges that are not taken over.
    fn names_other_judges(&self) -> bool {
        self.left_out.iter().any(|left_out| left_out.why == OTHER_JUDGE)
    }

    /// Leaves out the scorers that `why` has a reason for, by their names.
    pub(crate) fn without_refused(mut self, why: &BTreeMap<String, String>) -> Migration {
        let refused = self.scorers.extract_if(.., |scorer| why.contains_key(&scorer.name));
        let refused: Vec<Scorer> = refused.collect();
        let places = self.scorers.iter().flat_map(|scorer| &scorer.from);
        let still: BTreeSet<String> = places.map(|(place, _)| place.clone()).collect();
        for scorer in &refused {
            let why = &why[&scorer.name];
            for (place, kind) in &scorer.from {
                let why = match still.contains(place) {
                    true => format!("for {}: {why}", scorer.nodes.join(", ")),
                    false => why.clone(),
                };
                self.leave_out(place, kind, why);
            }
        }
        self.left_out.sort_by_key(|left_out| self.order.get(&left_out.place));
        self.name_scorers();
        self
    }

    fn add(&mut self, written: &Written) {
        let Written { place, assertion, tests, of_all } = written;
        let kind = assertion.get("type").and_then(Value::as_str).unwrap_or_default();
        let value = assertion.get("value");
        let of_all_tests = || nodes(tests.iter().map(|test| test.number), *of_all);
        if let Some(name) = template::variable_alone(value)
            && let Ok(equal) = translated(assertion, None)
            && equal.takes_ground_truth
            && self.ground_truth.get_or_insert_with(|| name.to_owned()) == name
        {
            // One scorer for all tests, as the variable is the ground truth of the cases.
            return self.put(written, equal.without_expected(), of_all_tests());
        }
        if !value.is_some_and(template::has_variables) {
            return match translated(assertion, Some(&Map::new())) {
                Ok(equal) => self.put(written, equal, of_all_tests()),
                Err(why) => self.leave_out(place, kind, why),
            };
        }
        let mut equals = Vec::new();
        for test in tests {
            match translated(assertion, Some(&test.variables)) {
                Ok(equal) => equals.push((test.number, equal)),
                Err(why) => return self.leave_out(place, kind, why),
            }
        }
        if equals.is_empty() {
            let why = translated(assertion, None).err();
            let none = || "its value has variables, and no test gives them".to_owned();
            return self.leave_out(place, kind, why.unwrap_or_else(none));
        }
        for (number, equal) in equals {
            self.put(written, equal, vec![node(number)]);
        }
    }

    /// Leaves out what a judged assertion says about its judge; it may be here once for each test.
    fn leave_out_judge(&mut self, Written { place, assertion, .. }: &Written) {
        let is_listed = |what: &str| {
            self.left_out.iter().any(|left_out| left_out.place == *place && left_out.what == what)
        };
        let judge = self.judge.as_deref();
        let provider = assertion.get("provider").filter(|it| is_other_judge(it, judge));
        let provider = provider.is_some() && !is_listed("provider");
        let prompt = assertion.contains_key("rubricPrompt") && !is_listed("rubricPrompt");
        if provider {
            self.leave_out(place, "provider", OTHER_JUDGE);
        }
        if prompt {
            self.leave_out(place, "rubricPrompt", OTHER_PROMPT);
        }
    }

    fn leave_out(&mut self, place: &str, kind: &str, why: impl Into<String>) {
        let (place, what) = (place.to_owned(), kind.to_owned());
        self.left_out.push(LeftOut { place, what, why: why.into() });
    }

    /// Adds a scorer, or its tests to one that is the same otherwise.
    fn put(&mut self, written: &Written, equal: Equal, nodes: Vec<String>) {
        if equal.judged {
            self.leave_out_judge(written);
        }
        let Equal { name: label, uses, config, threshold, weight, judged, .. } = equal;
        let kind = written.assertion.get("type").and_then(Value::as_str).unwrap_or_default();
        let from = vec![(written.place.clone(), kind.to_owned())];
        let name = String::new();
        let scorer = Scorer { name, label, uses, config, threshold, weight, judged, nodes, from };
        let Some(same) = self.scorers.iter_mut().find(|other| other.scores_as(&scorer)) else {
            return self.scorers.push(scorer);
        };
        let new = scorer.from.into_iter().filter(|from| !same.from.contains(from));
        same.from.extend(new.collect::<Vec<_>>());
        if scorer.nodes.is_empty() {
            same.nodes.clear();
        } else if !same.nodes.is_empty() {
            let new = scorer.nodes.into_iter().filter(|node| !same.nodes.contains(node));
            same.nodes.extend(new.collect::<Vec<_>>());
        }
    }

    /// Gives each scorer a name of its own: the assertion's, with a number if another one has it.
    fn name_scorers(&mut self) {
        let mut taken: BTreeSet<String> = BTreeSet::new();
        let mut last: BTreeMap<String, usize> = BTreeMap::new();
        for scorer in &mut self.scorers {
            let base = scorer_name(&scorer.label);
            let number = last.entry(base.clone()).or_default();
            let mut name = base.clone();
            loop {
                *number += 1;
                if *number > 1 {
                    name = format!("{base}-{number}");
                }
                if taken.insert(name.clone()) {
                    break;
                }
            }
            scorer.name = name;
        }
    }
}

/// The node of the test with this number, as the reader of promptfoo's results names it.
fn node(number: usize) -> String {
    format!("test-{number}")
}

fn nodes(tests: impl Iterator<Item = usize>, of_all: bool) -> Vec<String> {
    match of_all {
        true => Vec::new(),
        false => tests.map(node).collect(),
    }
}

/// A text as the name of a scorer: letters, digits, `-`, `_` and `.`.
fn scorer_name(text: &str) -> String {
    const MOST_CHARACTERS: usize = 48;
    let legal = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    let name: String = text.chars().map(|it| if legal(it) { it } else { '-' }).collect();
    let name = name.trim_matches('-');
    match name.is_empty() {
        true => "assertion".to_owned(),
        false => name.chars().take(MOST_CHARACTERS).collect(),
    }
}

#[cfg(test)]
mod tests {
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
            - file://more.yaml
            - assert: [{type: javascript, value: 'output.length'}, {type: g-evil}, {type: contains}]
        ");
        let places: Vec<&str> = migration.left_out.iter().map(|it| it.place.as_str()).collect();
        assert_eq!(
            places,
            ["tests[0]", "tests[1].assert[0]", "tests[1].assert[1]", "tests[1].assert[2]"]
        );
        assert!(migration.scorers.is_empty());
    }
}
