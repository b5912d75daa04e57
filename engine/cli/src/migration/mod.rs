//! A configuration of promptfoo as a suite: which of its assertions have an equal, and why the others have none. Opens no
//! file, runs nothing.
//!
//! - `config`: what of the configuration counts: its tests, their variables and assertions.
//! - `assertion`: an assertion to a scorer with its configuration.
//! - `template`: variables in values.
//! - `suite_text`: the scorers as the text of a suite file.
//! - here: the scorers of all tests together.

mod assertion;
mod config;
mod suite_text;
mod template;

use serde_json::{Map, Value};

use assertion::{Equal, translated};
use config::{Config, Written};

pub(crate) use config::read;
pub(crate) use suite_text::suite_text;

/// What was made of a configuration.
#[derive(Debug, Default)]
pub(crate) struct Migration {
    pub description: Option<String>,
    pub scorers: Vec<Scorer>,
    /// How many assertions these are made of.
    pub translated: usize,
    pub left_out: Vec<LeftOut>,
    /// The variable that is to be the cases' ground truth.
    pub ground_truth: Option<String>,
    /// The model that judges, as the configuration names it.
    pub judge: Option<String>,
}

/// A scorer of the suite.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scorer {
    pub name: String,
    pub uses: &'static str,
    pub config: Map<String, Value>,
    pub threshold: Option<f64>,
    pub weight: Option<f64>,
    pub judged: bool,
    /// The tests that it is for; empty for all.
    pub nodes: Vec<String>,
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
        ..Migration::default()
    };
    for written in &config.assertions {
        migration.add(written);
    }
    migration.name_scorers();
    migration
}

impl Migration {
    fn add(&mut self, written: &Written) {
        let Written { place, assertion, tests, of_all } = written;
        let kind = assertion.get("type").and_then(Value::as_str).unwrap_or_default();
        let equal = match translated(assertion) {
            Ok(equal) => equal,
            Err(why) => return self.leave_out(place, kind, why),
        };
        match template::variable_alone(equal.expected()) {
            // One scorer for all tests, if the variable is the ground truth of the cases.
            Some(name) if equal.takes_ground_truth => {
                let chosen = self.ground_truth.get_or_insert_with(|| name.to_owned());
                if chosen == name {
                    let nodes = nodes(tests.iter().map(|test| test.number), *of_all);
                    self.translated += 1;
                    return self.put(equal.without_expected(), nodes);
                }
            }
            _ => {}
        }
        if !template::has_variables(&equal.config) {
            let nodes = nodes(tests.iter().map(|test| test.number), *of_all);
            self.translated += 1;
            return self.put(equal, nodes);
        }
        let mut rendered = Vec::new();
        for test in tests {
            match template::rendered(&equal.config, &test.variables) {
                Ok(config) => rendered.push((test.number, config)),
                Err(why) => return self.leave_out(place, kind, why),
            }
        }
        if rendered.is_empty() {
            return self.leave_out(place, kind, "its value has variables, and no test gives them");
        }
        self.translated += 1;
        for (number, config) in rendered {
            self.put(Equal { config, ..equal.clone() }, vec![node(number)]);
        }
    }

    fn leave_out(&mut self, place: &str, kind: &str, why: impl Into<String>) {
        let (place, what) = (place.to_owned(), kind.to_owned());
        self.left_out.push(LeftOut { place, what, why: why.into() });
    }

    /// Adds a scorer, or its tests to one that is the same otherwise.
    fn put(&mut self, equal: Equal, nodes: Vec<String>) {
        let Equal { name, uses, config, threshold, weight, judged, .. } = equal;
        let scorer = Scorer { name, uses, config, threshold, weight, judged, nodes };
        let same = self.scorers.iter_mut().find(|other| {
            let nodes = other.nodes.clone();
            **other == Scorer { nodes, ..scorer.clone() }
        });
        match same {
            Some(same) if same.nodes.is_empty() => {}
            Some(same) if scorer.nodes.is_empty() => same.nodes.clear(),
            Some(same) => {
                let new = scorer.nodes.into_iter().filter(|node| !same.nodes.contains(node));
                same.nodes.extend(new.collect::<Vec<_>>());
            }
            None => self.scorers.push(scorer),
        }
    }

    /// Gives each scorer a name of its own: the assertion's, with a number if another one has it.
    fn name_scorers(&mut self) {
        let mut taken: Vec<String> = Vec::new();
        for scorer in &mut self.scorers {
            let base = scorer_name(&scorer.name);
            let numbered = (2..).map(|number| format!("{base}-{number}"));
            let mut names = std::iter::once(base.clone()).chain(numbered);
            let name = names.find(|name| !taken.contains(name)).unwrap_or(base);
            taken.push(name.clone());
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
        assert_eq!((migration.translated, migration.left_out.len()), (5, 0));
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
