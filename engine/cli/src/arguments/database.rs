//! Opens the database, and finds a run in it and names in that run. The error for a name that does not exist lists
//! those that do.

use std::path::{Path, PathBuf};

use scorebox::store::{Names, RunRecord, ScoreFilter, Store};

use crate::{
    failure::Failure,
    report::{one_line, printable, shell_word},
    words,
};

/// The default database, in the current folder.
pub(super) const DEFAULT_DATABASE: &str = "scorebox.db";

/// The most scorers that a hint lists.
const LISTED: usize = 20;

/// The most characters of a name in a hint.
const NAME_CHARACTERS: usize = 48;

/// The database, on the command line.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Database")]
pub(crate) struct Database {
    /// The database file
    #[arg(long = "db", value_name = "FILE", env = "SCOREBOX_DB", hide_env = true, default_value = DEFAULT_DATABASE)]
    pub path: PathBuf,
}

impl Database {
    /// Whether it is the default database in the current folder.
    pub(crate) fn is_default(&self) -> bool {
        self.path == Path::new(DEFAULT_DATABASE)
    }

    /// The command `scorebox NAME RUN` on this database.
    pub(crate) fn command(&self, name: &str, run: &str) -> String {
        match self.is_default() {
            true => format!("scorebox {name} {run}"),
            false => {
                let database = shell_word(&self.path);
                format!("scorebox {name} {run} --db {database}")
            }
        }
    }

    /// Opens it for reading. A database of an older scorebox is migrated, with a message.
    pub(crate) fn read(&self) -> Result<Store, Failure> {
        let store = Store::open_read_only(&self.path)?;
        if store.updated_from().is_some() {
            let path = printable(&self.path.display().to_string());
            words::say(&format!(
                "{path} is of an older scorebox and was brought up to date; that one cannot open it any more"
            ));
        }
        Ok(store)
    }

    /// The named run, or the newest.
    pub(crate) fn run(&self, named: Option<&str>, store: &Store) -> Result<RunRecord, Failure> {
        if let Some(run) = named {
            return Ok(store.run(run)?);
        }
        store.latest_run()?.ok_or_else(|| no_runs(&self.path))
    }
}

/// The failure that the database has no runs yet.
pub(crate) fn no_runs(database: &Path) -> Failure {
    Failure::new(format!("`{}` has no runs", database.display())).hint("`scorebox run` stores one")
}

/// Refuses a filter whose scorer, case or node does not exist in the runs that it names, so that a typing error does
/// not look like "no scores".
pub(crate) fn must_be_there(store: &Store, filter: &ScoreFilter) -> Result<(), Failure> {
    let place = match &filter.run {
        Some(run) => format!("the run `{run}`"),
        None => "the database".to_owned(),
    };
    if let Some(scorer) = &filter.scorer {
        let there = store.scorer_ids(filter.run.as_deref())?;
        if !there.contains(scorer) {
            let shown = there.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
            return Err(Failure::new(format!("{place} has no scorer `{scorer}`"))
                .hint(format!("its scorers: {shown}")));
        }
    }
    let names = [("case", &filter.case), ("node", &filter.node)];
    for (what, name) in names.into_iter().filter_map(|(what, name)| Some((what, name.as_ref()?))) {
        let mut only = ScoreFilter::default();
        only.run.clone_from(&filter.run);
        let only = match what {
            "case" => only.with_case(name.clone()),
            _ => only.with_node(name.clone()),
        };
        if store.scores(&only, None, 1)?.is_empty() {
            let run = filter.run.as_deref();
            let names = match what {
                "case" => store.case_names(run, name)?,
                _ => store.node_names(run, name)?,
            };
            return Err(Failure::new(format!("{place} has no scores of a {what} `{name}`"))
                .hint(names_there(what, name, &names)));
        }
    }
    Ok(())
}

/// The names that the user may have meant, or some of those that exist.
fn names_there(what: &str, asked: &str, names: &Names) -> String {
    let short = |name: &String| one_line(name, NAME_CHARACTERS);
    let closest = names.closest.iter().filter(|name| *name != asked);
    let closest: Vec<_> = closest.map(|name| format!("`{}`", short(name))).collect();
    if !closest.is_empty() {
        return format!("did you mean {}?", closest.join(" or "));
    }
    let first: Vec<_> = names.first.iter().map(short).collect();
    if first.is_empty() {
        return format!("no {what} is stored yet");
    }
    let more = if names.are_more { ", …" } else { "" };
    format!("its {what}s: {}{more}", first.join(", "))
}
