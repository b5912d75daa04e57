//! Shell completions beyond the words that clap knows: scorers, runs, cases, files after `=` or `@`, and the entries of
//! the suite. It reads the files that the line names; if they cannot be read, it offers nothing and prints no error.
//!
//! - `bash`: the adapter for bash; clap has those for other shells.

mod bash;

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use clap_complete::{
    ArgValueCompleter, CompletionCandidate,
    engine::{PathCompleter, ValueCompleter as _},
    env::{Elvish, Fish, Powershell, Shells, Zsh},
};
use scorebox::{
    registry::Reference,
    sandbox::Grant,
    store::{RunRecord, Store},
    suite::Suite,
};

use super::{DEFAULT_SUITE, ReportFormat, database::DEFAULT_DATABASE};
use crate::{report, setup};

/// The variable in which a shell names itself when it asks for completions.
pub(crate) const VARIABLE: &str = "SCOREBOX_COMPLETE";

/// The shells that can ask.
pub(crate) const fn shells() -> Shells<'static> {
    Shells(&[&bash::Bash, &Elvish, &Fish, &Powershell, &Zsh])
}

/// The words of the line that is completed, if the shell's adapter split the line itself.
static TYPED: OnceLock<Vec<OsString>> = OnceLock::new();

/// The most runs that are offered: the newest.
const RUNS: usize = 100;

/// The most cases that are offered: the first, by id.
const CASES: usize = 100;

/// The most characters of the description beside a word.
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

/// A scorer of the run on the line, or what [`named_scorers`] offers.
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

/// A case of the run on the line, or of the newest run.
pub(crate) fn cases() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let begun = current.to_string_lossy();
        let ids = database().and_then(|store| {
            let run = typed_run(&store).or_else(|| store.latest_run().ok().flatten())?;
            store.case_ids_beginning_with(run.key, &begun, CASES).ok()
        });
        let ids = ids.unwrap_or_default().into_iter();
        beginning_with(current, ids.map(|id| (id, String::new())))
    })
}

/// A scorer of the suite file on the line, or of the one in the current folder.
pub(crate) fn scorers_of_file() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let named = values(&["--suite"]).pop().unwrap_or_else(|| DEFAULT_SUITE.into());
        beginning_with(current, names_in(Path::new(&named)).map(|name| (name, String::new())))
    })
}

/// `FORMAT=FILE` of a report.
pub(crate) fn report_targets() -> ArgValueCompleter {
    ArgValueCompleter::new(targets_of_reports)
}

/// A run of the database, or `FORMAT=FILE` of a report.
pub(crate) fn runs_and_report_targets() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let mut offered = runs().complete(current);
        offered.extend(targets_of_reports(current));
        offered
    })
}

fn targets_of_reports(current: &OsStr) -> Vec<CompletionCandidate> {
    match current.to_string_lossy().split_once('=') {
        Some((format, file)) => files(&format!("{format}="), file),
        None => {
            let formats = ReportFormat::ALL.map(|format| (format!("{format}="), String::new()));
            beginning_with(current, formats)
        }
    }
}

/// A file after `@`, in place of a text.
pub(crate) fn text_or_file() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let begun = current.to_string_lossy();
        begun.strip_prefix('@').map_or_else(Vec::new, |file| files("@", file))
    })
}

/// `NAME=@FILE`, or what [`suite_entries`] offers.
pub(crate) fn configurations() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| match current.to_string_lossy().split_once("=@") {
        Some((name, file)) => files(&format!("{name}=@"), file),
        None => suite_entries().complete(current),
    })
}

/// Files whose path begins like this, with `prefix` in front of each.
fn files(prefix: &str, begun: &str) -> Vec<CompletionCandidate> {
    let found = PathCompleter::file().complete(OsStr::new(begun));
    found.into_iter().map(|one| one.add_prefix(prefix)).collect()
}

/// `NAME=` for each scorer of the run on the line.
pub(crate) fn suite_entries() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let entries = entries().into_iter().map(|name| (format!("{name}="), String::new()));
        beginning_with(current, entries)
    })
}

/// `NAME=GRANT` for each scorer of the run on the line.
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
        let is_script = || Reference::parse(&path.to_string_lossy(), Path::new("")).is_script();
        path.is_file() && (has_suffix(path, "wasm") || is_script())
    })
}

fn has_suffix(path: &Path, suffix: &str) -> bool {
    path.extension().is_some_and(|found| found == suffix)
}

/// The words of the line that is completed: this program was started with them after `--`, unless the shell's adapter
/// was given the line.
fn typed() -> Vec<OsString> {
    let started_with = || std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    TYPED.get().cloned().unwrap_or_else(started_with)
}

/// The values of an option on the line: in the next word, or after `=`.
fn values(of: &[&str]) -> Vec<OsString> {
    let typed = typed();
    let mut values = Vec::new();
    for (at, word) in typed.iter().enumerate() {
        let word = word.to_string_lossy();
        match word.split_once('=') {
            None if of.contains(&&*word) => values.extend(typed.get(at + 1).cloned()),
            Some((option, value)) if of.contains(&option) => values.push(value.into()),
            _ => {}
        }
    }
    values
}

fn database() -> Option<Store> {
    let named = values(&["--db"]).pop().map(PathBuf::from);
    let set = || std::env::var_os("SCOREBOX_DB").filter(|it| !it.is_empty()).map(PathBuf::from);
    let path = named.or_else(set).unwrap_or_else(|| DEFAULT_DATABASE.into());
    Store::open_read_only(path).ok()
}

/// The run that a word of the line names, after the program and the command.
fn typed_run(store: &Store) -> Option<RunRecord> {
    typed().iter().skip(2).find_map(|word| store.run(&word.to_string_lossy()).ok())
}

/// The names of the scorers of the run on the line, in the order of the suite.
fn entries() -> Vec<String> {
    let written = typed().into_iter().filter(|path| has_suffix(Path::new(path), "toml"));
    let suites = written.chain(values(&["--suite"])).map(PathBuf::from);
    let mut names: Vec<String> = suites.flat_map(|path| names_in(&path)).collect();
    names.extend(values(&["-s", "--scorer"]).iter().map(|written| {
        let written = written.to_string_lossy();
        match written.split_once('=') {
            Some((name, _)) => name.to_owned(),
            None => Reference::parse(&written, Path::new("")).default_name(),
        }
    }));
    names
}

/// The names of the scorers of a suite file; empty if it cannot be read.
fn names_in(path: &Path) -> impl Iterator<Item = String> + use<> {
    let suite = Suite::read_with(path, &|_| Some(String::new())).ok();
    suite.into_iter().flat_map(|suite| suite.scorers).map(|scorer| scorer.id.to_string())
}
