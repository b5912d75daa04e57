//! The command lines on a page, with which others get the same figures: in a folder with the files that the page names.

use std::path::Path;

use scorebox::{
    registry::Reference,
    run::RunReport,
    sandbox::{Limits, ScorerConfig},
    suite::SuiteScorer,
};
use scorebox_pages::CardCommand;

use super::Card;
use crate::{report::shell_word, same_file::file_name};

/// The most bytes of a configuration that is part of a command line.
const MAX_CONFIG: usize = 2 << 10;
/// Replaces a longer configuration.
const CONFIG_FILE: &str = "@config.json";

/// The inputs of the command lines.
pub(super) struct Again<'a> {
    pub(super) card: &'a Card,
    pub(super) scorer: &'a SuiteScorer,
    pub(super) asks_judge: bool,
    /// The run, if others can reproduce it.
    pub(super) run: Option<&'a RunReport>,
}

impl Again<'_> {
    /// The command lines, in the order in which they are typed.
    pub(super) fn commands(&self) -> Vec<CardCommand> {
        let mut commands = Vec::new();
        if let Reference::Published(address) = &self.scorer.uses {
            // A new folder has no suite to which the scorer could be added.
            let line = format!("touch suite.toml && scorebox add {}", shell_word(address));
            commands.push(CardCommand { what: "Get the component, and lock it".to_owned(), line });
        }
        let mut say = |what: &str, words: Vec<String>| {
            let line = words.iter().map(shell_word).collect::<Vec<_>>().join(" ");
            commands.push(CardCommand { what: what.to_owned(), line: format!("scorebox {line}") });
        };
        let with_config = match self.config().as_deref() {
            Some(CONFIG_FILE) => "; config.json has the configuration that stands above",
            _ => "",
        };
        let has_cases = !self.card.cases.is_empty();
        if self.asks_judge && has_cases {
            let words = strings(&["calls", "--import", "calls.jsonl", "--db", "check.db"]);
            say(
                "Add the recorded answers of the judge, which the author of the page hands out as calls.jsonl",
                words,
            );
        }
        let what = "Write the page again, without what differs between machines";
        say(&format!("{what}{with_config}"), self.page());
        if has_cases && !self.asks_judge {
            let what = "Score the cases and store the scores";
            say(&format!("{what}{with_config}"), self.run_words());
            let words = strings(&["verify", "check", "--db", "check.db"]);
            say("Compute every stored score again with freshly compiled code", words);
        }
        if let (Some(report), Some(database)) = (self.run, self.card.judge.database()) {
            let database = file_name(database);
            let verify = ["verify", report.run.as_str(), "--db", &database];
            say("With the database of this page: compute its scores again", strings(&verify));
            if let Some(root) = report.root {
                let root = root.to_string();
                let words = strings(&[&verify[..], &["--root", &root]].concat());
                say("With the database of this page: was anything in it changed since?", words);
            }
        }
        commands
    }

    /// `card …`
    fn page(&self) -> Vec<String> {
        let card = self.card;
        let mut words = strings(&["card", &self.uses()]);
        if let Some(config) = self.config() {
            words.extend(["--config".to_owned(), config]);
        }
        for grant in self.scorer.grants.iter() {
            words.extend(["--grant".to_owned(), grant.to_string()]);
        }
        words.extend(limits(&self.scorer.limits));
        for path in &card.cases {
            words.extend(["--cases".to_owned(), file_word(path)]);
        }
        words.extend(self.about_cases());
        if let Some(with) = &card.with {
            words.extend(["--with".to_owned(), with.clone()]);
        }
        words.extend(card.positive.words());
        if !card.cases.is_empty() {
            words.extend(card.judge.words());
            if self.asks_judge {
                words.extend(strings(&["--db", "check.db", "--judge-cache", "only"]));
            }
        }
        words.extend(strings(&["--repeatable", "-o", "again.html"]));
        words
    }

    /// `run …`
    fn run_words(&self) -> Vec<String> {
        let name = &self.scorer.id;
        let mut words = strings(&["run"]);
        words.extend(self.card.cases.iter().map(|path| file_word(path)));
        words.extend(["-s".to_owned(), self.uses()]);
        if let Some(config) = self.config() {
            words.extend(["--config".to_owned(), format!("{name}={config}")]);
        }
        for grant in self.scorer.grants.iter() {
            words.extend(["--grant".to_owned(), format!("{name}={grant}")]);
        }
        words.extend(limits(&self.scorer.limits));
        words.extend(self.about_cases());
        // The command line is only about scores, not about a suite's requirements.
        words.extend(strings(&["--allow-failures", "--allow-errors"]));
        words.extend(strings(&["--run-id", "check", "--db", "check.db"]));
        words
    }

    fn about_cases(&self) -> Vec<String> {
        [self.card.case_files.words(), self.card.workspace.words()].concat()
    }

    /// The scorer as named on a command line.
    fn uses(&self) -> String {
        match &self.scorer.uses {
            Reference::Name(name) => name.clone(),
            Reference::File(path) => file_word(path),
            Reference::Published(address) => format!("oci://{address}"),
        }
    }

    /// The configuration, if there is one.
    fn config(&self) -> Option<String> {
        let config = &self.scorer.config;
        (*config != ScorerConfig::default()).then(|| match config.as_str() {
            long if long.len() > MAX_CONFIG => CONFIG_FILE.to_owned(),
            short => short.to_owned(),
        })
    }
}

/// The name of a file in this folder.
fn file_word(path: &Path) -> String {
    format!("./{}", file_name(path))
}

/// The limits that differ from the defaults.
fn limits(limits: &Limits) -> Vec<String> {
    let usual = Limits::default();
    let ms = |time: std::time::Duration| format!("{}ms", time.as_millis());
    let all = [
        ("fuel", limits.fuel.to_string(), limits.fuel != usual.fuel),
        ("memory", limits.memory_bytes.to_string(), limits.memory_bytes != usual.memory_bytes),
        ("timeout", ms(limits.timeout), limits.timeout != usual.timeout),
        ("host-timeout", ms(limits.host_timeout), limits.host_timeout != usual.host_timeout),
        ("reason", limits.reason_bytes.to_string(), limits.reason_bytes != usual.reason_bytes),
        ("meta", limits.meta_bytes.to_string(), limits.meta_bytes != usual.meta_bytes),
        ("assertions", limits.assertions.to_string(), limits.assertions != usual.assertions),
        ("log", limits.log_bytes.to_string(), limits.log_bytes != usual.log_bytes),
    ];
    let changed = all.into_iter().filter(|(_, _, is_changed)| *is_changed);
    changed.flat_map(|(name, value, _)| ["--limit".to_owned(), format!("{name}={value}")]).collect()
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
