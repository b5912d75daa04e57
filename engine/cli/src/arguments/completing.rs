//! What a shell offers beyond the words that clap knows: scorers, runs, and the entries of the suite. Reads
//! what the line names; if that cannot be read, it offers nothing and says nothing.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use clap_complete::{
    ArgValueCompleter, CompletionCandidate,
    engine::{PathCompleter, ValueCompleter as _},
};
use scorebox::{registry::Reference, sandbox::Grant, store::Store, suite::Suite};

use super::database::DEFAULT_DATABASE;
use crate::{report, setup};

/// The variable in which a shell names itself when it asks for completions.
pub(crate) const VARIABLE: &str = "SCOREBOX_COMPLETE";

/// Runs that are offered: the newest.
const RUNS: usize = 100;

/// Characters of the description beside a word.
const HELP_CHARACTERS: usize = 70;

/// A scorer that can be loaded: a built-in one, a .wasm file, or a script.
pub(crate) fn scorers() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let mut offered = beginning_with(current, built_in());
        offered.extend(components().complete(current));
        offered
    })
}

/// A built-in scorer.
pub(crate) fn built_in_scorers() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| beginning_with(current, built_in()))
}

/// `NAME=SCORER`, or a scorer.
pub(crate) fn named_scorers() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let written = current.to_string_lossy();
        let (name, begun) = match written.split_once('=') {
            Some((name, begun)) => (format!("{name}="), begun.to_owned()),
            None => (String::new(), written.into_owned()),
        };
        let begun = OsString::from(begun);
        let mut offered = beginning_with(&begun, built_in());
        offered.extend(components().complete(&begun));
        offered.into_iter().map(|one| one.add_prefix(name.clone())).collect()
    })
}

/// A scorer of the run that is typed, or what [`named_scorers`] offers.
pub(crate) fn targets() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let entries = entries().into_iter().map(|name| (name, String::new()));
        let mut offered = beginning_with(current, entries);
        offered.extend(named_scorers().complete(current));
        offered
    })
}

/// A run of the database.
pub(crate) fn runs() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let runs = database().and_then(|store| store.runs(RUNS).ok()).unwrap_or_default();
        let words = runs.into_iter().map(|run| {
            let suite = run.spec.suite_name.unwrap_or_default();
            (run.spec.id.to_string(), format!("{} {suite}", run.state.as_str()))
        });
        beginning_with(current, words)
    })
}

/// A scorer of some run of the database.
pub(crate) fn stored_scorers() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let names = database().and_then(|store| store.scorer_ids(None).ok()).unwrap_or_default();
        beginning_with(current, names.into_iter().map(|name| (name, String::new())))
    })
}

/// `NAME=` for each scorer of the run that is typed.
pub(crate) fn suite_entries() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let entries = entries().into_iter().map(|name| (format!("{name}="), String::new()));
        beginning_with(current, entries)
    })
}

/// `NAME=GRANT` for each scorer of the run that is typed.
pub(crate) fn suite_grants() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let granted = |name: String| {
            Grant::ALL.into_iter().map(move |grant| (format!("{name}={grant}"), String::new()))
        };
        beginning_with(current, entries().into_iter().flat_map(granted))
    })
}

fn beginning_with(
    current: &OsStr,
    words: impl IntoIterator<Item = (String, String)>,
) -> Vec<CompletionCandidate> {
    let begun = current.to_string_lossy();
    let begun = |word: &str| word.starts_with(&*begun);
    let offer = |(word, help): (String, String)| {
        let help = report::one_line(&help, HELP_CHARACTERS);
        CompletionCandidate::new(word).help((!help.is_empty()).then(|| help.into()))
    };
    words.into_iter().filter(|(word, _)| begun(word)).map(offer).collect()
}

fn built_in() -> Vec<(String, String)> {
    let registry = setup::registry();
    let described = |name: &str| {
        let description = registry
            .listing(name)
            .ok()
            .flatten()
            .map(|listing| listing.info.description)
            .unwrap_or_default();
        (name.to_owned(), description)
    };
    registry.list().map(described).collect()
}

fn components() -> PathCompleter {
    PathCompleter::any().filter(|path| {
        let endings = ["wasm", "js", "mjs", "ts", "mts"];
        path.is_file() && endings.iter().any(|ending| has_suffix(path, ending))
    })
}

fn has_suffix(path: &Path, suffix: &str) -> bool {
    path.extension().is_some_and(|found| found == suffix)
}

/// The words of the line that is completed: this program was started with them after `--`.
fn typed() -> Vec<OsString> {
    std::env::args_os().skip_while(|word| word != "--").skip(1).collect()
}

/// The values of an option on the line.
fn values(of: &[&str]) -> Vec<OsString> {
    let typed = typed();
    let after = typed.windows(2).filter(|pair| of.iter().any(|option| pair[0] == *option));
    after.map(|pair| pair[1].clone()).collect()
}

fn database() -> Option<Store> {
    let named = values(&["--db"]).pop().map(PathBuf::from);
    let set = || std::env::var_os("SCOREBOX_DB").filter(|it| !it.is_empty()).map(PathBuf::from);
    let path = named.or_else(set).unwrap_or_else(|| DEFAULT_DATABASE.into());
    Store::open_read_only(path).ok()
}

/// The names of the scorers of the run that is typed, in the order of the suite.
fn entries() -> Vec<String> {
    let written = typed().into_iter().filter(|path| has_suffix(Path::new(path), "toml"));
    let suites = written.chain(values(&["--suite"])).map(PathBuf::from);
    let suite = suites.filter_map(|path| Suite::read_with(&path, &|_| Some(String::new())).ok());
    let mut names: Vec<String> =
        suite.flat_map(|suite| suite.scorers).map(|scorer| scorer.id.to_string()).collect();
    names.extend(values(&["-s", "--scorer"]).iter().map(|written| {
        let written = written.to_string_lossy();
        match written.split_once('=') {
            Some((name, _)) => name.to_owned(),
            None => Reference::parse(&written, Path::new("")).default_name(),
        }
    }));
    names
}
