//! Converts a promptfoo configuration to a suite: which of its assertions have an equivalent, and why the others do
//! not. It opens no file and runs nothing; callers find out which configurations a scorer refuses.
//!
//! - `config`: the parts of the configuration that matter: its tests, their variables and assertions.
//! - `numbers`: the numbers of tests in the results.
//! - `assertion`: converts an assertion to a scorer with its configuration, or reports why there is no equivalent.
//! - `tabled_assertions`: types of assertions that a table describes fully; `text_assertions`, `structured_assertions`,
//!   `trajectory_assertions`, `judged_assertions`: the others, by subject.
//! - `making`: the parts of an assertion that several types read in the same way; `javascript_regex`: a pattern.
//! - `template`: variables in values.
//! - `references`: replaces `$ref` with what it names.
//! - `yaml`: parses the text of a configuration, as promptfoo reads it.
//! - `suite_text`: the scorers as the text of a suite file.
//! - here: the scorers of all tests together.

mod assertion;
mod config;
mod javascript_regex;
mod judged_assertions;
mod making;
mod numbers;
mod references;
mod structured_assertions;
mod suite_text;
mod tabled_assertions;
mod template;
#[cfg(test)]
mod tests;
mod text_assertions;
mod trajectory_assertions;
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

/// The result of converting a configuration.
#[derive(Debug, Default)]
pub(crate) struct Migration {
    pub description: Option<String>,
    pub scorers: Vec<Scorer>,
    pub left_out: Vec<LeftOut>,
    /// The variable that becomes the cases' ground truth.
    pub ground_truth: Option<String>,
    /// The model that judges, as the configuration names it.
    pub judge: Option<String>,
    /// The index of each assertion among all.
    order: BTreeMap<String, usize>,
}

/// A scorer of the suite.
#[derive(Clone, Debug)]
pub(crate) struct Scorer {
    /// Its unique name in the suite.
    pub name: String,
    /// The name of its assertion.
    label: String,
    pub uses: &'static str,
    pub config: Map<String, Value>,
    pub threshold: Option<f64>,
    pub weight: Option<f64>,
    pub judged: bool,
    /// The tests that it scores; empty for all.
    pub nodes: Vec<String>,
    /// The assertions that it replaces: the location and the type of each.
    from: Vec<(String, String)>,
}

impl Scorer {
    /// Whether both scorers are the same except for their tests.
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

/// A part of the configuration that has no equivalent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Its location: `tests[2].assert[0]`.
    pub place: String,
    /// Its kind: the type of an assertion.
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
    /// How many assertions the scorers replace.
    pub(crate) fn translated(&self) -> usize {
        let places = self.scorers.iter().flat_map(|scorer| &scorer.from);
        places.map(|(place, _)| place).collect::<BTreeSet<_>>().len()
    }

    /// The parts of the cases that come from variables.
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

    /// Leaves out the scorers for whose names `why` has a reason.
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
            && let Some(equal) = equal.of_ground_truth()
            && self.ground_truth.get_or_insert_with(|| name.to_owned()) == name
        {
            // The variable is the cases' ground truth, so one scorer does for all tests.
            return self.put(written, equal, of_all_tests());
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

    /// Leaves out what a judged assertion says about its judge; the assertion may come once for each test.
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

    /// Adds a scorer, or adds its tests to a scorer that is otherwise the same.
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

    /// Gives each scorer a unique name: the assertion's, with a number if another scorer has it.
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
    // A test that is written twice occurs twice.
    let mut seen = BTreeSet::new();
    match of_all {
        true => Vec::new(),
        false => tests.filter(|number| seen.insert(*number)).map(node).collect(),
    }
}

/// Converts a text to the name of a scorer: letters, digits, `-`, `_` and `.`.
fn scorer_name(text: &str) -> String {
    const MAX_CHARACTERS: usize = 48;
    let legal = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    let name: String = text.chars().map(|it| if legal(it) { it } else { '-' }).collect();
    let name = name.trim_matches('-');
    match name.is_empty() {
        true => "assertion".to_owned(),
        false => name.chars().take(MAX_CHARACTERS).collect(),
    }
}
